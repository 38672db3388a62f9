"""Which role may call what: a table (`roles.yaml`), and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from beliefledger.ledger.data_files import data as read_data
from beliefledger.ledger.errors import InvalidTurn

FRONT = "memory"
"""The scope of the verbs that are the front door's own."""


class Roles(NamedTuple):
    """The table: each role with what it is for, each verb with the roles that may call it."""

    meanings: Mapping[str, str]
    verbs: Mapping[str, frozenset[str]]


@cache
def roles() -> Roles:
    """The table, read once."""
    data = read_data("beliefledger.access", "roles.yaml")
    verbs = {verb: frozenset(whose.split()) for verb, whose in data["verbs"].items()}
    return Roles(data["roles"], verbs)


def may(role: str, scopes: Sequence[str], verb: str) -> bool:
    """Whether a role with these scopes (none: no narrowing) may call a verb."""
    if role not in roles().verbs.get(verb, frozenset()):
        return False
    return not scopes or not {verb, part_of(verb)}.isdisjoint(scopes)


def part_of(verb: str) -> str:
    """The scope that a verb belongs to: the first part of its name, or the front door."""
    part, dot, _ = verb.partition(".")
    return part if dot else FRONT


def who_may(verb: str) -> str:
    """The roles that may call a verb, for a person to read."""
    allowed = roles().verbs.get(verb, frozenset())
    return ", ".join(role for role in roles().meanings if role in allowed)


def check_role(role: str) -> str:
    """The role. Raises `InvalidTurn` for one that there is not."""
    if role not in roles().meanings:
        raise InvalidTurn(f"role: there is none like that; there are: {_told(roles().meanings)}.")
    return role


def known_scopes() -> frozenset[str]:
    """All scopes that there are: parts, and single verbs."""
    verbs = roles().verbs
    return frozenset(map(part_of, verbs)).union(verbs)


def check_scopes(scopes: Sequence[str]) -> tuple[str, ...]:
    """The scopes, each once. Raises `InvalidTurn` for one that is neither a part nor a verb."""
    known = known_scopes()
    if isinstance(scopes, str):
        raise InvalidTurn("scopes: give a list of names.")
    for each in scopes:
        if each not in known:
            parts = _told(sorted(known - roles().verbs.keys()))
            raise InvalidTurn(
                f"scopes: one is neither a part nor a verb. The parts are: {parts};"
                " a verb is written as consent.grant."
            )
    return tuple(dict.fromkeys(scopes))


def _told(names: Mapping[str, str] | Sequence[str]) -> str:
    return ", ".join(names)
