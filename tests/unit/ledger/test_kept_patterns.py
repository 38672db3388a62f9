"""Patterns that were kept do what those of `re` do, and what is kept is good for nothing else."""

from __future__ import annotations

import marshal
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from beliefledger.ledger import kept_patterns
from beliefledger.ledger.data_files import beside_compiled
from beliefledger.ledger.kept_patterns import KeptPatterns

CASES = [
    (r"(?P<word>b\w+) , (c)?", 0, "Ab ,  bee , c"),
    (r"(?P<word>b\w+) , (c)?", re.I | re.X, "AB,BEE,c"),
    (r"(?i)\bÉté[\u0400-\u04ff]*+", 0, "un ÉTÉж"),
    (r"(?<=a)(?>b|bc)(?!d)", re.M, "abc\nabd"),
    (r"^(?:(x)|y){2,}?$", re.M, "xy\nyyy"),
]


@pytest.fixture(autouse=True)
def writes(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(kept_patterns.atexit, "register", lambda work: work)
    monkeypatch.setattr(kept_patterns, "FEW", 0)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "there" / "kept.patterns"


def kept(file):
    """Of all cases, and what is needed of each, written by one process."""
    first = KeptPatterns(file)
    for source, flags, _ in CASES:
        first.compiled(source, flags)
        first.needs(source, flags, lambda source, flags: (source[:3], str(int(flags))))
    first.write()
    return KeptPatterns(file)


@pytest.fixture
def no_compiler(monkeypatch):
    def refuse(*_):
        raise AssertionError("it compiles")

    monkeypatch.setattr(kept_patterns, "_compiled", refuse)


@pytest.mark.parametrize(("source", "flags", "text"), CASES)
def test_what_was_kept_finds_what_the_pattern_finds(file, request, source, flags, text):
    there = kept(file)
    request.getfixturevalue("no_compiler")
    found, plain = there.compiled(source, flags), re.compile(source, flags)
    assert found == plain
    assert (found.pattern, found.flags, found.groups) == (source, plain.flags, plain.groups)
    assert dict(found.groupindex) == dict(plain.groupindex)
    told = [(each.span(), each.groups(), each.groupdict()) for each in found.finditer(text)]
    assert told == [(e.span(), e.groups(), e.groupdict()) for e in plain.finditer(text)]
    assert told
    assert there.needs(source, flags, pytest.fail) == (source[:3], str(int(flags)))


def test_a_mistake_is_told_as_by_re(file):
    with pytest.raises(re.error, match="missing \\)"):
        KeptPatterns(file).compiled("(never closed", 0)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nonsense",
        marshal.dumps(("another Python", {"compiled": {("a", 0): 1}, "needs": {}})),
        marshal.dumps(7),
        marshal.dumps((kept_patterns._MADE_BY, {"compiled": {}})),
    ],
)
def test_what_cannot_be_read_is_compiled_and_kept_anew(file, content, request):
    file.parent.mkdir()
    file.write_bytes(content)
    assert kept(file).compiled("b", 0).search("abc")
    request.getfixturevalue("no_compiler")
    assert KeptPatterns(file).compiled(*CASES[0][:2])


def test_what_others_kept_meanwhile_stays(file, request):
    one, other = KeptPatterns(file), KeptPatterns(file)
    one.compiled("a", 0)
    other.compiled("b", 0)
    one.write()
    other.write()
    request.getfixturevalue("no_compiler")
    both = KeptPatterns(file)
    assert both.compiled("a", 0).match("a")
    assert both.compiled("b", 0).match("b")


def test_of_too_many_those_go_that_were_not_used(file, monkeypatch):
    kept(file)
    monkeypatch.setattr(kept_patterns, "MOST", 3)
    last = KeptPatterns(file)
    last.compiled("new", 0)
    last.write()
    _, there = marshal.loads(file.read_bytes())
    assert set(there["compiled"]) == {("new", 0)}


def test_for_a_few_nothing_is_read_or_written(file, monkeypatch):
    monkeypatch.setattr(kept_patterns, "FEW", 2)
    there = kept(file)
    monkeypatch.setattr(KeptPatterns, "_read", pytest.fail)
    for source in "ab":
        assert there.compiled(source, 0).match(source)
    assert not there._grew


def test_nothing_is_kept_where_python_keeps_no_compiled_modules(file, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    patterns = KeptPatterns(file)
    assert patterns.compiled("a", 0).match("a")
    assert not patterns._grew
    assert not file.exists()
    monkeypatch.setattr(sys.implementation, "cache_tag", None)
    assert beside_compiled(file, ".patterns") is None


def test_where_nothing_can_be_written_it_is_compiled_again(tmp_path):
    (tmp_path / "there").write_text("a file")
    assert kept(tmp_path / "there" / "kept.patterns").compiled("a", 0).match("a")


def test_a_process_keeps_what_it_compiled_and_none_of_the_words_it_read(tmp_path):
    script = (
        "import sys, tempfile\n"
        "from pathlib import Path\n"
        "from beliefledger.ledger.kept_patterns import PATTERNS\n"
        "PATTERNS._file = Path(sys.argv[1])\n"
        "from beliefledger import open_memory\n"
        "with open_memory(sys.argv[2], consent='consent', embedder='hashed-1') as memory:\n"
        "    memory.remember('quimbold', 'I live in Zanquerport and my cat is called Vexilpaw.')\n"
        "    print(len(memory.beliefs('quimbold')))\n"
    )
    file = tmp_path / "kept.patterns"
    command = [sys.executable, "-c", script, str(file), str(tmp_path / "ledger")]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    for _ in range(2):  # the second time, with what the first kept
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
        assert int(done.stdout) > 0
        assert done.stderr == ""
    written = Path(file).read_bytes().lower()
    assert written.count(b"moved") > 0
    for word in (b"quimbold", b"zanquerport", b"vexilpaw"):
        assert word not in written
