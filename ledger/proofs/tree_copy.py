"""Bringing a tree from one place to another: its tiles, all that was signed of it, and the keys
that it was signed with, as far as anybody may know them."""

from __future__ import annotations

from beliefledger.ledger.errors import LogCorrupted, NotPermitted
from beliefledger.ledger.proofs.notes import Checkpoint, NoteInvalid
from beliefledger.ledger.proofs.tiles import (
    HEIGHT,
    WIDTH,
    Tile,
    TileStore,
    TileWriter,
    read_cosigned,
    tiles_of,
)

_AT_ONCE = 500
"""So many tiles are written together."""


def bring_tree(source: TileStore, destination: TileStore, upto: int) -> Checkpoint | None:
    """Bring what was signed of the first `upto` events; returns the last checkpoint that there is
    of them, if there is one. Done again, it goes on.

    Raises `NotPermitted` where the destination's tree is another one, or is larger.
    """
    signed = {each.size: each for each in map(_parsed, source.kept()) if each.size <= upto}
    published = source.checkpoint()
    if published is not None:
        latest = _parsed(published)
        if latest.size <= upto:
            signed[latest.size] = latest
    if not signed:
        return None
    last = signed[max(signed)]
    with destination.extending() as writer:
        _bring_keys(source, writer, str(destination))
        before = writer.checkpoint()
        there = 0 if before is None else _parsed(before).size
        if there > last.size:
            raise NotPermitted(
                f"{destination} has a tree of {there} events already, and this one has {last.size}."
            )
        _bring_tiles(source, writer, there, last.size)
        for size in sorted(signed):
            if size >= there and destination.kept_at(size) != signed[size].text:
                writer.publish(signed[size], keep=True)
    try:
        witnessed = read_cosigned(source)
    except NoteInvalid:  # spoilt; the witness says again what it has
        witnessed = None
    if witnessed is not None and witnessed.size <= last.size:
        destination.keep_cosigned(witnessed.text)
    return last


def _bring_keys(source: TileStore, writer: TileWriter, name: str) -> None:
    keys, known = source.vkeys(), writer.vkeys()
    if known != keys[: len(known)]:
        raise NotPermitted(
            f"The tree in {name} was signed with other keys: it is another ledger's."
        )
    for key in keys[len(known) :]:
        writer.know(key)


def _bring_tiles(source: TileStore, writer: TileWriter, before: int, size: int) -> None:
    """Copy the tiles that a tree of this size has and the one before did not. A missing tile is
    left out: it can be computed from the log."""
    found: dict[Tile, bytes] = {}
    for tile in tiles_of(size):
        if tile.number < (before >> HEIGHT * tile.level) // WIDTH:
            continue
        data = source.tile(tile)
        if data is not None:
            found[tile] = data
        if len(found) >= _AT_ONCE:
            _write(writer, found)
            found = {}
    _write(writer, found)


def _write(writer: TileWriter, tiles: dict[Tile, bytes]) -> None:
    writer.mend(tiles)  # where a database computes its own tiles, nobody has asked it to yet
    writer.drop_partial([tile for tile in tiles if tile.width == WIDTH])


def _parsed(text: str) -> Checkpoint:
    try:
        return Checkpoint.parse(text)
    except NoteInvalid as problem:
        raise LogCorrupted(f"A checkpoint cannot be read: {problem}") from problem
