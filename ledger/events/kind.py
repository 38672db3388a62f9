"""What an event is made of: facts that stay for ever, and a body that can be destroyed.

A field marked `Fact[...]` goes into the envelope; every other field goes into the body. Facts are
what an audit needs after an erasure and say nothing personal: codes, scores, counts, ids. They hold
no floats (scores are millionths, times microseconds).
"""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from beliefledger.ledger.fields import KEPT, Fact

__all__ = ["Event", "Fact"]


class Event(BaseModel):
    """Something that happened. Immutable; unknown fields are refused."""

    # An error that quotes its input would carry a body's words into logs and views.
    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    NAME: ClassVar[str]
    """The name in the log, written by hand: `memory.admitted.v1`."""
    FACTS: ClassVar[frozenset[str]] = frozenset()
    CLEAR: ClassVar[bool] = False
    """The body is nobody's and is stored as it is (a policy's text)."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        cls.FACTS = frozenset(
            name for name, field in cls.model_fields.items() if KEPT in field.metadata
        )

    def split(self) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """The facts, and the body (None where the event has none)."""
        facts: dict[str, Any] = {}
        body: dict[str, Any] = {}
        for name, value in self.model_dump(mode="json").items():
            (facts if name in self.FACTS else body)[name] = value
        return facts, body or None
