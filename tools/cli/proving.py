"""Commands about checkpoint, prove, verify, signing-key."""

from __future__ import annotations
