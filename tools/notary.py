"""Signs what was appended, beside the appends: the tree grows while a ledger is open."""

from __future__ import annotations

import os
import threading
from time import monotonic

from ledger.errors import KeyMissing, LedgerError
from ledger.log import Log
from ledger.proofs.tree import PAGE
from tools.signing import Signing

EVERY = 1.0
"""Seconds between two checkpoints, unless so many events came that one is due."""
_LOOK = 0.05
"""Seconds between two looks at how many they are."""


class Notary:
    """Extends the tree at most once a second, or every 1,000 events, from the first append of this
    process on, in a thread of its own. An append only tells it how far it came.

    A failure is kept in `trouble` and never reaches who appended.
    """

    def __init__(self, log: Log, signing: Signing) -> None:
        self._log = log
        self._signing = signing
        self._process = os.getpid()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._appended = threading.Event()
        self._closing = threading.Event()
        self._reached = 0
        """The last position that this process appended, and the last that was signed."""
        self._signed = 0
        self.trouble: str | None = None
        """Why what was appended last is not signed."""
        log.appended = self.heard

    def heard(self, position: int) -> None:
        """Something was appended up to this position. Returns at once."""
        self._reached = position
        if not self._appended.is_set():
            self._appended.set()
            if self._thread is None:
                self._start()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, name="notary", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        last = monotonic()  # the first has its second, too: a short command signs when it closes
        while True:
            self._appended.wait()
            while not self._due(last) and not self._closing.wait(_LOOK):
                pass
            if self._closing.is_set():
                return
            self._appended.clear()
            self.sign()
            last = monotonic()

    def _due(self, last: float) -> bool:
        enough = self._reached - self._signed >= PAGE and self.trouble is None
        return enough or monotonic() - last >= EVERY

    def sign(self) -> None:
        """Take in what was appended, now."""
        try:
            try:
                checkpoint = self._signing.tree().extend()
            except KeyMissing:  # another process may have changed the key
                self._signing.renew()
                checkpoint = self._signing.tree().extend()
            self._signed = checkpoint.size
            self.trouble = None
        except LedgerError as problem:
            self.trouble = str(problem)
        except Exception as problem:  # noqa: BLE001  nothing of this may end the thread unseen
            self.trouble = f"{type(problem).__name__}: {problem}"

    def warnings(self) -> tuple[str, ...]:
        """How far the tree is behind, and why, if signing failed."""
        if self.trouble is None:
            return ()
        behind = max(self._reached - self._signed, 0)
        return (f"The last {behind:,} events are not signed yet: {self.trouble}",)

    def close(self) -> None:
        """Sign the rest and stop; not in a child of the process that opened the ledger."""
        if os.getpid() != self._process:
            return
        self._closing.set()
        self._appended.set()
        if self._thread is not None:
            self._thread.join()
            if self._reached > self._signed and self.trouble is None:
                self.sign()
