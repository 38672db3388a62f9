"""How long it takes to find the rephrasings among many memories of one subject, type and topic."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from beliefledger.curation.consolidation import Mergeable, clustered
from beliefledger.gate import claim_words
from beliefledger.gate.registry import default_types
from beliefledger.gate.rephrasings import Original
from beliefledger.ledger.memory import Memory
from beliefledger.projections.embedding import MiniLM
from beliefledger.tools.bench.measure import Measured, Run, Target

if TYPE_CHECKING:
    from beliefledger.projections.embedding import Vectors

_VERBS = (("likes", "enjoys"), ("bought", "purchased"), ("wants", "wishes"), ("hates", "detests"))
_WHOM = ("small", "old", "green", "quiet", "fast", "Italian", "wooden", "used", "cheap", "digital")
_WHAT = (
    "bikes films trains novels lamps chairs boats guitars phones gardens soups jackets maps games"
    " clocks ovens tents cameras desks shoes"
).split()
_WHERE = ("at home", "in Porto", "at work", "in the mountains", "by the sea", "in Berlin")
_SEED = 19


def clustering(run: Run) -> Iterator[Measured]:
    """Clusters with the rules, the vectors given; embedding apart. Every fourth is a rephrasing;
    and the worst case, where all sound alike and nothing merges."""
    count = run.sizes.rephrased
    model = MiniLM()
    run.tell("loading the model")
    model.embed(["User likes tea"])
    varied = _varied(count)
    run.tell(f"embedding {count:,} memories")
    begun = perf_counter()
    vectors = model.embed(varied)
    embedding = perf_counter() - begun
    alike = [f"User's plan number {number} is to read the report" for number in range(count)]
    for name, claims, given in (
        ("varied", varied, vectors),
        ("all of them near", alike, _near(count, model.dimension)),
    ):
        taken, groups, apart = [], 0, 0
        for _ in run.rounds(f"clustering {name}"):
            standing = _standing(claims)  # anew, so that each round reads the words anew
            claim_words.forget()
            begun = perf_counter()
            groups, apart = _clustered(standing, given)
            taken.append(perf_counter() - begun)
        yield Measured(
            f"clustering of 10,000 memories, {name}",
            "s",
            taken,
            Target("≤", 5),
            note=f"{count:,} vectors given; {groups:,} groups, {apart:,} pairs kept apart",
        )
    yield Measured(
        "embedding of 10,000 memories",
        "s",
        [embedding],
        note=f"{count:,} memories, {count / embedding:,.0f} a second, on the processor",
    )


def _near(count: int, dimension: int) -> Vectors:
    """Vectors of which any two have a cosine of about .9."""
    scattered = np.random.default_rng(_SEED).normal(0, 1, (count, dimension)).astype(np.float32)
    scattered += 3
    unit: Vectors = scattered / np.linalg.norm(scattered, axis=1, keepdims=True)
    return unit


def _clustered(standing: Sequence[Mergeable], vectors: Vectors) -> tuple[int, int]:
    kind = next(each for each in default_types() if each.name == "preference")
    found, apart = clustered(standing, vectors, kind, None)
    return len(found), len(apart)


def _varied(count: int) -> list[str]:
    """Claims of which every fourth says the one before it in other words."""
    chosen = random.Random(_SEED)
    claims: list[str] = []
    again = ""
    for number in range(count):
        if number % 4 == 3:
            claims.append(again)
            continue
        verb, other = chosen.choice(_VERBS)
        rest = f"{chosen.choice(_WHOM)} {chosen.choice(_WHAT)} {chosen.choice(_WHERE)}"
        claims.append(f"User {verb} {rest}")
        again = f"User {other} {rest}"
    return claims


def _standing(claims: Sequence[str]) -> list[Mergeable]:
    return [
        Mergeable(
            "subject",
            number,
            Original(
                memory_id=f"{number:032x}",
                belief=f"{number:032x}",
                type="preference",
                confidence=800_000,
                base=800_000,
                importance=500_000,
                visibility_scope="subject",
                basis="consent",
                grant="grant",
                memory=Memory(
                    claim=claim,
                    attribute=f"part.{number}",
                    value=claim.removeprefix("User "),
                    said_at=number,
                    said_at_stated=False,
                    valid_from=number,
                    turn=f"{number:032x}",
                    spans=(),
                ),
            ),
        )
        for number, claim in enumerate(claims)
    ]
