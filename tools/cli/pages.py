"""The longer pages: why a memory is there, and the events of the log."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from beliefledger.tools.cli import output

if TYPE_CHECKING:
    from rich.text import Text

    from beliefledger.answers import Explanation
    from beliefledger.ledger.codec import Recorded
    from beliefledger.memory import MemoryLedger
    from beliefledger.reading.turns import RefusalAnswer

_SCORES = {
    "s": "source",
    "r": "repetition",
    "e": "extractor",
    "t": "type",
    "base": "without repetition",
    "c": "confidence",
    "importance": "importance",
}
_MARKED = re.compile("⟦([^⟦⟧]*+)⟧")
AROUND = 160
"""How many characters of a long turn are shown on each side of the marked words."""


def explanation(answer: Explanation) -> Iterator[Any]:
    """A memory's whole story on one page."""
    memory = answer.memory
    yield output.cell(memory.text, "bold")
    state = "holds" if answer.holds else "does not hold any more"
    if memory.became is not None:
        state = memory.became.text
    if memory.superseded_by is not None and not answer.holds:
        state += f", {memory.superseded_by} took its place"
    if memory.quarantined and memory.became is None:
        state = "is quarantined: kept, but not believed"
    versions = [each for each in answer.history if each.memory_id == memory.memory_id]
    first = min([memory, *versions], key=lambda each: each.recorded_from_position)
    facts = fact_table(
        {
            "memory": f"{memory.memory_id}, {state}",
            "of": f"{memory.subject}: {memory.attribute} = {memory.value}"
            + (f", in the context {memory.context!r}" if memory.context else ""),
            "type": f"{memory.type}, topic {memory.topic}, importance"
            f" {output.number(memory.importance)}",
            "true": f"from {output.when(memory.valid_from)} to {output.when(memory.valid_to)}",
            "known": f"since {output.when(first.recorded_from)}, position"
            f" {first.recorded_from_position}",
            "permitted": f"{memory.consent_basis}, visible to: {memory.visibility_scope}",
        }
    )
    yield facts
    yield output.cell("The words", "bold")
    yield marked(answer.turn)
    yield output.cell("The decision", "bold")
    decided = {"by": answer.decided_by}
    if answer.decision is not None:
        decided |= {
            "decision": f"{answer.decision.decision_id}, position {answer.decision.position}",
            "outcome": f"{answer.decision.outcome}, because {answer.decision.reason}",
            "why": answer.decision.says,
        }
    if answer.scores:
        decided["scores"] = _scored(answer.scores)
    if answer.trace:
        decided["checks"] = " → ".join(answer.trace)
    if answer.policy:
        decided["policy"] = f"{answer.policy['name']}, {answer.policy['digest'][:16]}…"
    if answer.extractor:
        decided["noticed by"] = answer.extractor
    yield fact_table(decided)
    if answer.confirmed_by:
        said = ", ".join(output.day(each.said_at) for each in answer.confirmed_by)
        yield output.cell(f"Said again: {said}")
    from beliefledger.tools.cli.rows import history_table

    if answer.originals:
        yield output.cell("Merged from", "bold")
        yield history_table(answer.originals)
    yield output.cell("The belief's history", "bold")
    yield history_table(answer.history)
    if answer.proofs:
        yield output.cell("Proved to be in the log", "bold")
        yield fact_table(
            {
                name: f"position {proof.position}, under the checkpoint of"
                f" {proof.checkpoint.splitlines()[1]} events"
                for name, proof in answer.proofs.items()
            }
        )
        yield "--json has the proofs; `proof inclusion POSITION` writes one as a file."


