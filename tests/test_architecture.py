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

import beliefledger
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


def module_name(path):
    """The dotted name that a source is imported by."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] in PACKAGES[1:]:  # by the link to it
        parts = ("beliefledger", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_names(path):
    """Whatever a source imports, at any depth: at its top, in functions, under TYPE_CHECKING."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path.parent)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, node.module or ""] if node.level else [node.module])
            yield from (f"{base.rstrip('.')}.{each.name}" for each in node.names)


def imports_between(paths):
    """For each module, the others among these that it imports."""
    modules = {module_name(path): path for path in paths}

    def module(name):
        while name and name not in modules:
            name = name.rpartition(".")[0]  # `from package import name` of what is no module
        return name

    found = {name: {module(each) for each in imported_names(modules[name])} for name in modules}
    return {name: sorted(others - {name, ""}) for name, others in found.items()}


def find_cycle(imports):
    """The modules of one import cycle, the first named again at the end; None without any."""
    finished = set()
    for start in imports:
        path, open_ones = [start], [iter(imports[start])]
        while path:
            following = next((each for each in open_ones[-1] if each not in finished), None)
            if following is None:
                finished.add(path.pop())
                open_ones.pop()
            elif following in path:
                return [*path[path.index(following) :], following]
            else:
                path.append(following)
                open_ones.append(iter(imports[following]))
    return None


def test_no_modules_import_each_other_in_a_circle():
    """Imports inside functions and under TYPE_CHECKING count: they hide a cycle, no more."""
    imports = imports_between(SOURCES)
    assert imports["beliefledger.memory"], "what is imported is not found"
    imports["beliefledger"] = []  # the front page imports each name when it is used
    cycle = find_cycle(imports)
    assert cycle is None, " -> ".join(cycle)


def test_a_cycle_is_found_however_it_is_hidden(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    sources = {
        "house/__init__.py": "from . import attic",
        "house/attic.py": "def look():\n    from house import cellar",
        "house/cellar.py": "if TYPE_CHECKING:\n    from .garden.shed import Spade",
        "house/garden/__init__.py": "",
        "house/garden/shed.py": "import house.attic",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    imports = imports_between([tmp_path / name for name in sources])
    cycle = ["house.attic", "house.cellar", "house.garden.shed", "house.attic"]
    assert find_cycle(imports) == cycle
    assert find_cycle(imports | {"house.garden.shed": []}) is None


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


def test_files_stay_short_but_for_those_with_a_reason():
    """Longer than 500 lines are those that ADR 35 names."""
    long = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if len(path.read_text("utf-8").splitlines()) > 500
    }
    assert long == {"beliefledger/memory.py", "tools/verifier.py"}


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
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_symlink():
            target.symlink_to((ROOT / name).readlink())
        elif (ROOT / name).is_file():
            target.write_bytes((ROOT / name).read_bytes())
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", copy / "dist"],
        cwd=copy,
        capture_output=True,
        check=True,
    )
    [built] = (copy / "dist").glob("*.whl")
    return built


OTHERS = ("tools", "ledger", "gate", "projections", "tests")
"""Packages that a project may well have, in the directory in which it uses ours."""


def test_the_built_wheel_works_in_a_project_with_packages_of_the_same_names(wheel, tmp_path):
    installed, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    for name in OTHERS:
        (elsewhere / name).mkdir(parents=True)
        (elsewhere / name / "__init__.py").write_text("raise ImportError('the wrong package')")
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

    top = {path.name for path in installed.iterdir() if path.name != "bin"}
    assert top == {"beliefledger", f"beliefledger-{beliefledger.__version__}.dist-info"}
    inside = [path for path in installed.rglob("*") if path.is_symlink()]
    assert not inside, "the wheel holds real files"
    names = "beliefledger, beliefledger.gate, beliefledger.ledger, beliefledger.tools.cli"
    where = run("-c", f"import {names}; print(beliefledger.__file__, beliefledger.open_memory)")
    assert str(installed) in where
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
    assert not (installed / "beliefledger" / "tools" / "bench").exists()


LOADED = """
import sys
import {module}
ours = [name for name in sys.modules if name.partition(".")[0] in {{"beliefledger", *{others}}}]
print(*sorted(ours))
"""


def loaded(module):
    """Which modules of ours an import of this one brings along."""
    ran = subprocess.run(
        [sys.executable, "-c", LOADED.format(module=module, others=OTHERS)],
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.split()


def test_the_front_page_loads_nothing_before_it_is_used():
    assert loaded("beliefledger") == ["beliefledger"]


def test_the_stand_alone_verifier_loads_nothing_else_of_ours():
    parents = ["beliefledger", "beliefledger.tools"]
    assert loaded("beliefledger.tools.verifier") == [*parents, "beliefledger.tools.verifier"]


def test_each_public_name_is_where_the_front_page_says():
    assert set(beliefledger.__all__) == set(beliefledger._HOME)
    for name in beliefledger.__all__:
        assert getattr(beliefledger, name).__module__ == f"beliefledger.{beliefledger._HOME[name]}"
    assert set(beliefledger.__all__) <= set(dir(beliefledger))
    with pytest.raises(AttributeError, match="no attribute 'forget'"):
        _ = beliefledger.forget


def test_the_tests_that_begin_first_are_there():
    """tests/longest.txt would else be right about nothing, and nobody would notice."""
    for line in (ROOT / "tests" / "longest.txt").read_text("utf-8").splitlines():
        file, _, name = line.partition("::")
        assert f"def {name}(" in (ROOT / "tests" / file).read_text("utf-8"), line
