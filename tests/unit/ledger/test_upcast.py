"""Old versions are read as today's, step by step."""

from __future__ import annotations

from beliefledger.ledger import events
from beliefledger.ledger.upcast import STEPS, upcast


def renamed(facts, body):
    return {"place": facts["city"]}, body


def split_name(facts, body):
    return facts, None if body is None else {"words": body["text"].split()}


TWO = {"moved.v1": ("moved.v2", renamed), "moved.v2": ("moved.v3", split_name)}


def test_steps_follow_each_other_to_the_current_name():
    assert upcast("moved.v1", {"city": "Porto"}, {"text": "to Porto"}, TWO) == (
        "moved.v3",
        {"place": "Porto"},
        {"words": ["to", "Porto"]},
    )


def test_it_can_begin_in_the_middle():
    assert upcast("moved.v2", {"place": "x"}, {"text": "y"}, TWO)[0] == "moved.v3"


def test_a_destroyed_body_stays_destroyed():
    assert upcast("moved.v1", {"city": "x"}, None, TWO) == ("moved.v3", {"place": "x"}, None)


def test_a_current_name_is_left_alone():
    facts, body = {"a": 1}, {"b": 2}
    assert upcast("moved.v3", facts, body, TWO) == ("moved.v3", facts, body)


def test_every_step_ends_at_a_name_that_is_known():
    for name in STEPS:
        reached = name
        for _ in STEPS:
            if reached in STEPS:
                reached = STEPS[reached][0]
        assert reached in events.BY_NAME, f"{name} leads nowhere"


def test_no_current_name_is_upcast():
    assert not set(STEPS) & set(events.BY_NAME)
