"""Checkpoints, proofs, and verification of the log."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from beliefledger.answers import (
    CheckpointAnswer,
    ConsistencyProof,
    InclusionProof,
    ReplaySummary,
    SigningKeyAnswer,
)
from beliefledger.ledger import commitments
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import CallerMistake, InvalidTurn, KeyMissing, ProofsDamaged
from beliefledger.ledger.events.ops import SigningKeyRotated
from beliefledger.ledger.log import new_id
from beliefledger.ledger.proofs.notes import Checkpoint, CosignatureVerifier, NoteInvalid, Verifier
from beliefledger.ledger.proofs.tree import Tree
from beliefledger.ledger.streams import ops_stream
from beliefledger.ledger.vault import SYSTEM
from beliefledger.ledger.verify import Verified, verify
from beliefledger.opening.core import Core
from beliefledger.proofs.checkpoints import as_base64, handovers, shown
from beliefledger.proofs.checkpoints import cosigned as last_cosigned
from beliefledger.times import Progress

_NOTES = ("checkpoint", "old", "new", "before", "after")
"""The fields of our files that are checkpoints."""


class Proofs:
    """Signs checkpoints of the log, proves what is in it, and verifies all of it."""

    def __init__(self, core: Core, replay_all: Callable[..., ReplaySummary]) -> None:
        """`replay_all` makes every decision again; it takes `progress`."""
        self._core = core
        self._log = core.log
        self._recorder = core.recorder
        self._replay_all = replay_all

    @property
    def tree(self) -> Tree:
        """The Merkle tree over all events, with its signed checkpoints."""
        return self._core.signing.tree()

    # Signing

    def checkpoint(self) -> CheckpointAnswer:
        """Sign the log as it is now, and keep that in the history of checkpoints.

        With a witness it is cosigned, too. Raises `KeyMissing` without the signing key,
        `LogCorrupted` when the log is not what was signed before or what the witness cosigned.
        """
        self._recorder.flush()
        signed = self.tree.extend(keep=True)
        witness = self._core.witness
        return _told(signed if witness is None else witness.check(self.tree))

    def signing_key(self) -> SigningKeyAnswer:
        """By which keys the checkpoints of this ledger are known."""
        tree = self.tree
        listed = tree.verifiers()
        try:
            file = str(self._core.signing.key_path())
        except KeyMissing:
            file = None
        signer = tree.signer
        return SigningKeyAnswer(
            origin=tree.origin,
            verifier_keys=tuple(each.vkey for each in listed),
            file=file,
            # Where none is listed, nothing was signed yet: the key at hand will be the first.
            here=signer is not None and (not listed or signer.vkey == listed[-1].vkey),
        )

    def rotate_signing_key(self, *, by: str) -> SigningKeyAnswer:
        """Sign with a new key from now on. What was signed is known by the one before, and the
        checkpoint in between is signed by both."""
        actor = self._core.actor(by)
        self._recorder.flush()
        self._record_rotations(actor)  # one that was killed before it was on record
        self._core.signing.rotate()
        self._record_rotations(actor)
        return self.signing_key()

    def _record_rotations(self, actor: str) -> None:
        keys = [each.vkey for each in self.tree.verifiers()]
        stream = ops_stream(self._log.tenant)

        def record() -> None:
            version = self._log.version(stream)  # before what is known: another may record now
            known = {each.facts["key"] for each in self._log.of_types([SigningKeyRotated.NAME])}
            events = [
                New(SigningKeyRotated(previous=old, key=new), new_id(), stream, None, actor)
                for old, new in pairwise(keys)
                if new not in known
            ]
            if events:
                self._log.append(events, {stream: version})

        self._log.decide_again(record)

    # The vault's register

    def record_vault_restored(self, *, by: str | None = None) -> bool:
        """Put on record that the vault was restored from a backup, so that its register need only
        go on from here; False where it goes on from what the log was told before."""
        self._recorder.flush()
        actor = SYSTEM if by is None else self._core.actor(by)
        return commitments.commit_restored(self._log, actor=actor)

    # Proving

    def inclusion(self, position: int) -> InclusionProof:
        """That the event at a position is in the log that was signed.

        Raises `CallerMistake` for a position that there is no event of this tenant at.
        """
        rows = self._log.store.read_at([position])
        if not rows:
            raise CallerMistake(f"There is no event at position {position} of this log.")
        tree = self.tree
        checkpoint = self._covering(position)
        return InclusionProof(
            origin=checkpoint.origin,
            position=position,
            envelope=rows[0].envelope.decode(),
            hashes=as_base64(tree.inclusion(position, checkpoint.size)),
            checkpoint=checkpoint.text,
            verifier_keys=tuple(each.vkey for each in tree.verifiers()),
            handovers=handovers(tree, checkpoint.size),
        )

    def consistency(self, old: int, new: int | None = None) -> ConsistencyProof:
        """That the log of `new` events, by default as it is now, begins with that of `old`.

        Both are sizes of checkpoints that were kept; raises `CallerMistake` naming the nearest.
        """
        tree = self.tree
        last = self._signed_now() if new is None else self._kept(new)
        first = self._kept(old)
        if first.size > last.size:
            raise CallerMistake(f"The old checkpoint is of {old} events, the new of {last.size}.")
        return ConsistencyProof(
            origin=last.origin,
            old=first.text,
            new=last.text,
            hashes=as_base64(tree.consistency(first.size, last.size)),
            verifier_keys=tuple(each.vkey for each in tree.verifiers()),
            handovers=handovers(tree, last.size),
        )

    def _covering(self, position: int) -> Checkpoint:
        """A checkpoint that has the position: one that a witness cosigned, if there is one."""
        for checkpoint in (shown(self.tree, self._core.witness, position), self.tree.latest()):
            if checkpoint is not None and checkpoint.size >= position:
                return checkpoint
        return self._signed_now()

    def _signed_now(self) -> Checkpoint:
        self._recorder.flush()
        signed = self.tree.extend()
        return shown(self.tree, self._core.witness, signed.size) or signed

    def _kept(self, size: int) -> Checkpoint:
        tree = self.tree
        cosigned = last_cosigned(tree, self._core.witness)
        if cosigned is not None and cosigned.size == size:
            return cosigned
        kept = tree.kept(size)
        if kept is not None:
            return kept
        latest = tree.latest()
        sizes = {each.size for each in (*tree.checkpoints(), latest, cosigned) if each is not None}
        below = max((each for each in sizes if each < size), default=None)
        above = min((each for each in sizes if each > size), default=None)
        near = " and ".join(str(each) for each in (below, above) if each is not None)
        raise CallerMistake(
            f"No checkpoint of {size} events was kept; "
            + (f"the nearest: {near}." if near else "none was: beliefledger proof checkpoint.")
        )

    # Verifying

    def verify(
        self,
        progress: Progress | None = None,
        *,
        checkpoint: str | None = None,
        witness_key: str | None = None,
        keys: Sequence[str] = (),
        decisions: bool = False,
    ) -> Verified:
        """Check every event of the log, and that it leads to every tile and checkpoint of its
        tree; the answer names the first thing that is wrong, if any.

        `checkpoint` is the text of a checkpoint, or of a proof or certificate, that somebody kept:
        the log must still go on from it. `keys` are the verifier keys by which alone its
        checkpoints are to be known: without them the key at hand, and without that the list beside
        the tree tells, which whoever may write there can change. The last cosigned checkpoint must
        be cosigned by the witness with `witness_key`. With `decisions`, each decision is made
        again, too.
        """
        witness = None if witness_key is None else _witness(witness_key)
        against = [] if checkpoint is None else list(_checkpoints_in(checkpoint))
        pinned = [_verifier(each) for each in keys]
        try:
            tree = self._core.signing.tree_to_verify()
        except ProofsDamaged as damaged:
            return Verified(0, 0, 0, None, damaged.detail)
        if tree is None and (against or witness or pinned):
            return Verified(0, 0, 0, None, "this ledger has never signed a checkpoint")
        answer = verify(self._log, progress, tree=tree, against=against, keys=pinned)
        if answer.ok and tree is not None and witness is not None:
            problem = _not_cosigned(tree, witness)
            answer = replace(answer, problem=problem)
        if answer.ok and self._core.witness is not None:
            problem = self._core.witness.finding(self.tree)
            answer = replace(answer, problem=problem)
        if answer.ok and decisions:
            answer = self._verify_decisions(answer, progress)
        return answer

    def _verify_decisions(self, answer: Verified, progress: Progress | None) -> Verified:
        replayed = self._replay_all(progress=progress)
        answer = replace(answer, decisions=replayed.decisions)
        if not replayed.differing:
            return answer
        first = min(replayed.differing, key=lambda each: each.position)
        return replace(
            answer,
            position=first.position,
            problem=f"the decision {first.decision_id} comes out different when it is made again",
        )


def _told(checkpoint: Checkpoint) -> CheckpointAnswer:
    return CheckpointAnswer(
        origin=checkpoint.origin,
        size=checkpoint.size,
        root=base64.b64encode(checkpoint.root).decode(),
        text=checkpoint.text,
    )


def _witness(vkey: str) -> CosignatureVerifier:
    try:
        return CosignatureVerifier.parse(vkey)
    except NoteInvalid as problem:
        raise CallerMistake(f"That is no key of a witness: {problem}") from None


def _verifier(vkey: str) -> Verifier:
    try:
        return Verifier.parse(vkey)
    except NoteInvalid as problem:
        raise CallerMistake(f"That is no verifier key of a ledger: {problem}") from None


def _not_cosigned(tree: Tree, witness: CosignatureVerifier) -> str | None:
    text = tree.tiles.cosigned()
    if text is None:
        return "no checkpoint was ever cosigned by a witness"
    try:
        witness.check(Checkpoint.parse(text))
    except NoteInvalid as problem:
        return f"the cosigned checkpoint: {problem}".rstrip(".")
    return None


def read_checkpoints(path: Path) -> str:
    """The text of a file that somebody kept."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise InvalidTurn(f"{path} is neither a checkpoint nor a proof.") from None


def _checkpoints_in(text: str) -> Iterator[Checkpoint]:
    """Those in a note, or in one of our files."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    notes = [text]
    if isinstance(document, dict):
        notes = [document[name] for name in _NOTES if isinstance(document.get(name), str)]
    if not notes:
        raise CallerMistake("The file has no checkpoint in it.")
    for note in notes:
        try:
            yield Checkpoint.parse(note)
        except NoteInvalid as problem:
            raise CallerMistake(
                f"The file is neither a checkpoint nor a proof: {problem}"
            ) from None
