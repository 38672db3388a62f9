"""What the document about one person does not have, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from beliefledger.exports.person import Withheld

ACTORS = "actors"
HOLD_REASONS = "hold_reasons"
WITHHOLDABLE = (ACTORS, HOLD_REASONS)
"""What whoever exports may leave out."""


def withheld(
    erased: int, secrets: int, holds: int, withholding: Collection[str]
) -> Iterator[Withheld]:
    """What is not there: of so many events the words, so many secrets, and, where that is wished,
    names and the reasons of so many holds."""
    yield Withheld(
        what="words that were erased",
        why="they are destroyed; only that there was something is still on record",
        count=erased,
    )
    yield Withheld(
        what="secrets, such as passwords and card numbers",
        why="they are taken out before anything is recorded, and kept nowhere",
        count=secrets,
    )
    yield Withheld(
        what="vectors, by which search compares meanings",
        why="numbers that are computed from the texts above, and say nothing beside them",
    )
    yield Withheld(
        what="the keys under which the words are encrypted",
        why="whoever has them can read every copy; they are no information about the person",
    )
    yield Withheld(
        what="what other people said about the person in records of their own",
        why="it is the record of those people and is found under their names alone; whoever"
        " answers the request has to look there, where that is called for",
    )
    if ACTORS in withholding:
        yield Withheld(
            what="who recorded, decided or erased something",
            why="withheld at the wish of who exported: they are the names of other people",
        )
    if HOLD_REASONS in withholding:
        yield Withheld(
            what="the reasons of legal holds",
            why="withheld at the wish of who exported: telling them could harm the claim",
            count=holds,
        )
