"""Whose signatures count, and up to where: a log's keys, and how each handed over to the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from beliefledger.ledger.errors import LogCorrupted, ProofsDamaged
from beliefledger.ledger.proofs.merkle import EMPTY_ROOT
from beliefledger.ledger.proofs.notes import Checkpoint, NoteInvalid, Verifier, check
from beliefledger.ledger.proofs.tiles import TileReader


def verifiers_of(tiles: TileReader) -> list[Verifier]:
    """All keys that ever signed, the one in force last. Raises `ProofsDamaged` where something was
    signed and the list of keys is gone, or cannot be read."""
    signed = tiles.checkpoint() is not None  # looked at first: a key is known before it signs
    vkeys = tiles.vkeys()
    if signed and not vkeys:
        raise ProofsDamaged(
            f"{tiles.keys_at}, the list of the keys that signed the checkpoints, is missing or"
            " empty: put it back from a backup, which has it among its proofs."
        )
    try:
        return [Verifier.parse(vkey) for vkey in vkeys]
    except NoteInvalid as problem:
        raise ProofsDamaged(
            f"{tiles.keys_at}, the list of the keys that signed the checkpoints, cannot be read:"
            f" {problem} Put it back from a backup."
        ) from problem


class Term(NamedTuple):
    """A key, and up to which size it signed: where it handed over to the next one."""

    verifier: Verifier
    upto: int | None = None

    def covers(self, size: int) -> bool:
        return self.upto is None or size <= self.upto


def terms_of(verifiers: Sequence[Verifier], history: Sequence[Checkpoint]) -> list[Term]:
    """The keys whose signatures count, the one in force, which is given last, first. One before it
    counts up to the checkpoint that is signed by both, as a rotation leaves it: whoever finds it
    later must not go on from there."""
    terms = [Term(each) for each in verifiers[-1:]]
    for older in verifiers[-2::-1]:
        both = handover(older, terms[-1].verifier, history)
        if both is None:
            break
        terms.append(Term(older, both.size))
    return terms


def handover(older: Verifier, newer: Verifier, history: Sequence[Checkpoint]) -> Checkpoint | None:
    """The first checkpoint that both signed, if there is one."""
    by_both = (each for each in history if _is_by(each, newer) and _is_by(each, older))
    return min(by_both, key=lambda each: each.size, default=None)


def _is_by(checkpoint: Checkpoint, verifier: Verifier) -> bool:
    try:
        check(checkpoint, [verifier])
    except NoteInvalid:
        return False
    return True


def parsed(texts: Iterable[str]) -> list[Checkpoint]:
    """The checkpoints that can be parsed. The others are reported where they are checked."""
    found = []
    for text in texts:
        try:
            found.append(Checkpoint.parse(text))
        except NoteInvalid:
            continue
    return found


def checked(text: str, terms: Sequence[Term]) -> Checkpoint:
    """A checkpoint that one of these keys signed in its term. Raises `LogCorrupted`."""
    try:
        checkpoint = Checkpoint.parse(text)
        check(checkpoint, [each.verifier for each in terms if each.covers(checkpoint.size)])
    except NoteInvalid as problem:
        raise LogCorrupted(str(problem)) from problem
    if checkpoint.size == 0 and checkpoint.root != EMPTY_ROOT:
        raise LogCorrupted("The checkpoint of no events has another root.")
    return checkpoint
