"""Changes the core modules at random and looks whether their tests notice.

    mutate.py [--seed 1] [--number 200] [--only gate/decide.py …] [--jobs 2]

A sample of small changes ("mutants", see mutants.py) is drawn by the seed, as many of each module,
and the tests of the module run against each. A mutant is killed when a test fails, or when the
tests do not end in time. Ends with 1 when less than 90 % are killed. Mutants that change nothing
anybody could notice are listed with their reason in equivalents.yaml and do not count.

It forks: a parent imports the packages of others and what of ours does not rest on the module; each
child imports the rest, with the module changed. mutmut and cosmic-ray do more work for each mutant,
and draw no sample by a seed.
"""

# ruff: noqa: T201  it is a program

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import importlib.machinery
import importlib.util
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import types
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import grimp
import pytest
import yaml
from hypothesis import settings
from mutants import Mutant, sample

ROOT = Path(__file__).parents[2]
LIMIT = 60
"""Seconds of CPU time for the tests of one mutant, at most: one that takes ten seconds, and five
times as long as without any change, goes round in circles. On the wall, twenty seconds and four
times as long: one that stands still uses no CPU."""
MEMORY = 2 << 30
"""Bytes that the tests of one mutant may fill."""
LEAST = 90
"""Percent of the mutants that have to be killed."""
OTHERS = (
    "anthropic", "cryptography.hazmat.primitives.asymmetric.ed25519",
    "cryptography.hazmat.primitives.ciphers.aead", "dateparser", "eventsourcing.persistence",
    "eventsourcing.sqlite", "eventsourcing.postgres", "faiss", "httpx2", "nicknames", "numpy",
    "openai", "orjson", "psycopg", "psycopg_pool", "pydantic", "pymerkle", "rich.console",
    "rich.table", "sqlalchemy", "sqlalchemy.dialects.sqlite",
    "sqlalchemy.dialects.postgresql.psycopg", "starlette.applications", "starlette.testclient",
    "Stemmer", "typer", "typer.testing", "uvicorn",
)  # fmt: skip
"""Packages of others that are worth importing once."""

_GATE = "tests/unit/gate/test_"
_VIEWS = "tests/unit/projections/test_"
_LEDGER = "tests/unit/ledger/test_"
TESTS: dict[str, tuple[str, ...]] = {
    "gate/decide.py": (f"{_GATE}decisions.py", f"{_GATE}decide.py", f"{_GATE}typed.py"),
    "gate/checks.py": (f"{_GATE}decisions.py", f"{_GATE}decide.py", f"{_GATE}typed.py"),
    "gate/conflicts.py": (f"{_GATE}decisions.py", f"{_GATE}decide.py", f"{_GATE}typed.py"),
    "gate/belief.py": (f"{_GATE}belief.py", f"{_GATE}decisions.py", f"{_GATE}tombstones.py"),
    "gate/consent.py": (f"{_GATE}consent.py", f"{_GATE}decisions.py", f"{_GATE}tombstones.py"),
    "gate/confidence.py": (f"{_GATE}confidence.py", f"{_GATE}decisions.py"),
    "gate/slots.py": (
        f"{_GATE}slots.py", f"{_GATE}decide.py", f"{_GATE}registry.py", f"{_GATE}typed.py",
        "tests/golden/test_golden.py",
    ),
    "gate/claims.py": (f"{_GATE}claims.py", f"{_GATE}decide.py", f"{_GATE}model.py"),
    "projections/intervals.py": (f"{_VIEWS}intervals.py",),
    "projections/beliefs.py": (f"{_VIEWS}beliefs.py",),
    "projections/decay.py": (f"{_VIEWS}decay.py",),
    "projections/ranking.py": (f"{_VIEWS}ranking.py",),
    "projections/lexical.py": (f"{_VIEWS}lexical.py", f"{_VIEWS}index.py"),
    "ledger/proofs/merkle.py": (f"{_LEDGER}merkle.py", f"{_LEDGER}tiles.py"),
    "ledger/proofs/notes.py": (f"{_LEDGER}notes.py",),
    "ledger/codec.py": (f"{_LEDGER}codec.py", f"{_LEDGER}log.py", "tests/golden/test_golden.py"),
    "ledger/consumer.py": (f"{_LEDGER}consumer_races.py", f"{_LEDGER}consumer.py"),
    "ledger/sqlite/store.py": (
        f"{_LEDGER}sqlite_store.py", "tests/contract/test_store.py", f"{_LEDGER}append_only.py",
        "tests/contract/test_upstream_sqlite.py", "tests/contract/test_cursors.py",
        f"{_LEDGER}log.py", "tests/fault/test_clock.py",
    ),
    "ledger/sqlite/appender.py": (
        f"{_LEDGER}sqlite_store.py", "tests/contract/test_store.py", f"{_LEDGER}append_only.py",
        "tests/contract/test_upstream_sqlite.py", "tests/contract/test_cursors.py",
        f"{_LEDGER}log.py", "tests/fault/test_clock.py",
    ),
    "ledger/sqlite/database.py": (
        f"{_LEDGER}sqlite_store.py", "tests/contract/test_store.py", f"{_LEDGER}append_only.py",
        "tests/contract/test_upstream_sqlite.py", "tests/contract/test_cursors.py",
        f"{_LEDGER}log.py", "tests/fault/test_clock.py",
    ),
    "ledger/redact.py": (f"{_LEDGER}redact_tables.py", f"{_LEDGER}redact.py"),
    "ledger/secret_values.py": (f"{_LEDGER}redact_tables.py", f"{_LEDGER}redact.py"),
    "ledger/seeds.py": (f"{_LEDGER}seeds.py",),
    "ledger/lookalikes.py": (f"{_LEDGER}lookalikes.py", f"{_LEDGER}redact_tables.py"),
    "tools/verifier.py": (
        "tests/unit/test_verifier_parts.py", "tests/acceptance/test_certificate_told.py",
        "tests/acceptance/test_verifier.py", "tests/acceptance/test_certificate.py",
    ),
}  # fmt: skip
"""The tests beside each module, the quick ones first. Those on Postgres are left out."""

