"""A witness: a process of its own that cosigns what a log says of itself, while that stays true.

It decides by the protocol of c2sp.org/tlog-witness, which `tools.witness_server` speaks, and signs
as c2sp.org/tlog-cosignature says. Of each log it keeps the last checkpoint that it cosigned, and
cosigns another one only if that contains the first: history that was rewritten, shortened or shown
in two versions gets no cosignature. What a log signed and should not have is kept as evidence. Of a
log's keys one follows the other, in the order in which the witness was told of them: where a later
one has signed, no earlier one counts.

A store is a directory: `witness.key`, and for each log a file in `logs` with its keys and its last
cosigned checkpoint, and files in `evidence`. Each file is replaced as a whole and is on the disk
before an answer leaves.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from beliefledger.ledger import files
from beliefledger.ledger.errors import CallerMistake, KeyMissing, LogCorrupted
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.proofs import keyfile
from beliefledger.ledger.proofs.merkle import (
    EMPTY_ROOT,
    HASH_BYTES,
    ProofInvalid,
    root_before,
    verify_consistency,
)
from beliefledger.ledger.proofs.notes import (
    Checkpoint,
    Cosigner,
    NoteInvalid,
    Verifier,
    check,
    with_signatures,
)
from beliefledger.ledger.times import SECOND, Clock, Micros, system_clock

KEY_FILE = "witness.key"
FORMAT = "beliefledger.witness.v1"
EVIDENCE_FORMAT = "beliefledger.evidence.v1"
MAX_PROOF = 63
"""Lines of a proof, by the protocol."""
MAX_EVIDENCE = 100
"""Pieces of each kind that are kept of one log."""
Kind = Literal["split view", "not proved"]


class Refused(Exception):
    """The answer to a request that is not granted: a status of HTTP, and a sentence."""

    def __init__(self, status: int, sentence: str, *, kind: Kind | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.kind = kind
        """What the checkpoint is evidence of, where it is."""


class Conflict(Refused):
    """The log does not go on from the checkpoint that was cosigned last, of this size."""

    def __init__(self, size: int, sentence: str, *, kind: Kind | None = None) -> None:
        super().__init__(409, sentence, kind=kind)
        self.size = size


@dataclass(frozen=True, slots=True)
class Submission:
    """What a log asks: to cosign a checkpoint, proved to contain the one of size `old`."""

    old: int
    proof: tuple[bytes, ...]
    checkpoint: Checkpoint

    @classmethod
    def parse(cls, body: bytes) -> Submission:
        """Raises `Refused` with 400."""
        try:
            text = body.decode()
        except UnicodeDecodeError:
            raise Refused(400, "The request is not UTF-8.") from None
        head, empty, note = text.partition("\n\n")
        if not empty:
            raise Refused(400, "There is no empty line between the proof and the checkpoint.")
        first, *lines = head.split("\n")
        found = re.fullmatch(r"old (0|[1-9][0-9]{0,18})", first)
        if found is None:
            raise Refused(400, "The first line is not `old`, a space and a size.")
        if len(lines) > MAX_PROOF:
            raise Refused(400, f"A proof has at most {MAX_PROOF} lines.")
        try:
            checkpoint = Checkpoint.parse(note)
        except NoteInvalid as problem:
            raise Refused(400, f"There is no checkpoint: {problem}") from None
        return cls(int(found[1]), tuple(map(_hash, lines)), checkpoint)


def _hash(line: str) -> bytes:
    try:
        raw = base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != HASH_BYTES or base64.b64encode(raw).decode() != line:
        raise Refused(400, "A line of the proof is not the base64 of a hash.")
    return raw


@dataclass(frozen=True, slots=True)
class Known:
    """What a witness knows of a log: its keys, and the last checkpoint that it cosigned."""

    origin: str
    verifiers: tuple[Verifier, ...]
    checkpoint: Checkpoint | None = None
    cosigned_at: Micros | None = None
    retired: Mapping[str, int] = field(default_factory=dict)
    """The verifier keys that another one followed, and at how many events."""

    @property
    def in_force(self) -> tuple[Verifier, ...]:
        return tuple(each for each in self.verifiers if each.vkey not in self.retired)

    def retiring(self, checkpoint: Checkpoint) -> Mapping[str, int]:
        """The keys that are retired when this checkpoint, rightly signed, was cosigned."""
        last = max(at for at, each in enumerate(self.verifiers) if _signed_by(checkpoint, [each]))
        followed = [each.vkey for each in self.verifiers[:last]]
        return {**dict.fromkeys(followed, checkpoint.size), **self.retired}

    @property
    def size(self) -> int:
        return 0 if self.checkpoint is None else self.checkpoint.size

    @property
    def root(self) -> bytes:
        return EMPTY_ROOT if self.checkpoint is None else self.checkpoint.root


@dataclass(frozen=True, slots=True)
class Evidence:
    """A checkpoint that a log signed and that was not cosigned, beside the one that was.

    A `split view`: the log's keys signed two different trees of one size, or a larger one whose
    own proof shows that it began with another tree than the cosigned. `not proved`: the log signed
    a larger tree and whoever sent it did not show what it began with, which proves nothing against
    the log.
    """

    kind: Kind
    origin: str
    seen_at: Micros
    cosigned: str | None
    """The whole note, as the witness has it; None for the empty tree."""
    submitted: str
    old: int
    proof: tuple[str, ...]
    file: Path

    @property
    def size(self) -> int:
        return Checkpoint.parse(self.submitted).size


def examine(asked: Submission, known: Known | None) -> None:
    """Whether it may be cosigned. Pure; the checks and their order are the protocol's.

    Raises `Refused`.
    """
    new = asked.checkpoint
    if known is None:
        raise Refused(404, f"The log {new.origin} is not known here.")
    try:
        check(new, known.in_force)
    except NoteInvalid as problem:
        if _signed_by(new, known.verifiers):
            raise Refused(403, f"A later key of {new.origin} signs since, not this one.") from None
        raise Refused(403, f"{problem}") from None
    if asked.old > new.size:
        raise Refused(400, f"A checkpoint of {new.size} cannot go on from one of {asked.old}.")
    if asked.old != known.size:
        raise Conflict(known.size, f"The last checkpoint cosigned is that of {known.size}.")
    if new.size == known.size and new.root != known.root:
        raise Conflict(
            known.size, f"Another tree of the size {known.size} was cosigned.", kind="split view"
        )
    try:
        verify_consistency(known.size, new.size, known.root, new.root, asked.proof)
    except ProofInvalid as problem:
        raise Refused(422, f"{problem}", kind=_kind(asked, known)) from None


def _signed_by(checkpoint: Checkpoint, verifiers: Iterable[Verifier]) -> bool:
    try:
        check(checkpoint, verifiers)
    except NoteInvalid:
        return False
    return True


def without_strangers(checkpoint: Checkpoint, verifiers: Iterable[Verifier]) -> Checkpoint:
    """The checkpoint with the signatures by these keys alone: what others wrote below it is not
    kept. It is signed by one of them."""
    lines = []
    for verifier in verifiers:
        made = (each for each in checkpoint.signatures if verifier.made(each))
        lines += [f"{each.line}\n" for each in made if _signed_by(checkpoint, [verifier])][:1]
    return Checkpoint.parse(f"{checkpoint.body}\n{''.join(lines)}")


def _kind(asked: Submission, known: Known) -> Kind:
    """What a checkpoint whose proof fails is evidence of. A proof that does lead to its root shows
    which tree the log had at the size that was cosigned."""
    new = asked.checkpoint
    try:
        before = root_before(known.size, new.size, new.root, asked.proof)
    except ProofInvalid:
        return "not proved"
    return "not proved" if before == known.root else "split view"


class Store:
    """The files of a witness. Several processes may use them at once."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._logs = directory / "logs"
        self._evidence = directory / "evidence"

    @classmethod
    def open(cls, directory: Path) -> tuple[Store, Cosigner]:
        """The store and its key. Raises `CallerMistake` where there is none, and `KeyMissing`."""
        store = cls(directory)
        if not store._logs.is_dir():
            raise CallerMistake(
                f"There is no witness at {directory}: `beliefledger proof witness serve` and"
                " `beliefledger proof witness add-log` make one."
            )
        file = directory / KEY_FILE
        if not file.exists():
            raise KeyMissing(
                f"The witness at {directory} has no key: put {KEY_FILE} back. With another key it"
                " is another witness, which needs a store of its own."
            )
        return store, Cosigner.parse(keyfile.read(file).private_text)

    @classmethod
    def make(cls, directory: Path) -> bool:
        """Make a store and its key, unless there is one; whether it was made."""
        store = cls(directory)
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            with store.exclusive():
                if store._logs.is_dir():
                    return False
                file = directory / KEY_FILE
                if not file.exists():  # else the store was not finished
                    keyfile.create(file, f"beliefledger-witness/{secrets.token_hex(8)}")
                store._evidence.mkdir(exist_ok=True, mode=0o700)
                store._logs.mkdir(mode=0o700)
                files.sync(directory)
        except OSError as problem:
            raise file_fault(f"{directory} cannot hold a witness's store", problem) from problem
        return True

    def exclusive(self) -> AbstractContextManager[None]:
        """Alone among threads and processes: what is looked at stays so until it is replaced."""
        return files.locked(self.directory / "lock")

    def known(self, origin: str) -> Known | None:
        """Raises `LogCorrupted` when its file is not what a witness wrote."""
        return self._read(self._file(origin)) if self._file(origin).exists() else None

    def logs(self) -> list[Known]:
        return sorted(map(self._read, self._logs.glob("*.json")), key=lambda each: each.origin)

    def keep(self, known: Known) -> None:
        """Durable when it returns."""
        note = None if known.checkpoint is None else known.checkpoint.text
        document = {
            "format": FORMAT,
            "origin": known.origin,
            "verifier_keys": [each.vkey for each in known.verifiers],
            "checkpoint": note,
            "cosigned_at": known.cosigned_at,
            "retired": dict(known.retired),
        }
        _replace(self._file(known.origin), document)

    def trust(self, verifier: Verifier) -> bool:
        """Know a log, or one more key of it; False when it was known already."""
        with self.exclusive():
            known = self.known(verifier.name) or Known(verifier.name, ())
            if verifier in known.verifiers:
                return False
            self.keep(replace(known, verifiers=(*known.verifiers, verifier)))
            return True

    def distrust(self, verifier: Verifier) -> bool:
        """Know a key no longer; False when it was not known. What was cosigned of its log stays
        known, also without any key."""
        with self.exclusive():
            known = self.known(verifier.name)
            if known is None or verifier not in known.verifiers:
                return False
            others = tuple(each for each in known.verifiers if each != verifier)
            retired = {vkey: at for vkey, at in known.retired.items() if vkey != verifier.vkey}
            self.keep(replace(known, verifiers=others, retired=retired))
            return True

    def accuse(self, known: Known, asked: Submission, kind: Kind, now: Micros) -> bool:
        """Keep what a log should not have signed; False when it is kept already, or enough is."""
        file = self._evidence_file(asked.checkpoint, kind)
        there = [each for each in self.evidence(known.origin) if each.kind == kind]
        if file.exists() or len(there) >= MAX_EVIDENCE:
            return False
        document = {
            "format": EVIDENCE_FORMAT,
            "kind": kind,
            "origin": known.origin,
            "verifier_keys": [each.vkey for each in known.verifiers],
            "seen_at": now,
            "cosigned": None if known.checkpoint is None else known.checkpoint.text,
            "submitted": without_strangers(asked.checkpoint, known.verifiers).text,
            "old": asked.old,
            "proof": [base64.b64encode(each).decode() for each in asked.proof],
        }
        _replace(file, document)
        return True

    def acquit(self, checkpoint: Checkpoint) -> None:
        """A checkpoint was proved after all: who sent it first had no proof of it."""
        self._evidence_file(checkpoint, "not proved").unlink(missing_ok=True)

    def evidence(self, origin: str) -> list[Evidence]:
        """What is kept against a log, oldest first."""
        files = self._evidence.glob(f"{_named(origin)}-*.json")
        return sorted(map(_evidence, files), key=lambda each: each.seen_at)

    def _file(self, origin: str) -> Path:
        return self._logs / f"{_named(origin)}.json"

    def _evidence_file(self, checkpoint: Checkpoint, kind: Kind) -> Path:
        head = sha256(f"{kind}\n{checkpoint.body}".encode()).hexdigest()[:32]
        return self._evidence / f"{_named(checkpoint.origin)}-{head}.json"

    def _read(self, file: Path) -> Known:
        document = _document(file, FORMAT)
        try:
            note, at = document["checkpoint"], document["cosigned_at"]
            known = Known(
                document["origin"],
                tuple(map(Verifier.parse, document["verifier_keys"])),
                None if note is None else Checkpoint.parse(note),
                None if at is None else int(at),
                {str(vkey): int(size) for vkey, size in document.get("retired", {}).items()},
            )
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            raise _spoilt(file) from problem
        if self._file(known.origin) != file:
            raise _spoilt(file)
        return known


