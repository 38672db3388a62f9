"""Memories whose fields are chosen: one or thousands, decided about like any other."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta

import pytest
from command_line import CliRunner
from served import calling, served

from beliefledger import Details, InvalidTurn, MemoryInput, NotPermitted, open_memory
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.tools.cli import app


@pytest.fixture
def memory(place):
    with open_memory(place, consent="consent") as opened:
        yield opened


@pytest.mark.parametrize(
    ("given", "claim"),
    [
        ({"attribute": "favourite colour"}, "favourite colour is red"),
        ({"attribute": "favourite.colour"}, "favourite colour is red"),
        ({"attribute": "colour", "text": "Ana: likes red."}, "Ana: likes red."),
        ({"attribute": "colour", "details": Details(negated=True)}, "colour is not red"),
        ({"attribute": "colour", "details": Details(entity="Rex")}, "Rex: colour is red"),
        ({"attribute": "tie", "details": Details(context="at work")}, "tie is red (at work)"),
    ],
)
def test_the_claim_is_as_given(memory, given, claim):
    assert memory.store("ana", "red", **given).claim == claim
    assert [each.text for each in memory.beliefs("ana")] == [claim]


@pytest.mark.parametrize(
    ("value", "given", "outcome"),
    [
        ("HIV positive", {"attribute": "health"}, "queue"),
        ("fine", {"attribute": "health.today"}, "queue"),
        ("gay", {"attribute": "sexual orientation"}, "reject"),  # which the policy prohibits
        ("shoplifting", {"attribute": "criminal record"}, "reject"),
        ("catholic", {"attribute": "religion"}, "queue"),
        ("none", {"attribute": "religion"}, "queue"),
        ("Ver.di", {"attribute": "union"}, "queue"),
        ("depression", {"attribute": "note1", "text": "Ana suffers from depression"}, "queue"),
        ("50 mg", {"attribute": "medication", "details": Details(entity="sertraline")}, "queue"),
        (
            "tea",
            {"attribute": "drink", "details": Details(context="while she has cancer")},
            "queue",
        ),
        ("dark mode", {"attribute": "theme"}, "admit"),
        ("mint", {"attribute": "car condition"}, "admit"),
        ("Aetna", {"attribute": "insurer", "text": "Ana's health insurance is Aetna"}, "admit"),
    ],
)
def test_what_is_of_a_special_category_needs_consent_that_names_it(memory, value, given, outcome):
    decided = memory.store("ana", value, **given)
    assert decided.outcome == outcome
    assert len(memory.beliefs("ana")) == (outcome == "admit")
    told = memory.context("ana", f"what is known of {value}?").content
    assert (value in told) == (outcome == "admit")
    if outcome == "queue":
        assert decided.reason == "permission.special_category"
        [category] = {each.candidate.category for each in proposed(memory)}
        memory.consent.grant("ana", "explicit_consent", categories=[category])
        assert memory.store("ana", value, **given).outcome == "admit"


def proposed(memory):
    return [each.event for each in memory._log.read() if each.type.startswith("candidate.proposed")]


def test_a_value_of_a_special_category_does_not_come_in_by_a_change(memory):
    red = memory.store("ana", "red", attribute="colour")
    assert memory.update(red.memory_id, value="HIV positive", by="lea").outcome == "queue"
    _, decisions = memory.correct(red.memory_id, "no, I am HIV positive")
    assert [each.claim for each in decisions if each.outcome == "admit"] == ["User: no"]
    assert memory.beliefs("ana") == []
    assert "HIV" not in memory.context("ana", "what is the matter with Ana?").content


def test_many_are_decided_one_after_the_other(memory):
    facts = [MemoryInput("ana", str(size), "shoe size") for size in (38, 39, 39)]
    facts += [MemoryInput("ben", "42", "shoe size")]
    decisions = memory.store_many(facts, by="Ina")
    assert [each.outcome for each in decisions] == ["admit", "supersede", "confirm", "admit"]
    assert [each.subject for each in decisions] == ["ana", "ana", "ana", "ben"]
    assert [each.text for each in memory.beliefs("ana")] == ["shoe size is 39"]
    assert decisions == [
        each.model_copy(update={"became": None})
        for each in (memory.decision(made.decision_id) for made in decisions)
    ]
    [actor] = {each.actor for each in memory._log.read() if each.type == TurnRecorded.NAME}
    assert memory.actor_name(actor) == "Ina"
    for each in decisions:
        assert memory.audit.replay(each.decision_id).verdict == "same"


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_what_is_stored_with_its_times_does_not_matter(memory, order):
    cities = [("Lisbon", march(1)), ("Rome", march(3)), ("Porto", march(5))]
    memory.store_many(
        MemoryInput("ana", city, attribute="residence.city", valid_from=begin)
        for city, begin in (cities[at] for at in order)
    )
    assert [each.value for each in memory.beliefs("ana")] == ["Porto"]
    for city, begin in cities:
        assert [each.value for each in memory.beliefs("ana", valid_at=begin)] == [city]
    assert memory.beliefs("ana", valid_at=march(1) - timedelta(hours=1)) == []


def test_what_was_said_to_have_long_been_so_is_so_now(memory):
    memory.remember("ana", "I live in Porto.", said_at=march(1))
    memory.remember("ana", "I have lived in Lisbon since January 2026.", said_at=march(5))
    assert [each.value for each in memory.beliefs("ana")] == ["Lisbon"]


def march(day: int) -> datetime:
    return datetime(2026, 3, day, 12, tzinfo=UTC)


def test_many_take_few_appends(memory):
    appends = []
    memory._log.appended = appends.append
    decisions = memory.store_many(MemoryInput("ana", str(n), f"thing {n}") for n in range(1_200))
    assert {each.outcome for each in decisions} == {"admit"}
    assert len(memory.beliefs("ana")) == len({each.memory_id for each in decisions}) == 1_200
    assert len(appends) <= 3 + 3  # the first ones register the subject and grant the basis


def test_stored_again_under_their_keys_they_are_the_same(memory):
    def fact(number, value):
        return MemoryInput("ana", value, f"thing {number}", idempotency_key=f"row {number}")

    first = memory.store_many([fact(1, "a"), fact(2, "b"), fact(1, "a")])
    assert first[0] == first[2]
    again = memory.store_many([fact(1, "a"), fact(2, "b"), fact(3, "c")])
    assert again[:2] == first[:2]
    assert len(memory.decisions("ana")) == 3
    memory.record_turn("ana", "I ski.", idempotency_key="said")
    with pytest.raises(InvalidTurn, match="belongs to another turn"):
        memory.store("ana", "x", attribute="y", idempotency_key="said")


def test_one_that_is_erased_stays_erased_when_it_is_stored_again(memory):
    fact = MemoryInput("ana", "red", "colour", idempotency_key="1")
    [first] = memory.store_many([fact])
    memory.erase("ana", turn=first.turn_id, by="Ina")
    [again] = memory.store_many([fact])
    assert (again.outcome, again.claim) == ("admit", "colour is red")
    assert memory.beliefs("ana") == []


def test_nothing_is_written_where_one_is_wrong(memory):
    before = memory.status(digests=False).position
    good = MemoryInput("ana", "red", "colour")
    for wrong, words in (
        (MemoryInput("ana", " ", "colour"), "attribute and value must not be empty"),
        (MemoryInput("ana", "red", "colour", confidence=2), "confidence is 2"),
        (MemoryInput("ana", 39, "shoe size"), "must be text"),
        (MemoryInput("ana", "password: hunter22", "note"), "holds a secret"),
        (MemoryInput("", "red", "colour"), "subject is empty"),
        ({"subject": "ana", "attribute": "colour", "value": "red"}, "is a MemoryInput"),
    ):
        with pytest.raises(InvalidTurn, match=words):
            memory.store_many([good, wrong])
    assert memory.status(digests=False).position == before
    assert memory.store_many([]) == []


def test_without_a_basis_it_is_refused_and_of_an_erased_subject_not_taken(place):
    with open_memory(place) as memory:
        assert memory.store("ana", "red", attribute="colour").reason == "permission.no_consent"
        memory.erase("ana", by="Ina")
        with pytest.raises(NotPermitted):
            memory.store_many([MemoryInput("ben", "red", "c"), MemoryInput("ana", "red", "c")])
        assert memory.decisions("ben") == []


def run(place, *words, **more):
    return CliRunner().invoke(app, ["--ledger", str(place), "store", *words], **more)


def test_the_command(place, tmp_path):
    told = run(place, "-s", "ana", "favourite colour", "red", "--consent", "consent")
    assert told.exit_code == 0, told.output
    assert "1 memory stored: admit 1." in told.stdout
    assert "favourite colour is red" in told.stdout
    lines = [
        {"attribute": "shoe size", "value": "39", "topic": "general"},
        {"subject": "ben", "attribute": "shoe size", "value": "42", "said_at": "2026-01-02"},
    ]
    file = tmp_path / "facts.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    told = run(place, "--file", str(file), "-s", "ana", "--consent", "consent", "--json")
    assert [each["subject"] for each in json.loads(told.stdout)] == ["ana", "ben"]
    told = run(place, "--file", "-", "-s", "ana", input='{"attribute": "a", "value": "b"}\n')
    assert told.exit_code == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 2 of - is not JSON. Nothing was stored."),
        ('{"value": "red"}', "line 2 of -: A memory to store needs attribute."),
        ("[]", "is a mapping"),
        ('{"attribute": "a", "value": "b", "colour": 1}', "has no field 'colour'"),
        ('{"attribute": "a", "value": "b", "confidence": 7}', "confidence is 7"),
    ],
)
def test_a_line_that_is_wrong_is_named(place, line, words):
    run(place, "-s", "ana", "colour", "red", "--consent", "consent")
    first = '{"attribute": "x", "value": "y"}'
    told = run(place, "--file", "-", "-s", "ana", input=f"{first}\n{line}\n")
    assert told.exit_code == 2
    assert words in told.stderr
    with open_memory(place) as memory:
        assert len(memory.beliefs("ana")) == 1


def test_what_is_missing_is_asked_for(place):
    for words in ((), ("colour", "red"), ("-s", "ana", "colour"), ("--file", "nowhere")):
        assert run(place, *words).exit_code == 2
    assert run(place, "--file", "-", "colour", "red").exit_code == 2


def test_a_type_that_there_never_was_is_refused_at_every_door(memory, place):
    store = {"value": "b", "attribute": "a", "type": "fcat"}
    with pytest.raises(
        InvalidTurn, match=r"type: there is no 'fcat'; did you mean fact.*there are"
    ):
        memory.store("ana", **store)
    with pytest.raises(InvalidTurn, match="there is no 'fcat'"):
        memory.store_many([MemoryInput("ana", "b", "a"), MemoryInput("ana", **store)], by="lea")
    with served(memory, worker=False) as server, calling(server) as client:
        refused = client.post("memories", json=store)
        assert (refused.status_code, refused.json()["code"]) == (422, "InvalidTurn")
        refused = server.call(server.token(), "remember_fact", **store)
        assert refused["code"] == "INVALID_PARAM"
        assert "there is no '…'; did you mean fact" in refused["error"]
    words = ["--ledger", place, "store", "-s", "ana", "a", "b", "--type", "fcat"]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 2
    said = " ".join(answer.stderr.split())
    assert "there is no 'fcat'; did you mean fact? there are: " in said
    assert "beliefledger types add" in said
    assert memory.decisions("ana") == memory.beliefs("ana") == []


def test_a_refusal_of_a_person_s_acts_names_the_next_step(memory, place):
    memory.remember("ana", "I have asthma.")
    [waits] = memory.decisions("ana", waits=True)
    memory.conflicts.review(waits.decision_id, approve=False, by="lea")
    memory.remember("ben", "I live in Porto.")
    memory.erase("ben", by="lea")
    short = waits.decision_id[:10]
    for words, says, code in (
        (
            ("consent", "withdraw", "-s", "ana", "--by", "lea", "--basis", "foo"),
            "'foo' is not a lawful basis of the policy: consent, ", 2,
        ),
        (
            ("consent", "withdraw", "-s", "ana", "--by", "lea", "--basis", "contract"),
            "beliefledger consent list --subject ana", 3,
        ),
        (
            ("consent", "grant", "-s", "ana", "--basis", "consent", "--expires", "2020-01-01"),
            "since 2020-01-01T00:00:00Z. Give a time to come, or leave it out (--expires).", 3,
        ),
        (
            ("conflicts", "review", waits.decision_id, "--approve", "--by", "lea"),
            f"beliefledger explain {short}", 3,
        ),
        (
            ("remember", "-s", "ben", "I live in Porto."),
            "beliefledger erasure register SUBJECT --by NAME.", 3,
        ),
    ):  # fmt: skip
        answer = CliRunner().invoke(app, ["--ledger", place, *words])
        assert says in " ".join(answer.stderr.split()), words
        assert answer.exit_code == code, words
    assert CliRunner().invoke(app, ["--ledger", place, "explain", short]).exit_code == 0
