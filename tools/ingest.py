"""Ingesting files of conversation: recorded in batches, processed in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from beliefledger.ledger.errors import IdempotencyKeyReused, NotPermitted, SecretGiven
from beliefledger.ledger.secret_filter import refuse
from beliefledger.memory import MemoryLedger
from beliefledger.tools.transcripts import Refused, Said, Transcript, Unreadable

BATCH = 500
_ERASED = "this subject was erased, and was not registered anew"
DEFAULT_SUBJECT = "user"


@dataclass(slots=True)
class Ingested:
    """What became of the files. `refused` names each line that did not go in, `unreadable` each
    file that could not be read to its end."""

    recorded: int = 0
    already: int = 0
    subjects: int = 0
    unnamed: int = 0
    processed: int = 0
    failed: int = 0
    parked: int = 0
    pending: int = 0
    problem: str | None = None
    """Why the last turn that could not be read was not."""
    decisions: Counter[str] = field(default_factory=Counter)
    """By outcome: its own, whoever else decides meanwhile."""
    refused: list[Refused] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def turns(self) -> int:
        """Turns that are in the log now."""
        return self.recorded + self.already

    @property
    def unread(self) -> bool:
        """Whether turns could not be read, and wait or are set aside."""
        return bool(self.failed and (self.pending or self.parked))

    def document(self) -> dict[str, Any]:
        """The documented JSON."""
        return {
            "turns": self.turns,
            "recorded": self.recorded,
            "already": self.already,
            "refused": len(self.refused),
            "subjects": self.subjects,
            "processed": self.processed,
            "failed": self.failed,
            "parked": self.parked,
            "pending": self.pending,
            "problem": self.problem,
            "decisions": dict(self.decisions),
            "problems": [
                {"file": each.file, "line": each.line, "place": each.place, "reason": each.reason}
                for each in self.refused
            ],
            "unreadable": self.unreadable,
            "seconds": round(self.seconds, 3),
        }


class Ingest:
    """Brings files into a ledger.

    Every batch is one durable append. Broken off anywhere and begun again, it ends where it would
    have ended undisturbed.
    """

    def __init__(
        self,
        memory: MemoryLedger,
        *,
        subject: str = DEFAULT_SUBJECT,
        process: bool = True,
        tell: Callable[[Refused], None] = lambda _refused: None,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> None:
        """`tell` hears of each refused line at once; `progress` of bytes read, of how many."""
        self._memory = memory
        self._subject = subject
        self._process = process
        self._tell = tell
        self._progress = progress
        self._welcome: dict[str, str | None] = {}
        """For each subject met, why their turns are refused, or None."""
        self.done = Ingested()

    def files(self, paths: Sequence[Path]) -> Ingested:
        """Ingest the files in order. A file that cannot be read does not stop the others."""
        begun = perf_counter()
        most = self._memory.policy.current.max_turn_bytes
        transcripts = [Transcript(path, subject=self._subject, most_bytes=most) for path in paths]
        total, past = sum(transcript.size for transcript in transcripts), 0
        for transcript in transcripts:
            try:
                self._transcript(transcript, past, total)
            except Unreadable as problem:
                self.done.unreadable.append(problem.detail)
            past += transcript.size
        self.done.pending = self._memory.status(digests=False).pending_turns
        self.done.subjects = sum(reason is None for reason in self._welcome.values())
        self.done.seconds = perf_counter() - begun
        return self.done

    def _transcript(self, transcript: Transcript, past: int, total: int) -> None:
        batch: list[Said] = []
        broken: Unreadable | None = None
        try:
            for each in transcript:
                if isinstance(each, Refused):
                    self._refuse(each)
                elif (reason := self._greet(each.turn.subject)) is not None:
                    self._refuse(Refused(transcript.name, each.line, each.place, reason))
                else:
                    batch.append(each)
                if len(batch) == BATCH:
                    self._record(transcript, batch)
                    self._progress(past + transcript.read_bytes(), total)
                    batch = []
        except Unreadable as problem:
            broken = problem
        self._record(transcript, batch)  # what came before a file broke off goes in
        if broken is not None:
            raise broken

    def _refuse(self, refused: Refused) -> None:
        self.done.refused.append(refused)
        self._tell(refused)

    def _greet(self, subject: str) -> str | None:
        """Why nothing about this subject goes in; None is welcome."""
        if subject not in self._welcome:
            self._welcome[subject] = _ERASED if self._memory.erasure.was_erased(subject) else None
            try:
                refuse(subject, "The subject's id", numbers=False)
            except SecretGiven as problem:
                self._welcome[subject] = problem.detail
        return self._welcome[subject]

    def _record(self, transcript: Transcript, batch: Sequence[Said]) -> None:
        if not batch:
            return
        try:
            receipts = self._memory.record_turns(each.turn for each in batch)
        except IdempotencyKeyReused as problem:  # the others go in
            at = next((n for n, each in enumerate(batch) if each.turn is problem.turn), None)
            if at is None:
                raise
            place = batch[at].line, batch[at].place
            self._refuse(Refused(transcript.name, *place, problem.detail))
            self._record(transcript, [*batch[:at], *batch[at + 1 :]])
            return
        except NotPermitted:  # somebody was erased in the meantime
            self._welcome.clear()
            still = [each for each in batch if self._greet(each.turn.subject) is None]
            if len(still) == len(batch):
                raise
            for each in batch:
                reason = self._greet(each.turn.subject)
                if reason is not None:
                    self._refuse(Refused(transcript.name, each.line, each.place, reason))
            self._record(transcript, still)
            return
        already = sum(receipt.already for receipt in receipts)
        self.done.already += already
        self.done.recorded += len(receipts) - already
        self.done.unnamed += sum(not each.subject_stated for each in batch)
        if self._process:
            answer = self._memory.process()
            self.done.processed += answer.turns
            self.done.failed += answer.failed
            self.done.parked += answer.parked
            self.done.problem = answer.problem or self.done.problem
            self.done.decisions.update(answer.outcomes)
