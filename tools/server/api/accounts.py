"""What is accounted for: erasures and certificates, proofs, exports, audit, jobs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from beliefledger.access.calls import CallSum
from beliefledger.answers import (
    CheckpointAnswer,
    ConsistencyProof,
    ErasureAnswer,
    InclusionProof,
    JobAnswer,
    ReplayAnswer,
    ReplaySummary,
    SigningKeyAnswer,
)
from beliefledger.audit.checklist import ChecklistAnswer
from beliefledger.audit.counts import AuditAnswer
from beliefledger.erasure.certificate import Acknowledgement
from beliefledger.erasure.erasure import ErasureRecord
from beliefledger.exports import event_schema
from beliefledger.ledger.errors import InvalidQuery, UnknownMemory
from beliefledger.ledger.verify import Verified
from beliefledger.tools.relay import asyncapi
from beliefledger.tools.server.api.beliefs import owned_decision
from beliefledger.tools.server.api.endpoint import (
    After,
    Body,
    Id,
    Limit,
    Listed,
    Text,
    acting,
    endpoint,
)
from beliefledger.tools.server.caller import Caller, whole_id

Position = Annotated[int, Query(ge=0, lt=2**53)]
NDJSON = "application/x-ndjson"


class ToErase(Body):
    """Whom to forget, or what of them: one memory, turn or session, what is older than its
    retention, what was revoked long enough ago. `subject` is always named."""

    subject: str = Field(min_length=1)
    memory: str | SkipJsonSchema[None] = None
    turn: str | SkipJsonSchema[None] = None
    session: str | SkipJsonSchema[None] = None
    retention: bool = False
    revoked: bool = False
    known_as: list[str] = Field(default_factory=list, max_length=100)
    legal_basis: str | None = None
    by: str | None = None

    @field_validator("memory", "turn", "session")
    @classmethod
    def _is_named(cls, given: str | None) -> str:
        """Not run for what is left out."""
        if given is None:
            raise ValueError("null names nothing: leave it out to erase all of the subject")
        return given

    def less(self) -> dict[str, str]:
        """The memory, turn or session, if one is named."""
        some = {"memory": self.memory, "turn": self.turn, "session": self.session}
        return {what: each for what, each in some.items() if each is not None}


class Preview(BaseModel):
    """What an erasure would destroy, in numbers, and the memories that would go."""

    reach: str
    bodies: int
    turns: int
    counts: dict[str, int]
    memories: list[str]
    depends: int
    others: int
    stays: dict[str, str]


class Consumer(Body):
    """Who has erased, too, what it had of a person."""

    consumer: str = Field(min_length=1)
    by: str | None = None


class ToExport(Body):
    """Of whom everything is asked for, and what is left out of it."""

    subject: str = Field(min_length=1)
    note: str | None = None
    withholding: list[str] = Field(default_factory=list, max_length=100)
    by: str | None = None


class Since(Body):
    """From where on events are asked for."""

    after: int = Field(0, ge=0, lt=2**53)
    by: str | None = None


class Against(Body):
    """What the log is held against, besides its own tree."""

    checkpoint: str | None = None
    keys: list[str] = Field(default_factory=list, max_length=100)
    decisions: bool = False


class Again(Body):
    """The fields of a policy by which decisions are made again; what is left out is as in the
    default one. Without it, the policy of then."""

    policy: dict[str, Any] | SkipJsonSchema[None] = None


_AS_THEN = Again()


@endpoint("GET", "/erasures", "erasure.list", whole=True, table=True)
def erasures(
    caller: Caller, subject: Text = None, limit: Limit = 100, after: After = None
) -> Listed[ErasureRecord]:
    """The erasures on record, oldest first."""
    return Listed.of(caller.memory.erasure.list(subject, limit=limit, after=after))


def _what(caller: Caller, asked: ToErase) -> str:
    """Whom it is about. Raises `UnknownMemory` for a memory or turn of somebody else."""
    person = caller.subject(asked.subject)
    if asked.memory is not None:
        known = caller.memory.history(whole_id(asked.memory, "memory"))
        if not known or known[-1].subject != person:
            raise UnknownMemory("There is no such memory.")
    if (
        asked.turn is not None
        and caller.memory.turn(whole_id(asked.turn, "turn")).subject != person
    ):
        raise UnknownMemory("There is no such turn.")
    return person


@endpoint("POST", "/erasures/preview", "erasure.preview")
def preview_erasure(caller: Caller, asked: ToErase) -> Preview:
    """What such an erasure would destroy. Nothing is written."""
    person = _what(caller, asked)
    found = caller.memory.erasure.preview(
        person,
        **asked.less(),
        retention=asked.retention,
        revoked=asked.revoked,
        known_as=asked.known_as,
    )
    return Preview(
        reach=found.reach,
        bodies=len(found.positions),
        turns=found.turns,
        counts=dict(found.counts),
        memories=list(found.memories),
        depends=len(found.depends),
        others=len(found.others),
        stays={each.what: each.why for each in found.stays},
    )


@endpoint("POST", "/erasures", "erase", once=True)
def erase(caller: Caller, asked: ToErase) -> ErasureAnswer:
    """Forget a person for good, or less of them. Tokens for an erased person alone end with it.
    What is erased already is answered as that."""
    by = acting(caller, asked.by)
    person = _what(caller, asked)
    less = asked.less() or asked.retention or asked.revoked
    alone = []
    if not less:
        alone = [each for each in caller.memory.tokens.list() if each.subjects == (person,)]
    erased = caller.memory.erase(
        person,
        by=by,
        **asked.less(),
        retention=asked.retention,
        revoked=asked.revoked,
        known_as=asked.known_as,
        legal_basis=asked.legal_basis,
    )
    if not less:
        caller.about_many()  # whose key is gone: nothing is hashed under it any more
    for each in alone:
        caller.memory.tokens.revoke(each.token_id, by=by)
    return erased


def _erasure(caller: Caller, erasure: str) -> str:
    """The id of an erasure that the caller may ask for. Raises `UnknownMemory`."""
    known = {each.erasure: each.subject_ref for each in caller.memory.erasure.list()}
    allowed = caller.principal.subjects
    if erasure not in known or (allowed is not None and known[erasure] not in allowed):
        raise UnknownMemory("There is no such erasure.")
    return erasure


@endpoint("GET", "/certificates/{erasure}", "erasure.certificates.issue")
def certificate(caller: Caller, erasure: Id) -> dict[str, Any]:
    """The signed certificate of a completed erasure: see docs/erasure.md."""
    return caller.memory.erasure.certificates.issue(_erasure(caller, erasure))


@endpoint(
    "POST", "/certificates/{erasure}/acknowledgements", "erasure.certificates.acknowledge",
    whole=True, once=True)  # fmt: skip
def acknowledge(caller: Caller, erasure: Id, told: Consumer) -> Acknowledgement:
    """Record that a consumer has erased, too, what it had. Twice is once."""
    by = acting(caller, told.by)
    known = _erasure(caller, erasure)
    return caller.memory.erasure.certificates.acknowledge(told.consumer, known, by=by)


@endpoint("POST", "/proofs/checkpoint", "proofs.checkpoint", once=True)
def checkpoint(caller: Caller) -> CheckpointAnswer:
    """A signed head of the log, as it is now."""
    return caller.memory.proofs.checkpoint()


@endpoint("GET", "/proofs/signing-key", "proofs.signing_key")
def signing_key(caller: Caller) -> SigningKeyAnswer:
    """The verifier keys of all keys that ever signed, the one in force last."""
    return caller.memory.proofs.signing_key().model_copy(update={"file": None})


@endpoint("GET", "/proofs/inclusion/{position}", "proofs.inclusion")
def inclusion(caller: Caller, position: int) -> InclusionProof:
    """Proof that an event is at its position in the log that the checkpoint signs."""
    if position < 1 or not _owns_event(caller, position):
        raise UnknownMemory("There is no such event.")
    return caller.memory.proofs.inclusion(position)


def _owns_event(caller: Caller, position: int) -> bool:
    allowed = caller.principal.subjects
    with suppress(InvalidQuery), caller.memory.subscribe(position - 1, follow=False) as events:
        event = next(events, None)
        if event is not None and event.position == position:
            return allowed is None or event.subject_ref in allowed
    return False  # also where the log has not got so far


@endpoint("GET", "/proofs/consistency", "proofs.consistency")
def consistency(caller: Caller, old: Position, new: Position | None = None) -> ConsistencyProof:
    """Proof that the log of one checkpoint begins with that of an older one."""
    return caller.memory.proofs.consistency(old, new)


@endpoint("POST", "/proofs/verification", "proofs.verify", whole=True)
def verify(caller: Caller, against: Against) -> Verified:
    """Check every event of the log, and the tree over it."""
    return caller.memory.proofs.verify(
        caller.tell,
        checkpoint=against.checkpoint,
        keys=against.keys,
        decisions=against.decisions,
    )


@endpoint("POST", "/exports/person", "exports.person")
def export(caller: Caller, asked: ToExport) -> dict[str, Any]:
    """Everything held about a person, to answer their request for access. It goes on record first;
    its schema is at /exports/schema."""
    by = acting(caller, asked.by)
    made = caller.memory.exports.person(
        caller.subject(asked.subject), by=by, note=asked.note, withholding=asked.withholding
    )
    return made.document().model_dump(mode="json")


@endpoint("POST", "/exports/events", "exports.events", whole=True, media=NDJSON)
def export_events(caller: Caller, since: Since) -> Iterator[str]:
    """Every event past a position as a line of JSON, bodies opened. That they are handed out is on
    record before the first."""
    return caller.memory.exports.events(by=acting(caller, since.by), after=since.after)


@endpoint("GET", "/exports/schema", "exports.schema")
def export_schema(caller: Caller) -> dict[str, Any]:
    """The JSON Schema of the document about a person."""
    return caller.memory.exports.schema()


@endpoint("GET", "/exports/schema/events", "exports.schema", tagged=True)
def event_schemas(
    _caller: Caller, types: Annotated[list[str] | None, Query(max_length=100)] = None
) -> dict[str, Any]:
    """The catalogue of events: the JSON Schema of each, or of those of some types (`memory.*`). A
    version is part of a name, and what was released stays as it is."""
    return event_schema.schema(types or ["*"])


@endpoint("GET", "/exports/schema/asyncapi", "exports.schema", tagged=True)
def ways_out(_caller: Caller) -> dict[str, Any]:
    """The AsyncAPI 3 document of what goes out: server-sent events, webhooks and NATS."""
    return asyncapi.document()


@endpoint("GET", "/audit/counts", "audit.counts", whole=True)
def counts(caller: Caller, as_of: Position | None = None) -> AuditAnswer:
    """What happened, in numbers: decisions by reason, conflicts, erasures, reads."""
    return caller.memory.audit.counts(as_of)


@endpoint("GET", "/audit/checklist", "audit.checklist", whole=True)
def checklist(caller: Caller, only: Text = None) -> ChecklistAnswer:
    """The questions of an auditor, each answered with its evidence."""
    return caller.memory.audit.checklist(only)


@endpoint("POST", "/audit/replays", "audit.replay_all", whole=True)
def replay_all(caller: Caller, asked: Again = _AS_THEN) -> ReplaySummary:
    """All decisions made again: counts by verdict, and those that came out different."""
    return caller.memory.audit.replay_all(policy=asked.policy)


@endpoint("POST", "/audit/replays/{decision_id}", "audit.replay")
def replay(caller: Caller, decision_id: Id, asked: Again = _AS_THEN) -> ReplayAnswer:
    """One decision made again from what it saw: same, different, or inputs destroyed."""
    decision = owned_decision(caller, decision_id).decision_id
    return caller.memory.audit.replay(decision, policy=asked.policy)


@endpoint("GET", "/audit/calls", "tokens.calls", whole=True, table=True)
def calls(
    caller: Caller,
    start: Text = None,
    end: Text = None,
    limit: Limit = 100,
    after: After = None,
) -> Listed[CallSum]:
    """Calls through every door, summed by who called, what, and how it ended."""
    return Listed.of(caller.memory.tokens.calls(start, end, limit=limit, after=after))


@endpoint("GET", "/jobs", "operations.jobs.list", whole=True, table=True)
def jobs(caller: Caller) -> Listed[JobAnswer]:
    """The last run of every job that ever ran."""
    return Listed.of(list(caller.memory.operations.jobs.list()))


@endpoint("POST", "/jobs/{name}/runs", "operations.jobs.run", whole=True, once=True)
def run_job(caller: Caller, name: Id) -> JobAnswer:
    """Run a job now, whatever its times are."""
    return caller.memory.operations.jobs.run(name)
