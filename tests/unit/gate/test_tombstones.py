"""A belief after events whose words are erased: by what their envelopes say."""

from __future__ import annotations

import pytest

from beliefledger.gate.belief import Belief, folded
from beliefledger.gate.consent import folded as consent_folded
from beliefledger.gate.registry import Registry, default_types
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.belief import MemoryConfirmed, MemoryExpired
from beliefledger.ledger.events.subject import ContentErased, ErasureRequested

REGISTRY = Registry(types={kind.name: kind for kind in default_types()})


@pytest.fixture
def told(scenario, said):
    """Events of one belief as recorded, of what is said in turn; `erased` are the numbers of those
    without words."""

    def tell(*sayings, erased=()):
        recorded, now = [], scenario
        for each in sayings:
            now = now.when(said(**each))
            for event in now.events:
                at = len(recorded) + 1
                recorded.append(record(event, at, gone=at in erased))
        return recorded

    return tell


def record(event, at, *, gone=False, recorded_at=None):
    facts, _ = event.split()
    when = 1_700_000_000_000_000 + at * 1_000_000 if recorded_at is None else recorded_at
    return Recorded(
        at, event.NAME, "b", at, f"e{at}", "t", "s", "a", when, None, None, facts,
        None if gone else event,
    )  # fmt: skip


def after(recorded):
    return folded(recorded, REGISTRY)


def values(held):
    return [each.value for each in held]


PORTO, FARO, BRAGA = (
    {"value": each, "day": day} for day, each in enumerate(("Porto", "Faro", "Braga"))
)


def test_an_erased_admission_leaves_nothing(told):
    assert after(told(PORTO, erased=[1])) == Belief(version=1)


def test_an_erased_change_leaves_no_value_and_ends_the_old_one_loosely(told):
    recorded = told(PORTO, FARO, erased=[2])
    belief = after(recorded)
    assert (belief.current, belief.supersessions, belief.contested) == ((), (), False)
    [porto] = belief.past
    assert (porto.value, porto.ends_loosely) == ("porto", True)
    assert porto.valid_to == max(porto.valid_from, recorded[1].recorded_at)


def test_what_begins_before_takes_the_time_of_what_ends_loosely(told):
    recorded = told(PORTO, FARO, BRAGA, erased=[2])
    recorded[1] = record(
        told(PORTO, FARO)[1].event,
        2,
        gone=True,
        recorded_at=recorded[2].event.memory.valid_from + 9,
    )
    belief = after(recorded)
    assert values(belief.current) == ["braga"]
    assert [each.valid_to for each in belief.past] == [belief.current[0].valid_from]


def test_an_erased_correction_leaves_neither(told, said):
    corrected = {"value": "Faro", "day": 1, "act": "correction"}
    belief = after(told(PORTO, corrected, erased=[2]))
    assert (belief.current, belief.past) == ((), ())


def test_an_erased_change_of_what_is_erased_changes_nothing(told):
    belief = after(told(PORTO, FARO, BRAGA, erased=[1, 2]))
    assert values(belief.current) == ["braga"]
    assert belief.past == ()


def test_mentions_are_as_last_recorded_once_one_is_erased(told):
    again = [PORTO | {"day": day} for day in range(3)]
    recorded = told(*again)
    assert isinstance(recorded[1].event, MemoryConfirmed)
    assert after(recorded).current[0].mentions == 3
    assert after(told(*again, erased=[2])).current[0].mentions == 3
    last = after(told(*again, erased=[3])).current[0]
    assert (last.mentions, last.confidence) == (2, recorded[1].event.confidence)


def test_an_erased_end_is_when_it_was_recorded_at_the_latest(told):
    recorded = told(PORTO)
    memory_id = recorded[0].event.memory_id
    expired = MemoryExpired(memory_id=memory_id, valid_to=5)
    recorded.append(record(expired, 2, gone=True))
    [porto] = after(recorded).past
    assert porto.valid_to == recorded[1].recorded_at
    missing = MemoryExpired(memory_id="nobody", valid_to=5)
    assert after([*told(PORTO), record(missing, 2, gone=True)]).past == ()


def test_only_a_request_about_the_whole_subject_stops_everything():
    some = ErasureRequested(reach="turn", legal_basis="x", positions=((3, 4),))
    consent = consent_folded([record(some, 1)])
    assert not consent.erasing
    assert [at for at in range(1, 7) if consent.is_going(at)] == [3, 4]
    done = ContentErased(
        request="e1", bodies=2, counts={}, commitment="", views=(), probes=(), reach="turn",
        positions=((3, 4),),
    )  # fmt: skip
    assert consent_folded([record(done, 2)], consent).going == ()
    whole = ErasureRequested(reach="subject", legal_basis="x")
    assert consent_folded([record(whole, 1)]).erasing


def test_what_is_going_is_left_out_and_notes_are_not_needed(told):
    recorded = told(PORTO, FARO)
    some = ErasureRequested(reach="turn", legal_basis="x", positions=((2, 2),))
    consent = consent_folded([record(some, 9)])
    assert [each.event is None for each in consent.left(recorded)] == [False, True]
    assert after(consent.left(recorded)) == after(told(PORTO, FARO, erased=[2]))
