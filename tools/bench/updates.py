"""Whether a fact that changes between two real sessions is believed as it has become.

The set is described in tests/data/updates/README.md; the talks lie outside the repository.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from beliefledger.answers import BeliefAnswer
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.data_files import parsed
from beliefledger.ledger.times import from_datetime
from beliefledger.opener import open_memory
from beliefledger.tools.bench.measure import Measured, Run, Target

UPDATES = Path(__file__).resolve().parents[2] / "tests" / "data" / "updates" / "updates.yaml"
CHATS = Path("../shared/data/longmemeval/oracle_dev.json.gz")
_AFTER = timedelta(hours=6)
NEW, OLD, BOTH, NEITHER = "new alone", "old alone", "both", "neither"


@dataclass(frozen=True, slots=True)
class Update:
    """What a claim is about, and what it has before and after the change."""

    question: str
    about: re.Pattern[str]
    old: re.Pattern[str]
    new: re.Pattern[str]

    def seen(self, believed: Sequence[BeliefAnswer]) -> str:
        """Which of the two is believed."""
        words = [f"{each.text} ({each.value})" for each in believed]
        told = [each for each in words if self.about.search(each)]
        new = any(self.new.search(each) for each in told)
        old = any(self.old.search(each) and not self.new.search(each) for each in told)
        return {(True, False): NEW, (False, True): OLD, (True, True): BOTH}.get((new, old), NEITHER)


def updates(run: Run) -> Iterator[Measured]:
    """How many changes are believed as they are now."""
    labels = ("changed facts of real talks: new value alone", "the same: old value alone")
    targets = (Target("≥", 0.8), Target("=", 0))
    if not CHATS.exists():
        for label, target in zip(labels, targets, strict=True):
            note = f"not measured: {CHATS} is not there"
            yield Measured(label, "share", target=target, note=note)
        return
    run.tell("changed facts")
    seen = Counter[str]()
    some = written(UPDATES)
    for update, believed in told(run.place("updates"), some[: max(1, run.sizes.scripts)]):
        outcome = update.seen(believed)
        seen[outcome] += 1
        if outcome != NEW:
            held = "; ".join(each.text for each in believed if update.about.search(each.text))
            run.fail(f"update {update.question}: {outcome}\n    believed: {held or 'nothing'}")
    number = seen.total()
    listed = "; ".join(f"{count} {outcome}" for outcome, count in seen.most_common())
    for label, target, outcome in zip(labels, targets, (NEW, OLD), strict=True):
        note = f"{seen[outcome]} of {number}; {listed}"
        yield Measured(label, "share", [seen[outcome] / number], target, note=note)


def told(place: Path, some: Sequence[Update]) -> Iterator[tuple[Update, list[BeliefAnswer]]]:
    """Each with what is believed when both of its sessions are told."""
    by_id = {each["question_id"]: each for each in json.loads(gzip.decompress(CHATS.read_bytes()))}
    now = from_datetime(datetime(2026, 11, 1, tzinfo=UTC))
    with open_memory(place, extractor="rules", clock=lambda: now) as memory:
        for update in some:
            memory.consent.grant(
                update.question, "explicit_consent", categories=("ordinary", "health")
            )
            turns = list(_turns(update.question, by_id[update.question]))
            memory.record_turns(turns)
            memory.process(subject=update.question)
            last = max(each.said_at or 0 for each in turns)
            at = datetime.fromtimestamp(last / 1_000_000, UTC) + _AFTER
            yield update, memory.beliefs(update.question, valid_at=at)


def _turns(subject: str, question: Mapping[str, Any]) -> Iterator[TurnInput]:
    sessions = zip(
        question["haystack_dates"],
        question["haystack_session_ids"],
        question["haystack_sessions"],
        strict=True,
    )
    for date, session, said in sorted(sessions, key=lambda each: each[0]):
        begun = datetime.fromisoformat(f"{date[:10].replace('/', '-')}T{date[-5:]}+00:00")
        for number, turn in enumerate(said):
            if turn["content"].strip():
                yield TurnInput(
                    subject=subject,
                    content=turn["content"],
                    role=turn["role"],
                    session=session,
                    said_at=from_datetime(begun + timedelta(minutes=number)),
                    ordinal=number,
                )


def written(path: Path) -> list[Update]:
    """The changes of a file."""
    return [
        Update(
            each["question"],
            *(re.compile(each[name], re.IGNORECASE) for name in ("about", "old", "new")),
        )
        for each in parsed(path.read_bytes())
    ]
