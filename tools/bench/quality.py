"""Whether what is worth remembering is remembered, and nothing else: sentences and scripts.

What is in the sets and what is counted is described in tests/data/sentences/README.md and
tests/data/scripts/README.md. Everything goes through the front door: consent for ordinary
memories, the offline rules, and the belief table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, TypeVar

from beliefledger.answers import BeliefAnswer
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.data_files import parsed
from beliefledger.ledger.times import from_datetime
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench.measure import Measured, Run, Target

Patterns = Sequence[re.Pattern[str]]
Sampled = TypeVar("Sampled")

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
SENTENCES, SCRIPTS = DATA / "sentences", DATA / "scripts"
PARTS = {"tune": ("tune", "tune_2"), "test": ("test", "test_2", "test_3")}
"""The files of a half, each of which has figures of its own."""
_NOW = datetime(2026, 11, 1, tzinfo=UTC)
"""By the ledger's clock, whenever this is run: what is believed must not hang on today's date."""
_SAID_AT = _NOW - timedelta(days=1)
_LATER = timedelta(hours=6)
_NOTE = "note"
_GRAVE = re.compile(r"special|secret|hypothetical")
_OVER = re.compile(
    r"\b(?:no longer|not|never|used to|former(?:ly)?|ex|left|quit|stopped|gave up|given|sold"
    r"|ended|split|lost|was|were|had|been|until|cancell?ed|any ?more)\b|n't\b|\bdont\b",
    re.IGNORECASE,
)
"""A claim that says of itself that it is over, or of the past."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that has to be believed, and what must not be believed along with it."""

    value: re.Pattern[str]
    never: re.Pattern[str] | None
    key: re.Pattern[str] | None = None
    """What its key has in it, where the writer says so."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a user says, and what is worth remembering of it: nothing, if `keep` is empty."""

    name: str
    kind: str
    text: str
    before: Sequence[tuple[str, str]]
    """Role and words of the turns before it."""
    keep: Sequence[Wanted]
    may: re.Pattern[str] | None
    """Memories that do no harm, where nothing has to be kept."""


@dataclass(frozen=True, slots=True)
class Script:
    """Turns of some days, and what has to be believed after the last."""

    name: str
    turns: Sequence[tuple[datetime, str | None, str]]
    """When, by whom (the user if None), and the words."""
    end: Patterns
    gone: Patterns
    """What must not be believed as what is so; what happened may stay."""
    void: Patterns
    """What must not be believed in any way."""
    was: Patterns
    """What has to be believed before the last turn."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a sentence or a script, and what is believed after it."""

    of: str
    kind: str
    said: str
    wrong: str | None
    """Why it is not right, or None."""
    believed: Sequence[BeliefAnswer]
    stale: bool = False
    """Something is believed that must not be."""
    noted: bool = False
    """It is right, but what makes it so is quoted in a note and not typed."""
    keyed: bool | None = None
    """Whether each value is believed under the key that is said; None where none is."""

    def __str__(self) -> str:
        held = "; ".join(f"{each.type}: {each.text}" for each in self.believed) or "nothing"
        return f"{self.of}: {self.wrong}\n    said: {self.said}\n    believed: {held}"


def quality(run: Run) -> Iterator[Measured]:
    """The halves that were asked for."""
    for half in [part for each in run.halves for part in PARTS[each]]:
        sentences = evenly(sentences_of(SENTENCES / f"{half}.yaml"), run.sizes.sentences)
        scripts = evenly(scripts_of(SCRIPTS / f"{half}.yaml"), run.sizes.scripts)
        run.tell(f"{half}: {len(sentences)} sentences")
        kept, dropped = heard(run.place("sentences"), sentences)
        run.tell(f"{half}: {len(scripts)} scripts")
        ended = played(run.place("scripts"), scripts)
        for each in (*kept, *dropped, *ended):
            if each.wrong is not None:
                run.fail(f"{half}: {each}")
        yield from figures(half, kept, dropped, ended)


