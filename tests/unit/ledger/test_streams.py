"""Stream ids are 128 bits that name nobody, and are the same for ever."""

from __future__ import annotations

import re

import pytest

from beliefledger.ledger import streams

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))


def derived(key: bytes) -> list[str]:
    return [
        streams.turn_stream(key, "given\x1fk"),
        streams.entity_stream(key, "user"),
        streams.belief_stream(key, "user", "editor.theme"),
        streams.memory_id(key, "0" * 32, 0),
        streams.memory_id(key, "0" * 32, 1),
        streams.memory_id(key, "0" * 32, 0, "home"),
        streams.tag(key, "tag topic", "work"),
    ]


def all_ids(key: bytes) -> list[str]:
    subject = "a" * 32
    return [
        *derived(key),
        streams.policy_stream("default"),
        streams.policy_stream("other"),
        streams.ops_stream("default"),
        streams.subject_stream(subject),
        streams.recall_stream(subject),
    ]


def test_every_id_is_32_hex_digits_and_no_two_agree():
    ids = all_ids(KEY)
    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in ids)
    assert len(set(ids)) == len(ids)


def test_what_comes_from_personal_words_depends_on_the_subject_s_key():
    assert not set(derived(KEY)) & set(derived(OTHER))
    assert derived(KEY) == derived(KEY)


@pytest.mark.parametrize("stream", [streams.policy_stream, streams.ops_stream])
def test_tenants_do_not_share_streams(stream):
    assert stream("one") != stream("two")


def test_parts_do_not_run_into_each_other():
    assert streams.tag(KEY, "a", "bc") != streams.tag(KEY, "ab", "c")
