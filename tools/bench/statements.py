"""Whether statements as a model writes them are let through, and none that says more.

The pairs are in tests/data/claims. Each statement is put as a model's answer, read as such, and
held to its words by the gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beliefledger.gate.checks import claim_within_spans
from beliefledger.gate.claim_excess import literal
from beliefledger.gate.claims import CHECK, claim_within
from beliefledger.gate.model.noticed import Quote, Statement
from beliefledger.gate.model.reading import Sight, candidates
from beliefledger.ledger.data_files import parsed
from beliefledger.tools.bench.measure import Measured, Run, Target

PAIRS = Path(__file__).resolve().parents[2] / "tests" / "data" / "claims"
_SAID_AT = 1_772_442_000_000_000
WRITTEN, QUOTED, REFUSED = "as written", "as a quotation", "refused"


@dataclass(frozen=True, slots=True)
class Said:
    """A turn, as far as a model's answer is read beside it."""

    content: str
    role: str = "user"
    turn_id: str = "t"
    said_at: int = _SAID_AT


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one statement."""

    kind: str
    said: str
    claim: str
    became: str


def verdicts(half: str) -> tuple[list[Verdict], list[Verdict]]:
    """Of a half's statements that the words bear out, and of those that say more."""
    read: dict[str, list[dict[str, Any]]] = parsed((PAIRS / f"{half}.yaml").read_bytes())
    return [_verdict(each) for each in read["within"]], [_verdict(each) for each in read["more"]]


def _verdict(pair: Mapping[str, Any]) -> Verdict:
    said = Statement(
        claim=pair["claim"],
        quotes=[Quote(words=pair["said"])],
        type="fact",
        entity=pair.get("entity", "User"),
        attribute="told.thing",
        value=pair["value"],
        negated=pair.get("negated", False),
        importance=0.5,
        confidence=0.9,
    )
    [found] = candidates([said], Sight(Said(pair["said"])))
    found = found.model_copy(update={"check": CHECK})
    if not (claim_within(found) and claim_within_spans(found)):
        became = REFUSED
    else:
        became = QUOTED if found.claim == literal(found.entity, found.spans) else WRITTEN
    return Verdict(pair["kind"], pair["said"], pair["claim"], became)


def statements(run: Run) -> Iterator[Measured]:
    """The halves that were asked for."""
    for half in run.halves:
        within, more = verdicts(half)
        for each in (*(e for e in within if e.became == REFUSED), *more):
            if each in within or each.became == WRITTEN:
                run.fail(f"{half}: {each.kind}: {each.said!r} → {each.claim!r}: {each.became}")
        counted = Counter(each.became for each in within)
        yield Measured(
            f"statements as a model writes them, {half}: let through",
            "share",
            [1 - counted[REFUSED] / len(within)],
            Target("≥", 0.95),
            note=f"{len(within)}: {', '.join(f'{n} {name}' for name, n in counted.most_common())}",
        )
        counted = Counter(each.became for each in more)
        yield Measured(
            f"statements that say more than their words, {half}: let through",
            "share",
            [counted[WRITTEN] / len(more)],
            Target("≤", 0.02),
            note=f"{len(more)}: {', '.join(f'{n} {name}' for name, n in counted.most_common())}",
        )