def refusal(answer: RefusalAnswer) -> Iterator[Any]:
    """Why a statement is no memory."""
    decision = answer.decision
    yield output.cell(decision.claim or "(erased)", "bold")
    yield marked(answer.turn)
    facts = {
        "of": decision.subject or "(erased)",
        "said in": f"turn {decision.turn_id}",
        "decision": f"{decision.decision_id}, position {decision.position}",
        "outcome": f"{decision.outcome}, because {decision.reason}",
        "why": decision.says,
        "for example": answer.example,
        "what to do": answer.advice,
        "since then": decision.became and decision.became.text,
        "scores": _scored(answer.scores),
        "checks": " → ".join(answer.trace),
        "policy": f"{decision.policy[:16]}…",
    }
    yield fact_table({name: value for name, value in facts.items() if value})
    yield from output.hints([decision])


def _scored(scores: dict[str, float]) -> str:
    return ", ".join(
        f"{_SCORES.get(name, name)} {output.number(value)}" for name, value in scores.items()
    )


def fact_table(rows: dict[str, str]) -> Any:
    """Names and what they are, one on a line."""
    made = output.table(("", output.FIXED), ("", {}))
    made.show_header = False
    for name, value in rows.items():
        made.add_row(output.cell(name, "dim"), output.cell(value))
    return made


def marked(turn: dict[str, Any] | None) -> Text:
    """A turn, with the words marked that it is about: who said it, when. A long one is cut around
    them."""
    from rich.padding import Padding
    from rich.text import Text

    if turn is None:
        return output.cell("  The words are erased.", "dim")
    who = output.words(turn["speaker"] or turn["role"])
    shown = Text(f"{who}, {output.when(turn['said_at'])}: “", style="dim")
    content = output.words(turn["marked"])
    first, last = content.find("⟦"), content.rfind("⟧")
    begin, end = max(0, first - AROUND), min(len(content), last + AROUND)
    if first < 0:
        begin, end = 0, 2 * AROUND
    at = begin
    shown.append("…" if begin else "", "not dim")
    for match in _MARKED.finditer(content, begin, end):
        shown.append(content[at : match.start()], "not dim")
        shown.append(f"⟦{match[1]}⟧", "not dim bold green")
        at = match.end()
    shown.append(content[at:end], "not dim")
    shown.append("…" if end < len(content) else "", "not dim")
    shown.append("”")
    return Padding(shown, (0, 0, 1, 2))  # type: ignore[return-value]


def highlighted(text: str) -> Text:
    """Words in which spans stand between ⟦ and ⟧, these in colour."""
    from rich.padding import Padding
    from rich.text import Text

    content, shown, at = output.words(text), Text(), 0
    for match in _MARKED.finditer(content):
        shown.append(content[at : match.start()])
        shown.append(match[0], "bold green")
        at = match.end()
    shown.append(content[at:])
    return Padding(shown, (0, 0, 1, 2))  # type: ignore[return-value]


def event_document(event: Recorded, memory: MemoryLedger) -> dict[str, Any]:
    """The documented JSON of an event. `body` is null where it is destroyed or there is none."""
    from beliefledger.exports.event_lines import EventDocuments

    return EventDocuments(memory.name_of, memory.actor_name).of(event)


def event_line(event: Recorded, memory: MemoryLedger) -> Text:
    """An event on one line."""
    from rich.text import Text

    document = event_document(event, memory)
    line = Text(f"{event.position:>6} ", style="")
    line.append(f"{document['recorded_at'][:19]} ".replace("T", " "), "dim")
    line.append(f"{event.type:<26} ", "cyan")
    line.append(f"{output.words(document['subject'] or '–')} ")
    line.append(_gist(document), "dim")
    return line


def _gist(document: dict[str, Any]) -> str:
    """What a person wants to know of an event first."""
    if document["destroyed"]:
        return "(erased)"
    body, facts = document["body"] or {}, document["facts"]
    memory = body.get("memory")
    claim = memory.get("claim") if isinstance(memory, dict) else None
    candidate = body.get("candidate")
    if isinstance(candidate, dict):
        claim = candidate.get("claim")
    parts = [facts.get("outcome"), facts.get("reason"), facts.get("basis"), claim]
    parts.append(body.get("content") or body.get("name"))
    text = " ".join(" ".join(output.words(part).split()) for part in parts if part)
    return text if len(text) <= 90 else text[:89] + "…"
