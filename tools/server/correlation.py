"""Which request is worked on: its id and the caller's trace, for every line of the log."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass

HEADER = "X-Request-Id"
_REQUEST_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)
_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")
"""As W3C Trace Context has it; later versions may say more behind it."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """The ids that a request goes by, its own and its caller's."""

    request_id: str
    traceparent: str = ""
    """The caller's, if they sent a good one; where traces are on, that of the call's own span."""

    @property
    def told(self) -> dict[str, str]:
        """As a line of the log has them."""
        told = {"request_id": self.request_id}
        if self.traceparent:
            told |= {"trace_id": self.traceparent[3:35], "span_id": self.traceparent[36:52]}
        return told


CORRELATION: ContextVar[Correlation | None] = ContextVar("beliefledger.correlation", default=None)
"""Of the request that is worked on. Set where it comes in."""
CORRELATED = "beliefledger.correlation"
"""Where a request's scope has the same."""


def correlation(headers: Mapping[str, str]) -> Correlation:
    """The ids of a request, by its headers; what is no id is not taken."""
    given = headers.get(HEADER, "")
    request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
    return Correlation(request_id, traceparent(headers.get("traceparent", "")))


def traceparent(given: object) -> str:
    """The same, or nothing where it is none."""
    found = _TRACEPARENT.fullmatch(given) if isinstance(given, str) else None
    if found is None or found[1] == "ff" or not (int(found[2], 16) and int(found[3], 16)):
        return ""
    if found[1] == "00" and found[4] is not None:
        return ""
    return found[0][:55]
