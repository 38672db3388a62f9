"""A ledger in which everything has happened that can: rebuilt, replayed, copied, erased."""

from __future__ import annotations

import pytest
from sqlalchemy import inspect, text

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.ledger.errors import ExtractionUnavailable
from beliefledger.ledger.events import BY_NAME
from beliefledger.operations.copy import copy

MEDICATION = {
    "name": "medication",
    "prior": 0.15,
    "half_life_days": 90,
    "slot": "attribute",
    "attribute": "medication.{name}",
    "fields": {
        "name": {"description": "what it is", "required": True},
        "dose": {"description": "how much of it"},
    },
    "patterns": ["take {dose} of {name}"],
}
ANA = [
    ("2026-03-02", "I report to Sarah Chen."),
    ("2026-03-03", "Sarah's role is VP of Platform."),
    ("2026-03-04", "By Sarah I mean Sarah Chen."),
    ("2026-03-05", "I had lunch with Tom last Tuesday."),
    ("2026-03-06", "I take 50 mg of sertraline every morning."),
    ("2026-03-07", "I prefer tea."),
    ("2026-03-08", "I use vim."),
    ("2026-03-09", "I switched to emacs."),
]


class Failing:
    """Cannot be reached while `down`."""

    name = "failing/1"

    def __init__(self):
        from beliefledger.gate.rules import RuleExtractor

        self.down = False
        self._rules = RuleExtractor()

    def extract(self, turn, earlier=()):
        if self.down:
            raise ExtractionUnavailable("The model is away.")
        return self._rules.extract(turn, earlier)


@pytest.fixture
def told(new_place):
    """A place with a ledger in which every kind of thing happened to ana, and something to ben."""
    place, extractor = new_place(), Failing()
    with open_memory(place, extractor=extractor) as memory:
        for subject in ("ana", "ben"):
            memory.consent.grant(subject, "consent")
            memory.consent.grant(subject, "explicit_consent", categories=["health"])
        for at, words in ANA:
            memory.remember("ana", words, session=at, said_at=at)
        memory.remember("ben", "I live in Porto.")
        memory.types.add(MEDICATION)
        assert memory.types.backfill("medication", apply=True).moved == 1
        for words in ("the user's favorite drink is tea", "the favorite drink of the user is tea"):
            memory.store("ana", "tea", attribute=f"drink.{len(words)}", text=words, type="fact")
        merged = memory.operations.consolidation.consolidate("ana", apply=True)
        assert merged.clusters
        memory.recalls.record_shown("ana", memory.beliefs("ana"), session="2026-03-09", query="tea")
        kept_for_a_day = memory.store(
            "ana",
            "blue",
            attribute="mood.today",
            said_at="2026-03-01",
            details=Details(expires_at="2026-03-02"),
        )
        assert memory.operations.ageing.expire() == [kept_for_a_day.memory_id]
        for job in ("decay", "checkpoints"):
            memory.operations.jobs.run(job)
        extractor.down = True
        memory.record_turn("ana", "I moved to Faro.")
        while memory.status(digests=False).parked_turns == 0:
            memory.process()
        extractor.down = False
        memory.operations.extraction.retry(by="Ina")
        memory.process()
        assert "Faro" in {belief.value for belief in memory.beliefs("ana")}
    return place


def sound(memory):
    assert memory.proofs.verify().ok
    assert all(view.same for view in memory.operations.rebuild(verify=True))
    replayed = memory.audit.replay_all()
    assert (replayed.different, replayed.same > 0) == (0, True)
    return replayed


def contents(memory):
    return {view.name: view.content_digest for view in memory.status(digests=True).views}


def test_it_can_be_rebuilt_and_replayed(told):
    with open_memory(told) as memory:
        assert sound(memory).inputs_destroyed == 0


def test_its_copy_says_the_same(told, new_place):
    destination = new_place()
    copy(told, destination)
    with open_memory(told) as memory, open_memory(destination) as there:
        assert contents(there) == contents(memory)
        assert there.status(digests=False).position == memory.status(digests=False).position
        sound(there)
        assert [each.text for each in there.beliefs("ana")] == [
            each.text for each in memory.beliefs("ana")
        ]
        assert there.related("ana", "User", "reports-to") == memory.related(
            "ana", "User", "reports-to"
        )


def test_nothing_of_somebody_erased_is_left_in_any_view(told):
    with open_memory(told) as memory:
        ref = memory._log.subject("ana")
        assert memory.erase("ana", by="Ina").bodies > 0
        assert sound(memory).inputs_destroyed > 0
        assert memory.beliefs("ana") == memory.operations.ageing.decay("ana") == []
        with memory._core.projector.reading() as connection:
            for table in inspect(connection).get_table_names():
                columns = {each["name"] for each in inspect(connection).get_columns(table)}
                if "subject_ref" in columns and not table.startswith("decisions"):
                    rows = connection.execute(
                        text(f"SELECT count(*) FROM {table} WHERE subject_ref = :ref"),
                        {"ref": ref},
                    ).scalar()
                    assert rows == 0, table
        assert [belief.value for belief in memory.beliefs("ben")] == ["Porto"]


def test_most_kinds_of_events_happened_in_it(told):
    with open_memory(told) as memory, memory.subscribe(follow=False) as events:
        happened = {event.type for event in events}
    assert happened >= {
        "entity.recognised.v2", "entity.merged.v1", "memory.moved_out.v1", "memory.moved_in.v2",
        "memories.consolidated.v2", "memories.recalled.v3", "memory.expired.v1", "job.ran.v1",
        "extraction.failed.v1", "turn.parked.v2", "turn.retried.v1", "type.registered.v1",
    }  # fmt: skip
    assert happened <= BY_NAME.keys()
