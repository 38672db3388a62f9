"""Commands about certificate, acknowledge."""

from __future__ import annotations
