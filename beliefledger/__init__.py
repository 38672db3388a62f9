"""beliefledger: memory for AI agents as belief under audit.

>>> import tempfile
>>> from beliefledger import open_memory
>>> with open_memory(tempfile.mkdtemp()) as memory:
...     receipt, decisions = memory.remember("ana", "I live in Porto.", consent="consent")
...     [(decision.outcome, decision.claim) for decision in decisions]
[('admit', 'User lives in Porto')]
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beliefledger.curation.storing import Details
    from beliefledger.gate.extractor import Extractor, ExtractorSettings
    from beliefledger.gate.intake import TurnInput
    from beliefledger.gate.policy import Policy
    from beliefledger.ledger.candidate import Candidate, Span, When
    from beliefledger.ledger.errors import CallerMistake, LedgerError, MustStop, Retryable
    from beliefledger.memory import MemoryLedger
    from beliefledger.opener import open_memory
    from beliefledger.search.search import SearchOptions

__all__ = [
    "CallerMistake",
    "Candidate",
    "Details",
    "Extractor",
    "ExtractorSettings",
    "LedgerError",
    "MemoryLedger",
    "MustStop",
    "Policy",
    "Retryable",
    "SearchOptions",
    "Span",
    "TurnInput",
    "When",
    "open_memory",
]
__version__ = "0.1.0"

_HOME = {
    "CallerMistake": "ledger.errors",
    "Candidate": "ledger.candidate",
    "Details": "curation.storing",
    "Extractor": "gate.extractor",
    "ExtractorSettings": "gate.extractor",
    "LedgerError": "ledger.errors",
    "MemoryLedger": "memory",
    "MustStop": "ledger.errors",
    "Policy": "gate.policy",
    "Retryable": "ledger.errors",
    "SearchOptions": "search.search",
    "Span": "ledger.candidate",
    "TurnInput": "gate.intake",
    "When": "ledger.candidate",
    "open_memory": "opener",
}
"""The module of each public name. It is imported when the name is first used: an eager import
here would load the whole application with any one module of it."""


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
