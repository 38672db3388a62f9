"""The rectangles of a belief, event by event: what opens, what closes, and until when it holds."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest
from sqlalchemy import create_engine, select

from beliefledger.ledger.candidate import Precision, When
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.belief import (
    BeliefContested,
    ConflictEscalated,
    ConflictResolved,
    ConsolidationUndone,
    MemoriesConsolidated,
    MemoryAdmitted,
    MemoryConfirmed,
    MemoryExpired,
    MemoryMovedIn,
    MemoryMovedOut,
    MemoryQuarantined,
    MemoryRevoked,
    MemorySuperseded,
)
from beliefledger.ledger.events.subject import SubjectErased
from beliefledger.ledger.memory import Memory
from beliefledger.projections.beliefs import BeliefsView, Fold, Version

TIMES = ("valid_from", "valid_to", "expires_at", "context", "topic", "entity", "session", "when",
         "said_at", "said_at_stated", "negated")  # fmt: skip


def written(event, memory_id, at, **given):
    """An event that writes a memory said at `at`, holding from then on."""
    words = {name: given.pop(name) for name in TIMES if name in given}
    facts = {
        "decision": "d", "type": "fact", "confidence": 600_000, "base": 500_000,
        "importance": 700_000, "mentions": 1, "visibility_scope": "subject", "basis": "consent",
        "grant": "g",
    }  # fmt: skip
    plain = {"said_at": at, "said_at_stated": True, "valid_from": at}
    memory = Memory(claim="c", attribute="a.b", value="x", turn="t", spans=(), **(plain | words))
    return event(memory_id=memory_id, memory=memory, **(facts | given))


def admitted(memory_id, at, **given):
    return written(MemoryAdmitted, memory_id, at, **given)


def superseded(memory_id, at, over, **given):
    return written(MemorySuperseded, memory_id, at, supersedes=over, **({"kind": "change"} | given))


def quarantined(memory_id, at, **given):
    plain = {"reason": "truth.weaker_than_current", "capped": False}
    return written(MemoryQuarantined, memory_id, at, **(plain | given))


def moved_in(memory_id, at, **given):
    plain = {
        "moved_from": "b0", "cause": "merged", "moved_by": "x", "turns": (), "last_said_at": at,
    }  # fmt: skip
    return written(MemoryMovedIn, memory_id, at, **(plain | given))


def consolidated(memory_id, at, *originals):
    return written(
        MemoriesConsolidated, memory_id, at, originals=originals, beliefs=(), how="words",
        merger="m", similarity=1, sayings=(), turns=(), last_said_at=at + 7,
    )  # fmt: skip


def confirmed(memory_id, at, **given):
    plain = {
        "decision": "d", "confidence": 800_000, "base": 1, "mentions": 2, "counted": True,
        "turn": "t", "spans": (),
    }  # fmt: skip
    return MemoryConfirmed(memory_id=memory_id, said_at=at, **(plain | given))


def gone(event):
    """The event with its words erased."""
    return (event,)


def recorded(event, position, *, stream="b", subject="s"):
    erased = isinstance(event, tuple)
    event = event[0] if erased else event
    facts, _ = event.split()
    return Recorded(
        position, event.NAME, stream, position, f"e{position}", "t", subject, "a",
        1000 + position, None, None, facts, None if erased else event,
    )  # fmt: skip


def tag(subject, kind, text):
    return None if text is None else f"{subject}/{kind}/{text}"


class Folded:
    """A belief's rows after events at positions 1, 2 …; `history` has the closed ones too."""

    def __init__(self, *events):
        self.rows, self.history = [], {}
        for position, event in enumerate(events, start=1):
            fold = Fold(self.rows, tag)
            fold.apply(recorded(event, position))
            self.rows = fold.rows
            for row in (*fold.closed, *fold.opened):
                self.history[row.row_id] = row

    def stand(self):
        """What is not closed: (memory, from, until)."""
        return [(row.memory_id, row.valid_from, row.valid_to) for row in self.rows]

    def all(self):
        """(memory, from, until, opened at, closed at, closed by) of all rows."""
        return [
            (r.memory_id, r.valid_from, r.valid_to, r.opened, r.closed, r.closed_by)
            for r in self.history.values()
        ]

    def row(self, memory_id):
        [found] = [row for row in self.rows if row.memory_id == memory_id]
        return found


