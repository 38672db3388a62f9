"""The vocabulary of the log."""

from __future__ import annotations

import inspect
import re

import pytest
from pydantic import BaseModel, ValidationError

from beliefledger.ledger.events import BY_NAME, STREAMS, Event, policy
from beliefledger.ledger.events.belief import MemoryConfirmed
from beliefledger.ledger.events.ops import ConsumerAcknowledged
from beliefledger.ledger.events.policy import PolicyAdopted
from beliefledger.ledger.events.subject import ConsentGranted
from beliefledger.ledger.events.turn import TurnParked, TurnRecorded
from beliefledger.ledger.upcast import STEPS

TURN = {
    "role": "user",
    "channel": "conversation",
    "secrets": 1,
    "redacted": {"password": 1},
    "session_tag": "5e55",
    "said_at_stated": False,
    "content": "I live in Porto.",
}

# What a person says or is called. None of it may be a fact, because facts outlive an erasure.
PERSONAL = {
    "content", "speaker", "session", "agent", "said_at", "claim", "entity", "attribute", "value",
    "context", "topic", "category", "participants", "spans", "memory_words", "note", "name",
    "canonical", "alias", "detail", "candidate_words",
    # What tells the category of words that are erased, or confirms a guess at them.
    "type", "categories", "redacted", "session_tag", "salt", "grant", "confidence", "importance",
    "base", "s", "r", "e", "t", "c",
}  # fmt: skip

# A principal's reference; the salt of a hash that is keyed by what an erasure destroys,
# or that a webhook's secret is computed with.
NOBODY_S = {
    "token.issued.v1": {"agent"},
    "request.ended.v1": {"salt"},
    "tool.called.v1": {"salt"},
    "webhook.registered.v1": {"salt"},
    "webhook.secret_rotated.v1": {"salt"},
}

KINDS = sorted(BY_NAME.items())


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_a_name_is_lower_case_words_and_a_version_and_is_not_where_the_class_lies(name, kind):
    assert re.fullmatch(r"[a-z_]+\.[a-z_]+\.v[1-9][0-9]*", name)
    assert kind.__module__ not in name
    assert name == kind.NAME


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_the_docstring_says_when_it_happens(name, kind):
    own = kind.__dict__.get("__doc__")
    assert own, f"{kind.__name__} has no docstring of its own"
    assert own.rstrip().endswith(".")


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_no_fact_holds_what_a_person_said_or_is_called(name, kind):
    nobody_s = {"type"} if kind in vars(policy).values() else NOBODY_S.get(name, set())
    assert not kind.FACTS & PERSONAL - nobody_s


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_no_fact_is_a_float_or_has_parts_of_its_own(name, kind):
    for fact in kind.FACTS:
        annotation = str(kind.model_fields[fact].annotation)
        assert "float" not in annotation
        assert not inspect.isclass(kind.model_fields[fact].annotation) or not issubclass(
            kind.model_fields[fact].annotation, BaseModel
        )


def test_no_two_classes_share_a_name():
    concrete = [
        each
        for module in STREAMS.values()
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Event) and "NAME" in vars(each)
    ]
    assert len({each.NAME for each in concrete}) == len(set(concrete)) == len(BY_NAME)


def test_every_past_name_leads_to_a_class():
    assert all(step[0] in BY_NAME or step[0] in STEPS for step in STEPS.values())


def test_an_event_splits_into_facts_that_stay_and_a_body_that_can_go():
    facts, body = TurnRecorded(**TURN, session="s", said_at=5).split()
    assert facts == {
        "role": "user",
        "channel": "conversation",
        "secrets": 1,
        "said_at_stated": False,
    }
    assert body == {
        "content": "I live in Porto.",
        "redacted": {"password": 1},
        "session_tag": "5e55",
        "speaker": None,
        "session": "s",
        "agent": None,
        "said_at": 5,
    }


def test_an_event_of_facts_alone_has_no_body():
    assert TurnParked(attempts=3).split() == ({"attempts": 3, "reason": "tries"}, None)
    assert ConsumerAcknowledged(consumer="c", erasure="e").split()[1] is None


def test_an_event_cannot_be_changed_and_takes_no_unknown_field():
    parked = TurnParked(attempts=3)
    with pytest.raises(ValidationError):
        parked.attempts = 4
    with pytest.raises(ValidationError):
        TurnParked(attempts=3, why="x")


def test_only_what_is_nobody_s_is_stored_in_clear():
    clear = {name for name, kind in BY_NAME.items() if kind.CLEAR}
    assert clear == {PolicyAdopted.NAME, "type.registered.v1"}


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (TurnRecorded, TURN | {"content": ["Porto"]}),
        (TurnRecorded, TURN | {"Porto": 1, "said_at": "Porto"}),
        (
            MemoryConfirmed,
            {"memory_id": 1, "spans": [{"start": "Porto", "end": -1, "quote": "Porto"}]},
        ),
        (ConsentGranted, {"note": ["Porto"]}),
    ],
)
def test_an_error_about_fields_does_not_quote_their_words(kind, fields):
    with pytest.raises(ValidationError) as refused:
        kind.model_validate(fields)
    said = str(refused.value).replace("\nPorto\n  Extra inputs", "")
    assert "Porto" not in said
