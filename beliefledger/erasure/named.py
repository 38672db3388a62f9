"""Ids of what is to be erased, of which one that is missing must not mean all there is."""

from __future__ import annotations

from enum import Enum

from beliefledger.ledger.errors import InvalidQuery
from beliefledger.ledger.names import shown


class Unnamed(Enum):
    """Stands for what was not named. None in its place would be a slip: an id that was looked up
    and is not there must not mean all there is."""

    UNNAMED = "unnamed"

    def __repr__(self) -> str:
        return self.name


UNNAMED = Unnamed.UNNAMED
Named = str | Unnamed


def named(what: str, given: Named) -> str | None:
    """The id that was given, or None where none was. Raises `InvalidQuery` for one that is None, or
    empty: "" is the session of what was said in none."""
    if given is UNNAMED:
        return None
    if not isinstance(given, str) or (not given.strip() and what != "session"):
        raise InvalidQuery(
            f"{what}: it is {shown(given)} and names no {what}, so nothing was erased. Leave it"
            " out to erase all of the subject."
        )
    return given
