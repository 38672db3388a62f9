"""After less than a person is erased: what an envelope still tells of it, and whether somebody who
writes can find out by guessing what it was; on both backends."""

from __future__ import annotations

import json

import pytest

from beliefledger import open_memory
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.errors import InvalidTurn
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.events.turn import CandidateProposed, GateDecided, TurnRecorded
from beliefledger.ledger.streams import query_digest, session_tag, tag
from beliefledger.reading.subject_record import SHOWN
from beliefledger.search.options import SearchOptions

SAID = "I take 20 mg of insulin. My password is hunter2."
WRONG = SAID.replace("20", "40")
CLAIM = "User takes 20 mg of insulin"
GUESS = {"session": "talk with Dr. House", "ordinal": 7}
SHAPES = ("health", "insulin", "password", "fact", "preference", "medication")


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        opened.consent.grant("ana", "explicit_consent", categories=["health"])
        opened.record_turn("ana", SAID, **GUESS)
        opened.process()
        yield opened


def turn_of(memory):
    [belief] = memory.beliefs("ana")
    return belief.evidence[0].turn_id


def envelopes(memory):
    """What is left of everything about the subject, with what is gone of it."""
    ref = memory._log.subject("ana")
    return [
        row.envelope.decode()
        for row in memory._log.raw()
        if json.loads(row.envelope)["subject_ref"] == ref
    ]


def sound(memory):
    checked = memory.proofs.verify()
    assert checked.ok, checked
    for view in memory.operations.rebuild(verify=True):
        assert view.same, view
    audit = memory.audit.counts()
    assert audit.adds_up, [each for each in audit.sums if not each.adds_up]


# What stands in envelopes


@pytest.mark.parametrize("reach", ["memory", "turn", "session"])
def test_no_envelope_tells_category_type_scores_or_kinds_of_secrets(memory, reach):
    memory.search("ana", "what medicine?", session=GUESS["session"])
    memory.recalls.list("ana")
    what = {
        "memory": memory.beliefs("ana")[0].memory_id,
        "turn": turn_of(memory),
        "session": GUESS["session"],
    }
    memory.erase("ana", **{reach: what[reach]}, by="dpo")
    assert memory.beliefs("ana") == []
    left = envelopes(memory)
    assert len(left) > 8
    for envelope in left:
        facts = json.loads(envelope)["facts"]
        for shape in SHAPES:
            assert f'"{shape}"' not in envelope, envelope
            assert f"={shape}" not in envelope, envelope
        assert not facts.keys() & {"type", "s", "r", "e", "t", "c", "base", "confidence"}, facts
        assert not facts.keys() & {"importance", "categories", "grant", "redacted", "session_tag"}
    sound(memory)


def test_special_is_all_that_is_told_of_a_category(memory):
    [decided] = [each for each in memory._log.read() if each.type == GateDecided.NAME]
    assert "permission.category=special" in decided.facts["trace"]
    granted = [json.loads(each)["facts"] for each in envelopes(memory) if "consent.granted" in each]
    assert [each["special"] for each in granted] == [False, True]


def test_of_what_is_there_everything_is_still_told_and_replayed(memory):
    [decision] = memory.decisions("ana")
    assert (decision.type, decision.claim) == ("fact", CLAIM)
    assert decision.confidence > 0.5
    assert memory.explain(decision.memory_id).scores["t"] == 0.15
    assert memory.audit.replay(decision.decision_id).verdict == "same"
    assert ("health",) in {each.categories for each in memory.consent.list("ana")}
    sound(memory)


def test_of_what_is_gone_outcome_and_reason_are_counted_and_no_more_is_told(memory):
    before = memory.audit.counts().decisions
    memory.erase("ana", turn=turn_of(memory), by="dpo")
    assert memory.audit.counts().decisions == before
    [decision] = memory.decisions("ana")
    assert (decision.type, decision.claim, decision.confidence) == (None, None, None)
    assert (decision.outcome, decision.reason) == ("admit", "truth.new")
    assert memory.audit.replay(decision.decision_id).verdict == "inputs destroyed"
    sound(memory)


def test_retention_says_special_at_most(memory, clock):
    memory.policy.adopt({"retention_days": {"health": 1}}, by="lea")
    clock.ahead(3 * 86_400)
    memory.erasure.erase_due()
    [erasure] = memory.erasure.list("ana")
    assert (erasure.reach, erasure.of) == ("retention", "special")
    assert "health" not in "".join(envelopes(memory))


# Guessing what was searched for, or in which session


