"""Lines of the server's log that are written quickly read as those that structlog writes."""

import io
import json
import logging
import sys

import pytest

from beliefledger.tools.server import logs
from beliefledger.tools.server.correlation import CORRELATION, Correlation

TOLD = [
    {},
    {"door": "mcp", "tool": "search_memories", "outcome": "ok", "duration_ms": 7.123},
    {"token": "3f0c1e2d4b5a6978", "status": 401, "method": None, "url": "http://x/ y=1"},
    {"url": "Straße", "outcome": 'a"b', "tool": "it's", "trace_id": "", "unknown": "left out"},
]
TRACE = f"00-{'a' * 32}-{'b' * 16}-01"


def record(name, level, message, args=(), **told):
    made = logging.LogRecord(name, level, __file__, 1, message, args, None)
    vars(made).update(told)
    return made


@pytest.fixture(params=["console", "json"])
def formatter(request):
    root, ours = logging.getLogger(), logging.getLogger("beliefledger")
    level = ours.level
    handler = logs.configure(request.param, "info", io.StringIO())
    root.removeHandler(handler)
    ours.setLevel(level)
    assert isinstance(handler.formatter, logs.Quick)
    return handler.formatter


def without_time(line):
    if line.startswith("{"):
        fields = json.loads(line)
        assert fields["timestamp"].endswith("Z")
        fields["timestamp"] = "then"
        return json.dumps(fields)
    return "then" + line[line.index(" ") :]


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("known", [None, Correlation("request-1"), Correlation("request-1", TRACE)])
def test_a_line_reads_as_structlog_writes_it(formatter, told, known):
    was = CORRELATION.set(known)
    try:
        for made in (
            record("beliefledger.server", logging.INFO, "call", **told),
            record("beliefledger.server", logging.WARNING, "the %s %s=1", ("worker", "n"), **told),
            record("uvicorn.error", logging.CRITICAL, "stopped", request_id="mine", **told),
        ):
            quick, whole = formatter.format(made), formatter._whole.format(made)
            assert without_time(quick) == without_time(whole)
    finally:
        CORRELATION.reset(was)


def test_what_may_quote_somebody_is_left_to_structlog(formatter):
    said = formatter.format(record("library", logging.WARNING, "hunter2 is wrong"))
    assert "hunter2" not in said
    try:
        raise ValueError("hunter2")
    except ValueError:
        made = record("beliefledger.server", logging.ERROR, "it failed")
        made.exc_info = sys.exc_info()
    said = formatter.format(made)
    assert "hunter2" not in said
    assert "ValueError" in said
