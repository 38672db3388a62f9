"""Which stretches of the log have nothing for a view, so that a question need not fold them.

Calls of a server, recalls and jobs are events too, and most views fold none of them. Folding such
a page writes nothing but how far each view is: dearer than many a question.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from beliefledger.ledger.log import Log

MOST_BEHIND = 500
"""A view that is further behind is folded all the same, so that nobody looks at more again."""


class Quiet:
    """Finds such stretches. Safe to use from several threads: that nothing is there for a view
    stays so."""

    def __init__(self, log: Log, types: Mapping[str, Collection[str]]) -> None:
        """`types` are those that each view folds, by its name."""
        self._log = log
        self._types = {name: frozenset(each) for name, each in types.items()}
        self._known: dict[str, tuple[int, int]] = {}
        """By view: positions in (after, upto] have nothing for it."""

    def passed(self, at: Mapping[str, int], upto: int) -> bool:
        """Whether nothing lies between where these views are and a position that they would fold.
        False also where that is too much to look at."""
        if any(upto - position > MOST_BEHIND for position in at.values()):
            return False
        reached = {name: self._reached(name, position) for name, position in at.items()}
        least = min(reached.values(), default=upto)
        if least >= upto:
            return True
        kinds = self._log.recent.types(least, upto)
        if kinds is None:
            wanted = frozenset().union(*(self._types[name] for name in at))
            page = next(self._log.wanted(wanted, least, upto, MOST_BEHIND))
            kinds = frozenset(each.type for each in page.events)
        for name, position in at.items():
            if reached[name] < upto and kinds.isdisjoint(self._types[name]):
                reached[name] = upto
                self._known[name] = position, upto
        return min(reached.values()) >= upto

    def _reached(self, name: str, position: int) -> int:
        after, upto = self._known.get(name, (position, position))
        return upto if after <= position <= upto else position
