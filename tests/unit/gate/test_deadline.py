"""The deadline of a turn: a clock that is handed in, asked between sentences, clauses, patterns."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest

from beliefledger.gate import deadline
from beliefledger.gate.deadline import Deadline
from beliefledger.gate.model.noticed import Noticed
from beliefledger.gate.model.reading import Sight, candidates
from beliefledger.gate.rules import RuleExtractor
from beliefledger.ledger.errors import ExtractionTooLong


@dataclass
class Turn:
    content: str
    turn_id: str = "t"
    role: str = "user"
    said_at: int = 1_772_355_600_000_000


class Ticking:
    """A clock that goes on by one second whenever it is asked."""

    def __init__(self):
        self.now = -1

    def __call__(self):
        self.now += 1
        return float(self.now)


def asked(read):
    """How often the deadline is asked for while something is read."""
    clock = Ticking()
    with Deadline(clock, 1e9).turn():
        read()
    return clock.now


SENTENCE = "I live in Porto, and I work at Acme, and I use Vim. "


def test_the_rules_ask_in_every_sentence_and_clause():
    once = asked(lambda: RuleExtractor().extract(Turn(SENTENCE)))
    often = asked(lambda: RuleExtractor().extract(Turn(SENTENCE * 20)))
    assert once >= 4
    assert often >= 20 * once - 20


@pytest.mark.parametrize("seconds", [0, 1, 5, 20, 60])
def test_whenever_it_is_over_the_rules_end(seconds):
    clock = Ticking()
    with pytest.raises(ExtractionTooLong, match=f"more than {seconds} s"):
        with Deadline(clock, seconds).turn():
            RuleExtractor().extract(Turn(SENTENCE * 30))
    assert clock.now == seconds + 1


def test_sentences_without_a_statement_ask_too():
    assert asked(lambda: RuleExtractor().extract(Turn("It is nice. I. " * 50))) >= 100


def test_what_was_confirmed_and_corrected_asks_too():
    yes = Turn("Yes, that's right.")
    said = Turn("You live in Porto. You work at Acme.", role="assistant")
    assert asked(lambda: RuleExtractor().extract(yes, [said])) > asked(
        lambda: RuleExtractor().extract(yes)
    )


def test_the_answer_of_a_model_is_read_within_it():
    statement = {
        "claim": "User lives in Porto", "quotes": [{"turn": "now", "words": "Porto"}],
        "type": "fact", "entity": "user", "attribute": "home.location", "value": "Porto",
        "negated": False, "context": "", "replaces": "", "act": "statement", "inferred": False,
        "durability": "lasting", "topic": "home", "category": "", "importance": 0.5,
        "confidence": 0.9, "when": {"start": "", "end": "", "precision": "unknown"},
        "participants": [], "fields": [],
    }  # fmt: skip
    noticed = Noticed.model_validate({"statements": [statement] * 5})
    with pytest.raises(ExtractionTooLong):
        with Deadline(Ticking(), 2).turn():
            candidates(noticed.statements, Sight(Turn("I live in Porto.")))


def test_without_a_deadline_nothing_is_asked():
    deadline.check()
    with pytest.raises(ExtractionTooLong):
        with Deadline(Ticking(), 0).turn():
            deadline.check()
    deadline.check()


def test_it_is_that_of_the_thread_which_set_it():
    told = []

    def other():
        deadline.check()
        told.append("went on")

    with Deadline(Ticking(), 0).turn():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert told == ["went on"]


def test_the_slow_clock_is_read_only_where_the_wall_s_says_that_it_may_be_over():
    read = []
    now = [0.0]

    def worked():
        read.append(now[0])
        return now[0] / 2  # half of the time somebody else has the processor

    with Deadline(worked, 2, wall=lambda: now[0]).turn():
        for now[0] in (0.5, 1.0, 1.9, 2.0, 2.5, 2.9, 3.0, 3.5, 4.0):
            deadline.check()
        assert read == [0.0, 2.0, 3.0, 3.5, 4.0]
        now[0] = 4.1
        with pytest.raises(ExtractionTooLong):
            deadline.check()
