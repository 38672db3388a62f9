"""What may be kept about a subject, folded from the subject's stream, erased or not."""

from __future__ import annotations

import pytest

from beliefledger.gate.consent import DEFAULT_GRANT, Consent, Grant, folded
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.belief import MemoryRevoked
from beliefledger.ledger.events.kind import Event
from beliefledger.ledger.events.subject import (
    ConsentGranted,
    ConsentWithdrawn,
    ContentErased,
    ErasureRequested,
)


def record(event: Event, at: int, *, gone: bool = False) -> Recorded:
    facts, _ = event.split()
    return Recorded(
        at, event.NAME, "s", at, f"e{at}", "t", "s", "a", at, None, None, facts,
        None if gone else event,
    )  # fmt: skip


def granted(**given):
    plain = {
        "basis": "consent", "categories": ("ordinary", "health"), "purpose": "assistance",
        "scope": "team", "expires_at": 50, "special": True,
    }  # fmt: skip
    return ConsentGranted(**(plain | given))


def grant(id_, **given):
    plain = {
        "basis": "consent", "categories": frozenset({"ordinary", "health"}),
        "purpose": "assistance", "scope": "team", "expires_at": 50,
    }  # fmt: skip
    return Grant(id=id_, **(plain | given))


def erasing(**given):
    return ErasureRequested(legal_basis="x", **({"reach": "turn"} | given))


def erased(request):
    return ContentErased(
        request=request, bodies=2, counts={}, commitment="", views=(), probes=(), reach="turn",
        positions=((3, 4),),
    )  # fmt: skip


def test_nobody_has_consented_to_anything_at_first():
    assert folded([]) == Consent(version=0, grants=(), erasing=False, going=())


@pytest.mark.parametrize("gone", [False, True])
def test_grants_come_and_go_and_name_their_categories_until_they_are_erased(gone):
    events = [granted(), granted(scope="subject", expires_at=None), granted(basis="contract")]
    recorded = [record(event, at, gone=gone) for at, event in enumerate(events, start=1)]
    left = {"categories": frozenset()} if gone else {}
    lasting = grant("e2", scope="subject", expires_at=None, **left)
    three = folded(recorded)
    assert three == Consent(
        3, (grant("e1", **left), lasting, grant("e3", basis="contract", **left)), answered=not gone
    )
    withdrawn = record(ConsentWithdrawn(grants=("e1", "e3"), revoked=0), 4, gone=gone)
    assert folded([withdrawn], three) == Consent(4, (lasting,), withdrawn=not gone, answered=True)


def test_the_latest_grant_that_covers_all_counts():
    consent = Consent(
        1,
        (
            grant("old"),
            grant("narrow", categories=frozenset({"health"})),
            grant("other", purpose="advertising"),
            grant("over", expires_at=10),
        ),
    )
    at = {now: consent.covering("ordinary", "assistance", now) for now in (9, 10, 49, 50)}
    ids = {now: found and found.id for now, found in at.items()}
    assert ids == {9: "over", 10: "old", 49: "old", 50: None}
    assert consent.covering("health", "assistance", 10).id == "narrow"
    assert consent.covering("religion", "assistance", 1) is None
    assert consent.covering("ordinary", "advertising", 1).id == "other"
    lasting = Consent(1, (grant("g", expires_at=None),))
    assert lasting.covering("ordinary", "assistance", 1 << 60).id == "g"


class Default:
    """A policy with a default basis."""

    default_grant = grant(
        DEFAULT_GRANT, categories=frozenset({"ordinary"}), scope="subject", expires_at=None
    )


def test_the_default_stands_in_where_there_is_no_grant():
    policy = Default()
    nobody, somebody = Consent(), Consent(1, (grant("g"),))
    assert nobody.covering("ordinary", "assistance", 1) is None
    assert nobody.covering("ordinary", "assistance", 1, policy).id == DEFAULT_GRANT
    assert nobody.covering("health", "assistance", 1, policy) is None
    assert nobody.covering("ordinary", "advertising", 1, policy) is None
    assert somebody.covering("ordinary", "assistance", 49, policy).id == "g"
    assert somebody.covering("ordinary", "assistance", 50, policy).id == DEFAULT_GRANT
    assert Consent(withdrawn=True).covering("ordinary", "assistance", 1, policy) is None


