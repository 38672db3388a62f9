"""Looking after a ledger: rebuild, status, forgetting."""

from __future__ import annotations

from collections.abc import Callable, Collection

from beliefledger.answers import (
    ConsumerAnswer,
    JobAnswer,
    RebuildAnswer,
    ReplicaAnswer,
    StatusAnswer,
    ViewAnswer,
)
from beliefledger.ledger.errors import InvalidQuery
from beliefledger.ledger.events.subject import ViewReceipt
from beliefledger.ledger.proofs.notes import NoteInvalid
from beliefledger.ledger.proofs.tiles import SPOILT, read_cosigned
from beliefledger.ledger.store import Cursor, Head, lag
from beliefledger.ledger.times import SECOND, to_datetime
from beliefledger.opening.core import Core
from beliefledger.projections import (
    ageing_questions,
    probes,
    scores,
    view_tables,
)
from beliefledger.projections import digests as measures
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.decisions import WAITS, DecisionsView
from beliefledger.projections.jobs import JobsView
from beliefledger.projections.turns import TurnsView
from beliefledger.projections.view_tables import ViewState


class Views:
    """Keeps the views as they should be, and tells how they are."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._log = core.log
        self._projector = core.projector

    def forget(self, subject_ref: str, *, whole: bool = True) -> list[ViewReceipt]:
        """Empty the views of an erased subject at once, or of what was erased of a living one, and
        memory of what it kept of their words; returns each view's receipt.

        A receipt's digest is over the rows that the view still has of the subject.
        """
        projector = self._projector
        with projector.erasing():  # from before catching up, which waits for a rebuild, too
            projector.catch_up()
            with projector.writing() as connection:
                generation = projector.states(connection)[BeliefsView.name].generation
                scores.forget_subject(connection, generation, subject_ref)
            removed = projector.forget(subject_ref) if whole else projector.refold(subject_ref)
        self._core.forget_words()
        self._core.replayer.forget()
        receipts = []
        with projector.reading() as connection:
            for name, state in projector.states(connection).items():
                if name not in projector.views:
                    continue
                its = projector.views[name].tables(state.generation)
                receipts.append(
                    ViewReceipt(
                        name=name,
                        position=state.position,
                        digest=probes.digest_of(connection, its, subject_ref),
                        removed=removed.get(name, 0),
                    )
                )
        return receipts

    def probe(self, subject_ref: str, positions: Collection[int] | None) -> tuple[int, int]:
        """How many rows of the views were looked at for what was erased, and how many found."""
        projector, wanted = self._projector, None if positions is None else frozenset(positions)
        with projector.reading() as connection:
            told = [
                probes.left(
                    connection, projector.views[name].tables(state.generation), subject_ref, wanted
                )
                for name, state in projector.states(connection).items()
                if name in projector.views
            ]
        return sum(looked for looked, _ in told), sum(found for _, found in told)

    def rebuild(
        self,
        view: str | None,
        *,
        verify: bool,
        progress: Callable[[str, int, int], None] | None,
    ) -> list[RebuildAnswer]:
        names = list(self._projector.views) if view is None else [view]
        for name in names:
            if name not in self._projector.views:
                raise InvalidQuery(
                    f"There is no view {name!r}; there are: {', '.join(self._projector.views)}."
                )
        if verify:
            self._projector.catch_up()
        with self._projector.reading() as connection:
            before = self._projector.states(connection)

        def report(done: int, total: int) -> None:
            if progress:
                for name in names:
                    progress(name, done, total)

        upto = {
            name: before[name].position if verify and before[name].stopped_at is None else None
            for name in names
        }
        with self._projector.rebuilding():
            filled = self._projector.shadows(upto, report)
            return [self._replace(before[name], *filled[name], verify=verify) for name in names]

    def _replace(
        self, before: ViewState, generation: int, position: int, *, verify: bool
    ) -> RebuildAnswer:
        """Put a view's new generation in use; with `verify`, compare it with the one before."""
        projector, name = self._projector, before.name
        if not verify:
            projector.use(name, generation, position)
            return RebuildAnswer(name=name, position=position)
        view = projector.views[name]
        old, new = view.tables(before.generation), view.tables(generation)
        with projector.reading() as connection:
            digest = measures.digest(connection, new)
            content = measures.content_digest(connection, name, new[0], self._log)
            same = before.stopped_at is None and digest == measures.digest(connection, old)
            difference = None
            if not same:
                difference = before.reason or measures.first_difference(connection, old, new)
            elif wrong := projector.counts.wrong(connection, projector.states(connection)[name]):
                same, difference = False, wrong
        projector.use(name, generation, position)
        return RebuildAnswer(
            name=name,
            position=position,
            digest=digest,
            content_digest=content,
            same=same,
            first_difference=difference,
        )

    def status(self, *, digests: bool) -> StatusAnswer:
        self._projector.catch_up()
        head = self._log.head()
        replica = self._replica(head)
        rules = self._core.rulebook.refreshed()
        computed = self._digests(head.position) if digests else {}
        with self._projector.reading() as connection:
            states = self._projector.states(connection)
            turns = self._projector.counts.of(connection, states[TurnsView.name])
            decided = self._projector.counts.of(connection, states[DecisionsView.name])
            runs = ageing_questions.last_runs(connection, states[JobsView.name].generation)
            kept = view_tables.kept_digests(connection)
        waiting = decided.pop(WAITS, 0)
        return StatusAnswer(
            ledger="",
            position=head.position,
            recorded_at=to_datetime(head.recorded_at) if head.position else None,
            subjects=self._log.vault.count(self._log.tenant),
            pending_turns=turns.get("pending", 0),
            parked_turns=turns.get("parked", 0),
            turns=dict(sorted(turns.items())),
            outcomes=dict(sorted(decided.items(), key=lambda each: (-each[1], each[0]))),
            waiting=waiting,
            policy={"name": rules.policy.name, "digest": rules.policy_digest},
            extractor="",
            master_key=self._core.master_key.id,
            views=tuple(
                computed.get(name) or _view_answer(state, kept.get(name), head.position)
                for name, state in states.items()
            ),
            consumers=tuple(
                _consumer_answer(each, head.position) for each in self._log.consumers()
            ),
            jobs=tuple(map(job_answer, runs)),
            replica=replica,
            warnings=(
                *self._core.warnings,
                *(() if self._core.witness is None else self._core.witness.warnings),
                *self._of_replica(),
                *self._spoilt(),
            ),
        )

    def _replica(self, head: Head) -> ReplicaAnswer | None:
        replica = self._log.replica
        if replica is None:
            return None
        now = replica.condition(head)
        return ReplicaAnswer(
            name=replica.source.name,
            reachable=now.reachable,
            lag=now.events,
            lag_seconds=None if now.seconds is None else round(now.seconds, 3),
            bound_seconds=replica.lag,
            within=now.within,
            answered=replica.answered,
            passed_on=replica.passed_on,
        )

    def _of_replica(self) -> tuple[str, ...]:
        """Why questions go to the primary, where they do."""
        replica = self._log.replica
        return () if replica is None or replica.trouble is None else (replica.trouble,)

    def _spoilt(self) -> tuple[str, ...]:
        try:
            read_cosigned(self._core.signing.tiles)
        except NoteInvalid as problem:
            return (f"{SPOILT}: {problem}",)
        return ()

    def _digests(self, head: int) -> dict[str, ViewAnswer]:
        """The views that moved since their digests were computed, with new ones, which are kept."""
        projector, found = self._projector, {}
        for name, view in projector.views.items():
            with projector.reading() as connection:
                if name in view_tables.kept_digests(connection):
                    continue
                state = projector.states(connection)[name]
                its = view.tables(state.generation)
                digest = measures.digest(connection, its)
                content = measures.content_digest(connection, name, its[0], self._log)
            with projector.writing() as connection:
                view_tables.keep_digests(connection, name, state.position, digest, content)
            found[name] = _view_answer(state, (digest, content), head)
        return found


def _view_answer(state: ViewState, digests: tuple[str, str] | None, head: int) -> ViewAnswer:
    digest, content = digests or (None, None)
    return ViewAnswer(
        name=state.name,
        position=state.position,
        lag=head - state.position,
        digest=digest,
        content_digest=content,
        stopped_at=state.stopped_at,
        reason=state.reason,
    )


def job_answer(row: ageing_questions.JobRow) -> JobAnswer:
    return JobAnswer(
        job=row.job,
        due=to_datetime(row.due),
        ran_at=to_datetime(row.recorded_at),
        outcome=row.outcome,
        counts=row.counts,
        seconds=row.duration_micros / SECOND,
        error=row.error,
    )


def _consumer_answer(cursor: Cursor, head: int) -> ConsumerAnswer:
    return ConsumerAnswer(
        name=cursor.name,
        position=cursor.position,
        lag=lag(cursor, head),
        epoch=cursor.epoch,
        holder=cursor.holder if cursor.held else None,
    )
