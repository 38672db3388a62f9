"""Recording searches behind the reader's back: they are appended in batches by a thread.

A process that is killed loses the recalls of its last moments, and nothing else. One that was
asked before an erasure of its subject moved on, and is appended after, is recorded without its
words: they, or what was found by them, may be what went.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic

from beliefledger.ledger import backoff
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import EventIdReused, LedgerError, NotPermitted
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.log import Log
from beliefledger.ledger.streams import recall_stream, subject_stream

WAIT_SECONDS = 0.2
"""So long recalls are gathered before they are appended."""
FOLD_SECONDS = 1.0
"""So long after it was appended, what was is folded, unless somebody asks before: together it costs
less."""
MOST_WAITING = 10_000
"""With more, whoever searches appends them itself."""
BATCH = 500
_WORDLESS = {"asked": None, "salt": None, "session_tag": None}
"""What is left out of a recall without its words."""


class Recorder:
    """Appends recalls. Safe to use from several threads."""

    def __init__(
        self, log: Log, recorded: Callable[[], None] = lambda: None, *, keeps: bool = True
    ) -> None:
        """`recorded` is called by the thread a moment after it has appended some. Unless it `keeps`
        them, recalls are let go: of a ledger that is only read."""
        self._keeps = keeps
        self._log = log
        self._recorded = recorded
        self._waiting: list[New] = []
        self._changed = threading.Condition()
        self._appending = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self.trouble: LedgerError | None = None
        """What the log last said, while it takes nothing; the recalls wait."""

    def note(self, recall: New) -> None:
        """Have a recall appended soon."""
        if not self._keeps:
            return
        with self._changed:
            self._waiting.append(recall)
            full = len(self._waiting) >= MOST_WAITING
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(
                    target=self._run, name="beliefledger recalls", daemon=True
                )
                self._thread.start()
            self._changed.notify()
        if full:
            self.flush()

    def flush(self) -> None:
        """Append what waits, now. Raises `BackendUnavailable`, and then it still waits."""
        with self._appending:
            while True:
                with self._changed:
                    batch = self._waiting[:BATCH]
                if not batch:
                    return
                self._append(batch)
                with self._changed:
                    del self._waiting[: len(batch)]

    def close(self) -> None:
        """Append what waits and let the thread end."""
        with self._changed:
            self._closed.set()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.flush()

    def _run(self) -> None:
        delays = backoff.delays()
        due: float | None = None
        """When what was appended is to be folded."""
        while True:
            left = None if due is None else max(0, due - monotonic())
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed.is_set(), left)
                some = bool(self._waiting)
            if self._closed.wait(WAIT_SECONDS if some else 0):
                return
            try:
                if some:
                    self.flush()
                    due = due or monotonic() + FOLD_SECONDS
                if due is not None and monotonic() >= due:
                    self._recorded()
                    due = None
            except LedgerError as problem:  # whatever it is, the recalls are not to be lost
                self.trouble = problem
                self._closed.wait(next(delays))
            else:
                self.trouble, delays = None, backoff.delays()

    def _append(self, batch: Sequence[New]) -> None:
        """All of them at once; without those of whoever was erased meanwhile."""
        events = list(batch)

        def attempt() -> None:
            there = [each for each in events if self._there(each.subject_ref or "")]
            people = sorted({each.subject_ref or "" for each in there})
            # What says that somebody is erased is in their own stream: it is not to move meanwhile.
            streams = [make(ref) for ref in people for make in (recall_stream, subject_stream)]
            if there:
                expect = self._log.versions(streams)
                moved = {ref for ref in people if self._moved(ref, there)}
                allowed = [
                    self._allowed(each) if each.subject_ref in moved else each for each in there
                ]
                self._log.append(allowed, expect)

        try:
            self._log.decide_again(attempt)
        except NotPermitted:
            self._log.decide_again(attempt)  # erased in between; now it is known
        except EventIdReused:  # an earlier reply was lost: some are in the log already
            events = [each for each in events if self._log.find(each.event_id) is None]
            self._log.decide_again(attempt)

    def _moved(self, subject_ref: str, recalls: Sequence[New]) -> bool:
        """Whether an erasure of a subject has moved on since the first of their searches."""
        asked = [_asked_at(each) for each in recalls if each.subject_ref == subject_ref]
        first = min((each for each in asked if each is not None), default=None)
        return first is not None and self._log.erasures_of(subject_ref, first) > 0

    def _allowed(self, recall: New) -> New:
        """A recall without its words, where an erasure of its subject has moved on since."""
        asked_at = _asked_at(recall)
        if asked_at is None or not self._log.erasures_of(recall.subject_ref or "", asked_at):
            return recall
        return replace(recall, event=recall.event.model_copy(update=_WORDLESS))

    def _there(self, subject_ref: str) -> bool:
        return self._log.keys(subject_ref) is not None


def _asked_at(recall: New) -> int | None:
    """Where the log was as a search saw it; None for what holds no words."""
    event = recall.event
    if not isinstance(event, MemoriesRecalled) or event.asked is None:
        return None
    return event.position
