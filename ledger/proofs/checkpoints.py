"""The checkpoints that a tree has published, read with their signatures checked."""

from __future__ import annotations

from collections.abc import Sequence

from beliefledger.ledger.errors import LogCorrupted, ProofsDamaged
from beliefledger.ledger.proofs.notes import Checkpoint, NoteInvalid, Verifier
from beliefledger.ledger.proofs.terms import Term, checked, parsed, terms_of, verifiers_of
from beliefledger.ledger.proofs.tiles import TileReader, TileStore


class Checkpoints:
    """Reads the checkpoints of one tree. Raises `LogCorrupted` for one that is not rightly
    signed."""

    def __init__(self, tiles: TileStore) -> None:
        self._tiles = tiles
        self._verified: Checkpoint | None = None

    def verifiers(self) -> list[Verifier]:
        """All keys that ever signed, the one in force last."""
        return verifiers_of(self._tiles)

    def latest(self, tiles: TileReader | None = None) -> Checkpoint | None:
        """The checkpoint published last, as the given tiles have it. Raises `ProofsDamaged` when it
        cannot be read."""
        tiles = self._tiles if tiles is None else tiles
        text = tiles.checkpoint()
        if text is None:
            return None
        verified = self._verified
        if verified is None or verified.text != text:
            verifiers = verifiers_of(tiles)
            try:
                Checkpoint.parse(text)
            except NoteInvalid as problem:
                raise ProofsDamaged(
                    f"The latest checkpoint at {tiles} cannot be read: {problem} Put it back from a"
                    " backup."
                ) from problem
            verified = self._verified = self._checked(text, verifiers)
        return verified

    def know(self, checkpoint: Checkpoint) -> None:
        """Remember one that was signed just now, so that it need not be checked."""
        self._verified = checkpoint

    def kept(self) -> list[Checkpoint]:
        """The history of checkpoints, in order of size."""
        return self._all_checked(self._tiles.kept())

    def of_size(self, size: int) -> Checkpoint | None:
        """The one of this size, where it is in the history or the latest."""
        text = self._tiles.kept_at(size)
        if text is not None:
            return self._all_checked([text])[0]
        latest = self.latest()
        return latest if latest is not None and latest.size == size else None

    def _all_checked(self, texts: Sequence[str]) -> list[Checkpoint]:
        verifiers = self.verifiers()
        if len(verifiers) < 2:
            return [self._checked(text, verifiers) for text in texts]
        terms = terms_of(verifiers, parsed(self._tiles.kept()))
        return [checked(text, terms) for text in texts]

    def _checked(self, text: str, verifiers: list[Verifier]) -> Checkpoint:
        """Check it by the key in force first, as nothing has to be known then of those before."""
        try:
            return checked(text, [Term(each) for each in verifiers[-1:]])
        except LogCorrupted:
            if len(verifiers) < 2:
                raise
        return checked(text, terms_of(verifiers, parsed(self._tiles.kept())))
