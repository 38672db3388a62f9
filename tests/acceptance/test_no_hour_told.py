"""Another day of a class says nothing of its hour, unless the class is moved."""

from __future__ import annotations

import pytest

NO_HOUR = [
    ("yoga class is on monday at 7", "yoga class is on thursday now", "at 7", "on thursday"),
    (
        "My class is Monday and Wednesday at 18h",
        "now i am in B1 class, it is tuesday and thursday",
        "18h",
        "tuesday and thursday",
    ),
    ("choir is on wednesdays at 19h", "choir is thursdays now", "19h", "on thursdays"),
    ("my gp appointment is tuesday at 3", "its on friday now", "at 3", "friday"),
]
HOUR = [
    ("standup is monday at 9", "standup moved to tuesday", "standup is tuesday at 9"),
    ("yoga class is on monday at 7", "yoga class is on thursday at 8 now", "thursday at 8"),
    ("yoga class is on monday at 7", "yoga class is at 8 now", "monday at 8"),
]


@pytest.mark.parametrize(("first", "then", "over", "stands"), NO_HOUR)
def test_the_hour_of_the_old_day_is_not_told_of_another(somebody, first, then, over, stands):
    somebody.ends_with((first, then), (over,), (stands,))


@pytest.mark.parametrize(("first", "then", "stands"), HOUR)
def test_what_is_moved_is_at_the_same_hour(somebody, first, then, stands):
    somebody.ends_with((first, then), (), (stands,))
