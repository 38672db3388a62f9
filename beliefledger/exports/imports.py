"""Taking over what was believed of a person in another ledger, from the JSON of its export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from beliefledger.exports.export_file import read_export
from beliefledger.exports.person import ExportedConsent, ExportedTurn, ExportedVersion
from beliefledger.gate.intake import IMPORTED, ChosenMemory, TurnInput
from beliefledger.gate.outcomes import Outcome
from beliefledger.gate.policy import millionths
from beliefledger.ledger.candidate import MILLION, Candidate, Frozen, Precision, Source, Span, When
from beliefledger.ledger.codec import New
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.events.subject import SubjectImported
from beliefledger.ledger.log import new_id
from beliefledger.ledger.streams import subject_stream
from beliefledger.ledger.times import Micros, from_datetime
from beliefledger.opening.core import Core
from beliefledger.reading.queries import Queries

_BELIEVED = frozenset(
    {Outcome.ADMIT.value, Outcome.CONFIRM.value, Outcome.SUPERSEDE.value, Outcome.QUARANTINE.value}
)
"""The outcomes that write a memory, or find one that says the same."""


_AT_ONCE = 500
"""How many turns one append has at most."""


class NotTaken(Frozen):
    """A memory of the export that is not believed here, and why."""

    memory_id: str
    """In the ledger that exported it."""
    text: str
    outcome: str
    reason: str
    decision_id: str


class ImportAnswer(Frozen):
    """What an import did. `already` were taken over before."""

    subject: str
    event_id: str
    """The record of the import."""
    grants: int
    memories: int
    """How many the export has that held when it was made, in quarantine or not."""
    written: int
    already: int
    not_taken: tuple[NotTaken, ...]
    turns: int
    """How many turns were recorded: none that were before."""


class Said(NamedTuple):
    """A turn as it is here: its id, and its words."""

    turn_id: str
    content: str


class Imports:
    """Takes over memories of people."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries

    def person(
        self,
        exported: Mapping[str, Any] | str | bytes | Path,
        actor: str,
        *,
        subject: str | None,
        note: str | None,
    ) -> ImportAnswer:
        read = read_export(exported)
        head, grants = read.exported, read.grants
        versions = sorted(read.versions, key=_order)
        whose = subject or read.person.subject
        turns = _turns(versions, whose)
        said = [_said(each, whose) for each in read.turns]
        self._core.gate.check([*said, *turns])
        for grant in grants:
            self._core.steward.proposed(grant.basis, **_terms(grant))
        ref = self._log.register([whose])[whose]
        event = SubjectImported(
            memories=len(versions),
            grants=len(grants),
            export=head.event_id,
            exported_at=from_datetime(head.at),
            note=note,
        )
        event_id = self._record(ref, event, actor)
        for grant in grants:
            self._core.steward.grant(
                ref, grant.basis, **_terms(grant), note="imported", actor=actor
            )
        receipts = [
            receipt
            for start in range(0, len(said), _AT_ONCE)
            for receipt in self._core.gate.record(said[start : start + _AT_ONCE], actor)
        ]
        there = {
            each.turn_id: Said(receipt.turn_id, each.content or "")
            for each, receipt in zip(read.turns, receipts, strict=True)
            if not receipt.withheld
        }
        done: Counter[str] = Counter()
        not_taken = []
        for version, turn in zip(versions, turns, strict=True):
            chosen = ChosenMemory(turn, _candidate(version, there), _choices(version))
            [(receipt, decision, *_)] = self._core.gate.store([chosen], actor)
            done["already" if decision is None else "written"] += 1
            told = self._queries.of_turn(receipt.turn_id)
            if told and told[0].outcome not in _BELIEVED:
                done["written"] -= decision is not None
                not_taken.append(
                    NotTaken(
                        memory_id=version.memory_id,
                        text=version.text,
                        outcome=told[0].outcome,
                        reason=told[0].reason,
                        decision_id=told[0].decision_id,
                    )
                )
        return ImportAnswer(
            subject=whose,
            event_id=event_id,
            grants=len(grants),
            memories=len(versions),
            written=done["written"],
            already=done["already"],
            not_taken=tuple(not_taken),
            turns=sum(not each.already for each in receipts),
        )

    def _record(self, ref: str, event: SubjectImported, actor: str) -> str:
        stream, event_id = subject_stream(ref), new_id()

        def attempt() -> None:
            version = self._log.version(stream)
            self._log.append([New(event, event_id, stream, ref, actor)], {stream: version})

        self._log.decide_again(attempt)
        return event_id


