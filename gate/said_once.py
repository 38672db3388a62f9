"""The candidates of a turn, of which no two say the same. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from beliefledger.ledger.candidate import Candidate


def each_claim_once(
    kept: Sequence[Candidate], meant: Sequence[Candidate]
) -> tuple[list[Candidate], list[Candidate]]:
    """The candidates, without those that only say again what a rule found in the same words: their
    ends go to that one, which needs no earlier turn."""
    told = list(kept)
    others: list[Candidate] = []
    for each in meant:
        at = next((at for at, one in enumerate(told) if _says_the_same(one, each)), None)
        if at is None:
            others.append(each)
        else:
            ends = dict.fromkeys((*told[at].ends, *each.ends))
            told[at] = told[at].model_copy(update={"ends": tuple(ends)})
    return told, others


def _says_the_same(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates tell one claim of one slot by the same words."""
    if one.retracts or other.retracts or not meets(one, other):
        return False
    return (one.entity, one.attribute, one.value, one.claim, one.negated) == (
        other.entity, other.attribute, other.value, other.claim, other.negated,
    )  # fmt: skip


def in_one_slot(found: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, without those that tell a claim again in a slot of no meaning of its own:
    "my budget is 400" as the user's budget and as a thing that is 400."""
    told: dict[tuple[str, str, bool], list[Candidate]] = {}
    for each in found:
        told.setdefault((each.entity, each.claim, each.negated), []).append(each)
    return [
        each
        for each in found
        if not any(
            _has_no_meaning_beside(each.attribute, one.attribute)
            for one in told[each.entity, each.claim, each.negated]
        )
    ]


def _has_no_meaning_beside(attribute: str, other: str) -> bool:
    if attribute == other:
        return False
    if attribute.startswith("thing."):
        return not other.startswith("thing.") or len(attribute) < len(other)
    # Of a count, the slot of its noun, which another count takes, too.
    return other.startswith("has.") and attribute.startswith(other)


def each_end_once(meant: Sequence[Candidate]) -> Iterator[Candidate]:
    """The candidates, of which no two end the same by the same words."""
    ended: set[tuple[object, ...]] = set()
    for each in meant:
        key = (each.entity, frozenset(each.ends), each.spans[0].start, each.spans[0].end)
        if not each.retracts or key not in ended:
            yield each
        if each.retracts:
            ended.add(key)


def meets(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates rest on the same words."""
    span = other.spans[0]
    return any(
        each.turn is None and each.start < span.end and span.start < each.end for each in one.spans
    )
