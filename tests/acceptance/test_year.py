"""A year of chat, played as an agent would: what each context puts before the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from beliefledger import open_memory
from beliefledger.ledger.data_files import parsed
from beliefledger.ledger.times import from_datetime, to_datetime
from beliefledger.memory import MemoryLedger
from beliefledger.search.context import ContextAnswer

YEAR = parsed((Path(__file__).parents[1] / "data/year/year.yaml").read_bytes())
LABELS = ("must", "past", "not_now", "nowhere")
_ID = re.compile(r"^- \[\w+\]", re.M)
"""Of a line; its digits are by chance."""
_OVER = re.compile(r"[^.;!?]*?\(no longer so[^)]*\)")


@dataclass
class Asked:
    """A question of the year, and the context that was taken at it."""

    turn: dict[str, Any]
    answer: ContextAnswer

    def words(self, *, past: bool) -> str:
        some = [line for line in self.answer.lines if (line.section == "past") is past]
        return "\n".join(f"{_OVER.sub('', each.text)} {each.words or ''}" for each in some).lower()

    def told(self, *labels: str) -> set[str]:
        """The words of these labels that the context does not do as it should."""
        return {words for label, words in self._missed() if label in labels}

    def _missed(self) -> Iterator[tuple[str, str]]:
        now, past = self.words(past=False), self.words(past=True)
        checks: dict[str, Callable[[str], bool]] = {
            "must": lambda each: _has(now, each),
            "past": lambda each: _has(past, each),
            "not_now": lambda each: not _has(now, each),
            "nowhere": lambda each: not _has(_ID.sub("", self.answer.content).lower(), each),
        }
        for label, met in checks.items():
            yield from ((label, each) for each in self.turn.get(label, ()) if not met(each))


def _has(text: str, words: str) -> bool:
    return any(each.lower() in text for each in words.split("|"))


class Player:
    """Plays the year into a ledger at the times of its script."""

    def __init__(self, memory: MemoryLedger, clock) -> None:
        self._memory, self._clock = memory, clock
        self._grants: dict[str, str] = {}
        self.subject: str = YEAR["subject"]

    def play(self) -> Iterator[Asked]:
        for session in YEAR["sessions"]:
            now = session["begins"].replace(tzinfo=UTC)
            for turn in session["turns"]:
                now += timedelta(minutes=1)
                self._clock.now = max(self._clock.now, from_datetime(now))
                if "do" in turn:
                    self._do(turn)
                else:
                    yield from self._say(turn, session["session"], now)

    def _say(self, turn: dict[str, Any], session: str, now: datetime) -> Iterator[Asked]:
        memory, words = self._memory, turn.get("user") or turn["agent"]
        role = "user" if "user" in turn else "assistant"
        memory.record_turn(self.subject, words, role=role, session=session, said_at=now)
        memory.process(subject=self.subject)
        if any(label in turn for label in LABELS):
            answer = memory.context(
                self.subject,
                words,
                max_tokens=800,
                session=session,
                by="assistant",
                purpose=turn.get("purpose"),
            )
            yield Asked(turn, answer)

    def _do(self, turn: dict[str, Any]) -> None:
        memory, subject = self._memory, self.subject
        if turn["do"] == "revoke":
            # What a wish to have it forgotten has ended already is taken back whole.
            said = to_datetime(self._clock.now) - timedelta(minutes=3)
            there = memory.beliefs(subject, valid_at=said)
            found = [each for each in there if re.search(turn["like"], each.text)]
            assert found, turn
            for each in found:
                memory.revoke(each.memory_id, by=subject)
        elif turn["do"] == "grant":
            self._grants[turn["category"]] = memory.consent.grant(
                subject,
                "explicit_consent",
                categories=[turn["category"]],
                by=subject,
                reconsider=True,
            )
        elif turn["do"] == "withdraw":
            memory.consent.withdraw(subject, grant_id=self._grants[turn["category"]], by=subject)
        else:
            assert memory.erase(subject, session=turn["session"], by=subject).bodies


@pytest.fixture
def year(place, clock) -> list[Asked]:
    clock.now = from_datetime(YEAR["sessions"][0]["begins"].replace(tzinfo=UTC))
    with open_memory(place, consent="consent", embedder="words-3", clock=clock) as memory:
        return list(Player(memory, clock).play())


def test_an_agents_year_is_told_rightly(year):
    assert len(year) >= 40
    withheld = {asked.turn["user"]: words for asked in year if (words := asked.told("nowhere"))}
    assert withheld == {}
    new = {
        asked.turn["user"]: words
        for asked in year
        if (words := asked.told(*LABELS) - set(asked.turn.get("open", ())))
    }
    assert new == {}

    lines = [(asked, line) for asked in year for line in asked.answer.lines]
    # A question is no answer, nor is one of another day, unless something is told before it; of a
    # profile, only the person is a part.
    for asked, line in lines:
        assert line.text != asked.turn["user"]
        if line.section == "profile":
            assert not line.text.startswith(("Sam", "Leila", "Callum")), line.text
        if line.kind == "episode" and line.role == "user":
            assert not re.fullmatch(r"[^.!,]+\?", line.text), line.text
    # Beside the profile and how to answer, which stand in all of them. With questions and
    # pleasantries it was 6.4.
    always = {"User: no bullet points"}
    beside = [line for _, line in lines if line.section != "profile" and line.text not in always]
    assert len(beside) / len(year) < 4.7
