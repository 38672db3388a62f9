"""Reading conversations from files: JSON lines, a list of chat messages, a LongMemEval file."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import orjson

from gate.intake import ROLES, TurnInput
from ledger.errors import CallerMistake, InvalidTurn
from ledger.times import Micros, parse

SAMPLE = 4_096
ROLE_NAMES = {
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
} | {role: role for role in ROLES}


class Unreadable(CallerMistake):
    """The file cannot be read as a conversation."""


class NotATurn(ValueError):
    """What stands there is not a turn. The text says why."""


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of a file, and where it stands there."""

    turn: TurnInput
    place: str
    line: int | None = None
    subject_stated: bool = True


@dataclass(frozen=True, slots=True)
class Refused:
    """Something in a file that is no turn, and why."""

    file: str
    line: int | None
    place: str
    reason: str


class Transcript:
    """The turns of one file, in order; what is no turn comes as `Refused`.

    Whatever a turn's file says of it makes its idempotency key, with a number for words that are
    repeated alike, so that reading a file again, or a corrected or longer one, gives the same keys.
    """

    def __init__(self, path: Path, *, subject: str) -> None:
        self.path = path
        self.name = "standard input" if str(path) == "-" else str(path)
        self._subject = subject
        self._seen: dict[bytes, int] = {}
        self._raw: IO[bytes] | None = None
        self._share: float | None = None
        self.size = 0 if str(path) == "-" else path.stat().st_size

    def read_bytes(self) -> int:
        """How much of the file is turned into turns, of `size`."""
        if self._share is not None:
            return int(self._share * self.size)
        return self._raw.tell() if self._raw is not None and self.size else 0

    def __iter__(self) -> Iterator[Said | Refused]:
        """Raises `Unreadable` for a file that is none of the forms, or breaks off."""
        try:
            with self._opened() as stream:
                yield from self._turns(stream)
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            raise Unreadable(
                f"{self.name} is damaged, perhaps cut short: {problem}. What came before is in."
            ) from problem
        except OSError as problem:
            raise Unreadable(f"{self.name} cannot be read: {problem}.") from problem
        finally:
            self._raw = None  # it is closed: nothing more to tell of it

    @contextmanager
    def _opened(self) -> Iterator[io.BufferedReader[Any]]:
        if self.name == "standard input":
            raw = open(sys.stdin.fileno(), "rb", closefd=False)  # noqa: SIM115 (closed below)
        else:
            self._raw = raw = self.path.open("rb")
        with raw:
            if raw.peek(2)[:2] == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=raw) as unpacked, io.BufferedReader(unpacked) as stream:
                    yield stream
            else:
                yield raw

    def _turns(self, stream: io.BufferedReader[Any]) -> Iterator[Said | Refused]:
        sample = stream.peek(SAMPLE)[:SAMPLE]
        if not sample:
            raise Unreadable(f"{self.name} is empty.")
        if b"\x00" in sample or sample[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            raise Unreadable(f"{self.name} is not text in UTF-8.")
        begin = sample.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        if begin == b"[":
            yield from self._document(_whole(self.name, stream.read()))
        elif begin == b"{":
            yield from self._lines_or_document(stream)
        elif any(line.lstrip().startswith(b"{") for line in sample.splitlines()):
            yield from self._lines(stream.readline(), stream, 0)
        else:
            raise Unreadable(
                f"{self.name} is neither JSON lines, nor a list of chat messages, nor a"
                " LongMemEval file."
            )

    # JSON lines

    def _lines_or_document(self, stream: io.BufferedReader[Any]) -> Iterator[Said | Refused]:
        """A first line that is no object by itself may begin a document of many lines."""
        skipped, first = 0, stream.readline()
        while not first.strip(b"\xef\xbb\xbf \t\r\n"):
            skipped, first = skipped + 1, stream.readline()
        first = first.removeprefix(b"\xef\xbb\xbf")
        try:
            fields = orjson.loads(first)
        except orjson.JSONDecodeError:
            rest = stream.read()
            try:
                yield from self._document(orjson.loads(first + rest))
            except orjson.JSONDecodeError:
                yield from self._lines(first, io.BytesIO(rest), skipped)
            return
        if isinstance(fields, dict) and ("questions" in fields or "messages" in fields):
            yield from self._document(fields)
        elif isinstance(fields, dict) and "haystack_sessions" in fields:
            for number, line in enumerate([first, *stream], skipped + 1):
                if line.strip():
                    yield from self._questions([_whole(f"{self.name}, line {number}", line)], {})
        else:
            yield from self._lines(first, stream, skipped)

    def _lines(self, first: bytes, rest: IO[bytes], skipped: int) -> Iterator[Said | Refused]:
        yield from self._line(first, skipped + 1)
        for number, line in enumerate(rest, skipped + 2):
            if line.strip():
                yield from self._line(line, number)

    def _line(self, line: bytes, number: int) -> Iterator[Said | Refused]:
        place = f"line {number}"
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError as problem:
            yield Refused(self.name, number, place, f"not JSON: {problem}")
            return
        yield self._message(fields, place, number)

    # Documents

    def _document(self, document: Any) -> Iterator[Said | Refused]:
        if isinstance(document, dict):
            if isinstance(document.get("messages"), list):
                document = document["messages"]
            elif isinstance(document.get("questions"), list):
                sessions = document.get("sessions")
                yield from self._questions(
                    document["questions"], sessions if isinstance(sessions, dict) else {}
                )
                return
            else:
                document = [document]
        if not document:
            raise Unreadable(f"{self.name} is an empty list.")
        if any(isinstance(each, dict) and "question_id" in each for each in document):
            yield from self._questions(document, {})
            return
        for number, fields in enumerate(document, 1):
            yield self._message(fields, f"message {number}", None)
            self._share = number / len(document)

    def _questions(
        self, questions: Sequence[Any], shared: Mapping[str, Any]
    ) -> Iterator[Said | Refused]:
        """LongMemEval: each question is one person; their sessions in order of date."""
        for number, question in enumerate(questions, 1):
            if not isinstance(question, dict) or not isinstance(question.get("question_id"), str):
                yield Refused(self.name, None, f"question {number}", "it has no question_id")
                continue
            yield from self._question(question["question_id"], question, shared)
            self._share = number / len(questions)

    def _question(
        self, subject: str, question: Mapping[str, Any], shared: Mapping[str, Any]
    ) -> Iterator[Said | Refused]:
        sessions = question.get("haystack_sessions")
        if sessions is None:
            sessions = [shared.get(key) for key in question.get("haystack_session_keys") or ()]
        names = question.get("haystack_session_ids") or []
        dates = question.get("haystack_dates") or []
        if not sessions or not len(sessions) == len(names) == len(dates):
            yield Refused(
                self.name,
                None,
                f"question {subject}",
                "haystack_sessions, haystack_session_ids and haystack_dates do not match",
            )
            return
        dated: list[tuple[Micros, str, Any]] = []
        for name, date, turns in zip(names, dates, sessions, strict=True):
            place = f"question {subject}, session {name}"
            try:
                at = moment(date)
            except NotATurn as problem:
                yield Refused(self.name, None, place, str(problem))
                continue
            if isinstance(turns, list):
                dated.append((at, str(name), turns))
            else:
                yield Refused(self.name, None, place, "the session is no list of turns")
        for at, name, turns in sorted(dated, key=lambda each: each[0]):
            for index, fields in enumerate(turns):
                said = self._message(
                    {**fields, "subject": subject, "session": name, "timestamp": None}
                    if isinstance(fields, dict)
                    else fields,
                    f"question {subject}, session {name}, turn {index + 1}",
                    None,
                    at,
                )
                if isinstance(said, Said):  # a microsecond apart, so that their order is told
                    said = replace(said, turn=replace(said.turn, said_at=at + index))
                yield said

    # One turn

    def _message(
        self, fields: Any, place: str, line: int | None, at: Micros | None = None
    ) -> Said | Refused:
        try:
            turn, stated = self._turn(fields, at)
            turn.check()
        except InvalidTurn as problem:
            return Refused(self.name, line, place, problem.detail)
        except NotATurn as problem:
            return Refused(self.name, line, place, str(problem))
        return Said(turn, place, line, stated)

    def _turn(self, fields: Any, at: Micros | None) -> tuple[TurnInput, bool]:
        """Raises `NotATurn` or `InvalidTurn` saying what is wrong."""
        if not isinstance(fields, dict):
            raise NotATurn("not an object with role and content")
        speaker = _name(fields, "speaker")
        speaks_as = ROLE_NAMES.get((speaker or "").lower())
        subject = _name(fields, "subject")
        role = _role(fields.get("role")) or speaks_as
        stated = True
        if subject is None and speaker and speaks_as is None and role in {None, "user"}:
            subject = speaker
        if subject is None:
            subject, stated = self._subject, False
        if role is None:
            if speaker is None:
                raise NotATurn("it has neither role nor speaker")
            role = "user" if speaker == subject else "other"
        given = fields.get("timestamp")
        given = fields.get("said_at") if given is None else given
        said_at = at if given is None else moment(given)
        content = _content(fields)
        session = _name(fields, "session")
        session = _name(fields, "session_id") if session is None else session
        key = _name(fields, "idempotency_key")
        return (
            TurnInput(
                subject=subject,
                content=content,
                role=role,
                speaker=None if speaks_as else speaker,
                session=session,
                agent=_name(fields, "agent"),
                said_at=said_at,
                idempotency_key=key or self._key(subject, session, said_at, role, speaker, content),
            ),
            stated,
        )

    def _key(self, *parts: object) -> str:
        """The same words of the same moment again are another turn: they are numbered."""
        text = "\x1f".join("" if part is None else str(part) for part in parts)
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:16]
        number = self._seen[digest] = self._seen.get(digest, -1) + 1
        return f"transcript {digest.hex()} {number}"


