"""What belongs into every context of a subject, whatever is asked: constraints, and a profile."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefledger.projections.index import SubjectIndex
from beliefledger.projections.index_filters import Filters
from beliefledger.projections.search_requests import SearchRequest

CONSTRAINT = "constraint"
PROFILE = ("fact", "preference")
"""The types of which a profile is made."""
IMPORTANT = 700_000
"""The least importance (millionths) of what goes into a profile."""
MOST_CONSTRAINTS = 25
MOST_OF_PROFILE = 6
CANDIDATES = 4 * MOST_OF_PROFILE
"""Rows to choose a profile from: some are about other people."""


class PinnedRow(NamedTuple):
    """A memory, and its row of `belief_versions`."""

    memory_id: str
    row_id: int


class PinnedRows(NamedTuple):
    """Constraints and profile, each best first."""

    constraints: tuple[PinnedRow, ...]
    profile: tuple[PinnedRow, ...]


def pinned(index: SubjectIndex, request: SearchRequest, position: int) -> PinnedRows:
    """The constraints that hold, and the most important facts and preferences, of all that a search
    may find."""
    asked = request.asked
    found = index.found(
        Filters(
            position=position,
            valid_at=request.now,
            scopes=request.scopes,
            session_tag=request.session_tag,
            min_confidence=asked.min_confidence,
            episodes=request.episodes,
            where=request.where,
        )
    )
    at = found.row_of[found.row_of >= 0]
    rows = index.rows
    best = np.lexsort(
        (-rows["row_id"][at], -rows["confidence"][at], -rows["importance"][at])
    )  # the last key first
    at = at[best]
    constraint = np.isin(rows["type"][at], index.types.known([CONSTRAINT]))
    profile = np.isin(rows["type"][at], index.types.known(PROFILE))
    profile &= rows["importance"][at] >= IMPORTANT
    return PinnedRows(
        tuple(_row(index, int(row)) for row in at[constraint][:MOST_CONSTRAINTS]),
        tuple(_row(index, int(row)) for row in at[profile][:CANDIDATES]),
    )


def _row(index: SubjectIndex, row: int) -> PinnedRow:
    memory_id = index.memories.names[int(index.rows["memory"][row])] or ""
    return PinnedRow(memory_id, int(index.rows["row_id"][row]))
