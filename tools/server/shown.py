"""What leaves through a door: only words whose standing allows it now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from beliefledger.answers import BeliefAnswer, DecisionAnswer
from beliefledger.memory import MemoryLedger
from beliefledger.reading.candidates import WhyNotAnswer
from beliefledger.times import LATEST
from beliefledger.tools.server.caller import Caller

T = TypeVar("T")

TOLD_OF_WITHHELD = frozenset({"reviewer", "auditor", "admin"})
"""Roles that are told that something like a claim was stopped, whose words may not be told."""
MOST_LIKE = 1_000
"""So many statements like a claim are looked at; how many are left out is counted."""
TOPIC = "topic"
"""Where the metadata of a memory has the word of a topic that the policy does not know."""


class Shown:
    """Asks the gate of the way out, of many memories and turns at once."""

    def __init__(self, memory: MemoryLedger) -> None:
        self._memory = memory

    def words(self, ids: Iterable[str]) -> dict[str, str]:
        """What these memories and turns say; without those that are withheld."""
        wanted = list(dict.fromkeys(each for each in ids if each))
        said = self._memory.recalls.words(wanted, LATEST)
        return {each: words.text for each, words in said.items() if words.text is not None}

    def beliefs(self, answers: Sequence[BeliefAnswer]) -> list[dict[str, Any]]:
        """Those that may be told, as JSON."""
        return [belief(each) for each in self._memory.recalls.showable(answers)]

    def decisions(self, answers: Sequence[DecisionAnswer]) -> list[dict[str, Any]]:
        """All of them as JSON; the claim only of those whose words may be told."""
        allowed = self.words(
            each_id for each in answers for each_id in (each.turn_id, each.memory_id or "")
        )
        return [decision(each, allowed) for each in answers]

    def told(self, answers: Sequence[DecisionAnswer]) -> set[str]:
        """The ids of those decisions whose claim may be told."""
        return {each["decision_id"] for each in self.decisions(answers) if each["claim"]}

    def like(self, caller: Caller, claim: str, subject: str) -> WhyNotAnswer:
        """Why something is not believed, with statements whose words may not be told only for who
        may be told of these. Waiting turns are in their order, not by likeness to words that are
        not told; for the same reason none is left out here: see `cut`."""
        all_of_it = caller.principal.role in TOLD_OF_WITHHELD
        found = caller.memory.why_not(
            caller.subject(subject),
            claim,
            limit=MOST_LIKE,
            only=None if all_of_it else self.told,
            said=None if all_of_it else self.words,
        )
        waiting = sorted(found.waiting, key=lambda each: each.position)
        return found.model_copy(update={"waiting": tuple(waiting)})


def cut(lists: Mapping[str, Sequence[T]], limit: int) -> tuple[dict[str, Sequence[T]], int]:
    """Each list up to a limit, and how much is left out of all of them."""
    left_out = sum(max(0, len(each) - limit) for each in lists.values())
    return {name: each[:limit] for name, each in lists.items()}, left_out


def belief(answer: BeliefAnswer) -> dict[str, Any]:
    shown = answer.model_dump(
        mode="json",
        include={
            "memory_id", "belief_id", "type", "entity", "attribute", "value", "negated",
            "text", "context", "confidence", "importance", "mentions", "contested", "valid_from",
            "valid_to", "event_from", "event_to", "recorded_from", "recorded_to", "superseded_by",
            "supersedes",
        },
    )  # fmt: skip
    return {**shown, "topic": topic_of(answer)}


def times_of(answer: BeliefAnswer) -> dict[str, str | None]:
    """When a memory was last said, since when it holds, and when what it tells of is or was."""
    said = max((each.said_at for each in answer.evidence), default=None)
    times = {
        "said_at": said,
        "valid_from": answer.valid_from,
        "event_from": answer.event_from,
        "event_to": answer.event_to,
    }
    return {name: None if time is None else time.isoformat() for name, time in times.items()}


def topic_of(answer: BeliefAnswer) -> str:
    """The topic of a memory: the word under which an agent stored it, where that was kept."""
    kept = answer.metadata.get(TOPIC)
    return kept if isinstance(kept, str) else answer.topic


def decision(answer: DecisionAnswer, allowed: dict[str, str]) -> dict[str, Any]:
    shown = answer.model_dump(
        mode="json",
        include={
            "decision_id", "turn_id", "outcome", "reason", "says", "memory_id", "belief_id",
            "waits", "recorded_at", "confidence", "became",
        },
    )  # fmt: skip
    return {**shown, "claim": answer.claim if _may_be_told(answer, allowed) else None}


def _may_be_told(answer: DecisionAnswer, allowed: dict[str, str]) -> bool:
    """The words that justify it stand in what may be told of its turn."""
    if answer.memory_id is not None and answer.memory_id not in allowed:
        return False
    told = allowed.get(answer.turn_id)
    if told is None:
        return False
    return answer.span is not None and answer.span.text in told
