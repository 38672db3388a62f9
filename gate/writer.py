"""Makes drafts under the rules in force, and appends them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from beliefledger.gate import notices
from beliefledger.gate.draft import About, Draft, Renamed
from beliefledger.gate.memo import Memo
from beliefledger.gate.rulebook import Rulebook
from beliefledger.ledger.errors import VersionConflict
from beliefledger.ledger.log import Log
from beliefledger.ledger.store import Appended
from beliefledger.ledger.times import Clock, Micros

T = TypeVar("T")


class Writer:
    """Appends the gate's drafts. If another writer was first, a draft is made again from what the
    log then holds."""

    def __init__(
        self,
        log: Log,
        rulebook: Rulebook,
        clock: Clock,
        about: About = lambda _subject, _entity: {},
    ) -> None:
        self.log = log
        self.rulebook = rulebook
        self.memo = Memo(log)
        self._clock = clock
        self._about = about

    def now(self) -> Micros:
        return self._clock()

    def draft(self) -> Draft:
        """An empty draft under the rules in force."""
        self.memo.refresh()
        return Draft(
            self.log,
            self.memo,
            self.rulebook.current(),
            self.rulebook.stream,
            self._clock(),
            self._about,
        )

    def commit(self, draft: Draft) -> Appended | None:
        """Append the draft. On `VersionConflict` everything kept is dropped, and read again."""
        try:
            appended = draft.commit()
        except VersionConflict:
            self.forget()
            raise
        if appended:
            notices.tell(draft.events)
        if appended and draft.renamed and draft.seen != appended.first - 1:
            self._sweep(draft.renamed)
        return appended

    def _sweep(self, renamed: Sequence[Renamed]) -> None:
        """Move memories that were written to an entity's old slots while the others moved. There
        can be no more after that: new decisions see the new names."""
        from beliefledger.gate.entity_names import move_again  # noqa: PLC0415  (see gate.py)

        def attempt() -> None:
            draft = self.draft()
            for each in renamed:
                if not self.erased(each.subject_ref):
                    move_again(draft, each)
            draft.commit()

        self.again(attempt)

    def forget(self) -> None:
        """Read consents, beliefs and rules from the log again."""
        self.memo.clear()
        self.rulebook.refreshed()

    def again(self, attempt: Callable[[], T]) -> T:
        """Run `attempt` again while other writers are first, each time from what the log holds."""

        def afresh() -> T:
            try:
                return attempt()
            except VersionConflict:
                self.forget()
                raise

        return self.log.decide_again(afresh)

    def erased(self, subject_ref: str, position: int = 0) -> bool:
        """Whether a subject, or their event at a position, is erased or on the way to it."""
        if self.log.keys(subject_ref) is None:
            return True
        consent = self.memo.consent(subject_ref)
        return consent.erasing or consent.is_going(position)
