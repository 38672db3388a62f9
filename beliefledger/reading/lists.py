"""What is believed and what was decided, filtered and in pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beliefledger import arguments
from beliefledger.answers import BeliefAnswer, DecisionAnswer
from beliefledger.filters import Where
from beliefledger.gate.outcomes import Outcome
from beliefledger.ledger.errors import InvalidQuery
from beliefledger.ledger.events.belief import Written
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.times import Micros
from beliefledger.opening.core import Core
from beliefledger.pages import Cut, Page
from beliefledger.projections import questions
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.projections.decisions import DecisionsView
from beliefledger.projections.digests import candidates_of
from beliefledger.projections.questions import DecisionFilter, DecisionRow, MemoryFilter
from beliefledger.projections.turns import TurnsView, positions
from beliefledger.reading.queries import Queries, Snapshot
from beliefledger.reading.replicas import ask_about
from beliefledger.reading.sight import Sight
from beliefledger.times import Moment, micros

Asked = tuple[Where, Sight | None]
"""Which memories, and by whom they are asked for; None: for their subject."""
_LOOKED_AT = 200
"""How many rows are read at a time where only their words tell whether they are asked for."""


class WhichDecisions(NamedTuple):
    """The decisions that are asked for, besides by whom and where they were said."""

    outcome: str | None = None
    reason: str | None = None
    turn_id: str | None = None
    waits: bool | None = None


class Lists:
    """Reads lists of answers, page by page where that is asked for."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries

    def check(self, where: Where) -> None:
        """Raises `InvalidQuery` for a type or a topic that there is not."""
        if (where.type, where.topic) != (None, None):
            arguments.filters(self._core.rulebook.refreshed(), where.type, where.topic)

    # Beliefs

    def beliefs(
        self,
        subject: str | None,
        snapshot: Snapshot | None,
        valid_at: Micros | None,
        which: MemoryFilter,
        asked: Asked,
        cut: Cut,
    ) -> Page[BeliefAnswer]:
        """What is believed, in the order in which it was written."""
        where, sight = asked
        self.check(where)
        ref = None if subject is None else self._queries.known_or_none(subject)
        if subject is not None and ref is None:
            return Page()
        which, where = self._tagged(ref, which, where)
        if cut.last is not None and cut.position is not None:  # as the first page saw it
            snapshot = Snapshot(cut.position, cut.at or 0)
            ask_about(self._log, cut.position)
            valid_at = cut.at
        if valid_at is None:
            valid_at = self._queries.now() if snapshot is None else snapshot.at
        with self._queries.states(BeliefsView.name) as (connection, (state,)):
            as_of = None if snapshot is None else snapshot.position
            picked = where.looks_at_words or sight is not None
            many = None if cut.limit is None else self._at_once(cut.limit, picked=picked)
            kept: list[Version] = []
            last = int(cut.last or 0)
            while True:
                rows = questions.held(
                    connection,
                    state.generation,
                    ref,
                    valid_at=valid_at,
                    as_of=as_of,
                    which=which._replace(after=last, limit=many),
                )
                kept += self._of(rows if sight is None else sight.of(rows), where)
                if many is None or len(rows) < many or len(kept) > (cut.limit or 0):
                    break
                last = rows[-1].row_id
            page = kept if cut.limit is None else kept[: cut.limit]
            answers = self._queries.told_versions(connection, state.generation, page, snapshot)
        if len(page) == len(kept):
            return Page(answers)
        seen = state.position if as_of is None else as_of
        return Page(answers, cut.next(page[-1].row_id, seen, valid_at))

    def history(
        self, given: str, snapshot: Snapshot | None, asked: Asked, cut: Cut
    ) -> Page[BeliefAnswer]:
        """Every version of a belief, oldest first."""
        where, sight = asked
        self.check(where)
        snapshot = self.seen(snapshot, cut)
        found = self._queries.history(given, snapshot=snapshot, sight=sight)
        return self.page(found, where, snapshot, cut)

    def seen(self, snapshot: Snapshot | None, cut: Cut) -> Snapshot | None:
        """The ledger as the first page saw it; for that page, as it is now."""
        if cut.position is not None:
            return self._queries.at_position(cut.position)
        if snapshot is None and cut.limit is not None:
            return self._queries.at_position(self._log.head().position)
        return snapshot

    def seen_at(
        self, snapshot: Snapshot | None, valid_at: Moment | None, cut: Cut
    ) -> tuple[Snapshot | None, Micros | None]:
        """As `seen`, and the time that is asked about: for all pages that of the first."""
        at = micros(valid_at, "valid_at") if cut.at is None else cut.at
        if at is None and snapshot is None and cut.limit is not None:
            at = self._queries.now()
        return self.seen(snapshot, cut), at

    @staticmethod
    def page(
        answers: Sequence[BeliefAnswer], where: Where, snapshot: Snapshot | None, cut: Cut
    ) -> Page[BeliefAnswer]:
        """The page of a list of memories that was read as a whole."""
        found = [each for each in answers if of(each, where)]
        return cut.of_all(found, _version_key, None if snapshot is None else snapshot.position)

    def _tagged(
        self, ref: str | None, which: MemoryFilter, where: Where
    ) -> tuple[MemoryFilter, Where]:
        """The filter of rows, as far as tags tell, and what is left to be told by the words."""
        if ref is None and (where.topic is not None or where.session is not None):
            raise InvalidQuery(
                "topic: name a subject too; topics and sessions are tagged for each subject."
            )
        tag = self._core.tagger
        if ref is not None:
            which = which._replace(
                topic_tag=tag(ref, "topic", where.topic),
                session_tag=tag(ref, "session", where.session),
            )
        which = which._replace(type=where.type)
        return which, Where(agent=where.agent, metadata=where.metadata)

    def _of(self, rows: Sequence[Version], where: Where) -> list[Version]:
        if not where.looks_at_words:
            return list(rows)
        words = self._log.read_at([row.words_at for row in rows])
        found = []
        for row in rows:
            event = words[row.words_at].event
            if isinstance(event, Written):
                memory = event.memory
                if where.fits(
                    memory.session, memory.agent, memory.topic, row.type, memory.metadata
                ):
                    found.append(row)
        return found

    @staticmethod
    def _at_once(limit: int, *, picked: bool) -> int:
        """How many rows are read at a time; more, where not all of them are asked for."""
        return max(limit + 1, _LOOKED_AT) if picked else limit + 1

    # Decisions

    def decisions(
        self,
        subject: str | None,
        snapshot: Snapshot | None,
        which: WhichDecisions,
        where: Where,
        cut: Cut,
    ) -> Page[DecisionAnswer]:
        """What was decided, in order; with a limit the last so many, and before them the next."""
        if which.outcome is not None and which.outcome not in set(Outcome):
            raise InvalidQuery(f"outcome: {which.outcome!r} is none of {', '.join(Outcome)}.")
        if which.reason is not None:
            arguments.reason(which.reason)
        self.check(where)
        ref = None if subject is None else self._queries.known_or_none(subject)
        if subject is not None and ref is None:
            return Page()
        if cut.last is not None and not isinstance(cut.last, int):
            raise InvalidQuery("after: this is no cursor; give the `next` of a page as it is.")
        asked = DecisionFilter(
            ref,
            which.outcome,
            which.reason,
            which.turn_id,
            which.waits,
            as_of=None if snapshot is None else snapshot.position,
            before=cut.last,
        )
        words = where != Where()
        many = None if cut.limit is None else self._many(cut.limit, words=words)
        kept: list[DecisionRow] = []
        while True:
            with self._queries.view(DecisionsView.name) as (connection, generation):
                rows = questions.decided(connection, generation, asked._replace(limit=many))
            kept = [*(self._said(rows, where) if words else rows), *kept]
            if many is None or len(rows) < many or len(kept) > (cut.limit or 0):
                break
            asked = asked._replace(before=rows[0].position)
        page = kept if cut.limit is None else kept[-cut.limit :]
        answers = self._queries.told(page)
        if len(page) == len(kept):
            return Page(answers)
        return Page(answers, cut.next(page[0].position))

    @staticmethod
    def _many(limit: int, *, words: bool) -> int:
        return max(limit + 1, _LOOKED_AT) if words else limit + 1

    def _said(self, rows: Sequence[DecisionRow], where: Where) -> Iterator[DecisionRow]:
        """Those about what was said so: of what is erased nothing is known."""
        proposed = candidates_of(rows, self._log)
        turns = list(dict.fromkeys(row.turn_id for row in rows))
        with self._queries.view(TurnsView.name) as (connection, generation):
            at = positions(connection, generation, turns)
        recorded = self._log.read_at(list(at.values()))
        for row in rows:
            found = proposed.get((row.turn_id, row.candidate_version))
            turn = recorded[at[row.turn_id]].event if row.turn_id in at else None
            if found is None or not isinstance(turn, TurnRecorded):
                continue
            said = found.candidate
            if where.fits(turn.session, turn.agent, said.topic, said.type, turn.metadata):
                yield row


def of(answer: BeliefAnswer, where: Where) -> bool:
    """Whether a memory is of a filter."""
    return where.fits(answer.session, answer.agent, answer.topic, answer.type, answer.metadata)


def _version_key(answer: BeliefAnswer) -> str:
    closed = answer.recorded_to_position or 0
    return f"{answer.memory_id} {answer.recorded_from_position} {answer.valid_from} {closed}"
