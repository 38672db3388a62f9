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

from beliefledger.gate.intake import ROLES, TurnInput
from beliefledger.gate.policy import MAX_TURN_BYTES
from beliefledger.ledger.errors import CallerMistake, InvalidTurn
from beliefledger.ledger.metadata import check_metadata
from beliefledger.ledger.times import Micros, parse

SAMPLE = 4_096
_MARK = b"\xef\xbb\xbf"
"""UTF-8's byte order mark."""
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

    def __init__(self, path: Path, *, subject: str, most_bytes: int = MAX_TURN_BYTES) -> None:
        """`most_bytes` is how much a turn may have, by the policy in force."""
        self.path = path
        self.name = "standard input" if str(path) == "-" else str(path)
        self._subject = subject
        self._most_bytes = most_bytes
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
        """Raises `Unreadable` for a file that is none of the forms, has no turn, or breaks off."""
        empty = True
        try:
            with self._opened() as stream:
                for each in self._turns(stream):
                    empty = False
                    yield each
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            raise Unreadable(
                f"{self.name} is damaged, perhaps cut short: {problem}. What came before is in."
            ) from problem
        except OSError as problem:
            raise Unreadable(f"{self.name} cannot be read: {problem}.") from problem
        finally:
            self._raw = None  # it is closed: nothing more to tell of it
        if empty:
            raise Unreadable(f"{self.name} has no turn in it.")

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
        text: IO[bytes] = stream
        if not sample.removeprefix(_MARK).strip():
            sample = stream.read()
            text = io.BytesIO(sample)
        begin = sample.removeprefix(_MARK).lstrip()[:1]
        if not begin:
            raise Unreadable(f"{self.name} has only blank lines.")
        if begin == b"[":
            yield from self._document(_whole(self.name, text.read()))
        elif begin == b"{":
            yield from self._lines_or_document(*_first_line(text))
        elif any(line.lstrip().startswith(b"{") for line in sample.splitlines()):
            yield from self._lines(*_first_line(text), 0)
        else:
            raise Unreadable(
                f"{self.name} is neither JSON lines, nor a list of chat messages, nor a"
                " LongMemEval file. Of a table (CSV), write each row as a line of JSON with role"
                " and content."
            )

    # JSON lines

    def _lines_or_document(self, first: bytes, stream: IO[bytes]) -> Iterator[Said | Refused]:
        """A first line that is no object by itself may begin a document of many lines."""
        skipped = 0
        while not first.removeprefix(_MARK).strip():
            skipped, first = skipped + 1, stream.readline()
        first = first.removeprefix(_MARK)
        try:
            fields = orjson.loads(first)
        except orjson.JSONDecodeError:
            rest = stream.read()
            try:
                yield from self._document(orjson.loads(first + rest))
            except orjson.JSONDecodeError:
                yield from self._lines(first, io.BytesIO(rest), skipped)
            return
        if isinstance(fields, dict) and "questions" in fields:
            yield from self._document(fields)
            for number, line in enumerate(stream, skipped + 2):
                if line.strip():
                    reason = "it comes after the end of the questions"
                    yield Refused(self.name, number, f"line {number}", reason)
        elif isinstance(fields, dict) and isinstance(fields.get("messages"), list):
            numbered = enumerate(stream, skipped + 2)
            number, more = next(((at, line) for at, line in numbered if line.strip()), (0, None))
            if more is None:
                yield from self._document(fields)
            else:
                yield from self._line(first, skipped + 1)
                yield from self._lines(more, stream, number - 1)
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
        yield from self._object(fields, place, number, number)

    def _object(
        self, fields: Any, place: str, number: int, line: int | None
    ) -> Iterator[Said | Refused]:
        """One line, or one element of a list: a turn, or a conversation or question of many."""
        if isinstance(fields, dict) and "question_id" in fields and "haystack_sessions" in fields:
            yield from self._questions([fields], {}, number)
        elif isinstance(fields, dict) and isinstance(fields.get("messages"), list):
            yield from self._conversation(fields, place, number, line)
        else:
            yield self._message(fields, place, line)

    def _conversation(
        self, whole: Mapping[str, Any], place: str, number: int, line: int | None
    ) -> Iterator[Said | Refused]:
        """`{"messages": […]}`: its session is the one it names, else the file's name and number."""
        named = (whole.get(key) for key in ("session", "session_id", "id"))
        session = next((name for name in named if name not in {None, ""}), None)
        if session is None:
            session = f"{self.path.name.removesuffix('.gz')}:{number}"
        shared = {key: whole[key] for key in ("subject", "agent") if key in whole}
        if not whole["messages"]:
            yield Refused(self.name, line, place, "its list of messages is empty")
        for index, fields in enumerate(whole["messages"], 1):
            if isinstance(fields, dict):
                own = fields.get("session") or fields.get("session_id")
                fields = shared | fields | {"session": own or session}  # noqa: PLW2901
            yield self._message(fields, f"{place}, message {index}", line)

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
            many = isinstance(fields, dict) and isinstance(fields.get("messages"), list)
            place = f"{'conversation' if many else 'message'} {number}"
            yield from self._object(fields, place, number, None)
            self._share = number / len(document)

    def _questions(
        self, questions: Sequence[Any], shared: Mapping[str, Any], first: int = 1
    ) -> Iterator[Said | Refused]:
        """LongMemEval: each question is one person; their sessions in order of date."""
        for number, question in enumerate(questions, first):
            if not isinstance(question, dict) or not isinstance(question.get("question_id"), str):
                yield Refused(self.name, None, f"question {number}", "it has no question_id")
                continue
            yield from self._question(question["question_id"], question, shared)
            if len(questions) > 1:
                self._share = number / len(questions)

    def _question(
        self, subject: str, question: Mapping[str, Any], shared: Mapping[str, Any]
    ) -> Iterator[Said | Refused]:
        sessions = question.get("haystack_sessions")
        if sessions is None:
            sessions = [shared.get(key) for key in question.get("haystack_session_keys") or ()]
        if not isinstance(sessions, list) or not sessions:
            yield Refused(self.name, None, f"question {subject}", "it has no haystack_sessions")
            return
        beside: dict[str, list[Any]] = {}
        for key in ("haystack_session_ids", "haystack_dates"):
            given = question.get(key) or [None] * len(sessions)
            if not isinstance(given, list) or len(given) != len(sessions):
                there = len(given) if isinstance(given, list) else "no list of"
                reason = f"it has {len(sessions)} haystack_sessions, but {there} {key}"
                yield Refused(self.name, None, f"question {subject}", reason)
                return
            beside[key] = given
        dated: list[tuple[Micros | None, str, Any]] = []
        numbered = enumerate(zip(*beside.values(), sessions, strict=True), 1)
        for number, (own, date, turns) in numbered:
            name = str(number) if own in (None, "") else str(own)
            place = f"question {subject}, session {name}"
            try:
                at = None if date in (None, "") else moment(date)
            except NotATurn as problem:
                yield Refused(self.name, None, place, str(problem))
                continue
            if isinstance(turns, list):
                dated.append((at, name, turns))
            else:
                yield Refused(self.name, None, place, "the session is no list of turns")
        # Those without a date are said now, so they come last.
        for at, name, turns in sorted(dated, key=lambda each: (each[0] is None, each[0] or 0)):
            for index, fields in enumerate(turns):
                said = self._message(
                    {**fields, "subject": subject, "session": name, "timestamp": None}
                    if isinstance(fields, dict)
                    else fields,
                    f"question {subject}, session {name}, turn {index + 1}",
                    None,
                    at,
                )
                if (
                    isinstance(said, Said) and at is not None
                ):  # a microsecond apart, so that their order is told
                    said = replace(said, turn=replace(said.turn, said_at=at + index))
                yield said

    # One turn

    def _message(
        self, fields: Any, place: str, line: int | None, at: Micros | None = None
    ) -> Said | Refused:
        try:
            turn, stated = self._turn(fields, at)
            turn.check(self._most_bytes)
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
                metadata=_metadata(fields),
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


