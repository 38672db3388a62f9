"""What each event of a belief's stream does to the belief."""

from __future__ import annotations

from dataclasses import replace

import pytest

from beliefledger.gate.belief import Belief, Redirect, evolve, folded
from beliefledger.gate.registry import Registry, default_types
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
from beliefledger.ledger.memory import Memory

REGISTRY = Registry(types={kind.name: kind for kind in default_types()})


def written(event, memory_id, value, at, **given):
    """An event that writes a memory: said at `at` in turn t<at>, and holding from then on."""
    words = {name: given.pop(name) for name in ("context", "valid_from", "valid_to", "expires_at")
             if name in given}  # fmt: skip
    plain = {
        "decision": f"d{at}", "type": "fact", "confidence": 600_000 + at, "base": 500_000 + at,
        "importance": 700_000, "mentions": 1, "visibility_scope": "subject", "basis": "consent",
        "grant": "g",
    }  # fmt: skip
    memory = Memory(
        claim="c", attribute="a.b", value=value, said_at=at, said_at_stated=True, turn=f"t{at}",
        spans=(), **({"valid_from": at} | words),
    )  # fmt: skip
    return event(memory_id=memory_id, memory=memory, **(plain | given))


def admitted(memory_id, value, at, **given):
    return written(MemoryAdmitted, memory_id, value, at, **given)


def superseded(memory_id, value, at, over, **given):
    return written(
        MemorySuperseded, memory_id, value, at, supersedes=over, **({"kind": "change"} | given)
    )


def quarantined(memory_id, value, at, **given):
    given = {"reason": "truth.below_threshold", "capped": False} | given
    return written(MemoryQuarantined, memory_id, value, at, **given)


def confirmed(memory_id, at, **given):
    plain = {
        "decision": "d", "confidence": 800_000, "base": 750_000, "mentions": 2, "counted": True,
        "turn": f"t{at}", "said_at": at, "spans": (),
    }  # fmt: skip
    return MemoryConfirmed(memory_id=memory_id, **(plain | given))


def moved_in(memory_id, value, at, **given):
    plain = {
        "moved_from": "b0", "cause": "merged", "moved_by": "x", "turns": (f"t{at}",),
        "last_said_at": at,
    }  # fmt: skip
    return written(MemoryMovedIn, memory_id, value, at, **(plain | given))


def moved_out(memory_id, **given):
    plain = {"to": "b1", "cause": "backfilled", "decision": "d"}
    return MemoryMovedOut(memory_id=memory_id, **(plain | given))


def consolidated(memory_id, value, at, *originals, **given):
    plain = {
        "originals": originals, "beliefs": ("b",) * len(originals), "how": "words", "merger": "m",
        "similarity": 1, "sayings": (), "turns": (f"t{at}",), "last_said_at": at,
    }  # fmt: skip
    return written(MemoriesConsolidated, memory_id, value, at, **(plain | given))


def after(*events, belief=None):
    belief = belief or Belief()
    for event in events:
        belief = evolve(belief, belief.version + 1, event, REGISTRY)
    return belief


def erased(event, *, version=9, recorded_at=100):
    """The event as recorded, without its words."""
    facts, _ = event.split()
    return Recorded(
        version, event.NAME, "b", version, "e", "t", "s", "a", recorded_at, None, None, facts, None
    )


def times(held):
    return [(each.memory_id, each.valid_from, each.valid_to) for each in held]


def ids(belief):
    return tuple(
        "".join(each.memory_id for each in held)
        for held in (belief.current, belief.quarantined, belief.past)
    )


CONTESTED = BeliefContested(supersessions=3, decision="d")


def test_a_memory_is_held_as_it_was_written():
    event = admitted(
        "A", "Not the Porto", 5, context="at work", valid_from=3, valid_to=8, expires_at=9
    )
    belief = after(event)
    [held] = belief.current
    assert (held.memory_id, held.type, held.value, held.context) == (
        "A", "fact", "not the porto", "work",
    )  # fmt: skip
    assert (held.confidence, held.base, held.importance) == (600_005, 500_005, 700_000)
    assert (held.turns, held.mentions, held.told) == ({"t5"}, 1, None)
    assert (held.said_at, held.valid_from, held.valid_to, held.expires_at) == (5, 3, 8, 9)
    assert (held.capped, held.ends_loosely, held.basis, held.grant) == (
        False,
        False,
        "consent",
        "g",
    )
    assert held.written == event
    assert replace(belief, current=()) == Belief(version=1)


