"""What named people do: grant, withdraw, revoke, review, resolve, erase, replay."""

from __future__ import annotations

import threading

import pytest
from wishes import storing

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.ledger.errors import (
    CallerMistake,
    InvalidQuery,
    InvalidTurn,
    KeyMissing,
    NotPermitted,
    PolicyInvalid,
    UnknownMemory,
)


@pytest.fixture
def memory(place):
    with open_memory(place) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def test_the_same_grant_twice_is_one(memory):
    first = memory.consent.grant("ben", "contract", categories=["ordinary", "health"])
    assert memory.consent.grant("ben", "contract", categories=["health", "ordinary"]) == first
    assert [grant.basis for grant in memory.consent.list("ben")] == ["contract"]


@pytest.mark.parametrize(
    "fields",
    [
        {"basis": "because"},
        {"basis": "consent", "categories": ["astrology"]},
        {"basis": "consent", "categories": []},
        {"basis": "consent", "categories": ["genetic"]},
        {"basis": "consent", "scope": "everyone"},
    ],
)
def test_a_grant_of_what_the_policy_does_not_know_is_refused(somebody, fields):
    with pytest.raises(NotPermitted):
        somebody.memory.consent.grant(somebody.who, **fields)


def test_withdrawing_revokes_what_stood_on_it_and_only_that(memory):
    memory.store("ana", "Porto", attribute="home.location")
    memory.consent.grant("ana", "contract")
    memory.store("ana", "pytest", attribute="tool.test_framework")
    assert memory.consent.withdraw("ana", basis="consent", by="system") == 1
    assert [belief.value for belief in memory.beliefs("ana")] == ["pytest"]
    assert memory.consent.withdraw("ana", by="system") == 1
    assert memory.beliefs("ana") == []
    with pytest.raises(NotPermitted, match="No such consent"):
        memory.consent.withdraw("ana", by="system")
    assert memory.store("ana", "Faro", attribute="home.location").reason == "permission.no_consent"


def test_withdrawing_takes_quarantined_and_past_memories_too(memory):
    memory.store("ana", "Lisbon", attribute="home.location", said_at="2026-01-01")
    memory.store("ana", "Porto", attribute="home.location", said_at="2026-02-01")
    memory.store("ana", "Faro", attribute="home.second", confidence=0.3)
    assert memory.consent.withdraw("ana", by="system") == 3
    assert memory.beliefs("ana", quarantined=True, min_confidence=0) == []
    assert memory.beliefs("ana", valid_at="2026-01-15") == []


def test_visibility_never_goes_wider_than_granted(memory):
    refused = memory.store(
        "ana", "Porto", attribute="home", details=Details(visibility_scope="team")
    )
    assert refused.reason == "permission.scope_too_wide"
    memory.consent.grant("ana", "contract", scope="team")
    assert memory.store(
        "ana", "Porto", attribute="home", details=Details(visibility_scope="team")
    ).outcome == ("admit")
    assert memory.beliefs("ana")[0].visibility_scope == "team"
    assert memory.store(
        "ana", "x", attribute="y", details=Details(visibility_scope="galaxy")
    ).reason == ("permission.scope_too_wide")


def test_a_revoked_memory_stays_in_the_history(memory):
    decision = memory.store("ana", "Porto", attribute="home.location")
    before = memory.status().position
    revoked = memory.revoke(decision.memory_id[:8], by="ben", note="a mistake")
    assert revoked.recorded_to is not None
    assert memory.beliefs("ana") == []
    assert memory.beliefs("ana", as_of=before)[0].value == "Porto"
    with pytest.raises(UnknownMemory):
        memory.revoke(decision.memory_id, by="ben")
    with pytest.raises(UnknownMemory):
        memory.revoke("ffffffff", by="ben")


