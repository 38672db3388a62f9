"""What a person settles: conflicts and reviews; consent; types and policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from beliefledger.answers import (
    BeliefAnswer,
    ConflictAnswer,
    DecisionAnswer,
    GrantAnswer,
    LoopAnswer,
)
from beliefledger.curation.policy import AdoptedPolicy, PolicyDifference
from beliefledger.curation.types import TypeAnswer
from beliefledger.gate.policy import Policy
from beliefledger.ledger.errors import UnknownMemory
from beliefledger.tools.server.api.beliefs import owned_decision
from beliefledger.tools.server.api.endpoint import (
    LONGEST,
    After,
    Body,
    Id,
    Limit,
    Listed,
    Subject,
    Text,
    acting,
    endpoint,
)
from beliefledger.tools.server.api.outlet import Outlet
from beliefledger.tools.server.caller import Caller, whole_id


class Resolution(Body):
    """What a person chose: one value, or the value for each context."""

    choose: str | None = None
    contexts: dict[str, str] | None = Field(None, max_length=100)
    note: str | None = None
    by: str | None = None


class Review(Body):
    """Whether a statement that waits is kept, and on what lawful basis."""

    approve: bool
    basis: str = "explicit_consent"
    note: str | None = None
    by: str | None = None


class Reviewed(BaseModel):
    """The memory that was written, if one was."""

    memory_id: str | None


class Grant(Body):
    """A lawful basis for keeping memories of a person."""

    subject: str = ""
    basis: str
    categories: list[str] = Field(default_factory=lambda: ["ordinary"], max_length=100)
    purpose: str | None = None
    scope: str = "subject"
    expires_at: str | None = None
    note: str | None = None
    by: str | None = None


class Granted(BaseModel):
    """The id of a grant."""

    grant_id: str


class Withdrawn(BaseModel):
    """How many memories were revoked that stood on what was withdrawn."""

    revoked: int


class Definition(Body):
    """The fields of a type of memory, as docs/types.md has them."""

    type: dict[str, Any]
    by: str | None = None


class NewPolicy(Body):
    """The fields of a policy; what is left out is as in the default one."""

    policy: dict[str, Any]
    by: str | None = None


class Adopted(BaseModel):
    """The digest of the policy in force."""

    digest: str


@endpoint("GET", "/conflicts", "conflicts.list", table=True)
def conflicts(
    caller: Caller, subject: Subject = "", limit: Limit = 100, after: After = None
) -> Listed[ConflictAnswer]:
    """The beliefs about which a person has to choose, with the values to choose from."""
    page = caller.memory.conflicts.list(caller.subject(subject), limit=limit, after=after)
    return Listed.of(page, Outlet(caller.memory).conflicts(page))


@endpoint("GET", "/conflicts/loops", "conflicts.loops", whole=True, table=True)
def loops(
    caller: Caller, subject: Subject = "", limit: Limit = 100, after: After = None
) -> Listed[LoopAnswer]:
    """The beliefs that keep changing: who said what, and when. A value is told only while what it
    is may be told; who has the token of one person asks for `conflicts`."""
    person = caller.subject(subject)
    page = caller.memory.conflicts.loops(person, limit=limit, after=after)
    told = {
        each.belief_id
        for each in page
        if len(versions := caller.memory.history(each.belief_id))
        == len(Outlet(caller.memory).beliefs(versions))
    }
    shown = [
        each
        if each.belief_id in told
        else each.model_copy(update={"attribute": "[…]", "values": (), "settle": None})
        for each in page
    ]
    return Listed.of(page, shown)


@endpoint("POST", "/conflicts/{belief_id}/resolution", "conflicts.resolve", once=True)
def resolve_conflict(caller: Caller, belief_id: Id, chosen: Resolution) -> Listed[BeliefAnswer]:
    """Settle a contested belief on the word of a person; the answer is what holds from now on."""
    by = acting(caller, chosen.by)
    versions = caller.memory.history(whole_id(belief_id, "belief"))
    if not versions or not all(caller.owns(each.subject) for each in versions):
        raise UnknownMemory("There is no such belief.")
    settled: Sequence[BeliefAnswer] = caller.memory.conflicts.resolve(
        belief_id, by=by, choose=chosen.choose, contexts=chosen.contexts, note=chosen.note
    )
    return Listed.of(Outlet(caller.memory).beliefs(settled))


@endpoint("GET", "/reviews", "conflicts.review", "decisions", table=True)
def reviews(
    caller: Caller, subject: Subject = "", limit: Limit = 100, after: After = None
) -> Listed[DecisionAnswer]:
    """The statements that wait for a person. A claim is told only where its words may be."""
    page = caller.memory.decisions(caller.subject(subject), waits=True, limit=limit, after=after)
    return Listed.of(page, Outlet(caller.memory).decisions(page))


@endpoint("POST", "/reviews/{decision_id}", "conflicts.review", once=True)
def review(caller: Caller, decision_id: Id, decided: Review) -> Reviewed:
    """Approve or refuse a statement that waits for a person, on the lawful basis that is named."""
    by = acting(caller, decided.by)
    waiting = owned_decision(caller, decision_id)
    written = caller.memory.conflicts.review(
        waiting.decision_id,
        approve=decided.approve,
        by=by,
        basis=decided.basis,
        note=decided.note,
    )
    return Reviewed(memory_id=written)


@endpoint("GET", "/consent", "consent.list", table=True)
def consent(
    caller: Caller, subject: Subject = "", limit: Limit = 100, after: After = None
) -> Listed[GrantAnswer]:
    """The lawful bases in force for a person; the policy's default comes last."""
    person = caller.subject(subject)
    return Listed.of(caller.memory.consent.list(person, limit=limit, after=after))


