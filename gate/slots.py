"""Slots and canonical forms: when two statements are about the same thing, and when they agree.

These functions are versioned with `ledger.streams.SLOT_VERSION` and pinned by golden tests: another
result for the same words would send a belief to another stream.
"""

from __future__ import annotations

import unicodedata

from beliefledger.gate.registry import MemoryType, SlotRule
from beliefledger.ledger.candidate import SELF, Candidate, Precision, When
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.times import DAY

STATEFUL_RELATIONS = frozenset({"relation.reports-to", "relation.located-at"})
"""A person has one of these at a time, where a ledger's own vocabulary says nothing."""

_ARTICLES = frozenset(
    {"a", "an", "the", "my", "our", "their", "your", "his", "her", "its", "user's"}
)
_BEFORE_CONTEXT = frozenset({"on", "at", "in", "for", "during", "when", "while", "with"})
_WORD = compile_later(r"[^\W_]+(?:[.+#'’-][^\W_]+)*[+#]*")


_CANONICAL = compile_later(r"[a-z0-9]++(?:[.-][a-z0-9]++)*+")
"""Attributes that are as they should be, as most are."""


def words(text: str) -> list[str]:
    """Case-folded words in Unicode's compatibility form, without articles and possessives in
    front."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    found = _WORD.findall(plain)
    start = 0
    while start < len(found) - 1 and found[start] in _ARTICLES:
        start += 1
    return found[start:]


def canonical_text(text: str) -> str:
    """A text as its words, single-spaced; a text without words as it stands."""
    return " ".join(words(text)) or unicodedata.normalize("NFKC", text).casefold().strip()


def canonical_entity(name: str) -> str:
    return SELF.casefold() if name in {SELF, ""} else canonical_text(name)


def canonical_attribute(attribute: str) -> str:
    """Dotted lower-case parts, spaces within a part as hyphens."""
    if _CANONICAL.fullmatch(attribute):
        return attribute
    parts = (canonical_text(part).replace(" ", "-") for part in attribute.split("."))
    return ".".join(part for part in parts if part)


def slot_attribute(candidate: Candidate | Memory, kind: MemoryType) -> str:
    """The attribute part of the candidate's slot."""
    attribute = canonical_attribute(candidate.attribute)
    if kind.slot is SlotRule.CONTENT:
        return f"content:{canonical_text(candidate.claim)}{_on(candidate.when)}"
    if kind.slot is SlotRule.RELATION:
        stem = ".".join(attribute.split(".")[:2])
        if stateful(stem, kind):
            return stem
        return f"{stem}:{canonical_text(far_end(candidate))}"
    return attribute


_DATED = frozenset({Precision.EXACT, Precision.DAY, Precision.WEEK, Precision.MONTH})


def _on(when: When) -> str:
    """The day that a stated time begins on: "last Tuesday", said in June and again in October, are
    two events. A vague time says no day, since it would be another one each time it is said."""
    if when.start is None or when.precision not in _DATED:
        return ""
    return f" on {when.start // DAY}"


def stateful(stem: str, kind: MemoryType) -> bool:
    """Whether one has at most one of this relation (`relation.reports-to`) at a time."""
    if kind.relations:
        return kind.relation(stem).stateful
    return stem in STATEFUL_RELATIONS


def canonical_value(value: str, *, negated: bool, kind: MemoryType | None) -> str:
    """What a statement says of its slot; two statements agree if these are equal."""
    if kind is not None and kind.slot is SlotRule.CONTENT:
        return "said"
    text = canonical_text(value)
    return f"not {text}" if negated else text


def value_of(said: Candidate | Memory, kind: MemoryType | None) -> str:
    """The canonical value of a statement; a relation's far end under the name it is known by."""
    value = said.value
    if kind is not None and kind.slot is SlotRule.RELATION:
        value = far_end(said)
    return canonical_value(value, negated=said.negated, kind=kind)


def far_end(said: Candidate | Memory) -> str:
    """A relation's far end: the canonical name it is known by, else as it was said."""
    known = None if said.resolved is None else said.resolved.target_name
    return known or said.value


def canonical_context(context: str | None) -> str | None:
    """A circumstance without the preposition in front and without plurals: "on Fridays" and
    "friday" are one."""
    if context is None:
        return None
    found = words(context)
    while len(found) > 1 and found[0] in _BEFORE_CONTEXT:
        found = words(" ".join(found[1:]))
    plain = (word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found)
    return " ".join(plain) or canonical_text(context)
