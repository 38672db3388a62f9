"""The table of tenants: where each one's ledger is, and at what address it is served.

    tenants:
      acme: postgresql://beliefledger@db1/memory
      globex:
        ledger: postgresql://beliefledger@db2/memory
        server: https://globex.memory.example.com

A directory is meant from where the file lies. The file may hold passwords: nothing here shows them.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from beliefledger.ledger import files
from beliefledger.ledger.errors import CallerMistake
from beliefledger.ledger.faults import file_fault
from beliefledger.opening.place import Place, place_of, shown
from beliefledger.settings import TENANTS

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_FORBID = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Tenant(BaseModel):
    """Where a tenant's ledger is. Shown without what is secret."""

    model_config = _FORBID

    ledger: str = Field(repr=False, min_length=1)
    server: str | None = Field(None, pattern=r"^https?://[^@\s]+$")
    """The address that its agents are given, for people to look up."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: Any) -> Any:
        return {"ledger": given} if isinstance(given, str) else given

    @field_validator("ledger")
    @classmethod
    def _check(cls, ledger: str) -> str:
        try:
            place_of(ledger)
        except CallerMistake as problem:
            raise ValueError(problem.detail) from None
        return ledger


class _File(BaseModel):
    model_config = _FORBID

    tenants: dict[Annotated[str, Field(pattern=f"^{_NAME}$")], Tenant]


class TenantTable:
    """The table in a file, read anew each time it is asked."""

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file).resolve()  # a link is followed, not replaced

    def __str__(self) -> str:
        return str(self.file)

    def all(self) -> dict[str, Tenant]:
        """Every tenant, by name. Raises `CallerMistake` that names the entry."""
        return self._parsed(self._text())

    def get(self, name: str) -> Tenant:
        """Raises `CallerMistake` for a tenant that is not in it."""
        known = self.all()
        if name not in known:
            there = ", ".join(known) or "none"
            raise CallerMistake(f"{self.file} has no tenant {name!r}; there are: {there}.")
        return known[name]

    def place(self, name: str) -> Place:
        """Where a tenant's ledger is."""
        return place_of(self.ledger(name))

    def ledger(self, name: str) -> str:
        """As `place`, as it is to be given to `open_memory`."""
        return self._absolute(self.get(name).ledger)

    def stamp(self) -> tuple[int, ...]:
        """What changes when the file does. Raises `CallerMistake`."""
        try:
            found = self.file.stat()
        except OSError as problem:
            raise self._unreadable(problem) from None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def switch(self, name: str, ledger: str) -> None:
        """Let the tenant's ledger be elsewhere, all at once: whoever reads meanwhile finds the old
        file or the new one. Everything else in it stays as it is written. For one at a time: see
        `locked`. Raises `CallerMistake` where that cannot be done."""
        text = self._text()
        before = self._parsed(text)
        node = _node(yaml.compose(text, yaml.SafeLoader), "tenants", name, "ledger")
        start, end = node.start_mark.index, node.end_mark.index
        changed = f"{text[:start]}{json.dumps(ledger)}{text[end:]}"
        expected = before | {name: before[name].model_copy(update={"ledger": ledger})}
        if self._parsed(changed) != expected:
            raise CallerMistake(
                f"{self.file}: the entry of {name} is written in a way that cannot be changed here:"
                " write its ledger as a plain string of its own."
            )
        try:
            mode = stat.S_IMODE(self.file.stat().st_mode)
            files.replace(self.file, changed, mode=mode)
        except OSError as problem:
            raise file_fault(f"{self.file} cannot be written", problem) from problem

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Alone among all who move a tenant of this table."""
        beside = self.file.with_name(f".{self.file.name}.lock")
        with ExitStack() as held:
            try:
                held.enter_context(files.locked(beside))
            except OSError as problem:
                raise file_fault(f"{beside} cannot be written", problem) from problem
            yield

    def _text(self) -> str:
        try:
            return self.file.read_text("utf-8")
        except UnicodeDecodeError:
            raise CallerMistake(f"{self.file} is no YAML.") from None
        except OSError as problem:
            raise self._unreadable(problem) from None

    def _unreadable(self, problem: OSError) -> CallerMistake:
        return CallerMistake(
            f"The table of tenants {self.file} cannot be read: {problem.strerror}. Name another one"
            f" with --tenants or {TENANTS}."
        )

    def _parsed(self, text: str) -> dict[str, Tenant]:
        try:
            read = yaml.load(text, _Once)  # noqa: S506  a safe loader that takes no name twice
        except yaml.MarkedYAMLError as problem:
            at = "" if problem.problem_mark is None else f", line {problem.problem_mark.line + 1}"
            raise CallerMistake(f"{self.file}{at} is no YAML: {problem.problem}.") from None
        except yaml.YAMLError:
            raise CallerMistake(f"{self.file} is no YAML.") from None
        if not isinstance(read, Mapping):
            raise CallerMistake(
                f"{self.file} names no tenants: write `tenants:`, and under it a line for each, as"
                " `acme: postgresql://user@host/database`."
            )
        try:
            known = _File.model_validate(read).tenants
        except ValidationError as problem:
            raise CallerMistake(f"{self.file}: {_said(problem)}") from None
        places: dict[str, str] = {}
        for name, tenant in known.items():
            where = shown(place_of(self._absolute(tenant.ledger)))
            if where in places:
                raise CallerMistake(
                    f"{self.file}: {places[where]} and {name} have one ledger: give each its own."
                )
            places[where] = name
        return known

    def _absolute(self, ledger: str) -> str:
        place = place_of(ledger)
        return str(self.file.parent / place) if isinstance(place, Path) else ledger


class TenantRoute:
    """Where one tenant's ledger is by the table, for a process that goes along with it."""

    def __init__(self, table: TenantTable, name: str) -> None:
        self.table = table
        self.name = name
        self._stamp = table.stamp()
        self.ledger = table.ledger(name)
        """Where it was when it was last looked."""

    def moved(self) -> str | None:
        """Where it is now, if the table says another place than it last did. Looking costs a `stat`
        as long as the file stays. Raises `CallerMistake` for a table that cannot be read."""
        stamp = self.table.stamp()
        if stamp == self._stamp:
            return None
        now = self.table.ledger(self.name)
        self._stamp = stamp
        before, self.ledger = self.ledger, now
        return None if now == before else now


