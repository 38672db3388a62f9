"""Which erasure on record is the one that is asked for again: after a lost connection, by somebody
who does not know that another process finished it."""

from __future__ import annotations

from collections.abc import Callable

from beliefledger.erasure.scope import AskedErasure
from beliefledger.ledger.erasures import SUBJECT, Erasure
from beliefledger.ledger.log import Log
from beliefledger.ledger.streams import session_tag
from beliefledger.ledger.times import SECOND, Micros, to_datetime

ASKED_AGAIN: Micros = 3_600 * SECOND
"""For so long after its completion an erasure is what the same actor means by asking again."""


class Done:
    """The erasures on record, as one question about a subject sees them.

    An erasure is the one that is asked for if it is of the same subject and reach, and of the same
    memory, turn or session, and was completed since the question began, whoever asked for it; or
    was asked for by the same actor and completed within the last hour. All else was done before,
    and is told as that.
    """

    def __init__(self, log: Log, subject: str, actor: str, began: int, now: Micros) -> None:
        self._log = log
        self._actor = actor
        self._began = began
        self._now = now
        self._whole = set(log.vault.erased(log.tenant, subject))

    def same(self, asked: AskedErasure, subject_ref: str | None = None) -> list[Erasure]:
        """The erasure that is asked for, and those that went with it; empty where there is none."""
        people = self._whole if subject_ref is None else {subject_ref}
        is_it = self._of(asked, subject_ref)
        if is_it is None:
            return []
        told = [each for each in self._log.eraser.told() if each.done is not None]
        found = [
            each
            for each in told
            if each.subject_ref in people and each.reach == asked.reach and is_it(each.of)
            if self._is_lately(each)
        ]
        if not found:
            return []
        first = found[-1].because or found[-1].id
        return [each for each in told if first in {each.id, each.because}]

    def _of(
        self, asked: AskedErasure, subject_ref: str | None
    ) -> Callable[[str | None], bool] | None:
        """Tells what an erasure is of: None where nothing can be asked for again."""
        begins = asked.memory if asked.memory is not None else asked.turn
        if begins is not None:
            return lambda of: bool(begins.strip()) and (of or "").startswith(begins)
        if asked.session is not None and subject_ref is not None:
            keys = self._log.keys(subject_ref)
            tag = None if keys is None else session_tag(keys.ids, asked.session)
            return None if tag is None else (lambda of: of == tag)
        return (lambda of: of is None) if asked.reach == SUBJECT else None

    def _is_lately(self, erasure: Erasure) -> bool:
        if erasure.done is None:
            return False
        if erasure.done.position > self._began:
            return True
        passed = self._now - erasure.done.recorded_at
        return erasure.actor == self._actor and passed <= ASKED_AGAIN


def nothing_left(log: Log, subject: str) -> str:
    """What to say of somebody who was erased before."""
    people = set(log.vault.erased(log.tenant, subject))
    whole = [each for each in log.eraser.told() if each.whole and each.subject_ref in people]
    done = [each for each in whole if each.done is not None]
    if not done or done[-1].done is None:
        return (
            "This subject was erased, and nothing of them is left to erase. See"
            " `beliefledger erasure list`."
        )
    at = to_datetime(done[-1].done.recorded_at).isoformat(timespec="seconds")
    return (
        f"This subject was erased before, at {at}, and nothing of them is left to erase. See"
        f" `beliefledger erasure certificate {done[-1].id[:10]}`."
    )