def _whole(name: str, text: bytes) -> Any:
    try:
        return orjson.loads(text.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as problem:
        raise Unreadable(f"{name} is not JSON: {problem}.") from problem


def _name(fields: Mapping[str, Any], key: str) -> str | None:
    value = fields.get(key)
    if value is None or value == "":
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise NotATurn(f"{key} must be text, not {type(value).__name__}")
    return value


def _role(given: Any) -> str | None:
    if given is None:
        return None
    role = ROLE_NAMES.get(given.lower()) if isinstance(given, str) else None
    if role is None:
        raise NotATurn(f"role is {given!r}; it must be one of {', '.join(ROLES)}")
    return role


def _content(fields: Mapping[str, Any]) -> str:
    """Text, or the text parts of a list of parts as chat APIs write them."""
    content = fields.get("content")
    if content is None and fields.get("tool_calls"):
        # What an assistant writes when it only calls a tool: the call is what it said.
        content = orjson.dumps(fields["tool_calls"]).decode()
    if content is None:
        raise NotATurn("content is missing")
    if isinstance(content, list):
        parts = [
            part if isinstance(part, str) else part.get("text")
            for part in content
            if isinstance(part, str | dict)
        ]
        content = "\n".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str):
        raise NotATurn(f"content must be text, not {type(content).__name__}")
    return content


_WEEKDAY = re.compile(r"\s*\([A-Za-z]+\)\s*")
_NUMBER = re.compile(r"[+-]?\d{9,}(\.\d+)?")


def moment(given: Any) -> Micros:
    """ISO 8601, unix seconds or milliseconds, or `2023/04/10 (Mon) 17:50`. Raises `NotATurn`."""
    if isinstance(given, str):
        text = given.strip()
        if not _NUMBER.fullmatch(text):
            try:
                return parse(_WEEKDAY.sub(" ", text).strip().replace("/", "-"))
            except ValueError as problem:
                raise NotATurn(f"timestamp: {problem}") from None
        given = float(text) if "." in text else int(text)
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise NotATurn(f"timestamp must be a time, not {type(given).__name__}")
    if abs(given) >= 1e14:
        raise NotATurn(f"timestamp {given} is no time in seconds or milliseconds since 1970")
    return round(given * (1_000_000 if abs(given) < 1e11 else 1_000))