class _Once(yaml.SafeLoader):
    """Refuses a name that stands twice: the second would silently count."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [self.construct_object(key, deep=deep) for key, _ in node.value]
        for number, (name, (key, _)) in enumerate(zip(names, node.value, strict=True)):
            if name in names[:number]:
                raise yaml.MarkedYAMLError(
                    problem=f"{name} stands in it twice", problem_mark=key.start_mark
                )
        return super().construct_mapping(node, deep=deep)


def _node(node: Any, *names: str) -> yaml.Node:
    """The node at a path of names; that of the tenant itself where it is written short."""
    for name in names:
        if isinstance(node, yaml.MappingNode):
            node = next(value for key, value in node.value if key.value == name)
    assert isinstance(node, yaml.Node)
    return node


def _said(problem: ValidationError) -> str:
    first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
    where = [str(each) for each in first["loc"]]
    said = first["msg"].removeprefix("Value error, ").rstrip(".")
    match first["type"], where:
        case "missing", ["tenants"]:
            said = "write `tenants:`, and under it a line for each"
        case "missing", ["tenants", name, *_]:
            said = f"write `ledger: postgresql://user@host/database` under {name}"
        case "extra_forbidden", ["tenants", *_]:
            said = "is not known; a tenant has: ledger, server"
        case "extra_forbidden", _:
            said = "is not known; the file has `tenants:` alone"
        case "string_pattern_mismatch", [*_, "[key]"]:
            said = "name a tenant with letters, digits, `.`, `_` and `-`"
        case "string_pattern_mismatch", _:
            said = "give an address as https://memory.example.com"
        case "dict_type", _:
            said = "write a line for each tenant, as `acme: postgresql://user@host/database`"
    return f"{'.'.join(where)}: {said}."
