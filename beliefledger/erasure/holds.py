"""Legal holds: while one is in force, nothing of its subject is erased."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from beliefledger.arguments import plain_name
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.codec import New
from beliefledger.ledger.erasures import Hold
from beliefledger.ledger.errors import InvalidTurn, NotPermitted, UnknownMemory
from beliefledger.ledger.events.subject import LegalHoldLifted, LegalHoldPlaced
from beliefledger.ledger.log import new_id
from beliefledger.ledger.names import check_text
from beliefledger.ledger.streams import subject_stream
from beliefledger.ledger.times import to_datetime
from beliefledger.opening.core import Core
from beliefledger.pages import Cut, Page


class HoldAnswer(Frozen):
    """A legal hold in force: nothing of the subject is erased until it is lifted."""

    hold: str
    subject: str | None
    reason: str | None
    """None once its words are erased."""
    by: str
    placed_at: datetime


class LegalHolds:
    """Places, lifts and lists legal holds."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._log = core.log

    def place(self, subject: str, reason: str, *, by: str, hold: str | None = None) -> str:
        """Forbid erasing anything of a subject until the hold is lifted; returns its name.

        Raises `NotPermitted` where a hold of that name is in force, or an erasure was begun, and
        `InvalidTurn` without a reason.
        """
        actor = self._core.actor(by)
        if not check_text("reason", reason, InvalidTurn).strip():
            raise InvalidTurn("reason is empty: say why nothing of the subject may be erased.")
        ref = self._core.known_subject(subject)
        name = plain_name(hold, "hold", InvalidTurn) if hold is not None else new_id()[:12]
        stream = subject_stream(ref)

        def attempt() -> None:
            version = self._log.version(stream)
            if any(each.done is None for each in self._log.eraser.of_subject(ref)):
                raise NotPermitted("An erasure of this subject was begun; it cannot be held now.")
            if name in {each.hold for each in self._log.eraser.holds(ref)}:
                raise NotPermitted(f"A hold {name!r} is in force already: choose another name.")
            event = New(LegalHoldPlaced(hold=name, reason=reason), new_id(), stream, ref, actor)
            self._log.append([event], {stream: version})

        self._log.decide_again(attempt)
        return name

    def lift(self, hold: str, *, by: str, subject: str | None = None) -> None:
        """End a legal hold (of this subject, where several have one of that name).

        Raises `UnknownMemory` for one that is not in force, `NotPermitted` where it is not clear
        whose is meant.
        """
        actor = self._core.actor(by)
        whose = None if subject is None else self._core.known_subject(subject)
        found = [
            each
            for each in self._in_force()
            if each.hold == hold and whose in {None, each.subject_ref}
        ]
        if not found:
            raise UnknownMemory(
                f"No legal hold {hold!r} is in force. List them: beliefledger erasure hold list."
            )
        if len(found) > 1:
            raise NotPermitted(
                f"{len(found)} people have a hold {hold!r}: say whose is to be lifted."
            )
        ref = found[0].subject_ref
        stream = subject_stream(ref)

        def attempt() -> None:
            version = self._log.version(stream)
            if hold in {each.hold for each in self._log.eraser.holds(ref)}:
                event = New(LegalHoldLifted(hold=hold), new_id(), stream, ref, actor)
                self._log.append([event], {stream: version})

        self._log.decide_again(attempt)

    def list(
        self, subject: str | None = None, *, limit: int | None = None, after: str | None = None
    ) -> Page[HoldAnswer]:
        """The legal holds in force (on a subject); with `limit` a page, whose `next` is given as
        `after` for the one behind it."""
        cut = Cut.of("holds", (subject,), limit, after)
        ref = None if subject is None else self._core.known_subject(subject)
        found = [each for each in self._in_force() if ref in {None, each.subject_ref}]
        page = cut.of_all(found, lambda each: f"{each.subject_ref} {each.hold}")
        return Page(map(self._answer, page), page.next)

    def _answer(self, hold: Hold) -> HoldAnswer:
        return HoldAnswer(
            hold=hold.hold,
            subject=self._log.vault.real_id(hold.subject_ref),
            reason=hold.reason,
            by=self._log.vault.principal_name(hold.actor),
            placed_at=to_datetime(hold.placed_at),
        )

    def _in_force(self) -> Sequence[Hold]:
        placed = self._log.of_types((LegalHoldPlaced.NAME,))
        people = dict.fromkeys(each.subject_ref for each in placed if each.subject_ref)
        return [hold for ref in people for hold in self._log.eraser.holds(ref)]