def test_a_digest_of_a_query_confirms_no_guess(memory):
    ref = memory._log.subject("ana")
    memory.search("ana", "insulin", session="s")
    memory.search("ana", "insulin", session="s")
    memory.recalls.record_shown("ana", memory.beliefs("ana"), query="insulin", session="s")
    memory.recalls.list("ana")
    recalls = [each for each in memory._log.of_subject(ref) if each.type == MemoriesRecalled.NAME]
    assert len({each.facts["query_digest"] for each in recalls}) == 3
    key = memory._log.keys(ref).ids
    for each in recalls:
        assert each.facts["query_digest"] == query_digest(key, each.event.salt, "insulin")
        assert each.facts["query_digest"] != tag(key, "query", "insulin")
        assert "session_tag" not in each.facts
    searched = [each.event_id for each in recalls if each.facts["ranker"] != SHOWN]
    memory.erase("ana", turn=turn_of(memory), by="dpo")
    for each in searched:
        left = memory._log.find(each)
        assert (left.event.asked, left.event.salt, left.event.session_tag) == (None, None, None)
    sound(memory)


def test_a_replay_of_a_search_finds_its_words_as_before(memory):
    answer = memory.search("ana", "insulin")
    assert answer.results
    [recall] = memory.recalls.list("ana")
    assert memory.audit.replay_recall(recall.recall_id).verdict == "same"


def test_the_tag_of_a_session_is_in_no_envelope(memory):
    ref = memory._log.subject("ana")
    told = session_tag(memory._log.keys(ref).ids, GUESS["session"])
    memory.search("ana", "insulin", session=GUESS["session"])
    memory.recalls.list("ana")
    assert told not in "".join(envelopes(memory))
    assert memory.erasure.preview("ana", session=GUESS["session"]).turns == 1


# Telling an erased turn again


def answers_to(memory, say, right, wrong):
    """What is answered to a guess that is right and to one that is wrong, each said twice."""
    return [[say(memory, each) for _ in range(2)] for each in (right, wrong)]


def record(memory, words):
    before = memory._log.head().position
    told = memory.record_turn("ana", words, **GUESS)
    return told, told.position - before, memory._log.head().position - before


def test_a_right_guess_is_answered_as_a_wrong_one(memory):
    first = turn_of(memory)
    memory.erase("ana", turn=first, by="dpo")
    right, wrong = answers_to(memory, record, SAID, WRONG)
    for (told, after, appended), (again, *_) in (right, wrong):
        assert (told.already, after, appended) == (False, 1, 1)
        assert (again.already, again.turn_id, again.position) == (True, told.turn_id, told.position)
        assert len(told.turn_id) == len(first)
    ids = {right[0][0].turn_id, wrong[0][0].turn_id}
    assert len(ids | {first}) == 3, "nobody who saw the id of the turn knows it again"
    facts = [memory._log.read_at([each[0][0].position]) for each in (right, wrong)]
    [one], [other] = [list(each.values()) for each in facts]
    assert one.facts == other.facts
    assert one.event.content == "", "it stays erased"
    assert one.event.session is None
    memory.process()
    assert [each.text for each in memory.beliefs("ana")] == [CLAIM.replace("20", "40")]
    assert SAID[:20] not in "".join(
        each.event.model_dump_json() for each in memory._log.read() if each.event is not None
    )
    sound(memory)


def test_a_withheld_turn_is_found_by_nobody_and_never_looked_at(memory):
    memory.erase("ana", turn=turn_of(memory), by="dpo")
    told = memory.record_turn("ana", SAID, **GUESS)
    done = memory.process()
    assert (done.turns, done.failed) == (1, 0)
    assert memory.beliefs("ana") == []
    found = memory.search("ana", "insulin", options=SearchOptions(include=["episodes", "memories"]))
    assert not found.results
    assert told.turn_id not in {each.id for each in found.results}
    sound(memory)


def test_one_that_was_erased_again_is_again_as_unknown(memory):
    memory.erase("ana", turn=turn_of(memory), by="dpo")
    guesses = [SAID, WRONG]
    for _ in range(2):
        told = [memory.record_turn("ana", each, **GUESS) for each in guesses]
        assert [each.already for each in told] == [False, False]
        for each in told:
            memory.erase("ana", turn=each.turn_id, by="dpo")
    sound(memory)


def test_in_a_batch_it_is_the_same(memory):
    memory.erase("ana", turn=turn_of(memory), by="dpo")
    turns = [TurnInput("ana", each, **GUESS) for each in (SAID, "Hello there.", SAID)]
    told = memory.record_turns(turns)
    assert [each.already for each in told] == [False, False, True]
    assert told[0].position + 1 == told[1].position
    assert [each.already for each in memory.record_turns(turns)] == [True, True, True]
    sound(memory)


