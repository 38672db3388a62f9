"""Extraction: reads turns with the extractor in use, and takes up parked ones again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from beliefledger.answers import ProcessAnswer, ReadState
from beliefledger.gate.extractor import Extraction, Known
from beliefledger.gate.failures import told as told_of
from beliefledger.gate.legible_turn import legible
from beliefledger.gate.queue import Processed
from beliefledger.gate.reader import Looked, TurnReader
from beliefledger.gate.turns import Pending
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import (
    ExtractionUnavailable,
    InvalidQuery,
    InvalidTurn,
    UnknownMemory,
)
from beliefledger.ledger.events.turn import ExtractionCompleted, ExtractionFailed, TurnParked
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.opening.extractors import extractor_of, model_name
from beliefledger.pages import Cut, Page
from beliefledger.projections.turns import TurnsView, parked
from beliefledger.reading.queries import Queries
from beliefledger.settings import Settings
from beliefledger.times import Progress

if TYPE_CHECKING:
    from beliefledger.gate.model import BatchClient, ModelExtractor, Reply
    from beliefledger.gate.model.extractor import Inquiry

BATCH_TURNS = 2_000
"""How many turns are handed over before what came back is decided."""
BATCH_BYTES = 200_000_000
"""How big a batch gets: each question carries the prompt, and the service takes 256 MB."""
SHOWN = 10
"""The characters of an id that are told."""
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


def read_state(told: Sequence[Recorded], problem: str | None = None) -> ReadState:
    """Whether a turn is still to be decided, by its events. `problem` is what went wrong with the
    last turn of its subject that could not be read, which may be an earlier one that holds it up.
    """
    state = ReadState(
        pending=True, problem=problem and f"An earlier turn could not be read: {problem}"
    )
    for each in told:
        if each.type == ExtractionCompleted.NAME:
            return ReadState(pending=False)
        if each.type == ExtractionFailed.NAME:
            detail = each.event.detail if isinstance(each.event, ExtractionFailed) else None
            error = each.facts["error"]
            state = ReadState(pending=True, problem=told_of(error, detail) if detail else error)
        elif each.type == TurnParked.NAME:
            again = f"beliefledger ops retry {each.stream[:SHOWN]}"
            state = ReadState(pending=True, problem=f"{state.problem} It is set aside: {again}")
    return state


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
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            raise InvalidQuery(f"limit is {limit!r}; it must be a whole number.")
        return self._processed(self._gate.queue.process(ref, limit, progress))

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
        name = extractor or model_name(self._gate.reader.extractor, settings)
        made = extractor_of(name, self._core.rulebook, settings)
        self._core.let_go_of_model()
        self._gate.reader.extractor = made

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
        reader = _BatchReader(self._gate.reader, poll_seconds, progress, tell, resume)
        size = BATCH_TURNS if resume is None else None
        return self._processed(self._gate.queue.process_together(reader.look, ref, limit, size))

    def _processed(self, total: Processed) -> ProcessAnswer:
        return ProcessAnswer(
            turns=total.turns,
            failed=total.failed,
            parked=total.parked,
            pending=self._gate.queue.count(),
            decisions=tuple(total.decisions),
            problem=total.problem,
            outcomes=dict(total.outcomes),
        )

    def state_of(self, turn_id: str) -> ReadState:
        """Whether a turn is still to be decided, and what went wrong when that was tried."""
        return read_state(self._log.read_stream(turn_id))

    def parked(
        self, subject: str | None = None, *, limit: int | None = None, after: str | None = None
    ) -> Page[ParkedAnswer]:
        """The turns that were set aside, and why. With `limit` it is a page, whose `next` is given
        as `after` for the one behind it."""
        cut = Cut.of("parked", (subject,), limit, after)
        ref = None if subject is None else self._core.known_subject(subject)
        with self._queries.view(TurnsView.name) as (connection, generation):
            rows = parked(connection, generation, ref)
        page, answers = cut.of_all(rows, attrgetter("turn_id")), []
        for row in page:
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
        return Page(answers, page.next)

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
            raise UnknownMemory(
                f"{how} parked whose id begins with {turn_id!r}. List them: beliefledger ops retry."
            )
        return RetryAnswer(turns=self._gate.queue.retry(chosen, actor))


class _BatchReader:
    """Looks at turns by way of a batch: hands them over and waits, or waits for the one that is
    resumed."""

    def __init__(
        self,
        reader: TurnReader,
        poll_seconds: float,
        progress: Progress | None,
        tell: Note,
        resume: str | None,
    ) -> None:
        extractor: Any = reader.extractor
        batches: BatchClient | None = getattr(extractor, "batches", None)
        if batches is None:
            raise InvalidTurn(
                f"The extractor {extractor.name!r} takes no batches: choose claude"
                " (BELIEFLEDGER_EXTRACTOR=claude, or --extractor claude)."
            )
        self._extractor: ModelExtractor = extractor
        self._batches = batches
        self._reader = reader
        self._poll_seconds = poll_seconds
        self._progress = progress
        self._tell = tell
        self._resume = resume

    def look(self, waiting: Sequence[Pending]) -> dict[str, Looked]:
        """What was found in these turns, by turn id; those without an answer are left out."""
        looked: dict[str, Looked] = {}
        inquiries: dict[str, Inquiry] = {}
        known: dict[str, list[Known]] = {}
        for each in waiting:
            found = self._reader.turn_of(each)
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
                continue
            if each.subject_ref not in known:
                known[each.subject_ref] = self._reader.known(each.subject_ref)
            inquiries[each.turn_id] = self._extractor.inquiry(
                shown.turn, shown.earlier, known[each.subject_ref]
            )
        turns = {each.turn_id: each for each in waiting}
        if self._resume is not None:
            self._wait(self._resume, len(inquiries))
            return looked | dict(self._collected(self._resume, turns, inquiries))
        for some in self._batches_of(inquiries):
            questions = {
                question_id(turn_id, number): question
                for turn_id, inquiry in some.items()
                for number, question in enumerate(inquiry.questions)
            }
            batch_id = self._batches.send_batch(questions)
            self._tell(f"The batch {batch_id} is on its way with {_turns(len(some))}.")
            self._wait(batch_id, len(questions))
            looked |= self._collected(batch_id, turns, some)
        return looked

    def _batches_of(self, inquiries: Mapping[str, Inquiry]) -> Iterator[dict[str, Inquiry]]:
        """The inquiries in batches that are not too big."""
        some: dict[str, Inquiry] = {}
        size = 0
        for turn_id, inquiry in inquiries.items():
            more = sum(map(self._batches.batch_size, inquiry.questions))
            if some and size + more > BATCH_BYTES:
                yield some
                some, size = {}, 0
            some[turn_id] = inquiry
            size += more
        if some:
            yield some

    def _wait(self, batch_id: str, of: int) -> None:
        while (left := self._batches.batch_left(batch_id)) is not None:
            if self._progress:
                self._progress(max(of - left, 0), of)
            time.sleep(self._poll_seconds)

    def _collected(
        self, batch_id: str, turns: Mapping[str, Pending], inquiries: Mapping[str, Inquiry]
    ) -> Iterator[tuple[str, Looked]]:
        """The turns that a batch answered, each once all its windows came back or failed."""
        came: dict[str, dict[int, Reply | ExtractionUnavailable | None]] = {}
        for id_, reply in self._batches.batch_replies(batch_id):
            turn_id, number = turn_of_question(id_)
            if turn_id in inquiries:
                came.setdefault(turn_id, {})[number] = reply
        for turn_id, replies in came.items():
            inquiry = inquiries[turn_id]
            found = self._reader.turn_of(turns[turn_id])
            failed = [e for e in replies.values() if isinstance(e, ExtractionUnavailable)]
            usable: list[Reply | None] = [
                None if isinstance(each := replies.get(number), ExtractionUnavailable) else each
                for number in range(len(inquiry.questions))
            ]
            if found is None or not any(usable):
                if found is not None and failed:
                    yield turn_id, failed[0]
                continue  # nobody looked at it, or nobody needs it any more: what waits, waits on
            try:
                yield turn_id, self._reader.within_deadline(*found, self._read(inquiry, usable))
            except ExtractionUnavailable as problem:
                yield turn_id, problem

    def _read(
        self, inquiry: Inquiry, replies: Sequence[Reply | None]
    ) -> Callable[[Any, Any], Extraction]:
        """Reads what a batch brought; a window that it left out is asked about by a call."""
        resumed = self._resume is not None
        return lambda _turn, _earlier: self._extractor.read(
            inquiry, replies, batch=True, resumed=resumed
        )


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count:,} turns"


def question_id(turn_id: str, number: int) -> str:
    """The id of a question in a batch: its turn's, with the number of a later window."""
    return f"{turn_id}-{number}" if number else turn_id


def turn_of_question(id_: str) -> tuple[str, int]:
    turn_id, _dash, number = id_.partition("-")
    return turn_id, int(number) if number.isdigit() else 0
