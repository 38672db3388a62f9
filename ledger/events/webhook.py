"""Events of webhooks: who is told of what happens, at which address, and what did not arrive."""

from typing import ClassVar

from beliefledger.ledger.events.kind import Event, Fact
from beliefledger.ledger.fields import Name
from beliefledger.ledger.times import Micros


class WebhookRegistered(Event):
    """Somebody is to be told of events at an address from here on. The secret that deliveries are
    signed with is not here: it is computed from the salt with a key that lies in the vault."""

    NAME: ClassVar = "webhook.registered.v1"
    webhook: Fact[str]
    principal: Fact[str]
    """Whom it is for; the name lies in the vault."""
    role: Fact[Name[str]]
    """What they may see: bodies go to a role that may follow the log."""
    url: Fact[Name[str]]
    types: Fact[Name[tuple[str, ...]]]
    """Event types or patterns; what tells of an erasure is delivered besides."""
    outcomes: Fact[Name[tuple[str, ...]]]
    """Of what has an outcome, only these; none: all."""
    subjects: Fact[tuple[str, ...] | None] = None
    """References of those whom it is about; None: everybody, and what is about nobody."""
    salt: Fact[str]
    fingerprint: Fact[str]
    """SHA-256 of the secret: whether the vault still has the key it is computed with."""
    after: Fact[int] = 0
    """The position past which it begins."""


class WebhookSecretRotated(Event):
    """A webhook got another secret; the one before is in force beside it for some time."""

    NAME: ClassVar = "webhook.secret_rotated.v1"
    webhook: Fact[str]
    salt: Fact[str]
    fingerprint: Fact[str]
    previous_until: Fact[Micros]
    """Until when, deliveries are signed with older secrets too."""


class WebhookRemoved(Event):
    """A webhook is told of nothing any more."""

    NAME: ClassVar = "webhook.removed.v1"
    webhook: Fact[str]
    reason: Fact[Name[str]] = "removed"
    """`removed` by who acted; `gone` where its receiver answered 410."""


class WebhookReplayed(Event):
    """A webhook is to be told again: of everything past a position, or of some dead letters."""

    NAME: ClassVar = "webhook.replayed.v1"
    webhook: Fact[str]
    after: Fact[int | None] = None
    positions: Fact[tuple[int, ...]] = ()


class DeliverySettled(Event):
    """A delivery was given up and is a dead letter from here on; or a dead letter did arrive when
    it was sent again; or nothing has arrived for several attempts, which go on."""

    NAME: ClassVar = "webhook.delivery_settled.v1"
    webhook: Fact[str]
    position: Fact[int]
    """Of the event that was delivered, or was not."""
    outcome: Fact[str]
    """`failed` or `delivered`; `retried`: it is tried again."""
    attempts: Fact[int]
    reason: Fact[Name[str]] = ""
    """Why the last attempt failed: `status 500`, `timeout`, `no connection`, `address refused` …"""
