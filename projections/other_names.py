"""Which names answer no question for the name of somebody, although they are near. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beliefledger.projections.current_first import MOST_OF, successions
from beliefledger.projections.slot_routing import kin_words

if TYPE_CHECKING:
    from beliefledger.projections.aboutness import Aboutness
    from beliefledger.projections.index import SubjectIndex
    from beliefledger.projections.index_filters import Filters
    from beliefledger.projections.lexical import Mask
    from beliefledger.projections.slot_routing import SlotQuestion

_EX = ("relation.ex",)


def of_other_people(
    index: SubjectIndex, asked: SlotQuestion, about: Aboutness, filters: Filters
) -> Mask:
    """The memories that tell the name of another relative than the one asked for, or, of a question
    for an ex, of whoever is so now; with the turns that say no more. A relation that the tables of
    words do not know may be the one that is asked for."""
    if asked.former:
        over = successions(index, filters.position, filters.valid_at)
        names = about.keyed & about.introduces & ~index.lines.keyed(_EX)
        names[[each for each in np.flatnonzero(names).tolist() if over.is_over(each)]] = False
    else:
        known = frozenset().union(*kin_words())
        others = [each.number for each in index.lines.people if each.kin in known]
        names = np.zeros(len(index), np.bool_)
        names[others] = about.apart[others]
    lines = index.lines
    for number in np.flatnonzero(names).tolist():
        turn = lines.turn_of(number)
        if turn is not None and lines.covers(number, turn) >= MOST_OF:
            names[turn] = True
    return names
