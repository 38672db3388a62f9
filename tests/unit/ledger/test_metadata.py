"""What may be kept beside a turn: a small JSON object."""

from __future__ import annotations

import pytest

from beliefledger.ledger.errors import InvalidTurn
from beliefledger.ledger.metadata import LARGEST, check_metadata, has


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"ticket": 7, "tags": ["a", None], "on": True, "share": 0.5, "of": {"who": "é"}},
        {"x": "y" * (LARGEST - len('{"x":""}'))},
    ],
)
def test_json_objects_go_in(given):
    check_metadata(given)


def nested(depth):
    made = {}
    for _ in range(depth):
        made = {"in": made}
    return made


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "is a JSON object, not list"),
        ("{}", "is a JSON object, not str"),
        (None, "is a JSON object, not NoneType"),
        ({"x": "y" * (LARGEST - len('{"x":""}') + 1)}, "has 4,097 bytes as JSON; at most 4,096"),
        ({"of": {"x": {1}}}, r"metadata\.of\.x: set is not of JSON"),
        ({"x": float("nan")}, "nan is no number of JSON"),
        ({"x": 2**53}, "below 2\\^53"),
        ({1: "x"}, "names are text"),
        ({"": "x"}, "names are text and not empty"),
        ({"x": "\ud800"}, "not valid Unicode"),
        (nested(30), "nested deeper than 16"),
    ],
)
def test_what_is_none_is_refused(given, words):
    with pytest.raises(InvalidTurn, match=words):
        check_metadata(given)


@pytest.mark.parametrize(
    ("there", "wanted", "found"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}}, True),
        ({"a": None}, {"b": None}, False),
        ({"a": [1, 2]}, {"a": [1]}, False),
    ],
)
def test_equality(there, wanted, found):
    assert has(there, wanted) is found
