"""Whatever reads text from outside takes time that grows as the text does.

Nothing here names a pattern: all that our packages compile are found, wherever they are kept. The
measuring is done in processes with a limit, since `re` cannot be interrupted. What was measured
before as it is now is not measured again: see `known.py`.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from beliefledger.gate import speech

sys.path.insert(0, str(Path(__file__).parent))

import found
import known

STEADY = {
    "PYTHONMALLOC": "malloc",
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
    "MALLOC_TRIM_THRESHOLD_": str(2**30),
    "BELIEFLEDGER_EMBEDDER": "hashed-1",
}
"""Memory is kept once it was had: to ask the kernel for it again costs more than most patterns."""
HERE = Path(__file__).parent


def measured(what: str, *how: object) -> list[dict[str, Any]]:
    """What `child.py` finds among the patterns, the functions, or the samples of the test."""
    done = subprocess.run(
        [sys.executable, HERE / "child.py", *what.split(), *map(str, how)],
        capture_output=True,
        text=True,
        check=False,
        cwd=HERE.parents[1],
        env=os.environ | STEADY,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.timeout(1500)
def test_the_cost_of_every_pattern_grows_as_the_text():
    *grown, counted = measured("patterns")
    assert grown == []
    assert counted["patterns"] > 700
    assert counted["unseen"] == [], "use them once in functions.exercise"


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("share", range(2))
def test_the_cost_of_every_function_grows_as_the_text(share):
    *grown, counted = measured(f"functions {share} 2")
    assert grown == []
    assert counted["functions"] >= 10


@pytest.fixture(scope="module")
def samples():
    return measured("samples", "--all")


def test_what_grows_too_fast_is_found_and_named(samples):
    *grown, counted = samples
    assert [each["case"] for each in grown] == [
        "quadratic after a line of dots",
        "quadratic between its own words",
        "exponential",
        "a quadratic loop",
    ]
    assert grown[2]["growth"] == "it did not end"
    assert counted["samples"] == 6


def test_what_is_listed_is_not_measured_again_and_what_is_not_listed_is(tmp_path, samples):
    assert samples[-1]["measured"] == 6
    linear, _dots, between, exponential = samples[-1]["digests"]
    listed = tmp_path / "known.txt"
    known.write([linear, between, exponential], listed)
    *grown, counted = measured("samples", "--known", listed)
    assert [each["case"] for each in grown] == [
        "quadratic after a line of dots",
        "a quadratic loop",
    ]
    assert counted["measured"] == 3
    assert known.read(tmp_path / "missing.txt") == frozenset()


def test_a_list_made_by_other_code_or_another_python_counts_for_nothing(tmp_path):
    listed = tmp_path / "known.txt"
    known.write(["a", "b"], listed)
    assert known.read(listed) == {"a", "b"}
    for other in ("Python 3.1,", "code 0"):
        text = known.heading().replace(other.split()[0], other, 1)
        listed.write_text(f"{text}\na\nb\n")
        assert known.read(listed) == frozenset()


def test_a_pattern_with_other_flags_or_used_otherwise_is_another():
    made = [re.compile("a+"), re.compile("a+", re.I), re.compile("a*")]
    ways = [frozenset({"match"}), found.ALL_WAYS]
    assert len({known.of_pattern(pattern, way) for pattern in made for way in ways}) == 6


def test_a_function_is_measured_again_when_anything_that_it_reaches_changes(monkeypatch):
    def reader(text):
        return speech.sentences(text)

    sources = known._sources()
    reached = known._closure("beliefledger.gate.speech")
    assert {"beliefledger.gate.speech", "beliefledger.gate"} < reached < set(sources)
    before = known.of_function("r", reader)
    for module in sorted(reached):
        source = sources[module]
        with monkeypatch.context() as changed:
            body = [*source.body, *ast.parse("changed = True").body]
            changed.setitem(sources, module, source._replace(body=body))
            assert known.of_function("r", reader) != before, module
    elsewhere = sources["beliefledger.tools.demo"]
    monkeypatch.setitem(sources, "beliefledger.tools.demo", elsewhere._replace(body=[]))
    assert known.of_function("r", reader) == before


def test_a_pattern_in_a_module_that_nobody_told_of_is_found(tmp_path):
    (tmp_path / "gate").mkdir()
    module = tmp_path / "gate" / "fresh.py"
    module.write_text(
        "import re\n"
        "KEPT = {'in a': (re.compile(\n    'table'),)}\n"
        "def later(word):\n"
        "    return re.compile(f'never {word}')\n"
        "def inline(text):\n"
        "    return re.search('in.line', text, re.I)\n"
    )
    script = (
        f"import sys; from pathlib import Path; sys.path[:0] = [{str(HERE)!r}, {str(tmp_path)!r}]\n"
        f"import found; found.ROOT = Path({str(tmp_path)!r})\n"
        "found.PACKAGES = ('gate',); found.FRONT = 'gate'\n"
        "watch = found.Watch(); found.import_all()\n"
        "print(sorted((each.pattern, site.line) for each, site, _ in found.patterns(watch)))\n"
        "print([site.line for site in found.unseen(watch)])\n"
    )
    (tmp_path / "gate" / "__init__.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.splitlines() == ["[('in.line', 7), ('table', 2)]", "[5]"]
