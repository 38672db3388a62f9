"""Whether a sentence tells of a record that beats one which is believed: "New parkrun PB, 26:58".
Pure."""

from __future__ import annotations

import re

from beliefledger.ledger.late_patterns import compile_later

_FIGURE = compile_later(
    r"(?<![\w.:])(?:(?P<hours>\d{1,2}):)?(?P<minutes>\d{1,3}):(?P<seconds>\d\d(?:\.\d+)?)(?!\d)|"
    r"(?<![\w.:])(?P<number>\d{1,7}(?:[.,]\d{1,3})?) ?"
    r"(?P<unit>kgs?|kilos?|lbs?|pounds|minutes?|mins?|seconds?|secs?|s|h|hours?)?\b(?!:)"
)
_TIMES = frozenset("minute minutes min mins second seconds sec secs s h hour hours".split())
_WEIGHTS = frozenset("kg kgs kilo kilos lb lbs pounds".split())
_DISTANCE = compile_later(
    r"\b(?:\d{1,3}(?:\.\d)? ?(?:k|km|m|miles?|metres?|meters?)|five k|ten k)\b"
)
_DISCIPLINES = {
    "5k": compile_later(r"\b(?:5 ?km?|five k|park ?run)\b"),
    "10k": compile_later(r"\b(?:10 ?km?|ten k)\b"),
    "half": compile_later(r"\bhalf(?:[- ]marathon)?\b"),
    "marathon": compile_later(r"(?<!half )(?<!half-)\bmarathon\b"),
    "mile": compile_later(r"\bmile\b"),
    "100m": compile_later(r"\b100 ?m\b"),
    "200m": compile_later(r"\b200 ?m\b"),
    "400m": compile_later(r"\b400 ?m\b"),
    "800m": compile_later(r"\b800 ?m\b"),
    "1500m": compile_later(r"\b1500 ?m\b"),
    "2k": compile_later(r"\b2 ?k\b"),
    **{
        each: compile_later(rf"\b{each}\w*")
        for each in (
            "deadlift", "bench", "squat", "snatch", "overhead", "plank", "row", "swim", "bowl",
            "golf", "chess", "dart", "wordle", "tetris", "scrabble", "typing", "cycl", "rubik",
            "triathlon", "pull[- ]?up", "press[- ]?up", "push[- ]?up", "sudoku", "crossword",
        )
    },
}  # fmt: skip


def is_beaten(text: str, claim: str) -> bool:
    """Whether the record that a claim tells is of the same thing as that of a text, and less."""
    low, old = text.lower(), claim.lower()
    said, held = _disciplines(low), _disciplines(old)
    if said and held and said.isdisjoint(held):
        return False
    new, before = _figure(low), _figure(old)
    if new is None or before is None or new[0] != before[0]:
        return False
    least = new[0] == "time" or "golf" in said | held
    return new[1] < before[1] if least else new[1] > before[1]


def is_of_another(text: str, claim: str) -> bool:
    """Whether two records, in lower case, are of different things: a best over 5k and one over
    10k."""
    said, held = _disciplines(text), _disciplines(claim)
    return bool(said and held) and said.isdisjoint(held)


RECORD = compile_later(
    r"\b(?:pb|pr|personal best|best(?: time| score)?|record|high ?score|max|1rm|fastest)\b"
)


def old_figure(value: str) -> re.Match[str] | None:
    """Where the figure of a record stands in what is believed."""
    low = value.lower()
    distances = [each.span() for each in _DISTANCE.finditer(low)]
    for found in _FIGURE.finditer(low):
        if not any(start <= found.start() < end for start, end in distances):
            return found
    return None


def _disciplines(low: str) -> set[str]:
    return {name for name, pattern in _DISCIPLINES.items() if pattern.search(low)}


def _figure(low: str) -> tuple[str, float] | None:
    """What the figure of a record measures, and how much."""
    found = old_figure(low)
    if found is None:
        return None
    if found["minutes"] is not None:
        hours = int(found["hours"] or 0)
        return "time", (hours * 60 + int(found["minutes"])) * 60 + float(found["seconds"])
    number, unit = float(found["number"].replace(",", ".")), found["unit"] or ""
    if unit in _TIMES:
        scale = 3600 if unit[0] == "h" else 60 if unit[0] == "m" else 1
        return "time", number * scale
    return ("weight" if unit in _WEIGHTS else "score"), number
