"""What is kept of an index, and read again by another process as far as it is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from beliefledger.ledger.restored import Restored
from beliefledger.projections.columns import Codes
from beliefledger.projections.index_state import Rows, cut, packed, unpacked
from beliefledger.projections.text_lines import TextLines

PARTS = {"b": [1, "é"], "a": None, "größe": {"x": "y,z"}, "c" * 40: []}


def again(state, size=7):
    """As another process has it."""
    return unpacked(cut(packed(state), size))


def rows(values):
    return again({"rows": values})["rows"]


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_whatever_is_kept_comes_back(size):
    state = {
        "numbers": np.arange(6, dtype=np.int64).reshape(2, 3).T,
        "none": np.zeros((3, 0), np.float16),
        "rows": PARTS,
        "no rows": {},
        "said": [1, None, "é"],
        "set": frozenset({"b", "a"}),
    }
    found = again(state, size)
    assert np.array_equal(found["numbers"], state["numbers"])
    assert found["numbers"].flags.writeable
    assert (found["none"].shape, found["none"].dtype) == ((3, 0), np.float16)
    assert dict(found["rows"]) == PARTS
    assert dict(found["no rows"]) == {}
    assert (found["said"], found["set"]) == ([1, None, "é"], ["a", "b"])


def test_what_is_cut_short_is_told():
    data = b"".join(packed({"numbers": np.arange(9)}))
    with pytest.raises(EOFError):
        unpacked([data[:-1]])
    with pytest.raises(EOFError):
        unpacked([])


def test_a_row_is_found_by_its_key_alone():
    found = rows(PARTS)
    assert isinstance(found, Rows)
    assert [*found] == [*PARTS]
    assert [*found.items()] == [*PARTS.items()]
    assert {key: found[key] for key in PARTS} == PARTS
    for key in ("", "aa", "d", "c" * 39, "c" * 41, "ä"):
        assert key not in found
    assert "a" not in rows({})


def test_a_value_is_made_once_it_is_asked_for():
    made = []

    def value(part):
        made.append(part)
        return [part]

    found = Restored(rows({"a": 1, "b": 2, "c": 3}), value)
    assert "a" in found
    found["d"] = [4]
    found["b"].append(5)
    assert found.get("e") is None
    assert made[-1] == 2
    assert [*found.items()] == [("a", [1]), ("b", [2, 5]), ("c", [3]), ("d", [4])]
    assert len(found) == 4
    assert made.count(2) == 1
    with pytest.raises(TypeError, match="nothing is deleted"):
        del found["a"]


def test_names_that_came_at_once_go_on():
    codes = Codes(["a", None])
    assert codes.known(["b", "a", None]) == [0, 1]
    assert [codes("b"), codes("a")] == [2, 0]
    assert codes.names == ["a", None, "b"]


def test_lines_go_on_where_they_stood():
    def memory(turn):
        return {"attribute": "home", "entity": "User", "claim": "c", "turn": turn}

    lines, anew = TextLines(), TextLines()
    for number, turn in enumerate(["t1", "t2", "t1"]):
        lines.add(["x"])
        lines.is_memory(number, memory(turn))
    lines.add(["y"])
    lines.is_turn(3, "t1", "user", frozenset())
    anew.restore(again(lines.state()))
    for each in (lines, anew):
        each.add(["z"])
        each.is_memory(4, memory("t1"))
        assert [*each.memories_of(3, "t1")] == [0, 2, 4]
        assert [each.turn_of(number) for number in range(5)] == [3, None, 3, None, 3]
