"""Memories that moved are where everybody looks for them, and are what they were."""

from __future__ import annotations

import pytest
from wishes import storing

from beliefledger import Candidate, Span, open_memory
from beliefledger.gate.consolidation import Consolidator
from beliefledger.gate.intake import ChosenMemory, TurnInput
from beliefledger.ledger.candidate import SpeechAct
from beliefledger.ledger.errors import NotPermitted
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.times import DAY


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def say(memory, entity, attribute, value, **more):
    return memory.store("ana", value, **storing(entity=entity, **(more)), attribute=attribute)


def merge(memory, one="Sarah", other="S. Chen"):
    say(memory, one, "known", "yes")
    say(memory, other, "known", "yes")
    return memory.entities.merge("ana", one, other, by="ina")


def held(memory, attribute, **more):
    return [each.value for each in memory.beliefs("ana", **more) if each.attribute == attribute]


def whole(memory):
    assert all(view.same for view in memory.operations.rebuild(verify=True))
    assert memory.audit.replay_all().different == 0


def test_the_history_of_a_memory_that_moved_can_be_asked_by_its_id(memory):
    first = say(memory, "S. Chen", "role", "CTO").memory_id
    merge(memory)
    assert [each.memory_id for each in memory.history(first)] == [first]
    assert memory.explain(first).holds


def test_a_hypothetical_that_moved_can_still_never_count_as_a_mention(memory):
    words = "S. Chen: role is CTO"
    candidate = Candidate(
        claim=words,
        spans=(Span(start=0, end=len(words), quote=words),),
        type="fact",
        entity="S. Chen",
        attribute="role",
        value="CTO",
        act=SpeechAct.HYPOTHETICAL,
        importance=500_000,
        confidence=1_000_000,
    )
    turn = TurnInput(subject="ana", content=words, role="system", channel="store")
    memory._gate.store([ChosenMemory(turn, candidate, Choices())])
    merge(memory)
    said = say(memory, "Sarah", "role", "CTO")
    assert (said.outcome, said.reason, said.mentions) == ("admit", "truth.new", 1)


def test_a_constraint_is_not_ended_by_what_moves_into_its_slot(memory, clock):
    for who, other in (("Sarah", "S. Chen"), ("Ben", "B. Roth")):
        say(memory, who, "eats.gluten", "never", type="constraint")
        clock.ahead(60)
        say(memory, other, "eats.gluten", "often")
    merge(memory)
    merge(memory, "B. Roth", "Ben")
    assert held(memory, "eats.gluten") == ["never", "never"]


def test_what_is_over_does_not_end_what_holds(memory):
    say(memory, "Sarah", "role", "VP", said_at="2026-01-01")
    over = {"valid_from": "2025-01-01", "valid_to": "2025-02-01", "said_at": "2026-02-01"}
    say(memory, "S. Chen", "role", "Director", **over)
    merge(memory)
    assert held(memory, "role") == ["VP"]
    assert held(memory, "role", valid_at="2025-01-15") == ["Director"]
    assert held(memory, "role", valid_at="2025-03-01") == []
    whole(memory)


def test_what_holds_does_not_vanish_in_what_is_over(memory):
    over = {"valid_from": "2025-01-01", "valid_to": "2025-02-01", "said_at": "2025-01-01"}
    say(memory, "Sarah", "role", "VP", **over)
    say(memory, "S. Chen", "role", "VP", said_at="2026-02-01")
    merge(memory)
    assert held(memory, "role") == ["VP"]
    whole(memory)


def test_what_was_contested_is_contested_where_it_went(memory, clock):
    for value in ("CTO", "COO", "CEO", "CFO"):
        say(memory, "S. Chen", "role", value)
        clock.ahead(60)
    merge(memory)
    assert held(memory, "role") == ["CFO"]
    assert say(memory, "Sarah", "role", "CTO").outcome == "escalate"
    (conflict,) = memory.conflicts.list("ana")
    memory.conflicts.resolve(conflict.belief_id, choose="CTO", by="ina")
    assert held(memory, "role") == ["CTO"]
    whole(memory)


