"""What named people do with beliefs and consents: grant, withdraw, revoke, review, resolve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from beliefledger.gate.belief import Belief, Held
from beliefledger.gate.consent import ORDINARY, Consent, Grant
from beliefledger.gate.decide import decide
from beliefledger.gate.decision import Approval
from beliefledger.gate.draft import Draft
from beliefledger.gate.effects import memory_id_of
from beliefledger.gate.entities import followed
from beliefledger.gate.entity_names import learn, named
from beliefledger.gate.gate import Gate
from beliefledger.gate.outcomes import Outcome
from beliefledger.gate.policy import millionths
from beliefledger.gate.reconsideration import settled
from beliefledger.gate.slots import canonical_context, canonical_text, canonical_value
from beliefledger.gate.turns import cited, view_of
from beliefledger.ledger import streams
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.errors import LogCorrupted, NotPermitted, UnknownMemory
from beliefledger.ledger.events.belief import ConflictResolved, MemoryAdmitted, MemoryRevoked
from beliefledger.ledger.events.subject import ConsentGranted, ConsentWithdrawn
from beliefledger.ledger.events.turn import (
    CandidateProposed,
    GateDecided,
    ReviewDecided,
    TurnRecorded,
)
from beliefledger.ledger.log import new_id
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.times import Micros, iso
from beliefledger.ledger.vault import SYSTEM


class Steward:
    """Acts on behalf of a principal; `actor` is always the principal's reference."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._log = gate.log

    def _draft(self, *streams: str) -> Draft:
        """A draft with these streams read again: another process may have written to them, and a
        refusal appends nothing that would conflict."""
        self._gate.memo.forget(*streams)
        return self._gate.draft()

    # Consent

    def grant(
        self,
        subject_ref: str,
        basis: str,
        *,
        categories: Sequence[str] = (ORDINARY,),
        purpose: str | None = None,
        scope: str = "subject",
        expires_at: Micros | None = None,
        note: str | None = None,
        actor: str = SYSTEM,
    ) -> str:
        """Record a lawful basis; returns the grant's id. The same grant twice is one.

        Raises `NotPermitted` as `proposed` does.
        """
        wanted = self.proposed(
            basis, categories=categories, purpose=purpose, scope=scope, expires_at=expires_at
        )

        def attempt() -> str:
            draft = self._draft(subject_ref)
            consent = draft.consent(subject_ref)
            for grant in consent.grants:
                if replace(grant, id="") == wanted:
                    return grant.id
            event = ConsentGranted(
                basis=wanted.basis,
                special=any(each != ORDINARY for each in wanted.categories),
                categories=tuple(sorted(wanted.categories)),
                purpose=wanted.purpose,
                scope=wanted.scope,
                expires_at=wanted.expires_at,
                note=note,
            )
            new = New(event, new_id(), streams.subject_stream(subject_ref), subject_ref, actor)
            draft.write(new)
            self._gate.commit(draft)
            self._gate.memo.clear()
            return new.event_id

        return self._gate.again(attempt)

    def proposed(
        self,
        basis: str,
        *,
        categories: Sequence[str] = (ORDINARY,),
        purpose: str | None = None,
        scope: str = "subject",
        expires_at: Micros | None = None,
    ) -> Grant:
        """A grant of these terms, without an id: it is not recorded.

        Raises `NotPermitted` naming what the policy does not know.
        """
        policy = self._gate.rulebook.refreshed().policy
        purpose = purpose or policy.purpose
        policy.check_basis(basis)
        _known("scope", scope, policy.scopes)
        _known("purpose", purpose, (policy.purpose,))
        if expires_at is not None and expires_at <= self._gate.now():
            raise NotPermitted(
                f"expires_at: the grant would be over already, since {iso(expires_at)}. Give a time"
                " to come, or leave it out (--expires)."
            )
        for category in categories:
            _known("category", category, (ORDINARY, *policy.special_categories))
            if category != ORDINARY and policy.special_categories[category] == "prohibit":
                raise NotPermitted(f"The policy prohibits keeping anything about {category}.")
        if not categories:
            raise NotPermitted("A grant names at least one category.")
        return Grant("", basis, frozenset(categories), purpose, scope, expires_at)

    def consent(self, subject_ref: str) -> Consent:
        """What was granted and not withdrawn, as it is in the log now."""
        self._gate.memo.clear()
        return self._gate.memo.consent(subject_ref)

    def withdraw(
        self,
        subject_ref: str,
        grants: Sequence[str],
        memories: Mapping[str, str],
        *,
        note: str | None = None,
        actor: str = SYSTEM,
    ) -> int:
        """End these grants and revoke these memories (id → belief) in the same append."""
        draft = self._gate.draft()
        draft.consent(subject_ref)
        event = ConsentWithdrawn(grants=tuple(grants), revoked=len(memories), note=note)
        withdrawn = New(event, new_id(), streams.subject_stream(subject_ref), subject_ref, actor)
        draft.write(withdrawn)
        for memory_id, stream in memories.items():
            draft.belief(stream)
            revoked = MemoryRevoked(memory_id=memory_id, cause="consent_withdrawn")
            draft.write_belief(
                New(revoked, new_id(), stream, subject_ref, actor, withdrawn.event_id)
            )
        self._gate.commit(draft)
        self._gate.memo.clear()
        return len(memories)

    def revoke(
        self, subject_ref: str, memory_id: str, belief: str, *, note: str | None, actor: str
    ) -> None:
        """Take one memory back."""

        def attempt() -> None:
            draft = self._draft(belief)
            draft.consent(subject_ref)
            if draft.belief(belief).find(memory_id) is None:
                raise UnknownMemory(f"The memory {memory_id} does not hold any more.")
            event = MemoryRevoked(memory_id=memory_id, cause="actor", note=note)
            draft.write_belief(New(event, new_id(), belief, subject_ref, actor))
            self._gate.commit(draft)

        self._gate.again(attempt)

    # Review

    def review(
        self,
        decision: Recorded,
        *,
        approved: bool,
        basis: str,
        note: str | None,
        actor: str,
    ) -> str | None:
        """Approve or refuse what the gate had queued; returns the memory written, if any.

        An approved candidate meets its belief as it is now, and every check but consent to its
        category once more. Raises `NotPermitted` when it cannot be believed even so.
        """
        decided = decision.facts
        if decision.type != GateDecided.NAME or decided["outcome"] != Outcome.QUEUE:
            raise NotPermitted("Only a decision with the outcome 'queue' waits for a review.")
        if actor == SYSTEM:
            raise NotPermitted("A review needs a named principal.")
        subject_ref = _subject(decision)
        self._gate.rulebook.refreshed().policy.check_basis(basis)

        def attempt() -> str | None:
            draft = self._draft(subject_ref, decided["belief"])
            turn_stream = self._gate.memo.read(decision.stream)
            if decision.event_id in settled(turn_stream):
                raise NotPermitted(
                    "This decision was reviewed already, or made again. What became of it tells:"
                    f" beliefledger explain {decision.event_id[:10]}"
                )
            draft.reads(decision.stream, turn_stream[-1].version)
            review_id = new_id()
            memory = None
            if approved:
                memory = self._approve(draft, decision, turn_stream, review_id, basis, actor)
            else:
                draft.consent(subject_ref)
            event = ReviewDecided(
                decision=decision.event_id, approved=approved, memory=memory, note=note
            )
            draft.write(
                New(event, review_id, decision.stream, subject_ref, actor, decision.event_id)
            )
            self._gate.commit(draft)
            return memory

        return self._gate.again(attempt)

    def _approve(
        self,
        draft: Draft,
        decision: Recorded,
        turn_stream: Sequence[Recorded],
        review_id: str,
        basis: str,
        actor: str,
    ) -> str | None:
        decided = decision.event
        turn_event = turn_stream[0]
        proposed = turn_stream[decision.facts["candidate_version"] - 1].event
        if not isinstance(decided, GateDecided) or not isinstance(proposed, CandidateProposed):
            raise NotPermitted("What was queued is erased; refuse it, to close the review.")
        said = turn_event.event
        if not isinstance(said, TurnRecorded):
            raise NotPermitted("What was queued is erased; refuse it, to close the review.")
        subject_ref = _subject(decision)
        candidate = proposed.candidate
        consent = draft.consent(subject_ref)
        turn = view_of(turn_event, said, cited(self._log, subject_ref, [candidate], consent))
        keys, stream = draft.keys(subject_ref), decided.belief
        later = draft.named_since(subject_ref, decision.position)
        resolved = followed(candidate, later, draft.directory(subject_ref))
        if resolved is not None:  # what it is about may have moved since
            candidate = candidate.model_copy(update={"resolved": resolved})
            candidate, stream = draft.placed(candidate, subject_ref, turn)
        again = decide(
            turn,
            candidate,
            draft.belief(stream),
            consent,
            draft.rules.policy,
            draft.rules.registry,
            draft.now,
            choices=proposed.choices,
            approval=Approval(review_id, basis),
        )
        if again.outcome in {Outcome.REJECT, Outcome.QUEUE}:
            raise NotPermitted(f"It cannot be believed even when approved: {again.reason.value}.")
        new_memory = streams.memory_id(keys.ids, turn.turn_id, proposed.index)
        draft.apply(again, review_id, candidate, turn, subject_ref, stream, new_memory, actor)
        _, names = named(draft, subject_ref, candidate)
        learn(draft, subject_ref, candidate, again, review_id, names)
        return memory_id_of(again, new_memory)

    # Conflicts

    def resolve(
        self,
        subject_ref: str,
        stream: str,
        *,
        choose: str | None = None,
        contexts: Mapping[str, str] | None = None,
        candidates: Mapping[str, Memory],
        note: str | None,
        actor: str,
    ) -> list[str]:
        """Settle a contested belief; returns the memories that hold from now on.

        `choose` names the one value that holds; `contexts` names the value for each context. A
        value is named by its words, by a memory's id or by the id of an escalated decision, whose
        words `candidates` holds.
        """
        if actor == SYSTEM:
            raise NotPermitted("A resolution needs a named principal.")
        if (choose is None) == (not contexts):
            raise NotPermitted("Choose either one value or a value for each context.")

        def attempt() -> list[str]:
            draft = self._draft(subject_ref, stream)
            draft.consent(subject_ref)
            belief = draft.belief(stream)
            if not (belief.contested or belief.escalated):
                raise NotPermitted("This belief is not contested: there is nothing to resolve.")
            wanted = {None: choose} if choose is not None else dict(contexts or {})
            if len({canonical_context(context) for context in wanted}) < len(wanted):
                raise NotPermitted("The same context is named twice.")
            chosen = {
                context: _named_value(belief, candidates, str(value))
                for context, value in wanted.items()
            }
            resolution = new_id()
            keys = draft.keys(subject_ref)
            ids = {
                context: streams.memory_id(keys.ids, stream, belief.version, context or "")
                for context in chosen
            }
            event = ConflictResolved(
                kind="choose" if choose is not None else "by_context",
                settles=belief.escalated,
                memories=tuple(ids.values()),
                closes=tuple(held.memory_id for held in belief.current),
                resolved_at=draft.now,
                note=note,
            )
            draft.write_belief(New(event, resolution, stream, subject_ref, actor))
            pattern = _pattern(belief)
            consent = draft.consent(subject_ref)
            importance = millionths(draft.rules.policy.resolution_importance)
            for context, memory in chosen.items():
                settled = memory.model_copy(
                    update={
                        "context": context,
                        "claim": _in_context(memory.claim, context),
                        "valid_from": draft.now,
                        "valid_to": None,
                        "expires_at": None,
                        "said_at": draft.now,
                        "said_at_stated": False,
                    }
                )
                grant = _grant_for(consent, draft, memory.category)
                admitted = pattern.written.model_dump() | {
                    "basis": grant.basis,
                    "grant": grant.id,
                    "memory_id": ids[context],
                    "decision": resolution,
                    "confidence": max(pattern.confidence, pattern.base),
                    "importance": importance,
                    "mentions": 1,
                    "memory": settled,
                }
                fields = {
                    name: admitted[name]
                    for name in MemoryAdmitted.model_fields
                    if name not in {"promotes", "past"}
                }
                draft.write_belief(
                    New(
                        MemoryAdmitted(**fields),
                        new_id(),
                        stream,
                        subject_ref,
                        actor,
                        resolution,
                    )
                )
            self._gate.commit(draft)
            return list(ids.values())

        return self._gate.again(attempt)


