"""Signs what was appended, beside the appends: the tree grows while a ledger is open. Tells the log
how far the vault's register goes, too."""

from __future__ import annotations

import os
import threading
from time import monotonic
from typing import TYPE_CHECKING

from beliefledger.ledger import commitments
from beliefledger.ledger.errors import BackendUnavailable, BehindWitness, LedgerError, SplitView
from beliefledger.ledger.log import Log
from beliefledger.ledger.proofs.tree import PAGE
from beliefledger.opening.signing import Signing

if TYPE_CHECKING:  # whoever has no witness need not wait for what it is asked with
    from beliefledger.opening.witness_client import Witnessed

EVERY = 1.0
"""Seconds between two checkpoints, unless so many events came that one is due."""
COMMIT_EVERY = 600.0
"""Seconds between two times that the log is told of the vault's register, but for closing."""
_LOOK = 0.05
"""Seconds between two looks at how many they are."""


class Notary:
    """Extends the tree at most once a second, or every 1,000 events, from the first append of this
    process on, in a thread of its own. An append only tells it how far it came. Each checkpoint is
    shown to the witness, if there is one, at most once a second.

    A failure is kept in `trouble`, here or of the witness, and never reaches who appended. What
    the log could not be told of the vault's register, it is told by who closes the ledger next.
    """

    def __init__(self, log: Log, signing: Signing, witness: Witnessed | None = None) -> None:
        self._log = log
        self._signing = signing
        self._witness = witness
        self._shown = True
        """Whether the witness has seen what was signed last."""
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
        self._cut_off = False
        """Whether the log did not answer: closing does not wait for it once more than it has to."""
        self.untold: str | None = None
        """Why the log was not told how far the vault's register goes."""
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
        told = last
        while True:
            self._appended.wait()
            while not self._due(last) and not self._closing.wait(_LOOK):
                pass
            if self._closing.is_set():
                return
            self._appended.clear()
            if monotonic() - told >= COMMIT_EVERY:
                self.commit()
                told = monotonic()
            self.sign()
            if not self._shown:
                self._appended.set()  # try again when a checkpoint is due
            last = monotonic()

    def _due(self, last: float) -> bool:
        enough = self._reached - self._signed >= PAGE and self.trouble is None
        return enough or monotonic() - last >= EVERY

    def commit(self) -> None:
        """Tell the log how far the vault's register goes, if it has grown."""
        try:
            commitments.commit(self._log)
            self.untold = None
        except LedgerError as problem:
            self.untold = str(problem)
        except Exception as problem:  # noqa: BLE001  nothing of this may end the thread unseen
            self.untold = f"{type(problem).__name__}: {problem}"

    def sign(self, *, keep: bool = False) -> None:
        """Take in what was appended, now; with `keep` the checkpoint stays in the history."""
        try:
            checkpoint = self._signing.tree().extend(keep=keep)
            self._signed = checkpoint.size
            self.trouble = None
            self._cut_off = False
            self._show()
        except LedgerError as problem:
            self.trouble = str(problem)
            self._cut_off = isinstance(problem, BackendUnavailable)
        except Exception as problem:  # noqa: BLE001  nothing of this may end the thread unseen
            self.trouble = f"{type(problem).__name__}: {problem}"

    def _show(self) -> None:
        if self._witness is None:
            return
        self._shown = False
        try:
            tree = self._signing.tree()
            sent = self._witness.check(tree) if self._closing.is_set() else self._witness.send(tree)
        except (BehindWitness, SplitView) as problem:
            # As after a server was promoted in this one's place, which then came back.
            self._log.refused = problem
        except LedgerError:
            pass  # the witness's own trouble, which status tells
        else:
            self._shown = sent is not None
            if self._shown:
                self._log.refused = None

    def warnings(self) -> tuple[str, ...]:
        """How far the tree is behind, and why, if signing failed."""
        told = []
        if self.trouble is not None:
            behind = max(self._reached - self._signed, 0)
            told.append(f"The last {behind:,} events are not signed yet: {self.trouble}")
        if self.untold is not None:
            told.append(f"The log was not told of the vault's register yet: {self.untold}")
        return tuple(told)

    def close(self) -> None:
        """Tell the log of the vault's register, sign the rest and stop; not in a child of the
        process that opened the ledger, nor of the register where nothing was appended here."""
        if os.getpid() != self._process:
            return
        if self._reached and not self._cut_off:
            self.commit()
        self._closing.set()
        self._appended.set()
        if self._thread is not None:
            self._thread.join()
            unseen = not self._shown and self._witness is not None and not self._witness.trouble
            if (self._reached > self._signed and self.trouble is None) or unseen:
                self.sign()
