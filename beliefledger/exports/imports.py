"""Taking over what was believed of a person in another ledger, from the JSON of its export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from beliefledger.exports.export_file import read_export
from beliefledger.exports.person import ExportedConsent, ExportedVersion
from beliefledger.gate.decision import Outcome
from beliefledger.gate.intake import ChosenMemory, TurnInput
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
        self._core.gate.check(turns)
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
        done: Counter[str] = Counter()
        not_taken = []
        for version, turn in zip(versions, turns, strict=True):
            chosen = ChosenMemory(turn, _candidate(version), _choices(version))
            [(receipt, decision)] = self._core.gate.store([chosen], actor)
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


def _candidate(version: ExportedVersion) -> Candidate:
    return Candidate(
        claim=version.text,
        spans=(Span(start=0, end=len(version.text), quote=version.text),),
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