def _subject(recorded: Recorded) -> str:
    if recorded.subject_ref is None:
        raise LogCorrupted(f"Position {recorded.position} belongs to no subject.")
    return recorded.subject_ref


def _known(what: str, given: str, allowed: Sequence[str]) -> None:
    if given not in allowed:
        raise NotPermitted(f"{given!r} is not a {what} of the policy: {', '.join(allowed)}.")


def _pattern(belief: Belief) -> Held:
    """The memory whose type, basis and scope a resolution takes over: the one that holds now."""
    held = (*belief.current, *belief.past)
    if not held:
        raise NotPermitted("This belief has no value left; say it anew instead of resolving it.")
    return held[0]


def _grant_for(consent: Consent, draft: Draft, category: str | None) -> Grant:
    """The grant that covers a chosen value. Raises `NotPermitted` if there is none."""
    policy = draft.rules.policy
    grant = consent.covering(category or ORDINARY, policy.purpose, draft.now, policy)
    if grant is None:
        raise NotPermitted(
            f"There is no lawful basis for {category or ORDINARY} memories of this subject: record"
            " one first."
        )
    return grant


def _named_value(belief: Belief, candidates: Mapping[str, Memory], name: str) -> Memory:
    """The memory or escalated statement that `name` names, by id, id prefix or value."""
    offered: dict[str, Memory] = {
        held.memory_id: held.written.memory
        for held in (*belief.past, *belief.quarantined, *belief.current)
    }
    offered |= candidates
    wanted = canonical_text(name)
    for identifier, memory in reversed(offered.items()):
        if identifier == name or _said(memory) == wanted:
            return memory
    matches = [memory for identifier, memory in offered.items() if identifier.startswith(name)]
    if len(matches) == 1 and len(name) >= 6:
        return matches[0]
    values = ", ".join(sorted({_said(memory) for memory in offered.values()}))
    raise UnknownMemory(f"{name!r} is no value of this belief; its values are: {values}.")


def _said(memory: Memory) -> str:
    return canonical_value(memory.value, negated=memory.negated, kind=None)


def _in_context(claim: str, context: str | None) -> str:
    if context is None or canonical_text(context) in canonical_text(claim):
        return claim
    return f"{claim} ({context})"
