"""The decision about one candidate. Pure: an auditor can run it again and must get the same.

Default: do not persist. The checks run in order, truth, durability, permission; the first that
fails refuses the candidate. What passes meets the belief it is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from beliefledger.gate import speech
from beliefledger.gate.belief import Belief, Held
from beliefledger.gate.claims import claim_within
from beliefledger.gate.confidence import Confidence, score
from beliefledger.gate.consent import ORDINARY, SPECIAL, Consent, Grant
from beliefledger.gate.policy import Policy, millionths
from beliefledger.gate.registry import MemoryType, Registry
from beliefledger.gate.slots import canonical_context, canonical_value, value_of, words
from beliefledger.ledger.candidate import Candidate, Durability, Source, SpeechAct
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.lookalikes import Folded, plain, undisguised
from beliefledger.ledger.times import DAY, Micros


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
    SCOPE_TOO_WIDE = "permission.scope_too_wide"


_CAPPED: Mapping[SpeechAct, Reason] = {
    SpeechAct.HYPOTHETICAL: Reason.HYPOTHETICAL,
    SpeechAct.CONDITIONAL: Reason.CONDITIONAL,
    SpeechAct.ROLE_PLAY: Reason.ROLE_PLAY,
    SpeechAct.LEVERAGE: Reason.LEVERAGE,
    SpeechAct.QUOTED: Reason.QUOTED,
    SpeechAct.SARCASTIC: Reason.SARCASTIC,
}
_EXPLICIT = frozenset({SpeechAct.CHANGE, SpeechAct.CORRECTION, SpeechAct.REMOVAL})
REDACTED = "[redacted "
"""How the placeholder of a secret begins: what says a secret is not kept as a memory."""
_SPEAKS_FOR_SUBJECT = frozenset({"user"})


@dataclass(frozen=True, slots=True)
class TurnView:
    """The turn as the gate sees it: its words, and those of earlier turns that a candidate
    cites."""

    turn_id: str
    role: str
    content: str
    said_at: Micros
    said_at_stated: bool = True
    session: str | None = None
    agent: str | None = None
    cited: Mapping[str, str] = field(default_factory=dict)
    session_tag: str | None = None
    position: int = 0
    """Where the turn stands in the log; with `session_tag`, what was shown before it."""

    def text_of(self, turn: str | None) -> str | None:
        return self.content if turn is None else self.cited.get(turn)


@dataclass(frozen=True, slots=True)
class Approval:
    """A named principal approved a queued candidate: permission is given, on this basis."""

    grant: str
    basis: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do, why, and everything the events about it will say."""

    outcome: Outcome
    reason: Reason
    confidence: Confidence
    mentions: int = 1
    trace: tuple[str, ...] = ()
    target: str | None = None
    """The memory that is confirmed, superseded or promoted."""
    promotes: str | None = None
    counted: bool = True
    kind: str = "change"
    past: bool = False
    contests: int = 0
    """The number of supersessions, where this one makes the belief contested; else 0."""
    capped: bool = False
    expired: Held | None = None
    """A memory whose time was over when these words were said."""
    valid_from: Micros = 0
    valid_to: Micros | None = None
    expires_at: Micros | None = None
    scope: str = "subject"
    basis: str = ""
    grant: str = ""


@dataclass(frozen=True, slots=True)
class _Refused(Exception):
    outcome: Outcome
    reason: Reason
    check: str


