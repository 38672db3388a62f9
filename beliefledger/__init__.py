"""beliefledger: memory for AI agents as belief under audit.

>>> import tempfile
>>> from beliefledger import open_memory
>>> with open_memory(tempfile.mkdtemp()) as memory:
...     receipt, decisions = memory.remember("ana", "I live in Porto.", consent="consent")
...     [(decision.outcome, decision.claim) for decision in decisions]
[('admit', 'User lives in Porto')]
"""

from beliefledger.gate.extractor import Extractor
from beliefledger.gate.intake import TurnInput
from beliefledger.gate.policy import Policy
from beliefledger.ledger.candidate import Candidate, Span, When
from beliefledger.ledger.errors import CallerMistake, LedgerError, MustStop, Retryable
from beliefledger.memory import MemoryLedger, open_memory

__all__ = [
    "CallerMistake",
    "Candidate",
    "Extractor",
    "LedgerError",
    "MemoryLedger",
    "MustStop",
    "Policy",
    "Retryable",
    "Span",
    "TurnInput",
    "When",
    "open_memory",
]
__version__ = "0.1.0"
