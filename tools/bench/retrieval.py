"""How many of the turns that answer a question are among the ten that search finds.

LoCoMo: each conversation is a subject, its turns the words said, each with its speaker, session
and date; the second person has the role `other`. The captions of images are left out: with them
plain BM25 finds no more (.592 of the gold turns, .594 without). LongMemEval-S: each question is a
subject with its haystack's turns (those of the user, or all), asked at the end of its day.
Questions without a gold turn of the user are left out.
Dialogues with agents: our own, in tests/data/dialogues. Gold is only what results are counted
against. Each set has a half that was tuned on and one that was not.

What search does is compared with parts of it in the same run. Plain BM25 and plain dense have the
words said alone, without date and speaker; plain RRF fuses these two with equal weights. Each arm
of the default profile alone orders the texts by the rank that the answer gives it.
"""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beliefledger.arguments import MOST_RESULTS
from beliefledger.gate.consent import ORDINARY
from beliefledger.gate.intake import TurnInput
from beliefledger.gate.policy import default_policy
from beliefledger.ledger.data_files import parsed
from beliefledger.ledger.times import from_datetime
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.projections.embedding import MINILM, Words, embedder, installed
from beliefledger.projections.search_terms import asked, terms
from beliefledger.search.options import SearchOptions
from beliefledger.tools.bench.measure import Measured, Run, Target
from beliefledger.tools.bench.searching import K, built, model_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from beliefledger.projections.embedding import Embedder, Vectors

    Scores = NDArray[np.float64]

LOCOMO = Path("../shared/data/locomo/locomo_dev.json")
LONGMEMEVAL = Path("../shared/data/longmemeval/s_dev_112.json.xz")
DIALOGUES = Path("tests/data/dialogues")
TUNED = 3
"""The conversations of LoCoMo that weights are chosen by; the others only check them."""
CATEGORIES = {
    "1": "several turns", "2": "when", "3": "inferred", "4": "one turn", "5": "adversarial",
}  # fmt: skip
OPEN = default_policy().model_copy(
    update={"special_categories": dict.fromkeys(default_policy().special_categories, "queue")}
)
"""The policy under which every category can be granted by name."""
SEARCH, BM25, DENSE, RRF = "search", "plain BM25", "plain dense", "plain RRF"
BOTH = "memories and turns"
"""As search is by default: a memory counts as the turns that it came of."""
_K1, _B, _RRF_K = 1.2, 0.75, 60
_DIALOG = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, when, and the numbers of the turns that answer it."""

    words: str
    category: str
    gold: frozenset[int]
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RetrievalCase:
    """One subject: turns in their order, and questions about them."""

    turns: Sequence[TurnInput]
    questions: Sequence[Question]

    @property
    def subject(self) -> str:
        return self.turns[0].subject


def shortened(case: RetrievalCase, turns: int, questions: int) -> RetrievalCase:
    """The first questions of a case, and of its turns at most so many beside those that answer."""
    some = case.questions[:questions]
    gold = frozenset[int]().union(*(each.gold for each in some))
    kept = sorted(gold.union(range(min(turns, len(case.turns)))))
    places = {number: place for place, number in enumerate(kept)}
    return RetrievalCase(
        [case.turns[number] for number in kept],
        [replace(each, gold=frozenset(places[number] for number in each.gold)) for each in some],
    )


class Tally:
    """Recall of every question, by the way it was searched and by category."""

    def __init__(self) -> None:
        self._recalls: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(
            lambda: defaultdict(list)
        )

    def count(self, way: str, question: Question, found: Sequence[int]) -> None:
        share = len(question.gold.intersection(found)) / len(question.gold)
        self._recalls[way][question.category].append(share)

    def add(self, other: Tally) -> None:
        """Count all that another has counted."""
        for way, categories in other._recalls.items():
            for category, shares in categories.items():
                self._recalls[way][category] += shares

    def recall(self, way: str, category: str | None = None) -> float:
        """The mean over questions: 0 of those where this way found nothing."""
        of = self._recalls[way]
        shares = of[category] if category else [each for some in of.values() for each in some]
        return sum(shares) / self.questions(category)

    def questions(self, category: str | None = None) -> int:
        of = self._recalls[SEARCH]
        return len(of[category]) if category else sum(map(len, of.values()))

    @property
    def categories(self) -> list[str]:
        return sorted(self._recalls[SEARCH])

    @property
    def singles(self) -> list[str]:
        """All that search with one arm."""
        return [way for way in self._recalls if way not in {SEARCH, RRF, BOTH}]

    def best(self, category: str | None = None) -> str:
        """The best of these."""
        return max(self.singles, key=lambda way: self.recall(way, category))


def retrieval(run: Run) -> Iterator[Measured]:
    """Recall@10 on all sets, by the default install's embedder and by MiniLM."""
    for model in (Words.name, MINILM):
        able = model == Words.name or installed()
        yield from _locomo(run, model, able=able)
        yield from _longmemeval(run, model, able=able)
        yield from _dialogues(run, model, able=able)


