"""Extraction by rules: offline, deterministic, the default."""

from __future__ import annotations

from importlib import import_module
from typing import Any

NAME = "rules/34"
"""What the extractor is called in the log."""


def __getattr__(name: str) -> Any:
    # The words of the rules are used without the extractor, which takes long to load.
    if name == "RuleExtractor":
        return import_module(f"{__name__}.extractor").RuleExtractor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