# From a memory to what is stored


def _order(version: ExportedVersion) -> tuple[bool, datetime, int]:
    """What was kept apart comes last, so that it meets what it was kept apart from."""
    return version.quarantined, version.valid_from, version.recorded_from_position


def _said_at(version: ExportedVersion) -> Micros:
    """When it was last said."""
    said = [each.said_at for each in version.evidence]
    return from_datetime(max(said) if said else version.recorded_from)


def _turns(versions: Sequence[ExportedVersion], subject: str) -> list[TurnInput]:
    """A turn for each; by its key it is known again when it is imported once more."""
    seen: Counter[str] = Counter()
    made = []
    for version in versions:
        seen[version.memory_id] += 1
        made.append(_turn(version, subject, seen[version.memory_id]))
    return made


def _turn(version: ExportedVersion, subject: str, number: int) -> TurnInput:
    key = f"import {version.memory_id}"
    return TurnInput(
        subject=subject,
        content=version.text,
        role="system",
        session=version.session,
        agent=version.agent,
        metadata=version.metadata,
        said_at=_said_at(version),
        idempotency_key=key if number == 1 else f"{key} {number}",
        channel="store",
    )


def _said(turn: ExportedTurn, subject: str) -> TurnInput:
    """What was said, at the time when it was."""
    return TurnInput(
        subject=subject,
        content=turn.content or "",
        role=turn.role,
        speaker=turn.speaker,
        session=turn.session,
        agent=turn.agent,
        said_at=from_datetime(turn.said_at or turn.recorded_at),
        idempotency_key=f"import turn {turn.turn_id}",
        channel=IMPORTED,
        metadata=turn.metadata,
    )


def _evidence(version: ExportedVersion, there: Mapping[str, Said]) -> Iterator[Span]:
    """The words that it rested on, in the turns that were taken over."""
    for each in dict.fromkeys(version.evidence):
        said = there.get(each.turn_id)
        quote = "" if said is None else said.content[each.start : each.end]
        if said is not None and quote:
            yield Span(turn=said.turn_id, start=each.start, end=each.end, quote=quote)


def _candidate(version: ExportedVersion, there: Mapping[str, Said]) -> Candidate:
    own = Span(start=0, end=len(version.text), quote=version.text)
    return Candidate(
        claim=version.text,
        spans=(own, *_evidence(version, there)),
        type=version.type,
        entity=version.entity,
        attribute=version.attribute,
        value=version.value,
        negated=version.negated,
        context=version.context,
        source=Source.OPERATOR,
        topic=version.topic,
        category=version.category,
        importance=millionths(version.importance),
        confidence=MILLION,
        when=When(
            start=_micros(version.event_from),
            end=_micros(version.event_to),
            precision=Precision(version.event_precision),
        ),
        participants=version.participants,
        fields=version.fields,
    )


def _choices(version: ExportedVersion) -> Choices:
    return Choices(
        confidence=millionths(version.confidence),
        valid_from=from_datetime(version.valid_from),
        valid_to=_micros(version.valid_to),
        expires_at=_micros(version.expires_at),
        visibility_scope=version.visibility_scope,
    )


def _terms(grant: ExportedConsent) -> dict[str, Any]:
    categories: Sequence[str] = grant.categories
    return {
        "categories": categories,
        "purpose": grant.purpose,
        "scope": grant.scope,
        "expires_at": _micros(grant.expires_at),
    }


def _micros(at: datetime | None) -> Micros | None:
    return None if at is None else from_datetime(at)
