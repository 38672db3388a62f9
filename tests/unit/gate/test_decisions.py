"""The gate's decisions in full, story by story: nothing of one changes without being seen here."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
import yaml

from beliefledger.gate.consent import Grant
from beliefledger.gate.decision import Approval, Decision
from beliefledger.gate.outcomes import Outcome, Reason
from beliefledger.gate.registry import MemoryType, Registry
from beliefledger.ledger.candidate import Durability, Resolved, Source, Span, SpeechAct
from beliefledger.ledger.data_files import parsed
from beliefledger.ledger.events.belief import ConflictResolved
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.times import DAY

NOW = 1_700_000_000_000_000
STORIES = parsed((Path(__file__).parents[2] / "golden" / "decisions.yaml").read_bytes())
TIMES = ("valid_from", "valid_to", "expires_at")
PLAIN = {
    field.name: field.default
    for field in fields(Decision)
    if field.name
    not in {"outcome", "reason", "confidence", "trace", "expired", "basis", "grant", *TIMES}
}
READ = {
    "act": SpeechAct, "durability": Durability, "source": Source,
    "approval": lambda given: Approval(**given),
    "choices": lambda given: Choices(**{name: moment(name, each) for name, each in given.items()}),
    "resolved": lambda given: Resolved(**given),
    "also": lambda given: Span(**given),
}  # fmt: skip


def moment(name, value):
    return NOW + round(value * DAY) if name in TIMES and value is not None else value


def day(at):
    """0 is the first day; a whole number where it is one."""
    days = round((at - NOW) / DAY, 6)
    return int(days) if days == int(days) else days


def reading(said, given):
    return said(**{name: READ.get(name, lambda each: each)(each) for name, each in given.items()})


def granted(given):
    plain = {
        "id": "grant", "basis": "consent", "categories": ["ordinary"], "purpose": "assistance",
        "scope": "subject", "expires_at": None,
    } | given  # fmt: skip
    plain["categories"] = frozenset(plain["categories"])
    plain["expires_at"] = moment("expires_at", plain["expires_at"])
    return Grant(**plain)


def begun(scenario, said, story):
    if "types" in story:
        own = [MemoryType.model_validate(each) for each in story["types"]]
        known = scenario.registry.types | {kind.name: kind for kind in own}
        scenario = replace(scenario, registry=Registry(types=known))
    scenario = scenario.under(**story.get("under", {}))
    scenario = scenario.given(*(reading(said, each) for each in story.get("given", ())))
    if "grants" in story:
        scenario = scenario.with_grants(*map(granted, story["grants"]))
    if "resolved" in story:
        how = story["resolved"]
        scenario = scenario.after(
            ConflictResolved(
                kind=how["kind"], settles=("decision-9",), memories=(), closes=how["closes"],
                resolved_at=NOW + how["day"] * DAY,
            )
        )  # fmt: skip
    if "loosely" in story:
        loose = story["loosely"]
        held = scenario.belief.find(loose["memory"])
        over = replace(held, valid_to=NOW + loose["end"] * DAY, ends_loosely=True)
        scenario = replace(scenario, belief=replace(scenario.belief, current=(), past=(over,)))
    return scenario


def told(scenario):
    """The decision, the events that follow from it and the belief after them. What has its default
    is left out, and so is the `pass` of a check."""
    decision, belief = scenario.decision, scenario.belief
    c = decision.confidence
    found = {
        "decided": f"{decision.outcome.value} {decision.reason.value}",
        "score": f"s {c.s}, r {c.r}, e {c.e}, t {c.t}: base {c.base}, c {c.c}",
        "checks": ", ".join(decision.trace).replace("=pass", ""),
        "marks": {
            name: getattr(decision, name)
            for name, default in PLAIN.items()
            if getattr(decision, name) != default
        },
        "expired": decision.expired and decision.expired.memory_id,
        "holds": period(decision)
        + (f", {decision.basis} {decision.grant}" if decision.grant else ""),
        "memory": scenario.memory(),
        "events": ", ".join(event.NAME.rpartition(".")[0] for event in scenario.events),
    }
    for part in ("current", "quarantined", "past"):
        found[f"then_{part}"] = [as_text(held) for held in getattr(belief, part)]
    found["then_superseded"] = ", ".join(str(day(at)) for at in belief.supersessions)
    for name in ("contested", "by_context"):
        found[f"then_{name}"] = getattr(belief, name)
    found["then_escalated"] = ", ".join(belief.escalated)
    return {name: value for name, value in found.items() if value}


def period(held):
    """Of a decision or a memory."""
    until = "" if held.valid_to is None else f" until {day(held.valid_to)}"
    expires = "" if held.expires_at is None else f", expires {day(held.expires_at)}"
    return (f"from {day(held.valid_from)}" if held.valid_from else "") + until + expires


def as_text(held):
    context = f" [{held.context}]" if held.context is not None else ""
    marks = [name for name in ("capped", "ends_loosely") if getattr(held, name)]
    return (
        f"{held.memory_id} {held.value}{context}: {held.confidence} of base {held.base},"
        f" {held.mentions} x, said {day(held.said_at)}, {period(held)},"
        f" {held.basis} {held.grant}{''.join(f', {mark}' for mark in marks)}"
    )


@pytest.mark.parametrize("story", STORIES, ids=[each["about"] for each in STORIES])
def test_a_decision_is_what_the_story_says(scenario, said, story):
    after = begun(scenario, said, story).when(reading(said, story["when"]))
    found = told(after)
    assert found == story.get("then"), "\n" + yaml.safe_dump({"then": found}, sort_keys=False)


def test_every_reason_and_outcome_has_its_story():
    decided = {word for each in STORIES for word in each["then"]["decided"].split()}
    assert decided == {*Reason, *Outcome}


def test_no_story_is_told_twice():
    names = [each["about"] for each in STORIES]
    assert sorted(set(names)) == sorted(names)
