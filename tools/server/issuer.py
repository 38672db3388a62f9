"""Tokens of an OAuth issuer: whose a JWT is, as the configuration maps its claims.

The only module that knows PyJWT.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jwt
from jwt import PyJWK, PyJWKClient, PyJWKSet

from beliefledger.access.principal import Principal
from beliefledger.access.roles import check_role, known_scopes
from beliefledger.access.tokens import PREFIX, TokenRefused, Tokens
from beliefledger.ledger.errors import BackendUnavailable, CallerMistake
from beliefledger.tools.server.oauth import OAuth

logger = logging.getLogger("beliefledger.server")
_KEYS_SECONDS = 300
"""So old the issuer's keys may be."""
_AGAIN_SECONDS = 10
"""So long after the issuer could not be asked it is not asked again."""
_TIMEOUT_SECONDS = 5
_REMEMBER_SECONDS = 60
"""So long what the vault says of a principal is used again."""
_MOST = 10_000
_NOT_GOOD = "This is no token that is in force."


class Issuer:
    """Tells whose a token is: a JWT of the issuer, or one of ours."""

    def __init__(self, told: OAuth, tokens: Tokens) -> None:
        for role in (*told.roles.values(), *told.everybody, *filter(None, [told.role])):
            check_role(role)
        self._told = told
        self._tokens = tokens
        self._keys = _Keys(told.jwks)
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, Principal]] = {}

    def principal(self, token: str | None) -> Principal:
        """Whose a token is. Raises `TokenRefused`, without saying why, and `BackendUnavailable`
        where the issuer's keys or the ledger cannot be asked."""
        if token is None or token.startswith(PREFIX) or token.count(".") != 2:
            return self._tokens.principal(token)
        try:
            return self._mapped(self._checked(token))
        except (jwt.PyJWTError, CallerMistake) as problem:
            # Of a token that was not sent by mistake, whoever runs the server wants to know.
            logger.info("a token of the issuer was refused: %s", _why(problem))
            raise TokenRefused(_NOT_GOOD) from None

    def _checked(self, token: str) -> Mapping[str, Any]:
        header = jwt.get_unverified_header(token)
        if header.get("alg") not in self._told.algorithms:
            raise jwt.InvalidAlgorithmError("its algorithm is not one of the configuration's")
        claims: Mapping[str, Any] = jwt.decode(
            token,
            self._keys.key(header.get("kid")),
            algorithms=list(self._told.algorithms),
            audience=self._told.audiences,
            issuer=self._told.issuer,
            leeway=self._told.leeway_seconds,
            options={"require": ["exp", "iss", "aud"]},
        )
        return claims

    def _mapped(self, claims: Mapping[str, Any]) -> Principal:
        told, named = self._told, self._told.claims
        role = self._role(claims)
        everybody = role in told.everybody
        expires_at = int(claims["exp"]) * 1_000_000
        given: dict[str, Any] = {
            "issuer": told.issuer,
            "name": _one(claims, named.name),
            "agent": _one(claims, named.agent) if named.agent else None,
            "role": role,
            "scopes": self._scopes(claims),
            "subjects": None if everybody else _many(claims, named.subjects),
            "consent": told.consent,
            "tenant": _one(claims, named.tenant) if named.tenant else None,
        }
        key, now = json.dumps(given), time.monotonic()
        with self._lock:
            since, known = self._known.get(key, (0.0, None))
        if known is None or now - since > _REMEMBER_SECONDS:
            known = self._tokens.vouched(**given)
            with self._lock:
                if len(self._known) >= _MOST:
                    self._known.clear()
                self._known[key] = now, known
        return known.until(expires_at)

    def _role(self, claims: Mapping[str, Any]) -> str:
        told = self._told
        values = _values(claims, told.claims.role)
        if not told.roles:
            found = [each for each in values if each]
        else:
            found = [role for value, role in told.roles.items() if value in values]
        role = next(iter(found), told.role)
        if role is None:
            raise CallerMistake("no role of ours follows from its claims")
        return check_role(role)

    def _scopes(self, claims: Mapping[str, Any]) -> tuple[str, ...]:
        """Those of ours: an issuer's others are none of our business. Where a claim is named and
        has none of ours, the token is for nothing."""
        named = self._told.claims.scopes
        if named is None:
            return ()
        found = [each for value in _values(claims, named) for each in value.split()]
        ours = tuple(each for each in dict.fromkeys(found) if each in known_scopes())
        if not ours:
            raise CallerMistake("none of its scopes is one of ours")
        return ours


class _Keys:
    """The issuer's public keys, from a file or from a URL."""

    def __init__(self, at: str) -> None:
        self._client: PyJWKClient | None = None
        self._set: PyJWKSet | None = None
        self._failed_at = float("-inf")
        if at.startswith(("http://", "https://")):
            self._client = PyJWKClient(
                at,
                lifespan=_KEYS_SECONDS,
                timeout=_TIMEOUT_SECONDS,
                cooldown_duration=_AGAIN_SECONDS,
            )
            return
        try:
            self._set = PyJWKSet.from_json(Path(at).read_text("utf-8"))
        except (OSError, ValueError, jwt.PyJWTError) as problem:
            raise CallerMistake(f"oauth.jwks: {at} is no file of keys ({problem}).") from None

    def key(self, kid: object) -> PyJWK:
        """The key of this id; the only one where a token names none."""
        if self._client is None:
            assert self._set is not None
            return _of(self._set.keys, kid)
        if time.monotonic() - self._failed_at < _AGAIN_SECONDS:
            raise BackendUnavailable("The issuer's keys cannot be had now.")
        try:
            if isinstance(kid, str):
                return self._client.get_signing_key(kid)
            return _of(self._client.get_signing_keys(), kid)
        except jwt.PyJWKClientConnectionError as problem:
            self._failed_at = time.monotonic()
            logger.warning("the issuer's keys cannot be had: %s", problem)
            raise BackendUnavailable("The issuer's keys cannot be had now.") from problem


def _of(keys: Sequence[PyJWK], kid: object) -> PyJWK:
    found = [each for each in keys if kid is None or each.key_id == kid]
    if len(found) != 1:
        raise jwt.InvalidKeyError("no key of the issuer has the id that it names")
    return found[0]


def _values(claims: Mapping[str, Any], name: str) -> list[str]:
    """The texts of a claim, by its name or by its path (`realm_access.roles`)."""
    found: Any = claims.get(name)
    if found is None:
        found = claims
        for part in name.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    if isinstance(found, str):
        return [found]
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _many(claims: Mapping[str, Any], name: str) -> list[str]:
    found = [each for each in _values(claims, name) if each.strip()]
    if not found:
        raise CallerMistake(f"it has no claim {name}")
    return found


def _one(claims: Mapping[str, Any], name: str) -> str:
    found = _many(claims, name)
    if len(found) != 1:
        raise CallerMistake(f"its claim {name} is not one text")
    return found[0]


def _why(problem: Exception) -> str:
    """The class of what a library says, since its words may quote the token; the words of ours."""
    return str(problem) if isinstance(problem, CallerMistake) else type(problem).__name__