def _metadata(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a line keeps beside its turn. Raises `NotATurn` where that is no JSON object."""
    given = fields.get("metadata")
    if given is None:
        return {}
    try:
        check_metadata(given)
    except InvalidTurn as problem:
        raise NotATurn(problem.detail.rstrip(".")) from None
    return dict(given)


def _first_line(stream: IO[bytes]) -> tuple[bytes, IO[bytes]]:
    """The first line and the rest; where lines end in CR alone, as if they ended in LF."""
    first = stream.readline()
    if b"\r" in first.rstrip(b"\r\n") or (first.endswith(b"\r") and not first.strip()):
        text = first + stream.read()
        stream = io.BytesIO(text.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
        first = stream.readline()
    return first, stream


def _whole(name: str, text: bytes) -> Any:
    try:
        return orjson.loads(text.removeprefix(_MARK))
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


_WEEKDAY = re.compile(r"(?:(?<!\s)\s++)?\([A-Za-z]+\)\s*+")
_NUMBER = re.compile(r"[+-]?\d{9,}(\.\d+)?")


def moment(given: Any) -> Micros:
    """ISO 8601, unix seconds or milliseconds, or `2023/04/10 (Mon) 17:50`. Raises `NotATurn`."""
    if isinstance(given, str):
        text = given.strip()
        if not _NUMBER.fullmatch(text):
            try:
                return parse(_WEEKDAY.sub(" ", text).strip().replace("/", "-"))
            except ValueError:
                raise NotATurn(
                    f"timestamp: {given!r} is not a time: write 2026-03-01 or 2026-03-01T09:30:00Z"
                ) from None
        given = float(text) if "." in text else int(text)
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise NotATurn(f"timestamp must be a time, not {type(given).__name__}")
    if abs(given) >= 1e14:
        raise NotATurn(f"timestamp {given} is no time in seconds or milliseconds since 1970")
    return round(given * (1_000_000 if abs(given) < 1e11 else 1_000))
