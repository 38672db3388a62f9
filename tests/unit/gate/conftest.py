"""given(what was said before).when(what is said now).then(what the gate decides): pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from beliefledger.gate.belief import Belief, evolve
from beliefledger.gate.confidence import Confidence
from beliefledger.gate.consent import Consent, Grant
from beliefledger.gate.decide import decide
from beliefledger.gate.decision import Approval, Decision, TurnView
from beliefledger.gate.effects import effects, memory_id_of
from beliefledger.gate.outcomes import Outcome
from beliefledger.gate.policy import Policy, default_policy
from beliefledger.gate.registry import Registry, default_types
from beliefledger.ledger.candidate import (
    Candidate,
    Durability,
    Resolved,
    Source,
    Span,
    SpeechAct,
    When,
)
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.times import DAY

NOW = 1_700_000_000_000_000
REGISTRY = Registry(types={kind.name: kind for kind in default_types()})
ORDINARY = Grant("grant", "consent", frozenset({"ordinary"}), "assistance", "subject", None)


@dataclass(frozen=True)
class Said:
    """One turn with one candidate. `day` counts from the first day of the story."""

    value: str
    attribute: str = "home.location"
    type: str = "fact"
    text: str | None = None
    day: float = 0
    act: SpeechAct = SpeechAct.STATEMENT
    context: str | None = None
    negated: bool = False
    replaces: str | None = None
    category: str | None = None
    durability: Durability = Durability.LASTING
    importance: int = 800_000
    confidence: int = 900_000
    inferred: bool = False
    source: Source = Source.STATED
    since: float | None = None
    until: float | None = None
    turn: str | None = None
    role: str = "user"
    quote: str | None = None
    words: str | None = None
    """What the span covers of the text; else all of it."""
    also: Span | None = None
    """Words of an earlier turn, before the own ones; alone where `words` is empty."""
    cited: Mapping[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    ask: bool = False
    resolved: Resolved | None = None
    topic: str = "home"
    choices: Choices | None = None
    approval: Approval | None = None

    @property
    def content(self) -> str:
        return self.text or f"I say {self.value} {self.context or ''}".strip()

    def turn_view(self, number: int) -> TurnView:
        return TurnView(
            turn_id=self.turn or f"turn-{number}",
            role=self.role,
            content=self.content,
            said_at=NOW + round(self.day * DAY),
            cited=self.cited,
            ask=self.ask,
        )

    def spans(self) -> tuple[Span, ...]:
        if self.words == "" and self.also is not None:
            return (self.also,)
        words = self.content if self.words is None else self.words
        start = self.content.index(words)
        quote = words if self.quote is None else self.quote
        own = Span(start=start, end=start + len(words), quote=quote)
        return (own,) if self.also is None else (self.also, own)

    def candidate(self) -> Candidate:
        since = None if self.since is None else NOW + round(self.since * DAY)
        until = None if self.until is None else NOW + round(self.until * DAY)
        return Candidate(
            claim=f"User says {self.value}",
            spans=self.spans(),
            type=self.type,
            attribute=self.attribute,
            value=self.value,
            negated=self.negated,
            replaces=self.replaces,
            context=self.context,
            act=self.act,
            inferred=self.inferred,
            source=self.source,
            durability=self.durability,
            topic=self.topic,
            category=self.category,
            importance=self.importance,
            confidence=self.confidence,
            when=When(start=since, end=until),
            fields=self.fields,
            resolved=self.resolved,
        )


@dataclass
class Scenario:
    """A belief that things are said about, one after another."""

    policy: Policy = field(default_factory=default_policy)
    consent: Consent = field(default_factory=lambda: Consent(1, (ORDINARY,)))
    belief: Belief = field(default_factory=Belief)
    registry: Registry = REGISTRY
    turns: int = 0
    decision: Decision | None = None
    events: list[Event] = field(default_factory=list)

    def under(self, **policy: object) -> Scenario:
        fields = self.policy.model_dump() | policy
        return replace(self, policy=Policy.model_validate(fields))

    def with_grants(self, *grants: Grant) -> Scenario:
        return replace(self, consent=Consent(1, grants))

    def given(self, *before: Said) -> Scenario:
        scenario = self
        for said in before:
            scenario = scenario.when(said)
        return scenario

    def when(self, said: Said) -> Scenario:
        turn, candidate = said.turn_view(self.turns), said.candidate()
        decision = decide(
            turn,
            candidate,
            self.belief,
            self.consent,
            self.policy,
            self.registry,
            NOW,
            choices=said.choices,
            approval=said.approval,
        )
        events = effects(
            decision, f"decision-{self.turns}", candidate, turn, self.belief, f"m{self.turns}"
        )
        after = replace(self, turns=self.turns + 1, decision=decision, events=events)
        return after.after(*events)

    def after(self, *events: Event) -> Scenario:
        """With these events in the belief's stream."""
        belief = self.belief
        for event in events:
            belief = evolve(belief, belief.version + 1, event, self.registry)
        return replace(self, belief=belief)

    def then(
        self,
        outcome: Outcome,
        reason: str,
        *events: type[Event],
        confidence: float | None = None,
    ) -> Scenario:
        assert self.decision is not None
        assert (self.decision.outcome, self.decision.reason.value) == (outcome, reason)
        assert [type(event) for event in self.events] == list(events)
        if confidence is not None:
            assert self.decision.confidence.c == round(confidence * 1_000_000)
        return self

    def believes(self, *values: tuple[str | None, str]) -> Scenario:
        """(context, value) of what holds now, in order."""
        assert [(held.context, held.value) for held in self.belief.current] == list(values)
        return self

    @property
    def scored(self) -> Confidence:
        assert self.decision is not None
        return self.decision.confidence

    def memory(self) -> str | None:
        assert self.decision is not None
        return memory_id_of(self.decision, f"m{self.turns - 1}")


@pytest.fixture
def scenario() -> Scenario:
    return Scenario()


@pytest.fixture
def said() -> type[Said]:
    return Said
