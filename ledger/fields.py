"""How the fields of an event can be marked. An unmarked field holds words and belongs to the
body."""

from __future__ import annotations

from typing import Annotated, Final, TypeVar

T = TypeVar("T")

KEPT: Final = "kept in the envelope"
Fact = Annotated[T, KEPT]
"""Stays for ever, and says nothing personal."""
A_NAME: Final = "a name that a caller gave"
Name = Annotated[T, A_NAME]
"""Names something. A secret in one that is a fact is refused; in a body it is taken out by the rule
for names, which leaves numbers alone."""
CLEAN: Final = "redacted where it came in"
Clean = Annotated[T, CLEAN]
"""Redacted before the event is made; it is not looked at again."""
