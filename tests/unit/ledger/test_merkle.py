"""The tree against the vectors known from RFC 6962's reference implementation, of eight leaves."""

from __future__ import annotations

import pytest

from beliefledger.ledger.proofs.merkle import (
    EMPTY_ROOT,
    ProofInvalid,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_at,
    root_before,
    root_of,
    verify_consistency,
    verify_inclusion,
)

ENTRIES = [
    bytes.fromhex(each)
    for each in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
LEAVES = [leaf_hash(entry) for entry in ENTRIES]
ROOTS = [
    bytes.fromhex(each)
    for each in (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    )
]
ONE = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
TWO_THREE = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
FOUR_TO_SEVEN = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
FOUR = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
FOUR_FIVE = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"
SIX_SEVEN = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
UPTO = [root.hex() for root in ROOTS]
INCLUDED = [
    (0, 1, []),
    (0, 8, [ONE, TWO_THREE, FOUR_TO_SEVEN]),
    (5, 8, [FOUR, SIX_SEVEN, UPTO[4]]),
    (2, 3, [UPTO[2]]),
    (1, 5, [UPTO[1], TWO_THREE, FOUR]),
]
CONSISTENT = [
    (1, 1, []),
    (1, 8, [ONE, TWO_THREE, FOUR_TO_SEVEN]),
    (6, 8, [FOUR_FIVE, SIX_SEVEN, UPTO[4]]),
    (2, 5, [TWO_THREE, FOUR]),
]


def node(level: int, index: int) -> bytes:
    if level == 0:
        return LEAVES[index]
    return node_hash(node(level - 1, 2 * index), node(level - 1, 2 * index + 1))


def hexes(proof: list[bytes]) -> list[str]:
    return [each.hex() for each in proof]


@pytest.mark.parametrize("size", range(9))
def test_the_roots_are_those_of_the_vectors(size):
    assert root_of(LEAVES[:size]) == root_at(size, node) == ROOTS[size]


def test_the_empty_tree_has_the_hash_of_nothing():
    assert ROOTS[0] == EMPTY_ROOT == root_of([])


@pytest.mark.parametrize(("index", "size", "path"), INCLUDED)
def test_the_inclusion_proofs_are_those_of_the_vectors(index, size, path):
    proof = inclusion_proof(index, size, node)
    assert hexes(proof) == path
    verify_inclusion(index, size, LEAVES[index], proof, ROOTS[size])


@pytest.mark.parametrize(("old", "new", "path"), CONSISTENT)
def test_the_consistency_proofs_are_those_of_the_vectors(old, new, path):
    proof = consistency_proof(old, new, node)
    assert hexes(proof) == path
    verify_consistency(old, new, ROOTS[old], ROOTS[new], proof)


@pytest.mark.parametrize("size", range(9))
def test_every_leaf_and_every_earlier_tree_is_proved(size):
    for index in range(size):
        proof = inclusion_proof(index, size, node)
        verify_inclusion(index, size, LEAVES[index], proof, ROOTS[size])
        for other in set(range(size)) - {index}:
            with pytest.raises(ProofInvalid):
                verify_inclusion(other, size, LEAVES[index], proof, ROOTS[size])
    for old in range(size + 1):
        proof = consistency_proof(old, size, node)
        verify_consistency(old, size, ROOTS[old], ROOTS[size], proof)
        if old in {0, size}:
            assert proof == []
        if old in {3, 5, 6, 7} and old != size:
            assert root_before(old, size, ROOTS[size], proof) == ROOTS[old]
            with pytest.raises(ProofInvalid, match=f"tree of {size}"):
                root_before(old, size, ROOTS[old], proof)
        else:
            with pytest.raises(ProofInvalid, match="does not hold"):
                root_before(old, size, ROOTS[size], proof)


@pytest.mark.parametrize(("index", "size", "path"), INCLUDED[1:])
def test_an_inclusion_proof_proves_nothing_else(index, size, path):
    proof = [bytes.fromhex(each) for each in path]
    leaf, root = LEAVES[index], ROOTS[size]
    wrong = [
        (index + 1, size, leaf, proof, root),
        (index - 1, size, leaf, proof, root),
        (index, size * 2, leaf, proof, root),
        (index, 0, leaf, proof, root),
        (index, size, LEAVES[index - 1], proof, root),
        (index, size, leaf, proof[:-1], root),
        (index, size, leaf, proof[1:], root),
        (index, size, leaf, [*proof, root], root),
        (index, size, leaf, [bytes(32), *proof], root),
        (index, size, leaf, [bytes(32), *proof[1:]], root),
        (index, size, leaf, proof, ROOTS[size - 1]),
        (index, size, leaf, [], leaf),
        (index, size, leaf, [], root),
    ]
    for each in wrong:
        with pytest.raises(ProofInvalid):
            verify_inclusion(*each)


@pytest.mark.parametrize(("old", "new", "path"), CONSISTENT[1:])
def test_a_consistency_proof_proves_nothing_else(old, new, path):
    proof = [bytes.fromhex(each) for each in path]
    wrong = [
        (old - 1, new, ROOTS[old], ROOTS[new], proof),
        (old + 1, new, ROOTS[old], ROOTS[new], proof),
        (old, new * 2, ROOTS[old], ROOTS[new], proof),
        (new, old, ROOTS[old], ROOTS[new], proof),
        (old, new, ROOTS[old - 1], ROOTS[new], proof),
        (old, new, ROOTS[old], ROOTS[new - 1], proof),
        (old, new, ROOTS[old], ROOTS[old], proof),
        (old, new, ROOTS[new], ROOTS[new], proof),
        (old, new, ROOTS[old], ROOTS[new], []),
        (old, new, ROOTS[old], ROOTS[new], proof[:-1]),
        (old, new, ROOTS[old], ROOTS[new], proof[1:]),
        (old, new, ROOTS[old], ROOTS[new], [*proof, ROOTS[new]]),
        (old, new, ROOTS[old], ROOTS[new], [ROOTS[old], *proof]),
        (old, new, ROOTS[old], ROOTS[new], [bytes(32), *proof[1:]]),
    ]
    for each in wrong:
        with pytest.raises(ProofInvalid):
            verify_consistency(*each)


def test_what_needs_no_hashes_takes_none():
    verify_consistency(0, 8, ROOTS[0], ROOTS[8], [])
    verify_consistency(8, 8, ROOTS[8], ROOTS[8], [])
    verify_consistency(0, 0, ROOTS[0], ROOTS[0], [])
    for old, old_root, proof in (
        (0, ROOTS[1], []),
        (0, ROOTS[0], [ROOTS[8]]),
        (8, ROOTS[7], []),
        (8, ROOTS[8], [ROOTS[8]]),
    ):
        with pytest.raises(ProofInvalid):
            verify_consistency(old, 8, old_root, ROOTS[8], proof)


def test_there_is_no_proof_of_what_no_tree_has():
    for index, size in ((8, 8), (-1, 8), (0, 0)):
        with pytest.raises(ValueError, match="no leaf"):
            inclusion_proof(index, size, node)
    for old, new in ((8, 7), (-1, 3)):
        with pytest.raises(ValueError, match="does not go on"):
            consistency_proof(old, new, node)


def test_a_proof_with_hashes_beyond_the_top_of_the_tree_is_refused_whatever_it_leads_to():
    """Whoever makes up the root, too, makes it fit."""
    for index, size in ((0, 1), (0, 8), (7, 8), (4, 5)):
        proof = inclusion_proof(index, size, node)
        more, made_up = [*proof, LEAVES[0]], node_hash(LEAVES[0], ROOTS[size])
        said = f"in a tree of {size} is shorter than {len(more)} hashes"
        with pytest.raises(ProofInvalid, match=said):
            verify_inclusion(index, size, LEAVES[index], more, made_up)
