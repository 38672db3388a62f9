"""What an extractor is: words in, candidates out, nothing decided and nothing stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ledger.candidate import Candidate, Speech


@dataclass(frozen=True, slots=True)
class Extraction:
    """What looking at a turn brought, and what it cost."""

    candidates: list[Candidate] = field(default_factory=list)
    skipped: str | None = None
    """Why nobody had to look (`prefilter:thanks`), or None."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micro_usd: int = 0


class Extractor(Protocol):
    """Notices statements in a turn.

    `extract` returns the candidates of `turn` in the order of their first span, and an empty list
    when there is nothing to keep. `earlier` holds the turns before it in the same session, oldest
    first, so that "yes, that's right" can be understood. It raises `ExtractionUnavailable` when it
    could not look: an empty list always means that it looked and found nothing.

    One that waits for somebody else's answer may have an attribute `concurrency`: so many subjects'
    turns are then looked at side by side, from as many threads. One with a `close` is closed with
    its ledger.
    """

    @property
    def name(self) -> str:
        """The extractor and its version, as recorded with each outcome."""
        ...

    def extract(
        self, turn: Speech, earlier: Sequence[Speech] = ()
    ) -> list[Candidate] | Extraction: ...
