"""The tool that changes the core finds what it should, and tells who notices."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from mutants import KINDS, mutants, sample

HERE = Path(__file__).parent

SOURCE = b'''\
"""A docstring, which is left alone."""
from typing import Literal

Mode = Literal["a", "b"]
LIMIT: int = 3


@cached(maxsize=8)
def first(values: list[int], most: int | None = None) -> str:
    """Left alone, too."""
    if not values or len(values) >= LIMIT:
        raise TooMany("There are too many.", 7)
    note("said to people")
    for each in sorted(values)[1:]:
        if each is None and most != 0:
            continue
        total = max(each, 2) + 1
    return f"{total} found" if total else "none"
'''


def changes(source=SOURCE):
    return {(each.line, each.kind, each.now) for each in mutants("a.py", source)}


@pytest.mark.parametrize(
    ("line", "kind", "now"),
    [
        (5, "constant", "LIMIT: int = 4"),
        (5, "constant", "LIMIT: int = 2"),
        (9, "constant", "def first(values: list[int], most: int | None = 1) -> str:"),
        (11, "operator", "if values or len(values) >= LIMIT:"),
        (11, "operator", "if not values and len(values) >= LIMIT:"),
        (11, "operator", "if not values or len(values) > LIMIT:"),
        (11, "condition", "if True:"),
        (11, "condition", "if False:"),
        (12, "statement", "pass"),
        (12, "constant", 'raise TooMany("There are too many.", 8)'),
        (13, "statement", "pass"),
        (14, "statement", "for each in sorted(values, reverse=True)[1:]:"),
        (14, "statement", "for each in sorted(values)[:]:"),
        (15, "operator", "if each is not None and most != 0:"),
        (15, "operator", "if each is None or most != 0:"),
        (15, "operator", "if each is None and most == 0:"),
        (16, "statement", "pass"),
        (17, "operator", "total = min(each, 2) + 1"),
        (17, "operator", "total = max(each, 2) - 1"),
        (18, "statement", "return None"),
        (18, "constant", 'return f"XX{total} found" if total else "none"'),
        (18, "condition", 'return f"{total} found" if False else "none"'),
    ],
)
def test_a_change_is_found(line, kind, now):
    assert (line, kind, now) in changes()


def test_what_says_nothing_to_a_program_is_left_alone():
    lines = {line for line, _, _ in changes()}
    assert lines.isdisjoint({1, 2, 4, 8, 10})
    assert not [now for _, _, now in changes() if "XXThere" in now or "XXsaid" in now]
    assert not [now for _, _, now in changes() if "is 1" in now]  # None, compared by identity


def test_a_sample_is_the_same_by_its_seed_and_has_as_much_of_each():
    sources = {"a.py": SOURCE, "b.py": SOURCE, "small.py": b"A = 1\n"}
    drawn = sample(sources, 18, 5)
    assert drawn == sample(sources, 18, 5)
    assert drawn != sample(sources, 18, 6)
    assert [len(each) for each in drawn.values()] == [8, 8, 2]
    assert {each.kind for each in drawn["a.py"]} == set(KINDS)
    assert len(sample({"small.py": b"A = 1\n"}, 9, 1)["small.py"]) == 2


def tried(*names):
    """Prints what becomes of mutants of `gate/confidence.py`, by the lines they change."""
    script = f"""
import mutate, mutants
mutate.prepare()
path = "gate/confidence.py"
found = mutants.mutants(path, (mutate.ROOT / path).read_bytes())
chosen = [each for each in found if (each.was, each.now) in {names!r}]
for mutant, how in mutate.tried(path, chosen, 1):
    print(how, mutant.now)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=HERE, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_what_tests_notice_is_killed_and_what_nobody_can_notice_survives():
    noticed = ("if c <= high:", "if True:")
    same = yaml.safe_load((HERE / "equivalents.yaml").read_text())["gate/confidence.py"][0]
    assert sorted(tried(noticed, (same["was"], same["now"]))) == [
        "killed if True:", f"survived {same['now']}",
    ]  # fmt: skip


def test_every_equivalent_is_still_a_mutant_and_has_a_reason():
    """One whose line has changed is to be looked at again."""
    for path, listed in yaml.safe_load((HERE / "equivalents.yaml").read_text()).items():
        found = {
            (each.was, each.now) for each in mutants(path, (HERE.parents[1] / path).read_bytes())
        }
        for each in listed:
            assert (each["was"], each["now"]) in found, each
            assert len(each["reason"]) > 10, each