def _named(origin: str) -> str:
    """Files are not named by what a log calls itself."""
    return sha256(origin.encode()).hexdigest()[:32]


def _document(file: Path, form: str) -> dict[str, Any]:
    try:
        document = json.loads(file.read_bytes())
    except ValueError as problem:
        raise _spoilt(file) from problem
    if not isinstance(document, dict) or document.get("format") != form:
        raise _spoilt(file)
    return document


def _evidence(file: Path) -> Evidence:
    document = _document(file, EVIDENCE_FORMAT)
    try:
        return Evidence(
            document["kind"],
            document["origin"],
            int(document["seen_at"]),
            document["cosigned"],
            document["submitted"],
            int(document["old"]),
            tuple(document["proof"]),
            file,
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise _spoilt(file) from problem


def _spoilt(file: Path) -> LogCorrupted:
    return LogCorrupted(
        f"{file} is not what a witness wrote, so what it cosigned last is not known."
    )


def _replace(file: Path, document: dict[str, Any]) -> None:
    """Replace a file as a whole; on the disk when this returns."""
    files.replace(file, json.dumps(document, indent=2, sort_keys=True) + "\n")


class Witness:
    """Answers the requests of logs, one after the other. `tell` is given what a person should
    know."""

    def __init__(
        self,
        store: Store,
        cosigner: Cosigner,
        *,
        clock: Clock = system_clock,
        tell: Callable[[str], None] = lambda _said: None,
    ) -> None:
        self._store = store
        self._cosigner = cosigner
        self._clock = clock
        self.tell = tell

    def add_checkpoint(self, body: bytes) -> str:
        """The lines of the cosignature; what it says is durable by then. Raises `Refused`."""
        asked = Submission.parse(body)
        new = asked.checkpoint
        with self._store.exclusive():
            known = self._store.known(new.origin)
            now = self._clock()
            try:
                examine(asked, known)
            except Refused as refused:
                if (
                    known is not None
                    and refused.kind is not None
                    and self._store.accuse(known, asked, refused.kind, now)
                ):
                    self.tell(f"{new.origin} at {new.size}: {refused.sentence} Kept as evidence.")
                raise
            assert known is not None
            line = self._cosigner.cosign(new, now // SECOND)
            cosigned = with_signatures(without_strangers(new, known.verifiers), [line])
            retired = known.retiring(new)
            self._store.keep(replace(known, checkpoint=cosigned, cosigned_at=now, retired=retired))
            self._store.acquit(new)
        return f"{line}\n"