_NEVER_IMPORTED = 70


class Failed(Exception):
    """Mutating cannot begin."""


class _Changed(importlib.machinery.SourceFileLoader):
    """Loads a module from a text that is not on the disk."""

    loaded = False

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> types.CodeType:
        self.loaded = True
        return compile(self._source, self.path, "exec", dont_inherit=True)


class _Finder:
    """Found before all others for one name."""

    def __init__(self, path: str, source: bytes) -> None:
        self._name = _name(path)
        self.loader = _Changed(self._name, str(ROOT / path), source)

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, self.loader.path, loader=self.loader)


def _run(path: str, source: bytes, directory: Path, limit: int) -> int:
    """In a child: the tests with the module changed. Gives the exit code."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    finder = _Finder(path, source)
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    code = pytest.main(
        [
            *TESTS[path], "-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist",
            f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml"),
            f"--basetemp={directory / 'tmp'}", "-k", "not postgres",
            "-W", "ignore::pytest.PytestAssertRewriteWarning",  # hypothesis is imported already
        ]
    )  # fmt: skip
    (directory / "loaded").write_text("\n".join(sys.modules))
    return int(code) if finder.loader.loaded or code else _NEVER_IMPORTED


class Runner:
    """Runs the tests of mutants of one module in children, so many at a time."""

    def __init__(self, path: str, jobs: int) -> None:
        self._path = path
        self._jobs = jobs
        self._source = (ROOT / path).read_bytes()
        self._limit = LIMIT
        self._patience = 3.0 * LIMIT
        self._running: dict[int, tuple[Mutant | None, Path, float]] = {}

    def run(self, drawn: Sequence[Mutant]) -> Iterator[tuple[Mutant, str]]:
        """Each mutant with what became of it: killed, survived, timed out."""
        waiting = list(drawn)
        while waiting or self._running:
            while waiting and len(self._running) < self._jobs:
                mutant = waiting.pop(0)
                self._start(mutant.applied(self._source), mutant)
            mutant, code, _, _ = self._wait()
            assert mutant is not None
            how = "survived" if code == 0 else "timed out" if code == -signal.SIGXCPU else "killed"
            yield mutant, how

    def prepare(self) -> None:
        """Looks whether the tests pass as the module is, and imports what they import of ours, but
        for what imports the module."""
        begun = time.monotonic()
        self._start(self._source, None)
        _, code, said, loaded = self._wait()
        if code == _NEVER_IMPORTED:
            raise Failed(f"The tests of {self._path} never import it.")
        if code:
            raise Failed(f"The tests of {self._path} fail before anything is changed:\n{said}")
        self._patience = 20 + 4 * (time.monotonic() - begun)
        took = resource.getrusage(resource.RUSAGE_CHILDREN)
        self._limit = min(LIMIT, 10 + round(5 * (took.ru_utime + took.ru_stime)))
        graph = grimp.build_graph(
            "beliefledger", cache_dir=None, exclude_type_checking_imports=True
        )
        target = _name(self._path)
        changed: set[str] = set()
        more = {target}
        while more:  # whoever imports a module imports the packages that it lies in
            changed |= more
            more = {each for name in more for each in graph.find_downstream_modules(name)}
            more |= {each for name in more for each in graph.find_descendants(name)}
            more -= changed
        for name in sorted((graph.modules & set(loaded)) - changed):
            importlib.import_module(name)
        assert target not in sys.modules
        gc.freeze()

    def _start(self, source: bytes, mutant: Mutant | None) -> None:
        directory = Path(tempfile.mkdtemp(prefix="mutant-"))
        pid = os.fork()
        if pid:
            self._running[pid] = (mutant, directory, time.monotonic() + self._patience)
            return
        code = 1
        try:
            os.setpgid(0, 0)
            out = os.open(directory / "out", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            os.dup2(out, 1)
            os.dup2(out, 2)
            code = _run(self._path, source, directory, self._limit)
        except BaseException:  # noqa: BLE001  the child ends here whatever happens
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _wait(self) -> tuple[Mutant | None, int, str, list[str]]:
        """The next child that ends: its mutant, its exit code, what its tests said, and which
        modules they imported."""
        while True:
            for pid, (mutant, directory, until) in self._running.items():
                late = time.monotonic() > until
                if late:
                    os.killpg(pid, signal.SIGKILL)
                ended, status = os.waitpid(pid, 0 if late else os.WNOHANG)
                if not ended:
                    continue
                del self._running[pid]
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)  # what its tests may have left running
                code = -signal.SIGXCPU if late else os.waitstatus_to_exitcode(status)
                loaded = directory / "loaded"
                names = loaded.read_text().splitlines() if loaded.exists() else []
                said = (directory / "out").read_text(errors="replace")
                shutil.rmtree(directory, ignore_errors=True)
                return mutant, code, said, names
            time.sleep(0.02)


def _name(path: str) -> str:
    inside = path.removesuffix(".py").removeprefix("beliefledger/").replace("/", ".")
    return f"beliefledger.{inside}"


def tried(path: str, drawn: Sequence[Mutant], jobs: int) -> list[tuple[Mutant, str]]:
    """What became of each mutant of one module, in a process of its own that imports what it may.

    Raises `Failed` when the tests do not pass as the module is.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            runner = Runner(path, jobs)
            try:
                runner.prepare()
                found: object = list(runner.run(drawn))
            except Failed as failed:
                found = str(failed)
            with os.fdopen(write, "wb") as pipe:
                pickle.dump(found, pipe)
        except BaseException:  # noqa: BLE001  the child ends here whatever happens
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    told = pickle.loads(said) if said else f"The mutants of {path} could not be tried."
    if isinstance(told, str):
        raise Failed(told)
    return told


