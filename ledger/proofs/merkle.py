"""The Merkle tree of RFC 9162, section 2.1, over SHA-256. Pure.

A tree is read through a function of its nodes: `node(level, index)` is the hash of the complete
subtree over the leaves from index · 2^level up to (index + 1) · 2^level, leaves counted from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()
"""MTH({}) = HASH(), section 2.1.1."""

Nodes = Callable[[int, int], bytes]


class ProofInvalid(ValueError):
    """The proof does not lead to the root that it should lead to."""


def leaf_hash(envelope: bytes) -> bytes:
    """MTH({d[0]}) = HASH(0x00 || d[0]), section 2.1.1."""
    return sha256(b"\x00" + envelope).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """HASH(0x01 || left || right), section 2.1.1."""
    return sha256(b"\x01" + left + right).digest()


def parents(hashes: Sequence[bytes]) -> list[bytes]:
    """The hashes of each complete pair; an odd one at the end has no parent yet."""
    return [
        sha256(b"\x01" + left + right).digest()
        for left, right in zip(hashes[::2], hashes[1::2], strict=False)
    ]


def joined(peaks: Sequence[bytes]) -> bytes:
    """The root over complete subtrees that shrink from left to right, as MTH splits a tree at the
    largest power of two below its size (section 2.1.1)."""
    if not peaks:
        return EMPTY_ROOT
    root = peaks[-1]
    for peak in reversed(peaks[:-1]):
        root = node_hash(peak, root)
    return root


def peaks_of(hashes: Sequence[bytes]) -> list[bytes]:
    """The complete subtrees over these neighbours, the largest first."""
    peaks = []
    while hashes:
        if len(hashes) % 2:
            peaks.append(hashes[-1])
        hashes = parents(hashes)
    peaks.reverse()
    return peaks


def root_of(leaf_hashes: Sequence[bytes]) -> bytes:
    """MTH(D[n]) of the tree with these leaves, section 2.1.1."""
    return joined(peaks_of(leaf_hashes))


class Growing:
    """The root of a tree that grows leaf by leaf, out of as many hashes as its size has bits."""

    def __init__(self) -> None:
        self._size = 0
        self._peaks: list[bytes] = []

    def add(self, leaf: bytes) -> None:
        node, size = leaf, self._size
        while size & 1:
            node = node_hash(self._peaks.pop(), node)
            size >>= 1
        self._peaks.append(node)
        self._size += 1

    @property
    def root(self) -> bytes:
        return joined(self._peaks)


# Proofs out of a tree


def subtree(start: int, end: int, node: Nodes) -> bytes:
    """MTH(D[start:end]), where `start` is a multiple of the power of two that the size fits in."""
    peaks = []
    while start < end:
        level = (end - start).bit_length() - 1
        peaks.append(node(level, start >> level))
        start += 1 << level
    return joined(peaks)


def root_at(size: int, node: Nodes) -> bytes:
    """MTH(D[0:size])."""
    return subtree(0, size, node)


def inclusion_proof(index: int, size: int, node: Nodes) -> list[bytes]:
    """PATH(index, D[size]), section 2.1.3.1: the siblings on the way from the leaf to the root."""
    if not 0 <= index < size:
        raise ValueError(f"there is no leaf {index} in a tree of {size}")
    path: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        split = start + _split(end - start)
        if index < split:
            path.append(subtree(split, end, node))
            end = split
        else:
            path.append(subtree(start, split, node))
            start = split
    path.reverse()
    return path


def consistency_proof(old: int, new: int, node: Nodes) -> list[bytes]:
    """PROOF(old, D[new]), section 2.1.4.1; empty for old = new, and for old = 0, of which every
    tree is a continuation."""
    if not 0 <= old <= new:
        raise ValueError(f"a tree of {new} does not go on from one of {old}")
    if old in {0, new}:
        return []
    proof: list[bytes] = []
    start, end, known = 0, new, True
    while old != end:
        split = start + _split(end - start)
        if old <= split:
            proof.append(subtree(split, end, node))
            end = split
        else:
            proof.append(subtree(start, split, node))
            start, known = split, False
    if not known:
        proof.append(subtree(start, end, node))
    proof.reverse()
    return proof


def _split(size: int) -> int:
    """k, the largest power of two smaller than the size (section 2.1.1)."""
    return 1 << ((size - 1).bit_length() - 1)


# Verifying


def verify_inclusion(
    index: int, size: int, leaf_hash: bytes, proof: Sequence[bytes], root: bytes
) -> None:
    """Section 2.1.3.2: the leaf has this index in the tree of this size and root, or
    `ProofInvalid`. The letters are those of the section."""
    if not 0 <= index < size:
        raise ProofInvalid(f"There is no leaf {index} in a tree of {size}.")
    fn, sn, r = index, size - 1, leaf_hash
    for p in proof:
        if sn == 0:
            raise ProofInvalid(f"A proof in a tree of {size} is shorter than {len(proof)} hashes.")
        if fn & 1 or fn == sn:
            r = node_hash(p, r)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node_hash(r, p)
        fn, sn = fn >> 1, sn >> 1
    if sn:
        raise ProofInvalid(f"A proof in a tree of {size} is longer than {len(proof)} hashes.")
    if r != root:
        raise ProofInvalid(f"The proof of leaf {index} does not lead to the root.")


def verify_consistency(
    old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]
) -> None:
    """Section 2.1.4.2: the tree of the new size and root begins with the one of the old, or
    `ProofInvalid`. The letters are those of the section.

    The sizes 0 and old = new, which the section leaves out, are proved by nothing.
    """
    if not 0 <= old <= new:
        raise ProofInvalid(f"A tree of {new} does not go on from one of {old}.")
    if old in {0, new}:
        if proof:
            raise ProofInvalid(f"From {old} to {new} the proof is empty.")
        if old == 0 and old_root != EMPTY_ROOT:
            raise ProofInvalid("The root of the empty tree is another.")
        if old == new and old_root != new_root:
            raise ProofInvalid(f"Two trees of the size {old} have different roots.")
        return
    fr, sr = _roots(old, new, old_root, proof)
    if fr != old_root:
        raise ProofInvalid(f"The proof does not lead to the root of the tree of {old}.")
    if sr != new_root:
        raise ProofInvalid(f"The proof does not lead to the root of the tree of {new}.")


def root_before(old: int, new: int, new_root: bytes, proof: Sequence[bytes]) -> bytes:
    """The root that the tree of the new size and root had at the old size, as its own consistency
    proof shows: no other can be shown for it.

    Raises `ProofInvalid` for a proof that does not lead to the new root, and where the proof does
    not hold the old root: for 0, old = new, and a power of two.
    """
    if not 0 < old < new or old & (old - 1) == 0:
        raise ProofInvalid(f"A proof from {old} to {new} does not hold the root at {old}.")
    fr, sr = _roots(old, new, b"", proof)
    if sr != new_root:
        raise ProofInvalid(f"The proof does not lead to the root of the tree of {new}.")
    return fr


def _roots(old: int, new: int, old_root: bytes, proof: Sequence[bytes]) -> tuple[bytes, bytes]:
    """What a proof from 0 < old < new leads to: the old root and the new one."""
    if not proof:
        raise ProofInvalid(f"From {old} to {new} the proof is not empty.")
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    fn, sn = old - 1, new - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for c in path[1:]:
        if sn == 0:
            raise ProofInvalid(f"From {old} to {new} the proof is shorter.")
        if fn & 1 or fn == sn:
            fr, sr = node_hash(c, fr), node_hash(c, sr)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node_hash(sr, c)
        fn, sn = fn >> 1, sn >> 1
    if sn:
        raise ProofInvalid(f"From {old} to {new} the proof is longer.")
    return fr, sr
