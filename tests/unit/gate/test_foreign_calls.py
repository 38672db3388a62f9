"""A call of somebody else's code ends for the caller, and what it left behind is counted."""

from __future__ import annotations

import contextvars
import threading
import time

import pytest

from beliefledger.gate.failures import raised, told
from beliefledger.gate.foreign_calls import ForeignCalls, NotReturned, did_not_return, is_ours
from beliefledger.gate.model import ModelExtractor
from beliefledger.gate.rules import RuleExtractor
from beliefledger.ledger.errors import ExtractionUnavailable

AT_MOST = 10.0
"""Seconds that a test waits before it fails."""


def wait_until(true):
    end = time.monotonic() + AT_MOST
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_what_returns_in_time_is_returned_and_what_raises_raises():
    calls = ForeignCalls(AT_MOST)
    assert calls.made(lambda: 7) == 7
    assert calls.made(lambda: None) is None
    with pytest.raises(ZeroDivisionError):
        calls.made(lambda: 1 / 0)
    with pytest.raises(SystemExit):
        calls.made(lambda: exec("raise SystemExit"))
    assert calls.left() == 0


def test_it_knows_the_callers_context():
    said = contextvars.ContextVar("said")
    said.set("ana")
    assert ForeignCalls(AT_MOST).made(said.get) == "ana"


def test_what_does_not_return_is_left_behind_up_to_a_number():
    calls, done = ForeignCalls(0.02, most_left=2), threading.Event()
    for _turn in range(2):
        with pytest.raises(ExtractionUnavailable, match=r"within 0\.02 s") as problem:
            calls.made(done.wait)
        assert isinstance(problem.value.__cause__, NotReturned)
        assert did_not_return(problem.value)
    assert calls.left() == 2
    asked = []
    with pytest.raises(ExtractionUnavailable, match="2 of its calls have not returned") as problem:
        calls.made(lambda: asked.append(1))
    assert (asked, did_not_return(problem.value)) == ([], True)
    done.set()
    wait_until(lambda: calls.left() == 0)
    assert calls.made(lambda: "again") == "again"


def test_ours_are_those_that_end_by_themselves():
    class Client:
        provider = model = "acme"

    assert is_ours(RuleExtractor())
    assert not is_ours(Client())
    assert not is_ours(ModelExtractor(Client(), dict, dict))
    assert not did_not_return(ExtractionUnavailable("The service did not answer in time."))


def test_of_an_exception_the_class_is_told_and_not_its_words():
    problem = raised(ValueError("I live in Lisbon\nwith Amelia"))
    assert "Amelia" in str(problem)
    assert told("ValueError", str(problem)) == "The extractor raised ValueError."
    before = "ValueError: I live in Lisbon\nwith Amelia. The extractor could not look at the turn."
    assert told("ValueError", before) == "The extractor raised ValueError."
    ours = str(ExtractionUnavailable("The service did not answer in time."))
    assert told("APITimeoutError", ours) == ours
