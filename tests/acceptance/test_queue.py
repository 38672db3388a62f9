"""The queue is the log: a turn without an outcome waits, in its subject's order, until it is
done."""

from __future__ import annotations

import pytest
from echoes import echo
from sqlalchemy import event

from beliefledger import open_memory
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.errors import ExtractionUnavailable, IdempotencyKeyReused, InvalidTurn


class Flaky:
    """An extractor that cannot look at some turns, as a model's service sometimes cannot."""

    name = "flaky"

    def __init__(self):
        self.down_for = set()
        self.looked = []

    def extract(self, turn, earlier=()):
        self.looked.append(turn.content)
        if turn.content in self.down_for:
            raise ExtractionUnavailable("The service did not answer.")
        return echo(turn.content)


def test_a_failing_turn_holds_its_lane_and_no_other(place):
    service = Flaky()
    service.down_for = {"two"}
    with open_memory(place, extractor=service) as memory:
        for subject in ("ana", "ben"):
            memory.consent.grant(subject, "consent")
        for words in ("one", "two", "three"):
            memory.record_turn("ana", words)
        memory.record_turn("ben", "four")
        answer = memory.process()
        assert (answer.turns, answer.failed, answer.pending) == (2, 1, 2)
        assert service.looked == ["one", "two", "four"]
        service.down_for = set()
        answer = memory.process()
        assert (answer.turns, answer.failed, answer.pending) == (2, 0, 0)
        assert [belief.value for belief in memory.beliefs("ana")] == ["one", "two", "three"]


def test_a_turn_that_keeps_failing_is_parked_in_sight_and_its_lane_goes_on(place):
    service = Flaky()
    service.down_for = {"two"}
    with open_memory(place, extractor=service, policy={"extraction_tries": 3}) as memory:
        memory.consent.grant("ana", "consent")
        memory.record_turn("ana", "two")
        memory.record_turn("ana", "three")
        parked = [memory.process().parked for _ in range(4)]
        assert parked == [0, 0, 1, 0]
        status = memory.status()
        assert (status.parked_turns, status.pending_turns) == (1, 0)
        assert [belief.value for belief in memory.beliefs("ana")] == ["three"]
        failures = [
            event.facts["attempt"]
            for event in memory.subscribe(types=["extraction.failed.v1"], follow=False)
        ]
        assert failures == [1, 2, 3]


def test_what_was_recorded_before_a_stop_is_processed_after_it(place):
    with open_memory(place, extractor=Flaky()) as memory:
        memory.consent.grant("ana", "consent")
        memory.record_turn("ana", "one")
    with open_memory(place, extractor=Flaky()) as memory:
        assert memory.status().pending_turns == 1
        assert memory.process().turns == 1
        assert [belief.value for belief in memory.beliefs("ana")] == ["one"]


def test_the_same_turn_again_adds_nothing(place):
    with open_memory(place, extractor=Flaky()) as memory:
        first = memory.record_turn("ana", "one", idempotency_key="k")
        again = memory.record_turn("ana", "one", idempotency_key="k")
        assert (first.turn_id, first.position) == (again.turn_id, again.position)
        assert (first.already, again.already) == (False, True)
        assert memory.record_turn("ana", "one", session="s", ordinal=1).already is False
        assert memory.record_turn("ana", "one", session="s", ordinal=1).already is True
        assert memory.record_turn("ana", "one").turn_id != memory.record_turn("ana", "one").turn_id
        assert memory.record_turn("ben", "one", idempotency_key="k").already is False


def test_a_key_used_again_for_other_words_is_refused_and_tells_its_first_use(place, clock):
    with open_memory(place, clock=clock, consent="consent") as memory:
        card = "I live in Lisbon. My card is 4111 1111 1111 1111."
        first = memory.record_turn("ana", card, idempotency_key="k")
        head = memory._log.head().position
        told = f"used for turn {first.turn_id[:10]} on .* UTC, and other words"
        for other in ("I live in Porto.", f"{card} Really."):
            with pytest.raises(IdempotencyKeyReused, match=told) as refused:
                memory.remember("ana", other, idempotency_key="k")
            assert other not in str(refused.value)
            with pytest.raises(InvalidTurn, match=told):
                memory.record_turns([TurnInput("ana", other, idempotency_key="k")])
        twice = [TurnInput("ana", each, idempotency_key="new") for each in ("one", "two")]
        with pytest.raises(IdempotencyKeyReused, match="in the same call") as refused:
            memory.record_turns(twice)
        assert refused.value.turn is twice[1]
        assert memory._log.head().position == head
        assert memory.record_turn("ana", card, idempotency_key="k").already
        decision = memory.store("ana", "red", attribute="colour", idempotency_key="fact")
        with pytest.raises(IdempotencyKeyReused, match=f"used for turn {decision.turn_id[:10]}"):
            memory.store("ana", "blue", attribute="colour", idempotency_key="fact")
        assert memory.store("ana", "red", attribute="colour", idempotency_key="fact") == decision
        memory.erase("ana", turn=first.turn_id, by="dpo")  # nothing is left to compare with
        assert not memory.record_turn("ana", "I live in Porto.", idempotency_key="k").already


