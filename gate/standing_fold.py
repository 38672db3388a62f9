"""The standing of everything about one subject, folded by position from their events. Pure.

It depends on what was decided about the words of each turn, and on what has become of the memories
that came of them. The standing as of any position is the fold up to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import replace
from typing import Any

from beliefledger.gate import consent as consents
from beliefledger.gate.consent import ORDINARY, Consent
from beliefledger.gate.outcomes import Outcome, Reason
from beliefledger.gate.standing import (
    DOUBTED,
    OUTDATED,
    WITHHELD,
    Cause,
    MemoryStanding,
    Outdated,
    Rights,
    Run,
    State,
    TurnStanding,
    Withheld,
)
from beliefledger.gate.standing_parts import (
    OF_BELIEF,
    OF_SUBJECT,
    FoldedDecision,
    FoldedTurn,
    Spans,
    Touched,
    consent_again,
    decision_again,
    is_refusal,
    memory_again,
    of_decision,
    of_memory,
    of_turn,
    rightful,
    spans_again,
    turn_again,
)
from beliefledger.gate.taken_back import AGENTS, TakenBack
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.belief import (
    BeliefContested,
    ConflictResolved,
    ConsolidationUndone,
    MemoriesConsolidated,
    MemoryExpired,
    MemoryMovedIn,
    MemoryMovedOut,
    MemoryQuarantined,
    MemoryRevoked,
    MemorySuperseded,
    Written,
)
from beliefledger.ledger.events.turn import (
    CandidateProposed,
    ExtractionCompleted,
    GateDecided,
    ReviewDecided,
    TurnRecorded,
)
from beliefledger.ledger.restored import Restored
from beliefledger.ledger.times import Micros

CONVERSATION = "conversation"
_EVENT = "event"
"""The type of what happened, of which nothing is over."""
_REVOKED_BY = {"consent_withdrawn": State.WITHDRAWN, "retention": State.RETENTION}


class StandingFold:
    """Everything about one subject that standing depends on, up to `position`."""

    def __init__(self) -> None:
        self.position = 0
        self.consent = Consent()
        self.pending = 0
        """How many turns of conversations are not decided yet."""
        self._turns: MutableMapping[str, FoldedTurn] = {}
        self._spans: MutableMapping[str, Spans] = {}
        self._decisions: MutableMapping[str, FoldedDecision] = {}
        self._decided_of: MutableMapping[str, list[str]] = {}
        """By memory: the decisions about words that it came of."""
        self._memories: MutableMapping[str, MemoryStanding] = {}
        self._taken_back = TakenBack()
        self._contested: set[str] = set()
        self._touched = Touched()
        self._gone: set[str] = set()
        """The memories that the last events withheld."""
        self._at = 0
        """The position of the event that is taken in."""
        self.changed_at = 0
        """The last position at which words that had been decided about got another standing."""
        self._last_decided = 0
        """The position of the last turn that is decided."""

    def follow(self, events: Iterable[Recorded], upto: int) -> Touched:
        """Take in the events of the subject up to a position; returns what changed."""
        self._touched = Touched()
        self._gone.clear()
        for each in events:
            self._apply(each)
        self.position = max(self.position, upto)
        if self._gone:  # what they took the place of is told otherwise, too
            self._touched.memories.update(
                memory_id for memory_id, each in self._memories.items() if each.by in self._gone
            )
        for memory_id in self._touched.memories:
            for decision_id in self._decided_of.get(memory_id, ()):
                self._touched.turns.update(self._decisions[decision_id].spans)
        return self._touched

    # Keeping

    def state(self) -> dict[str, Any]:
        """All of it, as JSON can say it, to be restored in another process. It has words."""
        return {
            "position": self.position,
            "consent": self.consent,
            "pending": self.pending,
            "turns": {key: of_turn(each) for key, each in self._turns.items()},
            "spans": dict(self._spans),
            "decisions": {key: of_decision(each) for key, each in self._decisions.items()},
            "decided_of": dict(self._decided_of),
            "memories": {key: of_memory(each) for key, each in self._memories.items()},
            **{f"taken_back.{key}": each for key, each in self._taken_back.state().items()},
            "contested": list(self._contested),
            "changed_at": self.changed_at,
            "last_decided": self._last_decided,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Have what another fold of the same subject had."""
        self.position, self.pending = state["position"], state["pending"]
        self.consent = consent_again(state["consent"])
        self._turns = Restored(state["turns"], turn_again)
        spans = self._spans = Restored(state["spans"], spans_again)
        self._decisions = Restored(state["decisions"], lambda kept: decision_again(kept, spans))
        self._decided_of = Restored(state["decided_of"], list)
        self._memories = Restored(state["memories"], memory_again)
        self._taken_back.restore({key: state[f"taken_back.{key}"] for key in ("values", "any")})
        self._contested = set(state["contested"])
        self.changed_at, self._last_decided = state["changed_at"], state["last_decided"]

    # Asking

    def decided_at(self, turn_id: str) -> int:
        """The position at which all that was noticed in a turn was decided; 0 before that."""
        turn = self._turns.get(turn_id)
        return 0 if turn is None else turn.decided_at

    def memory(self, memory_id: str) -> MemoryStanding | None:
        """What has become of a memory; of one that was merged, what became of that."""
        seen: set[str] = set()
        found = self._memories.get(memory_id)
        while found is not None and found.state is State.MERGED and found.by not in seen:
            seen.add(memory_id)
            memory_id = found.by or ""
            found = self._memories.get(memory_id, found)
            if found.state is State.MERGED and found.by == memory_id:
                break
        return found and rightful(found, self._memories)

    def withholds(self, memory_id: str, rights: Rights) -> Cause | None:
        """Why a memory may not be shown; None where it may."""
        found = self.memory(memory_id)
        if found is None:
            return Cause.UNDECIDED
        cause = WITHHELD.get(found.state)
        if found.state is State.ENDED:  # its words are those of the memories that came back
            states = (each.state for one in found.originals if (each := self._memories.get(one)))
            cause = next((WITHHELD[each] for each in states if each in WITHHELD), None)
        if found.state is State.CORRECTED and found.by and self.withholds(found.by, rights):
            return Cause.UNTRUE  # without what is right instead, it would be told as having been so
        if cause is None and not rights.cover(found):
            return Cause.SPECIAL_CATEGORY if ORDINARY in rights.covered else Cause.NO_BASIS
        return cause

    def turn(self, turn_id: str, content: str, rights: Rights) -> TurnStanding:
        """What may be shown of a turn, whose words these are."""
        from beliefledger.gate import withheld_words as words  # noqa: PLC0415  long to load

        turn = self._turns.get(turn_id)
        if turn is None or not turn.decided:
            return TurnStanding(Cause.UNDECIDED)
        withheld: list[Withheld] = []
        outdated: list[Outdated] = []
        approved: list[Run] = []
        kept: list[Run] = []
        remembered: list[Run] = []
        beside: list[Withheld] = []
        """The words of this turn that another one's dubious statement was read with."""
        memories: dict[str, tuple[Run, ...]] = {}
        contested = False
        for decision_id in turn.cited:
            decision = self._decisions[decision_id]
            if decision.reconsidered:
                continue
            if decision.reason == Reason.INSTRUCTION_LIKE:
                return TurnStanding(Cause.INSTRUCTION)
            cause = self._cause(decision, rights)
            spans = decision.spans[turn_id]
            if cause is not None:
                reason = decision.reason if cause is Cause.REFUSED else None
                some = [Withheld(*span, cause, reason) for span in spans]
                if decision_id not in turn.decisions and cause in DOUBTED:
                    beside += some
                else:
                    withheld += some
                continue
            kept += spans
            found = self.memory(decision.memory or "")
            contested |= decision.outcome == Outcome.ESCALATE and decision.approved is None
            if found is None:
                continue
            memories[decision.memory or ""] = spans
            remembered += spans
            contested |= found.belief in self._contested and found.state is State.HELD
            if found.category != ORDINARY:
                approved += spans
            if found.state in OUTDATED:
                outdated += [
                    Outdated(*span, decision.memory or "", found.state, found.by, found.since)
                    for span in spans
                ]
        withheld += [
            each
            for each in beside
            if not any(a < each.end and each.start < b for a, b in remembered)
        ]
        if words.orders(content):
            return TurnStanding(Cause.INSTRUCTION)
        if ORDINARY not in rights.covered:
            return TurnStanding(Cause.NO_BASIS, memories=memories)
        more = words.beside(withheld, kept, content, rights, approved, own=not turn.by_agent)
        withheld = list(more)
        if turn.by_agent:
            withheld += self._taken_back.repeated(turn.position, content, self._memories)
        return TurnStanding(
            withheld=tuple(sorted(withheld, key=lambda each: (each.start, each.end))),
            outdated=tuple(outdated),
            contested=contested,
            memories=memories,
            remembered=tuple(remembered),
        )

    def _cause(self, decision: FoldedDecision, rights: Rights) -> Cause | None:
        """Why the words that a decision is about may not be shown."""
        if decision.outcome == Outcome.QUEUE:
            if decision.approved is None:
                return Cause.WAITS
            if not decision.approved:
                return Cause.REVIEW_REFUSED
        if decision.outcome == Outcome.REJECT and is_refusal(decision.reason):
            return Cause.REFUSED
        if decision.memory is not None:
            return self.withholds(decision.memory, rights)
        if decision.outcome == Outcome.QUARANTINE:
            return Cause.QUARANTINED
        if decision.reason == Reason.REPEATED:
            for each in self._memories.values():
                if each.belief == decision.belief and each.state in WITHHELD:
                    return WITHHELD[each.state]
        return None

    # Folding

    def _apply(self, each: Recorded) -> None:
        kind, facts = each.type, each.facts
        self._at = each.position
        if kind == TurnRecorded.NAME:
            conversation = facts["channel"] == CONVERSATION
            by_agent = facts["role"] in AGENTS
            self._turns[each.stream] = FoldedTurn(
                each.stream, each.position, conversation, by_agent
            )
            self.pending += conversation
        elif kind in {ExtractionCompleted.NAME, CandidateProposed.NAME, GateDecided.NAME}:
            self._of_turn(each)
        elif kind == ReviewDecided.NAME:
            self._reviewed(each)
        elif kind in OF_SUBJECT:
            self.changed_at = each.position
            self.consent = consents.folded([each], self.consent)
        elif kind in OF_BELIEF:
            self._of_belief(each)

    def _of_turn(self, each: Recorded) -> None:
        turn = self._turns.get(each.stream)
        if turn is None:
            return
        before = turn.decided
        facts = each.facts
        if each.type == ExtractionCompleted.NAME:
            turn.expected = facts["candidates"]
        elif each.type == CandidateProposed.NAME:
            proposed = each.event
            if isinstance(proposed, CandidateProposed):
                spans: dict[str, tuple[Run, ...]] = {}
                for span in proposed.candidate.spans:
                    of = span.turn or each.stream
                    spans[of] = (*spans.get(of, ()), (span.start, span.end))
                self._spans[each.event_id] = spans
        else:
            self._decided(each, turn)
        if turn.decided and not before:
            turn.decided_at = each.position
            if turn.position < self._last_decided:
                self.changed_at = each.position
            self._last_decided = max(self._last_decided, turn.position)
            self.pending -= turn.conversation
            self._touched.turns.add(turn.turn_id)

    def _decided(self, each: Recorded, turn: FoldedTurn) -> None:
        facts = each.facts
        decision = FoldedDecision(
            candidate=facts["candidate"],
            outcome=facts["outcome"],
            reason=facts["reason"],
            belief=facts["belief"],
            memory=facts["memory"],
            spans=self._spans.get(facts["candidate"], {}),
        )
        before = self._decisions.get(facts.get("reconsiders") or "")
        if before is not None:
            before.reconsidered = True
        self._decisions[each.event_id] = decision
        turn.decisions[each.event_id] = None
        self._cite(each.event_id, decision)
        self._leads(each.event_id, decision.memory)

    def _cite(self, decision_id: str, decision: FoldedDecision) -> None:
        for turn_id in decision.spans:
            cited = self._turns.get(turn_id)
            if cited is not None:
                if cited.decided:
                    self.changed_at = self._at
                cited.cited[decision_id] = None
                self._touched.turns.add(turn_id)

    def _leads(self, decision_id: str, memory_id: str | None) -> None:
        if memory_id is not None:
            self._decided_of.setdefault(memory_id, []).append(decision_id)

    def _reviewed(self, each: Recorded) -> None:
        decision = self._decisions.get(each.facts["decision"])
        if decision is None:
            return
        decision.approved = each.facts["approved"]
        decision.memory = each.facts.get("memory") or decision.memory
        self._leads(each.facts["decision"], decision.memory)
        self._touched.turns.update(decision.spans)
        self.changed_at = each.position

    def _of_belief(self, each: Recorded) -> None:
        facts, stream = each.facts, each.stream
        match each.type:
            case BeliefContested.NAME:
                self._contested.add(stream)
                self._touch_belief(stream)
            case ConflictResolved.NAME:
                self._resolved(each)
            case MemoryRevoked.NAME:
                state = _REVOKED_BY.get(facts["cause"], State.REVOKED)
                self._become(each, facts["memory_id"], state)
            case MemoryExpired.NAME:
                since = each.event.valid_to if isinstance(each.event, MemoryExpired) else None
                state = State.UNTRUE if facts.get("never") else State.EXPIRED
                self._become(each, facts["memory_id"], state, since=since)
            case ConsolidationUndone.NAME:
                self._become(each, facts["memory_id"], State.ENDED)
            case MemoryMovedOut.NAME:
                if facts["into"]:
                    self._become(each, facts["memory_id"], State.MERGED, facts["into"])
            case _:
                self._written(each)

    def _written(self, each: Recorded) -> None:
        facts, written = each.facts, each.event
        memory_id = facts["memory_id"]
        before = self._memories.get(memory_id)
        state = State.HELD
        if each.type == MemoryQuarantined.NAME or facts.get("quarantined"):
            state = State.QUARANTINED
        if each.destroyed:
            state = State.ERASED
        said = written if isinstance(written, Written) else None
        until = None if said is None or said.type == _EVENT else said.memory.valid_to
        if state is State.HELD and until is not None:
            state = State.EXPIRED  # "I live in Lisbon", said of a time before the move
        now = MemoryStanding(
            state=state,
            belief=each.stream,
            category=(said.memory.category if said else None) or ORDINARY,
            grant=said.grant if said else "",
            since=until,
            position=each.position,
            originals=tuple(facts.get("originals", ())),
        )
        if each.type == MemoryMovedIn.NAME and before is not None and before.state in OUTDATED:
            now = replace(before, belief=each.stream)
        self._changes(before, now.state)
        self._memories[memory_id] = now
        if said is not None and (turn := self._turns.get(said.memory.turn)) is not None:
            self._taken_back.written(memory_id, turn.position, said.memory.value)
        self._noted(now.state)
        self._touched.memories.add(memory_id)
        promoted = facts.get("promotes")
        if promoted and promoted != memory_id:
            self._become(each, promoted, State.MERGED, memory_id)
        if each.type == MemorySuperseded.NAME:
            corrected = facts["kind"] == "correction"
            since = said.memory.valid_from if said else each.recorded_at
            self._become(
                each,
                facts["supersedes"],
                State.CORRECTED if corrected else State.SUPERSEDED,
                memory_id,
                since,
            )
            self._contested.discard(each.stream)
        elif each.type == MemoriesConsolidated.NAME:
            for original in facts["originals"]:
                self._become(each, original, State.MERGED, memory_id)

    def _become(
        self,
        each: Recorded,
        memory_id: str,
        state: State,
        by: str | None = None,
        since: Micros | None = None,
    ) -> None:
        before = self._memories.get(memory_id)
        if before is None:
            return
        self._changes(before, state)
        self._noted(state)
        self._memories[memory_id] = replace(
            before,
            state=state,
            by=by,
            since=each.recorded_at if since is None else since,
            position=each.position,
        )
        self._touched.memories.add(memory_id)
        if state in WITHHELD:
            self._gone.add(memory_id)

    def _changes(self, before: MemoryStanding | None, state: State) -> None:
        """Note whether a memory is shown that was not, or the other way round."""
        if before is not None and (before.state in WITHHELD) != (state in WITHHELD):
            self.changed_at = self._at

    def _noted(self, state: State) -> None:
        if self._taken_back.became(state):
            self._touched.turns.update(t.turn_id for t in self._turns.values() if t.by_agent)

    def _resolved(self, each: Recorded) -> None:
        facts = each.facts
        self._contested.discard(each.stream)
        by = facts["memories"][0] if facts["memories"] else None
        for memory_id in facts["closes"]:
            self._become(each, memory_id, State.SUPERSEDED, by, facts["resolved_at"])
        for decision_id in facts["settles"]:
            decision = self._decisions.get(decision_id)
            if decision is not None:
                decision.approved = True
                self._touched.turns.update(decision.spans)
        self._touch_belief(each.stream)

    def _touch_belief(self, stream: str) -> None:
        self._touched.memories.update(
            memory_id for memory_id, each in self._memories.items() if each.belief == stream
        )
