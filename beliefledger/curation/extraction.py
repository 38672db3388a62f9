"""Extraction: reads turns with the extractor in use, and takes up parked ones again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from beliefledger.answers import ProcessAnswer
from beliefledger.gate.extractor import Extraction
from beliefledger.gate.gate import SLOW_BATCH, Gate, Looked, Pending, Processed, holds_lane
from beliefledger.gate.legible import legible
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.errors import ExtractionUnavailable, InvalidTurn, UnknownMemory
from beliefledger.ledger.events.turn import ExtractionFailed, TurnParked
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.opening.extractors import extractor_of, model_name
from beliefledger.projections import questions
from beliefledger.projections.turns import TurnsView, parked
from beliefledger.reading.queries import Queries
from beliefledger.settings import Settings
from beliefledger.times import Progress

if TYPE_CHECKING:
    from beliefledger.gate.model import BatchClient, ModelExtractor, Question

PROCESS_TURNS = 500
SLOW_TURNS = 64
"""As many at a time of an extractor that takes long: how often progress is told."""
BATCH_TURNS = 2_000
"""How many turns go into one batch: each carries the prompt, and a batch may have 256 MB."""
Note = Callable[[str], None]


class ParkedAnswer(Frozen):
    """A turn that was set aside because its extraction kept failing, or took too long."""

    turn_id: str
    position: int
    subject: str | None
    attempts: int
    reason: str
    """`tries` or `deadline`."""
    extractor: str
    error: str
    detail: str | None
    """What went wrong the last time; None once the subject was erased."""


class RetryAnswer(Frozen):
    """How many parked turns wait for their extraction again."""

    turns: int


class Extractions:
    """Reads the turns that wait, with the extractor in use, and takes up parked ones again."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._gate = core.gate
        self._queries = queries

    def process(
        self,
        *,
        subject: str | None = None,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> ProcessAnswer:
        """Extract and decide the turns that wait (of one subject, or of all), oldest first.

        Each is tried once. What was decided is durable when this returns. Several processes may do
        this at once.
        """
        self._core.recorder.flush()  # else its appends and these get in each other's way
        ref = None if subject is None else self._core.known_subject(subject)
        total = Processed()
        after, more = 0, True
        most = SLOW_TURNS if self._gate.slow else PROCESS_TURNS
        held: set[str] = set()

        def attempt() -> tuple[Processed, int, bool]:
            return self._process_some(ref, after, min(left, most), held)

        while more and (limit is None or total.turns + total.failed < limit):
            left = most if limit is None else limit - total.turns - total.failed
            # A slow extractor's answers are decided again by themselves: it is not asked twice.
            done, after, more = attempt() if self._gate.slow else self._log.decide_again(attempt)
            total += done
            if progress:
                progress(total.turns, total.turns + self._queries.pending_count())
            if total.broken_off:
                break
        return self._processed(total)

    def _process_some(
        self, ref: str | None, after: int, limit: int, held: set[str]
    ) -> tuple[Processed, int, bool]:
        """Process up to `limit` turns past a position; also how far it came, and if there may be
        more. `held` gathers the subjects whose lane a failing turn holds up."""
        waiting = self._waiting(limit, after, ref)
        if not waiting:
            return Processed(), after, False
        return self._gate.process(waiting, held), waiting[-1].position, len(waiting) == limit

    def use_model(
        self,
        model: str | None = None,
        base_url: str | None = None,
        *,
        extractor: str | None = None,
    ) -> None:
        """Extract with a model from now on: this one, or the settings'.

        `extractor` names who asks it; else the extractor in use, where that asks a model, else the
        settings', else "claude". Raises as `open_memory` does for its extractor.
        """
        settings = Settings.read()
        settings = replace(
            settings,
            model=model or settings.model,
            model_url=base_url or settings.model_url,
        )
        name = extractor or model_name(self._gate.extractor, settings)
        made = extractor_of(name, self._core.rulebook, settings)
        self.let_go_of_model()
        self._gate.extractor = made

    def let_go_of_model(self) -> None:
        """Close the connection to the model, if there is one."""
        close = getattr(self._gate.extractor, "close", None)
        if close is not None:
            close()

    def extract(
        self,
        *,
        subject: str | None = None,
        limit: int | None = None,
        batch: bool = False,
        resume: str | None = None,
        poll_seconds: float = 20.0,
        progress: Progress | None = None,
        tell: Note = lambda _what: None,
    ) -> ProcessAnswer:
        """Extract and decide the turns that wait, with the extractor of this ledger.

        With `batch`, hand them to the model as Message Batches, for half the price and within a
        day, and wait. Each batch's id is told: should this process end, `resume` takes that batch
        up again, without asking (and paying) twice; without it those turns simply wait on.
        """
        if not batch and resume is None:
            return self.process(subject=subject, limit=limit, progress=progress)
        ref = None if subject is None else self._core.known_subject(subject)
        reader = _BatchReader(self._gate, poll_seconds, progress, tell)
        total, after = Processed(), 0
        while limit is None or total.turns + total.failed < limit:
            most = BATCH_TURNS if limit is None else limit - total.turns - total.failed
            waiting = self._waiting(min(most, BATCH_TURNS) if resume is None else None, after, ref)
            if not waiting:
                break
            total += reader.read(waiting, resume)
            after = waiting[-1].position
            if resume is not None:
                break
        return self._processed(total)

    def _processed(self, total: Processed) -> ProcessAnswer:
        return ProcessAnswer(
            turns=total.turns,
            failed=total.failed,
            parked=total.parked,
            pending=self._queries.pending_count(),
            decisions=tuple(total.decisions),
            problem=total.problem,
        )

    def _waiting(self, limit: int | None, after: int, ref: str | None) -> list[Pending]:
        with self._queries.view(TurnsView.name) as (connection, generation):
            rows = questions.pending(connection, generation, limit or 2**31 - 1, after, ref)
        return [
            Pending(row.turn_id, row.position, row.version, row.subject_ref, row.attempts)
            for row in rows
        ]

    def parked(self, subject: str | None = None) -> list[ParkedAnswer]:
        """The turns that were set aside, and why."""
        ref = None if subject is None else self._core.known_subject(subject)
        with self._queries.view(TurnsView.name) as (connection, generation):
            rows = parked(connection, generation, ref)
        answers = []
        for row in rows:
            events = self._log.read_stream(row.turn_id)
            last = [each for each in events if each.type == ExtractionFailed.NAME][-1]
            parking = [each for each in events if each.type == TurnParked.NAME][-1]
            answers.append(
                ParkedAnswer(
                    turn_id=row.turn_id,
                    position=row.position,
                    subject=self._log.vault.real_id(row.subject_ref),
                    attempts=row.attempts,
                    reason=parking.facts["reason"],
                    extractor=last.facts["extractor"],
                    error=last.facts["error"],
                    detail=last.event.detail if isinstance(last.event, ExtractionFailed) else None,
                )
            )
        return answers

    def retry(
        self, turn_id: str | None = None, *, subject: str | None = None, by: str = SYSTEM
    ) -> RetryAnswer:
        """Let parked turns wait again: one (by its id or the first characters of it), those of a
        subject, or all. Raises `UnknownMemory` where no such turn is parked."""
        actor = self._core.actor(by)
        ref = None if subject is None else self._core.known_subject(subject)
        with self._queries.view(TurnsView.name) as (connection, generation):
            rows = parked(connection, generation, ref)
        chosen = [row.turn_id for row in rows if row.turn_id.startswith(turn_id or "")]
        if turn_id is not None and len(chosen) != 1:
            how = "No turn is" if not chosen else f"{len(chosen)} turns are"
            raise UnknownMemory(f"{how} parked whose id begins with {turn_id!r}.")
        return RetryAnswer(turns=self._gate.retry(chosen, actor))


class _BatchReader:
    """Reads turns by way of a batch: hands them over, waits, decides."""

    def __init__(
        self, gate: Gate, poll_seconds: float, progress: Progress | None, tell: Note
    ) -> None:
        extractor: Any = gate.extractor
        batches: BatchClient | None = getattr(extractor, "batches", None)
        if batches is None:
            raise InvalidTurn(
                f"The extractor {extractor.name!r} takes no batches: choose claude"
                " (BELIEFLEDGER_EXTRACTOR=claude, or --extractor claude)."
            )
        self._extractor: ModelExtractor = extractor
        self._batches = batches
        self._gate = gate
        self._poll_seconds = poll_seconds
        self._progress = progress
        self._tell = tell
        self._held: set[str] = set()
        """Subjects with a turn that came back without an answer: their later ones wait for it."""

    def read(self, waiting: Sequence[Pending], resume: str | None) -> Processed:
        looked: dict[str, Looked] = {}
        requests: dict[str, Question] = {}
        for each in waiting:
            found = None if each.subject_ref in self._held else self._gate.turn_of(each)
            if found is None:
                continue
            turn = found[0]
            if not turn.content and turn.role == "user":  # it is withheld
                looked[each.turn_id] = Extraction()
                continue
            shown = legible(*found)
            skipped = self._extractor.skips(shown.turn, shown.earlier)
            if skipped is not None:
                looked[each.turn_id] = Extraction(skipped=skipped)
            else:
                requests[each.turn_id] = self._extractor.request(shown.turn, shown.earlier)
        if resume is None and requests:
            resume = self._batches.send_batch(requests)
            self._tell(f"The batch {resume} is on its way with {len(requests):,} turns.")
        if resume is not None:
            self._wait(resume, len(requests))
            looked |= self._collected(resume, {each.turn_id: each for each in waiting}, requests)
        return self._decided(waiting, looked)

    def _wait(self, batch_id: str, of: int) -> None:
        while (left := self._batches.batch_left(batch_id)) is not None:
            if self._progress:
                self._progress(max(of - left, 0), of)
            time.sleep(self._poll_seconds)

    def _collected(
        self,
        batch_id: str,
        waiting: dict[str, Pending],
        requests: dict[str, Question],
    ) -> Iterator[tuple[str, Looked]]:
        for turn_id, reply in self._batches.batch_replies(batch_id):
            found = self._gate.turn_of(waiting[turn_id]) if turn_id in requests else None
            if found is None or reply is None:
                continue  # nobody looked at it, or nobody needs it any more: what waits, waits on
            if isinstance(reply, ExtractionUnavailable):
                yield turn_id, reply
                continue
            try:
                read = partial(self._extractor.read, requests[turn_id], reply, batch=True)
                yield turn_id, self._gate.within_deadline(*found, read)
            except ExtractionUnavailable as problem:
                yield turn_id, problem

    def _decided(self, waiting: Sequence[Pending], looked: dict[str, Looked]) -> Processed:
        """Decide about what came back, each subject's turns in order, up to the first without."""
        total, held = Processed(), self._held
        ready: list[tuple[Pending, Looked]] = []
        for each in waiting:
            answer = looked.get(each.turn_id)
            if each.subject_ref in held:
                continue
            if answer is None or holds_lane(answer):
                held.add(each.subject_ref)
            if answer is not None:
                ready.append((each, answer))
        rest = iter(ready)
        while some := list(islice(rest, SLOW_BATCH)):
            total += self._gate.decided(some)
        return total
