"""Reading the JSON of a person's export: of its lines, those that an import needs.

`export person` writes each element of a list on a line of its own, so that a file need not fit into
memory. One that was formatted anew is read at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from beliefledger.exports.person import (
    FORMAT,
    Exported,
    ExportedConsent,
    ExportedMemory,
    ExportedTurn,
    ExportedVersion,
    Person,
    PersonDocument,
)
from beliefledger.ledger.candidate import Precision
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidTurn
from beliefledger.ledger.times import from_datetime
from beliefledger.times import LATEST, YEARS

_SINGLE = ("format", "exported", "person")
_LISTS = ("turns", "consents", "memories")
SAID = frozenset({"conversation", "imported"})
"""The channels of what somebody said; a stored memory brings a turn of its own."""

M = TypeVar("M", bound=BaseModel)


@dataclass(slots=True)
class ExportFile:
    """What an import needs of an export."""

    exported: Exported
    person: Person
    grants: list[ExportedConsent]
    """Those in force when it was made."""
    versions: list[ExportedVersion]
    """Those that were on record as true of some time when it was made."""
    turns: list[ExportedTurn]
    """What was said, as far as its words are left."""


class _Part(NamedTuple):
    """A value of the document, or with a number an element of one of its lists."""

    name: str
    number: int | None
    value: Any


class _OtherLines(Exception):
    """The file does not have the lines that an export has."""


def read_export(exported: Mapping[str, Any] | str | bytes | Path) -> ExportFile:
    """Read an export: its JSON, what that says, or the file that has it. Raises `InvalidTurn`
    saying what is wrong."""
    if isinstance(exported, Path):
        with exported.open("rb") as file:
            try:
                return _collected(_of_lines(file))
            except _OtherLines:
                file.seek(0)
                exported = file.read()
    if isinstance(exported, str | bytes):
        try:
            exported = orjson.loads(exported)
        except orjson.JSONDecodeError as problem:
            raise InvalidTurn(f"The export is not JSON, or not whole: {problem}.") from problem
    if not isinstance(exported, Mapping):
        raise InvalidTurn("The export is not a JSON object.")
    return _collected(_of_mapping(exported))


def _collected(parts: Iterable[_Part]) -> ExportFile:
    single: dict[str, BaseModel] = {}
    grants: list[ExportedConsent] = []
    versions: list[ExportedVersion] = []
    turns: list[ExportedTurn] = []
    for name, number, value in parts:
        if name == "format" and value != FORMAT:
            raise InvalidTurn(
                f"The export has the format {value!r}, and this beliefledger reads {FORMAT!r}:"
                " give what `beliefledger export person` wrote, as JSON."
            )
        if name == "consents":
            grant = _valid(ExportedConsent, value, f"{name}[{number}]")
            grants += [grant] if grant.in_force else []
        elif name == "turns":
            turn = _valid(ExportedTurn, value, f"{name}[{number}]")
            turns += [turn] if turn.content and turn.channel in SAID else []
        elif name == "memories":
            memory = _valid(ExportedMemory, value, f"{name}[{number}]")
            for at, each in enumerate(memory.versions):
                _check(each, f"{name}[{number}].versions[{at}]")
            versions += [each for each in memory.versions if each.recorded_to is None]
        elif name != "format":
            single[name] = _valid(Exported if name == "exported" else Person, value, name)
    head, person = single["exported"], single["person"]
    assert isinstance(head, Exported)
    assert isinstance(person, Person)
    return ExportFile(head, person, grants, versions, turns)


def _of_mapping(document: Mapping[str, Any]) -> Iterator[_Part]:
    for name in _SINGLE:
        yield _Part(name, None, document.get(name))
    for name in _LISTS:
        found = document.get(name)
        if not isinstance(found, list):
            raise InvalidTurn(f"The export has no list {name!r}.")
        for number, each in enumerate(found):
            yield _Part(name, number, each)


def _of_lines(file: BinaryIO) -> Iterator[_Part]:
    """The parts of a file, a line at a time. Raises `_OtherLines` where it has others."""
    seen: set[str] = set()
    within, number, last = None, 0, b""
    for line in file:
        last = line.strip()
        if within is not None:
            if last in {b"]", b"],"}:
                within = None
            elif within in _LISTS:
                yield _Part(within, number, _parsed(last))
                number += 1
        elif last not in {b"{", b"}"}:
            key, _, value = last.partition(b": ")
            name = _parsed(key)
            if not isinstance(name, str):
                raise _OtherLines
            seen.add(name)
            if value == b"[":
                within, number = name, 0
            elif name in _SINGLE:
                yield _Part(name, None, _parsed(value))
    if last != b"}" or seen != PersonDocument.model_fields.keys():
        raise _OtherLines


def _parsed(line: bytes) -> Any:
    try:
        return orjson.loads(line.removesuffix(b","))
    except orjson.JSONDecodeError as problem:
        raise _OtherLines from problem


def _valid(kind: type[M], value: Any, where: str) -> M:
    try:
        read = kind.model_validate_json(orjson.dumps(value))
    except ValidationError as problem:
        first = problem.errors(include_input=False)[0]
        at = ".".join(map(str, (where, *first["loc"])))
        raise InvalidTurn(
            f"The export does not have its fields: {at}: {first['msg']}."
        ) from problem
    _check_times(read, where)
    return read


def _check_times(read: BaseModel, where: str) -> None:
    for name in type(read).model_fields:
        moment = getattr(read, name)
        if isinstance(moment, datetime) and abs(from_datetime(moment)) >= LATEST:
            raise _wrong(f"{where}.{name}", moment.isoformat(), YEARS)


def _check(version: ExportedVersion, where: str) -> None:
    """Raises `InvalidTurn` for what no memory has: found before anything is written."""
    for name in ("confidence", "importance"):
        value = getattr(version, name)
        if not 0 <= value <= 1:
            raise _wrong(f"{where}.{name}", value, "it must be from 0 to 1")
    for name in ("text", "attribute", "value"):
        if not getattr(version, name):
            raise _wrong(f"{where}.{name}", "", "it must not be empty")
    if version.event_precision not in list(Precision):
        there_are = f"there are: {', '.join(Precision)}"
        raise _wrong(f"{where}.event_precision", version.event_precision, there_are)
    _check_times(version, where)
    for number, each in enumerate(version.evidence):
        _check_times(each, f"{where}.evidence[{number}]")
        if not 0 <= each.start <= each.end:
            at = f"{where}.evidence[{number}]"
            raise _wrong(at, (each.start, each.end), "it must go from a start to an end")


def _wrong(where: str, value: object, why: str) -> InvalidTurn:
    return InvalidTurn(f"The export does not have its fields: {where} is {value!r}; {why}.")
