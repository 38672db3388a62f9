"""Consent: the lawful bases that a subject's memories stand on."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from operator import attrgetter

from beliefledger.answers import GrantAnswer, ReconsideredAnswer
from beliefledger.gate.consent import DEFAULT_GRANT, ORDINARY, ends_default
from beliefledger.gate.policy import Policy
from beliefledger.gate.reconsideration import (
    FOR_WANT_OF_A_BASIS,
    Reconsideration,
    Reconsidered,
)
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import InvalidTurn, NotPermitted
from beliefledger.ledger.events.subject import ConsentWithdrawn
from beliefledger.ledger.names import check_text
from beliefledger.ledger.streams import subject_stream
from beliefledger.ledger.times import to_datetime
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.pages import Cut, Page
from beliefledger.projections import questions
from beliefledger.projections.decisions import DecisionsView
from beliefledger.reading.queries import Queries
from beliefledger.times import Moment, micros

EraseWithdrawn = Callable[[str, Sequence[str], str], object]
"""(subject, ids of withdrawals, who) erases what stood on the consents that were withdrawn."""


class Consent:
    """Grants and withdraws consent, and lists what is in force."""

    def __init__(self, core: Core, queries: Queries, erase_withdrawn: EraseWithdrawn) -> None:
        self._core = core
        self._queries = queries
        self._erase_withdrawn = erase_withdrawn
        self._reconsideration = Reconsideration(core.gate)
        self._first: set[tuple[str, str]] = set()
        """Subjects and bases of which it is known that nothing is to be granted any more."""

    def grant(
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
        reconsider: bool = False,
    ) -> str:
        """Record a lawful basis for keeping memories; returns the grant's id. Twice is once.

        `categories` are `ordinary` or special ones of the policy, each named. Memories may not be
        visible wider than `scope`. With `reconsider`, what had no basis so far is then decided
        again, as by the method of that name. Raises `NotPermitted` for what the policy does not
        know.
        """
        actor = self._core.actor(by)
        if not check_text("subject", subject).strip():
            raise InvalidTurn("subject is empty.")
        if isinstance(categories, str):
            raise InvalidTurn(f"categories: give a list of names, such as [{categories!r}].")
        if reconsider:
            _named(by)
        ref = self._core.log.register([subject])[subject]
        granted = self._core.steward.grant(
            ref,
            basis,
            categories=tuple(categories),
            purpose=purpose,
            scope=scope,
            expires_at=micros(expires_at, "expires_at", InvalidTurn),
            note=note,
            actor=actor,
        )
        if reconsider:
            self.reconsider(subject, by=by)
        return granted

    def grant_first(self, subject: str, basis: str, *, by: str = SYSTEM) -> None:
        """Grant a basis for ordinary memories to a subject who was never granted one and never
        withdrew; to everybody else it does nothing. Raises as `grant` does."""
        if not check_text("subject", subject).strip():
            raise InvalidTurn("subject is empty.")
        known = self._core.log.subject(subject)
        if known is not None and (known, basis) in self._first:
            return
        actor = self._core.actor(by)
        ref = self._core.log.register([subject])[subject]
        self._core.gate.grant_first([ref], basis, actor)
        self._first.add((ref, basis))

    def reconsider(self, subject: str, *, by: str) -> Sequence[ReconsideredAnswer]:
        """Decide again about what was refused or queued for want of a lawful basis that there is
        now, in the order in which it was said.

        Each new decision names the old one, which is settled by it, so that a second time there is
        nothing to do. Raises `NotPermitted` without a name.
        """
        _named(by)
        actor = self._core.actor(by)
        ref = self._core.known_subject(subject)
        made = self._reconsideration.decide_again(ref, self._refused(ref), actor)
        return [_reconsidered(each) for each in made]

    def preview_reconsider(
        self,
        subject: str,
        basis: str | None = None,
        *,
        categories: Sequence[str] = (ORDINARY,),
        purpose: str | None = None,
        scope: str = "subject",
        expires_at: Moment | None = None,
    ) -> Sequence[ReconsideredAnswer]:
        """What `reconsider` would decide now; with `basis`, after a grant of these terms. Nothing
        is recorded. Raises as `grant` does."""
        ref = self._core.known_subject(subject)
        grant = None
        if basis is not None:
            grant = self._core.steward.proposed(
                basis,
                categories=tuple(categories),
                purpose=purpose,
                scope=scope,
                expires_at=micros(expires_at, "expires_at", InvalidTurn),
            )
        made = self._reconsideration.preview(ref, self._refused(ref), grant)
        return [_reconsidered(each) for each in made]

    def _refused(self, subject_ref: str) -> Sequence[Recorded]:
        """The decisions that a grant might change, and that nobody settled."""
        with self._queries.view(DecisionsView.name) as (connection, generation):
            positions = [
                row.position
                for reason in sorted(FOR_WANT_OF_A_BASIS)
                for row in questions.decided(
                    connection,
                    generation,
                    questions.DecisionFilter(subject_ref=subject_ref, reason=reason),
                )
                if row.settled is None
            ]
        return list(self._core.log.read_at(sorted(positions)).values())

    def list(
        self, subject: str, *, limit: int | None = None, after: str | None = None
    ) -> Page[GrantAnswer]:
        """The lawful bases in force for a subject; the policy's default comes last. With `limit` it
        is a page, whose `next` is given as `after` for the one behind it."""
        cut = Cut.of("consent", (subject,), limit, after)
        ref = self._queries.known_or_none(subject)
        if ref is None:
            return Page()
        now = self._core.clock()
        consent = self._core.steward.consent(ref)
        default = None if consent.withdrawn else self._policy().default_grant
        found = [
            GrantAnswer(
                grant_id=grant.id,
                basis=grant.basis,
                categories=tuple(sorted(grant.categories)),
                purpose=grant.purpose,
                scope=grant.scope,
                expires_at=None if grant.expires_at is None else to_datetime(grant.expires_at),
            )
            for grant in (*consent.grants, *([] if default is None else [default]))
            if grant.in_force(now)
        ]
        return cut.of_all(found, attrgetter("grant_id"))

    def withdraw(
        self,
        subject: str,
        *,
        grant_id: str | None = None,
        basis: str | None = None,
        note: str | None = None,
        by: str,
    ) -> int:
        """Withdraw a subject's consents: one grant, those of one basis, or all.

        The policy's default basis ends for this subject too, unless only special categories were
        granted by what is withdrawn. It applies again once ordinary memories are granted anew.
        Every memory that stood on one is revoked in the same append; returns how many. Where the
        policy says `erase_on_withdrawal`, they are erased then, with the turns that are their
        evidence; under a legal hold, once it is lifted and the job `forgetting` runs. Raises
        `NotPermitted` when there is nothing to withdraw.
        """
        actor = self._core.actor(by)
        default = self._policy().default_grant
        first_basis = self._core.settings.consent
        if default is None and first_basis is None:
            ref = self._core.known_subject(subject)
        else:  # also somebody of whom nothing was recorded yet may object
            ref = self._core.log.register([subject])[subject]

        def wanted(id_: str, of: str) -> bool:
            return (basis is None or of == basis) and (grant_id is None or id_.startswith(grant_id))

        def attempt(also: Sequence[str]) -> int:
            consent = self._core.steward.consent(ref)
            standing = self._queries.standing(ref)
            over = [grant for grant in consent.grants if wanted(grant.id, grant.basis)]
            ended = [grant.id for grant in over]
            if not consent.withdrawn:
                # Of the policy in force, of one under which something was kept, or what would be
                # granted at the first turn.
                bases = {row.basis for row in standing if row.grant_id == DEFAULT_GRANT}
                bases |= set() if default is None else {default.basis}
                bases |= set() if first_basis is None or consent.answered else {first_basis}
                named = any(wanted(DEFAULT_GRANT, of) for of in bases)
                if named or (bases and over and ends_default(ended, over)):
                    ended.append(DEFAULT_GRANT)
            given = {DEFAULT_GRANT, *(grant.id for grant in consent.grants)}
            memories = {
                row.memory_id: row
                for row in standing
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
                if basis is not None:
                    self._policy().check_basis(basis)
                raise NotPermitted(
                    "No such consent is in force for this subject. List those that are:"
                    f" beliefledger consent list --subject {shlex.quote(subject)}"
                )
            over_now = ended or sorted({row.grant_id for row in memories.values()})
            found = {memory_id: row.belief for memory_id, row in memories.items()}
            self._core.steward.withdraw(ref, over_now, found, note=note, actor=actor)
            # A decision may have been on its way while the view was read. Now that the grants have
            # ended there can be no further one, so what is found here is the rest.
            return len(memories) + attempt([*also, *over_now])

        before = self._core.log.version(subject_stream(ref))
        revoked = self._core.gate.again(lambda: attempt([]))
        policy = self._policy()
        if policy.erase_on_withdrawal and not self._core.log.eraser.holds(ref):
            withdrawals = [
                each.event_id
                for each in self._core.log.read_stream(subject_stream(ref), before)
                if each.type == ConsentWithdrawn.NAME
            ]
            self._erase_withdrawn(subject, withdrawals, by)
        return revoked

    def _policy(self) -> Policy:
        return self._core.rulebook.refreshed().policy


def _named(by: str) -> None:
    if by == SYSTEM:
        raise NotPermitted("Deciding again needs a named principal: say by=NAME.")


def _reconsidered(each: Reconsidered) -> ReconsideredAnswer:
    recorded = each.decision_id is not None
    return ReconsideredAnswer(
        decision_id=each.old.event_id,
        reason=each.old.facts["reason"],
        claim=each.candidate.claim,
        category=each.candidate.category or ORDINARY,
        said_at=to_datetime(each.said_at),
        outcome=each.decided.outcome,
        new_reason=each.decided.reason,
        memory_id=each.decided.memory if recorded else None,
        new_decision_id=each.decision_id,
    )
