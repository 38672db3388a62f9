"""Who calls, and of whom: what the token says, which no argument changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from beliefledger.access.principal import Principal
from beliefledger.answers import BeliefAnswer
from beliefledger.ledger.errors import InvalidQuery, NotPermitted, UnknownMemory
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.bucket import Bucket

CALLER: ContextVar[Principal] = ContextVar("beliefledger.caller")
"""Whose call is worked on. Set where the token was checked."""
_ID = re.compile(r"[0-9a-f]{32}")
_CITED = re.compile(r"[0-9a-f]{10,32}")
"""Fewer characters could be tried out."""
_LAST = "2250-01-01"
"""As of then, everything is recorded that there is."""
_NOT_FOR = "This token is not for that subject."


@dataclass(slots=True)
class Caller:
    """One call through a door: the ledger, and what of it the caller may ask for."""

    memory: MemoryLedger
    principal: Principal = field(default_factory=CALLER.get)
    exports: Bucket | Path | None = None
    """The directory or the bucket that audit exports are written to."""
    subject_ref: str | None = None
    """Whom the call turned out to be about."""
    newcomer: str | None = None
    """The name of whom it is about, where nobody knew them when it began."""
    tell: Callable[[int, int], None] = lambda _done, _of: None
    """Told how far work is that takes long, from whichever thread does it."""

    def subject(self, named: str = "") -> str:
        """The subject that an argument names, or the only one that the token is for. Raises
        `NotPermitted` for one that it is not for, known or not."""
        allowed = self.principal.subjects
        if not named.strip():
            name = self._only(allowed)
            self.subject_ref = self.memory.tokens.subject(name)
            return name
        ref = self._ref(named)
        if allowed is not None and ref not in allowed:
            raise NotPermitted(_NOT_FOR)
        self.subject_ref, self.newcomer = ref, named if ref is None else None
        return named

    def met(self) -> None:
        """The call is done: whom it made known is whom it was about."""
        if self.newcomer is not None:
            self.subject_ref, self.newcomer = self._ref(self.newcomer), None

    def about_many(self) -> None:
        """It was about several people, or somebody who is erased: under no one's key."""
        self.subject_ref = self.newcomer = None

    def asks_of(self, named: str = "") -> tuple[str, str | None]:
        """As `subject`, and the person who asks: None where the token is for the subject. A token
        for one person also reaches those with whom they share a team now, and of them what they may
        see. Raises as `subject` does."""
        allowed = self.principal.subjects
        ref = self._ref(named) if named.strip() else None
        if allowed is None or ref is None or ref in allowed or len(allowed) > 1:
            return self.subject(named), None
        reader = self._only(allowed)
        teams = self.memory.teams
        shared = {each.team_id for each in teams.list(named)}
        if shared.isdisjoint(each.team_id for each in teams.list(reader)):
            raise NotPermitted(_NOT_FOR)
        self.subject_ref = ref
        return named, reader

    def _only(self, allowed: frozenset[str] | None) -> str:
        if allowed is None:
            raise InvalidQuery("subject: this token is for everybody; say whom you mean.")
        if len(allowed) > 1:
            raise InvalidQuery("subject: this token is for several people; say whom you mean.")
        [ref] = allowed
        name = self.memory.name_of(ref)
        if name is None:
            raise NotPermitted("Whom this token was for is erased. Ask for another token.")
        return name

    def _ref(self, named: str) -> str | None:
        try:
            return self.memory.tokens.subject(named)
        except NotPermitted:  # erased: for who may see everybody that is told, else nothing is
            if self.principal.subjects is None:
                raise
            return None

    @property
    def for_everybody(self) -> bool:
        """Whether the token is. One for some people is told no positions of the log: they count
        what happens to others."""
        return self.principal.subjects is None

    def moment(self, given: str) -> str | int | None:
        """A time or a position that an argument names; None for none. For a token that is for some
        people a position that there is not yet is the last one, so that it cannot find that out."""
        text = given.strip()
        if not is_position(text):
            return text or None
        position = int(text)
        return position if self.for_everybody else min(position, self.memory.as_of(_LAST).position)

    def grant_first(self, subject: str) -> None:
        """Grant the token's lawful basis to a subject of whom it records something first."""
        if self.principal.consent is not None:
            self.memory.consent.grant_first(subject, self.principal.consent, by=self.principal.name)

    def own_key(self, idempotency_key: str) -> str | None:
        """An idempotency key as the ledger has it: another principal's same key is another."""
        return f"{self.principal.ref}:{idempotency_key}" if idempotency_key else None

    def owns(self, subject: str | None) -> bool:
        """Whether something of a subject may be told to the caller."""
        if subject is None:
            return False
        ref = self._ref(subject)
        allowed = self.principal.subjects
        if ref is None or (allowed is not None and ref not in allowed):
            return False
        self.subject_ref = ref
        return True

    def versions(self, given: str) -> list[BeliefAnswer]:
        """The versions of a memory that the caller may ask for, by its id or the ten characters of
        it or more that a context cites. Raises `UnknownMemory`."""
        found = self.memory.history(cited(given, "memory"))
        known = [each for each in found if each.memory_id.startswith(given)]
        if not known or not self.owns(known[-1].subject):
            raise UnknownMemory("There is no such memory.")
        return [each for each in known if each.memory_id == known[-1].memory_id]

    def memory_id(self, given: str) -> str:
        """The whole id of such a memory. Raises `UnknownMemory`."""
        return self.versions(given)[-1].memory_id


def is_position(given: str) -> bool:
    """Whether what names a moment is a position."""
    return given.strip().isdecimal() and len(given.strip()) < 16


def cited(given: str, what: str) -> str:
    """An id, or the ten characters of it or more that a context cites. Raises `UnknownMemory`."""
    if not _CITED.fullmatch(given):
        raise UnknownMemory(f"There is no such {what}.")
    return given


def whole_id(given: str, what: str) -> str:
    """An id in full: its first characters could be tried out. Raises `UnknownMemory`."""
    if not _ID.fullmatch(given):
        raise UnknownMemory(f"There is no such {what}.")
    return given
