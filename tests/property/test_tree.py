"""The tree against the definitions of RFC 9162 taken at their word, and against pymerkle."""

from __future__ import annotations

from hashlib import sha256

import pymerkle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beliefledger.ledger.proofs.merkle import (
    ProofInvalid,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_at,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from beliefledger.ledger.proofs.tiles import edge_root, grow

ENTRIES = [str(number).encode() for number in range(600)]
LEAVES = [leaf_hash(entry) for entry in ENTRIES]
OTHER = pymerkle.InmemoryTree(algorithm="sha256")
for _entry in ENTRIES:
    OTHER.append_entry(_entry)

sizes = st.integers(1, 600)
pairs = st.tuples(sizes, sizes).map(sorted)


# The definitions, as they stand in sections 2.1.1, 2.1.3.1 and 2.1.4.1


def k_of(n: int) -> int:
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def mth(entries: list[bytes]) -> bytes:
    n = len(entries)
    if n == 0:
        return sha256(b"").digest()
    if n == 1:
        return sha256(b"\x00" + entries[0]).digest()
    k = k_of(n)
    return sha256(b"\x01" + mth(entries[:k]) + mth(entries[k:])).digest()


def path(m: int, entries: list[bytes]) -> list[bytes]:
    n = len(entries)
    if n == 1:
        return []
    k = k_of(n)
    if m < k:
        return [*path(m, entries[:k]), mth(entries[k:])]
    return [*path(m - k, entries[k:]), mth(entries[:k])]


def subproof(m: int, entries: list[bytes], *, whole: bool) -> list[bytes]:
    n = len(entries)
    if m == n:
        return [] if whole else [mth(entries)]
    k = k_of(n)
    if m <= k:
        return [*subproof(m, entries[:k], whole=whole), mth(entries[k:])]
    return [*subproof(m - k, entries[k:], whole=False), mth(entries[:k])]


def node(level: int, index: int) -> bytes:
    if level == 0:
        return LEAVES[index]
    return node_hash(node(level - 1, 2 * index), node(level - 1, 2 * index + 1))


@given(st.integers(0, 600))
def test_roots_are_as_defined_and_as_another_has_them(size):
    expected = mth(ENTRIES[:size])
    assert root_of(LEAVES[:size]) == root_at(size, node) == expected
    if size:
        assert OTHER.get_root(size) == expected


@given(pairs)
def test_inclusion_proofs_are_as_defined_and_as_another_has_them(pair):
    position, size = pair
    proof = inclusion_proof(position - 1, size, node)
    assert proof == path(position - 1, ENTRIES[:size])
    # Another begins with the leaf itself.
    leaf, *theirs = OTHER.prove_inclusion(position, size).path
    assert (leaf, theirs) == (LEAVES[position - 1], proof)
    verify_inclusion(position - 1, size, leaf, proof, mth(ENTRIES[:size]))


@given(pairs)
def test_consistency_proofs_are_as_defined_and_verify(pair):
    old, new = pair
    proof = consistency_proof(old, new, node)
    assert proof == subproof(old, ENTRIES[:new], whole=True)
    verify_consistency(old, new, mth(ENTRIES[:old]), mth(ENTRIES[:new]), proof)


@given(pairs)
def test_another_proves_that_our_roots_are_consistent(pair):
    """pymerkle cuts its path otherwise than the RFC, so that only what it says is compared."""
    old, new = pair
    theirs = OTHER.prove_consistency(old, new)
    ours = root_of(LEAVES[:old]), root_of(LEAVES[:new])
    pymerkle.verify_consistency(*ours, theirs)
    with pytest.raises(pymerkle.InvalidProof):
        pymerkle.verify_consistency(root_of(LEAVES[1 : old + 1]), ours[1], theirs)


@given(pairs, st.data())
def test_a_proof_changed_anywhere_is_refused(pair, data):
    old, new = pair
    roots = mth(ENTRIES[:old]), mth(ENTRIES[:new])
    if proof := consistency_proof(old, new, node):
        with pytest.raises(ProofInvalid):
            verify_consistency(old, new, *roots, flipped(proof, data))
    if proof := inclusion_proof(old - 1, new, node):
        with pytest.raises(ProofInvalid):
            verify_inclusion(old - 1, new, LEAVES[old - 1], flipped(proof, data), roots[1])


def flipped(proof: list[bytes], data: st.DataObject) -> list[bytes]:
    at = data.draw(st.integers(0, len(proof) - 1))
    bit = data.draw(st.integers(0, 255))
    changed = (int.from_bytes(proof[at]) ^ (1 << bit)).to_bytes(32)
    return [*proof[:at], changed, *proof[at + 1 :]]


@given(pairs, sizes)
def test_an_inclusion_proof_is_of_one_position_alone(pair, other):
    position, size = pair
    proof = inclusion_proof(position - 1, size, node)
    root = mth(ENTRIES[:size])
    if other != position:
        with pytest.raises(ProofInvalid):
            verify_inclusion(other - 1, size, LEAVES[position - 1], proof, root)


@settings(max_examples=50)
@given(st.lists(st.integers(0, 300), max_size=6))
def test_growing_in_any_steps_is_growing_at_once(steps):
    size, edge, tiles = 0, list[list[bytes]](), {}
    for step in steps:
        leaves = LEAVES[size : size + step]
        edge, changed = grow(size, edge, leaves)
        tiles |= changed
        size += len(leaves)
        assert edge_root(edge) == root_of(LEAVES[:size])
    at_once_edge, at_once = grow(0, [], LEAVES[:size])
    assert edge == at_once_edge
    assert at_once.items() <= tiles.items()
