"""Which signed heads go into the files that are handed out, and how one key handed over to the
next."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from beliefledger.answers import Handover
from beliefledger.ledger.errors import LogCorrupted
from beliefledger.ledger.proofs.notes import Checkpoint, NoteInvalid
from beliefledger.ledger.proofs.terms import handover
from beliefledger.ledger.proofs.tiles import read_cosigned

if TYPE_CHECKING:
    from beliefledger.ledger.proofs.tree import Tree
    from beliefledger.opening.witness_client import Witnessed


def handovers(tree: Tree, size: int) -> tuple[Handover, ...]:
    """One between each key of the ledger and the next, for a file whose head is of `size` events.

    Raises `LogCorrupted` where one is not in the history of checkpoints.
    """
    keys = tree.verifiers()
    if len(keys) < 2:  # most ledgers; the history need not be read for them
        return ()
    kept = tree.checkpoints()
    found = []
    for old, new in pairwise(keys):
        both = handover(old, new, kept)
        if both is None:
            raise LogCorrupted(
                f"The checkpoint that hands over from {old.vkey} to {new.vkey} is not in the"
                " history: restore proofs/checkpoints from a backup."
            )
        hashes = tree.consistency(*sorted((both.size, size)))
        found.append(Handover(note=both.text, hashes=as_base64(hashes)))
    return tuple(found)


def cosigned(tree: Tree, witness: Witnessed | None = None) -> Checkpoint | None:
    """The checkpoint that a witness cosigned last, where it is one of this tree; and where the
    ledger has a witness, by that one."""
    try:
        found = read_cosigned(tree.tiles)
        if found is not None and witness is not None:
            witness.verifier.check(found)
    except NoteInvalid:
        return None  # spoilt, or of another witness: `verify` tells
    if found is None or found.origin != tree.origin:
        return None
    return found if tree.root(found.size) == found.root else None


def shown(tree: Tree, witness: Witnessed | None, position: int) -> Checkpoint | None:
    """A checkpoint that has this position and was cosigned, if there is one. A witness that the
    ledger has is asked for it; raises as `Witnessed.check` does."""
    found = cosigned(tree, witness)
    if witness is not None and (found is None or found.size < position):
        found = witness.check(tree)
    return found if found is not None and found.size >= position else None


def as_base64(hashes: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(base64.b64encode(each).decode() for each in hashes)