def figures(
    half: str, kept: Sequence[Outcome], dropped: Sequence[Outcome], ended: Sequence[Outcome]
) -> Iterator[Measured]:
    grave = [each for each in dropped if _GRAVE.match(each.kind)]
    yield _share(
        f"sentences to keep, {half}: right value",
        [each.wrong is None for each in kept],
        Target("≥", 0.8),
        [each.wrong or ("right by a note alone" if each.noted else None) for each in kept],
    )
    keyed = [each.keyed for each in kept if each.keyed is not None]
    if keyed:
        yield _share(f"the same, {half}: under the right key", keyed, Target("≥", 0.8))
    yield _share(
        f"sentences not to keep, {half}: wrongly admitted",
        [each.wrong is not None for each in dropped],
        Target("≤", 0.02),
        [each.wrong and each.kind for each in dropped],
    )
    yield _share(
        f"the same, {half}: of a special category, secret or hypothetical",
        [each.wrong is not None for each in grave],
        Target("=", 0),
    )
    yield _share(
        f"scripts, {half}: right at the end",
        [each.wrong is None for each in ended],
        Target("≥", 0.85),
        [each.wrong for each in ended],
    )
    yield _share(
        f"scripts, {half}: stale or wrong", [each.stale for each in ended], Target("≤", 0.05)
    )


def _share(
    name: str, counted: Sequence[bool], target: Target, why: Iterable[str | None] = ()
) -> Measured:
    if not counted:
        return Measured(name, "share", target=target, note="not measured: none in the sample")
    reasons = Counter(each for each in why if each).most_common()
    listed = "; ".join([f"{sum(counted)} of {len(counted)}", *(f"{n} {r}" for r, n in reasons)])
    return Measured(name, "share", [sum(counted) / len(counted)], target, note=listed)


def heard(
    place: Path, some: Sequence[Sentence], reading: Reading | None = None
) -> tuple[list[Outcome], list[Outcome]]:
    """What becomes of sentences, each said by a subject of its own: those to keep, the others."""
    reading = reading or Reading()
    with reading.opened(place) as memory:
        memory.record_turns(
            TurnInput(
                subject=sentence.name,
                content=words,
                role=role,
                session="chat",
                said_at=from_datetime(_SAID_AT + timedelta(minutes=number)),
                ordinal=number,
            )
            for sentence in some
            for number, (role, words) in enumerate([*sentence.before, ("user", sentence.text)])
        )
        reading.decide(memory)
        return (
            [_kept(memory, each) for each in some if each.keep],
            [_dropped(memory, each) for each in some if not each.keep],
        )


def _kept(memory: MemoryLedger, sentence: Sentence) -> Outcome:
    believed = memory.beliefs(sentence.name, valid_at=_NOW)
    typed = [each for each in believed if each.type != _NOTE]
    missing = not all(_has(believed, [wanted.value for wanted in sentence.keep]))
    noted = not missing and not all(_has(typed, [wanted.value for wanted in sentence.keep]))
    too_much = any(
        wanted.never and wanted.never.search(each.text)
        for wanted in sentence.keep
        for each in believed
    )
    wrong = None
    if too_much:
        wrong = "more than was said"
    elif missing:
        wrong = "another value" if believed else _refusal(memory, sentence)
    keys = [(each.key, each.value) for each in sentence.keep if each.key]
    return Outcome(
        sentence.name,
        sentence.kind,
        sentence.text,
        wrong,
        believed,
        too_much,
        noted and not wrong,
        all(_has([each for each in typed if k.search(each.attribute)], [v])[0] for k, v in keys)
        if keys
        else None,
    )


def _refusal(memory: MemoryLedger, sentence: Sentence) -> str:
    """Why nothing was believed: the reason of the last decision, if anything was noticed."""
    decisions = memory.decisions(sentence.name)
    return f"{decisions[-1].outcome}: {decisions[-1].reason}" if decisions else "nothing noticed"


def _dropped(memory: MemoryLedger, sentence: Sentence) -> Outcome:
    believed = [
        each
        for each in memory.beliefs(sentence.name, valid_at=_NOW)
        if sentence.may is None or not sentence.may.search(_words(each))
    ]
    wrong = "admitted" if believed else None
    return Outcome(sentence.name, sentence.kind, sentence.text, wrong, believed, bool(believed))


