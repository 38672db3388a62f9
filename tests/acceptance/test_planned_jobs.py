"""Where somebody works who planned to start there and tells that the job has begun."""

from __future__ import annotations

import pytest

BEGUN = [
    ("starting at Clifford Hart on the 3rd", "first day went ok", "Clifford Hart"),
    ("I'll be joining Bosch in June", "first week done, phew", "Bosch"),
    ("got the lumio offer!!", "first week at lumio done, nice team", "lumio"),
    ("i'm starting a new job at Lidl in may", "started the new job yesterday", "Lidl"),
    ("accepted the offer from Parcel", "first day is done!", "Parcel"),
    ("interviewing at Stripe, fingers crossed", "first week at Stripe done", "Stripe"),
    ("no plans", "first week at Stripe, my manager is Anand", "Stripe"),
]
NOT_BEGUN = [
    ("my brother is starting at Lidl", "first shift was hectic"),
    ("turned down the job at Lidl", "first shift was hectic"),
    ("starting at Lidl on monday", "my daughter's first day at school went ok"),
    ("starting at Lidl on monday", "first day tomorrow, so nervous"),
    ("starting at Lidl on monday", "was the first day ok?"),
    ("starting yoga on monday", "first day went well"),
    ("starting at uni in september", "first day done"),
    ("might start at Lidl", "first day went well"),
    ("no plans", "first day at the office, my team is nice"),
]


@pytest.mark.parametrize(("plan", "done", "employer"), BEGUN)
def test_a_job_that_has_begun_is_where_somebody_works(somebody, plan, done, employer):
    found = somebody.believed_after("i work at Aldi", plan, done)
    assert [each.value for each in found if each.attribute == "work.employer"] == [employer]


@pytest.mark.parametrize(("plan", "said"), NOT_BEGUN)
def test_until_then_they_work_where_they_did(somebody, plan, said):
    found = somebody.believed_after("i work at Aldi", plan, said)
    assert [each.value for each in found if each.attribute == "work.employer"] == ["Aldi"]


def test_the_role_is_that_of_the_plan(somebody):
    found = somebody.believed_after(
        "I'm a paralegal at Hogan & Reed",
        "handed my notice in, starting at Clifford Hart as a compliance analyst on the 3rd",
        "first day went ok",
    )
    assert {each.value for each in found if each.attribute.startswith("work.")} == {
        "Clifford Hart",
        "compliance analyst",
    }


def test_a_boss_of_the_job_before_is_none_any_more(somebody):
    found = somebody.believed_after(
        "I work at Parcel. My boss is Rob", "I started at Stripe", "my boss there is called Ruth"
    )
    assert [each.value for each in found if each.attribute == "relation.reports-to"] == ["Ruth"]


@pytest.mark.parametrize(
    ("told", "news", "role"),
    [
        ("I work as a nurse in Leeds", "I got a new job at York General", "User works as a nurse"),
        (
            "I'm a nurse at a clinic in Leeds",
            "I started at York General last week",
            "User is a nurse",
        ),
        ("I'm a baker in Bonn", "I got a new job at Müller in Köln", "User is a baker"),
        ("I work as a nurse in Leeds", "I got a new job at Leeds General", None),
        ("I work as a nurse in Leeds", "I moved to a flat at York Road", None),
    ],
)
def test_a_new_employer_takes_the_place_out_of_the_role(somebody, told, news, role):
    [before] = [each.text for each in somebody.believed_after(told)]
    found = [each.text for each in somebody.believed_after(news) if each.attribute == "work.role"]
    assert found == [role or before]


@pytest.mark.parametrize(
    ("said", "role", "employer"),
    [
        ("I got a new job as a manager at York General", "manager", "York General"),
        ("I got a job as head of sales at Acme", "head of sales", "Acme"),
        ("got a job as a barista", "barista", None),
        ("i've got a new job as a teacher", "teacher", None),
        ("i landed a gig as a sound engineer", "sound engineer", None),
    ],
)
def test_a_job_as_something_is_a_role(somebody, said, role, employer):
    found = {each.attribute: each.value for each in somebody.believed_after(said)}
    assert (found.get("work.role"), found.get("work.employer")) == (role, employer)
