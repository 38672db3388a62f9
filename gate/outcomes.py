"""What the gate can do with a candidate, and the codes of why it did so."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from beliefledger.ledger.candidate import SpeechAct


class Outcome(StrEnum):
    """What the gate does with a candidate."""

    ADMIT = "admit"
    CONFIRM = "confirm"
    SUPERSEDE = "supersede"
    QUARANTINE = "quarantine"
    ESCALATE = "escalate"
    QUEUE = "queue"
    REJECT = "reject"


class Reason(StrEnum):
    """Why, as `<check>.<cause>`. A code never changes its meaning."""

    NEW = "truth.new"
    PROMOTED = "truth.promoted"
    BACKDATED = "truth.backdated"
    OUTDATED = "truth.outdated"
    CHANGE = "truth.change"
    CORRECTION = "truth.correction"
    STRONGER = "truth.at_least_as_strong"
    UNKNOWN_TYPE = "truth.unknown_type"
    NOT_THE_SUBJECT = "truth.not_the_subject"
    SPAN_NOT_FOUND = "truth.span_not_found"
    CLAIM_EXCEEDS_SPAN = "truth.claim_exceeds_span"
    INSTRUCTION_LIKE = "truth.instruction_like"
    QUESTION = "truth.question"
    HYPOTHETICAL = "truth.hypothetical"
    CONDITIONAL = "truth.conditional"
    ROLE_PLAY = "truth.role_play"
    LEVERAGE = "truth.leverage"
    QUOTED = "truth.quoted"
    SARCASTIC = "truth.sarcastic"
    BELOW_THRESHOLD = "truth.below_threshold"
    WEAKER = "truth.weaker_than_current"
    CONTESTED = "truth.contested"
    NO_CONTEXT = "truth.no_context"
    CONSTRAINT_STANDS = "truth.constraint_stands"
    TO_BE_ASKED = "truth.to_be_asked"
    TRANSIENT = "durability.transient"
    SESSION_ONLY = "durability.session_only"
    TRIVIAL = "durability.trivial"
    OUTSIDE_PURPOSE = "durability.outside_purpose"
    REPEATED = "durability.repeated"
    IMPLIED = "durability.implied"
    NO_CONSENT = "permission.no_consent"
    SPECIAL_CATEGORY = "permission.special_category"
    PROHIBITED_CATEGORY = "permission.prohibited_category"
    SECRET = "permission.secret"  # noqa: S105  (a reason code)
    OFF_THE_RECORD = "permission.off_the_record"
    SCOPE_TOO_WIDE = "permission.scope_too_wide"


CAPPED: Mapping[SpeechAct, Reason] = {
    SpeechAct.HYPOTHETICAL: Reason.HYPOTHETICAL,
    SpeechAct.CONDITIONAL: Reason.CONDITIONAL,
    SpeechAct.ROLE_PLAY: Reason.ROLE_PLAY,
    SpeechAct.LEVERAGE: Reason.LEVERAGE,
    SpeechAct.QUOTED: Reason.QUOTED,
    SpeechAct.SARCASTIC: Reason.SARCASTIC,
}
"""The acts of speech that make no belief, and the reason that is told of each."""
