"""What is said of "he" or "she" is about whom the words before name."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("turns", "over", "stands"),
    [
        (
            ("My friend Maria lives in Madrid.", "She moved to Paris."),
            ("Madrid",),
            ("Maria moved to Paris",),
        ),
        (
            ("My friend Maria lives in Madrid. She moved to Paris.",),
            ("Madrid",),
            ("Maria moved to Paris",),
        ),
        (
            (
                "My brother Max lives in Linz.",
                "He works at Voest.",
                "He got a new job at Bosch.",
            ),
            ("Voest",),
            ("Linz", "Max got a new job at Bosch"),
        ),
        (
            ("My friend Maria lives in Madrid.", "She lives in Paris now."),
            ("Madrid",),
            ("Maria lives in Paris",),
        ),
        (("My brother Tim is a vet in Hull. he plays drums",), (), ("vet", "Tim plays drums")),
        (("My dog is Rex", "he likes cheese"), (), ("Rex likes cheese",)),
        (("My husband is Luca.", "He moved to Bern"), (), ("Luca moved to Bern",)),
    ],
)
def test_the_one_who_was_named_is_meant(somebody, turns, over, stands):
    somebody.ends_with(turns, over, stands)


@pytest.mark.parametrize(
    ("turns", "stands"),
    [
        (("My friend Maria lives in Madrid.", "He moved to Paris."), "Madrid"),
        (("My sister Ana lives in Oslo.", "He moved to Paris"), "Oslo"),
        (("My friends Maria and Tom live in Madrid.", "She moved to Paris."), "Madrid"),
        (("My friend Maria lives in Madrid.", "Did she move to Paris?"), "Madrid"),
        (("My friend Maria lives in Madrid", "she might move to Paris"), "Madrid"),
    ],
)
def test_where_somebody_else_may_be_meant_nothing_changes(somebody, turns, stands):
    found = [each.text for each in somebody.believed_after(*turns, besides=())]
    assert [each for each in found if stands in each]
    assert not [each for each in found if "Paris" in each]
