"""What a webhook may be registered with."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from beliefledger.gate.outcomes import Outcome
from beliefledger.ledger.errors import InvalidQuery, InvalidTurn

_OUTCOMES = (*Outcome, "done", "failed", "completed", "canceled", "ok", "gone")
"""Of decisions, jobs, tasks and calls."""
_CODE = re.compile(r"[A-Z]+(_[A-Z]+)*")
"""The outcome of a call that was refused."""


def check_url(url: str) -> str:
    """Raises `InvalidTurn` for what cannot be called. Whether an address is one that may be called
    is found out by whoever delivers, each time it connects."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidTurn("url: that is no URL.") from None
    if parts.scheme not in {"https", "http"} or not parts.hostname or port == 0:
        raise InvalidTurn("url: give one as https://example.org/path.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise InvalidTurn("url: it has no name, password or #part; deliveries are signed.")
    if len(url) > 2_000 or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidTurn("url: at most 2,000 printable characters of ASCII.")
    return url


def check_outcomes(outcomes: Iterable[str]) -> None:
    """Raises `InvalidQuery` for an outcome that nothing has."""
    for each in outcomes:
        if each not in _OUTCOMES and not _CODE.fullmatch(each):
            raise InvalidQuery(
                f"outcome: {each!r} is none of {', '.join(_OUTCOMES)}, nor a code in capitals that"
                " a call was answered with."
            )


def check_position(given: int, head: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= head:
        raise InvalidTurn(f"There is no such position in the log: give one from 0 to {head}.")
    return given