def test_a_review_needs_a_name_and_happens_once(memory):
    queued = memory.store(
        "ana", "asthma", attribute="health.condition", details=Details(category="health")
    )
    assert queued.outcome == "queue"
    with pytest.raises(NotPermitted, match="named principal"):
        memory.conflicts.review(queued.decision_id, approve=True, by="system")
    with pytest.raises(NotPermitted):
        memory.conflicts.review(queued.decision_id, approve=True, by="ben", basis="because")
    written = memory.conflicts.review(queued.decision_id, approve=True, by="ben")
    why = memory.explain(written)
    assert why.decided_by == "review by ben"
    assert why.memory.consent_basis == "explicit_consent"
    assert why.decision.decision_id == queued.decision_id
    with pytest.raises(NotPermitted, match="already"):
        memory.conflicts.review(queued.decision_id, approve=False, by="ben")


def test_a_refused_review_writes_nothing(memory):
    queued = memory.store(
        "ana", "asthma", attribute="health.condition", details=Details(category="health")
    )
    assert memory.conflicts.review(queued.decision_id, approve=False, by="ben") is None
    assert memory.beliefs("ana", quarantined=True, min_confidence=0) == []
    assert memory.decisions(waits=True) == []
    admitted = memory.store("ana", "Porto", attribute="home.location")
    with pytest.raises(NotPermitted, match="queue"):
        memory.conflicts.review(admitted.decision_id, approve=True, by="ben")


def contest(memory):
    for day, value in enumerate(["a", "b", "a", "b", "a"], 1):
        memory.store("ana", value, attribute="choice", said_at=f"2026-03-0{day}")
    [conflict] = memory.conflicts.list("ana")
    return conflict


def test_choosing_one_value_settles_a_conflict(memory):
    conflict = contest(memory)
    with pytest.raises(UnknownMemory, match="values are: a, b"):
        memory.conflicts.resolve(conflict.belief_id, choose="c", by="ben")
    with pytest.raises(NotPermitted, match="either"):
        memory.conflicts.resolve(conflict.belief_id, by="ben")
    [settled] = memory.conflicts.resolve(
        conflict.belief_id[:8], choose="a", by="ben", note="asked her"
    )
    assert (settled.value, settled.contested, settled.importance) == ("a", False, 0.9)
    assert memory.conflicts.list("ana") == []
    assert memory.conflicts.loops("ana")[0].contested is False
    why = memory.explain(settled.memory_id)
    assert why.decided_by == "resolution by ben"
    with pytest.raises(NotPermitted, match="not contested"):
        memory.conflicts.resolve(conflict.belief_id, choose="a", by="ben")
    assert memory.store("ana", "b", attribute="choice").outcome == "supersede"


def test_an_escalated_statement_can_be_chosen_by_its_decision(memory):
    memory.store("ana", "after nine", attribute="constraint.calls", type="constraint")
    escalated = memory.store("ana", "after ten", attribute="constraint.calls", type="constraint")
    assert escalated.reason == "truth.constraint_stands"
    [settled] = memory.conflicts.resolve(
        escalated.belief_id, choose=escalated.decision_id, by="ben"
    )
    assert settled.value == "after ten"
    assert [belief.value for belief in memory.beliefs("ana")] == ["after ten"]


def test_what_another_client_did_meanwhile_is_seen_before_anything_is_refused(memory, place):
    with open_memory(place) as other:
        contest(other)
        memory.store("ana", "x", attribute="y")  # both have looked at everything by now
        queued = memory.store(
            "ana", "asthma", attribute="health.condition", details=Details(category="health")
        )
        other.consent.withdraw("ana", by="system")
        memory.consent.grant("ana", "consent")
        other.consent.grant("ana", "explicit_consent", categories=["health"])
        assert memory.conflicts.review(queued.decision_id, approve=True, by="ben")
        assert other.store("ana", "a", attribute="choice").outcome == "admit"
        for value in ("b", "a", "b"):
            memory.store("ana", value, attribute="choice")
        [conflict] = other.conflicts.list("ana")
        [settled] = other.conflicts.resolve(conflict.belief_id, choose="a", by="ben")
        assert memory.revoke(settled.memory_id, by="ben").recorded_to is not None
        memory.consent.withdraw("ana", basis="consent", by="system")
        other.consent.grant("ana", "consent")
        assert memory.store("ana", "c", attribute="choice").outcome == "admit"
        memory.policy.adopt({"lawful_bases": ["consent", "explicit_consent", "treaty"]}, by="ben")
        other.consent.grant("ana", "treaty")


