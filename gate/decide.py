"""The decision about one candidate. Pure: an auditor can run it again and must get the same.

Default: do not persist. The checks run in order, truth, durability, permission; the first that
fails refuses the candidate. What passes meets the belief it is about.
"""

from __future__ import annotations

from dataclasses import replace

from beliefledger.gate.belief import Belief
from beliefledger.gate.checks import (
    Case,
    CheckFailed,
    durability,
    initial_score,
    permission,
    speech_act,
    truth,
)
from beliefledger.gate.conflicts import against_belief
from beliefledger.gate.consent import Consent
from beliefledger.gate.decision import Approval, Decision, TurnView
from beliefledger.gate.outcomes import CAPPED, Outcome
from beliefledger.gate.policy import Policy
from beliefledger.gate.registry import Registry
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.times import Micros


def decide(
    turn: TurnView,
    candidate: Candidate,
    belief: Belief,
    consent: Consent,
    policy: Policy,
    registry: Registry,
    now: Micros,
    *,
    choices: Choices | None = None,
    approval: Approval | None = None,
) -> Decision:
    """Decide about one candidate.

    `belief` is the slot it is about, at the version it has now; `now` (microseconds UTC) only
    decides whether a consent is still in force. `choices` are the fields that a caller of `store`
    chose: words are then not examined, but consent, scope and contradiction are. `approval` is a
    reviewer's: it stands in for the consent to a special category.
    """
    case = Case(
        turn=turn,
        candidate=candidate,
        choices=choices or Choices(),
        chosen=choices is not None,
        belief=belief,
        consent=consent,
        policy=policy,
        registry=registry,
        now=now,
        approval=approval,
    )
    kind = registry.types.get(candidate.type)
    case.act = speech_act(case)
    scored = initial_score(case, kind, mentions=1)
    try:
        kind = truth(case, kind)
        durability(case)
        grant = permission(case)
    except CheckFailed as refused:
        return Decision(
            refused.outcome,
            refused.reason,
            scored,
            trace=tuple(case.trace),
            capped=case.act in CAPPED,
        )
    decision = against_belief(case, kind, scored, grant)
    if candidate.retracts and decision.outcome in {Outcome.ADMIT, Outcome.SUPERSEDE}:
        # Words that take others back are kept as history, and never hold themselves.
        decision = replace(decision, past=True, valid_to=decision.valid_from)
    return decision