def test_secrets_in_a_failure_stay_in_the_body(place):
    service = Flaky()
    service.down_for = {"my words"}
    with open_memory(place, extractor=service) as memory:
        memory.record_turn("ana", "my words")
        memory.process()
        [failed] = memory.subscribe(types=["extraction.failed.v1"], follow=False)
        assert failed.facts["error"] == "ExtractionUnavailable"
        assert "detail" not in failed.facts


def test_an_extractor_that_breaks_holds_up_nobody_else(place):
    service = Flaky()

    def breaks(turn, earlier=()):
        if turn.content == "two":
            raise RuntimeError("a bug in somebody's extractor")
        return None if turn.content == "three" else Flaky.extract(service, turn)

    service.extract = breaks
    with open_memory(place, extractor=service, policy={"extraction_tries": 2}) as memory:
        for subject in ("ana", "ben", "cleo"):
            memory.consent.grant(subject, "consent")
        memory.record_turn("ana", "two")
        memory.record_turn("cleo", "three")
        memory.record_turn("ben", "four")
        assert memory.process().failed == 2
        assert [belief.value for belief in memory.beliefs()] == ["four"]
        assert memory.process().parked == 2
        [first, *_] = memory.subscribe(types=["extraction.failed.v1"], follow=False)
        assert first.facts["error"] == "RuntimeError"


SAID = (
    ("I live in Porto.", "admit"),
    ("I live in Porto.", "confirm"),
    ("I have moved to Lisbon.", "supersede"),
    ("I have asthma.", "queue"),
    ("What a day!", None),
    *((f"I now live in {town}.", "supersede") for town in ("Braga", "Faro")),
    ("I now live in Evora.", "escalate"),
)


def test_remember_answers_what_the_view_of_decisions_says_afterwards(place):
    seen = set()
    with open_memory(place, consent="consent") as memory:
        for number, (said, outcome) in enumerate(SAID):
            receipt, decisions = memory.remember("ana", said, idempotency_key=str(number))
            told = memory.decisions("ana", turn_id=receipt.turn_id)
            assert not receipt.pending
            assert [_plain(each) for each in decisions] == [_plain(each) for each in told]
            assert outcome is None or outcome in {each.outcome for each in decisions}, said
            seen |= {each.outcome for each in decisions}
            again, repeated = memory.remember("ana", said, idempotency_key=str(number))
            assert again.already
            assert [_plain(each) for each in repeated] == [_plain(each) for each in told]
    assert {"admit", "confirm", "supersede", "queue", "escalate"} <= seen


def _plain(decision):
    """Without what became of it since, which nobody tells of what was just decided."""
    return decision.model_copy(update={"became": None})


def test_remember_asks_the_views_little_and_soon_no_more(place):
    """Most of what a `remember` cost were questions to the views, each a round trip to a server.
    Once this process knows that nothing else of the subject waits, it asks none."""
    asked = []

    def note(_connection, _cursor, statement, *_others):
        asked.append(statement)

    with open_memory(place, consent="consent") as memory:
        for number in range(3):
            memory.remember("ben", f"I have {number + 3} lamps.")
        event.listen(memory._core.projector.engine, "before_cursor_execute", note)
        for number in range(2):
            memory.remember("ana", f"I have {number + 3} lamps.")
        assert 0 < len(asked) <= 24, asked
        assert not [each for each in asked if "INTO decisions" in each]
        asked.clear()
        memory.remember("ana", "I have 33 lamps.")
        assert not asked
        assert [each.value for each in memory.beliefs("ana")] == ["33 lamps"]
