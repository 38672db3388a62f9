"""How a server knows the tokens of an OAuth issuer: the part `oauth` of its configuration."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

_SYMMETRIC = ("HS", "none")


def _asymmetric(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or any(each.startswith(_SYMMETRIC) for each in names):
        raise ValueError("name algorithms with a public key, as RS256")
    return names


def _address(text: str) -> str:
    loopback = ("http://127.0.0.1", "http://localhost", "http://[::1]")
    if not text.startswith(("https://", *loopback)):
        raise ValueError("give an https:// address")
    return text


def _keys_at(text: str) -> str:
    return _address(text) if "://" in text else text


class Claims(BaseModel):
    """Which claim of a JWT says what; a dot leads into an object (`realm_access.roles`)."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: str = "sub"
    """Who acts."""
    agent: str | None = None
    """The name under which turns are recorded, `azp` or `client_id`; None: who acts."""
    role: str = "role"
    subjects: str = "sub"
    """For whom the token is."""
    scopes: str | None = None
    """What narrows the role; None: nothing does."""
    tenant: str | None = None
    """Has to be the ledger's, where it is named."""


class OAuth(BaseModel):
    """The issuer whose JWTs are taken, and what their claims mean here."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    issuer: Annotated[str, AfterValidator(_address)]
    """As `iss` has it."""
    resource: Annotated[str, AfterValidator(_address)]
    """Where clients reach `/mcp`: what they ask the issuer for, and the audience of its tokens."""
    audience: tuple[str, ...] = ()
    """Audiences that are taken instead of `resource`."""
    jwks: Annotated[str, AfterValidator(_keys_at)]
    """The issuer's public keys: an address, or a file."""
    algorithms: Annotated[tuple[str, ...], AfterValidator(_asymmetric)] = (
        "RS256",
        "ES256",
        "EdDSA",
    )
    leeway_seconds: int = Field(30, ge=0, le=300)
    claims: Claims = Claims()
    roles: dict[str, str] = Field(default_factory=dict)
    """Which value of the claim gives which role, the first that is there; empty: the value is the
    role."""
    role: str | None = None
    """For who has none of them; None: they are refused."""
    everybody: tuple[str, ...] = ()
    """Roles whose tokens are for everybody, and not for the claim's subjects."""
    consent: str | None = None
    """The lawful basis that is granted at the first turn of a subject, as with `--consent`."""

    @property
    def audiences(self) -> list[str]:
        return list(self.audience or (self.resource,))
