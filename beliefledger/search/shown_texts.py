"""The texts of a subject that may be in an index, read from the log."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import partial

from beliefledger.gate.standing_parts import NAMES
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.gc_pause import gc_paused
from beliefledger.opening.core import Core
from beliefledger.projections.index_texts import text_of
from beliefledger.projections.showing import bare
from beliefledger.search.standings import Standing


def shown_texts(core: Core, subject_ref: str, but: Collection[int] = ()) -> set[str]:
    """All texts of a subject that may be indexed for any purpose, as the log has them now, but for
    those at these positions."""
    log, rules, now = core.log, core.rulebook.refreshed(), core.clock()
    first, left_out = Standing(subject_ref, rules.policy.purpose), set(but)
    said: list[tuple[str, str | None, str]] = []
    """Of each text its stream, the memory whose it is (None: a turn's), and the text."""

    def noted(events: Iterable[Recorded]) -> Iterator[Recorded]:
        for each in events:
            text = None if each.position in left_out else text_of(each)
            if text is not None:
                memory = None if each.type == TurnRecorded.NAME else each.facts["memory_id"]
                said.append((each.stream, memory, text))
            if each.type in NAMES:
                yield each

    with gc_paused():
        upto = log.head().position
        first.fold.follow(noted(log.of_subject(subject_ref, upto)), upto)
        purposes = {grant.purpose for grant in first.fold.consent.grants} | {first.purpose}
        texts = set[str]()
        for purpose in sorted(purposes):
            standing = Standing(subject_ref, purpose, first.fold)
            standing.permit(rules, now)
            for stream, memory, text in said:
                if memory is not None:
                    if standing.memory(memory):
                        texts.add(text)
                elif standing.is_decided(stream):
                    shown = standing.turn(stream, text)
                    if shown is not None:
                        texts.add(bare(text, shown.withheld))
    return texts


class LeftTexts:
    """The texts of a subject that may be indexed after something of theirs was erased. They are
    read from the log when they are first asked for, and again only where that is asked for."""

    def __init__(self, core: Core, subject_ref: str, but: Collection[int] = ()) -> None:
        self.anew = partial(shown_texts, core, subject_ref, frozenset(but))
        self._known: set[str] | None = None

    def __call__(self) -> set[str]:
        if self._known is None:
            self._known = self.anew()
        return self._known
