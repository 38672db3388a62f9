"""Calls a URL that somebody else chose: where it may lead, how long it takes, how much comes back.

The name is resolved here, every address of it is looked at, and the connection is made to one that
was looked at: a name that resolves differently a moment later changes nothing. Redirects are not
followed.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import math
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(each)
    for each in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
        "2001::/23", "2001:db8::/32", "3fff::/20",
    )
)  # fmt: skip
"""Of IANA's registers of special purposes: `is_global` differs from one Python to the next."""
_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All of IPv6 that is given out for public use."""
_STALE = (http.client.BadStatusLine, ConnectionResetError, BrokenPipeError)
"""What a kept connection says that the other side has closed meanwhile."""


class CallFailed(Exception):
    """A call that did not come to an answer; its words are for an operator."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What calls are held to."""

    seconds: float = 10.0
    """For one call, from the first byte sent to the last one read."""
    response_bytes: int = 65_536
    """So much of an answer is read; one that goes on is cut off."""
    allow_http: bool = False
    allow: tuple[Network, ...] = ()
    """Networks that may be called although they are not public."""
    ca_file: str | None = None
    """Certificates that are trusted besides the system's."""


class Answer(NamedTuple):
    """What a receiver answered. The body was read and thrown away."""

    status: int
    retry_after: float | None
    """Seconds, where it said so."""


class Caller:
    """Posts to one URL, over a connection that is kept. Use it in one thread, and close it."""

    def __init__(self, url: str, rules: Rules) -> None:
        parts = urlsplit(url)
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if self._secure else 80)
        path = parts.path or "/"
        self._path = f"{path}?{parts.query}" if parts.query else path
        self._rules = rules
        self._connection: _Connection | None = None

    def post(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Raises `CallFailed` with the reason."""
        if not self._secure and not self._rules.allow_http:
            raise CallFailed("http refused")
        until = time.monotonic() + self._rules.seconds
        kept = self._connection
        try:
            if kept is not None:
                try:
                    return self._ask(kept, body, headers, until)
                except _STALE:
                    self.close()
            return self._ask(self._connected(until), body, headers, until)
        except CallFailed:
            self.close()
            raise
        except TimeoutError:
            self.close()
            raise CallFailed("timeout") from None
        except ssl.SSLError:
            self.close()
            raise CallFailed("certificate or TLS refused") from None
        except (OSError, http.client.HTTPException):
            self.close()
            raise CallFailed("no connection") from None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(
        self, connection: _Connection, body: bytes, headers: Mapping[str, str], until: float
    ) -> Answer:
        connection.until(until)
        connection.request("POST", self._path, body, dict(headers))
        with connection.getresponse() as response:
            response.read(self._rules.response_bytes)
            if response.will_close or not response.isclosed():
                self.close()  # the other side says so, or goes on and on
            return Answer(response.status, _seconds(response.headers.get("Retry-After")))

    def _connected(self, until: float) -> _Connection:
        context = ssl.create_default_context() if self._secure else None
        if context is not None and self._rules.ca_file is not None:
            context.load_verify_locations(self._rules.ca_file)
        made = _Connection(self._host, self._port, self._addresses(), context)
        made.until(until)
        made.connect()
        self._connection = made
        return made

    def _addresses(self) -> list[str]:
        """What the name resolves to, if all of it may be called."""
        try:
            found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise CallFailed("no such host") from None
        addresses = [str(each[4][0]) for each in found]
        if not addresses or not all(may_call(each, self._rules.allow) for each in addresses):
            raise CallFailed("address refused")
        return list(dict.fromkeys(addresses))


def may_call(address: str, allow: Sequence[Network] = ()) -> bool:
    """Whether an IP address is public, or in one of the networks that are allowed. Addresses that
    carry another one (mapped, 6to4, NAT64) are judged by that too."""
    try:
        given = ipaddress.ip_address(address)
    except ValueError:
        return False
    return all(_public(each) or _in(each, allow) for each in _carried(given))


def _public(address: _Address) -> bool:
    if _in(address, _NOT_PUBLIC) or not address.is_global:
        return False
    return address.version == 4 or address in _UNICAST


def _in(address: _Address, networks: Sequence[Network]) -> bool:
    return any(address in each for each in networks if each.version == address.version)


def _carried(address: _Address) -> list[_Address]:
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    if address in _NAT64:
        return [ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)]
    return [address] if address.sixtofour is None else [address, address.sixtofour]


class _Connection(http.client.HTTPConnection):
    """A connection to an address that was looked at, under the name that it was found by."""

    def __init__(
        self, host: str, port: int, addresses: Sequence[str], context: ssl.SSLContext | None
    ) -> None:
        super().__init__(host, port)
        if context is not None:
            self.default_port = 443  # so that the Host header leaves it out
        self._addresses = addresses
        self._context = context
        self._until = math.inf

    def until(self, moment: float) -> None:
        """By the monotonic clock, everything has to be over then."""
        self._until = moment
        if isinstance(self.sock, _Timed):
            self.sock.until = moment

    def connect(self) -> None:
        problem: OSError | None = None
        for address in self._addresses:
            try:
                found = socket.create_connection((address, self.port), _left(self._until))
            except OSError as refused:
                problem = refused
                continue
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._context is not None:
                found = self._context.wrap_socket(found, server_hostname=self.host)
            self.sock = cast("Any", _Timed(found, self._until))
            return
        raise problem or ConnectionError


class _Timed:
    """A socket whose every read and write has only the time that is left: somebody who sends a byte
    a second holds nobody up."""

    def __init__(self, under: socket.socket, until: float) -> None:
        self._under = under
        self.until = until
        self._readers = 0
        self._closed = False

    def sendall(self, data: Any) -> None:
        self._under.settimeout(_left(self.until))
        self._under.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        self._readers += 1
        return io.BufferedReader(_Incoming(self))

    def read_into(self, buffer: Any) -> int:
        self._under.settimeout(_left(self.until))
        return self._under.recv_into(buffer)

    def close(self) -> None:
        """Once nobody reads from it any more: `http.client` lets go of it earlier than that."""
        self._closed = True
        if not self._readers:
            self._under.close()

    def leave(self) -> None:
        """A reader has ended."""
        self._readers -= 1
        if self._closed:
            self.close()


class _Incoming(io.RawIOBase):
    def __init__(self, timed: _Timed) -> None:
        self._timed = timed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._timed.read_into(buffer)

    def close(self) -> None:
        if not self.closed:
            self._timed.leave()
        super().close()


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _seconds(retry_after: str | None) -> float | None:
    """Of a header with a number of seconds or a date; None for anything else."""
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.isdecimal():
        return float(retry_after)
    try:
        date = parsedate_to_datetime(retry_after)
        at = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
        return max(0.0, at.timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