def test_a_row_has_what_was_written():
    event = admitted(
        "A", 5, context="c", topic="t", entity="e", session="z", valid_from=3, valid_to=8,
        expires_at=9, when=When(start=3, end=4, precision=Precision.DAY), mentions=2,
        decision="D", visibility_scope="team", basis="contract", grant="G",
    )  # fmt: skip
    assert Folded(event).rows == [
        Version(
            row_id=1 << 10, subject_ref="s", belief="b", memory_id="A", words_at=1, type="fact",
            topic_tag="s/topic/t", entity_tag="s/entity/e", context_tag="s/context/c",
            session_tag="s/session/z", quarantined=False, contested=False, confidence=600_000,
            importance=700_000, mentions=2, visibility_scope="team", basis="contract",
            grant_id="G", decision="D", valid_from=3, valid_from_stated=True, valid_to=8,
            valid_to_stated=True, expires_at=9, event_from=3, event_to=4, precision="day",
            said_at=5, supersedes=None, superseded_by=None, contradicts=None, ends_loosely=False,
            opened=1, opened_at=1001, closed=None, closed_at=None, closed_by=None,
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said_at_stated", "start", "stated"),
    [(True, None, True), (False, None, False), (False, 5, True), (False, 6, False)],
)
def test_a_begin_is_stated_where_somebody_said_when(said_at_stated, start, stated):
    event = admitted("A", 5, said_at_stated=said_at_stated, when=When(start=start), valid_to=9)
    [row] = Folded(event).rows
    assert (row.valid_from_stated, row.valid_to_stated) == (stated, stated)
    changed = Folded(admitted("O", 1), superseded("A", 5, "O", said_at_stated=said_at_stated,
                                                  when=When(start=start)))  # fmt: skip
    old = changed.row("O")
    assert (old.valid_to, old.valid_to_stated) == (5, stated)
    assert not changed.row("A").valid_to_stated


def test_a_change_closes_reopens_and_opens():
    folded = Folded(
        admitted("Z", 1, context="c"), admitted("A", 1), superseded("B", 5, "A", valid_from=4)
    )
    assert folded.all() == [
        ("Z", 1, None, 1, None, None),
        ("A", 1, None, 2, 3, "B"),
        ("A", 1, 4, 3, None, None),
        ("B", 4, None, 3, None, None),
    ]
    old, new = folded.row("A"), folded.row("B")
    assert (old.row_id, new.row_id) == (3 << 10, (3 << 10) + 1)
    assert (old.superseded_by, new.superseded_by, new.supersedes) == ("B", None, "A")
    assert (old.opened_at, old.closed_at) == (1003, None)
    closed = folded.history[2 << 10]
    assert (closed.closed_at, closed.superseded_by, closed.valid_to_stated) == (1003, None, False)
    assert (old.valid_to_stated, old.contested, old.ends_loosely) == (True, False, False)


def test_a_change_never_ends_a_value_before_it_began():
    assert Folded(admitted("A", 5), superseded("B", 9, "A", valid_from=2)).stand() == [
        ("A", 5, 5), ("B", 2, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old_stated", "valid_from", "inherits"),
    [(True, 1, True), (True, 2, False), (False, 1, False)],
)
def test_a_correction_closes_and_inherits_whether_the_begin_was_stated(
    old_stated, valid_from, inherits
):
    folded = Folded(
        admitted("A", 1, said_at_stated=old_stated),
        superseded("B", 5, "A", kind="correction", valid_from=valid_from, said_at_stated=False),
    )
    assert folded.all() == [
        ("A", 1, None, 1, 2, "B"), ("B", valid_from, None, 2, None, None),
    ]  # fmt: skip
    assert folded.row("B").valid_from_stated is inherits
    assert folded.row("B").supersedes == "A"
    nobody = Folded(superseded("B", 5, "A", kind="correction", said_at_stated=False))
    assert not nobody.row("B").valid_from_stated
    stated = superseded("B", 5, "A", kind="correction", valid_from=valid_from)
    assert Folded(admitted("A", 1), stated).row("B").valid_from_stated


@pytest.mark.parametrize(
    "event", [admitted("Q", 3, promotes="Q"), superseded("Q", 3, "A", promotes="Q")]
)
def test_a_promotion_closes_what_was_apart(event):
    folded = Folded(admitted("A", 1), quarantined("Q", 2), event)
    assert folded.history[2 << 10].closed == 3
    assert folded.history[2 << 10].closed_by is None
    assert [row.quarantined for row in folded.rows if row.memory_id == "Q"] == [False]


def test_a_confirmation_opens_the_row_again():
    folded = Folded(admitted("A", 5), quarantined("Q", 1), confirmed("A", 7))
    [apart, row] = folded.rows
    assert (row.confidence, row.mentions, row.said_at, row.row_id) == (800_000, 2, 7, 3 << 10)
    assert (apart.memory_id, apart.confidence) == ("Q", 600_000)
    assert folded.history[1 << 10].closed_by is None
    assert Folded(admitted("A", 5), confirmed("A", 2)).row("A").said_at == 5
    assert Folded(confirmed("A", 2)).rows == []


@pytest.mark.parametrize(
    ("event", "by"),
    [
        (MemoryRevoked(memory_id="A", cause="actor"), None),
        (ConsolidationUndone(memory_id="A", originals=()), None),
        (MemoryMovedOut(memory_id="A", to="b1", cause="merged", decision="d"), None),
        (MemoryMovedOut(memory_id="A", to="b", cause="consolidated", decision="d", into="M"), "M"),
    ],
)
def test_what_is_taken_back_is_closed(event, by):
    folded = Folded(admitted("A", 1), admitted("B", 2, context="c"), event)
    assert folded.stand() == [("B", 2, None)]
    closed = folded.history[1 << 10]
    assert (closed.closed, closed.closed_at, closed.closed_by) == (3, 1003, by)


def test_an_end_is_stated_and_firm():
    folded = Folded(admitted("A", 1), MemoryExpired(memory_id="A", valid_to=7))
    row = folded.row("A")
    assert (row.valid_to, row.valid_to_stated, row.ends_loosely) == (7, True, False)
    loosely = Folded(
        admitted("A", 1), gone(superseded("B", 2, "A")), MemoryExpired(memory_id="A", valid_to=7)
    )
    assert not loosely.row("A").ends_loosely


def test_what_moves_in_is_where_it_was():
    folded = Folded(moved_in("A", 1, last_said_at=9), moved_in("B", 1, quarantined=True))
    assert [(row.memory_id, row.quarantined, row.said_at) for row in folded.rows] == [
        ("A", False, 9), ("B", True, 1),
    ]  # fmt: skip


def test_a_merge_closes_its_originals_by_its_name():
    folded = Folded(admitted("A", 1), quarantined("B", 1), admitted("C", 1, context="c"),
                    consolidated("M", 2, "A", "B"))  # fmt: skip
    assert folded.all() == [
        ("A", 1, None, 1, 4, "M"),
        ("B", 1, None, 2, 4, "M"),
        ("C", 1, None, 3, None, None),
        ("M", 2, None, 4, None, None),
    ]
    assert folded.row("M").said_at == 9


# What stands against what


@pytest.mark.parametrize(
    ("given", "against"),
    [
        ({}, "A"),
        ({"reason": "truth.below_threshold"}, "A"),
        ({"reason": "truth.below_threshold", "negated": True}, None),
        ({"negated": True}, "A"),
        ({"reason": "truth.role_play"}, None),
        ({"capped": True}, None),
        ({"capped": True, "reason": "truth.below_threshold"}, None),
        ({"context": "c"}, "C"),
        ({"context": "other"}, None),
        ({"valid_from": 1}, "A"),  # before it began: weaker all the same
        ({"valid_from": 1, "reason": "truth.below_threshold"}, None),
        ({"valid_from": 3, "reason": "truth.below_threshold"}, "A"),
    ],
)
def test_what_is_kept_apart_names_what_it_disagrees_with(given, against):
    folded = Folded(
        quarantined("P", 1), admitted("A", 3), admitted("C", 3, context="c"),
        quarantined("Q", 5, **given),
    )  # fmt: skip
    assert folded.row("Q").contradicts == against
    assert (folded.row("Q").quarantined, folded.row("A").quarantined) == (True, False)


@pytest.mark.parametrize(("valid_from", "against"), [(6, "A"), (7, None), (8, None)])
def test_what_is_over_contradicts_nothing(valid_from, against):
    folded = Folded(admitted("A", 1, valid_to=7), quarantined("Q", 9, valid_from=valid_from))
    assert folded.row("Q").contradicts == against


def test_a_contest_marks_what_stands():
    folded = Folded(
        admitted("A", 1), superseded("B", 5, "A"), quarantined("Q", 6),
        BeliefContested(supersessions=3, decision="d"),
    )  # fmt: skip
    marked = {row.memory_id: row.contested for row in folded.rows}
    assert marked == {"A": False, "Q": False, "B": True}
    assert folded.row("B").opened == 4
    changed = superseded("C", 7, "B")
    after = Folded(admitted("B", 1), BeliefContested(supersessions=3, decision="d"), changed)
    assert {row.memory_id: row.contested for row in after.rows} == {"B": False, "C": False}


@pytest.mark.parametrize(
    ("memories", "by", "at", "ends"), [(("N",), "N", 8, 8), ((), None, 8, 8), ((), None, 2, 3)]
)
def test_a_resolution_ends_what_it_closes(memories, by, at, ends):
    folded = Folded(
        admitted("A", 3),
        admitted("B", 3, context="c"),
        BeliefContested(supersessions=3, decision="d"),
        ConflictResolved(
            kind="choose", settles=(), memories=memories, closes=("A",), resolved_at=at
        ),
    )
    row, other = folded.row("A"), folded.row("B")
    assert (row.valid_to, row.valid_to_stated, row.superseded_by) == (ends, False, by)
    assert (row.contested, row.opened) == (False, 4)
    assert (other.valid_to, other.contested, other.opened) == (None, True, 3)
    assert folded.history[3 << 10].closed_by == by


def test_an_escalation_changes_no_row():
    assert Folded(admitted("A", 3), ConflictEscalated(decision="d")).all() == [
        ("A", 3, None, 1, None, None)
    ]


# Where words are erased


def test_an_erased_writing_leaves_no_row_and_closes_what_it_promoted():
    assert Folded(gone(admitted("A", 1))).rows == []
    folded = Folded(admitted("A", 1), quarantined("Q", 2), gone(admitted("Q", 3, promotes="Q")))
    assert folded.all() == [("A", 1, None, 1, None, None), ("Q", 2, None, 2, 3, None)]
    again = Folded(admitted("A", 1), gone(admitted("A", 3)))
    assert again.all() == [("A", 1, None, 1, 2, None)]


def test_an_erased_change_ends_the_old_value_loosely():
    folded = Folded(admitted("A", 5), BeliefContested(supersessions=3, decision="d"),
                    gone(superseded("B", 9, "A")))  # fmt: skip
    row = folded.row("A")
    assert (row.valid_to, row.valid_to_stated, row.ends_loosely) == (1003, False, True)
    assert (row.superseded_by, row.contested, row.valid_from) == ("B", False, 5)
    assert folded.history[2 << 10].closed_by == "B"
    known = Folded(admitted("A", 5, valid_to=50), gone(superseded("B", 9, "A")))
    assert known.stand() == [("A", 5, 50)]
    later = Folded(admitted("A", 5000), gone(superseded("B", 9, "A")))
    assert later.stand() == [("A", 5000, 5000)]


def test_an_erased_correction_closes_the_old_value():
    folded = Folded(admitted("A", 5), gone(superseded("B", 9, "A", kind="correction")))
    assert folded.all() == [("A", 5, None, 1, 2, "B")]


def test_an_erased_merge_closes_its_originals_by_its_name():
    folded = Folded(admitted("A", 1), admitted("C", 1, context="c"), quarantined("M", 1),
                    gone(consolidated("M", 2, "A")))  # fmt: skip
    assert folded.all() == [
        ("A", 1, None, 1, 4, "M"),
        ("C", 1, None, 2, None, None),
        ("M", 1, None, 3, 4, None),
    ]


@pytest.mark.parametrize(
    ("given", "ends"),
    [({}, 1002), ({"valid_to": 50}, 50), ({"expires_at": 40}, 40),
     ({"valid_to": 50, "expires_at": 40}, 40), ({"expires_at": 5000}, 1002)],
)  # fmt: skip
def test_an_erased_end_is_the_first_that_is_known(given, ends):
    folded = Folded(admitted("A", 5, **given), gone(MemoryExpired(memory_id="A", valid_to=7)))
    row = folded.row("A")
    assert (row.valid_to, row.valid_to_stated, row.ends_loosely) == (ends, False, True)
    assert row.superseded_by is None


def test_an_erased_confirmation_changes_nothing():
    assert Folded(admitted("A", 5), gone(confirmed("A", 7))).all() == [
        ("A", 5, None, 1, None, None)
    ]


@pytest.mark.parametrize(
    ("begins", "ends"), [(4, 1002), (5, 5), (9, 9), (1001, 1001), (1002, 1002)]
)
@pytest.mark.parametrize("how", [admitted, moved_in, lambda *a, **k: superseded(*a, "nobody", **k)])
def test_what_ends_loosely_gives_way_to_what_begins_before(begins, ends, how):
    folded = Folded(admitted("A", 5), gone(superseded("B", 9, "A")), how("N", begins))
    assert folded.stand()[0 if ends == 1002 else -2] == ("A", 5, ends)
    kept = Folded(admitted("A", 5), gone(superseded("B", 9, "A")), how("N", begins, context="c"))
    assert kept.stand()[0] == ("A", 5, 1002)
    apart = Folded(admitted("A", 5), gone(superseded("B", 9, "A")), quarantined("N", begins))
    assert apart.stand()[0] == ("A", 5, 1002)
    firmly = Folded(admitted("A", 5, valid_to=1002), how("N", begins))
    assert firmly.stand()[0] == ("A", 5, 1002)


# The tables


@pytest.fixture
def connection():
    engine = create_engine("sqlite://")
    with engine.begin() as opened:
        yield opened
    engine.dispose()


@pytest.fixture
def view(connection):
    made = BeliefsView(tag)
    for table in made.tables(3):
        table.create(connection)
    made.start(3, empty=True)
    return made


def stored(view, connection):
    versions, evidence = view.tables(3)
    rows = [Version(*row) for row in connection.execute(select(versions).order_by("row_id"))]
    there = connection.execute(select(evidence).order_by("position"))
    return rows, [tuple(row) for row in there]


@pytest.mark.parametrize("flush_after", [{1}, {1, 2}, {1, 2, 3, 4}, set()])
@pytest.mark.parametrize("restart", [False, True])
def test_the_tables_say_the_same_however_often_they_are_written(
    view, connection, flush_after, restart
):
    events = [admitted("A", 1), confirmed("A", 2), superseded("B", 5, "A"), moved_in("C", 3)]
    for position, event in enumerate(events, start=1):
        view.apply(recorded(event, position), connection)
        if position in flush_after:
            view.flush(connection)
            if restart:
                view.start(3, empty=False)
    view.flush(connection)
    rows, evidence = stored(view, connection)
    assert [astuple(row) for row in rows] == [
        astuple(row) for row in Folded(*events).history.values()
    ]
    assert evidence == [(1, "s", "A"), (2, "s", "A"), (3, "s", "B")]
    view.flush(connection)  # nothing is left to write
    assert stored(view, connection) == (rows, evidence)


@pytest.mark.parametrize("flushed", [False, True])
@pytest.mark.parametrize("told", [False, True])
def test_a_subject_is_forgotten_in_memory_and_in_the_tables(view, connection, flushed, told):
    view.apply(recorded(admitted("A", 1), 1, stream="b1", subject="s1"), connection)
    view.apply(recorded(admitted("O", 1), 2, stream="b2", subject="s2"), connection)
    if flushed:
        view.flush(connection)
    view.apply(recorded(confirmed("A", 2), 3, stream="b1", subject="s1"), connection)
    view.apply(recorded(confirmed("O", 2), 4, stream="b2", subject="s2"), connection)
    if told:
        erased = recorded(gone(confirmed("A", 2)), 5, stream="subject", subject="s1")
        view.apply(replace(erased, type=SubjectErased.NAME), connection)
    else:
        view.forget("s1")
    view.apply(recorded(confirmed("A", 5), 5, stream="b1", subject="s1"), connection)
    view.flush(connection)
    rows, evidence = stored(view, connection)
    assert [(row.memory_id, row.opened, row.closed) for row in rows] == [
        ("O", 2, 4),
        ("O", 4, None),
    ]
    assert evidence == [(2, "s2", "O"), (4, "s2", "O"), (5, "s1", "A")]


def test_rows_of_a_table_that_was_there_are_folded_on(view, connection):
    view.apply(recorded(admitted("A", 1), 1), connection)
    view.apply(recorded(admitted("X", 1), 2, stream="other"), connection)
    view.flush(connection)
    fresh = BeliefsView(tag)
    fresh.start(3, empty=False)
    fresh.apply(recorded(superseded("B", 5, "A"), 3), connection)
    fresh.flush(connection)
    rows, _ = stored(fresh, connection)
    assert [(row.memory_id, row.opened, row.closed) for row in rows] == [
        ("A", 1, 3), ("X", 2, None), ("A", 3, None), ("B", 3, None),
    ]  # fmt: skip
    assert replace(rows[0], closed=None, closed_at=None, closed_by=None).valid_to is None
