"""The checks that a candidate has to pass: truth, durability, permission, in this order. Pure.

The first that fails raises `CheckFailed`. Each leaves an entry in the decision's trace.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property

from beliefledger.gate import speech
from beliefledger.gate.belief import Belief
from beliefledger.gate.claim_excess import presupposes, value_said
from beliefledger.gate.claims import CHECK, claim_within
from beliefledger.gate.confidence import Confidence, score
from beliefledger.gate.consent import DEFAULT_GRANT, ORDINARY, SPECIAL, Consent, Grant
from beliefledger.gate.cues import ORDERS_STORED, UNRECORDED
from beliefledger.gate.decision import Approval, TurnView
from beliefledger.gate.orders import instruction_like
from beliefledger.gate.outcomes import CAPPED, Outcome, Reason
from beliefledger.gate.policy import Policy, millionths
from beliefledger.gate.registry import MemoryType, Registry
from beliefledger.gate.rules.denials import ATTRIBUTE as DENIAL
from beliefledger.gate.rules.denials import KIDDING, unrecorded
from beliefledger.gate.sentences import sentences
from beliefledger.gate.slots import words
from beliefledger.gate.speakers import as_if_of_subject
from beliefledger.ledger.candidate import Candidate, Durability, Source, SpeechAct
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.lookalikes import Folded, plain, undisguised
from beliefledger.ledger.times import Micros

EXPLICIT = frozenset({SpeechAct.CHANGE, SpeechAct.CORRECTION, SpeechAct.REMOVAL})
REDACTED = "[redacted "
"""The beginning of a redacted secret's placeholder. What says it is no memory."""
_SPEAKS_FOR_SUBJECT = frozenset({"user"})


@dataclass(frozen=True, slots=True)
class CheckFailed(Exception):
    outcome: Outcome
    reason: Reason
    check: str


@dataclass
class Case:
    """One candidate before the gate, with what was found out so far."""

    turn: TurnView
    candidate: Candidate
    choices: Choices
    chosen: bool
    belief: Belief
    consent: Consent
    policy: Policy
    registry: Registry
    now: Micros
    approval: Approval | None
    trace: list[str] = field(default_factory=list)
    act: SpeechAct = SpeechAct.STATEMENT

    @cached_property
    def said(self) -> Folded:
        """The turn's words, as a person sees them."""
        return plain(self.turn.content)

    @property
    def reading(self) -> int:
        """The edition of the cues by which the words are read: that of when it was proposed."""
        resolved = self.candidate.resolved
        return 0 if resolved is None else resolved.reading

    def passed(self, check: str, note: str = "pass") -> None:
        self.trace.append(f"{check}={note}")

    def refuse(self, check: str, reason: Reason, outcome: Outcome = Outcome.REJECT) -> CheckFailed:
        self.trace.append(f"{check}={reason.value}")
        return CheckFailed(outcome, reason, check)


def speech_act(case: Case) -> SpeechAct:
    """The extractor's reading, unless the words themselves are less sincere than it says."""
    act = case.candidate.act
    if case.chosen or act not in EXPLICIT | {SpeechAct.STATEMENT}:
        return act
    for span in case.candidate.spans:
        if span.turn is None:
            said = case.said
            start, end = said.place(span.start, span.end)
            if _is_so_again(case):
                continue
            if _takes_back(case) and not speech.is_foreign(said.text, start):
                continue  # "I was lying when I said …" is meant, and what it was said of is not
            read = speech.speech_act(said.text, start, end, reading=case.reading)
            asked = read is SpeechAct.QUESTION and case.candidate.check >= CHECK
            if asked and presupposes(span.quote):
                continue
            if read in CAPPED or read in {SpeechAct.INSTRUCTION, SpeechAct.QUESTION}:
                return read
    return act


def _takes_back(case: Case) -> bool:
    """Whether a candidate only takes back what was said, as of the second edition of the cues."""
    candidate = case.candidate
    if not candidate.retracts or case.reading < UNRECORDED:
        return False
    asked = candidate.attribute == "event.retraction" and _ASKED.match(candidate.spans[0].quote)
    return candidate.attribute == DENIAL or bool(asked) or case.turn.corrects is not None


