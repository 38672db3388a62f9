"""Measures how the cost of our patterns and functions grows, in processes with a limit of CPU time.

Prints a line of JSON for each that grows faster than the text it reads, or that was still at it
when its time was over: what, which run, and how fast. What the list of `known.py` has is not
measured again, unless `--all` is said.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import found
import known
from counting import Counter
from growth import Run, growth
from kinds import unlike
from runs import EVERYBODYS, own

SECONDS = 3.0
"""CPU seconds for one run of one case, of which it takes milliseconds."""
SECONDS_OF_SAMPLES = 0.75
"""The same for the samples, which stay far below it or far above."""
BATCH = 32


class Case(NamedTuple):
    """Something that reads a text, and the texts that it reads."""

    name: str
    read: Callable[[str], object]
    runs: Sequence[Run]
    thorough: bool = False


def of_pattern(pattern: re.Pattern[str], site: object, methods: frozenset[str]) -> Case:
    """Uses a pattern as it is used."""

    def read(text: str) -> None:
        if not methods <= {"match", "fullmatch"}:
            deque(pattern.finditer(text), 0)
        if "match" in methods:
            pattern.match(text)
        if "fullmatch" in methods:
            pattern.fullmatch(text)

    runs = unlike(pattern, (*EVERYBODYS, *own(pattern)))
    return Case(f"{site} {pattern.pattern[:60]!r}", read, runs)


def confirmed(cases: Sequence[Case], limit: float) -> Iterator[dict[str, str]]:
    """What grows too fast when it is measured a second time, too, alone."""
    by_name = {case.name: case for case in cases}
    for told in list(measured(cases, limit)):
        yield from measured([by_name[told["case"]]], limit)


def measured(cases: Sequence[Case], limit: float) -> Iterator[dict[str, str]]:
    """What grows too fast, batch after batch; a batch that hangs is gone on with after the case
    that hung."""
    at = 0
    while at < len(cases):
        batch = cases[at : at + BATCH]
        done, found, at_work = _forked(batch, limit)
        yield from found
        if done < len(batch):
            yield {"case": batch[done].name, "run": at_work, "growth": "it did not end"}
            done += 1
        at += done


def _forked(cases: Sequence[Case], limit: float) -> tuple[int, list[dict[str, str]], str]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            with os.fdopen(writer, "w", buffering=1) as out:
                _measure(cases, limit, lambda told: print(json.dumps(told), file=out))
            os._exit(0)
        except BaseException:  # noqa: BLE001  (a forked child must end here)
            traceback.print_exc()
            os._exit(1)
    os.close(writer)
    done, found, at_work = 0, [], ""
    with os.fdopen(reader) as lines:
        for line in lines:
            told = json.loads(line)
            if "done" in told:
                done += 1
            elif "at" in told:
                at_work = told["at"]
            else:
                found.append(told)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(f"A batch failed at {cases[min(done, len(cases) - 1)].name}.")
    return done, found, at_work


def _measure(cases: Sequence[Case], limit: float, tell: Callable[[dict[str, str]], None]) -> None:
    counter = Counter()
    for case in cases:
        for run in case.runs:
            tell({"at": repr(run)})
            signal.setitimer(signal.ITIMER_PROF, limit)  # its signal ends the process
            grows = growth(counter, case.read, run, thorough=case.thorough)
            if grows is not None:
                tell({"case": case.name, "run": repr(run)[:300], "growth": grows})
                break
        tell({"done": case.name})


Counted = dict[str, object]


def _patterns(listed: frozenset[str]) -> tuple[list[Case], Counted]:
    watch = found.Watch()
    found.import_all()
    import functions

    functions.exercise()
    every = {(each[0], each[2]): each for each in found.patterns(watch)}
    digests = {known.of_pattern(pattern, used): (pattern, used) for pattern, used in every}
    cases = [of_pattern(*every[each]) for at, each in digests.items() if at not in listed]
    counted = {"patterns": len(every), "unseen": [str(site) for site in found.unseen(watch)]}
    return cases, counted | {"digests": list(digests)}


def _functions(listed: frozenset[str], share: str, of: str) -> tuple[list[Case], Counted]:
    import functions

    cases = {
        known.of_function(case.name, functions.READERS[case.name]): case
        for case in functions.cases(int(share), int(of))
    }
    new = [case for at, case in cases.items() if at not in listed]
    return new, {"functions": len(cases), "digests": list(cases)}


def _samples(listed: frozenset[str]) -> tuple[list[Case], Counted]:
    """What must be found, and between it what must not."""

    def loop(text: str) -> list[str]:
        return [text[:at] for at in range(0, len(text), 4) if text[:at].count("é") > at]

    patterns = {
        "linear": r"(?<![.!?])[.!?]++(?=\s)",
        "quadratic after a line of dots": r"[.!?]+[\"']*(?=\s)",
        "quadratic between its own words": r"\bso\s*,?\s*that\b",
        "exponential": r"(?:\w+\s?)*;",
    }
    made = {name: re.compile(words) for name, words in patterns.items()}
    digests = {known.of_pattern(each, found.ALL_WAYS): name for name, each in made.items()}
    cases = [
        of_pattern(made[name], name, found.ALL_WAYS)._replace(name=name)
        for at, name in digests.items()
        if at not in listed
    ]
    cases.append(Case("a quadratic loop", loop, EVERYBODYS))
    cases.append(Case("a linear loop", str.split, EVERYBODYS, thorough=True))
    return cases, {"samples": len(cases), "digests": list(digests)}


def main() -> None:
    gc.disable()  # how much it looks through depends on what else there is
    said = argparse.ArgumentParser()
    said.add_argument("what", choices=("patterns", "functions", "samples"))
    said.add_argument("share", nargs="*")
    said.add_argument("--all", action="store_true")
    said.add_argument("--known", type=Path, default=known.LIST)
    asked = said.parse_args()
    listed: frozenset[str] = frozenset() if asked.all else known.read(asked.known)
    every = {"patterns": _patterns, "functions": _functions, "samples": _samples}
    cases, counted = every[asked.what](listed, *asked.share)
    for told in confirmed(cases, SECONDS_OF_SAMPLES if asked.what == "samples" else SECONDS):
        sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.write(json.dumps(counted | {"measured": len(cases)}) + "\n")


if __name__ == "__main__":
    main()
