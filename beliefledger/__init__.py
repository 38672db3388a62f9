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
    from beliefledger.access.tasks import TaskMoved
    from beliefledger.access.tokens import TokenRefused
    from beliefledger.audit.calibration import NotCalibrated
    from beliefledger.awaitable.memory import AsyncMemoryLedger
    from beliefledger.awaitable.opener import open_memory_async
    from beliefledger.client.client import AsyncClient, Client, connect, connect_async
    from beliefledger.client.events import ToldEvent
    from beliefledger.curation.storing import Details, MemoryInput
    from beliefledger.filters import Where
    from beliefledger.gate.extractor import Extractor, ExtractorSettings
    from beliefledger.gate.intake import TurnInput
    from beliefledger.gate.policy import Policy
    from beliefledger.ledger.candidate import Candidate, Span, When
    from beliefledger.ledger.errors import (
        AppendUncertain,
        BackendUnavailable,
        BackendUnusable,
        BehindWitness,
        CallerMistake,
        ClockAhead,
        ClockJumped,
        ClockWentBack,
        CopyUnfinished,
        EmbedderMissing,
        EmbedderWrong,
        EventIdReused,
        ExtractionTooLong,
        ExtractionUnavailable,
        ExtractorMissing,
        HeldUp,
        IdempotencyKeyReused,
        InvalidQuery,
        InvalidTurn,
        KeyMissing,
        LeaseLost,
        LedgerError,
        LedgerMoved,
        LogCorrupted,
        MasterKeyReplaced,
        ModelUnavailable,
        MustStop,
        NotPermitted,
        OlderLedger,
        OlderProgram,
        PolicyInvalid,
        ProofsDamaged,
        RedactionMissing,
        Retryable,
        SecretGiven,
        SigningKeyMissing,
        SplitView,
        TokenizerMissing,
        TypeInvalid,
        UnknownEventType,
        UnknownMemory,
        VersionConflict,
    )
    from beliefledger.ledger.own_secrets import Redaction
    from beliefledger.memory import MemoryLedger
    from beliefledger.opener import open_memory
    from beliefledger.opening.place import NoLedger
    from beliefledger.pages import Page
    from beliefledger.projections.embedding import Embedder
    from beliefledger.search.options import SearchOptions

__all__ = [
    "AppendUncertain",
    "AsyncClient",
    "AsyncMemoryLedger",
    "BackendUnavailable",
    "BackendUnusable",
    "BehindWitness",
    "CallerMistake",
    "Candidate",
    "Client",
    "ClockAhead",
    "ClockJumped",
    "ClockWentBack",
    "CopyUnfinished",
    "Details",
    "Embedder",
    "EmbedderMissing",
    "EmbedderWrong",
    "EventIdReused",
    "ExtractionTooLong",
    "ExtractionUnavailable",
    "Extractor",
    "ExtractorMissing",
    "ExtractorSettings",
    "HeldUp",
    "IdempotencyKeyReused",
    "InvalidQuery",
    "InvalidTurn",
    "KeyMissing",
    "LeaseLost",
    "LedgerError",
    "LedgerMoved",
    "LogCorrupted",
    "MasterKeyReplaced",
    "MemoryInput",
    "MemoryLedger",
    "ModelUnavailable",
    "MustStop",
    "NoLedger",
    "NotCalibrated",
    "NotPermitted",
    "OlderLedger",
    "OlderProgram",
    "Page",
    "Policy",
    "PolicyInvalid",
    "ProofsDamaged",
    "Redaction",
    "RedactionMissing",
    "Retryable",
    "SearchOptions",
    "SecretGiven",
    "SigningKeyMissing",
    "Span",
    "SplitView",
    "TaskMoved",
    "TokenRefused",
    "TokenizerMissing",
    "ToldEvent",
    "TurnInput",
    "TypeInvalid",
    "UnknownEventType",
    "UnknownMemory",
    "VersionConflict",
    "When",
    "Where",
    "connect",
    "connect_async",
    "open_memory",
    "open_memory_async",
]
__version__ = "0.1.0"

_HOME = {
    "AppendUncertain": "ledger.errors",
    "AsyncClient": "client.client",
    "AsyncMemoryLedger": "awaitable.memory",
    "BackendUnavailable": "ledger.errors",
    "BackendUnusable": "ledger.errors",
    "BehindWitness": "ledger.errors",
    "CallerMistake": "ledger.errors",
    "Candidate": "ledger.candidate",
    "Client": "client.client",
    "ClockAhead": "ledger.errors",
    "ClockJumped": "ledger.errors",
    "ClockWentBack": "ledger.errors",
    "CopyUnfinished": "ledger.errors",
    "Details": "curation.storing",
    "Embedder": "projections.embedding",
    "EmbedderMissing": "ledger.errors",
    "EmbedderWrong": "ledger.errors",
    "EventIdReused": "ledger.errors",
    "ExtractionTooLong": "ledger.errors",
    "ExtractionUnavailable": "ledger.errors",
    "Extractor": "gate.extractor",
    "ExtractorMissing": "ledger.errors",
    "ExtractorSettings": "gate.extractor",
    "HeldUp": "ledger.errors",
    "InvalidQuery": "ledger.errors",
    "InvalidTurn": "ledger.errors",
    "IdempotencyKeyReused": "ledger.errors",
    "KeyMissing": "ledger.errors",
    "LeaseLost": "ledger.errors",
    "LedgerMoved": "ledger.errors",
    "LedgerError": "ledger.errors",
    "LogCorrupted": "ledger.errors",
    "MasterKeyReplaced": "ledger.errors",
    "MemoryInput": "curation.storing",
    "MemoryLedger": "memory",
    "ModelUnavailable": "ledger.errors",
    "MustStop": "ledger.errors",
    "NoLedger": "opening.place",
    "NotCalibrated": "audit.calibration",
    "NotPermitted": "ledger.errors",
    "OlderLedger": "ledger.errors",
    "OlderProgram": "ledger.errors",
    "Page": "pages",
    "Policy": "gate.policy",
    "PolicyInvalid": "ledger.errors",
    "ProofsDamaged": "ledger.errors",
    "Redaction": "ledger.own_secrets",
    "RedactionMissing": "ledger.errors",
    "Retryable": "ledger.errors",
    "SearchOptions": "search.options",
    "SecretGiven": "ledger.errors",
    "SigningKeyMissing": "ledger.errors",
    "Span": "ledger.candidate",
    "SplitView": "ledger.errors",
    "TaskMoved": "access.tasks",
    "TokenRefused": "access.tokens",
    "ToldEvent": "client.events",
    "TokenizerMissing": "ledger.errors",
    "TurnInput": "gate.intake",
    "TypeInvalid": "ledger.errors",
    "UnknownEventType": "ledger.errors",
    "UnknownMemory": "ledger.errors",
    "VersionConflict": "ledger.errors",
    "When": "ledger.candidate",
    "Where": "filters",
    "connect": "client.client",
    "connect_async": "client.client",
    "open_memory": "opener",
    "open_memory_async": "awaitable.opener",
}
"""The module of each public name. It is imported when the name is first used: an eager import
here would load the whole application with any one module of it."""


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from beliefledger.ledger.gc_pause import gc_paused  # noqa: PLC0415  (as all else)

    with gc_paused():  # which takes a tenth of the time that loading takes
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
