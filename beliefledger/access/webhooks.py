"""Webhooks: who is told of events at an address of theirs, and what did not arrive there."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from datetime import datetime
from operator import attrgetter
from typing import Any

from pydantic import Field

from beliefledger.access.roles import check_role
from beliefledger.access.webhook_checks import check_outcomes, check_position, check_url
from beliefledger.answers import ConsumerAnswer
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import CallerMistake, InvalidTurn, KeyMissing, UnknownMemory
from beliefledger.ledger.event_names import named
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.ops import ConsumerWrittenOff
from beliefledger.ledger.events.webhook import (
    DeliverySettled,
    WebhookRegistered,
    WebhookRemoved,
    WebhookReplayed,
    WebhookSecretRotated,
)
from beliefledger.ledger.log import new_id
from beliefledger.ledger.secret_filter import refuse
from beliefledger.ledger.streams import consumers_stream, webhooks_stream
from beliefledger.ledger.times import SECOND, Micros, to_datetime
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.pages import Cut, Page

CONSUMER = "webhook."
"""Begins the name of the consumer that a webhook is, before its id."""
OVERLAP_SECONDS = 86_400.0
"""How long an older secret is in force beside a new one, unless something else is said."""
SECRET = "whsec_"  # noqa: S105  what every secret begins with, by Standard Webhooks
SAME_SECONDS = 3_600.0
"""How long a problem that lasts is not put on record again."""
_ENDLESS = (DeliverySettled.NAME,)
"""Never delivered: telling that something could not be told would not end."""


class WebhookAnswer(Frozen):
    """A webhook. Its secrets are not here."""

    webhook: str
    name: str
    """Whom it is for."""
    role: str
    url: str
    types: tuple[str, ...]
    outcomes: tuple[str, ...]
    subjects: tuple[str | None, ...] | None
    """Whom it is about, None for who was erased; None as a whole: everybody."""
    registered_at: datetime
    registered_by: str
    position: int
    """Everything up to there has arrived, or is a dead letter."""
    lag: int
    dead_letters: int
    last_problem: str | None
    """Why deliveries failed when they last did so repeatedly: `address refused`, `status 404` …"""
    last_problem_at: datetime | None
    secrets: int
    """How many are in force."""
    removed_at: datetime | None
    removed_by: str | None


class RegisteredWebhook(Frozen):
    """A webhook with the secret that it got just now. `secret` is shown this once."""

    secret: str = Field(repr=False)
    answer: WebhookAnswer


class DeadLetter(Frozen):
    """An event that a webhook could not be told of."""

    webhook: str
    position: int
    at: datetime
    attempts: int
    reason: str
    waiting: bool
    """Whether it is to be sent again, and has not been yet."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A webhook, as whoever delivers has to know it."""

    registered: WebhookRegistered
    at: Micros
    by: str
    version: int
    """Of the last event that changed it."""
    keys: tuple[tuple[str, str, Micros | None], ...]
    """Salt, fingerprint and end of each secret, the newest first."""
    dead: dict[int, Recorded] = field(default_factory=dict)
    again: tuple[int, ...] = ()
    """Dead letters that are to be sent once more."""
    replays: int = 0
    """How often its cursor was set back."""
    removed: Recorded | None = None
    problem: Recorded | None = None
    """The last settled delivery that failed, whether it is tried again or not."""

    @property
    def id(self) -> str:
        return self.registered.webhook

    @property
    def consumer(self) -> str:
        """The name under which its place in the log is kept."""
        return f"{CONSUMER}{self.id}"

    @property
    def types(self) -> frozenset[str]:
        return named(self.registered.types) - frozenset(_ENDLESS)