@pytest.mark.parametrize(
    ("valid_to", "expires_at", "ended"),
    [
        (None, None, []),
        (5, None, [5, 6]),
        (None, 5, [5, 6]),
        (5, 6, [5, 6]),
        (6, 5, [5, 6]),
    ],
)
def test_a_memory_has_ended_at_the_first_of_its_ends(valid_to, expires_at, ended):
    [held] = after(admitted("A", "x", 1, valid_to=valid_to, expires_at=expires_at)).current
    assert [at for at in (4, 5, 6) if held.ended(at)] == ended


def test_the_last_with_an_id_is_the_one_that_holds():
    belief = after(admitted("A", "x", 1), admitted("A", "y", 2))
    assert [each.value for each in belief.current] == ["y"]


def test_what_is_admitted_as_past_never_held():
    belief = after(admitted("A", "x", 9), admitted("B", "y", 1, past=True, valid_to=9))
    assert ids(belief) == ("A", "", "B")
    assert times(belief.past) == [("B", 1, 9)]


def test_a_promotion_takes_out_of_quarantine_with_its_mentions():
    apart = [quarantined("A", "x", 1), confirmed("A", 2)]
    belief = after(*apart, admitted("A", "x", 3, promotes="A", mentions=3))
    assert ids(belief) == ("A", "", "")
    assert (belief.current[0].turns, belief.current[0].told) == ({"t1", "t2", "t3"}, None)
    past = after(*apart, admitted("A", "x", 3, promotes="A", mentions=3, past=True))
    assert ids(past) == ("", "", "A")
    assert past.past[0].mentions == 3
    erased_there = after(admitted("A", "x", 3, promotes="A", mentions=3))
    assert (erased_there.current[0].mentions, erased_there.current[0].told) == (3, 3)


def test_quarantine_is_apart_and_knows_what_was_insincere():
    belief = after(quarantined("A", "x", 1), quarantined("B", "y", 2, capped=True))
    assert ids(belief) == ("", "AB", "")
    assert [held.capped for held in belief.quarantined] == [False, True]


def test_a_change_ends_the_old_one_where_the_new_begins():
    belief = after(admitted("A", "x", 1, expires_at=50), superseded("B", "y", 5, "A", valid_from=4))
    assert ids(belief) == ("B", "", "A")
    assert times(belief.past) == [("A", 1, 4)]
    assert belief.past[0].expires_at == 50
    assert belief.supersessions == (5,)


def test_a_correction_leaves_nothing_of_the_old_one():
    belief = after(admitted("A", "x", 1), superseded("B", "y", 5, "A", kind="correction"))
    assert ids(belief) == ("B", "", "")
    assert belief.supersessions == (5,)


def test_a_change_of_what_nobody_holds_leaves_nothing_past():
    belief = after(superseded("B", "y", 5, "A"))
    assert (ids(belief), belief.supersessions) == (("B", "", ""), (5,))


def test_a_change_among_past_values_leaves_the_current_one():
    begun = [admitted("A", "x", 1), superseded("B", "y", 9, "A")]
    belief = after(*begun, superseded("C", "z", 12, "A", past=True, valid_from=4, valid_to=9))
    assert ids(belief) == ("B", "", "AC")
    assert times(belief.past) == [("A", 1, 4), ("C", 4, 9)]
    assert belief.supersessions == (9,)


def test_a_change_may_promote():
    belief = after(
        admitted("A", "x", 1), quarantined("B", "y", 2), superseded("B", "y", 5, "A", promotes="B")
    )
    assert ids(belief) == ("B", "", "A")
    assert belief.current[0].turns == {"t2", "t5"}


def test_supersessions_and_the_contest_outlive_the_change_of_the_only_value():
    belief = after(
        admitted("A", "x", 1),
        superseded("B", "y", 5, "A"),
        CONTESTED,
        superseded("C", "z", 6, "B", kind="correction"),
    )
    assert (belief.contested, belief.supersessions) == (True, (5, 6))


def test_a_confirmation_raises_and_counts():
    belief = after(admitted("A", "x", 3), quarantined("Q", "y", 3), confirmed("A", 5))
    [held] = belief.current
    assert (held.confidence, held.base, held.mentions) == (800_000, 750_000, 2)
    assert (held.turns, held.said_at, held.told) == ({"t3", "t5"}, 5, None)
    assert belief.quarantined[0].confidence == 600_003
    uncounted = after(admitted("A", "x", 3), confirmed("A", 5, counted=False)).current[0]
    assert (uncounted.turns, uncounted.said_at, uncounted.confidence) == ({"t3"}, 5, 800_000)
    earlier = after(admitted("A", "x", 3), confirmed("A", 1)).current[0]
    assert (earlier.said_at, earlier.valid_from) == (3, 3)


