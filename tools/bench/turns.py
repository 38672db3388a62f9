"""What of real chat is kept: recall and precision over turns that a careful reader labelled.

The labels and how they were made are described in tests/data/turns/README.md. The turns themselves
are data of others and lie outside the repository.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from beliefledger.answers import BeliefAnswer, DecisionAnswer
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.data_files import parsed
from beliefledger.ledger.times import from_datetime
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench.measure import Measured, Run, Target

LABELS = Path(__file__).resolve().parents[2] / "tests" / "data" / "turns"
CHATS = Path("../shared/data/longmemeval/oracle_dev.json.gz")
NOTE = "note"
_KEPT = frozenset({"admit", "confirm", "supersede"})
_BETWEEN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class LabelledFact:
    """What a reader would keep: in short words, and what a memory of it has to match."""

    says: str
    match: re.Pattern[str]
    kind: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """One turn's labels. `ok` is what may be kept without harm."""

    session: str
    turn: int
    hash: str
    facts: Sequence[LabelledFact] = ()
    ok: Sequence[re.Pattern[str]] = ()

    def is_fact(self, words: str) -> bool:
        """Whether these words state one of the facts."""
        return any(each.match.search(words) for each in self.facts)

    def is_harmless(self, words: str) -> bool:
        """Whether a reader would let them stand: a fact, or what may be kept."""
        return self.is_fact(words) or any(each.search(words) for each in self.ok)


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that one labelled turn made or confirmed."""

    session: str
    turn: int
    type: str
    claim: str
    value: str
    right: bool
    """A note has to state a fact; a typed memory may also be one that does no harm."""
    harmless: bool


@dataclass
class TurnTally:
    """What became of all turns."""

    turns: int = 0
    facts: list[tuple[Labelled, LabelledFact, str | None]] = field(default_factory=list)
    """Each fact, with how it was captured: `typed`, `note` or not."""
    kept: list[Kept] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    """What the gate decided: `admit truth.new` and so on."""

    def figures(self) -> dict[str, tuple[float, str]]:
        """Shares, each with the counts it was made of."""
        how = [each for _, _, each in self.facts]
        typed = [each.right for each in self.kept if each.type != NOTE]
        notes = [each.right for each in self.kept if each.type == NOTE]
        return {
            "facts captured": _share(sum(each is not None for each in how), len(how)),
            "facts captured by typed memories": _share(how.count("typed"), len(how)),
            "typed memories that are right": _share(sum(typed), len(typed)),
            "notes that state a fact": _share(sum(notes), len(notes)),
            "notes that do no harm": _share(
                sum(each.harmless for each in self.kept if each.type == NOTE), len(notes)
            ),
            "all that is kept that is right": _share(sum(typed + notes), len(typed + notes)),
        }

    def by_kind(self) -> dict[str, tuple[int, int]]:
        """Facts captured and facts labelled, by the reader's kind."""
        there = Counter(fact.kind for _, fact, _ in self.facts)
        got = Counter(fact.kind for _, fact, how in self.facts if how)
        return {kind: (got[kind], number) for kind, number in sorted(there.items())}


def _share(some: int, number: int) -> tuple[float, str]:
    return (some / number if number else 0.0), f"{some} of {number}"


_TARGETS = {
    "facts captured": Target("≥", 0.5),
    "typed memories that are right": Target("≥", 0.92),
    "notes that state a fact": Target("≥", 0.8),
}


