"""The document about one person as text: as JSON, a line for each thing, while it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

from beliefledger.exports.person import FORMAT, PersonDocument
from beliefledger.exports.record import PersonRecord


def parts(record: PersonRecord) -> dict[str, Callable[[], Iterable[Any]]]:
    """The lists of the document in their order; each is read when it is asked for."""
    return {
        "turns": record.turns,
        "memories": record.memories,
        "decisions": record.decisions,
        "consents": record.consents,
        "withdrawals": record.withdrawals,
        "recalls": record.recalls,
        "told": record.told,
        "holds": record.holds,
        "erasures": record.erasures,
        "exports": record.exports,
        "record": record.record,
        "withheld": record.withheld,
    }


def json_text(record: PersonRecord) -> Iterator[str]:
    """The document in pieces: each element of a list is on a line of its own."""
    yield f'{{\n"format": "{FORMAT}",\n'
    yield f'"exported": {_json(record.exported)},\n'
    yield f'"person": {_json(record.person())},\n'
    for name, read in parts(record).items():
        yield f'"{name}": ['
        before = "\n"
        for each in read():
            yield f"{before}{_json(each)}"
            before = ",\n"
        yield "],\n" if before == "\n" else "\n],\n"
    yield f'"counts": {_json(record.counts())}\n}}\n'


def whole(record: PersonRecord) -> PersonDocument:
    """The document at once: of somebody of whom there is much it is large."""
    lists: dict[str, Any] = {name: tuple(read()) for name, read in parts(record).items()}
    person, counts = record.person(), record.counts()
    return PersonDocument(exported=record.exported, person=person, counts=counts, **lists)


def _json(value: Any) -> str:
    plain = value.model_dump(mode="json") if hasattr(value, "model_dump") else value
    return orjson.dumps(plain).decode()
