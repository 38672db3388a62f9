"""Where it is told who issues tokens for this server (RFC 9728)."""

from __future__ import annotations

from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl
from starlette.routing import Route

from beliefledger.tools.server.oauth import OAuth


def metadata_url(oauth: OAuth) -> str:
    """The address that a 401 names."""
    return str(build_resource_metadata_url(_resource(_settings(oauth))))


def metadata_routes(oauth: OAuth | None) -> list[Route]:
    """What answers there; nothing without an issuer."""
    if oauth is None:
        return []
    settings = _settings(oauth)
    return create_protected_resource_routes(
        _resource(settings), [settings.issuer_url], resource_name="beliefledger"
    )


def _settings(oauth: OAuth) -> AuthSettings:
    return AuthSettings.model_validate(
        {
            "issuer_url": oauth.issuer,
            "resource_server_url": oauth.resource,
            "validate_token_resource": False,  # the issuer's part here checks the audience
        }
    )


def _resource(settings: AuthSettings) -> AnyHttpUrl:
    assert settings.resource_server_url is not None
    return settings.resource_server_url
