"""What an extractor is: words in, candidates out, nothing decided and nothing stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ledger.candidate import Candidate, Speech


class Extractor(Protocol):
    """Notices statements in a turn.

    `extract` returns the candidates of `turn` in the order of their first span, and an empty list
    when there is nothing to keep. `earlier` holds the turns before it in the same session, oldest
    first, so that "yes, that's right" can be understood. It raises `ExtractionUnavailable` when it
    could not look: an empty list always means that it looked and found nothing.
    """

    @property
    def name(self) -> str:
        """The extractor and its version, as recorded with each outcome."""
        ...

    def extract(self, turn: Speech, earlier: Sequence[Speech] = ()) -> list[Candidate]: ...
