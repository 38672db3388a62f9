"""What of the facade's answers may leave: their words pass the gate of the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from beliefledger.answers import (
    BeliefAnswer,
    ChoiceAnswer,
    ConflictAnswer,
    DecisionAnswer,
    Explanation,
)
from beliefledger.ledger.errors import UnknownMemory
from beliefledger.memory import MemoryLedger
from beliefledger.pages import Page
from beliefledger.reading.candidates import LikeCandidate, NearTurn, WhyNotAnswer
from beliefledger.reading.changes import DiffAnswer, MemoryChange
from beliefledger.reading.turns import TurnAnswer
from beliefledger.tools.server.shown import Shown

Ask = Callable[[int, str | None], Page[BeliefAnswer]]
_AHEAD = 1_000
"""How many are looked at at once for the next one that may be told."""
WITHHELD = "[…]"
"""Stands for words that may not be told."""


class Outlet:
    """The facade's answers as far as they may be told now."""

    def __init__(self, memory: MemoryLedger) -> None:
        self._memory = memory
        self._shown = Shown(memory)

    def beliefs(self, answers: Sequence[BeliefAnswer]) -> list[BeliefAnswer]:
        """Those that may be told."""
        return list(self._memory.recalls.showable(answers))

    def page(self, ask: Ask, limit: int, after: str | None) -> Page[BeliefAnswer]:
        """A page of those that may be told, as long and with such a `next` as if there were no
        others: `ask` answers with so many of all behind a cursor."""
        told: list[BeliefAnswer] = []
        cursor = after
        while True:
            page = ask(limit - len(told), cursor)
            told += self.beliefs(page)
            cursor = self._before_next(ask, page.next)
            if cursor is None or len(told) == limit:
                return Page(told, None if cursor is None else page.next)

    def _before_next(self, ask: Ask, cursor: str | None) -> str | None:
        """The cursor right before the next one that may be told; None where none comes."""
        size = 1
        while cursor is not None:
            page = ask(size, cursor)
            told = {id(each) for each in self.beliefs(page)}
            first = next((at for at, each in enumerate(page) if id(each) in told), None)
            if first is not None:
                return ask(first, cursor).next if first else cursor
            cursor, size = page.next, min(size * 10, _AHEAD)
        return None

    def belief(self, answer: BeliefAnswer) -> BeliefAnswer:
        """Raises `UnknownMemory` where it may not be told."""
        if not self.beliefs([answer]):
            raise UnknownMemory("There is no such memory.")
        return answer

    def decisions(self, answers: Sequence[DecisionAnswer]) -> list[DecisionAnswer]:
        """All of them; claim and words only of those whose words may be told."""
        told = self._shown.told(answers)
        return [each if each.decision_id in told else _bare(each) for each in answers]

    def decision(self, answer: DecisionAnswer) -> DecisionAnswer:
        return self.decisions([answer])[0]

    def turn(self, answer: TurnAnswer) -> TurnAnswer:
        """What was said, with `[…]` for words that may not be told."""
        words = self._shown.words([answer.turn_id]).get(answer.turn_id)
        told = {"decisions": tuple(self.decisions(answer.decisions))}
        if words is not None and words == answer.content:
            return answer.model_copy(update=told)
        hidden: dict[str, object] = {"content": words, "marked": words, "spans": (), "metadata": {}}
        return answer.model_copy(update=told | hidden)

    def explanation(self, answer: Explanation) -> Explanation:
        """Raises `UnknownMemory` where the memory may not be told."""
        self.belief(answer.memory)
        decision = None if answer.decision is None else self.decision(answer.decision)
        turn, candidate = answer.turn, answer.candidate
        if turn is not None:
            words = self._shown.words([turn["turn_id"]]).get(turn["turn_id"])
            if words != turn["content"]:
                turn = turn | {"content": words, "marked": words, "metadata": {}}
                candidate = None
        if decision is not None and decision.claim is None:
            candidate = None
        return answer.model_copy(
            update={
                "decision": decision,
                "turn": turn,
                "candidate": candidate,
                "history": tuple(self.beliefs(answer.history)),
                "originals": tuple(self.beliefs(answer.originals)),
            }
        )

    def conflicts(self, answers: Iterable[ConflictAnswer]) -> list[ConflictAnswer]:
        """All of them; of the choices the words that may be told."""
        return [self._conflict(each) for each in answers]

    def _conflict(self, answer: ConflictAnswer) -> ConflictAnswer:
        escalated = self.decisions(answer.escalated)
        standing = self.beliefs(answer.standing)
        told = {each.decision_id for each in escalated if each.claim is not None}
        told |= {each.memory_id for each in standing}
        seen = any(each.id in told for each in answer.choices)
        return answer.model_copy(
            update={
                "standing": tuple(standing),
                "escalated": tuple(escalated),
                "attribute": answer.attribute if seen else WITHHELD,
                "choices": tuple(
                    each if each.id in told else _hidden_choice(each) for each in answer.choices
                ),
                "by_context": answer.by_context if seen else WITHHELD,
            }
        )

    def diff(self, answer: DiffAnswer) -> DiffAnswer:
        """All changes. Of a memory that may not be told it has its id and the steps, as
        `decisions` tells what was decided; nothing of what the memory is."""
        words = self._shown.words(each.memory_id or "" for each in answer.changes)
        changes = [
            each if each.memory_id in words else _hidden_change(each) for each in answer.changes
        ]
        return answer.model_copy(update={"changes": tuple(changes)})

    def why_not(self, answer: WhyNotAnswer) -> WhyNotAnswer:
        """The statements like a claim; words only where they may be told."""
        turns = self._shown.words(each.turn_id for each in (*answer.waiting, *answer.nearest))
        return answer.model_copy(
            update={
                "stopped": tuple(map(self._like, answer.stopped)),
                "got_in": tuple(map(self._like, answer.got_in)),
                "waiting": tuple(_near(each, turns) for each in answer.waiting),
                "nearest": tuple(_near(e, turns) for e in answer.nearest if e.turn_id in turns),
            }
        )

    def _like(self, like: LikeCandidate) -> LikeCandidate:
        decision = self.decision(like.decision)
        words = self._shown.words([decision.turn_id]).get(decision.turn_id, "")
        told = like.sentence is not None and like.sentence in words
        return like.model_copy(
            update={"decision": decision, "sentence": like.sentence if told else None}
        )

    def words(self, ids: Iterable[str]) -> dict[str, str]:
        """What these memories and turns say; without those that are withheld."""
        return self._shown.words(ids)


def _bare(decision: DecisionAnswer) -> DecisionAnswer:
    return decision.model_copy(update={"claim": None, "span": None, "hint": None})


def _hidden_choice(choice: ChoiceAnswer) -> ChoiceAnswer:
    return choice.model_copy(update={"value": WITHHELD, "text": WITHHELD, "context": None})


def _hidden_change(change: MemoryChange) -> MemoryChange:
    return change.model_copy(update={"text": None, "before": None, "after": None})


def hidden(belief: BeliefAnswer) -> BeliefAnswer:
    """A memory without what it says, what it is about and what it rests on."""
    about = ("entity", "attribute", "value", "text", "type", "topic", "consent_basis")
    words = dict.fromkeys(about, WITHHELD)
    rest: dict[str, object] = {
        "context": None,
        "session": None,
        "agent": None,
        "metadata": {},
        "evidence": (),
    }
    return belief.model_copy(update=words | rest)


def _near(turn: NearTurn, words: dict[str, str]) -> NearTurn:
    told = turn.sentence in words.get(turn.turn_id, "")
    return turn if told else turn.model_copy(update={"sentence": WITHHELD, "likeness": 0.0})
