"""The words of a turn as a context tells them: what is withheld left out, what is no longer so said
to be. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from beliefledger.gate.sentences import around as sentence_at
from beliefledger.gate.sentences import sentences
from beliefledger.gate.standing import Outdated
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.times import to_datetime
from beliefledger.projections.showing import BLANK, Run, Superseded, blanked, touches

_JOINS = frozenset("and but or so also then while plus btw".split())
_SOME = 2
"""So many words besides these tell something."""


@dataclass(frozen=True, slots=True)
class Over:
    """Words that are no longer so, since when, and the memory that took their place."""

    start: int
    end: int
    since: datetime | None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class TurnWords:
    """A turn's whole text, the runs of it that are withheld, and those that are outdated."""

    text: str
    withheld: tuple[Run, ...] = ()
    outdated: tuple[Over, ...] = ()
    stating: bool = True
    """Whether it states anything: else it asks, or is small talk."""

    def told(self, *, marked: bool = True) -> str:
        """The words that may be shown, what is outdated `marked` as such."""
        parts, at = [], 0
        for each in sorted(self.outdated, key=lambda over: over.end) if marked else ():
            if each.end <= at or self._is_withheld(each.start, each.end):
                continue
            parts += [self._shown(at, each.end), f" {self._mark(each, at)}"]
            at = each.end
        return "".join([*parts, self._shown(at, len(self.text))])

    def _mark(self, over: Over, at: int) -> str:
        """What says that words are no longer so, behind them; it repeats them where others that are
        still so stand before them, from `at` on, in one sentence."""
        start = max(at, min(sentence_at(self.text, over.start)[0], over.start))
        before = self._shown(start, over.start).lower().replace(BLANK, " ").split()
        if len([each for each in before if each.strip(",;:") not in _JOINS]) < _SOME:
            return outdated(over.since)
        return outdated(over.since, self._shown(over.start, over.end))

    @property
    def is_of_several(self) -> bool:
        """Whether several things that it says are no longer so, since other times."""
        return len({(each.by, each.since) for each in self.outdated}) > 1

    @property
    def is_left(self) -> bool:
        """Whether it says anything else than what is no longer so."""
        from beliefledger.search.parts_left import parts_left  # noqa: PLC0415  long to load

        over = [(each.start, each.end) for each in self.outdated]
        return parts_left(self.text, over, self.withheld)

    def over(self) -> list[tuple[str, Over]]:
        """The words that are no longer so, each once, without those that are withheld."""
        return [
            (self._shown(each.start, each.end), each)
            for each in dict.fromkeys(self.outdated)
            if not self._is_withheld(each.start, each.end)
        ]

    def around(self, spans: Sequence[Run]) -> str:
        """The sentences that these spans are in, without those of which anything is withheld or no
        longer so."""
        others = [*self.withheld, *((each.start, each.end) for each in self.outdated)]
        return " ".join(
            self.text[start:end].strip()
            for start, end in sentences(self.text)
            if touches((start, end), spans) and not touches((start, end), others)
        )

    def past(self, told: Sequence[Run]) -> list[tuple[str, Over]]:
        """The sentences that are no longer so, each once; without those of which anything is
        withheld, or in which the words are that were `told` already."""
        found: dict[Run, Over] = {}
        for each in self.outdated:
            for sentence in sentences(self.text):
                if touches(sentence, [(each.start, each.end)]) and not touches(
                    sentence, [*self.withheld, *told]
                ):
                    found.setdefault(sentence, each)
        return [(self.text[start:end].strip(), over) for (start, end), over in found.items()]

    def _is_withheld(self, start: int, end: int) -> bool:
        return any(first <= start and end <= last for first, last in self.withheld)

    def _shown(self, start: int, end: int) -> str:
        runs = [
            (max(first, start) - start, min(last, end) - start)
            for first, last in self.withheld
            if first < end and start < last
        ]
        return blanked(self.text[start:end], runs)


def over_of(some: Iterable[Superseded | Outdated]) -> tuple[Over, ...]:
    """What became of the words of a turn that are no longer so."""
    return tuple(
        Over(
            each.start,
            each.end,
            None if each.since is None else to_datetime(each.since),
            each.by,
        )
        for each in some
    )


def outdated(since: datetime | None, words: str = "") -> str:
    """The mark behind words that are no longer so; with the words where others stand before."""
    day = "" if since is None else f" since {since.date().isoformat()}"
    which = f": “{words}”" if words else ""
    return f"(no longer so{day}{which})"