def test_words_that_went_into_another_memory_are_its_evidence(memory, clock):
    say(memory, "Sarah", "role", "VP")
    for _ in range(2):
        clock.ahead(60)
        say(memory, "S. Chen", "role", "VP")
    merge(memory)
    (role,) = (each for each in memory.beliefs("ana") if each.attribute == "role")
    assert role.mentions == 3
    assert len({(each.turn_id, each.said_at) for each in role.evidence}) == 3


def test_two_that_wait_for_more_become_one_that_waits(memory):
    say(memory, "Sarah", "role", "VP", confidence=0.3)
    say(memory, "S. Chen", "role", "VP", confidence=0.3)
    merge(memory)
    waiting = memory.beliefs("ana", min_confidence=0, quarantined=True)
    assert [each.mentions for each in waiting if each.quarantined] == [2]


def test_a_memory_of_a_retired_type_moves_to_its_own_slot(memory):
    memory.consent.grant("ana", "explicit_consent", categories=["health"])
    pill = {"name": "pill", "slot": "attribute", "attribute": "pill.{what}"}
    memory.types.add(pill | {"fields": {"what": {"description": "which", "required": True}}})
    say(memory, "Sarah", "pill.zinc", "two", type="pill")
    say(memory, "S. Chen", "pill.zinc", "one", type="pill")
    memory.types.retire("pill")
    merge(memory)
    assert len(held(memory, "pill.zinc")) == 1
    assert say(memory, "Sarah", "pill.zinc", held(memory, "pill.zinc")[0]).outcome == "confirm"
    whole(memory)


def consolidated(memory, who, clock):
    pair = {}
    for attribute, text in (
        ("drink.best", f"the favorite drink of {who} is tea"),
        ("drink.cup", f"{who}'s favorite drink is tea"),
    ):
        said = say(memory, who, attribute, "tea", text=text)
        pair[said.memory_id] = said.belief_id
        clock.ahead(60)
    ref = memory._log.subject("ana")
    return list(pair), Consolidator(memory._gate).consolidate(ref, pair, similarity=900_000)


def test_a_merge_is_taken_back_to_whom_its_originals_are_about_by_now(memory, clock):
    originals, merged = consolidated(memory, "S. Chen", clock)
    again = say(memory, "S. Chen", "drink.cup", "tea")
    assert (again.outcome, again.memory_id) == ("confirm", merged)
    merge(memory)
    memory.operations.consolidation.undo(merged, by="ina")
    for attribute, original in zip(("drink.best", "drink.cup"), originals, strict=True):
        said = say(memory, "Sarah", attribute, "tea")
        assert (said.outcome, said.memory_id) == ("confirm", original)
    # What was said of the merged one before it moved, too.
    (first,) = (each for each in memory.beliefs("ana") if each.memory_id == originals[0])
    assert first.mentions == 3
    memory.entities.split("ana", "Sarah", ["S. Chen"], by="ina")
    assert say(memory, "S. Chen", "drink.cup", "tea").memory_id == originals[1]
    whole(memory)


def test_an_approved_memory_is_about_whom_it_is_by_now(memory):
    queued = say(memory, "S. Chen", "illness.cold", "yes", category="health")
    assert queued.outcome == "queue"
    merge(memory)
    written = memory.conflicts.review(queued.decision_id, approve=True, by="ina")
    memory.consent.grant("ana", "explicit_consent", categories=["health"])
    again = say(memory, "Sarah", "illness.cold", "yes", category="health")
    assert (again.outcome, again.memory_id) == ("confirm", written)
    whole(memory)


