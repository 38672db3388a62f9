"""How a server is set up: a YAML file, over it the environment, over it the command line."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_serializer,
    field_validator,
)

from beliefledger.ledger.consumer import LEASE_SECONDS
from beliefledger.ledger.errors import CallerMistake
from beliefledger.settings import SERVER_PREFIX, server_environment
from beliefledger.tools.server.bucket import Bucket
from beliefledger.tools.server.oauth import OAuth

FILE = "config"
_LISTS = ("hosts", "origins")


class Configuration(BaseModel):
    """All settings of a server; what is not said has these defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: str = "127.0.0.1"
    port: int = Field(8321, ge=0, le=65_535)
    """0: any that is free."""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False
    """Whether a proxy in front has the certificate, and tells where requests come from."""
    hosts: tuple[str, ...] = ()
    """Names, with ports, under which it is reached besides the loopback's."""
    origins: tuple[str, ...] = ()
    """Origins of pages that may call it."""
    worker: bool = True
    """Whether turns are decided and views kept up in this process."""
    schedule: bool = True
    """Whether jobs run here when they are due: expiry, retention, checkpoints …"""
    lease_seconds: float = Field(LEASE_SECONDS, ge=1, le=600)
    """So soon after a process dies, another takes its work over."""
    threads: int = Field(8, ge=1, le=64)
    """How many calls are worked on at once."""
    call_seconds: float = Field(30, gt=0, le=3_600)
    """So long a call may take."""
    max_body_bytes: int = Field(1_000_000, ge=1_000, le=100_000_000)
    calls_per_minute: int = Field(600, ge=1)
    """Of each token."""
    oauth: OAuth | None = None
    """The issuer whose tokens are taken beside ours; only in a file."""
    exports: Bucket | Path | None = None
    """The directory, or a bucket's URL, that `trigger_audit_export` writes to; without it, it
    answers so."""
    stop_seconds: int = Field(10, ge=0, le=600)
    """So long a stop waits for calls that were begun."""
    log_format: Literal["console", "json"] = "console"
    """Whether a line of the log is for people, or a JSON document."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """What of our own is logged; every call is at `info`."""

    @field_validator("exports", mode="before")
    @classmethod
    def _bucket(cls, given: object) -> object:
        is_url = isinstance(given, str) and given.partition("://")[0].lower() in {"http", "https"}
        return Bucket(str(given)) if is_url else given

    @field_serializer("exports")
    def _told(self, given: Bucket | Path | None) -> str | None:
        if isinstance(given, Bucket):
            return given.url
        return None if given is None else str(given)

    def check(self) -> None:
        """Raises `CallerMistake` for what must not be served so."""
        if (self.tls_cert is None) != (self.tls_key is None):
            raise CallerMistake("tls_cert and tls_key belong together: give both, or neither.")
        for name, file in (("tls_cert", self.tls_cert), ("tls_key", self.tls_key)):
            if file is not None and not file.is_file():
                raise CallerMistake(f"{name}: there is no file {file}.")
        if self.tls_cert is not None and self.tls_key is not None:
            _check_certificate(self.tls_cert, self.tls_key)
        if not is_loopback(self.host) and self.tls_cert is None and not self.behind_proxy:
            raise CallerMistake(
                f"{self.host} can be reached from elsewhere, and tokens would travel in clear: give"
                " tls_cert and tls_key, or say behind_proxy where a proxy has the certificate."
            )

    @property
    def is_public(self) -> bool:
        return not is_loopback(self.host)


def _check_certificate(cert: Path, key: Path) -> None:
    """Raises `CallerMistake` that says which of the two cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_verify_locations(cert)
    except ssl.SSLError:
        raise CallerMistake(f"tls_cert: this is no certificate (PEM): {cert}.") from None
    try:
        context.load_cert_chain(cert, key, password="")  # else OpenSSL asks at the terminal
    except ssl.SSLError as problem:
        why = "not the key of the certificate"
        if problem.reason != "KEY_VALUES_MISMATCH":
            why = "no key (PEM), or one with a password"
        raise CallerMistake(f"tls_key: this is {why}: {key}.") from None


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def configuration(file: Path | None = None, **given: Any) -> Configuration:
    """The configuration of a file (else the one that the environment names), of the environment
    (`BELIEFLEDGER_SERVER_PORT=8321`) and of what is given. Raises `CallerMistake` that names the
    setting."""
    told = server_environment()
    named = told.pop(FILE, None)
    file = Path(named) if file is None and named else file
    values: dict[str, Any] = {} if file is None else _read(file)
    for name, text in told.items():
        values[name] = text.split() if name in _LISTS else text
    values |= {name: value for name, value in given.items() if value is not None}
    try:
        made = Configuration.model_validate(values)
    except ValidationError as problem:
        raise CallerMistake(_said(problem)) from None
    made.check()
    return made


def _read(file: Path) -> dict[str, Any]:
    try:
        read = yaml.safe_load(file.read_text("utf-8"))
    except OSError as problem:
        raise CallerMistake(f"{file} cannot be read: {problem.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise CallerMistake(f"{file} is no YAML.") from None
    if read is None:
        return {}
    if not isinstance(read, Mapping):
        raise CallerMistake(f"{file}: write one setting a line, as `port: 8321`.")
    return {str(name): value for name, value in read.items()}


def _said(problem: ValidationError) -> str:
    first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
    name = ".".join(str(each) for each in first["loc"])
    if first["type"] == "extra_forbidden":
        known = ", ".join(Configuration.model_fields)
        return (
            f"{name} is no setting ({SERVER_PREFIX}{name.upper()} in the environment); there are:"
            f" {known}."
        )
    return f"{name}: {first['msg'].lower()}."
