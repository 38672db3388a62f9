"""What somebody did for the user stays when they are gone, and what used to be so is told with what
is left of it."""

from __future__ import annotations

import pytest

STAYS = [
    (
        "Dr Rees has put me on a water tablet. I do not like it, I am up all night",
        "Dr Rees has retired.",
        "water tablet",
    ),
    ("Dr Rees gave me a diet plan to follow every day", "Dr Rees has retired.", "diet plan"),
    ("Dr Rees gave me a diet plan to follow every day", "Dr Rees moved to Leeds", "diet plan"),
]
OVER = [
    (
        "Dr Rees gave me a diet plan to follow every day",
        "Dr Rees stopped the diet plan",
        "gave me a diet plan",
    ),
    ("my boss Pete put me on nights", "i am off nights now", "me on nights"),
    ("my cleaner Ola comes on tuesdays", "Ola has retired", "comes on tuesdays"),
]
LEFT = [
    (
        "I used to make 12 Christmas puddings, now I only make three",
        "used to make 12 Christmas puddings, now they only make three",
    ),
    ("i used to run 4 times a week, now only once", "run 4 times a week, now only once"),
    ("i used to run 4 times a week but now just once.", "4 times a week but now just once"),
    ("i used to play guitar, now i teach maths", "teaches maths"),
]


@pytest.mark.parametrize(("first", "then", "stands"), STAYS)
def test_what_somebody_did_stays_when_they_are_gone(somebody, first, then, stands):
    somebody.ends_with((first, then), (), (stands,))


@pytest.mark.parametrize(("first", "then", "over"), OVER)
def test_what_is_said_to_be_over_is_over(somebody, first, then, over):
    somebody.ends_with((first, then), (over,), ())


@pytest.mark.parametrize(("said", "told"), LEFT)
def test_what_is_left_is_told_with_what_was(somebody, said, told):
    somebody.ends_with((said,), (), (told,))
