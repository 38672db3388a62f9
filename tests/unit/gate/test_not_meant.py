"""What is said and not meant is not believed, of whatever kind; what only looks like it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from beliefledger.gate.belief import Belief
from beliefledger.gate.consent import Consent, Grant
from beliefledger.gate.cues import READING
from beliefledger.gate.decide import decide
from beliefledger.gate.decision import Decision, TurnView
from beliefledger.gate.legible_turn import legible
from beliefledger.gate.outcomes import CAPPED, Outcome
from beliefledger.gate.policy import default_policy
from beliefledger.gate.registry import Registry, default_types
from beliefledger.gate.rules.extractor import RuleExtractor
from beliefledger.gate.special_categories import categorised
from beliefledger.ledger.candidate import Candidate, Resolved, SpeechAct
from beliefledger.ledger.data_files import parsed

CASES = parsed(Path(__file__).with_name("not_meant.yaml").read_bytes())
POLICY = default_policy()
REGISTRY = Registry(types={kind.name: kind for kind in default_types()})
ORDINARY = Grant("grant", "consent", frozenset({"ordinary"}), "assistance", "subject", None)
CONSENT = Consent(grants=(ORDINARY,))
NOW = 1_767_600_000_000_000
BELIEVED = {Outcome.ADMIT, Outcome.SUPERSEDE, Outcome.CONFIRM}


def decided(said: str, reading: int = READING) -> list[tuple[Candidate, Decision]]:
    """What the rules notice in a turn, and what the gate decides about each."""
    turn = TurnView("turn", "user", said, NOW)
    found = []
    resolved = Resolved(entity="somebody", reading=reading)
    for noticed in RuleExtractor().extract(legible(turn, ()).turn):
        candidate = categorised(noticed, REGISTRY, POLICY)
        candidate = candidate.model_copy(update={"resolved": resolved})
        decision = decide(turn, candidate, Belief(), CONSENT, POLICY, REGISTRY, NOW)
        found.append((candidate, decision))
    return found


def right(kind: str, said: str, expected: str | None) -> bool:
    """Whether the gate does what a case expects."""
    found = decided(said)
    believed = [candidate for candidate, each in found if each.outcome in BELIEVED]
    asked = [candidate.category for candidate, each in found if each.outcome is Outcome.QUEUE]
    if kind == "kept":
        return any((expected or "").lower() in each.claim.lower() for each in believed)
    if kind == "not_withheld":
        capped = set(CAPPED.values())
        return not asked and all(
            each.reason not in capped and candidate.category is None for candidate, each in found
        )
    if kind == "queued":
        return expected in asked and not believed
    return not believed and (kind == "not_admitted" or not asked)


def cases() -> Iterator[Any]:
    for about, kinds in CASES.items():
        for kind, rows in kinds.items():
            for row in rows:
                said, expected = (row, None) if isinstance(row, str) else row
                yield pytest.param(kind, said, expected, id=f"{about}: {said}"[:80])


@pytest.mark.parametrize(("kind", "said", "expected"), list(cases()))
def test_each_sentence_becomes_what_it_should(kind, said, expected):
    assert right(kind, said, expected), [
        (candidate.claim, decision.outcome, decision.reason)
        for candidate, decision in decided(said)
    ]


@pytest.mark.parametrize(
    ("said", "then", "now"),
    [
        ("I own a yacht, well, not really.", Outcome.ADMIT, Outcome.QUARANTINE),
        ("I have a billion emails to answer.", Outcome.ADMIT, Outcome.QUARANTINE),
        ("For the sake of argument, I have diabetes.", Outcome.QUEUE, Outcome.REJECT),
    ],
)
def test_what_the_first_cues_let_through_is_decided_so_again(said, then, now):
    ((candidate, decision),) = decided(said)
    assert decision.outcome is now
    before = candidate.model_copy(update={"act": SpeechAct.STATEMENT, "resolved": None})
    turn = TurnView("turn", "user", said, NOW)
    assert decide(turn, before, Belief(), CONSENT, POLICY, REGISTRY, NOW).outcome is then


def test_of_sentences_that_nothing_was_tuned_on_few_are_taken_wrongly():
    held_out = parsed(Path(__file__).with_name("not_meant_held_out.yaml").read_bytes())
    wrong = [
        said
        for kinds in held_out.values()
        for kind in _NOT
        for said in kinds.get(kind, ())
        if not right(kind, said, None)
    ]
    total = sum(len(kinds.get(kind, ())) for kinds in held_out.values() for kind in _NOT)
    assert (total, len(wrong) <= 3) == (71, True), wrong


_NOT = ("not", "prohibited")


@pytest.mark.parametrize(
    "said",
    [
        "I was diagnosed with asthma last year",
        "I was diagnosed with diabetes",
        "I have asthma",
        "i have diabetes",
        "I had a heart attack last year",
        "I suffer from migraines",
        "I take antidepressants",
        "I'm allergic to peanuts btw, keep that in mind",
        "I'm a Catholic",
    ],
)
def test_what_is_meant_of_a_special_category_waits_for_a_person(said: str) -> None:
    assert [decision.reason.value for _, decision in decided(said)] == [
        "permission.special_category"
    ]


@pytest.mark.parametrize(
    "said", ["I was born in 1990.", "i was born in 1990", "I am a doctor.", "My name is Ana."]
)
def test_who_somebody_is_may_be_said_in_few_words(said: str) -> None:
    assert [decision.outcome for _, decision in decided(said)] == [Outcome.ADMIT]
