"""docs/dependencies.md: every dependency is in it, and what it says of each is so."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from importlib.metadata import packages_distributions

import dependencies
import pytest
import yaml

from beliefledger import open_memory

TEXT = dependencies.PAGE.read_text("utf-8")


def _rows(text):
    found = {}
    extra = ""
    for line in text.splitlines():
        if heading := re.match(r"## (?:`beliefledger\[(\w+)\]`|The core)", line):
            extra = heading[1] or ""
        elif line.startswith("| ") and not line.startswith("| package"):
            name, *cells = (cell.strip() for cell in line.strip("|").split(" | "))
            found[extra, name] = cells
    return found


def test_the_page_is_up_to_date():
    """`python tests/dependencies.py` writes it."""
    written, now = _rows(TEXT), _rows(dependencies.page())
    assert list(written) == list(now)
    for name, cells in now.items():
        words, sizes = [0, 1, 4], [2, 3]
        assert [written[name][at] for at in words] == [cells[at] for at in words], name
        for at in sizes:
            assert float(written[name][at]) == pytest.approx(float(cells[at]), rel=0.2, abs=0.5)


def test_the_total_is_so():
    [told] = re.findall(r"^The core is ([0-9]+) packages and ([0-9]+) MB\.$", TEXT, re.M)
    core = dependencies.brought(dependencies.declared()[""])
    assert int(told[0]) == pytest.approx(len(core), abs=2)
    assert int(told[1]) == pytest.approx(sum(map(dependencies.megabytes, core)), rel=0.1)


def test_the_core_imports_all_that_it_asks_for():
    """What only a server, a bench or an extra imports would have to be an extra."""
    imported = set()
    for top in ("ledger", "gate", "projections", "beliefledger", "tools"):
        for file in (dependencies.ROOT / top).rglob("*.py"):
            if not {"server", "bench"} & set(file.relative_to(dependencies.ROOT).parts):
                for each in ast.walk(ast.parse(file.read_text("utf-8"))):
                    if isinstance(each, ast.Import):
                        imported |= {name.name.partition(".")[0] for name in each.names}
                    elif isinstance(each, ast.ImportFrom) and not each.level:
                        imported.add((each.module or "").partition(".")[0])
    brought = packages_distributions()
    used = {
        dependencies.canonicalize_name(name) for each in imported for name in brought.get(each, ())
    }
    asked = {dependencies.canonicalize_name(each.name) for each in dependencies.declared()[""]}
    assert asked - used == set()
    [told] = re.findall(r"^What weighs, in MB: (.+)\. All of it", TEXT, re.M)
    assert [each.split()[0] for each in told.split(" · ")][:2] == ["faiss-cpu", "numpy"]


def test_nothing_is_told_of_what_is_not_there():
    words = yaml.safe_load(dependencies.WORDS.read_text("utf-8"))
    there = {
        dependencies.canonicalize_name(each.name)
        for given in dependencies.declared().values()
        for each in given
    }
    assert set(words) == there
    assert all(told["for"] and told["weighed"] for told in words.values())


def test_no_licence_forbids_what_ours_allows():
    for extra, _name, _for, licence, *_ in dependencies.rows():
        assert not re.search(r"(?<![A-Z])A?GPL", licence), (extra, licence)


def test_what_serves_one_door_alone_is_an_extra():
    core = dependencies.brought(dependencies.declared()[""])
    assert not {"starlette", "uvicorn", "torch", "openai", "matplotlib", "zensical"} & core


_PLAIN = """
import json, os, sys
class Plain:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, *given):
        here = name.partition(".")[0] not in blocked
        return self.finder.find_spec(name, *given) if here else None
blocked, commands = json.loads(sys.stdin.read())
sys.meta_path[:] = map(Plain, sys.meta_path)
from typer.testing import CliRunner
from beliefledger.tools.cli import app
from beliefledger.tools.cli.needed_commands import needed
for words in commands:
    needed(words)
    os.environ["BELIEFLEDGER_EXTRACTOR"] = "openai" if words[0] == "remember" else "rules"
    done = CliRunner().invoke(app, words)
    print(json.dumps([done.exit_code, " ".join(done.output.split())]))
"""
DOORS = {
    ("serve",): "server",
    ("mcp",): "server",
    ("proof", "witness", "show", "--store", "none"): "server",
    ("relay", "nats"): "nats",
    ("vectors", "build", "--model", "all-minilm-l6-v2"): "embeddings",
    ("vectors", "build", "--model", "someones-model"): "embeddings",
    ("vectors", "migrate", "--model", "all-minilm-l6-v2", "--by", "lea"): "embeddings",
    ("remember", "--subject", "ana", "I live in Porto."): "openai",
}


def test_a_door_without_its_extra_says_which_line_installs_it(tmp_path, monkeypatch):
    """In a process that finds the core's packages alone, as after a plain install."""
    core = dependencies.brought(dependencies.declared()[""]) | {"beliefledger"}
    blocked = [
        top
        for top, names in packages_distributions().items()
        if not core & {dependencies.canonicalize_name(name) for name in names}
    ]
    assert {"uvicorn", "mcp", "nats", "openai"} <= set(blocked)
    monkeypatch.setenv("BELIEFLEDGER_LEDGER", str(tmp_path / "ledger"))
    open_memory(tmp_path / "ledger").close()
    ran = subprocess.run(
        [sys.executable, "-c", _PLAIN],
        input=json.dumps([blocked, list(DOORS)]),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    for (words, extra), line in zip(DOORS.items(), ran.stdout.splitlines(), strict=True):
        code, told = json.loads(line)
        assert code == 3, words
        assert f"pip install 'beliefledger[{extra}]'" in told, words
        assert "Traceback" not in told