def turns(run: Run) -> Iterator[Measured]:
    """The halves that were asked for, through the front door."""
    among = conversations(CHATS) if CHATS.exists() else None
    for half in run.halves:
        label = f"real turns to {half}"
        if among is None:
            note = f"not measured: {CHATS} is not there"
            for name, target in _TARGETS.items():
                yield Measured(f"{label}: {name}", "share", target=target, note=note)
            continue
        some = written(LABELS / f"{half}.yaml")[: run.sizes.labelled_turns]
        run.tell(f"{half}: {len(some)} turns")
        tally = told(run.place("turns"), some, among)
        for name, (share, counts) in tally.figures().items():
            yield Measured(f"{label}: {name}", "share", [share], _TARGETS.get(name), note=counts)
        for kind, (got, number) in tally.by_kind().items():
            yield Measured(f"{label}: {kind}", "share", [got / number], note=f"{got} of {number}")
        for reason, count in tally.reasons.most_common():
            yield Measured(f"{label}: decided {reason}", "candidates", [count])


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session: when it was, and its turns as role and content."""

    date: datetime
    turns: Sequence[Mapping[str, Any]]


def conversations(path: Path) -> dict[str, Conversation]:
    """All sessions by id."""
    found: dict[str, Conversation] = {}
    for question in json.loads(gzip.decompress(path.read_bytes())):
        for session, date, said in zip(
            question["haystack_session_ids"],
            question["haystack_dates"],
            question["haystack_sessions"],
            strict=True,
        ):
            at = datetime.fromisoformat(f"{date[:10].replace('/', '-')} {date[-5:]}+00:00")
            found.setdefault(session, Conversation(at, said))
    return found


def written(path: Path) -> list[Labelled]:
    """The labels, in the order of their sessions and turns."""
    return [
        Labelled(
            each["session"],
            turn["turn"],
            turn["hash"],
            [
                LabelledFact(fact["says"], re.compile(fact["match"], re.I), fact["kind"])
                for fact in turn.get("facts", ())
            ],
            [re.compile(expression, re.I) for expression in turn.get("ok", ())],
        )
        for each in parsed(path.read_bytes())
        for turn in each["turns"]
    ]


def words_of(labelled: Labelled, among: Mapping[str, Conversation]) -> str:
    """The labelled turn's words. Raises `ValueError` where the data is not what was labelled."""
    said: str = among[labelled.session].turns[labelled.turn]["content"]
    if hashlib.sha256(said.encode()).hexdigest()[:12] != labelled.hash:
        raise ValueError(
            f"Turn {labelled.turn} of {labelled.session} is not the one that was labelled."
        )
    return said


def told(place: Path, some: Sequence[Labelled], among: Mapping[str, Conversation]) -> TurnTally:
    """Have each session told by a subject of its own, up to its last labelled turn."""
    tally = TurnTally()
    by_session: dict[str, list[Labelled]] = {}
    for each in some:
        by_session.setdefault(each.session, []).append(each)
    with open_memory(place) as memory:
        for session, labelled in by_session.items():
            _told(memory, among, session, labelled, tally)
    return tally


def _told(
    memory: MemoryLedger,
    among: Mapping[str, Conversation],
    session: str,
    labelled: Sequence[Labelled],
    tally: TurnTally,
) -> None:
    memory.consent.grant(session, "explicit_consent", categories=("ordinary", "health"))
    there, at = among[session], 0
    for each in labelled:
        words = words_of(each, among)
        memory.record_turns(
            TurnInput(
                subject=session,
                content=said["content"],
                role=said["role"],
                session=session,
                said_at=from_datetime(_said_at(there, number)),
                ordinal=number,
            )
            for number, said in enumerate(there.turns[at : each.turn], at)
            if said["content"].strip()
        )
        memory.process(subject=session)
        _, decisions = memory.remember(
            session, words, session=session, said_at=_said_at(there, each.turn)
        )
        at = each.turn + 1
        held = {belief.memory_id: belief for belief in memory.beliefs(session)}
        _judged(each, decisions, held, tally)


def _said_at(there: Conversation, number: int) -> datetime:
    return there.date + number * _BETWEEN


def _judged(
    labelled: Labelled,
    decisions: Sequence[DecisionAnswer],
    held: Mapping[str, BeliefAnswer],
    tally: TurnTally,
) -> None:
    tally.turns += 1
    for decision in decisions:
        tally.reasons[f"{decision.outcome} {decision.reason}"] += 1
    ids = dict.fromkeys(
        each.memory_id for each in decisions if each.outcome in _KEPT and each.memory_id
    )
    found = [held[each] for each in ids if each in held]
    told = [(each, f"{each.text} | {each.value}") for each in found]
    for each, words in told:
        tally.kept.append(
            Kept(
                labelled.session,
                labelled.turn,
                each.type,
                each.text,
                each.value,
                labelled.is_fact(words) or (each.type != NOTE and labelled.is_harmless(words)),
                labelled.is_harmless(words),
            )
        )
    for fact in labelled.facts:
        hits = [each.type for each, words in told if fact.match.search(words)]
        how = None
        if hits:
            how = "typed" if any(hit != NOTE for hit in hits) else NOTE
        tally.facts.append((labelled, fact, how))
