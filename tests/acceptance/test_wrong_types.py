"""An id or a name of a wrong type is a mistake of the caller's, whatever verb it is given to."""

from __future__ import annotations

import inspect

import pytest

from beliefledger import open_memory
from beliefledger.ledger.errors import CallerMistake

PARTS = (
    "audit", "conflicts", "consent", "entities", "erasure", "exports", "operations", "policy",
    "proofs", "recalls", "tasks", "teams", "tokens", "types", "vectors", "webhooks",
)  # fmt: skip
NAMES = {
    "subject", "subjects", "memory_id", "belief_id", "decision_id", "turn_id", "recall_id",
    "webhook", "by", "reader", "entity", "member", "team", "task_id", "memory", "turn", "session",
}  # fmt: skip
INSIDE = {("webhooks", "settle"), ("webhooks", "failing"), ("webhooks", "gone")} | {
    ("tokens", "end_request")
}
"""For whoever delivers, or answers: they have the id from the ledger."""
WRONG = (5, b"ana", "a\ud800")


def given(memory):
    """Each verb with each of its ids, and what else it needs."""
    for owner in ("", *PARTS):
        of = getattr(memory, owner) if owner else memory
        for name, verb in inspect.getmembers(of, inspect.ismethod):
            if name.startswith("_") or (owner, name) in INSIDE:
                continue
            parameters = inspect.signature(verb).parameters.values()
            needed = {
                each.name: 1 if "int" in str(each.annotation) else "ana"
                for each in parameters
                if each.default is each.empty and each.kind is not each.VAR_KEYWORD
            }
            for each in parameters:
                if each.name in NAMES and "str" in str(each.annotation):
                    yield f"{owner}.{name}({each.name})", verb, needed, each.name


@pytest.mark.parametrize("wrong", WRONG, ids=["number", "bytes", "no Unicode"])
def test_an_id_of_a_wrong_type_is_a_mistake_of_the_caller_s(tmp_path, wrong):
    with open_memory(tmp_path / "ledger", consent="consent", embedder="hashed-1") as memory:
        memory.remember("ana", "I live in Lisbon.")
        tried = 0
        for what, verb, needed, name in given(memory):
            tried += 1
            try:
                told = verb(**needed | {name: wrong})
                list(told if inspect.isgenerator(told) else ())
            except CallerMistake:
                continue
            except Exception as problem:
                raise AssertionError(f"{what}: {problem!r}") from problem
        assert tried > 120


@pytest.mark.parametrize("wrong", WRONG[:2], ids=["number", "bytes"])
def test_it_says_which_and_what_it_is(tmp_path, wrong):
    with open_memory(tmp_path / "ledger") as memory:
        told = f"subject must be text, not {type(wrong).__name__}"
        with pytest.raises(CallerMistake, match=told):
            memory.beliefs(wrong)
        with pytest.raises(CallerMistake, match=told):
            memory.process(subject=wrong)
        with pytest.raises(CallerMistake, match="by must be text"):
            memory.erase("ana", by=wrong)
        with pytest.raises(CallerMistake, match="is no id"):
            memory.history(wrong)


def test_a_name_in_place_of_a_list_of_categories_is_told_as_that(place):
    with open_memory(place) as memory, pytest.raises(CallerMistake, match=r"list.*\['health'\]"):
        memory.consent.grant("ana", "explicit_consent", categories="health")