def played(place: Path, some: Sequence[Script], reading: Reading | None = None) -> list[Outcome]:
    """What is believed after the last turn of each script, each said by a subject of its own."""
    reading = reading or Reading()
    before: dict[str, list[BeliefAnswer]] = {}
    with reading.opened(place) as memory:
        for number in range(max((len(each.turns) for each in some), default=0)):
            going = [each for each in some if number < len(each.turns)]
            for script in going:
                if number == len(script.turns) - 1:
                    at = script.turns[-1][0]
                    before[script.name] = memory.beliefs(script.name, valid_at=at)
            memory.record_turns(turn_of(script, number) for script in going)
            reading.decide(memory)
        return [_ended(memory, script, before[script.name]) for script in some]


def turn_of(script: Script, number: int) -> TurnInput:
    """A turn of a script, as it is recorded."""
    said_at, by, words = script.turns[number]
    return TurnInput(
        subject=script.name,
        content=words,
        role="assistant" if by == "assistant" else "user",
        speaker=None if by == "assistant" else by,
        session=f"{said_at:%Y-%m-%d}",
        said_at=from_datetime(said_at),
        ordinal=number,
    )


def _ended(memory: MemoryLedger, script: Script, before: Sequence[BeliefAnswer]) -> Outcome:
    believed = memory.beliefs(script.name, valid_at=script.turns[-1][0] + _LATER)
    states = [each for each in believed if each.type != "event" and not _OVER.search(each.text)]
    stale = _has(states, script.gone) or _has(believed, script.void)
    wrong = None
    if any(stale):
        wrong = "stale or wrong"
    elif not all(_has(before, script.was)):
        wrong = "never noticed"
    elif not all(_has(believed, script.end)):
        wrong = "missing"
    said = " / ".join(f"{by}: {words}" if by else words for _, by, words in script.turns)
    return Outcome(script.name, "script", said, wrong, believed, any(stale))


def _has(believed: Sequence[BeliefAnswer], patterns: Patterns) -> list[bool]:
    """Of each pattern, whether a belief fits it."""
    return [any(pattern.search(_words(each)) for each in believed) for pattern in patterns]


def _words(belief: BeliefAnswer) -> str:
    return belief.text if belief.value in belief.text else f"{belief.text} ({belief.value})"


class Reading:
    """Who reads the turns: the offline rules."""

    extractor = "rules"

    def opened(self, place: Path) -> MemoryLedger:
        now = from_datetime(_NOW)
        return open_memory(
            place, extractor=self.extractor, consent="explicit_consent", clock=lambda: now
        )

    def decide(self, memory: MemoryLedger) -> None:
        done = memory.process()
        if done.failed or done.pending:
            raise RuntimeError(
                f"{done.failed + done.pending} turns could not be read: {done.problem}"
            )


def sentences_of(path: Path) -> list[Sentence]:
    """The sentences of a file."""
    return [
        Sentence(
            name=each["id"],
            kind=each["class"],
            text=each["text"],
            before=[(turn["role"], turn["text"]) for turn in each.get("before", ())],
            keep=[
                Wanted(_any_case(of["value"]), _or_none(of.get("not")), _or_none(of.get("key")))
                for of in each["keep"]
            ],
            may=_or_none(each.get("may")),
        )
        for each in _written(path)
    ]


def scripts_of(path: Path) -> list[Script]:
    """The scripts of a file."""
    return [
        Script(
            name=each["name"],
            turns=[
                (_minute(turn["day"], number), turn.get("by"), turn["said"])
                for number, turn in enumerate(each["turns"])
            ],
            **{
                name: [_any_case(pattern) for pattern in each.get(name, ())]
                for name in ("end", "gone", "void", "was")
            },
        )
        for each in _written(path)
    ]


def _written(path: Path) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = parsed(path.read_bytes())
    return found


def _minute(day: date, number: int) -> datetime:
    """Turns of one day are said a minute apart."""
    return datetime.combine(day, time(12, number), UTC)


def _any_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _or_none(pattern: str | None) -> re.Pattern[str] | None:
    return None if pattern is None else _any_case(pattern)


def evenly(all_: list[Sampled], most: int) -> list[Sampled]:
    """At most so many, taken evenly."""
    return all_[:: -(-len(all_) // max(1, most))]
