"""The part of the front door through which named people settle things."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beliefledger.answers import BeliefAnswer, ErasureAnswer, GrantAnswer
from beliefledger.erasure.erasure import WITHDRAWN
from beliefledger.gate.consent import ORDINARY
from beliefledger.gate.policy import Policy, load
from beliefledger.ledger.errors import InvalidTurn, NotPermitted, UnknownMemory
from beliefledger.ledger.events.subject import ConsentWithdrawn
from beliefledger.ledger.streams import subject_stream
from beliefledger.ledger.times import Clock, to_datetime
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.build import Parts
from beliefledger.reading.conflicts import Disputes
from beliefledger.reading.queries import Asking
from beliefledger.reading.views import Upkeep
from beliefledger.times import Moment, micros


class Settling:
    """Resolve, review, grant, withdraw, revoke, adopt. `by` names who does it."""

    if TYPE_CHECKING:  # of the front door itself
        erase: Callable[..., ErasureAnswer]
        known_basis: Callable[[str], str | None]

    def __init__(self, parts: Parts, clock: Clock) -> None:
        self._parts = parts
        self._clock = clock
        self._log = parts.log
        self._gate = parts.gate
        self._steward = parts.steward
        self._asking = Asking(parts, clock)
        self._disputes = Disputes(parts, clock, self._asking)
        self._upkeep = Upkeep(parts, self._asking)

    def resolve(
        self,
        belief_id: str,
        *,
        by: str,
        choose: str | None = None,
        contexts: Mapping[str, str] | None = None,
        note: str | None = None,
    ) -> list[BeliefAnswer]:
        """Settle a contested belief: `choose` one value, or name the value for each context.

        A value is named by its words, by a memory's id or an escalated decision's. Returns what
        holds from now on. Raises `UnknownMemory`, `NotPermitted`.
        """
        belief = self._asking.belief_id(belief_id)
        subject_ref, offered = self._disputes.escalated(belief)
        self._steward.resolve(
            subject_ref,
            belief,
            choose=choose,
            contexts=contexts,
            candidates=offered,
            note=note,
            actor=self._actor(by),
        )
        now = self._asking.now()
        return [
            version
            for version in self._asking.history(belief)
            if version.recorded_to is None
            and not version.quarantined
            and (version.valid_to is None or version.valid_to > to_datetime(now))
        ]

    def review(
        self,
        decision_id: str,
        *,
        approve: bool,
        by: str,
        basis: str = "explicit_consent",
        note: str | None = None,
    ) -> str | None:
        """Approve or refuse a queued candidate, as a named principal; returns the memory written.

        `basis` is the lawful basis that an approved memory stands on. Raises `NotPermitted`.
        """
        recorded = self._log.find(self._asking.decision_id(decision_id))
        if recorded is None:
            raise UnknownMemory(f"There is no decision {decision_id}.")
        return self._steward.review(
            recorded, approved=approve, basis=basis, note=note, actor=self._actor(by)
        )

    def grant_consent(
        self,
        subject: str,
        basis: str,
        *,
        categories: Sequence[str] = (ORDINARY,),
        purpose: str | None = None,
        scope: str = "subject",
        expires_at: Moment | None = None,
        note: str | None = None,
        by: str = SYSTEM,
    ) -> str:
        """Record a lawful basis for keeping memories; returns the grant's id. Twice is once.

        `categories` are `ordinary` or special ones of the policy, each named. Memories may not be
        visible wider than `scope`. Raises `NotPermitted` for what the policy does not know.
        """
        actor = self._actor(by)
        if not subject.strip():
            raise InvalidTurn("subject is empty.")
        ref = self._log.register([subject])[subject]
        return self._steward.grant(
            ref,
            basis,
            categories=tuple(categories),
            purpose=purpose,
            scope=scope,
            expires_at=micros(expires_at, "expires_at"),
            note=note,
            actor=actor,
        )

    def consents(self, subject: str) -> list[GrantAnswer]:
        """The lawful bases in force for a subject."""
        ref = self._asking.known_or_none(subject)
        if ref is None:
            return []
        now = self._clock()
        return [
            GrantAnswer(
                grant_id=grant.id,
                basis=grant.basis,
                categories=tuple(sorted(grant.categories)),
                purpose=grant.purpose,
                scope=grant.scope,
                expires_at=None if grant.expires_at is None else to_datetime(grant.expires_at),
            )
            for grant in self._steward.grants(ref)
            if grant.expires_at is None or grant.expires_at > now
        ]

    def was_erased(self, subject: str) -> bool:
        """True for somebody who was erased and not registered anew: nothing about them goes in."""
        try:
            self._log.subject(subject)
        except NotPermitted:
            return True
        return False

    def withdraw_consent(
        self,
        subject: str,
        *,
        grant_id: str | None = None,
        basis: str | None = None,
        note: str | None = None,
        by: str = SYSTEM,
    ) -> int:
        """Withdraw a subject's consents: one grant, those of one basis, or all.

        Every memory that stood on one is revoked in the same append; returns how many. Where the
        policy says `erase_on_withdrawal`, they are erased then, with the turns that are their
        evidence; under a legal hold, once it is lifted and the job `forgetting` runs. Raises
        `NotPermitted` when there is nothing to withdraw.
        """
        actor = self._actor(by)
        ref = self._known_subject(subject)

        def attempt(also: Sequence[str]) -> int:
            granted = self._steward.grants(ref)
            ended = [
                grant.id
                for grant in granted
                if (basis is None or grant.basis == basis)
                and (grant_id is None or grant.id.startswith(grant_id))
            ]
            given = {grant.id for grant in granted}
            memories = {
                row.memory_id: row.belief
                for row in self._asking.standing(ref)
                if row.grant_id in (*ended, *also)
                # A review's approval is a basis of its own, and ends with its kind or with all.
                or (
                    grant_id is None
                    and row.grant_id not in given
                    and (basis is None or row.basis == basis)
                )
            }
            if not ended and not memories:
                if also:
                    return 0
                raise NotPermitted("No such consent is in force for this subject.")
            self._steward.withdraw(ref, ended, memories, note=note, actor=actor)
            # A decision may have been on its way while the view was read. Now that the grants have
            # ended there can be no further one, so what is found here is the rest.
            return len(memories) + attempt([*also, *ended])

        before = self._log.version(subject_stream(ref))
        revoked = self._gate.again(lambda: attempt([]))
        if self.policy.erase_on_withdrawal and not self._log.eraser.holds(ref):
            withdrawals = [
                each.event_id
                for each in self._log.read_stream(subject_stream(ref), before)
                if each.type == ConsentWithdrawn.NAME
            ]
            basis = self.known_basis(WITHDRAWN)
            self.erase(subject, withdrawals=withdrawals, by=by, legal_basis=basis)
        return revoked

    def revoke(self, memory_id: str, *, by: str = SYSTEM, note: str | None = None) -> BeliefAnswer:
        """Take a memory back; it stays in the history. Raises `UnknownMemory`."""
        memory = self._asking.memory_id(memory_id)
        last = self._asking.history(memory, only_memory=True)[-1]
        ref = self._known_subject(last.subject or "")
        self._steward.revoke(ref, memory, last.belief_id, note=note, actor=self._actor(by))
        return self._asking.history(memory, only_memory=True)[-1]

    def register_anew(self, subject: str, *, by: str) -> None:
        """Let somebody who was erased be recorded again, on a named actor's word."""
        if not self._log.vault.was_erased(self._log.tenant, subject):
            raise NotPermitted("This subject was not erased: there is nothing to lift.")
        self._log.register([subject], actor=self._actor(by), anew=True)

    def adopt_policy(
        self, policy: Policy | Path | str | Mapping[str, Any], *, by: str = SYSTEM
    ) -> str:
        """Put a policy in force; returns its digest. Raises `PolicyInvalid`."""
        chosen = load(policy)
        self._parts.rulebook.ensure(chosen, self._actor(by))
        self._gate.forget()
        return chosen.digest()

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._parts.rulebook.refreshed().policy

    def _known_subject(self, subject: str) -> str:
        ref = self._log.subject(subject)
        if ref is None:
            raise UnknownMemory(f"Nothing is known about {subject!r}.")
        return ref

    def _actor(self, name: str) -> str:
        if not name.strip():
            raise NotPermitted("Name who acts.")
        return self._log.principal(name)