def test_a_confirmation_reaches_what_is_apart_and_what_is_past():
    belief = after(quarantined("Q", "x", 1), admitted("P", "y", 1, past=True))
    assert after(confirmed("Q", 2), belief=belief).quarantined[0].mentions == 2
    assert after(confirmed("P", 2), belief=belief).past[0].mentions == 2


@pytest.mark.parametrize(
    "gone",
    [
        MemoryRevoked(memory_id="A", cause="actor"),
        ConsolidationUndone(memory_id="A", originals=()),
        moved_out("A", cause="merged"),
    ],
)
def test_what_is_taken_back_is_gone_wherever_it_was(gone):
    for event in (
        admitted("A", "x", 1),
        quarantined("A", "x", 1),
        admitted("A", "x", 1, past=True),
    ):
        assert after(event, gone) == Belief(version=2)
    beside = after(admitted("A", "x", 1), admitted("B", "y", 2, context="at work"), gone)
    assert ids(beside) == ("B", "", "")


def test_where_no_value_is_left_nothing_is_contested():
    begun = [admitted("A", "x", 1), superseded("B", "y", 2, "A"), CONTESTED]
    assert after(*begun).contested
    belief = after(*begun, MemoryRevoked(memory_id="B", cause="actor"))
    assert (belief.contested, belief.supersessions, ids(belief)) == (False, (), ("", "", "A"))
    beside = after(
        *begun, quarantined("Q", "q", 3), MemoryRevoked(memory_id="Q", cause="retention")
    )
    assert (beside.contested, beside.supersessions) == (True, (2,))
    other = after(
        *begun,
        admitted("C", "z", 3, context="at work"),
        MemoryRevoked(memory_id="B", cause="actor"),
    )
    assert (other.contested, other.supersessions) == (True, (2,))
    assert not after(CONTESTED).contested


def test_what_reached_its_end_is_past():
    belief = after(admitted("A", "x", 1), MemoryExpired(memory_id="A", valid_to=7))
    assert (ids(belief), times(belief.past)) == (("", "", "A"), [("A", 1, 7)])
    assert after(MemoryExpired(memory_id="A", valid_to=7)) == Belief(version=1)
    loosely = after(admitted("A", "x", 1))
    loosely = folded([erased(superseded("B", "y", 2, "A"))], REGISTRY, loosely)
    assert loosely.past[0].ends_loosely
    ended = after(MemoryExpired(memory_id="A", valid_to=7), belief=loosely)
    assert (times(ended.past), ended.past[0].ends_loosely) == ([("A", 1, 7)], False)


# Contests


def test_a_person_settles_what_was_contested():
    contested = after(
        admitted("A", "x", 1),
        superseded("B", "y", 2, "A"),
        admitted("C", "z", 3, context="at work"),
        CONTESTED,
        ConflictEscalated(decision="d4"),
        ConflictEscalated(decision="d5"),
    )
    assert contested.escalated == ("d4", "d5")
    settled = after(
        ConflictResolved(
            kind="choose", settles=("d4",), memories=("N",), closes=("B",), resolved_at=8
        ),
        belief=contested,
    )
    assert ids(settled) == ("C", "", "AB")
    assert times(settled.past) == [("A", 1, 2), ("B", 2, 8)]
    assert (settled.contested, settled.by_context, settled.supersessions) == (False, False, ())
    assert settled.escalated == ("d5",)
    each = ConflictResolved(kind="by_context", settles=(), memories=(), closes=(), resolved_at=8)
    assert after(each, belief=contested).by_context
    assert not after(
        ConflictResolved(kind="choose", settles=(), memories=(), closes=(), resolved_at=9),
        belief=after(each, belief=contested),
    ).by_context


# Moves


@pytest.mark.parametrize(("cause", "into", "where"), [
    ("backfilled", None, "A"), ("consolidated", "M", "M"),
])  # fmt: skip
def test_a_slot_remembers_where_its_memory_went(cause, into, where):
    belief = after(admitted("A", "x", 1, context="at work"), moved_out("A", cause=cause, into=into))
    gone = Redirect("A", "x", "work", "b1", where)
    assert belief == Belief(version=2, redirects=(gone,))
    assert belief.redirect("x", "work") == gone
    assert belief.redirect("other", "work") == gone
    assert belief.redirect("x", None) is None


@pytest.mark.parametrize("cause", ["merged", "split", "undone"])
def test_names_lead_to_what_moved_with_its_entity(cause):
    assert after(admitted("A", "x", 1), moved_out("A", cause=cause)) == Belief(version=2)


def test_a_move_of_what_is_not_there_is_forgotten():
    assert after(moved_out("A")) == Belief(version=1)