def test_a_split_takes_along_no_name_but_those_it_names(memory):
    for name in ("Sarah", "Tom", "Bo"):
        say(memory, name, f"pet.{name}", "cat")
    memory.entities.merge("ana", "Tom", "Bo", by="ina")
    memory.entities.merge("ana", "Sarah", "Tom", by="ina")
    memory.entities.split("ana", "Sarah", ["Tom"], by="ina")
    assert say(memory, "Bo", "pet.Sarah", "cat").outcome == "confirm"
    assert say(memory, "Tom", "pet.Tom", "cat").outcome == "confirm"
    (tom,) = (each for each in memory.entities.list("ana") if each.name == "Tom")
    assert [each.name for each in tom.names] == ["Tom"]
    memory.entities.split("ana", "Sarah", ["Bo"], by="ina")
    (sarah,) = (each for each in memory.entities.list("ana") if each.name == "Sarah")
    assert (len(memory.entities.list("ana")), sarah.absorbed) == (3, ())
    whole(memory)


def test_an_entity_keeps_the_name_it_was_first_known_by(memory):
    merge(memory)
    with pytest.raises(NotPermitted, match="first known by"):
        memory.entities.split("ana", "Sarah", ["Sarah"], by="ina")


@pytest.mark.parametrize("how", ["merge", "alias", "split"])
def test_what_is_said_of_somebody_while_they_merge_or_split_moves_too(place, how):
    with open_memory(place) as one, open_memory(place) as two:
        one.consent.grant("ana", "consent")
        say(one, "Sarah", "role", "CTO")
        say(one, "Sunny", "pet", "cat")
        if how == "split":
            one.entities.merge("ana", "Sarah", "Sunny", by="ina")
        look_up, meanwhile = one._gate._about, []

        def about(subject_ref, entity_id):
            found = look_up(subject_ref, entity_id)
            if not meanwhile:
                meanwhile.append(say(two, "Sunny", "home.city", "Faro").memory_id)
            return found

        one._gate._about = about
        if how == "merge":
            one.entities.merge("ana", "Sarah", "Sunny", by="ina")
        elif how == "alias":
            say(one, "Sarah", "alias", "Sunny", type="entity")
        else:
            one.entities.split("ana", "Sarah", ["Sunny"], by="ina")
        again = say(one, "Sunny" if how == "split" else "Sarah", "home.city", "Faro")
        assert (again.outcome, [again.memory_id]) == ("confirm", meanwhile)
        whole(one)


def test_who_took_part_stays_who_they_became(memory):
    def told(name, words, **more):
        candidate = Candidate(
            claim=words,
            spans=(Span(start=0, end=len(words), quote=words),),
            type="event",
            entity=name,
            attribute="lunch",
            value=words,
            importance=500_000,
            confidence=1_000_000,
            **more,
        )
        turn = TurnInput(subject="ana", content=words, role="system", channel="store")
        memory._gate.store([ChosenMemory(turn, candidate, Choices())])

    told("S. Chen", "S. Chen had lunch with Bo", participants=("Bo",))
    merge(memory, "Tom", "Bo")
    assert len(memory.events("ana", participant="Tom")) == 1
    merge(memory)
    assert len(memory.events("ana", participant="Tom")) == 1
    whole(memory)


def test_a_waiting_memory_placed_in_the_past_waits_no_more(memory, clock):
    say(memory, "Sarah", "role", "CTO", said_at="2026-01-01")
    say(memory, "Sarah", "role", "CEO", said_at="2026-02-01")
    waits = say(memory, "Sarah", "role", "COO", said_at="2026-01-10", confidence=0.3)
    assert waits.outcome == "quarantine"
    clock.ahead(DAY / 1_000_000)
    lifted = say(memory, "Sarah", "role", "COO", said_at="2026-01-12")
    assert (lifted.outcome, lifted.memory_id) == ("supersede", waits.memory_id)
    assert (
        memory._gate.memo.belief(lifted.belief_id, memory._core.rulebook.current()).quarantined
        == ()
    )
    again = say(memory, "Sarah", "role", "COO", said_at="2026-02-10")
    assert (again.outcome, again.memory_id == waits.memory_id) == ("supersede", False)
    whole(memory)
