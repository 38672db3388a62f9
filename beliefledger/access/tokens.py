"""Tokens: who may use the server's doors, as whom, for whom, and for what."""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from typing import Literal

from pydantic import Field, JsonValue

from beliefledger.access import requests
from beliefledger.access.calls import Call, CallSum, record_call, record_refusals
from beliefledger.access.principal import SHORT, Principal
from beliefledger.access.roles import check_role, check_scopes
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidTurn, NotPermitted, OlderProgram, UnknownMemory
from beliefledger.ledger.events.ops import TokenIssued, TokenRevoked
from beliefledger.ledger.log import new_id
from beliefledger.ledger.names import check_text
from beliefledger.ledger.streams import tokens_stream
from beliefledger.ledger.times import Micros, to_datetime
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.pages import Cut, Page
from beliefledger.projections import calls
from beliefledger.projections.calls import CallsView
from beliefledger.reading.queries import Queries
from beliefledger.times import Moment, micros

PREFIX = "blt_"
"""Begins every token, so that scanners of source code, and our own redaction, know one."""
LOOK_SECONDS = 0.5
"""How old what is known of tokens may be: so soon after it was revoked elsewhere a token is
refused."""
_TOKEN = re.compile(rf"{PREFIX}[\w-]{{43}}")
_NOT_GOOD = "This is no token that is in force."
State = Literal["active", "expired", "revoked"]


class TokenRefused(NotPermitted):
    """Make a token with `beliefledger token create`, or ask whoever runs the server for one."""


class TokenAnswer(Frozen):
    """A token: who has it and what it is for. The token itself is not kept."""

    token_id: str
    """The first 16 characters of its SHA-256."""
    name: str
    agent: str
    role: str
    scopes: tuple[str, ...]
    subjects: tuple[str | None, ...] | None
    """Whom it is for, None for who was erased; None as a whole: everybody."""
    consent: str | None
    issued_at: datetime
    issued_by: str
    expires_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None
    last_used_at: datetime | None
    state: State


class IssuedToken(Frozen):
    """A token that was made just now. `token` is shown this once."""

    token: str = Field(repr=False)
    answer: TokenAnswer


@dataclass(frozen=True, slots=True)
class _Known:
    """A token as its events tell of it."""

    issued: TokenIssued
    at: Micros
    by: str
    revoked_at: Micros | None = None
    revoked_by: str | None = None


