"""Whatever reads text from outside takes time that grows as the text does.

Nothing here names a pattern: all that our packages compile are found, wherever they are kept. The
measuring is done in processes with a limit, since `re` cannot be interrupted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

STEADY = {
    "PYTHONMALLOC": "malloc",
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
    "MALLOC_TRIM_THRESHOLD_": str(2**30),
    "BELIEFLEDGER_EMBEDDER": "hashed-1",
}
"""Memory is kept once it was had: to ask the kernel for it again costs more than most patterns."""
HERE = Path(__file__).parent


def measured(what: str) -> list[dict[str, str]]:
    """What `child.py` finds among the patterns, the functions, or the samples of the test."""
    done = subprocess.run(
        [sys.executable, HERE / "child.py", what],
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


def test_what_grows_too_fast_is_found_and_named():
    *grown, counted = measured("samples")
    assert [each["case"] for each in grown] == [
        "quadratic after a line of dots",
        "quadratic between its own words",
        "exponential",
        "a quadratic loop",
    ]
    assert grown[2]["growth"] == "it did not end"
    assert counted["samples"] == 6


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
