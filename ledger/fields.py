"""How the fields of an event can be marked. An unmarked field holds words and belongs to the
body."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeVar

from beliefledger.ledger.dataclass import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unit:
    """What an integer of the log counts. Outside of the log it is written another way, and its JSON
    Schema is that of what is written there."""

    name: str
    schema: tuple[tuple[str, Any], ...]

    def __get_pydantic_json_schema__(self, _core: Any, _handler: Any) -> dict[str, Any]:
        return dict(self.schema)


A_SCORE: Final = Unit("score", (("type", "number"), ("minimum", 0), ("maximum", 1)))
A_FRACTION: Final = Unit("fraction", (("type", "number"),))
A_TIME: Final = Unit("time", (("type", "string"), ("format", "date-time")))
A_DEFINITION: Final = Unit(
    "definition of a type", (("additionalProperties", True), ("type", "object"))
)
DEFINED_SCORES: Final = ("prior", "threshold", "similarity")
"""The scores in the definition of a type, in millionths; outside of the log from 0 to 1."""
Score = Annotated[int, A_SCORE]
"""Millionths of a score from 0 to 1."""
Fraction = Annotated[int, A_FRACTION]
"""Millionths of a number, such as the points that a search gives."""

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