def test_a_statement_follows_its_own_value_else_the_last():
    belief = after(
        admitted("A", "x", 1), moved_out("A", to="b1"),
        admitted("B", "y", 2), moved_out("B", to="b2"),
        admitted("C", "y", 3), moved_out("C", to="b3"),
        admitted("D", "w", 3), moved_out("D", to="b4"),
    )  # fmt: skip
    to = {value: belief.redirect(value, None).to for value in ("x", "y", "w", "other")}
    assert to == {"x": "b1", "y": "b3", "w": "b4", "other": "b4"}
    assert after(admitted("E", "v", 4), belief=belief).redirect("x", None) is None
    elsewhere = after(admitted("E", "v", 4, context="at work"), belief=belief)
    assert elsewhere.redirect("x", None).to == "b1"
    back = after(moved_in("C", "y", 5, past=True), belief=belief)
    assert [each.memory_id for each in back.redirects] == ["A", "B", "D"]


def test_what_moves_in_comes_with_its_mentions():
    belief = after(moved_in("A", "x", 5, turns=("t1", "t5"), mentions=2, last_said_at=9))
    [held] = belief.current
    assert (held.turns, held.mentions, held.told, held.said_at) == ({"t1", "t5"}, 2, None, 9)
    assert not held.capped
    some_erased = after(moved_in("A", "x", 5, turns=("t5",), mentions=4)).current[0]
    assert (some_erased.mentions, some_erased.told) == (4, 4)
    insincere = after(moved_in("A", "x", 5, turns=(), quarantined=True)).quarantined[0]
    assert (insincere.capped, insincere.turns) == (True, {"t5"})


def test_what_moves_in_is_placed_where_it_was():
    here = admitted("H", "h", 1)
    assert ids(after(here, moved_in("A", "x", 5))) == ("HA", "", "")
    assert ids(after(here, moved_in("A", "x", 5, quarantined=True))) == ("H", "A", "")
    assert ids(after(here, moved_in("A", "x", 5, past=True))) == ("H", "", "A")


def test_a_merged_memory_holds_with_all_its_mentions():
    belief = after(
        quarantined("A", "x", 1),
        consolidated("M", "x", 3, "A", turns=("t1", "t2", "t3"), mentions=3, last_said_at=7),
    )
    assert ids(belief) == ("M", "A", "")
    held = belief.current[0]
    assert (held.mentions, held.said_at, held.capped, held.told) == (3, 7, False, None)


# Where words are erased


def test_an_erased_writing_takes_away_what_it_wrote_and_promoted():
    belief = after(admitted("A", "x", 1), quarantined("Q", "q", 2))
    for event in (admitted("Q", "q", 3, promotes="Q"), quarantined("Q", "q", 3)):
        after_it = folded([erased(event)], REGISTRY, belief)
        assert (ids(after_it), after_it.version) == (("A", "", ""), 9)


def test_an_erased_change_keeps_the_contest_until_its_value_is_out():
    begun = after(admitted("A", "x", 1), superseded("B", "y", 2, "A"), CONTESTED)
    change = folded([erased(superseded("C", "z", 3, "B"), recorded_at=50)], REGISTRY, begun)
    assert (ids(change), change.contested, change.supersessions) == (("", "", "AB"), False, ())
    assert times(change.past) == [("A", 1, 2), ("B", 2, 50)]
    assert [each.ends_loosely for each in change.past] == [False, True]
    again = folded([erased(admitted("B", "y", 3))], REGISTRY, begun)
    assert (ids(again), again.contested, again.supersessions) == (("", "", "A"), True, (2,))
    corrected = folded([erased(superseded("C", "z", 3, "B", kind="correction"))], REGISTRY, begun)
    assert (ids(corrected), corrected.contested) == (("", "", "A"), False)


@pytest.mark.parametrize(
    ("valid_to", "expires_at", "recorded_at", "ends"),
    [
        (None, None, 50, 50),
        (20, None, 50, 20),
        (60, None, 50, 50),
        (None, 20, 50, 20),
        (30, 20, 50, 20),
        (None, None, 3, 10),  # never before it began
    ],
)
def test_an_erased_end_is_the_first_that_is_known(valid_to, expires_at, recorded_at, ends):
    belief = after(admitted("A", "x", 10, valid_to=valid_to, expires_at=expires_at))
    event = erased(MemoryExpired(memory_id="A", valid_to=1), recorded_at=recorded_at)
    over = folded([event], REGISTRY, belief)
    assert (ids(over), times(over.past)) == (("", "", "A"), [("A", 10, ends)])
    assert over.past[0].ends_loosely


