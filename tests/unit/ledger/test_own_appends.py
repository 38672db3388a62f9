"""What is known of a stretch of the log that this process wrote."""

from __future__ import annotations

from beliefledger.ledger.own_appends import OwnAppends


def test_nothing_of_a_type_is_where_only_others_were_appended():
    own = OwnAppends()
    own.note({"a"}, 1, 2)
    own.note({"b"}, 3, 3)
    assert own.none_of({"a"}, 2, 3)
    assert not own.none_of({"a"}, 1, 3)
    assert not own.none_of({"b"}, 2, 3)
    assert own.none_of({"b"}, 0, 2) is False, "the last of its type is all that is known"


def test_what_somebody_else_appended_between_may_be_anything():
    own = OwnAppends()
    own.note({"b"}, 1, 1)
    own.note({"b"}, 3, 3)
    assert not own.none_of({"a"}, 0, 3)
    assert not own.none_of({"a"}, 1, 3)
    assert own.none_of({"a"}, 2, 3)
    assert not own.none_of({"a"}, 2, 4), "nor what is not known of yet"


def test_two_threads_may_tell_the_later_append_first():
    own = OwnAppends()
    own.note({"b"}, 1, 1)
    own.note({"b"}, 3, 3)
    own.note({"c"}, 2, 2)
    assert own.none_of({"a"}, 1, 3)
    assert not own.none_of({"c"}, 1, 3)
