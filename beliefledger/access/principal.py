"""Who calls through a door: what their token says of them."""

from __future__ import annotations

from dataclasses import field, replace

from beliefledger.access.roles import may, who_may
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import NotPermitted
from beliefledger.ledger.times import Micros

SHORT = 16
"""Characters of a token's digest that it is known by."""


class TokenNotForThis(NotPermitted):
    """The token is not for this. Ask for one that is."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The holder of a token, with the rights that it gives. Nothing here is secret."""

    name: str
    ref: str
    """What stands in the log for the name."""
    agent: str
    """Under whose name turns are recorded."""
    role: str
    scopes: tuple[str, ...]
    tenant: str
    token: str = field(repr=False)
    """SHA-256 of the token; a keyed hash of who acts, where an issuer signs a new one each hour."""
    subjects: frozenset[str] | None
    """References of those whom it is for; None: everybody."""
    consent: str | None
    """The lawful basis that is granted at a subject's first turn."""
    expires_at: Micros | None

    @property
    def token_id(self) -> str:
        return self.token[:SHORT]

    def may(self, verb: str) -> bool:
        """Whether the token is for a verb, such as `search` or `consent.grant`."""
        return may(self.role, self.scopes, verb)

    def until(self, expires_at: Micros) -> Principal:
        """The same, with another end."""
        return replace(self, expires_at=expires_at)

    def require(self, verb: str) -> None:
        """Raises `TokenNotForThis`, which says who may."""
        if self.may(verb):
            return
        if may(self.role, (), verb):
            raise TokenNotForThis(f"The scopes of this token leave out {verb}.")
        raise TokenNotForThis(
            f"The role {self.role} may not call {verb}. These may: {who_may(verb) or 'nobody'}."
        )
