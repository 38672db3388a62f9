"""What the order of the first results goes by: the texts, the question, and how they fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beliefledger.ledger.dataclass import dataclass

if TYPE_CHECKING:
    from beliefledger.projections.aboutness import Aboutness
    from beliefledger.projections.current_first import Ranked
    from beliefledger.projections.index import SubjectIndex
    from beliefledger.projections.lexical import Mask
    from beliefledger.projections.slot_routing import SlotQuestion


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of all texts, and of the question."""

    index: SubjectIndex
    asked: SlotQuestion
    about: Aboutness
    ranked: Ranked
    kinds: int
    """The kinds of answer that are asked for, as bits."""
    floor: float
    """The cosine below which a text says nothing by its meaning alone."""
    searched: Mask
    """The texts that were said by the time asked about and may be found."""


def turn_of(number: int, index: SubjectIndex) -> int:
    """The turn that a memory came of, where that is known; else the text itself."""
    turn = index.lines.turn_of(number)
    return number if turn is None else turn
