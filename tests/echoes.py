"""What an extractor of tests notices in a turn: that it was said."""

from __future__ import annotations

from beliefledger import Candidate, Span


def echo(content: str, about: str | None = None) -> list[Candidate]:
    """One candidate: a fact of its own for whatever was said, unless it is `about` something."""
    return [
        Candidate(
            claim=f"User says {content}",
            spans=(Span(start=0, end=len(content), quote=content),),
            type="fact",
            attribute=f"said.{content if about is None else about}",
            value=content,
            importance=500_000,
            confidence=900_000,
        )
    ]
