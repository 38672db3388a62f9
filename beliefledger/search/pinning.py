"""What goes into every context of a subject, with its words, as far as it may be shown."""

from __future__ import annotations

from dataclasses import dataclass

from beliefledger.answers import BeliefAnswer
from beliefledger.gate.consent import ORDINARY
from beliefledger.gate.rulebook import Rules
from beliefledger.ledger.events.belief import Written
from beliefledger.ledger.times import Micros
from beliefledger.opening.core import Core
from beliefledger.projections import pinned, questions
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.reading.queries import Queries
from beliefledger.reading.words import Reader


@dataclass(frozen=True, slots=True)
class Pinned:
    """Constraints, and what makes up the profile, each best first."""

    constraints: tuple[BeliefAnswer, ...] = ()
    profile: tuple[BeliefAnswer, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(each.memory_id for each in (*self.constraints, *self.profile))


class Pinning:
    """Reads what is pinned, as of any position."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._queries = queries

    def of(
        self, subject_ref: str, *, position: int, valid_at: Micros, rules: Rules, purpose: str
    ) -> Pinned:
        """As recorded up to a position, by these rules; without what may not be shown now."""
        scopes = rules.policy.scopes
        with self._queries.view(BeliefsView.name) as (connection, generation):
            constraints, profile = pinned.pinned(
                connection,
                generation,
                subject_ref,
                position=position,
                valid_at=valid_at,
                floor=rules.floor(None),
                scopes=scopes,
            )
            rows = self._shown(subject_ref, [*constraints, *profile], purpose)
            evidence = questions.evidence_of(
                connection, generation, [row.memory_id for row in rows], position
            )
            against = questions.contradictions(connection, generation, rows, position)
        answers = {
            each.memory_id: each
            for each in Reader(self._core.log).beliefs(
                rows, {row.row_id: evidence[row.memory_id] for row in rows}, against
            )
        }
        return Pinned(
            tuple(answers[each.memory_id] for each in constraints if each.memory_id in answers),
            tuple(answers[each.memory_id] for each in profile if each.memory_id in answers),
        )

    def _shown(self, subject_ref: str, rows: list[Version], purpose: str) -> list[Version]:
        """Those that a lawful basis covers now."""
        policy = self._core.rulebook.refreshed().policy
        consent = self._core.steward.consent(subject_ref)
        covered = consent.covered(purpose, self._core.clock(), policy)
        words = self._core.log.read_at([row.words_at for row in rows])
        return [
            row
            for row in rows
            if isinstance(said := words[row.words_at].event, Written)
            and (said.memory.category or ORDINARY) in covered
        ]