def _locomo(run: Run, model: str, *, able: bool) -> Iterator[Measured]:
    name = f"Recall@10 on LoCoMo with {model}"
    least = Target("≥", 0.78)
    beyond = Target("≥", 0.02)
    worst = Target("≥", -0.02)
    missing = _missing(LOCOMO, able=able)
    if missing:
        for part, target in (("", least), (", beyond the best arm alone", beyond)):
            yield Measured(name + part, "share", target=target, note=missing)
        yield Measured(f"{name}, the worst of a category", "share", target=worst, note=missing)
        return
    cases = locomo(LOCOMO)[: max(1, run.sizes.questions // 20)]
    tally = Tally()
    for half, some in (("tune", cases[:TUNED]), ("test", cases[TUNED:])):
        if some:
            counted = _tally(run, some, model)
            yield _of_half(name, half, counted)
            tally.add(counted)
    yield Measured(name, "share", [tally.recall(SEARCH)], least, note=_others(tally))
    if model == Words.name:
        withheld = _tally(run, cases, model, ordinary=True)
        value = withheld.recall(SEARCH)
        yield Measured(f"{name}, special categories withheld", "share", [value])
    best = tally.best()
    yield Measured(
        f"{name}, beyond the best arm alone", "share", [tally.recall(SEARCH) - tally.recall(best)],
        beyond, note=f"which is {best}",
    )  # fmt: skip
    margins = {}
    for category in tally.categories:
        called = CATEGORIES[category]
        best = tally.best(category)
        value = tally.recall(SEARCH, category)
        margins[called] = value - tally.recall(best, category)
        note = f"{tally.questions(category)} questions; {best} {tally.recall(best, category):.3f}"
        yield Measured(f"of category “{called}”", "share", [value], note=note)
    lowest = min(margins, key=lambda each: margins[each])
    yield Measured(
        f"{name}, the worst of a category", "share", [margins[lowest]], worst,
        note=f"beyond the category's best arm alone: “{lowest}”",
    )  # fmt: skip


def _longmemeval(run: Run, model: str, *, able: bool) -> Iterator[Measured]:
    """What an agent says is long: with MiniLM its vectors would take many minutes."""
    kinds = [("user turns", ("user",)), ("all turns", ("user", "assistant"))]
    few = max(1, run.sizes.questions // (8 if model == Words.name else 16))
    missing = _missing(LONGMEMEVAL, able=able)
    held = None if missing else _held(LONGMEMEVAL)
    for called, roles in kinds if model == Words.name else kinds[:1]:
        name = f"Recall@10 on LongMemEval-S, {called}, with {model}"
        if held is None:
            yield Measured(name, "share", note=missing)
            continue
        for half, cases in longmemeval(held, roles, few).items():
            yield _of_half(name, half, _tally(run, cases, model))


def _dialogues(run: Run, model: str, *, able: bool) -> Iterator[Measured]:
    name = f"Recall@10 on dialogues with an agent with {model}"
    beyond = Target("≥", 0.05)
    missing = _missing(DIALOGUES, able=able)
    if missing:
        yield Measured(f"{name}, beyond plain dense", "share", target=beyond, note=missing)
        return
    tally = Tally()
    for half, cases in dialogues(DIALOGUES).items():
        part = _tally(run, cases[: max(1, run.sizes.questions // 20)], model)
        yield _of_half(name, half, part)
        tally.add(part)
    for said_by in tally.categories:
        note = f"{tally.questions(said_by)} questions"
        value = tally.recall(SEARCH, said_by)
        yield Measured(f"of what the {said_by} said", "share", [value], note=note)
    margin = tally.recall(SEARCH) - tally.recall(DENSE)
    yield Measured(f"{name}, beyond plain dense", "share", [margin], beyond)


def _of_half(name: str, half: str, tally: Tally) -> Measured:
    return Measured(
        f"{name}, {half} half", "share", [tally.recall(SEARCH)], note=_others(tally)
    )  # fmt: skip


def _missing(path: Path, *, able: bool) -> str | None:
    if not path.exists():
        return f"not measured: there is no {path}"
    return None if able else "not measured: the extra `embeddings` is not installed"


def _others(tally: Tally) -> str:
    ways = [*tally.singles, RRF, BOTH]
    others = ", ".join(f"{way} {tally.recall(way):.3f}" for way in ways)
    return f"{tally.questions():,} questions; {others}"


def _tally(
    run: Run, cases: Sequence[RetrievalCase], model: str, *, ordinary: bool = False
) -> Tally:
    """Record the turns, decide about them, build their vectors, and ask; every category of personal
    data is granted by name, or `ordinary` alone."""
    tally = Tally()
    plain = embedder(model)
    with model_of(model):
        memory = open_memory(run.place("retrieval"))
    with memory:
        memory.policy.adopt(OPEN, by="bench")
        categories = (ORDINARY,) if ordinary else (ORDINARY, *OPEN.special_categories)
        for number, whole in enumerate(cases, 1):
            case = shortened(whole, run.sizes.turns_of_one, run.sizes.questions_to_one)
            at = f"{model}, subject {number} of {len(cases)}"
            run.tell(f"{at}: {len(case.turns):,} turns")
            memory.consent.grant(case.subject, "explicit_consent", categories=categories)
            receipts = memory.record_turns(case.turns)
            memory.process(subject=case.subject)
            numbers = {receipt.turn_id: place for place, receipt in enumerate(receipts)}
            built(memory, run, case.subject)
            baselines = Baselines([turn.content for turn in case.turns], plain)
            run.tell(f"{at}: {len(case.questions):,} questions")
            for question in case.questions:
                _ask(memory, case.subject, question, numbers, tally)
                for way, found in baselines.found(question.words).items():
                    tally.count(way, question, found)
    return tally


def _ask(
    memory: MemoryLedger, subject: str, question: Question, numbers: dict[str, int], tally: Tally
) -> None:
    """By search, and by each of its arms alone: those are told by an answer without a limit."""
    told = [
        memory.search(
            subject,
            question.words,
            k,
            options=SearchOptions(include=("episodes",)),
            valid_at=question.at,
            record=False,
        ).results
        for k in (K, MOST_RESULTS)
    ]
    tally.count(SEARCH, question, [numbers[each.id] for each in told[0]])
    both = memory.search(subject, question.words, K, valid_at=question.at, record=False).results
    of = [[e.turn_id for e in each.memory.evidence] if each.memory else [each.id] for each in both]
    tally.count(BOTH, question, [numbers[turn] for some in of for turn in some if turn in numbers])
    arms: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for each in told[1]:
        for name, arm in each.arms.items():
            if arm.rank:
                arms[name].append((arm.rank, -numbers[each.id]))  # of equals the newest
    for name, ranked in arms.items():
        tally.count(f"{name} alone", question, [-number for _, number in sorted(ranked)[:K]])


class Baselines:
    """Texts of one subject, searched plainly: BM25 (Okapi, the same stems), cosines, and RRF."""

    def __init__(self, texts: Sequence[str], model: Embedder) -> None:
        self._model = model
        self._vectors: Vectors = model.embed(texts)
        self._counts = [Counter(terms(text)) for text in texts]
        self._lengths = np.array([sum(each.values()) for each in self._counts])
        self._among = Counter(term for each in self._counts for term in each)

    def found(self, query: str) -> dict[str, list[int]]:
        """The numbers of the ten best texts by each."""
        lexical = _ordered(self._bm25(asked(query)), 0.0)
        dense = _ordered((self._vectors @ self._model.embed([query])[0]).astype(np.float64))
        fused = np.zeros(len(self._counts))
        for order in (lexical, dense):
            fused[order] += 1 / (_RRF_K + 1 + np.arange(len(order)))
        ways = {BM25: lexical, DENSE: dense, RRF: _ordered(fused, 0.0)}
        return {way: [int(each) for each in order[:K]] for way, order in ways.items()}

    def _bm25(self, query: Sequence[str]) -> Scores:
        scores = np.zeros(len(self._counts))
        long = _K1 * (1 - _B + _B * self._lengths / self._lengths.mean())
        for term in query:
            among = self._among[term]
            idf = np.log1p((len(scores) - among + 0.5) / (among + 0.5))
            times = np.array([each[term] for each in self._counts])
            scores += idf * times * (_K1 + 1) / (times + long)
        return scores


def _ordered(scores: Scores, floor: float = -2.0) -> NDArray[np.int64]:
    """The numbers of the scores above the floor, best first."""
    order = np.argsort(-scores, kind="stable")
    return order[scores[order] > floor]


# The sets


def locomo(path: Path) -> list[RetrievalCase]:
    """Every conversation, with the questions that have evidence."""
    return [_conversation(each) for each in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(sample: dict[str, Any]) -> RetrievalCase:
    said = sample["conversation"]
    turns: list[TurnInput] = []
    numbers: dict[str, int] = {}
    sessions = [key for key in said if re.fullmatch(r"session_\d+", key)]
    for session in sorted(sessions, key=lambda key: int(key.removeprefix("session_"))):
        dated = f"{said[f'{session}_date_time']} +0000"
        begun = datetime.strptime(dated, "%I:%M %p on %d %B, %Y %z")
        for ordinal, turn in enumerate(said[session]):
            numbers[turn["dia_id"]] = len(turns)
            turns.append(
                TurnInput(
                    subject=sample["sample_id"],
                    content=turn["text"],
                    role="user" if turn["speaker"] == said["speaker_a"] else "other",
                    speaker=turn["speaker"],
                    session=session,
                    said_at=from_datetime(begun + timedelta(seconds=ordinal)),
                    ordinal=ordinal,
                )
            )
    questions = []
    for asked_ in sample["qa"]:
        named = _DIALOG.findall(" ".join(asked_.get("evidence", ())))
        gold = frozenset(numbers[f"D{a}:{b}"] for a, b in named if f"D{a}:{b}" in numbers)
        if gold:
            questions.append(Question(asked_["question"], str(asked_["category"]), gold))
    return RetrievalCase(turns, questions)


def _held(path: Path) -> dict[str, Any]:
    with lzma.open(path) as file:
        held: dict[str, Any] = json.load(file)
        return held


def longmemeval(
    held: dict[str, Any], roles: Sequence[str], few: int
) -> dict[str, list[RetrievalCase]]:
    """Questions whose evidence is in user turns, with the turns of these roles in their haystacks:
    of each half a few, of all kinds alike and the same each time."""
    kinds: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for asked_ in sorted(held["questions"], key=lambda each: each["question_id"]):
        said = (turn for key in asked_["haystack_session_keys"] for turn in held["sessions"][key])
        if any(turn.get("has_answer") and turn["role"] == "user" for turn in said):
            kinds[asked_["question_type"]].append(asked_)
    halves: dict[str, list[RetrievalCase]] = {}
    for half, first in (("tune", 0), ("test", 1)):
        mine = [asked_ for kind in sorted(kinds) for asked_ in kinds[kind][first::2]]
        some = min(few, len(mine))
        chosen = [mine[number * len(mine) // some] for number in range(some)]
        halves[half] = [_haystack(asked_, held["sessions"], roles) for asked_ in chosen]
    return halves


def dialogues(path: Path) -> dict[str, list[RetrievalCase]]:
    """Our own dialogues of a person and an agent, by half."""
    halves: dict[str, list[RetrievalCase]] = {"tune": [], "test": []}
    for file in sorted(path.glob("*.yaml")):
        held = parsed(file.read_bytes())
        halves[held["half"]].append(_dialogue(file.stem, held))
    return halves


def _dialogue(name: str, held: dict[str, Any]) -> RetrievalCase:
    turns: list[TurnInput] = []
    numbers: dict[str, int] = {}
    for session in held["sessions"]:
        for ordinal, turn in enumerate(session["turns"]):
            role = "user" if "user" in turn else "assistant"
            if "id" in turn:
                numbers[turn["id"]] = len(turns)
            turns.append(
                TurnInput(
                    subject=name,
                    content=turn[role],
                    role=role,
                    session=str(session["begins"]),
                    said_at=from_datetime(session["begins"] + timedelta(minutes=ordinal)),
                    ordinal=ordinal,
                )
            )
    questions = [
        Question(each["ask"], each["said_by"], frozenset(numbers[gold] for gold in each["gold"]))
        for each in held["questions"]
    ]
    return RetrievalCase(turns, questions)


def _haystack(
    asked_: dict[str, Any], sessions: dict[str, list[dict[str, Any]]], roles: Sequence[str]
) -> RetrievalCase:
    turns: list[TurnInput] = []
    gold = set()
    keyed = zip(asked_["haystack_session_keys"], asked_["haystack_dates"], strict=True)
    for key, date in keyed:
        for ordinal, turn in enumerate(sessions[key]):
            if turn["role"] not in roles or not turn["content"].strip():
                continue
            if turn.get("has_answer") and turn["role"] == "user":
                gold.add(len(turns))
            turns.append(
                TurnInput(
                    subject=asked_["question_id"],
                    content=turn["content"],
                    role=turn["role"],
                    session=key,
                    said_at=from_datetime(_dated(date) + timedelta(seconds=ordinal)),
                    ordinal=ordinal,
                )
            )
    day = _dated(asked_["question_date"]).replace(hour=23, minute=59, second=59)
    question = Question(asked_["question"], asked_["question_type"], frozenset(gold), day)
    return RetrievalCase(turns, [question] if gold else [])


def _dated(date: str) -> datetime:
    return datetime.strptime(date, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
