"""Reads the certificates that HTTP clients trust once a process, not for each client.

It takes longer than most calls do, and tests make thousands of clients. A client that is told what
to trust, or finds it in another place, reads it as ever.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from typing import Any

import httpx
import httpx2


def read_once() -> None:
    """For all clients that this process makes from now on."""
    for library in (httpx, httpx2):
        transports: Any = library._transports.default
        transports.create_ssl_context = _kept(transports.create_ssl_context)


def _kept(make: Callable[..., ssl.SSLContext]) -> Callable[..., ssl.SSLContext]:
    made: dict[tuple[object, ...], ssl.SSLContext] = {}

    def context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        if verify is not True or cert is not None:
            return make(verify, cert, trust_env)
        place = trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
        if place not in made:
            made[place] = make(trust_env=trust_env)
        return made[place]

    return context
