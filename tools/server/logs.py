"""The server's logs: a JSON document or a line for people, with ids and without anybody's words."""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

import orjson
import structlog
from structlog.stdlib import ExtraAdder, ProcessorFormatter

from beliefledger.tools.server.correlation import CORRELATION

Format = Literal["console", "json"]
Level = Literal["debug", "info", "warning", "error"]
Line = MutableMapping[str, Any]
TOLD = (
    "door", "tool", "outcome", "duration_ms", "token", "status", "method", "url",
    "request_id", "trace_id", "span_id",
)  # fmt: skip
"""Fields that a line may have besides time, level, logger and event. None of them has words."""
PLAIN = ("beliefledger", "uvicorn", "opentelemetry")
"""Loggers whose messages quote nothing that was sent. Of others only the place is told."""
_FRAMES = 12
_QUOTED = re.compile("[ \\t=\\r\\n\"']")
"""A value with one of these is written in quotes, in a line for people."""


def configure(style: Format, level: Level, to: TextIO | None = None) -> logging.Handler:
    """Write what the process logs to standard error, or elsewhere, from a level on; what others'
    libraries log from `warning` on. Returns the handler."""
    # No line tells them, and each call writes one.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(to or sys.stderr)
    render: Any = (
        structlog.processors.JSONRenderer(_compact)
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=(to or sys.stderr).isatty(), pad_event_to=0)
    )
    whole = ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            ExtraAdder(allow=TOLD),
            _correlated,
            _without_words,
        ],
        processors=[ProcessorFormatter.remove_processors_meta, render],
    )
    colours = style == "console" and (to or sys.stderr).isatty()
    handler.setFormatter(whole if colours else Quick(style, whole))
    root = logging.getLogger()
    for each in root.handlers[:]:  # what a second call replaces
        if isinstance(each.formatter, ProcessorFormatter | Quick):
            root.removeHandler(each)
    root.addHandler(handler)
    logging.getLogger("beliefledger").setLevel(level.upper())
    return handler


class Quick(logging.Formatter):
    """Writes lines without an exception as structlog does, in a quarter of the time: there is one
    for each call. The rest it leaves to `whole`."""

    def __init__(self, style: Format, whole: logging.Formatter) -> None:
        super().__init__()
        self._json = style == "json"
        self._whole = whole

    def format(self, record: logging.LogRecord) -> str:
        ours = record.name.partition(".")[0] in PLAIN
        if not ours or record.exc_info or record.stack_info:
            return self._whole.format(record)
        there = vars(record)
        now = datetime.fromtimestamp(record.created, UTC).replace(tzinfo=None).isoformat()
        line: dict[str, Any] = {
            "event": record.getMessage(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "timestamp": f"{now}Z",
        }
        line |= {name: there[name] for name in TOLD if name in there}
        _correlated(None, "", line)
        if self._json:
            return orjson.dumps(line, default=repr).decode()
        head = (line.pop(name) for name in ("timestamp", "level", "event", "logger"))
        told = "{} [{:<9}] {} [{}]".format(*head)
        return " ".join([told, *(f"{name}={_shown(line[name])}" for name in sorted(line))])


def _compact(line: Line, **options: Any) -> str:
    """As `Quick` writes it, what structlog renders."""
    return orjson.dumps(line, default=options.get("default")).decode()


def _shown(value: object) -> str:
    return value if isinstance(value, str) and not _QUOTED.search(value) else repr(value)


def _correlated(_logger: Any, _method: str, line: Line) -> Line:
    """Add the ids of the request that is worked on, where the line has none."""
    known = CORRELATION.get()
    if known is not None:
        for name, value in known.told.items():
            line.setdefault(name, value)
    return line


def _without_words(_logger: Any, _method: str, line: Line) -> Line:
    """Leave out what may quote somebody: messages of other libraries, and of exceptions."""
    record: logging.LogRecord = line["_record"]
    if record.name.partition(".")[0] not in PLAIN:
        line["event"] = f"{record.module}:{record.lineno} says something that may quote somebody"
    line.pop("stack_info", None)
    given = line.pop("exc_info", None)
    if isinstance(given, tuple) and given[0] is not None:
        kind, _problem, at = given
        frames = traceback.extract_tb(at)[-_FRAMES:]
        line["problem"] = kind.__name__
        line["at"] = [f"{each.filename}:{each.lineno} {each.name}" for each in frames]
    return line
