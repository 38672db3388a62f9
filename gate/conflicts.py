"""A candidate that passed the checks meets what its belief already holds: new, repeated,
stronger, weaker, of another time, or in conflict. Pure."""

from __future__ import annotations

from dataclasses import replace

from beliefledger.gate.belief import Held
from beliefledger.gate.checks import EXPLICIT, Case
from beliefledger.gate.confidence import Confidence, score
from beliefledger.gate.consent import Grant
from beliefledger.gate.cues import TIMES_STORED
from beliefledger.gate.decision import Decision
from beliefledger.gate.outcomes import CAPPED, Outcome, Reason
from beliefledger.gate.policy import millionths
from beliefledger.gate.registry import NOTE, MemoryType
from beliefledger.gate.slots import canonical_context, canonical_value, value_of
from beliefledger.ledger.candidate import Durability, SpeechAct
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.times import DAY, Micros


def against_belief(case: Case, kind: MemoryType, scored: Confidence, grant: Grant) -> Decision:
    candidate, belief, policy = case.candidate, case.belief, case.policy
    value = value_of(candidate, kind)
    context = canonical_context(candidate.context)
    capped = case.act in CAPPED
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
    changed = _changed(case)
    current = changed or _named(case, context) or belief.holding(context) or _only(case, context)
    over = current if current is not None and current.ended(case.turn.said_at) else None
    if over is not None:
        current = None
    if current is not None and _is_of_one_stretch(case, current, valid_from):
        finish = replace(finish, valid_from=current.valid_from)

    if capped:
        if any(held.value == value for held in belief.current):
            return finish(Outcome.REJECT, Reason.REPEATED, "belief.same")
        apart = next(
            (held for held in belief.quarantined if held.capped and held.value == value), None
        )
        return replace(
            finish(Outcome.QUARANTINE, CAPPED[case.act], "truth.cap"),
            target=apart.memory_id if apart else None,
        )
    repeats = current is not None and (current.value == value or _repeats(case, current))
    if current is not None and repeats and changed is None:
        return _confirm(case, scored, grant, current)
    if scored.c < max(
        policy.threshold(candidate.category, candidate.type), millionths(kind.threshold or 0)
    ):
        if waiting is not None:
            counted = not _echoed(case, waiting)
            weak = finish(Outcome.CONFIRM, Reason.BELOW_THRESHOLD, "truth.threshold")
            return replace(weak, target=waiting.memory_id, counted=counted)
        return finish(Outcome.QUARANTINE, Reason.BELOW_THRESHOLD, "truth.threshold")
    case.passed("truth.threshold")
    promotes = waiting.memory_id if waiting else None
    if belief.by_context and context is None:
        return finish(Outcome.ESCALATE, Reason.NO_CONTEXT, "belief.context")
    placed = None
    if changed is None:
        placed = _placed_in_the_past(case, finish, current, value, promotes)
    if placed is not None:
        return placed
    if current is None and _only_ends(case):
        return finish(Outcome.REJECT, Reason.IMPLIED, "belief.same")
    if current is None:
        if belief.contested and belief.current:
            return finish(Outcome.ESCALATE, Reason.CONTESTED, "belief.contested")
        reason = Reason.PROMOTED if promotes else Reason.NEW
        new = finish(Outcome.ADMIT, reason, "belief.conflict")
        if promotes is None and over is None:  # as most are
            return new
        return replace(new, promotes=promotes, expired=over)
    decision = _conflict(case, finish, current, value, promotes)
    if decision.outcome is Outcome.QUARANTINE and waiting is not None:
        counted = not _echoed(case, waiting)
        return replace(decision, outcome=Outcome.CONFIRM, target=waiting.memory_id, counted=counted)
    return decision


def _only_ends(case: Case) -> bool:
    """Whether words only doubt that something is still so: they end a belief and make none."""
    candidate = case.candidate
    doubts = candidate.negated and candidate.inferred and case.act is SpeechAct.REMOVAL
    return doubts and case.reading > 0


