"""Where nobody granted consent by hand: the policy's default basis, and what is granted at a
subject's first turn."""

from __future__ import annotations

import pytest

from beliefledger import open_memory
from beliefledger.gate.consent import DEFAULT_GRANT
from beliefledger.gate.intake import TurnInput
from beliefledger.gate.policy import default_policy, load
from beliefledger.ledger.errors import NotPermitted, PolicyInvalid
from beliefledger.ledger.events.subject import ConsentGranted, ConsentWithdrawn
from beliefledger.ledger.events.turn import GateDecided, TurnRecorded

DEFAULT = {"basis": "legitimate_interests", "purpose": "assistance"}
POLICY = {"default_basis": DEFAULT}


@pytest.fixture
def memory(place):
    with open_memory(place) as opened:
        opened.policy.adopt(POLICY, by="lea")
        yield opened


def believed(memory, subject="ana"):
    return [belief.text for belief in memory.beliefs(subject)]


def says(memory, words, subject="ana"):
    _, decisions = memory.remember(subject, words)
    return [(each.outcome, each.reason) for each in decisions]


def traces(memory):
    with memory.subscribe(types=[GateDecided.NAME], follow=False) as events:
        return [entry for each in events for entry in each.facts["trace"] if "consent" in entry]


def granted(memory):
    with memory.subscribe(types=[ConsentGranted.NAME], follow=False) as events:
        return [(memory.name_of(each.subject_ref), each.facts["basis"]) for each in events]


# The default basis


def test_the_policy_that_ships_has_no_default_basis(place):
    assert default_policy().default_basis is None
    with open_memory(place) as memory:
        assert says(memory, "I live in Lisbon.") == [("reject", "permission.no_consent")]


def test_without_a_default_basis_the_digest_of_a_policy_stays():
    assert "default_basis" not in default_policy().model_dump(mode="json")
    assert load(POLICY).digest() != default_policy().digest()
    assert load({"default_basis": None}).digest() == default_policy().digest()


def test_what_is_kept_on_it_cites_it_and_replays(memory):
    assert says(memory, "I live in Lisbon.") == [("admit", "truth.new")]
    [belief] = memory.beliefs("ana")
    assert belief.consent_basis == "legitimate_interests"
    assert traces(memory) == ["permission.consent=default:legitimate_interests"]
    [grant] = memory.consent.list("ana")
    assert (grant.grant_id, grant.categories) == (DEFAULT_GRANT, ("ordinary",))
    replayed = memory.audit.replay_all()
    assert (replayed.decisions, replayed.same) == (1, 1)
    memory.policy.adopt(default_policy(), by="lea")
    assert memory.audit.replay_all().same == 1
    assert says(memory, "I use pytest.") == [("reject", "permission.no_consent")]


def test_a_recorded_grant_comes_before_the_default(memory):
    memory.consent.grant("ana", "contract")
    says(memory, "I live in Lisbon.")
    assert [belief.consent_basis for belief in memory.beliefs("ana")] == ["contract"]


def test_special_categories_wait_for_a_person_all_the_same(memory):
    assert says(memory, "I have diabetes.") == [("queue", "permission.special_category")]


def test_nobody_but_a_named_person_puts_a_default_basis_in_force(place):
    with pytest.raises(NotPermitted, match=r"named person: memory\.policy\.adopt"):
        open_memory(place, policy=POLICY)
    with open_memory(place) as memory:
        with pytest.raises(NotPermitted, match="named person"):
            memory.policy.adopt(POLICY, by="system")
        assert says(memory, "I live in Lisbon.") == [("reject", "permission.no_consent")]
        memory.policy.adopt(POLICY, by="lea")
    with open_memory(place, policy=POLICY) as memory:  # it is in force already
        assert says(memory, "I use pytest.") == [("admit", "truth.new")]


