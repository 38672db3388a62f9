"""Errors are grouped by what the caller should do, and say what to do next."""

from __future__ import annotations

import inspect
import pickle

import pytest

from beliefledger.ledger import errors
from beliefledger.ledger.errors import (
    CallerMistake,
    LedgerError,
    MustStop,
    Retryable,
    VersionConflict,
)

ALL = [
    each
    for _, each in inspect.getmembers(errors, inspect.isclass)
    if each.__module__ == errors.__name__
]
LEAVES = [each for each in ALL if each not in {LedgerError, Retryable, MustStop, CallerMistake}]


@pytest.mark.parametrize("kind", LEAVES)
def test_each_error_is_in_one_group(kind):
    groups = [group for group in (Retryable, MustStop, CallerMistake) if issubclass(kind, group)]
    assert len(groups) == 1


@pytest.mark.parametrize("kind", [each for each in LEAVES if each is not VersionConflict])
def test_the_docstring_is_the_message_after_the_detail(kind):
    meaning = " ".join(kind.__doc__.split())
    assert meaning.endswith(".")
    assert str(kind()) == meaning
    assert str(kind("Position 7 is odd.")) == f"Position 7 is odd. {meaning}"
    assert kind("Position 7 is odd.").detail == "Position 7 is odd."


def test_a_mistake_and_what_is_not_permitted_say_what_to_do():
    assert "Ask " in str(errors.NotPermitted())
    assert "Correct it." in str(CallerMistake())


def test_a_conflict_names_the_stream_and_both_versions():
    conflict = VersionConflict("s" * 32, 3, 5)
    assert (conflict.stream, conflict.expected, conflict.actual) == ("s" * 32, 3, 5)
    assert f"Stream {'s' * 32} is at version 5, not 3." in str(conflict)


@pytest.mark.parametrize("error", [VersionConflict("s", 1, 2), errors.LogCorrupted("here.")])
def test_an_error_survives_the_way_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert again.detail == error.detail
    assert str(again) == str(error)
