"""Commands about erase, erasures, hold."""

from __future__ import annotations
