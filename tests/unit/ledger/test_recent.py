"""What a process remembers of its own appends."""

from beliefledger.ledger.recent import Recent
from beliefledger.ledger.store import Appended


def test_types_are_told_of_stretches_that_were_all_appended_here():
    recent = Recent()
    recent.note(Appended(3, 4, 0), ["a", "b"])
    recent.note(Appended(5, 5, 0), ["c"])
    recent.note(Appended(8, 9, 0), ["a"])
    recent.note(Appended(5, 5, 0, already=True), ["c"])
    assert recent.types(2, 5) == {"a", "b", "c"}
    assert recent.types(4, 5) == {"c"}
    assert recent.types(3, 5) == {"a", "b", "c"}  # an append is told as a whole
    assert recent.types(7, 9) == {"a"}
    assert recent.types(9, 9) == frozenset()


def test_nothing_is_told_of_what_another_process_appended_or_is_forgotten():
    recent = Recent()
    recent.note(Appended(3, 4, 0), ["a"])
    recent.note(Appended(6, 6, 0), ["a"])
    assert recent.types(2, 6) is None  # 5 is somebody else's
    assert recent.types(1, 4) is None
    assert recent.types(5, 7) is None
    for position in range(7, 2_000):
        recent.note(Appended(position, position, 0), ["b"])
    assert recent.types(1_500, 1_999) == {"b"}
    assert recent.types(2, 1_999) is None


def test_appends_that_were_noted_out_of_order_are_asked_of_the_store_at_most():
    recent = Recent()
    recent.note(Appended(4, 4, 0), ["b"])
    recent.note(Appended(3, 3, 0), ["a"])
    assert recent.types(2, 4) in ({"a", "b"}, None)
    assert recent.types(3, 4) in ({"b"}, None)
