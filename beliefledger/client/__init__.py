"""A ledger on a server, asked over HTTP with the verbs of an open one."""

from __future__ import annotations

from beliefledger.client.client import AsyncClient, Client, connect, connect_async
from beliefledger.client.events import ToldEvent

__all__ = ["AsyncClient", "Client", "ToldEvent", "connect", "connect_async"]
