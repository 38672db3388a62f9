"""Commands about audit."""

from __future__ import annotations