def test_an_erased_person_is_gone_and_stays_gone(memory):
    memory.consent.grant("ben", "consent")
    memory.store("ben", "Faro", attribute="home.location")
    decision = memory.store("ana", "Porto", attribute="home.location")
    erased = memory.erase("ana", by="ben the officer")
    assert erased.bodies > 0
    assert memory.beliefs("ana") == []
    assert memory.decisions("ana") == []
    for attempt in (
        lambda: memory.record_turn("ana", "hello"),
        lambda: memory.store("ana", "Porto", attribute="home.location"),
        lambda: memory.consent.grant("ana", "consent"),
        lambda: memory.erasure.register_anew("ana", by="system"),
    ):
        with pytest.raises(NotPermitted):
            attempt()
    assert memory.audit.replay(decision.decision_id).verdict == "inputs destroyed"
    assert [row.claim for row in memory.decisions()] == [None, "home location is Faro"][::-1]
    assert memory.proofs.verify().ok
    assert all(answer.same for answer in memory.operations.rebuild(verify=True))
    assert [belief.value for belief in memory.beliefs("ben")] == ["Faro"]

    memory.erasure.register_anew("ana", by="ben the officer")
    memory.consent.grant("ana", "consent")
    memory.store("ana", "Braga", attribute="home.location")
    assert [belief.value for belief in memory.beliefs("ana")] == ["Braga"]
    with pytest.raises(NotPermitted, match="not erased"):
        memory.erasure.register_anew("ben", by="ben the officer")


def test_a_wrong_master_key_is_told_before_anything_is_written(tmp_path, monkeypatch):
    with open_memory(tmp_path / "ledger") as memory:
        memory.record_turn("ana", "hello")
    before = {path: path.read_bytes() for path in (tmp_path / "ledger").glob("*.db")}
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", "ab" * 32)
    with pytest.raises(KeyMissing, match="does not open the vault"):
        open_memory(tmp_path / "ledger")
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", "nonsense")
    with pytest.raises(KeyMissing, match="64 hexadecimal"):
        open_memory(tmp_path / "ledger")
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY")
    (tmp_path / "ledger" / "master.key").unlink()
    with pytest.raises(KeyMissing, match="There is no master key"):
        open_memory(tmp_path / "ledger")
    assert before == {path: path.read_bytes() for path in (tmp_path / "ledger").glob("*.db")}


def test_the_key_file_is_for_its_owner_alone(tmp_path):
    with open_memory(tmp_path / "ledger") as memory:
        assert memory.made_key_file is not None
        assert memory.made_key_file.stat().st_mode & 0o777 == 0o600


