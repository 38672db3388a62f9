"""An id or a name of a wrong type is a mistake of the caller's, whatever verb it is given to."""

from __future__ import annotations

import inspect
from datetime import UTC, date, datetime

import pytest

from beliefledger import TurnInput, open_memory
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


def asked(memory, **given):
    """Each verb that takes these arguments, with what else it needs."""
    for name, verb in inspect.getmembers(memory, inspect.ismethod):
        parameters = inspect.signature(verb).parameters
        if not name.startswith("_") and given.keys() <= parameters.keys():
            needed = {
                each.name: 0 if each.name == "start" else "ana"
                for each in parameters.values()
                if each.default is each.empty and each.kind is not each.VAR_KEYWORD
            }
            yield name, verb, needed | given


@pytest.mark.parametrize(
    "wrong",
    [
        *({name: True} for name in ("as_of", "start", "end", "valid_at", "said_at")),
        *({name: 1.5} for name in ("as_of", "start", "valid_at", "said_at", "limit")),
        *({"min_confidence": each} for each in ("a", float("nan"), True, 7, -1)),
        *({"min_importance": each} for each in ("a", float("nan"), 7)),
        {"claim": 5}, {"claim": None}, {"limit": True}, {"limit": "a"},
    ],
    ids=str,
)  # fmt: skip
def test_an_argument_of_a_wrong_type_is_a_mistake_of_the_caller_s(somebody, wrong):
    memory, tried = somebody.memory, 0
    somebody.remember("I live in Lisbon.")
    for name, verb, given in asked(memory, **wrong):
        named = {"subject": somebody.who} if "subject" in given else {}
        try:
            told = verb(**given | named)
        except CallerMistake:
            tried += 1
        else:
            raise AssertionError(f"{name}: {told}")
    assert tried, "no verb takes it"


@pytest.mark.parametrize("seconds", [1_780_000_000, 1_780_000_000_000, 7, -5])
def test_seconds_are_not_taken_for_microseconds(somebody, seconds):
    memory, name = somebody.memory, somebody.who
    for ask in (
        lambda: memory.record_turn(name, "I live in Lisbon.", said_at=seconds),
        lambda: memory.record_turns([TurnInput(name, "I live in Lisbon.", said_at=seconds)]),
        lambda: memory.remember(name, "I live in Lisbon.", said_at=seconds),
        lambda: memory.store(name, "Lisbon", attribute="home", valid_from=seconds),
        lambda: memory.beliefs(name, valid_at=seconds),
        lambda: memory.search(name, "home", valid_at=seconds),
    ):
        with pytest.raises(CallerMistake, match=r"since 1970.*seconds times 1,000,000"):
            ask()
    with pytest.raises(CallerMistake, match="microseconds since 1970"):
        memory.beliefs(name, as_of=1_780_000_000_000)


def test_a_date_is_that_day_as_its_text_is(somebody):
    memory, name = somebody.memory, somebody.who
    memory.remember(name, "I live in Lisbon.", said_at=date(2026, 3, 1))
    [belief] = memory.beliefs(name, valid_at=date(2026, 3, 1))
    assert belief.valid_from == datetime(2026, 3, 1, tzinfo=UTC)
    assert memory.beliefs(name, valid_at=date(2026, 2, 28)) == []
    assert memory.as_of(date(2026, 3, 1)) == memory.as_of("2026-03-01")
    with pytest.raises(CallerMistake, match=r"is not a time: give a datetime, 2026-03-01 or"):
        memory.beliefs(name, valid_at=1.5)
