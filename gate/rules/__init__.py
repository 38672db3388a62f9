"""Extraction by rules: offline, deterministic, the default."""

from gate.rules.extractor import RuleExtractor

__all__ = ["RuleExtractor"]