def equivalents() -> dict[tuple[str, str, str], str]:
    """The reason by module, lines before, lines after."""
    told = yaml.safe_load(Path(__file__).with_name("equivalents.yaml").read_text())
    return {
        (module, each["was"], each["now"]): each["reason"]
        for module, listed in told.items()
        for each in listed
    }


def prepare() -> None:
    """What is done once, before the first fork."""
    sys.dont_write_bytecode = False
    for name in OTHERS:
        importlib.import_module(name)
    settings.register_profile("mutants", derandomize=True, database=None, deadline=None)
    settings.load_profile("mutants")
    os.chdir(ROOT)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--only", nargs="+", default=list(TESTS), metavar="MODULE", choices=TESTS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args(arguments)
    prepare()
    known = equivalents()
    sources = {path: (ROOT / path).read_bytes() for path in asked.only}
    drawn = sample(sources, asked.number, asked.seed)
    started = time.monotonic()
    total: Counter[str] = Counter()
    survivors: list[Mutant] = []
    print(f"{asked.number} mutants by seed {asked.seed}\n")
    print(f"{'module':<28}{'killed':>8}{'timed out':>11}{'survived':>10}{'equivalent':>12}{'s':>7}")
    for path in asked.only:
        counts: Counter[str] = Counter()
        begun = time.monotonic()
        meant = [each for each in drawn[path] if (path, each.was, each.now) not in known]
        counts["equivalent"] = len(drawn[path]) - len(meant)
        try:
            results = tried(path, meant, asked.jobs)
        except Failed as failed:
            print(failed, file=sys.stderr)
            return 2
        for mutant, how in results:
            counts[how] += 1
            if how == "survived":
                survivors.append(mutant)
        total += counts
        _row(path, counts, time.monotonic() - begun)
    _row("all", total, time.monotonic() - started)
    for each in sorted(survivors, key=lambda each: (each.path, each.line)):
        print(f"\n{each.path}:{each.line}\n  - {each.was}\n  + {each.now}")
    meant_in_all = total["killed"] + total["timed out"] + total["survived"]
    killed = meant_in_all - total["survived"]
    share = 100 * killed / meant_in_all if meant_in_all else 100.0
    print(f"\n{killed} of {meant_in_all} killed: {share:.1f} %, wanted {LEAST} %.")
    return 0 if share >= LEAST else 1


def _row(name: str, counts: Counter[str], seconds: float) -> None:
    print(
        f"{name:<28}{counts['killed']:>8}{counts['timed out']:>11}{counts['survived']:>10}"
        f"{counts['equivalent']:>12}{seconds:>7.0f}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
