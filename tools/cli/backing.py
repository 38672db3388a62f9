"""Commands about backup, restore, vault."""

from __future__ import annotations