def test_a_policy_is_adopted_once_and_names_every_decision(place):
    strict = {"name": "strict", "thresholds": {"default": 0.9}}
    with open_memory(place, policy=strict) as memory:
        memory.consent.grant("ana", "consent")
        _, [decision] = memory.remember("ana", "I live in Porto.")
        assert (decision.outcome, decision.reason) == ("quarantine", "truth.below_threshold")
        assert decision.policy == memory.policy.current.digest()
        position = memory.status().position
    with open_memory(place, policy=strict) as memory:
        closed = position + 1  # closing told the log of the vault's register
        assert memory.status().position == closed
        memory.policy.adopt({"name": "easy"}, by="ben")
        assert memory.policy.current.name == "easy"
        assert memory.audit.replay(decision.decision_id).verdict == "same"
        with pytest.raises(PolicyInvalid):
            memory.policy.adopt({"name": 7}, by="system")
        assert memory.policy.current.name == "easy"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"subject": " "}, "subject is empty"),
        ({"content": ""}, "content is empty"),
        ({"content": 7}, "content must be text"),
        ({"content": "\ud800"}, "Unicode"),
        ({"role": "wizard"}, "role"),
        ({"said_at": "yesterday"}, "said_at"),
        ({"content": "é" * 50_001}, "100,002 bytes in UTF-8; a turn has at most 100,000"),
    ],
)
def test_a_turn_that_cannot_be_recorded_says_why(somebody, fields, named):
    memory = somebody.memory
    memory.consent.grant(somebody.who, "consent")
    before = memory.status().position
    with pytest.raises(InvalidTurn, match=named):
        memory.record_turn(**{"subject": somebody.who, "content": "hello"} | fields)
    assert memory.status().position == before


def test_questions_that_cannot_be_asked_say_why(memory):
    with pytest.raises(InvalidQuery, match="not in the log"):
        memory.beliefs("ana", as_of=10_000)
    with pytest.raises(InvalidQuery, match="valid_at"):
        memory.beliefs("ana", valid_at="soon")
    with pytest.raises(InvalidQuery, match="outcome"):
        memory.decisions(outcome="maybe")
    with pytest.raises(InvalidQuery, match="no view"):
        memory.operations.rebuild("everything")
    with pytest.raises(UnknownMemory):
        memory.history("ffffffff")
    with pytest.raises(CallerMistake):
        open_memory("mysql://somewhere")
    assert memory.beliefs("nobody") == []


def test_a_subscriber_catches_up_and_then_follows(memory):
    memory.store("ana", "Porto", attribute="home.location")
    types = ["memory.admitted.v2", "memory.superseded.v2"]
    with memory.subscribe(types=types, subjects=["ana"]) as following:
        assert next(following).event.memory.value == "Porto"
        writer = threading.Thread(
            target=lambda: memory.store("ana", "Faro", attribute="home.location")
        )
        writer.start()
        assert next(following).event.memory.value == "Faro"
        writer.join()
        position = following.position
    again = memory.subscribe(after=position, types=types, follow=False)
    assert list(again) == []
    assert again.position >= position


def test_a_subscriber_hears_of_somebody_who_is_recorded_later(memory):
    with memory.subscribe(types=["memory.admitted.v2"], subjects=["ben"]) as following:
        memory.consent.grant("ben", "consent")
        memory.store("ben", "Faro", attribute="home.location")
        assert next(following).event.memory.value == "Faro"


def test_times_that_json_cannot_hold_are_refused(memory):
    for call in (
        lambda: memory.consent.grant("ana", "contract", expires_at="9999-12-31"),
        lambda: memory.store("ana", "x", attribute="y", details=Details(expires_at="9999-12-31")),
        lambda: memory.record_turn("ana", "hello", said_at=2**60),
    ):
        with pytest.raises(InvalidTurn, match="2255"):
            call()


def test_a_secret_is_not_stored_whatever_field_it_is_in(memory):
    for fields in (
        {"value": "4111 1111 1111 1111", "attribute": "card.number"},
        {"value": "x", "attribute": "y", "text": "My password is hunter2-Xy!"},
    ):
        with pytest.raises(InvalidTurn, match="secret"):
            memory.store("ana", **storing(**(fields)))


def test_a_past_that_ends_before_it_begins_is_refused(memory):
    with pytest.raises(InvalidTurn, match="valid_to must come after"):
        memory.store("ana", "x", attribute="y", valid_to="2001-01-01")
    memory.store("ana", "Porto", attribute="home.location", said_at="2026-01-01")
    past = memory.store(
        "ana",
        "Lisbon",
        attribute="home.location",
        valid_from="2001-01-01",
        valid_to="2005-01-01",
    )
    assert past.reason == "truth.backdated"
    assert [belief.value for belief in memory.beliefs("ana")] == ["Porto"]
    assert [belief.value for belief in memory.beliefs("ana", valid_at="2003-01-01")] == ["Lisbon"]
    assert memory.beliefs("ana", valid_at="2010-01-01") == []


