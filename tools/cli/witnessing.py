"""Commands about witness."""

from __future__ import annotations
