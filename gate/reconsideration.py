"""What was refused or put off for want of a lawful basis, decided again once there is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from beliefledger.gate.candidates import Again, ReadTurn, decide_anew
from beliefledger.gate.consent import ORDINARY, Grant
from beliefledger.gate.draft import Draft
from beliefledger.gate.outcomes import Reason
from beliefledger.gate.special_categories import categorised
from beliefledger.gate.turns import cited, view_of
from beliefledger.gate.writer import Writer
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import NotPermitted
from beliefledger.ledger.events.turn import (
    CandidateProposed,
    GateDecided,
    ReviewDecided,
    TurnRecorded,
)
from beliefledger.ledger.times import Micros
from beliefledger.ledger.vault import SYSTEM

FOR_WANT_OF_A_BASIS = frozenset({Reason.NO_CONSENT.value, Reason.SPECIAL_CATEGORY.value})
"""The reasons that a grant can take away."""


@dataclass(frozen=True, slots=True)
class Reconsidered:
    """A decision and the one that took its place, or would. `decision_id` is None of one that is
    not recorded."""

    old: Recorded
    candidate: Candidate
    said_at: Micros
    decided: GateDecided
    decision_id: str | None


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A decision that may be made again, and when its words were said."""

    old: Recorded
    said_at: Micros


class Reconsideration:
    """Decides again about candidates that had no lawful basis."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._log = writer.log

    def preview(
        self, subject_ref: str, refused: Sequence[Recorded], grant: Grant | None = None
    ) -> list[Reconsidered]:
        """What would be decided about these decisions now; with `grant`, if that were in force.
        Nothing is written."""
        self._writer.memo.forget(subject_ref)
        draft = self._writer.draft()
        if grant is not None:
            draft.suppose(subject_ref, grant)
        return [
            each
            for turn_id, some in self._in_order(refused)
            for each in self._decided(draft, subject_ref, turn_id, some, SYSTEM, recorded=False)
        ]

    def decide_again(
        self, subject_ref: str, refused: Sequence[Recorded], actor: str
    ) -> list[Reconsidered]:
        """Decide about these decisions again, in the order in which their words were said, where
        there is a lawful basis by now. Each turn's are one append. What was decided again or
        reviewed meanwhile is left out.

        Raises `NotPermitted` for nobody's name, and for a subject who was erased.
        """
        if actor == SYSTEM:
            raise NotPermitted("Deciding again needs a named principal.")
        done: list[Reconsidered] = []
        for turn_id, some in self._in_order(refused):

            def attempt(
                turn_id: str = turn_id, some: Sequence[Recorded] = some
            ) -> list[Reconsidered]:
                self._writer.memo.forget(subject_ref)
                draft = self._writer.draft()
                made = self._decided(draft, subject_ref, turn_id, some, actor, recorded=True)
                self._writer.commit(draft)
                return made

            done += self._writer.again(attempt)
        return done

    def _in_order(self, refused: Iterable[Recorded]) -> Iterator[tuple[str, list[Recorded]]]:
        """The decisions of each turn, turns in the order in which they were said."""
        found = []
        for each in refused:
            if each.type != GateDecided.NAME or each.facts["reason"] not in FOR_WANT_OF_A_BASIS:
                continue
            first = next(iter(self._log.read_stream(each.stream, upto=1)), None)
            if first is not None and isinstance(first.event, TurnRecorded):
                stated = first.event.said_at
                found.append(_Refusal(each, first.recorded_at if stated is None else stated))
        found.sort(key=lambda refusal: (refusal.said_at, refusal.old.position))
        for turn_id, some in groupby(found, key=lambda refusal: refusal.old.stream):
            yield turn_id, [refusal.old for refusal in some]

    def _decided(
        self,
        draft: Draft,
        subject_ref: str,
        turn_id: str,
        refused: Sequence[Recorded],
        actor: str,
        *,
        recorded: bool,
    ) -> list[Reconsidered]:
        consent = draft.consent(subject_ref)
        stream = self._writer.memo.read(turn_id)
        said = stream[0].event
        if not isinstance(said, TurnRecorded):
            return []  # erased in the meantime
        over = settled(stream)
        policy, registry = draft.rules.policy, draft.rules.registry
        ready: list[tuple[Recorded, CandidateProposed, Candidate]] = []
        for old in refused:
            proposed = stream[old.facts["candidate_version"] - 1].event
            if old.event_id in over or not isinstance(proposed, CandidateProposed):
                continue
            candidate = proposed.candidate
            if proposed.choices is None:
                candidate = categorised(candidate, registry, policy)
            category = candidate.category or ORDINARY
            if consent.covering(category, policy.purpose, draft.now, policy) is not None:
                ready.append((old, proposed, candidate))
        if not ready:
            return []
        candidates = [candidate for _, _, candidate in ready]
        turn = view_of(stream[0], said, cited(self._log, subject_ref, candidates, consent))
        draft.reads(turn_id, stream[-1].version)
        read = ReadTurn(turn, stream[-1].version, stream[0].event_id, subject_ref, actor)
        made = []
        for old, proposed, candidate in ready:
            again = Again(old.event_id, proposed.index, proposed.choices)
            decided = decide_anew(draft, read, candidate, again)
            new_id = draft.decided[-1] if recorded else None
            made.append(Reconsidered(old, candidate, turn.said_at, decided, new_id))
        return made


def settled(stream: Iterable[Recorded]) -> set[str]:
    """The decisions of a turn that a person reviewed or that were made again."""
    return {
        decision
        for each in stream
        if each.type in {ReviewDecided.NAME, GateDecided.NAME}
        for decision in (each.facts.get("decision"), each.facts.get("reconsiders"))
        if decision is not None
    }
