"""Consent that comes late: what was refused or queued for want of a basis is decided again."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from beliefledger import open_memory
from beliefledger.ledger.errors import NotPermitted, UnknownMemory
from beliefledger.ledger.events.turn import GateDecided
from beliefledger.tools.cli import app

REFUSED = "permission.no_consent"
QUEUED = "permission.special_category"


@pytest.fixture
def memory(place):
    with open_memory(place) as opened:
        yield opened


def tell(memory, *words, subject="ana"):
    """Said on the days that stand before the words: `3 I live in Lisbon.`"""
    for each in words:
        day, _, text = each.partition(" ")
        memory.record_turn(subject, text, said_at=f"2026-03-{int(day):02}T10:00:00Z")
    memory.process()


def told(answers):
    return [(each.claim, each.outcome, each.new_reason) for each in answers]


def believed(memory, subject="ana", **asked):
    return [belief.text for belief in memory.beliefs(subject, **asked)]


def test_what_had_no_basis_is_decided_again_in_the_order_it_was_said(memory):
    tell(memory, "5 I moved to Porto.", "2 I live in Lisbon.", "7 What if I were a doctor?")
    before = memory.decisions("ana")
    assert {each.reason for each in before[:2]} == {REFUSED}
    memory.consent.grant("ana", "consent")
    made = memory.consent.reconsider("ana", by="lea")
    assert told(made)[:2] == [
        ("User lives in Lisbon", "admit", "truth.new"),
        ("User moved to Porto", "supersede", "truth.change"),
    ]
    assert believed(memory) == ["User moved to Porto"]
    assert believed(memory, valid_at="2026-03-03") == ["User lives in Lisbon"]
    decisions = {each.decision_id: each for each in memory.decisions("ana")}
    for each in made:
        old, new = decisions[each.decision_id], decisions[each.new_decision_id]
        assert (old.settled_at, old.hint, old.waits) == (new.position, None, False)
        assert (new.reconsiders, new.reason) == (old.decision_id, each.new_reason)
        assert old.reason == each.reason
    replayed = memory.audit.replay_all()
    assert (replayed.same, replayed.different) == (len(before) + len(made), 0)
    counts = memory.audit.counts()
    assert [each.name for each in counts.sums if not each.adds_up] == []
    assert all(each.adds_up for each in memory.audit.counts(counts.position - 1).sums)
    with memory.subscribe(types=[GateDecided.NAME], follow=False) as events:
        who = [memory.actor_name(each.actor) for each in events if "reconsiders" in each.facts]
    assert who == ["lea"] * len(made)
    assert memory.operations.rebuild(verify=True)


def test_a_second_time_there_is_nothing_to_do(memory):
    tell(memory, "1 I live in Lisbon.")
    memory.consent.grant("ana", "consent", by="lea", reconsider=True)
    assert believed(memory) == ["User lives in Lisbon"]
    head = memory.status().position
    assert memory.consent.reconsider("ana", by="lea") == []
    assert memory.consent.preview_reconsider("ana") == []
    assert memory.status().position == head


def test_without_a_basis_nothing_is_decided_again(memory):
    tell(memory, "1 I live in Lisbon.", "2 I have diabetes.")
    assert memory.consent.reconsider("ana", by="lea") == []
    memory.consent.grant("ana", "consent")
    assert told(memory.consent.reconsider("ana", by="lea")) == [
        ("User lives in Lisbon", "admit", "truth.new")
    ]
    [waiting] = memory.decisions("ana", waits=True)
    assert waiting.reason == QUEUED


def test_what_waits_for_a_category_is_settled_by_a_grant_that_names_it(memory):
    tell(memory, "1 I have diabetes.")
    memory.consent.grant("ana", "explicit_consent", categories=["health"])
    [made] = memory.consent.reconsider("ana", by="lea")
    assert (made.reason, made.category, made.outcome) == (QUEUED, "health", "admit")
    assert memory.decisions("ana", waits=True) == []
    [belief] = memory.beliefs("ana")
    assert (belief.memory_id, belief.consent_basis) == (made.memory_id, "explicit_consent")
    with pytest.raises(NotPermitted, match="made again"):
        memory.conflicts.review(made.decision_id, approve=True, by="lea")
    assert believed(memory) == [belief.text]


def test_without_a_basis_a_list_of_them_says_that_what_is_approved_is_kept(memory, place):
    tell(memory, "1 I have diabetes.")
    [waiting] = memory.decisions("ana", waits=True)
    memory.conflicts.review(waiting.decision_id, approve=True, by="lea")
    assert believed(memory) == ["User has diabetes"]
    listed = CliRunner().invoke(app, ["--ledger", place, "consent", "list", "-s", "ana"])
    assert "nothing is kept but what a reviewer approves" in " ".join(listed.stdout.split())


def test_what_is_settled_has_no_advice_to_record_a_basis(memory, place):
    tell(memory, "1 I live in Lisbon.")
    [old] = memory.decisions("ana")
    assert "Record a lawful basis" in memory.audit.refusal(old.decision_id).advice
    memory.consent.grant("ana", "consent", by="lea", reconsider=True)
    memory.consent.withdraw("ana", by="ana")
    _, out, _ = run(place, "consent", "grant", "-s", "ana", "--by", "lea", "--reconsider")
    assert "What a withdrawal revoked stays so" in out
    assert [each.advice for each in memory.why_not("ana", "I live in Lisbon").stopped] == [None]
    assert memory.audit.refusal(old.decision_id).advice is None


def test_what_a_person_reviewed_is_left_alone(memory):
    tell(memory, "1 I have diabetes.")
    [waiting] = memory.decisions("ana", waits=True)
    memory.conflicts.review(waiting.decision_id, approve=False, by="lea")
    memory.consent.grant("ana", "explicit_consent", categories=["health"])
    assert memory.consent.reconsider("ana", by="lea") == []
    assert believed(memory) == []


def test_a_later_belief_stands_and_what_is_older_becomes_its_past(memory):
    tell(memory, "2 I live in Lisbon.")
    memory.consent.grant("ana", "consent")
    tell(memory, "5 I moved to Porto.")
    assert believed(memory) == ["User moved to Porto"]
    [made] = memory.consent.reconsider("ana", by="lea")
    assert made.new_reason in {"truth.backdated", "truth.outdated"}
    assert believed(memory) == ["User moved to Porto"]
    assert memory.audit.replay_all().different == 0


def test_a_name_that_was_merged_since_is_followed(memory):
    tell(memory, "1 My sister is called Maria.", "2 Maria works at Acme.")
    memory.consent.grant("ana", "consent")
    memory.consent.reconsider("ana", by="lea")
    assert memory.audit.replay_all().different == 0
    assert any("Acme" in text for text in believed(memory))


def test_chosen_fields_are_decided_again_with_their_choices(memory):
    refused = memory.store("ana", "Porto", attribute="home.location", confidence=0.77)
    assert refused.reason == REFUSED
    memory.consent.grant("ana", "consent")
    memory.consent.reconsider("ana", by="lea")
    [belief] = memory.beliefs("ana")
    assert (belief.value, belief.confidence) == ("Porto", 0.77)
    assert memory.audit.replay_all().different == 0


def test_a_preview_says_what_would_be_decided_and_records_nothing(memory):
    tell(memory, "5 I moved to Porto.", "2 I live in Lisbon.", "3 I have diabetes.")
    head = memory.status().position
    assert memory.consent.preview_reconsider("ana") == []
    supposed = memory.consent.preview_reconsider("ana", "consent")
    assert all(each.new_decision_id is None and each.memory_id is None for each in supposed)
    health = memory.consent.preview_reconsider(
        "ana", "explicit_consent", categories=["ordinary", "health"]
    )
    assert [each.category for each in health] == ["ordinary", "health", "ordinary"]
    assert memory.status().position == head
    assert memory.consent.list("ana") == []
    memory.consent.grant("ana", "consent")
    assert told(memory.consent.preview_reconsider("ana")) == told(supposed)
    assert told(memory.consent.reconsider("ana", by="lea")) == told(supposed)
    with pytest.raises(NotPermitted, match="is not a lawful basis"):
        memory.consent.preview_reconsider("ana", "hearsay")


def test_it_needs_a_name_and_a_known_subject(memory):
    with pytest.raises(NotPermitted, match="named principal"):
        memory.consent.grant("ana", "consent", reconsider=True)
    assert memory.consent.list("ana") == []
    tell(memory, "1 I live in Lisbon.")
    with pytest.raises(NotPermitted, match="named principal"):
        memory.consent.reconsider("ana", by="system")
    with pytest.raises(UnknownMemory, match="zoe"):
        memory.consent.reconsider("zoe", by="lea")


def test_erased_words_are_not_decided_again(memory):
    receipt = memory.record_turn("ana", "I live in Lisbon.")
    tell(memory, "2 I use pytest.")
    memory.erase("ana", turn=receipt.turn_id, by="lea")
    memory.consent.grant("ana", "consent")
    made = memory.consent.reconsider("ana", by="lea")
    assert [each.claim for each in made] == ["User uses pytest"]


def test_erasing_the_memory_takes_its_first_refusal_along(memory):
    tell(memory, "1 I live in Lisbon.")
    memory.consent.grant("ana", "consent", by="lea", reconsider=True)
    [belief] = memory.beliefs("ana")
    memory.erase("ana", memory=belief.memory_id, by="lea")
    assert [each.claim for each in memory.decisions("ana")] == [None, None]


def test_withdrawn_and_granted_again_what_was_decided_stays_decided(memory):
    tell(memory, "1 I live in Lisbon.")
    memory.consent.grant("ana", "consent", by="lea", reconsider=True)
    memory.consent.withdraw("ana", by="ana")
    memory.consent.grant("ana", "consent", by="lea", reconsider=True)
    assert believed(memory) == []


def test_two_at_once_decide_each_once(place):
    with open_memory(place) as one, open_memory(place) as other:
        tell(one, "1 I live in Lisbon.", "2 I use pytest.")
        one.consent.grant("ana", "consent")
        refused = other.consent._refused(other._log.subject("ana"))
        assert len(one.consent.reconsider("ana", by="lea")) == 2
        late = other.consent._reconsideration
        actor = other._core.actor("max")
        assert late.decide_again(other._log.subject("ana"), refused, actor) == []


def run(place, *args):
    result = CliRunner().invoke(app, ["--ledger", place, *args])
    return result.exit_code, result.stdout, result.stderr


def test_the_command_previews_decides_and_then_has_nothing_to_do(place):
    with open_memory(place) as memory:
        tell(memory, "1 I live in Lisbon.")
    grant = ("consent", "grant", "--subject", "ana", "--reconsider")
    code, _, err = run(place, *grant)
    assert code == 2
    assert "--by NAME" in err
    code, out, _ = run(place, *grant, "--dry-run", "--json")
    [would] = json.loads(out)["reconsidered"]
    assert (code, would["outcome"], would["new_decision_id"]) == (0, "admit", None)
    code, out, _ = run(place, *grant, "--by", "lea", "--json")
    answer = json.loads(out)
    assert (code, answer["basis"]) == (0, "consent")
    assert answer["reconsidered"][0]["memory_id"]
    code, out, _ = run(place, *grant, "--by", "lea")
    assert code == 0
    assert "Nothing to decide again." in out
    code, out, _ = run(place, "beliefs", "--subject", "ana")
    assert "Lisbon" in out
