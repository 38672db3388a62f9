"""What is told of an extraction that failed.

An exception of code that is not ours may quote the turn. Its words are kept where the turn's are,
in the encrypted body of the event; what is told beyond that is its class, in a sentence of ours.
"""

from __future__ import annotations

from beliefledger.ledger.errors import ExtractionUnavailable


def raised(problem: Exception) -> ExtractionUnavailable:
    """The error for an exception that an extractor raised. Its first line is what is told."""
    name = type(problem).__name__
    return ExtractionUnavailable(f"The extractor raised {name}.\n{name}: {problem}\n")


def told(error: str, detail: str) -> str:
    """What is told of a failure, by its class and what is recorded of it."""
    if detail.startswith(f"{error}: "):  # as it was recorded before: all of it may be a quotation
        return f"The extractor raised {error}."
    return detail.partition("\n")[0]
