"""The index of one subject for one purpose, kept up with the log and with what may be shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from beliefledger.gate.rulebook import Rules
from beliefledger.gate.standing import Touched
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.gc_pause import gc_paused
from beliefledger.ledger.log import Log
from beliefledger.ledger.times import Micros
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.index import IndexedGenerations, Source, SubjectIndex, text_of
from beliefledger.projections.recalls import RecallsView
from beliefledger.projections.showing import bare
from beliefledger.projections.turns import TurnsView
from beliefledger.reading.queries import Queries
from beliefledger.search.standings import Standing

VIEWS = (BeliefsView.name, TurnsView.name, RecallsView.name)


@dataclass(slots=True)
class LiveIndex:
    """An index, and the standing of what is in it. Whoever has the index's lock may use it."""

    index: SubjectIndex
    standing: Standing
    generations: IndexedGenerations | None = None

    def restart(self) -> None:
        """Empty the index; the erasures that it knows of stay known."""
        erasures = self.index.erasures
        self.index.start()
        self.index.erasures = erasures

    def follow(
        self, log: Log, queries: Queries, upto: int, rules: Rules, now: Micros
    ) -> tuple[bool, set[str]]:
        """Let the index have what the log has up to a position at least, as far as it may be shown
        now. Returns whether the views were rebuilt since, and the tags of texts that left."""
        index, before = self.index, set[str]()
        touched = self.standing.follow(log, upto)
        if not self.standing.permit(rules, now):
            before |= set(index.tags)
            self.restart()
        if index.position >= upto:
            return False, before
        with queries.states(*VIEWS) as (connection, states):
            generations = IndexedGenerations(*(state.generation for state in states))
            rebuilt = self.generations not in {None, generations}
            if rebuilt:  # what an older version folded otherwise is not to stay
                self.restart()
            reached = dict(zip(index.at, (state.position for state in states), strict=True))
            touched = _both(touched, self.standing.follow(log, max(upto, *reached.values())))
            if not self.standing.permit(rules, now):
                before |= set(index.tags)
                self.restart()
            try:
                with gc_paused():
                    source = Source(log.raw_at, self.standing, touched.turns, touched.memories)
                    if not index.follow(connection, generations, reached, source):
                        before |= set(index.tags)
                        self.restart()
                        index.follow(
                            connection, generations, reached, Source(log.raw_at, self.standing)
                        )
            except BaseException:  # whatever it was: what was taken in halfway is of no use
                index.start()
                raise
        self.generations = generations
        return rebuilt, before - set(index.tags)


def _both(one: Touched, other: Touched) -> Touched:
    return Touched(one.turns | other.turns, one.memories | other.memories)


def shown_texts(
    log: Log, standings: Collection[Standing], but: Collection[int] = ()
) -> Iterator[str]:
    """All texts of a subject that an index may have, as the log has them now, but for those at
    these positions; `standings` are of one subject, for each purpose."""
    left_out = set(but)
    for standing in standings:
        for each in log.of_subject(standing.subject_ref):
            text = None if each.position in left_out else text_of(each)
            if text is None:
                continue
            if each.type != TurnRecorded.NAME:
                if standing.memory(each.facts["memory_id"]):
                    yield text
            elif standing.is_decided(each.stream):
                shown = standing.turn(each.stream, text)
                if shown is not None:
                    yield bare(text, shown.withheld)
