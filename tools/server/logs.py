"""The server's logs: a JSON document or a line for people, with ids and without anybody's words."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any, Literal, TextIO

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


def configure(style: Format, level: Level, to: TextIO | None = None) -> logging.Handler:
    """Write what the process logs to standard error, or elsewhere, from a level on; what others'
    libraries log from `warning` on. Returns the handler."""
    handler = logging.StreamHandler(to or sys.stderr)
    render: Any = (
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=(to or sys.stderr).isatty(), pad_event_to=0)
    )
    handler.setFormatter(
        ProcessorFormatter(
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
    )
    root = logging.getLogger()
    for each in root.handlers[:]:  # what a second call replaces
        if isinstance(each.formatter, ProcessorFormatter):
            root.removeHandler(each)
    root.addHandler(handler)
    logging.getLogger("beliefledger").setLevel(level.upper())
    return handler


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
