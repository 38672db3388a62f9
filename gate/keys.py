"""One fact, one key: which slot the nouns and keys of a statement mean. Pure.

"I work at Initech" and "my employer is Initech" are about one slot, and so is what a model calls
`job.company`. The tables are `keys.yaml` and, for the nouns of relatives, `titles.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from beliefledger.gate.slots import canonical_attribute, canonical_context
from beliefledger.ledger.candidate import SELF, Candidate
from beliefledger.ledger.data_files import data

_OWN = frozenset("thing user personal profile info about my current owned possession".split())
"""First parts of a key that say no more than "the user's"."""
_SAME = frozenset("current present main primary new latest".split())
"""Words before a noun that leave its slot the same."""


class Key(NamedTuple):
    """A slot's key and what leads to it; `relation` tells whether relations only are meant."""

    name: str
    nouns: tuple[str, ...]
    keys: tuple[str, ...]
    relation: bool
    always: frozenset[str]


def _load() -> tuple[Key, ...]:
    read: Mapping[str, Mapping[str, Any]] = data("beliefledger.gate", "keys.yaml")
    return tuple(
        Key(
            name,
            tuple(says.get("nouns", "").split()),
            tuple(says.get("keys", "").split()),
            says.get("kind") == "relation",
            frozenset(says.get("always", "").split()),
        )
        for name, says in read.items()
    )


KEYS = _load()
_TITLES: Mapping[str, str] = {
    word: title
    for title, words in data("beliefledger.gate", "titles.yaml").items()
    for word in words.split()
}
_NOUNS = {noun: key.name for key in KEYS for noun in key.nouns}
_WHOLE = {canonical_attribute(each): key for key in KEYS for each in (key.name, *key.keys)}


def wordings(key: Key) -> Iterator[str]:
    """Every attribute that leads to a key."""
    yield from (key.name, *key.keys)
    for noun in key.nouns:
        yield from (noun, f"thing.{noun}", f"user.{noun}")


def canonical(attribute: str, type_: str = "fact") -> str:
    """The key that an attribute means; the attribute as it is where the table has none for it."""
    plain = canonical_attribute(attribute)
    titled = _titled(plain)
    if titled != plain:
        attribute = plain = titled
    relation = type_ == "relation"
    whole = _WHOLE.get(plain)
    if whole is not None and whole.relation == relation:
        return whole.name
    if relation or not plain:
        return attribute
    first, _, rest = plain.partition(".")
    noun = rest if first in _OWN else plain
    while "-" in noun and noun.partition("-")[0] in _SAME and noun not in _NOUNS:
        noun = noun.partition("-")[2]
    return _NOUNS.get(noun, attribute)


def _titled(attribute: str) -> str:
    """An attribute with the noun of a relative by which all call them: `relation.mum.name` is of
    the mother."""
    first, _, rest = attribute.partition(".")
    if first != "relation":
        return attribute
    title, dot, of = rest.partition(".")
    return f"relation.{_TITLES.get(title, title)}{dot}{of}"


def under_its_key(candidate: Candidate) -> Candidate:
    """The candidate under the key of its slot."""
    if candidate.entity != SELF and candidate.type == "relation":
        return candidate
    key = canonical(candidate.attribute, candidate.type)
    changed: dict[str, str | None] = {} if key == candidate.attribute else {"attribute": key}
    if candidate.context is not None and implied(key, candidate.context):
        changed["context"] = None
    return candidate.model_copy(update=changed) if changed else candidate


def implied(key: str, context: str) -> bool:
    """Whether a circumstance says nothing that the slot does not: seats are for flights."""
    whole = _WHOLE.get(canonical_attribute(key))
    said = set((canonical_context(context) or "").split())
    return whole is not None and bool(said) and said <= whole.always