def _is_so_again(case: Case) -> bool:
    """Whether a candidate tells again what a joke had ended: "just kidding" is meant."""
    candidate = case.candidate
    again = candidate.act is SpeechAct.CHANGE and candidate.replaces == candidate.value
    return again and KIDDING.fullmatch(candidate.spans[0].quote) is not None


_ASKED = compile_later(
    r"\W*(?:please |pls |and |so |ok,? )?(?:forget|ignore|disregard|drop)\b", re.I
)


def initial_score(case: Case, kind: MemoryType | None, mentions: int) -> Confidence:
    policy, candidate = case.policy, case.candidate
    s = millionths(policy.sources[candidate.source])
    e = candidate.confidence
    if candidate.inferred:
        e = round(e * policy.inference_factor)
    t = millionths(kind.prior) if kind else 0
    cap = millionths(policy.cap) if case.act in CAPPED else None
    scored = score(s, e, t, mentions, cap, policy.knots)
    chosen = case.choices.confidence
    if chosen is None:
        return scored
    return Confidence(s, scored.r, e, t, base=chosen, c=chosen)


# Truth


def truth(case: Case, kind: MemoryType | None) -> MemoryType:
    if kind is None:
        raise case.refuse("truth.type", Reason.UNKNOWN_TYPE)
    candidate, turn = case.candidate, case.turn
    if case.chosen:
        chosen = (candidate.claim, candidate.value, candidate.context or "")
        if case.reading >= ORDERS_STORED and any(instruction_like(plain(e).text) for e in chosen):
            raise case.refuse("truth.words", Reason.INSTRUCTION_LIKE)
        case.passed("truth.words", "chosen")
        return kind
    own_words = any(span.turn is None for span in candidate.spans)
    if turn.role not in _SPEAKS_FOR_SUBJECT or not own_words:
        raise case.refuse("truth.speaker", Reason.NOT_THE_SUBJECT)
    if candidate.source in {Source.ASSISTANT, Source.THIRD_PARTY}:
        case.passed("truth.speaker", candidate.source.value)
    else:
        case.passed("truth.speaker")
    for span in candidate.spans:
        text = turn.text_of(span.turn)
        if not span.quote or text is None or text[span.start : span.end] != span.quote:
            raise case.refuse("truth.span", Reason.SPAN_NOT_FOUND)
    case.passed("truth.span")
    told = candidate
    if case.reading and turn.speaker is not None:
        told = as_if_of_subject(candidate, turn.speaker)
    if not claim_within_spans(told) or not claim_within(told, sincere=_sincere(case)):
        raise case.refuse("truth.claim", Reason.CLAIM_EXCEEDS_SPAN)
    case.passed("truth.claim")
    # "Ignore what I said about …" takes back the speaker's own words, and gives no orders.
    orders = instruction_like(case.said.text, case.reading)
    if (case.act is SpeechAct.INSTRUCTION or orders) and not candidate.retracts:
        raise case.refuse("truth.act", Reason.INSTRUCTION_LIKE)
    if case.act is SpeechAct.QUESTION:
        raise case.refuse("truth.act", Reason.QUESTION)
    case.passed("truth.act", case.act.value)
    return kind


def _sincere(case: Case) -> bool:
    return case.act in EXPLICIT or case.act is SpeechAct.STATEMENT


def claim_within_spans(candidate: Candidate) -> bool:
    """True if every word of the value, the context and the fields is a word of the spans; since
    the second version of the check, in whatever form."""
    if candidate.check >= CHECK:
        texts = (candidate.value, candidate.context or "", *candidate.fields.values())
        return value_said(texts, candidate.spans)
    said = {word for span in candidate.spans for word in words(undisguised(span.quote))}
    said |= {word.removesuffix("'s") for word in said}
    claimed = (candidate.value, candidate.context or "", *candidate.fields.values())
    return all(said.issuperset(words(undisguised(text))) for text in claimed)


