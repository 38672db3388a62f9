"""Whether two memories say the same in other words, and what they are merged into. Pure.

A cosine cannot tell "likes" from "dislikes" or June from July, so nearness alone merges nothing.
Two claims are rephrasings if every word of one has its like in the other, and numbers, dates,
denials, permissions and persons agree. Words that are not known to be alike differ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from beliefledger.gate.claim_words import Word, Words, lexicon, sort_of
from beliefledger.gate.registry import MemoryType, SlotRule
from beliefledger.gate.slots import (
    canonical_attribute,
    canonical_context,
    canonical_entity,
    canonical_value,
)
from beliefledger.ledger.candidate import Span
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.memory import Memory, Saying

_LONGEST = 2_000
"""Characters of a claim: each word of one is compared with each of the other."""
MERGER = "words-1"
"""The rules of merging and their version."""


@dataclass(frozen=True)
class Original:
    """A memory that may be merged with others. Scores are millionths."""

    memory_id: str
    belief: str
    type: str
    confidence: int
    base: int
    importance: int
    visibility_scope: str
    basis: str
    grant: str
    memory: Memory
    turns: frozenset[str] = frozenset()
    """The turns that count as mentions."""
    spans: tuple[Span, ...] = ()
    """All its evidence, each span naming its turn."""

    @cached_property
    def words(self) -> Words:
        return Words.of(self.memory)

    @property
    def saying(self) -> Saying:
        memory = self.memory
        return Saying(
            type=self.type,
            entity=memory.entity,
            attribute=memory.attribute,
            value=memory.value,
            negated=memory.negated,
            context=memory.context,
        )

    def kind(self) -> tuple[Hashable, ...]:
        """What must be the same of two memories that are merged, apart from their words; in the
        order of `_KIND`."""
        memory, resolved, words = self.memory, self.memory.resolved, self.words
        entity = canonical_entity(memory.entity) if resolved is None else resolved.entity
        return (
            entity,
            tuple(sorted(map(canonical_entity, memory.participants))),
            memory.category,
            self.grant,
            memory.session if self.visibility_scope == "session" else None,
            canonical_context(memory.context),
            (memory.negated, words.negations),
            (memory.when.start, memory.when.end, memory.when.precision),
            memory.valid_to,
            tuple(sorted(memory.fields.items())),
            words.numbers,
            words.past,
        )


_KIND = (
    "whom they are about differs",
    "who takes part differs",
    "the categories differ",
    "the grants that they stand on differ",
    "they are of different sessions alone",
    "the contexts differ",
    "one is denied",
    "the dates differ",
    "they end at different times",
    "the fields differ",
    "the numbers differ",
    "one is over",
)


def kinds(originals: Sequence[Original]) -> list[int]:
    """A number for each memory; two with different numbers cannot be rephrasings and need not be
    compared.

    Words that may stand for each other, even by way of a third, count as one here: it is a first
    sieve.
    """
    above: dict[str, str] = {}

    def top(key: str) -> str:
        while above.setdefault(key, key) != key:
            above[key] = key = above[above[key]]
        return key

    def join(keys: Iterable[str]) -> None:
        first, *others = keys
        for key in others:
            above[top(key)] = top(first)

    weightless = lexicon().light | lexicon().light_verbs
    for word in weightless:
        join(sort_of(word).keys)
    for each in originals:
        for said in each.words.content:
            join(said.keys)
    nothing = {top(word) for word in weightless}
    numbers: dict[Hashable, int] = {}
    return [
        numbers.setdefault(
            (each.kind(), *sorted(_told(each.words.content, top, nothing))), len(numbers)
        )
        for each in originals
    ]


def _told(
    content: Sequence[Word], top: Callable[[str], str], nothing: AbstractSet[str]
) -> Iterator[str]:
    for word in content:
        key = top(next(iter(word.keys)))
        if key not in nothing:
            yield key


def refusal(one: Original, other: Original, kind: MemoryType | None) -> str | None:
    """Why these two are no rephrasings of each other; None if they are."""
    if one.type != other.type:
        return "the type differs"
    said = (one.memory.claim, one.memory.value, other.memory.claim, other.memory.value)
    if max(map(len, said)) > _LONGEST:
        return "the words are too many to compare"
    values = [
        canonical_value(each.memory.value, negated=each.memory.negated, kind=kind)
        for each in (one, other)
    ]
    if one.belief == other.belief and values[0] != values[1]:
        return "they are two values of one slot"
    for mine, theirs, differs in zip(one.kind(), other.kind(), _KIND, strict=True):
        if mine != theirs:
            return differs
    if kind is not None and kind.slot is SlotRule.RELATION and _relation(one) != _relation(other):
        return "the relations differ"
    return _differ(one.words, other.words)


def _relation(original: Original) -> tuple[str, str]:
    memory, resolved = original.memory, original.memory.resolved
    far = canonical_entity(memory.value) if resolved is None else resolved.target
    stem = ".".join(canonical_attribute(memory.attribute).split(".")[:2])
    return stem, far or canonical_entity(memory.value)


def _differ(one: Words, other: Words) -> str | None:
    pairs = _matched(one.content, other.content)
    rest = (
        [word for at, word in enumerate(one.content) if at not in pairs],
        [word for at, word in enumerate(other.content) if at not in pairs.values()],
    )
    weighty = [[word for word in side if not word.light] for side in rest]
    if any(weighty) or all(rest):
        sides = [" ".join(dict.fromkeys(word.text for word in side)) or "nothing" for side in rest]
        dated = any(not word.keys.isdisjoint(lexicon().dates) for side in rest for word in side)
        return f"{'the dates' if dated else 'the words'} differ: {sides[0]} and {sides[1]}"
    for mine, theirs in ((one, other), (other, one)):
        for word in mine.value:
            if not word.light and not any(
                word.like(each) for each in (*theirs.content, *theirs.value)
            ):
                return f"the values differ: {word.text} is in one alone"
    for at, there in pairs.items():
        if one.content[at].past != other.content[there].past:
            return f"one is over: {one.content[at].text} and {other.content[there].text}"
    if _order(one.names, other.names) != _order(other.names, one.names):
        return "who does what to whom differs"
    if (one.directed or other.directed) and list(pairs.values()) != sorted(pairs.values()):
        return "the order of the words differs"
    return None


def _matched(one: Sequence[Word], other: Sequence[Word]) -> dict[int, int]:
    """Pairs of matching words, by index. Each is used once; equal words are paired before similar
    ones."""
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for exact in (True, False):
        for at, word in enumerate(one):
            if at in pairs:
                continue
            for there, each in enumerate(other):
                if there not in taken and (word.text == each.text if exact else word.like(each)):
                    pairs[at] = there
                    taken.add(there)
                    break
    return dict(sorted(pairs.items()))


def _order(
    names: Sequence[tuple[str, bool]], others: Sequence[tuple[str, bool]]
) -> list[tuple[str, bool]]:
    shared = {name for name, _ in others}
    return [name for name in dict.fromkeys(names) if name[0] in shared]


# What they become


@dataclass(frozen=True)
class Merged:
    """The memory that originals are merged into, without its ids."""

    leader: Original
    memory: Memory
    confidence: int
    base: int
    importance: int
    visibility_scope: str
    turns: tuple[str, ...]


def merged(
    originals: Sequence[Original], scopes: Sequence[str], wording: str | None = None
) -> Merged:
    """One memory of these, the leader first: the most confident one's words (or this wording), the
    evidence of all, and the least trust that any of them had.

    `scopes` are those of the policy, the narrowest first. It began when the first of them did and
    ends when the first of them does.
    """
    leader = originals[0]
    first = min(originals, key=lambda each: each.memory.valid_from).memory
    ends = [each.memory.expires_at for each in originals if each.memory.expires_at is not None]
    known = {each.visibility_scope for each in originals}
    memory = leader.memory.model_copy(
        update={
            "claim": wording or leader.memory.claim,
            "valid_from": first.valid_from,
            "said_at_stated": leader.memory.said_at_stated and first.said_at_stated,
            "expires_at": min(ends, default=None),
            "spans": tuple(dict.fromkeys(span for each in originals for span in each.spans)),
        }
    )
    return Merged(
        leader,
        memory,
        min(each.confidence for each in originals),
        min(each.base for each in originals),
        max(each.importance for each in originals),
        next((scope for scope in scopes if scope in known), leader.visibility_scope),
        tuple(sorted(frozenset().union(*(each.turns for each in originals)))),
    )


def unfaithful(wording: str, originals: Sequence[Original]) -> str | None:
    """How a wording differs in meaning from the leader's words; None if it does not."""
    leader = originals[0].words
    taken = Words.of(originals[0].memory.model_copy(update={"claim": wording}))
    if taken.negations != leader.negations:
        return "it denies what they do not, or the other way round"
    if taken.numbers != leader.numbers:
        return "the numbers differ"
    if taken.past != leader.past:
        return "it is over where they are not, or the other way round"
    return _differ(taken, leader)