class Webhooks:
    """Registers webhooks, and knows what each is told and what did not arrive. Everything is on
    record; `beliefledger relay webhooks` delivers."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._log = core.log
        self._stream = webhooks_stream(core.log.tenant)

    # Registering

    def register(
        self,
        url: str,
        name: str,
        *,
        by: str,
        role: str = "agent",
        types: Sequence[str] = ("*",),
        subjects: Sequence[str] | None = None,
        outcomes: Sequence[str] = (),
        after: int | None = None,
    ) -> RegisteredWebhook:
        """Have `name` told of events at a URL. The secret is in the answer, and nowhere else.

        `types` are event types or patterns (`memory.*`), `outcomes` those of what has one
        (`admit`), `subjects` the people it is about, who are registered if nobody knows them;
        None: everybody. What tells of an erasure is delivered besides, whatever the filters. Bodies
        go to the roles that may follow the log; others are told the envelope and its facts. It
        begins past the position `after`: by default with what happens next. Raises `InvalidTurn`,
        `InvalidQuery`, `SecretGiven`, and `NotPermitted` for subjects who were erased.
        """
        actor = self._core.actor(by)
        check_role(role)
        check_url(url)
        if not name.strip() or name.strip() == SYSTEM:
            raise InvalidTurn("name: say whom it is for.")
        for what, given in (("types", types), ("outcomes", outcomes), ("subjects", subjects)):
            if isinstance(given, str):
                raise InvalidTurn(f"{what}: give a list.")
        if not types or (subjects is not None and not subjects):
            raise InvalidTurn("types and subjects: a list has something in it, or is left out.")
        named(types)
        for each in (url, *outcomes):
            refuse(each, "url or outcomes")
        check_outcomes(outcomes)
        head = self._log.head().position
        after = head if after is None else check_position(after, head)
        webhook, salt = new_id(), secrets.token_hex(16)
        secret = self._secret(webhook, salt)
        refs = None if subjects is None else tuple(self._log.register(list(subjects)).values())
        event = WebhookRegistered(
            webhook=webhook,
            principal=self._core.actor(name),
            role=role,
            url=url,
            types=tuple(dict.fromkeys(types)),
            outcomes=tuple(dict.fromkeys(outcomes)),
            subjects=refs,
            salt=salt,
            fingerprint=_fingerprint(secret),
            after=after,
        )
        # The cursor first: were the process killed between the two, nobody would wait for events
        # that an erasure has to wait for.
        self._log.cursors.restore(f"{CONSUMER}{webhook}", after, head)
        self._append(lambda _endpoints: event, actor)
        return RegisteredWebhook(secret=secret, answer=self._answer(self.endpoint(webhook)))

    def rotate_secret(
        self, webhook: str, *, by: str, overlap_seconds: float = OVERLAP_SECONDS
    ) -> RegisteredWebhook:
        """Give a webhook another secret. For so long deliveries are signed with older ones too."""
        if not 0 <= overlap_seconds <= 366 * 86_400:
            raise InvalidTurn("overlap_seconds is 0 to a year.")
        actor, found = self._core.actor(by), self._living(webhook)
        salt = secrets.token_hex(16)
        secret = self._secret(found.id, salt)
        event = WebhookSecretRotated(
            webhook=found.id,
            salt=salt,
            fingerprint=_fingerprint(secret),
            previous_until=self._log.clock() + int(overlap_seconds * SECOND),
        )
        self._append(lambda _endpoints: event, actor)
        return RegisteredWebhook(secret=secret, answer=self._answer(self.endpoint(found.id)))

    def remove(self, webhook: str, *, by: str) -> WebhookAnswer:
        """Tell a webhook of nothing any more. Certificates of erasures that its receiver has not
        acknowledged say who gave it up. Again it does nothing."""
        actor, found = self._core.actor(by), self.endpoint(webhook)
        self._append(
            lambda endpoints: (
                None if endpoints[found.id].removed else WebhookRemoved(webhook=found.id)
            ),
            actor,
        )
        self._write_off(found.consumer, actor)
        return self._answer(self.endpoint(found.id))

    def _write_off(self, consumer: str, actor: str) -> None:
        epoch = next((e.epoch for e in self._log.consumers() if e.name == consumer), 0)
        stream = consumers_stream(self._log.tenant)
        event = ConsumerWrittenOff(consumer=consumer, epoch=epoch)

        def attempt() -> None:
            told = self._log.read_stream(stream)
            if not any(each.event == event for each in told):
                new = New(event, new_id(), stream, None, actor)
                self._log.append([new], {stream: told[-1].version if told else 0})

        self._log.decide_again(attempt)

    # Asking

    def list(
        self, *, all: bool = False, limit: int | None = None, after: str | None = None
    ) -> Page[WebhookAnswer]:
        """The webhooks, in the order in which they were registered; with `all` removed ones too.
        `limit` and `after` are as for `tokens.list`."""
        cut = Cut.of("webhooks", (all,), limit, after)
        found = [each for each in self.endpoints().values() if all or each.removed is None]
        return cut.of_all([self._answer(each) for each in found], attrgetter("webhook"))

    def dead_letters(
        self, webhook: str | None = None, *, limit: int | None = None, after: str | None = None
    ) -> Page[DeadLetter]:
        """What did not arrive and was given up, of one webhook or of all, oldest first."""
        cut = Cut.of("dead letters", (webhook,), limit, after)
        of = self.endpoints().values() if webhook is None else [self.endpoint(webhook)]
        found = [
            DeadLetter(
                webhook=each.id,
                position=position,
                at=to_datetime(settled.recorded_at),
                attempts=settled.facts["attempts"],
                reason=settled.facts["reason"],
                waiting=position in each.again,
            )
            for each in of
            for position, settled in sorted(each.dead.items())
        ]
        return cut.of_all(found, lambda each: f"{each.webhook} {each.position}")

    # Telling again

    def replay(self, webhook: str, *, by: str, after: int) -> WebhookAnswer:
        """Tell a webhook again of everything past a position. Whoever delivers begins there at
        once; event ids are the same, so that the receiver knows what it has."""
        actor, found = self._core.actor(by), self._living(webhook)
        after = check_position(after, self._log.head().position)
        self._append(lambda _endpoints: WebhookReplayed(webhook=found.id, after=after), actor)
        if not self._log.cursors.rewind(found.consumer, after):
            self._log.cursors.restore(found.consumer, after, found.registered.after)
        return self._answer(self.endpoint(found.id))

    def redeliver(
        self, webhook: str, *, by: str, positions: Sequence[int] | None = None
    ) -> tuple[DeadLetter, ...]:
        """Send dead letters of a webhook once more: those at some positions, or all. They come
        without order. Raises `UnknownMemory` for a position that is no dead letter."""
        actor, found = self._core.actor(by), self._living(webhook)
        asked = sorted(found.dead if positions is None else set(positions))
        if missing := [each for each in asked if each not in found.dead]:
            raise UnknownMemory(
                f"{missing[0]} is no dead letter. List them: beliefledger webhooks dead-letters."
            )
        if new := tuple(each for each in asked if each not in found.again):
            self._append(lambda _ends: WebhookReplayed(webhook=found.id, positions=new), actor)
        told = self.dead_letters(found.id)
        return tuple(each for each in told if each.position in asked)

    # For whoever delivers

    def endpoints(self) -> dict[str, Endpoint]:
        """All webhooks by id, folded from their events."""
        return _folded(self._log.read_stream(self._stream))

    def event(self, position: int) -> Recorded:
        """The event at a position as it is now: of who was erased, a tombstone."""
        return self._log.read_at([position])[position]

    def version(self) -> int:
        """Changes whenever something about a webhook does."""
        return self._log.version(self._stream)

    def endpoint(self, webhook: str) -> Endpoint:
        """By its id, or the first characters of it. Raises `UnknownMemory`."""
        ends = self.endpoints()
        found = [each for name, each in ends.items() if webhook and name.startswith(webhook)]
        if len(found) != 1:
            how = "There is no" if not found else "There is more than one"
            raise UnknownMemory(f"{how} such webhook. List them: beliefledger webhooks list --all.")
        return found[0]

    def secrets(self, endpoint: Endpoint) -> tuple[bytes, ...]:
        """The keys that a delivery is signed with now, the newest first. Raises `KeyMissing` where
        the vault is another than it was: rotate the secret then."""
        now = self._log.clock()
        found = []
        for salt, fingerprint, until in endpoint.keys:
            secret = self._secret(endpoint.id, salt)
            if until is not None and until <= now:
                continue
            if _fingerprint(secret) != fingerprint:
                raise KeyMissing(
                    f"The vault does not give the secret of webhook {endpoint.id} any more: rotate"
                    " it with `beliefledger webhooks rotate`."
                )
            found.append(base64.b64decode(secret.removeprefix(SECRET)))
        return tuple(found)

    def settle(
        self, webhook: str, position: int, *, delivered: bool, attempts: int, reason: str = ""
    ) -> None:
        """Put on record that a delivery was given up, or that a dead letter did arrive."""
        outcome = "delivered" if delivered else "failed"
        event = DeliverySettled(
            webhook=webhook, position=position, outcome=outcome, attempts=attempts, reason=reason
        )
        self._append(lambda _endpoints: event, SYSTEM)

    def failing(self, webhook: str, position: int, *, attempts: int, reason: str) -> None:
        """Put on record why nothing arrives, once an hour for one reason. It is tried again."""
        event = DeliverySettled(
            webhook=webhook, position=position, outcome="retried", attempts=attempts, reason=reason
        )
        since = self._log.clock() - int(SAME_SECONDS * SECOND)

        def decide(ends: dict[str, Endpoint]) -> Event | None:
            last = ends[webhook].problem if webhook in ends else None
            told = last is not None and last.recorded_at > since and last.facts["reason"] == reason
            return None if told else event

        self._append(decide, SYSTEM)

    def with_problems(self, consumers: tuple[ConsumerAnswer, ...]) -> tuple[ConsumerAnswer, ...]:
        """Consumers, where they are webhooks with the last problem of each, and without those that
        were removed."""
        known = {each.consumer: each for each in self.endpoints().values()}
        return tuple(
            each.model_copy(update=_problem(known[each.name].problem))
            if each.name in known
            else each
            for each in consumers
            if each.name not in known or known[each.name].removed is None
        )

    def gone(self, webhook: str) -> None:
        """Put on record that a receiver said that it is gone for good. Erasures go on waiting for
        it, until a named person removes the webhook too."""
        self._append(
            lambda ends: (
                None if ends[webhook].removed else WebhookRemoved(webhook=webhook, reason="gone")
            ),
            SYSTEM,
        )

    # Inside

    def _living(self, webhook: str) -> Endpoint:
        found = self.endpoint(webhook)
        if found.removed is not None:
            raise CallerMistake(f"The webhook {found.id} was removed: register another one.")
        return found

    def _secret(self, webhook: str, salt: str) -> str:
        hashed = self._log.vault.notes.keyed_hash
        key = bytes.fromhex("".join(hashed("webhook", webhook, salt, half) for half in "12"))
        return SECRET + base64.b64encode(key).decode()

    def _append(self, decide: Callable[[dict[str, Endpoint]], Event | None], actor: str) -> None:
        def attempt() -> None:
            told = self._log.read_stream(self._stream)
            event = decide(_folded(told))
            if event is not None:
                new = New(event, new_id(), self._stream, None, actor)
                self._log.append([new], {self._stream: told[-1].version if told else 0})

        self._log.decide_again(attempt)

    def _answer(self, of: Endpoint) -> WebhookAnswer:
        registered, vault, now = of.registered, self._log.vault, self._log.clock()
        at = next((e.position for e in self._log.consumers() if e.name == of.consumer), 0)
        return WebhookAnswer(
            webhook=of.id,
            name=vault.principal_name(registered.principal),
            role=registered.role,
            url=registered.url,
            types=registered.types,
            outcomes=registered.outcomes,
            subjects=None
            if registered.subjects is None
            else tuple(vault.real_id(ref) for ref in registered.subjects),
            registered_at=to_datetime(of.at),
            registered_by=vault.principal_name(of.by),
            position=at,
            lag=0 if of.removed else max(0, self._log.head().position - at),
            dead_letters=len(of.dead),
            secrets=sum(until is None or until > now for _, _, until in of.keys),
            removed_at=None if of.removed is None else to_datetime(of.removed.recorded_at),
            removed_by=None if of.removed is None else vault.principal_name(of.removed.actor),
            **_problem(of.problem),
        )


def _problem(told: Recorded | None) -> dict[str, Any]:
    at = None if told is None else to_datetime(told.recorded_at)
    return {"last_problem": None if told is None else told.facts["reason"], "last_problem_at": at}


def _fingerprint(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _folded(told: Sequence[Recorded]) -> dict[str, Endpoint]:
    found: dict[str, Endpoint] = {}
    for each in told:
        event = each.event
        if isinstance(event, WebhookRegistered):
            keys = ((event.salt, event.fingerprint, None),)
            found[event.webhook] = Endpoint(event, each.recorded_at, each.actor, each.version, keys)
            continue
        of = found.get(each.facts["webhook"])
        if of is not None and event is not None:
            found[of.id] = _changed(of, event, each)
    return found


def _changed(of: Endpoint, event: Event, told: Recorded) -> Endpoint:
    of = replace(of, version=told.version)
    match event:
        case WebhookSecretRotated():
            until = event.previous_until
            older = tuple((s, f, until if u is None else min(u, until)) for s, f, u in of.keys)
            return replace(of, keys=((event.salt, event.fingerprint, None), *older))
        case WebhookRemoved():
            return replace(of, removed=of.removed or told)
        case WebhookReplayed() if event.after is None:
            return replace(of, again=(*of.again, *event.positions))
        case WebhookReplayed():
            return replace(of, replays=of.replays + 1)
        case DeliverySettled(outcome="retried"):
            return replace(of, problem=told)
        case DeliverySettled():
            dead = {key: each for key, each in of.dead.items() if key != event.position}
            if event.outcome == "failed":
                dead[event.position] = told
                of = replace(of, problem=told)
            again = tuple(each for each in of.again if each != event.position)
            return replace(of, dead=dead, again=again)
    return of