def test_nobody_waits_for_an_erased_person(memory):
    contest(memory)
    memory.store("ana", "asthma", attribute="health.condition", details=Details(category="health"))
    assert memory.status().waiting == 2
    memory.erase("ana", by="ben")
    assert memory.status().waiting == 0
    assert (memory.conflicts.list(), memory.conflicts.loops("ana"), memory.consent.list("ana")) == (
        [],
        [],
        [],
    )


def test_a_review_can_rest_on_a_turn_that_was_confirmed(memory):
    memory.record_turn("ana", "So you're allergic to peanuts?", role="assistant", session="s")
    memory.record_turn("ana", "Yes, that's right.", session="s")
    memory.process()
    [queued] = memory.decisions("ana")
    assert queued.reason == "permission.special_category"
    assert memory.audit.replay(queued.decision_id).verdict == "same"
    assert memory.conflicts.review(queued.decision_id, approve=True, by="ben")
    assert [belief.text for belief in memory.beliefs("ana")] == ["User is allergic to peanuts"]


def test_a_resolution_needs_a_basis_for_what_it_chooses(memory):
    conflict = contest(memory)
    memory.consent.withdraw("ana", basis="consent", by="system")
    memory.consent.grant("ana", "contract", categories=["health"])
    with pytest.raises(NotPermitted):
        memory.conflicts.resolve(conflict.belief_id, choose="a", by="ben")


def test_a_clock_that_goes_back_a_little_hides_nothing(place):
    now = [1_800_000_000_000_000]
    with open_memory(place, clock=lambda: now[0]) as memory:
        memory.consent.grant("ana", "consent")
        memory.store("ana", "Porto", attribute="home.location")
        now[0] -= 10_000_000
        memory.store("ana", "x", attribute="y")
        assert len(memory.beliefs("ana")) == 2


def test_words_of_an_unknown_type_do_not_outlive_an_erasure(tmp_path):
    with open_memory(tmp_path) as memory:
        memory.consent.grant("ana", "consent")
        with pytest.raises(InvalidTurn, match="there is no 'Ana has asthma'; "):
            memory.store("ana", "x", attribute="y", type="Ana has asthma")
        memory.erase("ana", by="ben")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"asthma" not in path.read_bytes(), path


def test_contexts_are_compared_by_what_they_mean(memory):
    conflict = contest(memory)
    memory.conflicts.resolve(
        conflict.belief_id, by="ben", contexts={"on Mondays": "a", "on Fridays": "b"}
    )
    with pytest.raises(NotPermitted):
        memory.conflicts.resolve(
            conflict.belief_id, by="ben", contexts={"Monday": "a", "on mondays": "b"}
        )
    assert (
        memory.store("ana", "a", attribute="choice", details=Details(context="monday")).outcome
        == "confirm"
    )
    assert (
        memory.store("ana", "a", attribute="choice", details=Details(context="Friday")).outcome
        == "supersede"
    )


def test_a_lock_on_the_views_passes(memory):
    """A page that could not be written is folded again, whole."""
    memory.store("ana", "Porto", attribute="home.location")
    assert memory.beliefs("ana")
    beliefs = memory._core.projector.views["belief_versions"]

    def full(connection):
        raise OSError("no space left on device")

    healthy, beliefs.flush = beliefs.flush, full
    memory.store("ana", "Faro", attribute="home.location")
    with pytest.raises(OSError, match="no space"):
        memory.beliefs("ana")
    beliefs.flush = healthy
    assert [belief.value for belief in memory.beliefs("ana")] == ["Faro"]
    assert all(answer.same for answer in memory.operations.rebuild(verify=True))
