"""What a ledger has to do with its witness: it shows it every head, and is refused by it.

Whoever sets back the log, its proofs and its vault together leaves nothing in them that tells. The
witness, elsewhere, remembers; so a ledger that has one asks it before anything is written.
"""

from __future__ import annotations

import base64
import re
import threading
import time
from urllib.parse import urlsplit

import httpx2

from beliefledger.ledger.errors import (
    BackendUnavailable,
    BehindWitness,
    CallerMistake,
    LedgerError,
    NotPermitted,
    SplitView,
)
from beliefledger.ledger.proofs.notes import (
    Checkpoint,
    CosignatureVerifier,
    NoteInvalid,
    Signature,
    with_signatures,
)
from beliefledger.ledger.proofs.tiles import SPOILT, read_cosigned
from beliefledger.ledger.proofs.tree import Tree
from beliefledger.settings import WITNESS, WITNESS_KEY, Settings

SECONDS = 10.0
"""How long the witness may take to answer."""
EVERY = 1.0
"""Seconds between two heads that are sent while a ledger is open."""
_ATTEMPTS = 20
"""Several processes that have the same ledger open get in each other's way."""


class Witnessed:
    """A ledger's connection to its witness. Safe to use from several threads."""

    def __init__(self, url: str, verifier: CosignatureVerifier) -> None:
        self.url = _shown(url)
        self.verifier = verifier
        self.trouble: str | None = None
        """Why the last head that was sent was not cosigned."""
        self.forgot: str | None = None
        """What the witness should remember and does not."""
        self.spoilt: str | None = None
        """That what it cosigned last was not kept here as it was."""
        self._to = f"{url.rstrip('/')}/add-checkpoint"
        self._client = httpx2.Client(timeout=SECONDS, trust_env=False)
        self._alone = threading.Lock()
        self._sent_at: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> Witnessed | None:
        """The witness that the environment names, if it names one. Raises `CallerMistake`."""
        if settings.witness is None:
            return None
        if not _is_url(settings.witness):
            raise CallerMistake(f"{WITNESS} is no URL of a witness: write https://host/prefix.")
        if settings.witness_key is None:
            raise CallerMistake(
                f"{WITNESS} is set and {WITNESS_KEY} is not: set it to what"
                " `beliefledger proof witness key` tells there."
            )
        try:
            return cls(settings.witness, CosignatureVerifier.parse(settings.witness_key))
        except NoteInvalid as problem:
            raise CallerMistake(f"{WITNESS_KEY}: {problem}") from None

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(each for each in (self.trouble, self.forgot, self.spoilt) if each)

    def check(self, tree: Tree) -> Checkpoint:
        """Have the head of the log cosigned; returns it with the cosignature, which is kept.

        Raises `BehindWitness` and `SplitView` when the witness knows better, `NotPermitted` when it
        does not know the log or signs with another key than it should, and `BackendUnavailable`
        when it does not answer.
        """
        with self._alone:
            self._sent_at = time.monotonic()
            try:
                cosigned = self._submit(tree)
            except LedgerError as problem:
                self.trouble = f"The last checkpoint was not cosigned: {problem}"
                raise
            self.trouble = None
            return cosigned

    def send(self, tree: Tree) -> Checkpoint | None:
        """As `check`, for each head while a ledger is open; None when one was sent just now."""
        last = self._sent_at
        if last is not None and time.monotonic() - last < EVERY:
            return None
        return self.check(tree)

    def finding(self, tree: Tree) -> str | None:
        """What the witness has against this ledger, for a report on it. A witness that cannot be
        asked is told of, too."""
        try:
            self.check(tree)
        except LedgerError as problem:
            return str(problem).rstrip(".")
        return None

    def close(self) -> None:
        self._client.close()

    def _submit(self, tree: Tree) -> Checkpoint:
        known = old = self._cosigned(tree)
        head = _head(tree)
        for _ in range(_ATTEMPTS):
            if old > head.size:
                head = _head(tree)  # another process may have appended and sent it
            if old > head.size:
                raise BehindWitness(
                    f"The witness at {self.url} has cosigned {old} events of {head.origin}, and"
                    f" here are {head.size}."
                )
            proof = tree.consistency(old, head.size) if old < head.size else []
            status, text = self._ask(old, proof, head)
            if status == 200:
                cosigned = self._with_cosignature(head, text)
                tree.tiles.keep_cosigned(cosigned.text)
                return cosigned
            if status != 409:
                raise self._refusal(status, text, old, head, tree)
            size = self._size(text)
            if size == old:
                raise self._other(f"another tree of {size} events", head)
            if size < known:
                self.forgot = (
                    f"The witness at {self.url} had cosigned {known} events and knew of {size}: its"
                    " store was set back."
                )
            old = size
        raise BackendUnavailable(
            f"The witness at {self.url} was asked {_ATTEMPTS} times and another process was always"
            " faster."
        )

    def _cosigned(self, tree: Tree) -> int:
        """The size that this witness cosigned last, as far as is known here."""
        try:
            checkpoint = read_cosigned(tree.tiles)
        except NoteInvalid as problem:
            self.spoilt = f"{SPOILT}, and the witness was asked anew: {problem}"
            return 0
        if checkpoint is None:
            return 0
        try:
            self.verifier.check(checkpoint)
        except NoteInvalid:
            return 0  # of another witness: this one says itself what it has
        return checkpoint.size

    def _ask(self, old: int, proof: list[bytes], head: Checkpoint) -> tuple[int, str]:
        lines = [f"old {old}", *(base64.b64encode(each).decode() for each in proof)]
        body = "\n".join(lines) + f"\n\n{head.text}"
        try:
            try:
                answer = self._client.post(self._to, content=body.encode())
            except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
                # The connection was an old one and is closed by now. Queries twice does no harm.
                answer = self._client.post(self._to, content=body.encode())
        except httpx2.HTTPError as problem:
            raise self._unavailable(f"does not answer: {problem}") from problem
        return answer.status_code, answer.text

    def _with_cosignature(self, head: Checkpoint, text: str) -> Checkpoint:
        """Signatures of other keys are ignored, as the protocol says."""
        whose = (self.verifier.name, self.verifier.key_id)
        try:
            lines = [line for line in text.splitlines() if Signature.parse(line)[:2] == whose]
            cosigned = with_signatures(head, lines)
            self.verifier.check(cosigned)
        except NoteInvalid as problem:
            raise NotPermitted(
                f"The witness at {self.url} does not sign with the key that {WITNESS_KEY} names:"
                f" {problem}"
            ) from problem
        return cosigned

    def _size(self, text: str) -> int:
        if not re.fullmatch(r"(0|[1-9][0-9]{0,18})\n", text):
            raise self._unavailable(f"answered 409 and no size: {text[:100]!r}")
        return int(text)

    def _refusal(
        self, status: int, text: str, old: int, head: Checkpoint, tree: Tree
    ) -> LedgerError:
        if status == 422:
            return self._other(f"{old} events that these {head.size} do not begin with", head)
        if status == 403 and "later key" in text:
            return NotPermitted(
                f"The witness at {self.url} answered: {_line(text)} This ledger was signed with"
                " another key meanwhile: restore the newest backup, and name its key."
            )
        if status in {403, 404}:
            what = "this ledger" if status == 404 else "the key that signs this ledger's heads"
            keys = [each.vkey for each in tree.verifiers()]
            return NotPermitted(
                f"The witness at {self.url} does not know {what}: there, run"
                f" `beliefledger proof witness add-log '{keys[-1]}'`."
            )
        return BackendUnavailable(
            f"The witness at {self.url} answered {status}: {_line(text)} Try again; if it stays so,"
            " look there what is wrong with it."
        )

    def _other(self, what: str, head: Checkpoint) -> SplitView:
        return SplitView(f"The witness at {self.url} has cosigned {what}, for {head.origin}.")

    def _unavailable(self, what: str) -> BackendUnavailable:
        return BackendUnavailable(
            f"The witness at {self.url} {what}. Without it nobody can tell whether this ledger was"
            f" set back; to open it all the same, set {WITNESS} to nothing."
        )


def _head(tree: Tree) -> Checkpoint:
    """The head of the log, or the last one that was signed where there is no key to sign."""
    latest = tree.latest() if tree.signer is None else None
    return tree.extend() if latest is None else latest


def _line(text: str) -> str:
    return " ".join(text.split())[:200]


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half of an address, or no port
        return False


def _shown(url: str) -> str:
    """Without what is secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
