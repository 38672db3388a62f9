"""The answer of what an erasure reaches."""

from __future__ import annotations

from dataclasses import field

from beliefledger.ledger.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Dependent:
    """A memory that goes with what was asked for, or is less well founded afterwards.

    `kind` is `memory_goes`, `consolidated` (goes, since it was merged with one that does),
    `loses_evidence`, or `relation` (of another subject, to somebody who is erased).
    """

    kind: str
    id: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Remains:
    """Something that an erasure leaves, why, and how much of it."""

    what: str
    why: str
    count: int


@dataclass(frozen=True, slots=True)
class Reached:
    """What an erasure of one subject reaches. `of` is a memory's or a turn's id, a session's tag,
    categories or entities; None for all. `positions` are of the events whose bodies go."""

    subject_ref: str
    reach: str
    of: str | None = None
    positions: tuple[int, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    turns: int = 0
    memories: tuple[str, ...] = ()
    depends: tuple[Dependent, ...] = ()
    others: tuple[Reached, ...] = ()
    stays: tuple[Remains, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    """What each memory that goes says, as a preview shows it."""
