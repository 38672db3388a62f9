"""Tables of beliefs, of their versions, and of decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from beliefledger.tools.cli import output

if TYPE_CHECKING:
    from rich.text import Text

    from beliefledger.answers import Became, BeliefAnswer, DecisionAnswer


def belief_table(answer: Sequence[BeliefAnswer], *, whose: bool) -> Any:
    ends = any(each.valid_to is not None for each in answer)
    made = output.table(
        ("memory", output.FIXED),
        *(["subject"] if whose else []),
        "belief",
        ("type", output.FIXED),
        ("conf.", output.RIGHT),
        ("since", output.FIXED),
        *([("until", output.FIXED)] if ends else []),
    )
    for each in answer:
        marks = [
            name
            for name, on in [("contested", each.contested), ("quarantined", each.quarantined)]
            if on
        ]
        text = output.cell(each.text)
        if each.became is not None:
            marks.append(each.became.text)
        if marks:
            text.append(f" [{', '.join(marks)}]", "yellow")
        made.add_row(
            output.short(each.memory_id),
            *([output.cell(each.subject)] if whose else []),
            text,
            each.type,
            output.number(each.confidence),
            output.day(each.valid_from),
            *([output.day(each.valid_to)] if ends else []),
        )
    return made


def history_table(answer: Sequence[BeliefAnswer]) -> Any:
    made = output.table(
        ("memory", output.FIXED),
        "belief",
        ("conf.", output.RIGHT),
        ("true from", output.FIXED),
        ("to", output.FIXED),
        ("believed from", output.FIXED),
        ("to", output.FIXED),
    )
    for each in answer:
        made.add_row(
            output.short(each.memory_id),
            since(output.cell(each.text, "" if each.recorded_to is None else "dim"), each.became),
            output.number(each.confidence),
            output.day(each.valid_from),
            output.day(each.valid_to),
            f"{output.day(each.recorded_from)} #{each.recorded_from_position}",
            "–" if each.recorded_to_position is None else f"#{each.recorded_to_position}",
        )
    return made


def decision_table(answer: Sequence[DecisionAnswer], *, whose: bool) -> Any:
    made = output.table(
        ("decision", output.FIXED),
        *(["subject"] if whose else []),
        ("outcome", output.FIXED),
        ("reason", output.FIXED),
        ("conf.", output.RIGHT),
        "claim",
    )
    for each in answer:
        made.add_row(
            output.short(each.decision_id),
            *([output.cell(each.subject or "(erased)")] if whose else []),
            output.outcome(each.outcome),
            each.reason,
            "" if each.confidence is None else output.number(each.confidence),
            since(output.cell(each.claim or "(erased)"), each.became if each.claim else None),
        )
    return made


def since(text: Text, became: Became | None) -> Text:
    """A line of the past, with what became of it behind."""
    return text if became is None else text.append(f" [{became.text}]", "yellow")