def test_a_turn_that_is_on_its_way_out_is_answered_alike(memory):
    ref = memory._log.subject("ana")
    first = memory._log.read_stream(turn_of(memory))[0]
    eraser = memory._log.eraser
    from beliefledger.ledger.eraser import Wanted

    wanted = Wanted(ref, "turn", first.stream, (first.position,))
    [erasure] = eraser.request(lambda: [wanted], actor="system", legal_basis="request")
    memory._gate.forget()
    told = memory.record_turn("ana", SAID, **GUESS)
    assert (told.already, told.turn_id == first.stream) == (False, False)
    eraser.destroy(erasure)
    assert memory.record_turn("ana", SAID, **GUESS).already


def remember(memory, words):
    receipt, decisions = memory.remember(
        "ana", words, session="s", said_at="2026-01-01", idempotency_key=f"k {words}"
    )
    return receipt, decisions


def test_remembering_is_answered_alike(memory):
    receipt, _ = remember(memory, SAID)
    memory.erase("ana", turn=receipt.turn_id, by="dpo")
    for each in list(memory.beliefs("ana")):
        memory.erase("ana", memory=each.memory_id, by="dpo")
    right, wrong = answers_to(memory, remember, SAID, WRONG)
    for (told, decided), (again, same) in (right, wrong):
        assert (told.already, again.already) == (False, True)
        assert again.turn_id == told.turn_id
        [one], [other] = decided, same
        assert one.claim in {CLAIM, CLAIM.replace("20", "40")}
        assert (one.outcome, one.subject, one.type) == ("admit", "ana", "fact")
        assert (one.decision_id, one.memory_id) == (other.decision_id, other.memory_id)
        assert one.position == told.position + 3
        assert one.turn_id == told.turn_id
    assert {each.evidence[0].turn_id for each in memory.beliefs("ana")} == {wrong[0][0].turn_id}
    sound(memory)


def store(memory, value):
    return memory.store(
        "ana", value, attribute="doctor", said_at="2026-01-01", idempotency_key=f"k {value}"
    )


def test_storing_is_answered_alike(memory):
    first = store(memory, "House")
    memory.erase("ana", turn=first.turn_id, by="dpo")
    right, wrong = answers_to(memory, store, "House", "Wilson")
    for one, other in (right, wrong):
        assert (one.outcome, one.reason) == ("admit", "truth.new")
        assert (one.decision_id, one.memory_id) == (other.decision_id, other.memory_id)
        assert one.turn_id != first.turn_id
        assert one.memory_id != first.memory_id
    assert [each.value for each in memory.beliefs("ana", topic="general")] == ["Wilson"]
    sound(memory)


def test_a_key_of_another_turn_is_refused_alike(memory):
    for key, words in (("a", "Hello."), ("b", "Good evening.")):
        memory.record_turn("ana", words, idempotency_key=key)
    memory.process()
    [first] = [e.stream for e in memory._log.read() if _says(e, "Hello.")]
    memory.erase("ana", turn=first, by="dpo")
    memory.record_turn("ana", "Hello.", idempotency_key="a")
    for key in "ab":
        with pytest.raises(InvalidTurn, match="belongs to another turn"):
            memory.store("ana", "x", attribute="y", idempotency_key=key)


def _says(recorded, words):
    return isinstance(recorded.event, TurnRecorded) and recorded.event.content == words


def test_the_kinds_of_secrets_go_with_the_words(memory):
    turn = turn_of(memory)
    [first] = memory._log.read_stream(turn, upto=1)
    assert first.facts["secrets"] == 1
    assert first.event.redacted == {"password": 1}
    [proposed] = [e for e in memory._log.read_stream(turn) if e.type == CandidateProposed.NAME]
    assert proposed.event.candidate.category == "health"
    memory.erase("ana", turn=turn, by="dpo")
    [first, *_] = memory._log.read_stream(turn)
    assert (first.event, first.facts["secrets"]) == (None, 1)


def test_a_repeat_that_is_understood_by_the_turn_before_it_is_answered_alike(new_place):
    """ "Yes, I do." says something only after a question."""

    def told(erased):
        with open_memory(new_place()) as memory:
            memory.consent.grant("ana", "consent")
            memory.record_turn(
                "ana", "Do you live in Porto?", role="assistant", session="s1",
                said_at="2026-02-27",
            )  # fmt: skip
            memory.process()
            if erased:
                receipt, _ = memory.remember(
                    "ana", "Yes, I do.", session="s1", said_at="2026-03-01"
                )
                memory.erase("ana", turn=receipt.turn_id, by="dpo")
            receipt, decisions = memory.remember(
                "ana", "Yes, I do.", session="s1", said_at="2026-03-01"
            )
            assert receipt.already is False
            return [(each.outcome, each.reason, each.claim) for each in decisions]

    assert told(erased=True) == told(erased=False) != []
