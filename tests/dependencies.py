"""docs/dependencies.md: `python tests/dependencies.py` writes it.

Names and extras are those of pyproject.toml; licences and sizes those of what is installed. What a
dependency is for and what was weighed instead is written by hand, in docs/dependencies.yaml.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "dependencies.md"
WORDS = ROOT / "docs" / "dependencies.yaml"
INNER = {"test", "all"}
"""Extras that have no row: what only the tests need, and the sum of the others."""
BEGINNING = """# Dependencies

What is installed with beliefledger, and why. `python tests/dependencies.py` writes this page; the
columns *for* and *weighed instead* are written by hand in [dependencies.yaml](dependencies.yaml).

- **alone** is the size of the package itself in MB; **saved** is what would go with it: it, and
  packages that nothing else brings.
- Sizes are of Linux on x86-64 with Python 3.11, without compiled files; a test holds them to a
  fifth or .5 MB.
- What serves one door alone is an extra. A command that lacks one ends with the line that installs
  it.
- The tests need more ([pyproject.toml](../pyproject.toml)), among it one GPL package as an oracle,
  which the program never imports.

"""
_SHORT = {
    "Apache Software License": "Apache-2.0",
    "MIT License": "MIT",
    "BSD License": "BSD-3-Clause",
    "Python Software Foundation License": "PSF-2.0",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.1-or-later",
}


@cache
def declared() -> dict[str, list[Requirement]]:
    """The dependencies: of the core, under "", and of each extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    return {
        extra: [each for each in map(Requirement, given) if each.name != "beliefledger"]
        for extra, given in groups.items()
        if extra not in INNER
    }


def brought(requirements: list[Requirement]) -> set[str]:
    """All packages that these bring, themselves included."""
    found: set[tuple[str, str]] = set()
    todo = [(each, extra) for each in requirements for extra in ("", *each.extras)]
    while todo:
        each, extra = todo.pop()
        key = canonicalize_name(each.name), extra
        if key in found:
            continue
        needs = _needs(each.name, extra)
        if needs is None:
            continue  # of another platform
        found.add(key)
        for need in needs:
            todo += [(need, inner) for inner in ("", *need.extras)]
    return {name for name, _ in found}


@cache
def _needs(name: str, extra: str) -> list[Requirement] | None:
    """What a package asks for with one of its extras; none where it is not installed."""
    try:
        needs = distribution(name).requires or []
    except PackageNotFoundError:
        return None
    return [
        each
        for each in map(Requirement, needs)
        if each.marker is None or each.marker.evaluate({"extra": extra})
    ]


@cache
def megabytes(name: str) -> float:
    """The size of a package's files, without what Python compiles of them."""
    total = 0
    for file in distribution(name).files or ():
        path = Path(str(file.locate()))
        if path.suffix != ".pyc" and path.is_file():
            total += path.stat().st_size
    return total / 1e6


def licence(name: str) -> str:
    """By its metadata: the expression, else the classifiers, else the word."""
    told = distribution(name).metadata
    if told["License-Expression"]:
        return str(told["License-Expression"])
    marks = [each.rpartition(" :: ")[2] for each in told.get_all("Classifier") or ()]
    known = [_SHORT.get(each, each) for each in marks if each.endswith("License") or "LGPL" in each]
    return " AND ".join(known) or str(told["License"] or "?")


@cache
def rows() -> list[tuple[str, ...]]:
    """Extra, name, what for, licence, size alone, size saved, what was weighed instead."""
    words = yaml.safe_load(WORDS.read_text("utf-8"))
    made = []
    for extra, given in declared().items():
        among = declared()[""] + (given if extra else [])
        for each in given:
            name = canonicalize_name(each.name)
            rest = [other for other in among if canonicalize_name(other.name) != name]
            saved = brought(among) - brought(rest)
            told = words[name]
            made.append((
                extra, each.name, told["for"], licence(each.name),
                size(megabytes(each.name)), size(sum(map(megabytes, saved))), told["weighed"],
            ))  # fmt: skip
    return made


def size(number: float) -> str:
    return f"{number:.1f}" if number < 10 else f"{number:.0f}"


HEAVY = 5.0
"""Megabytes from which a package is named."""


def heaviest(core: set[str]) -> str:
    """What weighs most, by name."""
    ranked = sorted(core, key=lambda name: -megabytes(name))
    return " · ".join(
        f"{canonicalize_name(name)} {size(megabytes(name))}"
        for name in ranked
        if megabytes(name) >= HEAVY
    )


def page() -> str:
    core = brought(declared()[""])
    text = BEGINNING + f"The core is {len(core)} packages and {sum(map(megabytes, core)):.0f} MB.\n"
    text += f"What weighs, in MB: {heaviest(core)}. All of it is imported by the core.\n"
    head = "| package | for | licence | alone | saved | weighed instead |\n"
    head += "|---|---|---|---|---|---|\n"
    made = rows()
    for extra in declared():
        text += f"\n## {f'`beliefledger[{extra}]`' if extra else 'The core'}\n\n{head}"
        for at, *cells in made:
            if at == extra:
                text += f"| {' | '.join(cells)} |\n"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
