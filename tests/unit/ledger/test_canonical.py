"""Canonical JSON: one value, one spelling."""

from __future__ import annotations

import hashlib

import pytest

from beliefledger.ledger import canonical


def test_keys_are_sorted_at_every_depth_and_nothing_is_padded():
    assert canonical.encode({"b": [1, {"d": None, "c": True}], "a": "x"}) == (
        b'{"a":"x","b":[1,{"c":true,"d":null}]}'
    )


def test_text_is_written_as_utf_8_and_only_control_characters_are_escaped():
    text = 'é 日 \U0001f600 "\\ / \n\t\x07\x7f'
    assert canonical.encode(text) == ('"é 日 \U0001f600 \\"\\\\ / \\n\\t\\u0007\x7f"'.encode())


def test_decoding_gives_back_what_was_encoded():
    value = {"a": [1, -2, 2**53 - 1, "ü", None, False], "b": {}}
    assert canonical.decode(canonical.encode(value)) == value


@pytest.mark.parametrize("damaged", [b"", b"{", b'{"a":1}x', b"\xff", b'{"a":NaN}'])
def test_what_is_not_json_is_a_value_error(damaged):
    with pytest.raises(ValueError, match=r"."):
        canonical.decode(damaged)


def test_text_that_utf_8_cannot_hold_is_refused():
    with pytest.raises(TypeError):
        canonical.encode("\ud800")


def test_a_digest_is_sha_256_in_hex():
    assert canonical.digest(b"abc") == hashlib.sha256(b"abc").hexdigest()
