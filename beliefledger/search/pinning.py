"""What a context has beside the results of a search: what is pinned, and which words of turns are
no longer so. It reads from the index of the search, and so only what may be shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from beliefledger.answers import BeliefAnswer
from beliefledger.gate.taken_back import AGENTS
from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.times import to_datetime
from beliefledger.opening.core import Core
from beliefledger.projections import questions
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.search_requests import SearchRequest
from beliefledger.projections.showing import joined
from beliefledger.reading.queries import Queries
from beliefledger.reading.words import Reader
from beliefledger.search.answers import StandingAnswer
from beliefledger.search.models import Chosen
from beliefledger.search.on_demand import IndexesOnDemand
from beliefledger.search.told_turns import Acts, acts, untouched
from beliefledger.search.turn_words import TurnWords, over_of

if TYPE_CHECKING:  # whoever searches nothing need not wait for numpy
    from beliefledger.search.live_index import LiveIndex

MOST_ANSWERS = 2_000
"""So many memories are kept as they were last read."""
MOST_ACTS = 20_000
"""Of so many turns it is kept which sentences state something."""


@dataclass(frozen=True, slots=True)
class PinnedMemory:
    """A memory that goes into every context, and what became of it."""

    belief: BeliefAnswer
    standing: StandingAnswer


@dataclass(frozen=True, slots=True)
class Beside:
    """Constraints and profile, each best first; and the words of turns, by their ids."""

    constraints: tuple[PinnedMemory, ...] = ()
    profile: tuple[PinnedMemory, ...] = ()
    turns: Mapping[str, TurnWords] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(each.belief.memory_id for each in (*self.constraints, *self.profile))


class Pinning:
    """Reads what is pinned, as of any position."""

    def __init__(self, core: Core, queries: Queries, indexes: IndexesOnDemand) -> None:
        self._core = core
        self._queries = queries
        self._indexes = indexes
        self._answers: dict[int, BeliefAnswer] = {}
        """By row: what is said of a row never changes …"""
        self._forgotten = 0
        """… until words are let go of."""
        self._acts: dict[str, Acts] = {}
        """By turn, as offsets: words of turns never change."""

    def of(
        self,
        request: SearchRequest,
        position: int,
        turns: Mapping[str, int] | None = None,
        chosen: Chosen | None = None,
    ) -> Beside:
        """What goes beside the results of a request, as recorded up to a position; `turns` are the
        positions of those that were found. Raises `NotPermitted` for an erased subject."""
        from beliefledger.projections.pinned import (  # noqa: PLC0415  (it loads numpy)
            MOST_OF_PROFILE,
            pinned,
        )
        from beliefledger.projections.retrieval import disagreeing  # noqa: PLC0415  (as does it)

        indexes = self._indexes()
        head = indexes.follow_erasures()
        chosen = chosen or indexes.embedders.in_force(head.position)
        with indexes.live(
            request.subject_ref, chosen.embedder, purpose=request.purpose, head=head
        ) as live:
            rows = pinned(live.index, request, position)
            ids = [each.memory_id for each in (*rows.constraints, *rows.profile)]
            standings = {each: _standing(live, each) for each in ids}
            against = disagreeing(live.index, position)
            words = self._words(live, turns or {})
        both = [each.row_id for each in (*rows.constraints, *rows.profile)]
        beliefs = self._beliefs(both, position)
        own = [each for each in rows.profile if _of_the_subject(beliefs.get(each.row_id))]

        def read(some: Iterable[tuple[str, int]]) -> tuple[PinnedMemory, ...]:
            return tuple(
                PinnedMemory(_disputed(beliefs[row_id], against), standings[memory_id])
                for memory_id, row_id in some
                if row_id in beliefs
            )

        return Beside(read(rows.constraints), read(own[:MOST_OF_PROFILE]), words)

    def _words(self, live: LiveIndex, turns: Mapping[str, int]) -> dict[str, TurnWords]:
        """The words of turns, and which of them are withheld, or no longer so."""
        recorded = self._core.log.read_at(list(turns.values()))
        found = {}
        for turn_id, position in turns.items():
            said = recorded[position].event
            if not isinstance(said, TurnRecorded):
                continue  # erased a moment ago
            shown = live.standing.turn(turn_id, said.content)
            if shown is None:
                continue
            standing = live.standing.fold.turn(turn_id, said.content, live.standing.rights)
            acts = Acts() if said.role in AGENTS else self._acts_of(turn_id, said.content)
            unmeant = untouched(acts.unmeant, standing.remembered)
            found[turn_id] = TurnWords(
                said.content,
                tuple(joined([*shown.withheld, *unmeant])),
                over_of(
                    replace(each, by=live.standing.named(each.by))
                    for each in standing.outdated
                    if live.standing.is_over(each.since)
                    and (each.start, each.end) not in joined(shown.withheld)
                ),
                stating=acts.stating or bool(standing.remembered),
            )
        return found

    def _acts_of(self, turn_id: str, content: str) -> Acts:
        known = self._acts.get(turn_id)
        if known is None:
            if len(self._acts) >= MOST_ACTS:
                self._acts = {}
            known = self._acts[turn_id] = acts(content)
        return known

    def _beliefs(self, rows: Sequence[int], position: int) -> dict[int, BeliefAnswer]:
        """The memories of these rows, as they were known at a position."""
        forgotten = self._indexes().forgotten
        if forgotten != self._forgotten or len(self._answers) > MOST_ANSWERS:
            self._answers, self._forgotten = {}, forgotten
        known = {each: self._answers[each] for each in rows if each in self._answers}
        missing = [each for each in rows if each not in known]
        if not missing:
            return known
        with self._queries.view(BeliefsView.name) as (connection, generation):
            versions = questions.versions_with(connection, generation, missing)
            for row in versions:
                if row.closed is not None and row.closed > position:
                    row.closed = row.closed_at = row.closed_by = None
            evidence = questions.evidence_of(
                connection, generation, [row.memory_id for row in versions], position
            )
        answers = Reader(self._core.log).beliefs(
            versions, {row.row_id: evidence[row.memory_id] for row in versions}
        )
        row_of = {row.memory_id: row.row_id for row in versions}
        fresh = {row_of[each.memory_id]: each for each in answers}
        if self._indexes().forgotten == forgotten:
            self._answers = {**self._answers, **fresh}
        return known | fresh


def _of_the_subject(belief: BeliefAnswer | None) -> bool:
    """A profile is of one person: what is known of others is told where it is asked."""
    return belief is not None and belief.entity == SELF


def _standing(live: LiveIndex, memory_id: str) -> StandingAnswer:
    found = live.standing.outdated(memory_id)
    if found is None:
        return StandingAnswer()
    since = None if found.since is None else to_datetime(found.since)
    return StandingAnswer(state="outdated", superseded_by=found.by, since=since)


def _disputed(belief: BeliefAnswer, against: Mapping[str, Sequence[str]]) -> BeliefAnswer:
    others = against.get(belief.memory_id)
    return belief.model_copy(update={"contradicts": tuple(others)}) if others else belief
