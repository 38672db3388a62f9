"""A wish for no food of a kind is a constraint, and is told whatever is asked."""

from __future__ import annotations

import pytest

from beliefledger import open_memory


@pytest.mark.parametrize("embedder", ["words-3", "hashed-1"])
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("no salty recipes please", "User: no salty recipes"),
        ("maeve says i should cut down salt so no salty recipes please", "User: no salty recipes"),
        ("no spicy food for me", "User: no spicy food"),
        ("no recipes please just a joke", None),
        ("no spicy food here today", None),
        ("no bad food at that place", None),
        ("my sister said no salty recipes please", None),
    ],
)
def test_a_wish_for_no_food_of_a_kind_is_a_constraint(tmp_path, embedder, said, told):
    with open_memory(tmp_path, consent="contract", embedder=embedder) as memory:
        memory.remember("ana", said)
        lines = memory.context("ana", "what should i cook for dinner", max_tokens=400).lines
    constraints = [each.text for each in lines if each.section == "constraints"]
    assert constraints == ([] if told is None else [told])