@pytest.mark.parametrize(
    ("default", "named"),
    [
        ({"basis": "because", "purpose": "assistance"}, "the basis 'because' is none of"),
        ({"basis": "consent", "purpose": "advertising"}, "the purpose 'advertising' is none of"),
        (DEFAULT | {"scope": "galaxy"}, "the scope 'galaxy' is none of"),
        (DEFAULT | {"scope": "team"}, "wider than 'subject'"),
        ({"basis": "consent"}, "default_basis.purpose"),
        (DEFAULT | {"categories": ["health"]}, "default_basis.categories"),
    ],
)
def test_a_default_basis_that_could_not_be_granted_is_refused(default, named):
    with pytest.raises(PolicyInvalid, match=named):
        load({"default_basis": default})


# Withdrawal beats it


def test_who_withdraws_is_not_kept_on_the_default_until_granted_anew(memory):
    says(memory, "I live in Lisbon.")
    says(memory, "I live in Rome.", "ben")
    assert memory.consent.withdraw("ana", by="ana") == 1
    assert (believed(memory), believed(memory, "ben")) == ([], ["User lives in Rome"])
    assert memory.consent.list("ana") == []
    assert says(memory, "I use pytest.") == [("reject", "permission.no_consent")]
    with memory.subscribe(types=[ConsentWithdrawn.NAME], follow=False) as events:
        assert [each.facts["grants"] for each in events] == [[DEFAULT_GRANT]]
    with pytest.raises(NotPermitted, match="No such consent"):
        memory.consent.withdraw("ana", by="ana")
    memory.consent.grant("ana", "consent")
    assert says(memory, "I use ruff.") == [("admit", "truth.new")]
    assert memory.audit.replay_all().different == 0


def test_somebody_may_object_before_the_first_turn(memory):
    assert memory.consent.withdraw("cleo", by="cleo") == 0
    assert says(memory, "I live in Lisbon.", "cleo") == [("reject", "permission.no_consent")]


def test_a_withdrawn_grant_does_not_leave_the_default_behind(memory):
    memory.consent.grant("ana", "contract")
    says(memory, "I live in Lisbon.")
    assert memory.consent.withdraw("ana", basis="contract", by="ana") == 1
    assert says(memory, "I use pytest.") == [("reject", "permission.no_consent")]


def test_withdrawing_a_special_category_alone_leaves_ordinary_memories(memory):
    says(memory, "I live in Lisbon.")
    memory.consent.grant("ana", "explicit_consent", categories=["health"])
    assert says(memory, "I have diabetes.") == [("admit", "truth.new")]
    assert memory.consent.withdraw("ana", basis="explicit_consent", by="ana") == 1
    assert believed(memory) == ["User lives in Lisbon"]
    [(queued, _)] = says(memory, "I have asthma.")
    [waiting] = memory.decisions("ana", waits=True)
    assert queued == "queue"
    memory.conflicts.review(waiting.decision_id, approve=True, by="lea")
    assert memory.consent.withdraw("ana", basis="explicit_consent", by="ana") == 1
    assert believed(memory) == ["User lives in Lisbon"]
    assert says(memory, "I use pytest.") == [("admit", "truth.new")]


def test_only_the_default_can_be_withdrawn_by_its_basis(memory):
    says(memory, "I live in Lisbon.")
    with pytest.raises(NotPermitted, match="No such consent"):
        memory.consent.withdraw("ana", basis="contract", by="ana")
    assert memory.consent.withdraw("ana", basis="legitimate_interests", by="ana") == 1


def test_what_a_former_default_kept_can_still_be_withdrawn(memory):
    says(memory, "I live in Lisbon.")
    memory.policy.adopt(default_policy(), by="lea")
    assert memory.consent.withdraw("ana", by="ana") == 1
    assert believed(memory) == []
    memory.policy.adopt(POLICY, by="lea")
    assert says(memory, "I use pytest.") == [("reject", "permission.no_consent")]


