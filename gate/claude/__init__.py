"""Extraction by a model behind the Messages API: Claude, or a local one that speaks the same."""

from beliefledger.gate.claude.extractor import ClaudeExtractor

__all__ = ["ClaudeExtractor"]