def test_what_is_covered_is_what_a_grant_is_found_for():
    policy = Default()
    health = Consent(1, (grant("g", categories=frozenset({"health"})),))
    assert health.covered("assistance", 49) == {"health"}
    assert health.covered("assistance", 49, policy) == {"health", "ordinary"}
    assert health.covered("assistance", 50, policy) == {"ordinary"}
    assert health.covered("advertising", 49, policy) == frozenset()
    assert Consent(withdrawn=True).covered("assistance", 1, policy) == frozenset()


@pytest.mark.parametrize(
    ("ended", "withdrawn"),
    [
        (("e1",), True),  # ordinary
        (("e2",), False),  # health alone
        (("e1", "e2"), True),
        (("e2", DEFAULT_GRANT), True),
        ((DEFAULT_GRANT,), True),
        (("a review",), False),
        ((), True),  # of before there were defaults: approvals, and perhaps all
    ],
)
def test_a_withdrawal_beats_the_default_until_ordinary_memories_are_granted(ended, withdrawn):
    grants = [granted(categories=("ordinary",)), granted(categories=("health",))]
    recorded = [record(event, at) for at, event in enumerate(grants, start=1)]
    after = folded([*recorded, record(ConsentWithdrawn(grants=ended, revoked=0), 3)])
    assert after.withdrawn is withdrawn
    health = folded([record(granted(categories=("health",)), 4)], after)
    assert health.withdrawn is withdrawn
    assert folded([record(granted(categories=("ordinary",)), 5)], health).withdrawn is False
    assert folded([record(ConsentWithdrawn(grants=("x",), revoked=0), 6)], after).answered


def test_a_first_grant_is_for_who_never_answered():
    event = Consent().first_grant("contract", "assistance")
    assert (event.basis, event.categories, event.scope) == ("contract", ("ordinary",), "subject")
    assert Consent(1, (grant("g"),), answered=True).first_grant("contract", "assistance") is None
    withdrawn = folded([record(ConsentWithdrawn(grants=("x",), revoked=0), 1)])
    assert withdrawn.first_grant("contract", "assistance") is None
    health = folded([record(granted(categories=("health",)), 1)])
    assert health.first_grant("contract", "assistance") is not None


def test_several_erasures_are_on_their_way_until_each_is_done():
    consent = folded(
        [
            record(erasing(positions=((3, 4), (7, 7))), 1),
            record(erasing(positions=((9, 9),)), 2),
        ]
    )
    assert consent.going == (("e1", ((3, 4), (7, 7))), ("e2", ((9, 9),)))
    assert [at for at in range(12) if consent.is_going(at)] == [3, 4, 7, 9]
    done = folded([record(erased("e1"), 3)], consent)
    assert done == Consent(3, going=(("e2", ((9, 9),)),))
    assert folded([record(erased("nobody asked"), 4)], done).going == done.going
    assert not done.erasing


def test_an_erasure_of_the_whole_subject_stays_on_its_way():
    whole = folded([record(erasing(reach="subject"), 1)])
    assert whole == Consent(1, erasing=True)
    later = folded([record(granted(), 2)], whole)
    assert (later.erasing, later.version, len(later.grants)) == (True, 2, 1)


def test_what_is_going_is_read_without_its_words_but_notes_may_stay():
    noted = MemoryRevoked(memory_id="m", cause="actor", note="as agreed")
    said = erasing_target()
    recorded = [record(said, 1), record(noted, 2), record(said, 3)]
    assert Consent().left(recorded) == recorded
    consent = folded([record(erasing(positions=((1, 2),)), 9)])
    left = consent.left(recorded)
    assert [each.event for each in left] == [None, noted, said]
    assert [each.position for each in left] == [1, 2, 3]
    gone = [record(said, 1, gone=True)]
    assert consent.left(gone) == gone


def erasing_target():
    """An event whose body says what nothing else does."""
    from beliefledger.ledger.events.belief import MemoryConfirmed

    return MemoryConfirmed(
        memory_id="m", decision="d", confidence=1, base=1, mentions=1, counted=True, turn="t",
        said_at=1, spans=(),
    )  # fmt: skip
