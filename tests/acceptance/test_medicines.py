"""Medicines that are taken no longer, in another dose, or in place of another."""

from __future__ import annotations

import pytest


@pytest.fixture
def patient(somebody):
    somebody.memory.consent.grant(
        somebody.who, "explicit_consent", categories=("ordinary", "health")
    )
    return somebody


DOSES = [
    ("i take 5 mg of ramipril", "dr walsh put me up to 10 mg of ramipril"),
    ("i take 5 mg of ramipril", "my dose of ramipril is 10 mg now"),
    ("i take 5 mg of ramipril", "ramipril is 10 mg now"),
    ("i take 5 mg of ramipril", "ramipril went up to 10 mg"),
]


@pytest.mark.parametrize(("before", "said"), DOSES)
@pytest.mark.parametrize(
    "between", ["my gym costs 40 euro a month", "im with vodafone for the phone, 40 euro a month"]
)
def test_a_dose_is_another_whatever_was_said_between(patient, before, between, said):
    patient.ends_with((before, between, said), ("5 mg",), ("takes 10 mg of ramipril", "40 euro"))


BESIDE = [
    ("i take 5 mg of ramipril", "i take 50 mg of sertraline now", ("5 mg of ramipril", "50 mg of")),
    ("my dad takes 5 mg of ramipril", "my ramipril is 10 mg now", ("dad takes 5 mg",)),
    ("i take ramipril", "dr walsh also put me on losartan", ("ramipril", "losartan")),
    ("i take ramipril", "dr walsh put me on losartan", ("ramipril", "losartan")),
    ("i take ramipril", "i'm on losartan as well as ramipril now", ("takes ramipril",)),
    ("my mum takes ramipril", "my doctor put me on losartan instead", ("mum takes ramipril",)),
    ("i take sertraline", "my sister's doctor put her on prozac instead", ("takes sertraline",)),
    ("i take ramipril", "i'm off work today", ("takes ramipril",)),
    ("i take ramipril", "my mum came off ramipril", ("takes ramipril",)),
    ("i take ramipril", "i'd come off ramipril if i could", ("takes ramipril",)),
    ("i take ramipril", "20% off ramipril at boots", ("takes ramipril",)),
]


@pytest.mark.parametrize(("before", "said", "stands"), BESIDE)
def test_a_medicine_beside_another_leaves_it(patient, before, said, stands):
    patient.ends_with((before, said), (), stands)


REPLACED = [
    (
        "i take ramipril 10 mg",
        "the ramipril gave me a cough so dr nolan put me on losartan 50 mg",
        "takes ramipril",
        "is on losartan 50 mg",
    ),
    ("i take ramipril", "i'm off ramipril, it's losartan now", "takes ramipril", "losartan"),
    ("i take sertraline", "my doctor put me on prozac instead", "takes sertraline", "on prozac"),
    ("i take ramipril", "they switched me to losartan", "takes ramipril", "on losartan"),
    (
        "i take sertraline",
        "the sertraline didn't work so they put me on prozac",
        "takes sertraline",
        "on prozac",
    ),
    ("i take ramipril", "i'm off ramipril", "takes ramipril", ""),
    ("i take ramipril", "came off ramipril last week", "takes ramipril", ""),
    ("im on ramipril 5mg", "off ramipril, it's losartan now", "is on ramipril", "losartan"),
    ("i take ramipril", "off ramipril, losartan now", "takes ramipril", "losartan"),
    ("im on 5 mg of ramipril", "finally off the ramipril", "is on 5 mg", ""),
]


@pytest.mark.parametrize(("before", "said", "over", "stands"), REPLACED)
def test_a_medicine_in_place_of_another_ends_it(patient, before, said, over, stands):
    patient.ends_with((before, said), (over,), (stands,) if stands else ())


def test_a_medicine_is_known_by_who_prescribed_it(patient):
    patient.ends_with(("dr walsh put me on losartan",), (), ("is on losartan",))


def test_without_consent_a_dose_is_no_price(somebody):
    turns = ("my gym costs 40 euro a month", "dr walsh put me up to 10 mg of ramipril")
    somebody.ends_with(turns, (), ("costs 40 euro a month",))
