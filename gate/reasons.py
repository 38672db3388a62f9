"""What the reason codes say to a person: a sentence, an example, and what can be done. Data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from beliefledger.gate.outcomes import Reason
from beliefledger.ledger.data_files import data


class Meaning(NamedTuple):
    """What one reason code says."""

    code: Reason
    sentence: str
    example: str
    advice: str | None = None
    """What to do where it was not wanted; None where there is nothing to mend."""
    hint: str | None = None
    """The same as commands, with places for ids: `{subject}`, `{decision}`, `{belief}`,
    `{category}`. Ways stand apart by `; or `."""


@cache
def meanings() -> Mapping[Reason, Meaning]:
    """What every code says, in the order of the checks."""
    read = data("beliefledger.gate", "reasons.yaml")
    return {code: Meaning(code, **read[code.value]) for code in Reason}
