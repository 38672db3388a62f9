"""Which types of events a wish means: names in the log, or patterns such as `memory.*`. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase

from beliefledger.ledger.errors import InvalidQuery
from beliefledger.ledger.events import BY_NAME
from beliefledger.ledger.upcast import current_name


def named(wanted: Iterable[str]) -> frozenset[str]:
    """Today's names of the events that are wanted; a `*` stands for any characters. Raises
    `InvalidQuery` for what matches none."""
    found: set[str] = set()
    for each in wanted:
        if "*" in each and not set("?[") & set(each):
            some = {name for name in BY_NAME if fnmatchcase(name, each)}
        else:
            some = {current_name(each)} & BY_NAME.keys()
        if not some:
            near = get_close_matches(each, BY_NAME, n=3, cutoff=0.4) or sorted(BY_NAME)
            raise InvalidQuery(f"{each!r} is no type of event. There are: {', '.join(near)}.")
        found |= some
    return frozenset(found)
