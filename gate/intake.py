"""A turn as a caller hands it in, checked and turned into an event."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import field

from pydantic import JsonValue

from beliefledger.ledger import own_secrets
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidTurn
from beliefledger.ledger.events.choices import Choices, Meant
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.metadata import check_metadata
from beliefledger.ledger.names import check_name, check_text
from beliefledger.ledger.secret_filter import session_name
from beliefledger.ledger.streams import session_tag
from beliefledger.ledger.times import Micros

ROLES = ("user", "assistant", "system", "tool", "other")
IMPORTED = "imported"
"""Said to another ledger and read there: it is on record here, and nobody reads it again."""
CHANNELS = ("conversation", "store", IMPORTED)


def check_size(what: str, words: str, most_bytes: int) -> None:
    """Raises `InvalidTurn` with both sizes for text that is longer than a turn may be."""
    size = len(words) if words.isascii() else len(words.encode())
    if size > most_bytes:
        raise InvalidTurn(
            f"{what} has {size:,} bytes in UTF-8; a turn has at most {most_bytes:,}, as the policy"
            " says (max_turn_bytes)."
        )


@dataclass(frozen=True, slots=True)
class TurnInput:
    """What someone said, where, when, to whom.

    A repeated turn is recognised by its `idempotency_key`; without one by its session, its
    `ordinal` in it (or the time it was said), role and words; with neither, every call records
    another turn.

    A ledger does all this when a turn is recorded; it can be looked at beforehand, too.

    >>> from beliefledger import TurnInput
    >>> turn = TurnInput("ana", "My card is 4111 1111 1111 1111.", session="monday", ordinal=1)
    >>> turn.check(most_bytes=100)
    >>> turn.key() == TurnInput("ana", turn.content, session="monday", ordinal=1).key()
    True
    >>> TurnInput("ana", "Hello.", idempotency_key="1").repeats(turn)  # under that key
    False
    >>> turn.event(key=bytes(32)).content  # as it is recorded
    'My card is [redacted card_number].'
    >>> turn.withheld("").content  # as it is recorded of somebody who was erased
    ''
    """

    subject: str
    content: str
    role: str = "user"
    speaker: str | None = None
    session: str | None = None
    agent: str | None = None
    said_at: Micros | None = None
    ordinal: int | None = None
    idempotency_key: str | None = None
    channel: str = "conversation"
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    """What the caller keeps beside it: a JSON object of at most 4,096 bytes."""
    corrects: Meant | None = None
    """The memory that the words say is wrong."""
    ask: bool = False
    """Whether a person is to choose where the words contradict a belief."""

    def check(self, most_bytes: int) -> None:
        """Raises `InvalidTurn` saying what is wrong. `most_bytes` is the policy's."""
        for name, value in (
            ("subject", self.subject),
            ("content", self.content),
            ("role", self.role),
            ("speaker", self.speaker),
            ("session", self.session),
            ("agent", self.agent),
            ("idempotency_key", self.idempotency_key),
        ):
            if value is None and name not in {"subject", "content", "role"}:
                continue
            text = check_text(name, value, InvalidTurn)
            if name == "content":
                check_size(name, text, most_bytes)
            else:
                check_name(name, text)
        check_metadata(self.metadata)
        if not self.subject.strip():
            raise InvalidTurn("subject is empty.")
        if not self.content.strip():
            raise InvalidTurn("content is empty.")
        if self.role not in ROLES:
            raise InvalidTurn(f"role is {self.role!r}; it must be one of {', '.join(ROLES)}.")
        if self.channel not in CHANNELS:
            raise InvalidTurn(f"channel must be one of {', '.join(CHANNELS)}.")
        if self.ordinal is not None and not isinstance(self.ordinal, int):
            raise InvalidTurn("ordinal must be a whole number.")
        if self.said_at is not None and type(self.said_at) is not int:
            raise InvalidTurn("said_at must be a whole number of microseconds since 1970.")
        if self.said_at is not None and not -(2**53) < self.said_at < 2**53:
            raise InvalidTurn("said_at is out of range.")

    def key(self) -> str:
        """The key by which a repetition of this turn is recognised."""
        if self.idempotency_key is not None:
            return f"given\x1f{self.idempotency_key}"
        if self.ordinal is None and self.said_at is None:
            return f"once\x1f{os.urandom(16).hex()}"
        place = f"#{self.ordinal}" if self.ordinal is not None else f"@{self.said_at}"
        parts = "\x1f".join((self.session or "", place, self.role, self.content))
        return "default\x1f" + hashlib.sha256(parts.encode()).hexdigest()

    def repeats(self, before: TurnRecorded | TurnInput) -> bool:
        """Whether it says what was said before under a key that the caller gave, in the same role.
        Secrets are taken out of both by what is known as one now."""
        same = self.content == before.content and self.role == before.role
        if self.idempotency_key is None or same:
            return True
        if self.channel == "store" != before.channel:
            return True  # refused alike whether that turn is erased or not, once it is looked for
        from beliefledger.ledger.redact import redact  # noqa: PLC0415  (see secret_filter)

        one, other = redact(self.content).text, redact(before.content).text
        return one == other and self.role == before.role

    def event(self, key: bytes, clock_said: Micros | None = None) -> TurnRecorded:
        """The turn with its secrets taken out; `key` is the subject's, for ids. `clock_said` stands
        in for a time nobody stated."""
        from beliefledger.ledger.redact import redact  # noqa: PLC0415  (see secret_filter)

        cleaned = redact(self.content)
        session = session_name(key, self.session)
        counts: dict[str, int] = {}
        for redaction in cleaned.redactions:
            counts[redaction.kind] = counts.get(redaction.kind, 0) + 1
        return TurnRecorded(
            role=self.role,
            channel=self.channel,
            secrets=len(cleaned.redactions),
            content=cleaned.text,
            redacted=counts,
            session_tag=session_tag(key, session),
            speaker=self.speaker,
            session=session,
            agent=self.agent,
            said_at=clock_said if self.said_at is None else self.said_at,
            said_at_stated=self.said_at is not None,
            metadata=dict(self.metadata),
            corrects=self.corrects,
            ask=self.ask,
            redactions=own_secrets.digest(),
        )

    def withheld(self, no_session_tag: str) -> TurnRecorded:
        """The event without words, for an erased turn that is delivered again. Its envelope looks
        like any turn's."""
        from beliefledger.ledger.redact import redact  # noqa: PLC0415  (see secret_filter)

        return TurnRecorded(
            role=self.role,
            channel=self.channel,
            secrets=len(redact(self.content).redactions),
            said_at_stated=self.said_at is not None,
            content="",
            session_tag=no_session_tag,
            withheld=True,
            redactions=own_secrets.digest(),
        )


@dataclass(frozen=True, slots=True)
class ChosenMemory:
    """A memory whose fields a caller chose, and the turn that it is recorded with."""

    turn: TurnInput
    candidate: Candidate
    choices: Choices