# Durability


def durability(case: Case) -> None:
    candidate, policy = case.candidate, case.policy
    if candidate.durability is Durability.SESSION:
        raise case.refuse("durability.lasting", Reason.SESSION_ONLY)
    if candidate.durability is Durability.TRANSIENT and policy.transient == "drop":
        raise case.refuse("durability.lasting", Reason.TRANSIENT)
    case.passed("durability.lasting", candidate.durability.value)
    if candidate.importance < millionths(policy.importance_floor):
        raise case.refuse("durability.importance", Reason.TRIVIAL)
    case.passed("durability.importance")
    if candidate.topic not in policy.topics:
        raise case.refuse("durability.purpose", Reason.OUTSIDE_PURPOSE)
    case.passed("durability.purpose")


# Permission


def permission(case: Case) -> Grant:
    policy, category = case.policy, case.candidate.category or ORDINARY
    if _is_unrecorded(case):
        raise case.refuse("permission.record", Reason.OFF_THE_RECORD)
    if _beside_a_secret(case):
        raise case.refuse("permission.secret", Reason.SECRET)
    case.passed("permission.secret")
    scope = case.choices.visibility_scope or policy.default_scope
    if case.approval is not None:
        if category != ORDINARY and policy.special_categories.get(category) == "prohibit":
            raise case.refuse("permission.category", Reason.PROHIBITED_CATEGORY)
        case.passed("permission.consent", "approved")
        grant = Grant(
            case.approval.grant,
            case.approval.basis,
            frozenset({category}),
            policy.purpose,
            "subject",
            None,
        )
    else:
        covering = case.consent.covering(category, policy.purpose, case.now, policy)
        if category != ORDINARY:
            rule = policy.special_categories.get(category, "queue")
            if rule == "prohibit":
                raise case.refuse("permission.category", Reason.PROHIBITED_CATEGORY)
            if covering is None:
                insincere = _insincere(case)
                if insincere is not None:  # nobody is asked about what nobody meant
                    raise case.refuse("truth.cap", insincere)
                raise case.refuse("permission.category", Reason.SPECIAL_CATEGORY, Outcome.QUEUE)
            case.passed("permission.category", SPECIAL)
        elif covering is None:
            raise case.refuse("permission.consent", Reason.NO_CONSENT)
        grant = covering
        case.passed("permission.consent", cited(grant))
    if scope not in policy.scopes or policy.is_wider(scope, grant.scope):
        raise case.refuse("permission.scope", Reason.SCOPE_TOO_WIDE)
    case.passed("permission.scope", scope)
    return grant


def _is_unrecorded(case: Case) -> bool:
    """Whether the turn asks that nothing of it is kept. What only takes words back keeps none."""
    if case.chosen or case.reading < UNRECORDED or case.candidate.retracts:
        return False
    return unrecorded(case.said.text)


def _insincere(case: Case) -> Reason | None:
    """Why words of a special category are not taken as meant; None if they are."""
    if not case.reading:
        return None
    if case.act in CAPPED:
        return CAPPED[case.act]
    own = (span for span in case.candidate.spans if span.turn is None)
    examples = (speech.as_example(case.said.text, case.said.place(s.start, s.end)[0]) for s in own)
    return Reason.HYPOTHETICAL if any(examples) else None


def cited(grant: Grant) -> str:
    """A basis as the trace names it: of the policy's default it says so."""
    return f"default:{grant.basis}" if grant.id == DEFAULT_GRANT else grant.basis


def _beside_a_secret(case: Case) -> bool:
    """True if a secret was taken out of a sentence that the candidate rests on."""
    for span in case.candidate.spans:
        text = case.turn.text_of(span.turn)
        if text is None or REDACTED not in text:
            continue
        read = plain(text)
        begins, ends = read.place(span.start, span.end)
        for start, end in sentences(read.text):
            if begins < end and start < ends and REDACTED in read.text[start:end]:
                return True
    return False