class Tokens:
    """Makes, lists and revokes tokens, tells whose one is, and records calls made with one."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}
        self._principals: dict[str, Principal] = {}
        """Of tokens that were used: what was issued never changes."""
        self._version = 0
        self._looked_at = float("-inf")
        self._overtaken: OlderProgram | None = None

    def create(
        self,
        name: str,
        *,
        by: str,
        subjects: Sequence[str] | None,
        role: str = "agent",
        agent: str | None = None,
        consent: str | None = None,
        scopes: Sequence[str] = (),
        expires_at: Moment | None = None,
    ) -> IssuedToken:
        """Make a token for who acts as `name`; it is in the answer, and nowhere else.

        `subjects` are those whom it is for, who are registered if nobody knows them yet; None:
        everybody. `agent` is the name under which turns are recorded, by default `name`. `consent`
        is the lawful basis that is granted at a subject's first turn through the token. `scopes`
        narrow what its `role` may: parts ("conflicts"), "memory" for the verbs of the front door,
        or single verbs ("consent.grant"). Raises `InvalidTurn`, `SecretGiven`, and `NotPermitted`
        without a name and for subjects who were erased.
        """
        made_by = self._core.actor(by)
        check_role(role)
        scopes = check_scopes(scopes)
        expires = micros(expires_at, "expires_at")
        if expires is not None and expires <= self._log.clock():
            raise InvalidTurn("expires_at has passed already: give a time to come.")
        if consent is not None:
            self._core.rulebook.refreshed().policy.check_basis(consent)
        refs = self._refs(subjects)
        principal = self._acting("name", name)
        token = PREFIX + secrets.token_urlsafe(32)
        issued = TokenIssued(
            principal=principal,
            token_digest=digest(token),
            agent=principal if agent is None else self._acting("agent", agent),
            role=role,
            scopes=scopes,
            subjects=refs,
            consent=consent,
            expires_at=expires,
        )
        self._append(issued, made_by)
        with self._lock:
            self._look()
            return IssuedToken(token=token, answer=self._answer(issued.token_digest, {}))

    def list(
        self, *, all: bool = False, limit: int | None = None, after: str | None = None
    ) -> Page[TokenAnswer]:
        """The tokens that are in force, in the order they were made; with `all` also those that
        are expired or revoked. With `limit` it is a page, whose `next` is given as `after` for the
        one behind it."""
        cut = Cut.of("tokens", (all,), limit, after)
        with self._queries.view(CallsView.name) as (connection, generation):
            used = calls.last_uses(connection, generation)
        with self._lock:
            self._look()
            answers = [self._answer(each, used) for each in self._known]
        found = [each for each in answers if all or each.state == "active"]
        return cut.of_all(found, attrgetter("token_id"))

    def revoke(self, token_id: str, *, by: str) -> TokenAnswer:
        """End a token, by its id or the first characters of it: from now on in this process, and
        within a second in every other. Again it does nothing. Raises `UnknownMemory`."""
        actor = self._core.actor(by)
        with self._lock:
            self._look()
            found = [each for each in self._known if token_id and each.startswith(token_id)]
        if len(found) != 1:
            how = "There is no" if not found else "There is more than one"
            raise UnknownMemory(f"{how} such token. List them: beliefledger token list --all.")
        [of] = found

        def attempt() -> None:
            with self._lock:
                self._look()
                known, version = self._known[of], self._version
            if known.revoked_at is None:
                stream = tokens_stream(self._log.tenant)
                event = New(TokenRevoked(token_digest=of), new_id(), stream, None, actor)
                self._log.append([event], {stream: version})

        self._log.decide_again(attempt)
        with self._lock:
            self._look()
            return self._answer(of, {})

    def principal(self, token: str | None) -> Principal:
        """Whose token this is. Raises `TokenRefused` for one that is none, is unknown, expired or
        revoked (without saying which), `BackendUnavailable` where that cannot be looked up."""
        if token is None or not _TOKEN.fullmatch(token):
            raise TokenRefused(_NOT_GOOD)
        with self._lock:
            if time.monotonic() - self._looked_at > LOOK_SECONDS:
                self._look()
            known = self._known.get(digest(token))
        if known is None or self._state(known) != "active":
            raise TokenRefused(_NOT_GOOD)
        found = self._principals.get(known.issued.token_digest)
        if found is None:
            found = self._principals[known.issued.token_digest] = self._principal(known.issued)
        return found

    def at_hand(self, token: str | None) -> Principal | None:
        """Whose token this is, where that is known of a look within the last half second, at once
        and without asking the database; None: ask `principal`."""
        if token is None or not self._lock.acquire(blocking=False):
            return None
        try:
            if time.monotonic() - self._looked_at > LOOK_SECONDS:
                return None
            of = digest(token)
            known = self._known.get(of)
            if known is None or self._state(known) != "active":
                return None
            return self._principals.get(of)
        finally:
            self._lock.release()

    def in_force(self, principal: Principal) -> bool:
        """Whether a token that was good still is: looked up anew after half a second, as for every
        call. One that no event tells of lasts until it expires."""
        if principal.expires_at is not None and principal.expires_at <= self._log.clock():
            return False
        with self._lock:
            if time.monotonic() - self._looked_at > LOOK_SECONDS:
                self._look()
            known = self._known.get(principal.token)
        return known is None or self._state(known) == "active"

    def _principal(self, issued: TokenIssued) -> Principal:
        vault = self._log.vault
        return Principal(
            name=vault.principal_name(issued.principal),
            ref=issued.principal,
            agent=vault.principal_name(issued.agent),
            role=issued.role,
            scopes=issued.scopes,
            tenant=self._log.tenant,
            token=issued.token_digest,
            subjects=None if issued.subjects is None else frozenset(issued.subjects),
            consent=issued.consent,
            expires_at=issued.expires_at,
        )

    def vouched(
        self,
        issuer: str,
        *,
        name: str,
        agent: str | None,
        role: str,
        scopes: Sequence[str],
        subjects: Sequence[str] | None,
        consent: str | None,
        tenant: str | None = None,
    ) -> Principal:
        """Who acts with a token that another issuer has signed, which was checked. Who is not known
        yet is registered. Raises `InvalidTurn`, `SecretGiven`, and `NotPermitted` for subjects who
        were erased and for another tenant."""
        if tenant not in (None, self._log.tenant):
            raise NotPermitted("It is for another tenant.")
        refs = self._refs(subjects)
        acting = self._acting("name", name)
        known = self._log.vault.notes.keyed_hash("issuer", issuer, name, agent or "")
        return Principal(
            name=name,
            ref=acting,
            agent=agent or name,
            role=check_role(role),
            scopes=check_scopes(scopes),
            tenant=self._log.tenant,
            token=known,
            subjects=None if refs is None else frozenset(refs),
            consent=consent,
            expires_at=None,
        )

    def subject(self, name: str) -> str | None:
        """The reference of a subject, as a token has it; None for nobody. Raises `NotPermitted`
        for somebody who was erased."""
        return self._log.subject(name)

    def ready(self) -> None:
        """Find out whether tokens can be looked up. Raises `BackendUnavailable`, and `OlderProgram`
        once a call could not be put on record for that reason."""
        if self._overtaken is not None:
            raise self._overtaken
        with self._lock:
            self._look()

    def record_call(self, call: Call) -> int:
        """Put a call of a tool on record, durably; returns its position."""
        try:
            return record_call(self._log, call)
        except OlderProgram as problem:
            self._overtaken = problem
            raise

    def record_refusals(self, minute: Micros, counts: Mapping[str, int]) -> None:
        """Put on record how often each address came without a good token in a minute."""
        record_refusals(self._log, minute, counts)

    def begin_request(
        self, asked: requests.KeyedRequest, seconds: float
    ) -> requests.Begun | requests.Done | requests.UnderWay:
        """Take a request on that is to be done once under its key. One that was begun and has not
        ended after `seconds` is begun anew."""
        return requests.begin(self._log, asked, seconds)

    def end_request(
        self,
        asked: requests.KeyedRequest,
        begun: requests.Begun,
        answer: JsonValue,
        subject: str | None,
    ) -> None:
        """Keep the answer, without words, to a request about this reference. None: it was refused,
        and its key is free again."""
        if answer is None:
            requests.give_up(self._log, asked, begun)
        else:
            requests.end(self._log, asked, begun, answer, subject)

    def calls(
        self,
        start: Moment | None = None,
        end: Moment | None = None,
        *,
        limit: int | None = None,
        after: str | None = None,
        token: str | None = None,
    ) -> Page[CallSum]:
        """The calls recorded in [start, end), summed by who called, tool and outcome; those of one
        token, by its SHA-256, or of all. Tokens of the same name are told as one. `limit` and
        `after` are as for `list`."""
        cut = Cut.of("calls", (start, end, token), limit, after)
        since, until = micros(start, "start"), micros(end, "end")
        with self._queries.view(CallsView.name) as (connection, generation):
            rows = calls.sums(connection, generation, since, until, token)
        page = cut.of_all(rows, lambda row: f"{row.principal} {row.tool} {row.outcome}")
        answers = (
            CallSum(
                name=self._log.vault.principal_name(row.principal),
                tool=row.tool,
                outcome=row.outcome,
                calls=row.calls,
                seconds=row.duration_micros / 1e6,
                model_tokens=row.model_tokens,
                cost_micro_usd=row.cost_micro_usd,
                last_at=to_datetime(row.last_at),
            )
            for row in page
        )
        return Page(answers, page.next)

    def _refs(self, subjects: Sequence[str] | None) -> tuple[str, ...] | None:
        if subjects is None:
            return None
        if isinstance(subjects, str) or not isinstance(subjects, Collection) or not subjects:
            raise InvalidTurn("subjects: give a list of names, or None for everybody.")
        if not all(check_text("subjects", each).strip() for each in subjects):
            raise InvalidTurn("subjects: one is empty.")
        return tuple(self._log.register(list(subjects)).values())

    def _acting(self, what: str, name: str) -> str:
        if name.strip() == SYSTEM:
            raise InvalidTurn(f"{what}: what the ledger does by itself has the name {SYSTEM}.")
        if not name.strip():
            raise InvalidTurn(f"{what} is empty.")
        return self._core.actor(name)

    def _append(self, event: TokenIssued, actor: str) -> None:
        stream = tokens_stream(self._log.tenant)
        new = New(event, new_id(), stream, None, actor)
        self._log.decide_again(lambda: self._log.append([new], {stream: self._log.version(stream)}))

    def _look(self) -> None:
        """Fold what happened to tokens since the last look. The lock is held."""
        for recorded in self._log.read_stream(tokens_stream(self._log.tenant), self._version):
            self._fold(recorded)
            self._version = recorded.version
        self._looked_at = time.monotonic()

    def _fold(self, recorded: Recorded) -> None:
        event, at, by = recorded.event, recorded.recorded_at, recorded.actor
        if isinstance(event, TokenIssued):
            self._known[event.token_digest] = _Known(event, at, by)
        elif isinstance(event, TokenRevoked) and event.token_digest in self._known:
            known = self._known[event.token_digest]
            if known.revoked_at is None:
                self._known[event.token_digest] = replace(known, revoked_at=at, revoked_by=by)

    def _state(self, known: _Known) -> State:
        if known.revoked_at is not None:
            return "revoked"
        until = known.issued.expires_at
        return "expired" if until is not None and until <= self._log.clock() else "active"

    def _answer(self, of: str, used: Mapping[str, Micros]) -> TokenAnswer:
        known, vault = self._known[of], self._log.vault
        issued = known.issued
        return TokenAnswer(
            token_id=of[:SHORT],
            name=vault.principal_name(issued.principal),
            agent=vault.principal_name(issued.agent),
            role=issued.role,
            scopes=issued.scopes,
            subjects=None
            if issued.subjects is None
            else tuple(vault.real_id(ref) for ref in issued.subjects),
            consent=issued.consent,
            issued_at=to_datetime(known.at),
            issued_by=vault.principal_name(known.by),
            expires_at=_when(issued.expires_at),
            revoked_at=_when(known.revoked_at),
            revoked_by=None if known.revoked_by is None else vault.principal_name(known.revoked_by),
            last_used_at=_when(used.get(of)),
            state=self._state(known),
        )


def digest(token: str) -> str:
    """SHA-256 of a token, in hex. A token is 256 random bits, so that it needs no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def _when(moment: Micros | None) -> datetime | None:
    return None if moment is None else to_datetime(moment)
