"""What one decision costs, on a belief with ten events, without extraction and commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from beliefledger.gate import consent as consents
from beliefledger.gate.belief import folded
from beliefledger.gate.consent import Consent
from beliefledger.gate.decide import decide
from beliefledger.gate.decision import TurnView
from beliefledger.gate.draft import Draft
from beliefledger.gate.rulebook import Rules
from beliefledger.gate.rules.extractor import RuleExtractor
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.times import SECOND
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench.conversations import BEGIN, PLACES, homes
from beliefledger.tools.bench.measure import Measured, Run, Target

_EVENTS = 10
_SUBJECT = "person 0"
_MICROSECONDS = Target("≤", 300)


@dataclass(frozen=True, slots=True)
class _Case:
    """A belief's stream, and candidates about it that no decision has seen."""

    stream: Sequence[Recorded]
    consent: Consent
    rules: Rules
    said: Sequence[tuple[TurnView, Candidate]]


def _case(memory: MemoryLedger, count: int) -> _Case:
    memory.consent.grant(_SUBJECT, "consent")
    for number in range(_EVENTS):
        # Said again and again, with a change in between: confirmed, superseded, confirmed.
        place = PLACES[0] if number < _EVENTS // 2 else PLACES[1]
        verb = "moved to" if number == _EVENTS // 2 else "live in"
        said_at = BEGIN + number * 60 * SECOND
        memory.record_turn(_SUBJECT, f"I {verb} {place}.", said_at=said_at)
    memory.process()
    log, gate = memory._log, memory._gate
    ref = log.subject(_SUBJECT) or ""
    rules = gate.rulebook.current()
    draft: Draft = gate.draft()
    said = list(_candidates(count))
    slot = draft.slot(draft.keys(ref), said[0][1].type, said[0][1])
    stream = log.read_stream(slot)
    if len(stream) != _EVENTS or any(
        draft.slot(draft.keys(ref), candidate.type, candidate) != slot for _, candidate in said
    ):
        raise RuntimeError(
            f"The belief has {len(stream)} events, or a candidate is of another one."
        )
    return _Case(stream, consents.folded(log.read_stream(ref)), rules, said)


def _candidates(count: int) -> Iterator[tuple[TurnView, Candidate]]:
    extractor = RuleExtractor()
    for number, content in enumerate(homes(count, seed=5)):
        turn = TurnView(f"{number:032x}", "user", content, BEGIN + (60 + number) * 60 * SECOND)
        found = [each for each in extractor.extract(turn, ()) if each.attribute == "home.location"]
        if found:
            yield turn, found[0]


def deciding(run: Run) -> Iterator[Measured]:
    """The median over many candidates: `decide` alone, and with folding the belief's events."""
    alone: list[float] = []
    with_fold: list[float] = []
    with open_memory(run.place("deciding")) as memory:
        run.tell("looking at turns")
        case = _case(memory, run.sizes.decisions)
    for _ in run.rounds("deciding"):
        pure, folding = _decide_all(case)
        alone.append(median(pure) * 1e6)
        with_fold.append(median(folding) * 1e6)
    note = f"median of {len(case.said):,} candidates a round; speech is read again for each"
    yield Measured("decide, on a belief of 10 events", "µs", alone, _MICROSECONDS, note=note)
    yield Measured("fold the belief's 10 events, and decide", "µs", with_fold, _MICROSECONDS)


def _decide_all(case: _Case) -> tuple[list[float], list[float]]:
    pure, folding = [], []
    policy, registry = case.rules.policy, case.rules.registry
    for turn, candidate in case.said:
        begun = perf_counter()
        belief = folded(case.stream, registry)
        known = perf_counter()
        decide(turn, candidate, belief, case.consent, policy, registry, turn.said_at)
        done = perf_counter()
        pure.append(done - known)
        folding.append(done - begun)
    return pure, folding