def _placed_in_the_past(
    case: Case, finish: _Finish, current: Held | None, value: str, promotes: str | None
) -> Decision | None:
    """The decision about a statement of the past: about a time before the current value, or said
    before it. None for one that meets the current value.

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
            return replace(
                finish(Outcome.SUPERSEDE, Reason.BACKDATED, "belief.time"),
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
            current is not None
            and ends == current.valid_from
            and said_at >= current.said_at
            and not _is_stored_for_before(case)
        )
        if not meets_current or (chosen_end is not None and chosen_end <= ends):
            return replace(
                finish(Outcome.ADMIT, Reason.BACKDATED, "belief.time"),
                promotes=promotes,
                past=True,
                valid_to=_earlier(ends, chosen_end),
            )
    elif current is not None and said_at < current.said_at:
        return finish(Outcome.REJECT, Reason.OUTDATED, "belief.time")
    return None


def _is_of_one_stretch(case: Case, current: Held, begins: Micros) -> bool:
    """Whether words said after the current value tell of a time since which nothing else was so,
    though in another memory: "User lives in Leeds with Jess", until Jess moved out. It gives way
    whole."""
    if begins >= current.valid_from or case.turn.said_at < current.said_at:
        return False
    if case.reading < TIMES_STORED or case.chosen:
        return False
    since = [
        held
        for held in case.belief.past
        if held.context == current.context
        and held.valid_to is not None
        and max(begins, held.valid_from) < held.valid_to
    ]
    goes_on = any(held.valid_to == current.valid_from for held in since)
    return goes_on and all(held.value == current.value for held in since)


def _is_stored_for_before(case: Case) -> bool:
    """Whether a program says from when a value holds: the rows of a file may come in any order. Who
    says late that it has long been so tells of now."""
    return case.chosen and case.choices.valid_from is not None and case.reading >= TIMES_STORED


def _earlier(end: Micros, chosen: Micros | None) -> Micros:
    return end if chosen is None else min(end, chosen)


def _named(case: Case, context: str | None) -> Held | None:
    """The memory that a change or correction without a context names by its value, in whatever
    context that memory is."""
    candidate = case.candidate
    named = candidate.replaces or (candidate.value if candidate.negated else None)
    if context is not None or case.act not in EXPLICIT or named is None:
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


def _changed(case: Case) -> Held | None:
    """The memory that a named person changes, whatever it says now."""
    changes = case.choices.changes
    if changes is None:
        return None
    return next((held for held in case.belief.current if held.memory_id == changes.memory), None)


def _only(case: Case, context: str | None) -> Held | None:
    """The belief's only memory, which a change or correction without a context must be about."""
    current = case.belief.current
    named = case.candidate.replaces or (case.candidate.value if case.candidate.negated else None)
    if context is not None or case.act not in EXPLICIT or named is not None:
        return None
    if len(current) != 1 or current[0].said_at > case.turn.said_at:
        return None
    return current[0]


@dataclass(frozen=True, slots=True)
class _Finish:
    """Makes the decision with an outcome, and adds it to the trace."""

    case: Case
    scored: Confidence
    mentions: int
    grant: Grant
    valid_from: Micros
    capped: bool

    def __call__(self, outcome: Outcome, reason: Reason, check: str) -> Decision:
        case = self.case
        case.trace.append(f"{check}={reason.value}")
        return Decision(
            outcome,
            reason,
            self.scored,
            mentions=self.mentions,
            trace=tuple(case.trace),
            capped=self.capped,
            valid_from=self.valid_from,
            valid_to=case.choices.valid_to,
            expires_at=_expires_at(case, self.valid_from),
            scope=case.choices.visibility_scope or case.policy.default_scope,
            basis=self.grant.basis,
            grant=self.grant.id,
        )


def _conflict(
    case: Case, finish: _Finish, current: Held, value: str, promotes: str | None
) -> Decision:
    """The decision where the current value differs from the stated one."""
    belief, policy, said_at = case.belief, case.policy, case.turn.said_at
    # "I don't use unittest" while the current value is pytest contradicts nothing.
    changes = case.choices.changes is not None
    if value.startswith("not ") and value != f"not {current.value}" and not changes:
        return finish(Outcome.REJECT, Reason.IMPLIED, "belief.conflict")
    kind = case.registry.types.get(current.type)
    if kind is not None and kind.ends_only_by_removal and case.act is not SpeechAct.REMOVAL:
        return finish(Outcome.ESCALATE, Reason.CONSTRAINT_STANDS, "belief.conflict")
    if belief.contested:
        return finish(Outcome.ESCALATE, Reason.CONTESTED, "belief.contested")
    if case.turn.ask and case.act not in EXPLICIT:
        return finish(Outcome.ESCALATE, Reason.TO_BE_ASKED, "belief.conflict")
    corrects = case.act is SpeechAct.CORRECTION
    # Bases are compared, not confidences: repetition must not make a belief immovable.
    if case.act in EXPLICIT:
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
    return replace(
        finish(Outcome.SUPERSEDE, reason, "belief.conflict"),
        target=current.memory_id,
        promotes=promotes,
        kind="correction" if replaces_whole else "change",
        valid_from=begins,
        contests=count if count >= policy.loops.supersessions else 0,
    )


def _corrected_from(case: Case, current: Held) -> Micros:
    """From when a correction holds: the whole time that the wrong value was thought to hold, or an
    earlier stated date, but not into the time of the values before."""
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


def _repeats(case: Case, current: Held) -> bool:
    """Whether these words were merged into this memory as a rephrasing."""
    resolved = case.candidate.resolved
    return resolved is not None and resolved.repeats == current.memory_id


def _echoed(case: Case, held: Held) -> frozenset[str]:
    """The turn, if it repeats what its speaker was shown just before: an echo is no mention."""
    resolved = case.candidate.resolved
    if resolved is None or held.memory_id not in resolved.shown:
        return frozenset()
    return frozenset({case.turn.turn_id})


def _confirm(case: Case, scored: Confidence, grant: Grant, current: Held) -> Decision:
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
    """The confidence with this number of mentions, from the better of two bases."""
    best = max(scored.base, base)
    with_r = score(0, 0, 0, mentions)
    return Confidence(scored.s, with_r.r, scored.e, scored.t, best, min(1_000_000, best + with_r.c))


def _valid_from(case: Case) -> Micros:
    """The stated date, else the time it was said. A plan for later holds from when it was made."""
    if case.choices.valid_from is not None:
        return case.choices.valid_from
    stated, said_at = case.candidate.when.start, case.turn.said_at
    if stated is None:
        return said_at
    if case.candidate.type in {"event", "commitment", "decision", "procedure", NOTE}:
        return min(stated, said_at)
    return stated


def _expires_at(case: Case, valid_from: Micros) -> Micros | None:
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
