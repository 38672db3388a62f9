"""The reference: every public name is in it with a docstring, and in an example that is run."""

from __future__ import annotations

import re
from functools import cache

import docsite
import griffe
import reference
import test_readme

_LINE = re.compile(r"^(?:>>>|\.\.\.) (.*)$", re.M)
_IMPORT = re.compile(r"^\s*from [\w.]+ import (?:\([^)]*\)|[^\n]*)", re.M)
_COMMENT = re.compile(r"  # .*$", re.M)
_FILE = re.compile(r"^```python\n(# \w+\.py\n.*?)^```", re.M | re.S)


@cache
def _names() -> dict[str, griffe.Object]:
    """Not when the file is collected: each process of a run would read all of our code."""
    return dict(reference.names())


def _shown() -> str:
    """All Python that is run as an example: sessions on pages and in docstrings, and the files that
    pages have. A name that is only imported, or stands in a comment, is not shown."""
    lines = []
    for page in (*test_readme.SESSIONS, *test_readme.RUN_THERE):
        lines += _LINE.findall((docsite.ROOT / page).read_text("utf-8"))
    for thing in _names().values():
        lines += _LINE.findall(reference.documented(thing))
    for page in docsite.ROOT.glob("docs/**/*.md"):
        lines += _FILE.findall(page.read_text("utf-8"))
    return _COMMENT.sub("", _IMPORT.sub("", "\n".join(lines)))


def _is_shown(name: str, code: str) -> bool:
    owner, _, verb = name.rpartition(".")
    if not owner and name not in reference.parts():
        return re.search(rf"\b{name}\b", code) is not None
    if name in reference.parts() or owner in reference.parts():
        return re.search(rf"\.{re.escape(name)}\b", code) is not None
    if owner == "MemoryLedger":
        return re.search(rf"\b(?:memory|failing)\.{verb}\(", code) is not None
    return re.search(rf"\.{verb}\(", code) is not None or f"def {verb}(" in code


def test_a_public_name_has_a_docstring():
    assert len(_names()) > 250
    assert not [each.path for each in _names().values() if not reference.documented(each)]


def test_what_is_returned_has_docstrings():
    values = {name: reference.documented(each) for name, each in reference.values().items()}
    assert not [name for name, said in values.items() if not said]


def test_every_public_name_is_in_an_example():
    code = _shown()
    missing = {name for name in _names() if not _is_shown(name, code)}
    assert not missing, "show it on a page or in its docstring"
    assert not _is_shown("policy.no_such_verb", code)
    assert not _is_shown("NoSuchName", code)


def test_every_public_name_is_on_its_page():
    pages = reference.pages()
    for name in _names():
        text = pages[reference.page_of(name)]
        assert re.search(rf"^#+ (?:memory\.)?{re.escape(name)}$", text, re.M), name
        shown = f"memory.{name}" if name.partition(".")[0] in reference.parts() else name
        assert f"[`{shown}`]" in pages["index.md"], name


def test_a_signature_tells_types_and_defaults():
    text = reference.pages()["ledger.md"]
    [shown] = re.findall(r"### MemoryLedger\.record_turn\n\n```python\n(.*?)```", text, re.S)
    assert "    subject: str,\n    content: str,\n    *,\n    role: str = 'user',\n" in shown
    assert shown.endswith(") -> TurnReceipt\n")


def test_errors_come_after_what_they_are_kinds_of():
    headings = re.findall(r"^## (\w+)$", reference.pages()["errors.md"], re.M)
    assert headings[0] == "LedgerError"
    assert headings.index("Retryable") < headings.index("VersionConflict")
    assert headings.index("CallerMistake") < headings.index("InvalidTurn")


def test_a_session_in_a_docstring_is_code():
    text = reference.pages()["ledger.md"]
    assert "```python\n>>> import tempfile\n>>> with open_memory(" in text