@dataclass
class _Case:
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

    def passed(self, check: str, note: str = "pass") -> None:
        self.trace.append(f"{check}={note}")

    def refuse(self, check: str, reason: Reason, outcome: Outcome = Outcome.REJECT) -> _Refused:
        self.trace.append(f"{check}={reason.value}")
        return _Refused(outcome, reason, check)


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
    case = _Case(
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
    case.act = _speech_act(case)
    scored = _scored(case, kind, mentions=1)
    try:
        kind = _truth(case, kind)
        _durability(case)
        grant = _permission(case)
    except _Refused as refused:
        return Decision(
            refused.outcome,
            refused.reason,
            scored,
            trace=tuple(case.trace),
            capped=case.act in _CAPPED,
        )
    return _against_belief(case, kind, scored, grant)


def _speech_act(case: _Case) -> SpeechAct:
    """The extractor's reading, unless the words themselves are less sincere than it says."""
    act = case.candidate.act
    if case.chosen or act not in _EXPLICIT | {SpeechAct.STATEMENT}:
        return act
    for span in case.candidate.spans:
        if span.turn is None:
            said = case.said
            read = speech.speech_act(said.text, *said.place(span.start, span.end))
            if read in _CAPPED or read in {SpeechAct.INSTRUCTION, SpeechAct.QUESTION}:
                return read
    return act


def _scored(case: _Case, kind: MemoryType | None, mentions: int) -> Confidence:
    policy, candidate = case.policy, case.candidate
    s = millionths(policy.sources[candidate.source])
    e = candidate.confidence
    if candidate.inferred:
        e = round(e * policy.inference_factor)
    t = millionths(kind.prior) if kind else 0
    cap = millionths(policy.cap) if case.act in _CAPPED else None
    scored = score(s, e, t, mentions, cap, policy.knots)
    chosen = case.choices.confidence
    if chosen is None:
        return scored
    return Confidence(s, scored.r, e, t, base=chosen, c=chosen)


# Truth


def _truth(case: _Case, kind: MemoryType | None) -> MemoryType:
    if kind is None:
        raise case.refuse("truth.type", Reason.UNKNOWN_TYPE)
    if case.chosen:
        case.passed("truth.words", "chosen")
        return kind
    candidate, turn = case.candidate, case.turn
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
    if not claim_within_spans(candidate) or not claim_within(candidate):
        raise case.refuse("truth.claim", Reason.CLAIM_EXCEEDS_SPAN)
    case.passed("truth.claim")
    if case.act is SpeechAct.INSTRUCTION or speech.instruction_like(case.said.text):
        raise case.refuse("truth.act", Reason.INSTRUCTION_LIKE)
    if case.act is SpeechAct.QUESTION:
        raise case.refuse("truth.act", Reason.QUESTION)
    case.passed("truth.act", case.act.value)
    return kind


def claim_within_spans(candidate: Candidate) -> bool:
    """True if every word of the value, the context and the fields is a word of the spans."""
    said = {word for span in candidate.spans for word in words(undisguised(span.quote))}
    said |= {word.removesuffix("'s") for word in said}
    claimed = (candidate.value, candidate.context or "", *candidate.fields.values())
    return all(said.issuperset(words(undisguised(text))) for text in claimed)


# Durability


def _durability(case: _Case) -> None:
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


def _permission(case: _Case) -> Grant:
    policy, category = case.policy, case.candidate.category or ORDINARY
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
        covering = case.consent.covering(category, policy.purpose, case.now)
        if category != ORDINARY:
            rule = policy.special_categories.get(category, "queue")
            if rule == "prohibit":
                raise case.refuse("permission.category", Reason.PROHIBITED_CATEGORY)
            if covering is None:
                raise case.refuse("permission.category", Reason.SPECIAL_CATEGORY, Outcome.QUEUE)
            case.passed("permission.category", SPECIAL)
        elif covering is None:
            raise case.refuse("permission.consent", Reason.NO_CONSENT)
        grant = covering
        case.passed("permission.consent", grant.basis)
    if scope not in policy.scopes or policy.is_wider(scope, grant.scope):
        raise case.refuse("permission.scope", Reason.SCOPE_TOO_WIDE)
    case.passed("permission.scope", scope)
    return grant


def _beside_a_secret(case: _Case) -> bool:
    """True if a secret was taken out of a sentence that the candidate rests on."""
    for span in case.candidate.spans:
        text = case.turn.text_of(span.turn)
        if text is None or REDACTED not in text:
            continue
        read = plain(text)
        begins, ends = read.place(span.start, span.end)
        for start, end in speech.sentences(read.text):
            if begins < end and start < ends and REDACTED in read.text[start:end]:
                return True
    return False


# The belief it is about


def _against_belief(case: _Case, kind: MemoryType, scored: Confidence, grant: Grant) -> Decision:
    candidate, belief, policy = case.candidate, case.belief, case.policy
    value = value_of(candidate, kind)
    context = canonical_context(candidate.context)
    capped = case.act in _CAPPED
    waiting = next(
        (
            held
            for held in belief.quarantined
            if held.value == value and held.context == context and not held.capped
        ),
        None,
    )
    mentions = 1
    if waiting is not None and not capped:
        mentions = len(waiting.turns | ({case.turn.turn_id} - _echoed(case, waiting)))
        scored = _raised(scored, waiting.base, mentions)
    valid_from = _valid_from(case)
    finish = _Finish(case, scored, mentions, grant, valid_from, capped)

    # What is over by the time of these words is no longer in their way.
    current = _named(case, context) or belief.holding(context) or _only(case, context)
    over = current if current is not None and current.ended(case.turn.said_at) else None
    if over is not None:
        current = None

    if capped:
        if any(held.value == value for held in belief.current):
            return finish(Outcome.REJECT, Reason.REPEATED, "belief.same")
        apart = next(
            (held for held in belief.quarantined if held.capped and held.value == value), None
        )
        return finish(
            Outcome.QUARANTINE,
            _CAPPED[case.act],
            "truth.cap",
            target=apart.memory_id if apart else None,
        )
    if current is not None and (current.value == value or _repeats(case, current)):
        return _confirm(case, scored, grant, current)
    if scored.c < max(policy.threshold(candidate.category), millionths(kind.threshold or 0)):
        if waiting is not None:
            counted = not _echoed(case, waiting)
            weak = finish(Outcome.CONFIRM, Reason.BELOW_THRESHOLD, "truth.threshold")
            return replace(weak, target=waiting.memory_id, counted=counted)
        return finish(Outcome.QUARANTINE, Reason.BELOW_THRESHOLD, "truth.threshold")
    case.passed("truth.threshold")
    promotes = waiting.memory_id if waiting else None
    if belief.by_context and context is None:
        return finish(Outcome.ESCALATE, Reason.NO_CONTEXT, "belief.context")
    placed = _placed_in_the_past(case, finish, current, value, promotes)
    if placed is not None:
        return placed
    if current is None:
        if belief.contested and belief.current:
            return finish(Outcome.ESCALATE, Reason.CONTESTED, "belief.contested")
        reason = Reason.PROMOTED if promotes else Reason.NEW
        return finish(Outcome.ADMIT, reason, "belief.conflict", promotes=promotes, expired=over)
    decision = _conflict(case, finish, current, value, promotes)
    if decision.outcome is Outcome.QUARANTINE and waiting is not None:
        counted = not _echoed(case, waiting)
        return replace(decision, outcome=Outcome.CONFIRM, target=waiting.memory_id, counted=counted)
    return decision


def _placed_in_the_past(
    case: _Case, finish: _Finish, current: Held | None, value: str, promotes: str | None
) -> Decision | None:
    """What to do with a statement about a time before the current value, or that was said before
    it; None for one that meets the current value.

    The values of a slot never overlap in time: a statement about a time that a past value covers
    takes the rest of that time, one about a time before ends where the next value begins.
    """
    belief, said_at, begins = case.belief, case.turn.said_at, finish.valid_from
    corrects = case.act is SpeechAct.CORRECTION
    if corrects and current is not None and said_at >= current.said_at:
        return None  # it is about the current value, whatever time it names
    context = canonical_context(case.candidate.context)
    if current is not None and current.context != context:
        current = None  # what is said of time here is of this context's values
    past = [
        (held, held.valid_to)
        for held in belief.past
        if held.context == context and held.valid_to is not None and held.valid_from < held.valid_to
    ]
    chosen_end = case.choices.valid_to
    for held, end in past:
        if held.ends_loosely and said_at >= held.said_at:
            continue  # nobody knows that it held so long: it gives way to what was said later
        if held.valid_from <= begins < end:
            if held.value == value:
                return _confirm(case, finish.scored, finish.grant, held)
            if held.said_at > said_at:
                return finish(Outcome.REJECT, Reason.OUTDATED, "belief.time")
            return finish(
                Outcome.SUPERSEDE,
                Reason.BACKDATED,
                "belief.time",
                target=held.memory_id,
                promotes=promotes,
                past=True,
                valid_to=_earlier(end, chosen_end),
            )
    later = [held.valid_from for held, _ in past if held.valid_from > begins]
    if current is not None and current.valid_from > begins:
        later.append(current.valid_from)
    if later:
        ends = min(later)
        meets_current = (
            current is not None and ends == current.valid_from and said_at >= current.said_at
        )
        if not meets_current or (chosen_end is not None and chosen_end <= ends):
            return finish(
                Outcome.ADMIT,
                Reason.BACKDATED,
                "belief.time",
                promotes=promotes,
                past=True,
                valid_to=_earlier(ends, chosen_end),
            )
    elif current is not None and said_at < current.said_at:
        return finish(Outcome.REJECT, Reason.OUTDATED, "belief.time")
    return None


def _earlier(end: Micros, chosen: Micros | None) -> Micros:
    return end if chosen is None else min(end, chosen)


def _named(case: _Case, context: str | None) -> Held | None:
    """The memory whose value a change or correction without a context names, whatever its
    context."""
    candidate = case.candidate
    named = candidate.replaces or (candidate.value if candidate.negated else None)
    if context is not None or case.act not in _EXPLICIT or named is None:
        return None
    ended = canonical_value(named, negated=False, kind=case.registry.types.get(candidate.type))
    return next(
        (
            held
            for held in case.belief.current
            if held.value == ended and held.said_at <= case.turn.said_at
        ),
        None,
    )


def _only(case: _Case, context: str | None) -> Held | None:
    """The only memory there is, which a change or correction without a context must be about."""
    current = case.belief.current
    named = case.candidate.replaces or (case.candidate.value if case.candidate.negated else None)
    if context is not None or case.act not in _EXPLICIT or named is not None:
        return None
    if len(current) != 1 or current[0].said_at > case.turn.said_at:
        return None
    return current[0]


@dataclass(frozen=True, slots=True)
class _Finish:
    """Closes the case with an outcome."""

    case: _Case
    scored: Confidence
    mentions: int
    grant: Grant
    valid_from: Micros
    capped: bool

    def __call__(
        self,
        outcome: Outcome,
        reason: Reason,
        check: str,
        *,
        target: str | None = None,
        promotes: str | None = None,
        kind: str = "change",
        past: bool = False,
        contests: int = 0,
        valid_from: Micros | None = None,
        valid_to: Micros | None = None,
        expired: Held | None = None,
    ) -> Decision:
        case = self.case
        case.trace.append(f"{check}={reason.value}")
        return Decision(
            outcome,
            reason,
            self.scored,
            mentions=self.mentions,
            trace=tuple(case.trace),
            target=target,
            promotes=promotes,
            kind=kind,
            past=past,
            contests=contests,
            capped=self.capped,
            valid_from=self.valid_from if valid_from is None else valid_from,
            valid_to=case.choices.valid_to if valid_to is None else valid_to,
            expired=expired,
            expires_at=_expires_at(case, self.valid_from),
            scope=case.choices.visibility_scope or case.policy.default_scope,
            basis=self.grant.basis,
            grant=self.grant.id,
        )


def _conflict(
    case: _Case, finish: _Finish, current: Held, value: str, promotes: str | None
) -> Decision:
    """A current value stands against this one."""
    belief, policy, said_at = case.belief, case.policy, case.turn.said_at
    # "I don't use unittest" while the current value is pytest contradicts nothing.
    if value.startswith("not ") and value != f"not {current.value}":
        return finish(Outcome.REJECT, Reason.IMPLIED, "belief.conflict")
    kind = case.registry.types.get(current.type)
    if kind is not None and kind.ends_only_by_removal and case.act is not SpeechAct.REMOVAL:
        return finish(Outcome.ESCALATE, Reason.CONSTRAINT_STANDS, "belief.conflict")
    if belief.contested:
        return finish(Outcome.ESCALATE, Reason.CONTESTED, "belief.contested")
    corrects = case.act is SpeechAct.CORRECTION
    # Bases are compared, not confidences: repetition must not make a belief immovable.
    if case.act in _EXPLICIT:
        reason = Reason.CORRECTION if corrects else Reason.CHANGE
    elif finish.scored.base >= current.base:
        reason = Reason.STRONGER
    else:
        return finish(Outcome.QUARANTINE, Reason.WEAKER, "belief.conflict")
    window = policy.loops.window_days * DAY
    recent = [at for at in belief.supersessions if abs(said_at - at) <= window]
    count = len(recent) + 1
    # One that begins before the old value leaves the old no time in which it was true.
    begins = _corrected_from(case, current) if corrects else finish.valid_from
    replaces_whole = corrects or begins < current.valid_from
    return finish(
        Outcome.SUPERSEDE,
        reason,
        "belief.conflict",
        target=current.memory_id,
        promotes=promotes,
        kind="correction" if replaces_whole else "change",
        valid_from=begins,
        contests=count if count >= policy.loops.supersessions else 0,
    )


def _corrected_from(case: _Case, current: Held) -> Micros:
    """A correction holds for all the time that the wrong value was thought to hold; from an earlier
    date if one is stated, but not into the time of the values before."""
    stated = case.choices.valid_from
    if stated is None:
        stated = case.candidate.when.start
    begins = current.valid_from if stated is None else min(stated, current.valid_from)
    context = canonical_context(case.candidate.context)
    before = [
        held.valid_to
        for held in case.belief.past
        if held.context == context and held.valid_to is not None
    ]
    return max([begins, *before])


def _repeats(case: _Case, current: Held) -> bool:
    """True for words that went into this memory when rephrasings were merged."""
    resolved = case.candidate.resolved
    return resolved is not None and resolved.repeats == current.memory_id


def _echoed(case: _Case, held: Held) -> frozenset[str]:
    """The turn, if it says again what its speaker was shown just before: that is no mention."""
    resolved = case.candidate.resolved
    if resolved is None or held.memory_id not in resolved.shown:
        return frozenset()
    return frozenset({case.turn.turn_id})


def _confirm(case: _Case, scored: Confidence, grant: Grant, current: Held) -> Decision:
    counted = case.turn.turn_id not in current.turns | _echoed(case, current)
    mentions = current.mentions + counted
    raised = _raised(scored, current.base, mentions)
    case.trace.append(f"belief.same={Reason.REPEATED.value}")
    return Decision(
        Outcome.CONFIRM,
        Reason.REPEATED,
        raised,
        mentions=mentions,
        trace=tuple(case.trace),
        target=current.memory_id,
        counted=counted,
        valid_from=current.valid_from,
        basis=grant.basis,
        grant=grant.id,
    )


def _raised(scored: Confidence, base: int, mentions: int) -> Confidence:
    """The confidence after so many mentions, from the better of two bases."""
    best = max(scored.base, base)
    with_r = score(0, 0, 0, mentions)
    return Confidence(scored.s, with_r.r, scored.e, scored.t, best, min(1_000_000, best + with_r.c))


def _valid_from(case: _Case) -> Micros:
    """The date stated, else when it was said. A plan for later holds from when it was made."""
    if case.choices.valid_from is not None:
        return case.choices.valid_from
    stated, said_at = case.candidate.when.start, case.turn.said_at
    if stated is None:
        return said_at
    if case.candidate.type in {"event", "commitment", "decision", "procedure"}:
        return min(stated, said_at)
    return stated


def _expires_at(case: _Case, valid_from: Micros) -> Micros | None:
    if case.choices.expires_at is not None:
        return case.choices.expires_at
    candidate, said_at = case.candidate, case.turn.said_at
    if candidate.durability is Durability.TRANSIENT:
        return said_at + case.policy.transient_ttl_days * DAY
    ttl = case.policy.ttl(candidate.type)
    kind = case.registry.types.get(candidate.type)
    if ttl is None and kind is not None and kind.ttl_days is not None:
        ttl = kind.ttl_days * DAY
    if ttl is None:
        return None
    begins = max(valid_from, said_at)
    if candidate.type == "event":  # it must not be over before it happens
        begins = max(begins, candidate.when.end or candidate.when.start or begins)
    return begins + ttl
