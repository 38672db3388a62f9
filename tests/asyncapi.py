"""Writes docs/asyncapi.json, the AsyncAPI 3 document: `python tests/asyncapi.py`."""

from __future__ import annotations

from pathlib import Path

from beliefledger.tools.relay.asyncapi import as_text

PAGE = Path(__file__).resolve().parents[1] / "docs" / "asyncapi.json"

if __name__ == "__main__":
    PAGE.write_text(as_text(), "utf-8")
