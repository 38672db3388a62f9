"""The layout of tiles as tlog-tiles has it."""

from __future__ import annotations

import pytest

from beliefledger.ledger.proofs.merkle import leaf_hash, root_of
from beliefledger.ledger.proofs.notes import Checkpoint, NoteInvalid, Signer, issue
from beliefledger.ledger.proofs.tiles import (
    DirectoryTiles,
    Tile,
    edge_of,
    edge_root,
    grow,
    read_cosigned,
    tiles_of,
)

LEAVES = [leaf_hash(str(number).encode()) for number in range(66_000)]


@pytest.mark.parametrize(
    ("tile", "path"),
    [
        (Tile(0, 0), "tile/0/000"),
        (Tile(0, 67), "tile/0/067"),
        (Tile(0, 999), "tile/0/999"),
        (Tile(0, 1000), "tile/0/x001/000"),
        (Tile(2, 1067), "tile/2/x001/067"),
        (Tile(1, 1234067), "tile/1/x001/x234/067"),
        (Tile(0, 273, 112), "tile/0/273.p/112"),
        (Tile(0, 1234067, 1), "tile/0/x001/x234/067.p/1"),
    ],
)
def test_a_tile_lies_where_the_specification_says(tile, path):
    assert tile.path == path


def test_the_tiles_of_a_tree_are_those_of_the_specifications_example():
    tiles = list(tiles_of(70_000))
    assert sum(tile.level == 0 and tile.width == 256 for tile in tiles) == 273
    assert [tile for tile in tiles if tile.level or tile.width < 256] == [
        Tile(0, 273, 112),
        Tile(1, 0),
        Tile(1, 1, 17),
        Tile(2, 0, 1),
    ]
    assert list(tiles_of(256)) == [Tile(0, 0), Tile(1, 0, 1)]
    assert list(tiles_of(0)) == []


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 66_000])
def test_growing_gives_every_tile_and_the_root(size):
    edge, changed = grow(0, [], LEAVES[:size])
    assert set(changed) == set(tiles_of(size))
    assert edge_root(edge) == root_of(LEAVES[:size])
    assert [len(hashes) for hashes in edge] == [tile.width for tile in edge_of(size)]
    for tile, data in changed.items():
        assert len(data) == 32 * tile.width
        span = 256**tile.level
        for at in {0, tile.width // 2, tile.width - 1}:
            start = (tile.number * 256 + at) * span
            expected = root_of(LEAVES[start : start + span])
            assert data[32 * at : 32 * at + 32] == expected


def test_growing_changes_nothing_but_the_edge():
    edge, _tiles = grow(0, [], LEAVES[:65_530])
    before = [list(hashes) for hashes in edge]
    _grown, changed = grow(65_530, edge, LEAVES[65_530:65_540])
    assert edge == before
    assert set(changed) == {
        Tile(0, 255),
        Tile(0, 256, 4),
        Tile(1, 0),
        Tile(2, 0, 1),
    }


def test_a_directory_holds_the_files_that_the_specification_names(tmp_path):
    tiles = DirectoryTiles(tmp_path / "proofs")
    edge, changed = grow(0, [], LEAVES[:300])
    with tiles.extending() as writer:
        writer.write(changed)
    found = [path for path in (tmp_path / "proofs/tile").rglob("*") if path.is_file()]
    assert {str(path.relative_to(tmp_path / "proofs")) for path in found} == {
        "tile/0/000",
        "tile/0/001.p/44",
        "tile/1/000.p/1",
    }
    assert tiles.tile(Tile(0, 1, 44)) == b"".join(LEAVES[256:300])
    assert tiles.tile(Tile(0, 0, 10)) == b"".join(LEAVES[:10])
    assert tiles.tile(Tile(0, 2, 10)) is None
    _edge, changed = grow(300, edge, LEAVES[300:512])
    with tiles.extending() as writer:
        writer.write(changed)
        assert tiles.tile(Tile(0, 1, 44)) == b"".join(LEAVES[256:300])
        writer.drop_partial([Tile(0, 1)])
    assert not (tmp_path / "proofs/tile/0/001.p").exists()
    assert tiles.tile(Tile(0, 1, 44)) == b"".join(LEAVES[256:300])


SIGNER = Signer("beliefledger/0123456789abcdef", bytes(range(32)))


def head_of(size: int, signer: Signer = SIGNER) -> Checkpoint:
    return issue(signer.name, size, bytes(32), signer)


@pytest.mark.parametrize(
    "spoilt",
    [
        b"",
        b"garbage\n",
        b"\xff\xfe",
        head_of(999_999_999).text.encode(),
        head_of(5, Signer(SIGNER.name, bytes(32))).text.encode(),
        head_of(5, Signer("beliefledger/fedcba9876543210", bytes(range(32)))).text.encode(),
    ],
)
def test_a_spoilt_cosigned_checkpoint_is_told_and_replaced_by_a_smaller_one(tmp_path, spoilt):
    tiles = DirectoryTiles(tmp_path / "proofs")
    assert read_cosigned(tiles) is None
    with tiles.extending() as writer:
        writer.know(SIGNER.vkey)
        writer.publish(head_of(7), keep=True)
    (tmp_path / "proofs" / "cosigned").write_bytes(spoilt)
    with pytest.raises(NoteInvalid):
        read_cosigned(tiles)
    tiles.keep_cosigned(head_of(4).text)
    assert read_cosigned(tiles) == head_of(4)
    tiles.keep_cosigned(head_of(7).text)
    tiles.keep_cosigned(head_of(4).text)
    assert read_cosigned(tiles) == head_of(7)
