"""Extraction by rules: offline, deterministic, the default."""

from beliefledger.gate.rules.extractor import RuleExtractor

__all__ = ["RuleExtractor"]