def test_what_an_erased_change_ended_did_not_expire():
    belief = after(admitted("A", "x", 10, expires_at=20))
    over = folded([erased(superseded("B", "y", 11, "A"), recorded_at=50)], REGISTRY, belief)
    assert times(over.past) == [("A", 10, 50)]


def test_an_erased_merge_takes_its_originals_along():
    belief = after(admitted("A", "x", 1), quarantined("B", "y", 2), quarantined("C", "z", 2))
    merged = folded([erased(consolidated("M", "x", 3, "A", "B"))], REGISTRY, belief)
    assert ids(merged) == ("", "C", "")


def test_an_erased_arrival_takes_no_statement_to_where_it_went_before():
    belief = after(
        admitted("A", "x", 1), moved_out("A"), admitted("B", "y", 2), moved_out("B", to="b2")
    )
    back = folded([erased(moved_in("A", "x", 3))], REGISTRY, belief)
    assert [each.memory_id for each in back.redirects] == ["B"]
    kept = folded([erased(admitted("A", "x", 3))], REGISTRY, belief)
    assert [each.memory_id for each in kept.redirects] == ["A", "B"]


def test_erased_mentions_are_as_many_as_was_recorded():
    belief = after(admitted("A", "x", 1), quarantined("Q", "q", 1), confirmed("A", 2))
    fewer = folded([erased(confirmed("A", 3, mentions=3))], REGISTRY, belief)
    assert (fewer.current[0].mentions, fewer.current[0].told) == (2, 2)
    assert fewer.quarantined[0].told is None
    uncounted = folded([erased(confirmed("A", 3, counted=False))], REGISTRY, belief)
    assert uncounted == replace(belief, version=9)
    then = after(confirmed("A", 4, mentions=4), belief=fewer).current[0]
    assert (then.mentions, then.told) == (4, 4)
    promoted = after(
        admitted("Q", "q", 5, promotes="Q", mentions=7),
        belief=folded([erased(confirmed("Q", 3))], REGISTRY, belief),
    )
    assert (promoted.current[-1].mentions, promoted.current[-1].told) == (7, 7)


def test_other_erased_events_move_the_version_alone():
    belief = after(admitted("A", "x", 1))
    other = erased(MemoryRevoked(memory_id="A", cause="actor"), version=5)
    assert folded([other], REGISTRY, belief) == replace(belief, version=5)
    assert evolve(belief, 6, None, REGISTRY) == replace(belief, version=6)


# What ends loosely


def loosely(**given):
    """A ended by 50 at the latest, since what superseded it is erased; P is past beside it."""
    begun = after(admitted("P", "p", 1, past=True, valid_to=10), admitted("A", "x", 10, **given))
    return folded([erased(superseded("B", "y", 20, "A"), recorded_at=50)], REGISTRY, begun)


@pytest.mark.parametrize(("begins", "ends"), [(9, 50), (10, 10), (30, 30), (49, 49), (50, 50)])
@pytest.mark.parametrize(
    "how",
    [
        lambda at: admitted("N", "n", at),
        lambda at: admitted("N", "n", at, past=True),
        lambda at: superseded("N", "n", at, "nobody"),
        lambda at: moved_in("N", "n", at),
        lambda at: moved_in("N", "n", at, past=True),
        lambda at: consolidated("N", "n", at),
    ],
)
def test_it_gives_way_to_what_begins_before_its_end(begins, ends, how):
    belief = after(how(begins), belief=loosely())
    assert times(belief.past)[:2] == [("P", 1, 10), ("A", 10, ends)]


def test_it_gives_way_in_its_own_context_alone():
    belief = after(admitted("N", "n", 30, context="at work"), belief=loosely())
    assert times(belief.past) == [("P", 1, 10), ("A", 10, 50)]
    there = after(admitted("N", "n", 30, context="at work"), belief=loosely(context="at work"))
    assert times(there.past) == [("P", 1, 10), ("A", 10, 30)]


def test_what_goes_to_quarantine_takes_no_time():
    belief = after(
        quarantined("N", "n", 30), moved_in("M", "m", 30, quarantined=True), belief=loosely()
    )
    assert times(belief.past) == [("P", 1, 10), ("A", 10, 50)]


def test_folding_goes_on_from_where_it_was():
    first, second = admitted("A", "x", 1), confirmed("A", 2)
    recorded = [
        replace(erased(event, version=at), event=event)
        for at, event in enumerate((first, second), start=1)
    ]
    assert folded(recorded, REGISTRY) == after(first, second)
    assert folded(recorded[1:], REGISTRY, folded(recorded[:1], REGISTRY)) == after(first, second)