@endpoint("POST", "/consent", "consent.grant", once=True)
def grant_consent(caller: Caller, grant: Grant) -> Granted:
    """Record a lawful basis for keeping memories of a person. Twice is once."""
    by = acting(caller, grant.by)
    granted = caller.memory.consent.grant(
        caller.subject(grant.subject),
        grant.basis,
        categories=tuple(grant.categories),
        purpose=grant.purpose,
        scope=grant.scope,
        expires_at=grant.expires_at,
        note=grant.note,
        by=by,
    )
    return Granted(grant_id=granted)


@endpoint("DELETE", "/consent", "consent.withdraw", once=True)
def withdraw_consent(
    caller: Caller,
    subject: Annotated[str, Query(max_length=LONGEST)] = "",
    grant_id: Text = None,
    basis: Text = None,
    note: Text = None,
    by: Text = None,
) -> Withdrawn:
    """Withdraw a person's consents: one grant, those of one basis, or all. What stood on them is
    revoked."""
    who = acting(caller, by)
    revoked = caller.memory.consent.withdraw(
        caller.subject(subject), grant_id=grant_id, basis=basis, note=note, by=who
    )
    return Withdrawn(revoked=revoked)


@endpoint("GET", "/types", "types.list", table=True)
def types(caller: Caller, limit: Limit = 100, after: After = None) -> Listed[TypeAnswer]:
    """The types of memory: those in force, then those that were retired."""
    page = caller.memory.types.list(limit=limit, after=after)
    return Listed.of(page, [_without_counts(caller, each) for each in page])


def _without_counts(caller: Caller, kind: TypeAnswer) -> TypeAnswer:
    """How many memories everybody has is nothing for who has a token for some."""
    whole = caller.principal.subjects is None
    return kind if whole else kind.model_copy(update={"memories": 0})


@endpoint("GET", "/types/{name}", "types.get")
def type_of_memory(caller: Caller, name: Id) -> TypeAnswer:
    """One type of memory, retired ones too."""
    known = {each.name: each for each in caller.memory.types.list()}
    if name not in known:
        raise UnknownMemory("There is no such type.")
    return _without_counts(caller, known[name])


@endpoint("POST", "/types", "types.add", whole=True, once=True)
def add_type(caller: Caller, definition: Definition) -> TypeAnswer:
    """Put a type in force. The same definition twice is once."""
    return caller.memory.types.add(definition.type, by=acting(caller, definition.by))


@endpoint("DELETE", "/types/{name}", "types.retire", whole=True, once=True)
def retire_type(caller: Caller, name: Id, by: Text = None) -> TypeAnswer:
    """Let no more memories of a type be written; those that there are stay."""
    return caller.memory.types.retire(name, by=acting(caller, by))


@endpoint("GET", "/policies", "policy.list", table=True)
def policies(caller: Caller, limit: Limit = 100, after: After = None) -> Listed[AdoptedPolicy]:
    """Every policy that came into force, oldest first."""
    return Listed.of(caller.memory.policy.list(limit=limit, after=after))


@endpoint("GET", "/policies/{digest}", "policy.get")
def policy(caller: Caller, digest: Id) -> Policy:
    """A policy, by its digest or how that begins; `current` and `default` are words for two."""
    return caller.memory.policy.get(digest)


@endpoint("GET", "/policies/{digest}/diff", "policy.diff", table=True)
def policy_diff(caller: Caller, digest: Id, after: Text = "current") -> Listed[PolicyDifference]:
    """What one policy says otherwise than another, field by field."""
    return Listed.of(list(caller.memory.policy.diff(digest, after or "current")))


@endpoint("POST", "/policies", "policy.adopt", whole=True, once=True)
def adopt_policy(caller: Caller, given: NewPolicy) -> Adopted:
    """Put a policy in force. The same one twice is once."""
    return Adopted(digest=caller.memory.policy.adopt(given.policy, by=acting(caller, given.by)))
