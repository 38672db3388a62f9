"""Exports: all about one person for a request for access, all events of a ledger; and importing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from beliefledger.exports import document, page, person
from beliefledger.exports.event_lines import PAGE, EventDocuments
from beliefledger.exports.imports import ImportAnswer, Imports
from beliefledger.exports.person import Exported, PersonDocument
from beliefledger.exports.record import PersonRecord
from beliefledger.exports.withheld import WITHHOLDABLE
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.errors import InvalidQuery, LogCorrupted, NotPermitted
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.ops import LedgerExported
from beliefledger.ledger.events.subject import SubjectExported
from beliefledger.ledger.log import new_id
from beliefledger.ledger.streams import exports_stream, subject_stream
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.reading.queries import Queries


class PersonExport:
    """Everything held about one person, as it was when the export was recorded. It is read while it
    is written out, so that it need not fit into memory; each method reads it anew."""

    def __init__(self, core: Core, queries: Queries, exported: Recorded, subject: str) -> None:
        self._parts = core, queries, exported, subject
        self.exported: Exported = self._record().exported
        """The record of the export: its id, position, time, and who asked for it."""

    def json(self) -> Iterator[str]:
        """The document as JSON, in pieces: see `schema`. Raises `NotPermitted` where the person is
        erased meanwhile: throw away what was written."""
        return document.json_text(self._record())

    def html(self) -> Iterator[str]:
        """The same as a page that people read, in pieces. It has no scripts and loads nothing."""
        return page.html_text(self._record())

    def document(self) -> PersonDocument:
        """The document at once."""
        return document.whole(self._record())

    def write(self, path: Path | str) -> None:
        """Write the page to a file whose name ends in `.html`, else the JSON. Only its owner may
        read it, and there is none until it is whole."""
        path = Path(path)
        write_text(path, self.html() if path.suffix.lower() in {".html", ".htm"} else self.json())

    def _record(self) -> PersonRecord:
        return PersonRecord(*self._parts)


class Exports:
    """Hands out what the ledger holds, on record, and takes in what another one handed out."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._imports = Imports(core, queries)

    def person(
        self,
        subject: str,
        *,
        by: str,
        note: str | None = None,
        withholding: Sequence[str] = (),
    ) -> PersonExport:
        """Everything held about a person, to answer their request for access. That it is handed
        out is on record before this returns.

        `withholding` leaves out `actors` (the names of who recorded and decided) or `hold_reasons`
        (of legal holds); the document says so. Raises `UnknownMemory` for somebody nobody knows,
        `NotPermitted` for who was or is being erased, and without a name.
        """
        actor = self._named(by)
        kinds = tuple(dict.fromkeys(withholding))
        for each in kinds:
            if each not in WITHHOLDABLE:
                raise InvalidQuery(f"withholding: {each!r} is none of {', '.join(WITHHOLDABLE)}.")
        ref = self._core.known_subject(subject)
        stream = subject_stream(ref)
        self._core.recorder.flush()

        def attempt() -> Recorded:
            version = self._log.version(stream)
            if any(each.whole for each in self._log.eraser.of_subject(ref)):
                raise NotPermitted("This subject is being erased: there is nothing to export.")
            event = SubjectExported(withholding=kinds, note=note)
            return self._append(event, stream, version, ref, actor)

        return PersonExport(self._core, self._queries, self._log.decide_again(attempt), subject)

    def events(self, *, by: str, after: int = 0) -> Iterator[str]:
        """Every event of the ledger past a position as a line of JSON, bodies opened, with a
        newline. That they are handed out is on record before the first; the record is the last.

        What is erased has `destroyed: true` and no body. Raises `NotPermitted` without a name.
        """
        actor = self._named(by)
        head = self._log.head().position
        if isinstance(after, bool) or not 0 <= after <= head:
            raise InvalidQuery(f"after: position {after} is not in the log (0 to {head}).")
        self._core.recorder.flush()
        stream = exports_stream(self._log.tenant)

        def attempt() -> Recorded:
            version = self._log.version(stream)
            return self._append(LedgerExported(after=after), stream, version, None, actor)

        last = self._log.decide_again(attempt).position
        documents = EventDocuments(self._name_of, self._log.vault.principal_name)
        return documents.lines(self._log.pages(after, last, PAGE))

    def import_person(
        self,
        exported: Mapping[str, Any] | str | bytes | Path,
        *,
        by: str,
        subject: str | None = None,
        note: str | None = None,
    ) -> ImportAnswer:
        """Take over what was believed of a person in another ledger, from the JSON of its export,
        or the file that has it.

        Lawful bases in force are recorded, then each memory that held is stored and decided about
        as any other; once more, it adds nothing. `subject` is whom it is about here, by default
        the same. What cannot be carried over is in docs/exports.md. Raises `InvalidTurn` for what
        is no such export, before anything is written, and `NotPermitted` as `store` does.
        """
        return self._imports.person(exported, self._named(by), subject=subject, note=note)

    @staticmethod
    def schema() -> dict[str, Any]:
        """The JSON Schema of the document about a person."""
        return person.schema()

    def _named(self, by: str) -> str:
        if by == SYSTEM:
            raise NotPermitted("Exporting and importing need a named principal: say by=NAME.")
        return self._core.actor(by)

    def _name_of(self, subject_ref: str | None) -> str | None:
        return None if subject_ref is None else self._log.vault.real_id(subject_ref)

    def _append(
        self, event: Event, stream: str, version: int, ref: str | None, actor: str
    ) -> Recorded:
        event_id = new_id()
        self._log.append([New(event, event_id, stream, ref, actor)], {stream: version})
        recorded = self._log.find(event_id)
        if recorded is None:
            raise LogCorrupted(f"The event {event_id} that was just appended is not in the log.")
        return recorded


def write_text(path: Path, pieces: Iterable[str]) -> None:
    """Write a file that only its owner may read, and that is not there until it is whole."""
    with text_file(path) as file:
        file.writelines(pieces)


@contextmanager
def text_file(path: Path) -> Iterator[TextIO]:
    """A file to write to, as `write_text` does: it takes its name when this is left without an
    error. A link is followed, and a device or a pipe written to as it is.

    Raises `OSError` with this path before anything is written, where there can be no such file.
    """
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    whole = path.resolve()
    unfinished = whole.with_name(f".{whole.name}.{os.urandom(8).hex()}")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(path)) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(whole)
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()
