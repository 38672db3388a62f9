"""Events of running the ledger: who may act, what was called, what ran."""

from typing import ClassVar

from beliefledger.ledger.events.kind import Event, Fact
from beliefledger.ledger.fields import Name, Score
from beliefledger.ledger.times import Micros


class PrincipalRegistered(Event):
    """Someone who acts on the ledger became known. The name lies in the vault, not here."""

    NAME: ClassVar = "principal.registered.v1"
    principal: Fact[str]


class TokenIssued(Event):
    """A principal was given a token for the doors of the server. The token itself is nowhere."""

    NAME: ClassVar = "token.issued.v1"
    principal: Fact[str]
    """Who acts with it; the name lies in the vault."""
    token_digest: Fact[str]
    """SHA-256 of the token, which is random: nobody guesses it from this."""
    agent: Fact[str]
    """The principal under whose name turns are recorded."""
    role: Fact[Name[str]]
    scopes: Fact[Name[tuple[str, ...]]] = ()
    """Parts or verbs of the front door that it is for; none: all that its role may."""
    subjects: Fact[tuple[str, ...] | None] = None
    """References of those whom it is for; None: everybody. Someone who is erased and comes again
    has another reference, and the token is not for them."""
    consent: Fact[Name[str | None]] = None
    """The lawful basis that is granted at a subject's first turn through it."""
    expires_at: Fact[Micros | None] = None


class TokenRevoked(Event):
    """A token is no longer good."""

    NAME: ClassVar = "token.revoked.v1"
    token_digest: Fact[str]


class ToolCalled(Event):
    """A principal called a tool of the server with a token that was good, and it was done, failed
    or was refused."""

    NAME: ClassVar = "tool.called.v1"
    door: Fact[Name[str]]
    """`mcp`, `stdio`, `a2a` or `http`."""
    tool: Fact[Name[str]]
    """`unknown` where there is none of the name that was asked for."""
    token_digest: Fact[str]
    inputs: Fact[str]
    """Keyed hash of the salt and of what was sent: under the key of the subject, where the call was
    about one, so that nothing can be guessed from it once they are erased."""
    salt: Fact[str]
    outcome: Fact[str]
    """`ok`, or the code that was answered."""
    duration_micros: Fact[int]
    model_tokens: Fact[int] = 0
    """What a model read and wrote for it."""
    cost_micro_usd: Fact[int | None] = 0
    """None where the model's price is not known."""


class AccessRefused(Event):
    """Somebody without a good token knocked at a door; one event counts all of a minute."""

    NAME: ClassVar = "access.refused.v1"
    minute: Fact[Micros]
    source: Fact[str]
    """Keyed hash of the address; `others` for all beyond the first of a minute."""
    count: Fact[int]


BACKUP = "backup"
"""The job that whoever makes backups puts on record."""


class JobRan(Event):
    """A scheduled job ran."""

    NAME: ClassVar = "job.ran.v1"
    job: Fact[Name[str]]
    due: Fact[Micros]
    """The time it was to run at; each is run once, whoever runs the schedule."""
    outcome: Fact[str]
    """`done` or `failed`."""
    counts: Fact[dict[str, int]]
    """What it did, in the job's own words."""
    duration_micros: Fact[int]
    error: Fact[str | None] = None
    """The error's class; its text may quote words."""


class EmbedderAdopted(Event):
    """Search compares vectors of this model from here on."""

    NAME: ClassVar = "embedder.adopted.v1"
    model: Fact[Name[str]]
    dimension: Fact[int]
    previous: Fact[str | None]
    """The model before it: a rollback adopts that again."""
    queries: Fact[int] = 0
    """How many recorded searches were run with both to compare them."""
    parity: Fact[Score] = 0
    """How much of what they found before is found with it."""


class TenantMoved(Event):
    """The ledger was moved here from another place, which takes nothing any more. The first event
    that is written here and not there."""

    NAME: ClassVar = "tenant.moved.v1"
    move: Fact[str]
    events: Fact[int]
    """How many there were."""
    root: Fact[str]
    """Of the tree over them, the same here and there."""
    pause_micros: Fact[int]
    """How long nothing could be written, up to this event."""
    source: Fact[Name[str]]
    destination: Fact[Name[str]]


class TenantMoveGivenUp(Event):
    """A move of the ledger to another place was given up, and this place takes events again."""

    NAME: ClassVar = "tenant.move_given_up.v1"
    move: Fact[str]
    destination: Fact[Name[str]]


class RedactionsDeclared(Event):
    """These redactions of one's own are in force where the first turn is recorded with them. Turns
    name them by their digest. The lists go together: one of each for a kind of secret."""

    NAME: ClassVar = "redactions.declared.v1"
    digest: Fact[str]
    kinds: Fact[Name[tuple[str, ...]]]
    sources: Fact[Name[tuple[str, ...]]]
    """`badges of acme-memory 1.0`, or the class of an object that was given."""
    digests: Fact[tuple[str, ...]]
    """SHA-256 of canonical JSON of the kind, hint, pattern, and whether values are checked."""


class MasterKeyRotated(Event):
    """The key that wraps all others was replaced: a copy of the vault from before is opened only by
    the previous one."""

    NAME: ClassVar = "master_key.rotated.v1"
    previous: Fact[str]
    """The id of the key before, and of the one in force from here on."""
    key: Fact[str]
    subjects: Fact[int]


class SigningKeyRotated(Event):
    """Checkpoints are signed with another key from here on; the one before still verifies its
    own."""

    NAME: ClassVar = "signing_key.rotated.v1"
    previous: Fact[str]
    """The verifier keys, in the format of signed notes."""
    key: Fact[str]


class ConsumerWrittenOff(Event):
    """A named principal said that a consumer is no longer run and is not to be waited for."""

    NAME: ClassVar = "consumer.written_off.v1"
    consumer: Fact[Name[str]]
    epoch: Fact[int]
    """Of its cursor then: a consumer that is claimed again is waited for again."""


class ConsumerAcknowledged(Event):
    """A named consumer confirmed an erasure."""

    NAME: ClassVar = "consumer.acknowledged.v1"
    consumer: Fact[Name[str]]
    erasure: Fact[str]


class VaultCommitted(Event):
    """The vault's register had grown, and the log was told how far it goes."""

    NAME: ClassVar = "vault.committed.v1"
    serial: Fact[int]
    """Its last entry."""
    digest: Fact[str]
    """The keyed hash over all entries up to that one."""
    restored: Fact[bool] = False
    """The vault had been restored from a backup: what was told before need not hold any more."""


class LedgerExported(Event):
    """All events past a position were handed out, with their words. Recorded before the first is;
    it is the last of them."""

    NAME: ClassVar = "ledger.exported.v1"
    after: Fact[int] = 0
