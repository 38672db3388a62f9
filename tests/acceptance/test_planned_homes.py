"""Where somebody lives who planned to move there and tells that the move is done."""

from __future__ import annotations

import pytest

SETTLED = [
    ("we're moving to Aarhus in summer", "moved in, finally", "Aarhus"),
    ("we're planning to move to Ghent in may", "we're in the new flat now", "Ghent"),
    ("i live in Cork. im moving to Lisbon next month", "the move went well", "Lisbon"),
    ("we're moving to a flat in Altona in june", "we're all moved in!", "a flat in Altona"),
    ("i decided to move to Graz", "moved in yesterday", "Graz"),
    ("im gonna move to the Hague in march", "moved in!", "the Hague"),
    ("we're planning to move to Aarhus in summer", "we are in Aarhus now, boxes!", "Aarhus"),
]
STILL = [
    ("my brother is moving to York", "the move went well"),
    ("thinking of moving to York", "the move went well"),
    ("might move to York", "moved in!"),
    ("moving to York in april", "he moved in, finally"),
    ("moving to York in april", "haven't moved in yet"),
    ("moving to York in april", "when we're in the new flat we want a dog"),
    ("moving to York in april", "we're in Paris, lovely hotel"),
    ("moving to York in april", "we're in York for the weekend"),
    ("moving to York in april", "the move went badly, still in Leeds"),
    ("moving to York in april", "imagine we're in the new flat"),
    ("we're moving to a bigger place in may", "moved in!"),
    ("the office is moving to York", "the move went well"),
    ("moving to York in april", "are we in the new flat now?"),
]


@pytest.mark.parametrize(("plan", "done", "home"), SETTLED)
def test_a_move_that_is_done_makes_a_home_of_what_was_planned(somebody, plan, done, home):
    found = somebody.believed_after(plan, done)
    assert [each.value for each in found if each.attribute == "home.location"] == [home]
    assert not any("moving to" in each.text or "move to" in each.text for each in found)


@pytest.mark.parametrize(("plan", "said"), STILL)
def test_without_a_plan_of_their_own_that_is_done_they_live_where_they_did(somebody, plan, said):
    found = somebody.believed_after("i live in Leeds", plan, said)
    assert [each.value for each in found if each.attribute == "home.location"] == ["Leeds"]
