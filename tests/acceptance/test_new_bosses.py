"""Who is the boss now, told behind whoever left: as a sentence that can be read by itself."""

from __future__ import annotations

import pytest

from beliefledger import open_memory


@pytest.mark.parametrize(
    ("said", "believed"),
    [
        ("Rita left, Tom is my boss now", "User's boss is Tom"),
        ("Rita left and Tom is my boss", "User's boss is Tom"),
        ("they fired Rita, Tom is my manager now", "User's manager is Tom"),
        ("my boss is leaving and Jan is taking over", "Jan is User's boss"),
        ("my lead quit last week so Ravi took over the team", "Ravi is User's boss"),
    ],
)
def test_the_new_one_is_told_with_what_they_are(said, believed, tmp_path):
    with open_memory(tmp_path / "ledger", consent="consent") as memory:
        memory.remember("ana", "Rita is my boss")
        memory.remember("ana", said)
        held = memory.beliefs("ana")
        bosses = [each.text for each in held if each.attribute == "relation.reports-to"]
        assert bosses == [believed]


def test_a_new_dentist_is_no_doctor(tmp_path):
    with open_memory(tmp_path / "ledger", consent="consent") as memory:
        memory.remember("ana", "Dr Khan retired, Dr Lim is my dentist now")
        assert [each.text for each in memory.beliefs("ana")] == [
            "Dr Khan retired, Dr Lim is my dentist now"
        ]
