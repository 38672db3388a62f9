"""`python -m beliefledger.tools.bench.scoring --extractor claude`: score a model on our samples.

Every sentence and script of a half goes through the front door with that extractor; the figures
are those of `quality`, with what the gate refused and why, and what it cost. This asks a service
and may cost money: nothing else of the benches does.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from beliefledger.ledger.errors import LedgerError
from beliefledger.memory import MemoryLedger
from beliefledger.tools.bench.__main__ import show
from beliefledger.tools.bench.backends import own_environment
from beliefledger.tools.bench.measure import Measured
from beliefledger.tools.bench.quality import (
    SCRIPTS,
    SENTENCES,
    Outcome,
    Reading,
    figures,
    heard,
    played,
    scripts_of,
    sentences_of,
)

HALVES = ("tune", "test")
_TRIES = 3
_COMPLETED, _FAILED, _DECIDED = (
    "extraction.completed.v1",
    "extraction.failed.v1",
    "gate.decided.v2",
)


@dataclass
class Spent:
    """What a model was asked and what came of it."""

    turns: int = 0
    statements: int = 0
    fallen: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    micro_usd: int | None = 0
    skipped: Counter[str] = field(default_factory=Counter)
    decided: Counter[str] = field(default_factory=Counter)


class ModelReading(Reading):
    """The turns are read by a model, of an extractor that is named."""

    def __init__(self, extractor: str, model: str | None, base_url: str | None) -> None:
        self.spent = Spent()
        self._extractor, self._model, self._base_url = extractor, model, base_url
        self._after: dict[str, int] = {}

    def decide(self, memory: MemoryLedger) -> None:
        """A turn that cannot be read is tried again, and then left: it counts as not noticed."""
        extraction = memory.operations.extraction
        extraction.use_model(self._model, self._base_url, extractor=self._extractor)
        for _try in range(_TRIES):
            if not extraction.extract().pending:
                break
        self._count(memory)

    def _count(self, memory: MemoryLedger) -> None:
        spent = self.spent
        place = str(memory.status(digests=False).ledger)
        after = self._after.get(place, 0)
        for each in memory.subscribe(after, types=[_COMPLETED, _FAILED, _DECIDED], follow=False):
            self._after[place] = each.position
            facts = each.facts
            if each.type == _FAILED:
                spent.failed += 1
            elif each.type == _DECIDED:
                spent.decided[f"{facts['outcome']}: {facts['reason']}"] += 1
            else:
                spent.turns += 1
                spent.statements += facts["candidates"]
                spent.fallen += facts.get("fallen", 0)
                spent.input_tokens += facts["input_tokens"]
                spent.output_tokens += facts["output_tokens"]
                cost = facts["cost_micro_usd"]
                known = spent.micro_usd is not None and cost is not None
                spent.micro_usd = spent.micro_usd + cost if known else None
                if facts["skipped"]:
                    spent.skipped[facts["skipped"]] += 1


def scored(
    directory: Path, half: str, sample: int | None, reading: ModelReading
) -> Iterator[Measured]:
    """The figures of a half, of its first sentences and scripts where a sample is asked for."""
    sentences = sentences_of(SENTENCES / f"{half}.yaml")[:sample]
    scripts = scripts_of(SCRIPTS / f"{half}.yaml")[
        : None if sample is None else max(sample // 5, 1)
    ]
    kept, dropped = heard(directory / "sentences", sentences, reading)
    ended = played(directory / "scripts", scripts, reading)
    yield from figures(half, kept, dropped, ended)
    yield from _spent(reading.spent)
    for each in _wrong((*kept, *dropped, *ended)):
        print(each)


def _wrong(outcomes: Sequence[Outcome]) -> Iterator[str]:
    return (str(each) for each in outcomes if each.wrong is not None)


def _spent(spent: Spent) -> Iterator[Measured]:
    def counted(counts: Counter[str]) -> str:
        return "; ".join(f"{n} {name}" for name, n in counts.most_common())

    yield Measured("turns read", "turns", [spent.turns], note=counted(spent.skipped))
    yield Measured(
        "statements noticed", "statements", [spent.statements], note=counted(spent.decided)
    )
    yield Measured("statements that fell, malformed", "statements", [spent.fallen])
    yield Measured("tries that failed", "tries", [spent.failed])
    yield Measured("tokens read", "tokens", [spent.input_tokens])
    yield Measured("tokens written", "tokens", [spent.output_tokens])
    if spent.micro_usd is None:
        yield Measured("cost", "dollars", note="unknown: the model's price is not in prices.yaml")
    else:
        yield Measured("cost", "dollars", [spent.micro_usd / 1e6])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m beliefledger.tools.bench.scoring", description=__doc__
    )
    parser.add_argument("--extractor", default="claude", help="who asks the model")
    parser.add_argument("--model", help="which model; else the extractor's own")
    parser.add_argument("--base-url", metavar="URL", help="where it is served; else by its vendor")
    parser.add_argument("--half", choices=HALVES, default="tune", help="of the sample sets")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="the first N sentences, and a fifth as many scripts"
    )
    given = parser.parse_args(arguments)
    if given.sample is not None and given.sample < 1:
        parser.error("--sample has to be 1 or more")
    reading = ModelReading(given.extractor, given.model, given.base_url)
    with tempfile.TemporaryDirectory(prefix="scoring-") as directory:
        own_environment(Path(directory))
        try:
            show(list(scored(Path(directory), given.half, given.sample, reading)))
        except LedgerError as problem:
            print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
