"""What had ended is so again: who was lost is back, what was given up is taken up again."""

from __future__ import annotations

import pytest

CAT = "I have a cat named Tom."


@pytest.mark.parametrize(
    ("turns", "over", "stands"),
    [
        ((CAT, "Tom ran away.", "Tom came back!"), "ran away", "cat named Tom"),
        ((CAT, "Tom ran away.", "tom is back"), "ran away", "cat named Tom"),
        ((CAT, "Tom ran away.", "found Tom!! he was in the shed"), "ran away", "cat named Tom"),
        (("my girlfriend is Ana", "we broke up", "we're back together"), "broke up", "Ana"),
        (("I work at Acme", "I quit my job at Acme", "I'm back at Acme"), "quit", "works at Acme"),
        (("i do yoga", "stopped yoga", "back at yoga"), "stopped", "does yoga"),
        (("my boss is Tom", "Tom left", "Tom came back"), "Tom left", "boss is Tom"),
        (("i play tennis", "i quit tennis", "i took up tennis again"), "quit", "plays tennis"),
    ],
)
def test_what_had_ended_is_so_again(somebody, turns, over, stands):
    somebody.ends_with(turns, over=[over], stands=[stands])


@pytest.mark.parametrize(
    ("turns", "stays_over"),
    [
        (("I have a dog called Rex", "Rex died", "Rex is home"), "dog called Rex"),
        (("I live in Oslo", "I moved to Bern", "I'm back in Oslo for a week"), "lives in Oslo"),
        (("I work at Acme", "I quit my job at Acme", "back to work"), "works at Acme"),
        (("my boss is Tom", "Tom left, my boss is Eve now", "Tom came back"), "boss is Tom"),
    ],
)
def test_what_is_not_so_again_stays_over(somebody, turns, stays_over):
    somebody.ends_with(turns, over=[stays_over], stands=())
