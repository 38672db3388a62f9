"""What holds the house up: imports point downwards, one place reads the environment, files stay
readable, and the built wheel works on its own."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from beliefledger.ledger.events import BY_NAME
from beliefledger.ledger.store import OwnConsumer

ROOT = Path(__file__).parent.parent
PACKAGES = ("beliefledger", "ledger", "projections", "gate", "tools")
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def test_imports_point_downwards():
    linted = subprocess.run(
        [Path(sys.executable).parent / "lint-imports"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert linted.returncode == 0, linted.stdout


def test_every_cursor_that_the_ledger_claims_has_a_reserved_name():
    claimed = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Lease.claim":
                claimed.setdefault(path.relative_to(ROOT).as_posix(), []).append(node.args[1])
    assert claimed.pop("ledger/consumer.py")  # whose names are other people's
    names = {ast.unparse(each) for found in claimed.values() for each in found}
    assert names == {f"OwnConsumer.{each.name}" for each in OwnConsumer}


def test_only_settings_reads_the_environment():
    readers = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if re.search(r"\bos\.environ\b|\bgetenv\b", path.read_text("utf-8"))
        and "bench" not in path.parts
    }
    assert readers == {"beliefledger/settings.py"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is(path):
    text = path.read_text("utf-8")
    assert text == "" or ast.get_docstring(ast.parse(text)), "a module begins with its purpose"


def test_every_event_says_when_it_happens():
    for name, event in BY_NAME.items():
        assert event.__doc__, name
        assert re.fullmatch(r"[a-z_]+\.[a-z_]+\.v[1-9][0-9]*", name)


def test_nothing_swallows_every_exception():
    """A broad catch needs its reason on the line."""
    for path in SOURCES:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if re.search(r"except( Exception| BaseException)?( as \w+)?:", line) and (
                "except:" in line or "Exception" in line
            ):
                assert "  # " in line, f"{path}:{number}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from what git knows and what would be added, away from the repository."""
    copy = tmp_path_factory.mktemp("source")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", copy / "dist"],
        cwd=copy,
        capture_output=True,
        check=True,
    )
    [built] = (copy / "dist").glob("*.whl")
    return built


def test_the_built_wheel_works_outside_the_repository(wheel, tmp_path):
    installed, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    elsewhere.mkdir()
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", installed, wheel],
        capture_output=True,
        check=True,
    )
    # The dependencies by path alone: without its .pth files, the repository is not importable.
    dependencies = next(path for path in sys.path if path.endswith("site-packages"))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(installed), dependencies]),
        "BELIEFLEDGER_LEDGER": str(elsewhere / "ledger"),
    }
    base = Path(sys.base_prefix) / "bin" / "python3"

    def run(*arguments):
        return subprocess.run(
            [base, *arguments],
            cwd=elsewhere,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    where = run("-c", "import gate, ledger, tools; print(gate.__file__, ledger.__file__)")
    assert str(ROOT) not in where
    run(
        "-m",
        "beliefledger",
        "remember",
        "--subject",
        "ana",
        "--consent",
        "consent",
        "I live in Porto.",
    )
    assert "User lives in Porto" in run("-m", "beliefledger", "beliefs", "--json")
    assert (installed / "beliefledger" / "py.typed").exists()
    assert not (installed / "tools" / "bench").exists()