def test_the_checklist_knows_the_default(memory):
    says(memory, "I live in Lisbon.")

    def told():
        [line] = [each for each in memory.audit.checklist("write").lines if "consent" in each.id]
        return line.answer, line.evidence

    assert told() == ("yes", "1 memories, each on a basis in force")
    memory.policy.adopt(default_policy(), by="lea")
    assert told()[0] == "no"
    assert "a basis that is over" in told()[1]


# At the first turn


def test_a_first_turn_grants_the_basis_and_later_ones_do_not(place):
    with open_memory(place, consent="contract") as memory:
        memory.record_turn("ana", "I live in Lisbon.")
        memory.record_turns([TurnInput("ana", "I use pytest."), TurnInput("ben", "I use ruff.")])
        memory.store("cleo", "Porto", attribute="home.location")
        memory.process()
        assert believed(memory) == ["User lives in Lisbon", "User uses pytest"]
        assert believed(memory, "ben") == ["User uses ruff"]
        assert len(memory.beliefs("cleo")) == 1
        assert granted(memory) == [(who, "contract") for who in ("ana", "ben", "cleo")]
        with memory.subscribe(follow=False) as events:
            order = [each.type for each in events if each.subject_ref]
        assert order.index(ConsentGranted.NAME) < order.index(TurnRecorded.NAME)
        [grant] = memory.consent.list("ana")
        assert (grant.categories, grant.purpose, grant.scope, grant.expires_at) == (
            ("ordinary",), "assistance", "subject", None,
        )  # fmt: skip


def test_it_is_never_granted_again_to_who_withdrew_or_limited_it(place, clock):
    with open_memory(place, consent="consent", clock=clock) as memory:
        says(memory, "I live in Lisbon.")
        memory.consent.withdraw("ana", by="ana")
        assert says(memory, "I use pytest.") == [("reject", "permission.no_consent")]
        memory.consent.grant("ben", "contract", expires_at=clock() + 1_000_000)
        clock.now += 2_000_000
        assert says(memory, "I use pytest.", "ben") == [("reject", "permission.no_consent")]
        assert granted(memory) == [("ana", "consent"), ("ben", "contract")]


def test_somebody_may_object_before_it_is_granted(place):
    with open_memory(place, consent="consent") as memory:
        assert memory.consent.withdraw("ana", by="ana") == 0
        assert says(memory, "I live in Lisbon.") == [("reject", "permission.no_consent")]
        assert granted(memory) == []


def test_a_grant_of_a_special_category_does_not_stand_in_for_it(place):
    with open_memory(place, consent="consent") as memory:
        memory.consent.grant("ana", "explicit_consent", categories=["health"])
        assert says(memory, "I live in Lisbon.") == [("admit", "truth.new")]


def test_two_processes_grant_it_once(place):
    with (
        open_memory(place, consent="consent") as one,
        open_memory(place, consent="consent") as other,
    ):
        one.record_turn("ana", "I live in Lisbon.")
        other.record_turn("ana", "I use pytest.")
        assert granted(one) == [("ana", "consent")]


def test_a_refused_turn_grants_nothing(place):
    with open_memory(place, consent="consent", policy={"max_turn_bytes": 50}) as memory:
        with pytest.raises(Exception, match="bytes"):
            memory.record_turn("ana", "x" * 51)
        assert granted(memory) == []


def test_the_environment_may_name_it(place, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_CONSENT", "contract")
    with open_memory(place) as memory:
        assert says(memory, "I live in Lisbon.") == [("admit", "truth.new")]
    monkeypatch.setenv("BELIEFLEDGER_CONSENT", "hearsay")
    with pytest.raises(NotPermitted, match="'hearsay' is not a lawful basis"):
        open_memory(place)


def test_a_basis_that_a_later_policy_does_not_know_is_refused(place):
    with open_memory(place, consent="consent") as memory:
        memory.policy.adopt({"lawful_bases": ["contract"]}, by="lea")
        with pytest.raises(NotPermitted, match="'consent' is not a lawful basis"):
            memory.record_turn("ana", "I live in Lisbon.")
