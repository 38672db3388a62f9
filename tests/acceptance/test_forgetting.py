"""Forgetting less than a person, others' relations to who is forgotten, holds; on both backends."""

from __future__ import annotations

import json
from functools import partial

import pytest
from command_line import CliRunner
from sqlalchemy import event

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.erasure.scope import Scope
from beliefledger.gate.consolidation import Consolidator
from beliefledger.gate.policy import default_policy
from beliefledger.ledger.errors import (
    InvalidQuery,
    InvalidTurn,
    NotPermitted,
    PolicyInvalid,
    UnknownMemory,
)
from beliefledger.ledger.log import Log
from beliefledger.ledger.times import DAY
from beliefledger.opening import recorder
from beliefledger.search.options import SearchOptions
from beliefledger.tools.cli import app

PORTO, AGAIN, MODE = "I live in Porto and I work with Ben Carter.", "I live in Porto.", "dark mode"


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def say(memory, text, session="s1", subject="ana", **more):
    """A turn that is decided about: its id."""
    receipt, _ = memory.remember(subject, text, session=session, **more)
    return receipt.turn_id


def texts(memory, subject="ana", **more):
    return sorted(each.text for each in memory.beliefs(subject, **more))


def words(memory):
    """Every word that the log still tells of anybody, what they searched for too."""
    memory.recalls.list()
    told = [each for each in memory._log.read() if each.subject_ref and each.event is not None]
    return "\n".join(each.event.model_dump_json() for each in told)


def bodies(memory):
    """How many bodies the store has, whoever's they are."""
    rows = list(memory._log.raw())
    return sum(row.body is not None for row in rows)


def sound(memory):
    """The log verifies, and each view is what a rebuild gives."""
    checked = memory.proofs.verify()
    assert checked.ok, checked
    for view in memory.operations.rebuild(verify=True):
        assert view.same, view


@pytest.mark.parametrize("first", ["erase", "revoke", "withdraw"])
def test_nothing_tells_what_an_agent_repeated_of_it(memory, clock, first):
    say(memory, PORTO.replace(" and I work with Ben Carter", ""))
    memory.record_turn("ana", "Great, so you live in Porto!", role="assistant", session="s2")
    say(memory, "I like olives.")
    memory.record_turn("ana", "Olives keep for a year.", role="assistant")
    memory.process()
    home = next(each for each in memory.beliefs("ana") if each.value == "Porto")
    assert "Porto" in str(memory.search("ana", "where do I live, in Porto?", record=False))
    if first == "erase":
        preview = memory.erasure.preview("ana", memory=home.memory_id)
        assert preview.turns == 2
        memory.erase("ana", memory=home.memory_id, by="dpo")
    elif first == "revoke":
        memory.revoke(home.memory_id, by="ana")
        adopt(memory, revoked_grace_days=7)
        clock.now += 8 * DAY
        memory.erase("ana", revoked=True, by="dpo")
    else:
        memory.consent.withdraw("ana", basis="consent", by="ana")
        memory.erase("ana", memory=home.memory_id, by="dpo")
        memory.consent.grant("ana", "consent")
    found = memory.search("ana", "where do I live, in Porto?", record=False)
    assert "Porto" not in str([each.text for each in found.results])
    assert "Porto" not in memory.context("ana", "where do I live?", record=False).content
    assert "Porto" not in words(memory)
    assert "Olives keep" in words(memory)
    sound(memory)


def revoke(memory, text):
    found = next(each for each in memory.beliefs() if each.text == text)
    memory.revoke(found.memory_id, by="lea")


def adopt(memory, **fields):
    memory.policy.adopt(fields, by="lea")


# What was named and is not there


@pytest.mark.parametrize("what", ["memory", "turn", "session"])
def test_an_id_that_is_none_erases_nobody(memory, what):
    say(memory, PORTO)
    before = bodies(memory)
    for missing in (None, 7) if what == "session" else (None, 7, "", " "):
        for ask in (memory.erasure.preview, partial(memory.erase, by="lea")):
            with pytest.raises(InvalidQuery, match=f"names no {what}, so nothing was erased"):
                ask("ana", **{what: missing})
    assert bodies(memory) == before


def test_an_empty_id_means_no_memory(memory):
    say(memory, PORTO)
    before = memory.status().position
    for ask in (memory.explain, memory.history, partial(memory.revoke, by="lea")):
        with pytest.raises(InvalidQuery, match="is no id"):
            ask("")
    assert memory.status().position == before


# A turn, a memory, a session


def test_a_turn_goes_with_the_memories_whose_words_are_from_it(memory):
    first = say(memory, f"{PORTO} My sister is Zenobia.")
    say(memory, "I always use dark mode.")
    before = bodies(memory)
    preview = memory.erasure.preview("ana", turn=first[:8])
    assert bodies(memory) == before, "a preview writes nothing"
    answer = memory.erase("ana", turn=first, by="lea")
    assert answer.bodies == len(preview.positions) == before - bodies(memory)
    assert answer.reach == "turn"
    assert [each.counts for each in memory.erasure.list()] == [preview.counts]
    assert texts(memory) == ["User always uses dark mode"]
    assert not any(word in words(memory) for word in ("Porto", "Carter", "Zenobia"))
    assert MODE in words(memory)
    assert {each.name for each in memory.entities.list("ana")} <= {"User", None}
    sound(memory)


def test_a_turn_that_only_said_it_again_goes_alone(memory):
    say(memory, PORTO)
    again = say(memory, AGAIN, "s2")
    preview = memory.erasure.preview("ana", turn=again)
    assert [(each.kind, each.text) for each in preview.depends] == [
        ("loses_evidence", "User lives in Porto")
    ]
    memory.erase("ana", turn=again, by="lea")
    kept = next(each for each in memory.beliefs("ana") if each.text == "User lives in Porto")
    assert {each.turn_id for each in kept.evidence} == {
        each.turn_id for each in memory.decisions("ana") if each.claim
    } - {again}
    assert memory.explain(kept.memory_id).turn is not None
    sound(memory)


def test_a_memory_goes_with_its_evidence_and_what_that_carries(memory):
    say(memory, PORTO)
    again = say(memory, AGAIN, "s2")
    other = say(memory, "I work with Ben Carter.", "s3")
    lives = next(each for each in memory.beliefs("ana") if each.text == "User lives in Porto")
    preview = memory.erasure.preview("ana", memory=lives.memory_id[:8])
    assert preview.turns == 2
    assert {(each.kind, each.text) for each in preview.depends} == {
        ("memory_goes", "User works with Ben Carter")
    }
    memory.erase("ana", memory=lives.memory_id, by="lea")
    assert texts(memory) == []
    assert "Porto" not in words(memory)
    assert "Ben Carter" in words(memory), "he is spoken of in a turn that nobody asked for"
    for turn, there in ((again, False), (other, True)):
        assert (memory._log.read_stream(turn, upto=1)[0].event is not None) is there
    sound(memory)


def test_a_session_goes_with_what_was_asked_in_it(memory):
    say(memory, PORTO, "s1")
    say(memory, "I always use dark mode.", "s2")
    memory.search("ana", "Quixotic dark mode", session="s2")
    memory.search("ana", "Porto or Zanzibar", session="s1")
    assert memory.recalls.list("ana")
    memory.erase("ana", session="s2", by="lea")
    assert "Quixotic" not in words(memory)
    assert "Zanzibar" in words(memory)
    assert "User lives in Porto" in texts(memory)
    assert MODE not in words(memory)
    assert memory.erase("ana", session="s2", by="lea").already
    with pytest.raises(UnknownMemory, match="no session 's2'"):
        memory.erase("ana", session="s2", by="eva")
    sound(memory)


def test_a_search_goes_with_what_it_found(memory):
    first = say(memory, AGAIN)
    memory.search("ana", "Porto or Quixotic")
    say(memory, "I always use dark mode.", "s2")
    memory.search(
        "ana",
        "Zanzibar dark mode",
        options=SearchOptions(include=["memories"]),
        types=["preference"],
    )
    assert {each.query for each in memory.recalls.list("ana")} == {
        "Porto or Quixotic",
        "Zanzibar dark mode",
    }
    preview = memory.erasure.preview("ana", turn=first)
    assert preview.counts["memories.recalled.v3"] == 1
    assert {each.what: each.count for each in preview.stays}["searches"] == 1
    memory.erase("ana", turn=first, by="lea")
    assert {each.query for each in memory.recalls.list("ana")} == {None, "Zanzibar dark mode"}
    assert "Quixotic" not in words(memory)
    assert memory.audit.replay_all().inputs_destroyed == 1
    sound(memory)


def test_a_search_that_waited_elsewhere_comes_back_without_its_words(
    memory, place, clock, monkeypatch
):
    monkeypatch.setattr(recorder, "WAIT_SECONDS", 60)
    say(memory, AGAIN, "s1")
    say(memory, "I always use dark mode.", "s2")
    with open_memory(place, clock=clock) as other:
        other.search("ana", "Quixotic Porto", session="s1")
        memory.erase("ana", session="s1", by="lea")
        other.search("ana", "Zanzibar dark mode", session="s2")
        told = [each.query for each in other.recalls.list("ana")]
        assert sorted(told, key=str) == [None, "Zanzibar dark mode"]
    assert "Quixotic" not in words(memory)
    sound(memory)


def test_what_took_another_value_s_place_does_not_bring_that_back(memory):
    say(memory, "I live in Lisbon.", said_at="2026-01-01")
    moved = say(memory, "I moved to Porto.", said_at="2026-02-01")
    memory.erase("ana", turn=moved, by="lea")
    assert texts(memory) == []
    assert memory.remember("ana", "I moved to Faro.", said_at="2026-02-20")[1][0].outcome in {
        "admit",
        "supersede",
    }
    assert texts(memory) == ["User moved to Faro"]
    assert memory.audit.replay_all().different == 0
    sound(memory)


def test_a_turn_that_waits_is_not_extracted_once_it_is_erased(memory):
    memory.record_turn("ana", "I live in Porto.", session="s1")
    memory.erase("ana", session="s1", by="lea")
    done = memory.process()
    assert (done.turns, done.pending) == (0, 0)
    assert texts(memory) == []
    assert memory.status().pending_turns == 0
    sound(memory)


def test_what_was_merged_goes_as_one_memory(memory, clock):
    ids = []
    for attribute, text in (("editor.theme", "likes"), ("ui.appearance", "loves")):
        made = memory.store(
            "ana", "dark mode", attribute=attribute, type="preference", text=f"User {text} it"
        )
        ids.append(made.memory_id)
        clock.ahead(60)
    pair = {each.memory_id: each.belief_id for each in memory.beliefs("ana")}
    ref = memory._log.subject("ana")
    merged = Consolidator(memory._gate).consolidate(ref, pair, similarity=900_000)
    preview = memory.erasure.preview("ana", memory=ids[0])
    assert set(preview.memories) == {*ids, merged}
    assert {each.id for each in preview.depends if each.kind == "consolidated"} == {ids[1], merged}
    memory.erase("ana", memory=ids[0], by="lea")
    assert texts(memory) == []
    assert not any(word in words(memory) for word in ("likes", "loves"))
    sound(memory)


def test_names_stay_for_as_long_as_a_memory_speaks_of_them(memory):
    first = say(memory, "I work with Ben Carter.")
    say(memory, "Ben Carter lives in Braga.", "s2")
    assert "Ben Carter" in {each.name for each in memory.entities.list("ana")}
    memory.erase("ana", turn=first, by="lea")
    assert "Ben Carter" in {each.name for each in memory.entities.list("ana")}
    memory.erase("ana", session="s2", by="lea")
    assert "Ben Carter" not in {each.name for each in memory.entities.list("ana")}
    assert "Carter" not in words(memory)
    sound(memory)


def test_what_is_not_there_is_told(memory):
    memory.consent.grant("ben", "consent")
    theirs = say(memory, AGAIN, subject="ben")
    for wrong in ({"turn": "ffff"}, {"turn": theirs}, {"memory": "ffff"}, {"session": "s9"}):
        with pytest.raises(UnknownMemory):
            memory.erase("ana", **wrong, by="lea")
    for ask in (memory.erasure.preview, partial(memory.erase, by="lea")):
        with pytest.raises(NotPermitted, match="one thing at a time"):
            ask("ana", turn=theirs, session="s1")
    assert texts(memory, "ben") == ["User lives in Porto"]


def test_nothing_of_a_kind_is_nothing_erased(memory):
    """Not everything: least of all for an empty list."""
    say(memory, PORTO)
    before = texts(memory)
    ref = memory._core.known_subject("ana")
    for nothing in ({"withdrawals": []}, {"retention": True}, {"revoked": True}):
        answer = memory.erase("ana", **nothing, by="lea")
        assert answer.erasure is None
        assert answer.bodies == 0
        assert answer.subject_ref == ref
        assert answer.reach in {*nothing, "withdrawn"}
    assert texts(memory) == before
    assert memory.erasure.list() == []


# Other people


def test_another_s_relation_to_the_erased_loses_its_words_and_all_else_stays(memory):
    memory.consent.grant("ben", "consent")
    say(memory, AGAIN)
    theirs = say(memory, "I report to Ana Silva. My team uses Go.", subject="ben")
    assert texts(memory, "ben") == ["User reports to Ana Silva", "User's team uses Go"]
    before = memory.status().position
    preview = memory.erasure.preview("ana", known_as=["Ana Silva"])
    [other] = preview.others
    assert [(each.kind, each.text) for each in other.depends] == [
        ("relation", "User reports to Ana Silva")
    ]
    assert {each.what: each.count for each in other.stays}["turns"] == 1
    answer = memory.erase("ana", known_as=["Ana Silva"], by="lea")
    assert texts(memory, "ben") == ["User's team uses Go"]
    assert memory.related("ben", relation="reports-to") == []
    assert "Ana Silva" not in {each.name for each in memory.entities.list("ben")}
    kept = [
        each.type for each in memory._log.read(0, before) if each.subject_ref != answer.subject_ref
    ]
    assert kept.count("memory.admitted.v2") == 2, "the envelope stays"
    said = memory._log.read_stream(theirs, upto=1)[0].event
    assert said.content == "I report to Ana Silva. My team uses Go.", "their own words"
    records = {each.erasure: each for each in memory.erasure.list()}
    [also] = answer.also
    assert (records[also].reach, records[also].subject) == ("relation", "ben")
    assert records[also].because == answer.erasure
    sound(memory)


def test_somebody_is_found_in_others_relations_by_their_id_and_their_names_alone(memory):
    memory.consent.grant("ben", "consent")
    say(memory, AGAIN)
    say(memory, "I work with Ana. I report to Ana Silva.", subject="ben")
    assert [each.text for each in memory.erasure.preview("ana").others[0].depends] == [
        "User works with Ana"
    ]
    preview = memory.erasure.preview("ana", known_as=["ana SILVA", "nobody"])
    assert sorted(each.text for each in preview.others[0].depends) == [
        "User reports to Ana Silva",
        "User works with Ana",
    ]


# By policy


def test_a_policy_that_says_nothing_of_forgetting_has_the_digest_it_had():
    before = "eae52021939962a3b26fb4c657a21fa345e3f96fa507b03b4ced65e0efd13882"
    assert default_policy().digest() == before


@pytest.mark.parametrize(
    "fields",
    [
        {"retention_days": {"astrology": 3}},
        {"retention_days": {"health": 0}},
        {"revoked_grace_days": 0},
        {"erase_on_withdrawal": "perhaps"},
    ],
)
def test_a_policy_that_cannot_be_followed_is_refused(memory, fields):
    with pytest.raises(PolicyInvalid, match=next(iter(fields))):
        adopt(memory, **fields)


def test_each_category_is_kept_for_its_own_time(memory, clock):
    memory.consent.grant("ana", "explicit_consent", categories=["ordinary", "health"])
    adopt(memory, retention_days={"health": 30, "ordinary": 365})
    memory.store(
        "ana",
        "asthma",
        attribute="health.condition",
        details=Details(category="health", session="s1"),
    )
    memory.store("ana", "Porto", attribute="home.location", details=Details(session="s2"))
    clock.now += 30 * DAY
    assert memory.erasure.preview("ana", retention=True).positions == ()
    assert memory.erasure.erase("ana", retention=True, by="lea").erasure is None
    clock.now += 1
    memory.erasure.erase("ana", retention=True, by="lea", legal_basis="retention period over")
    assert "asthma" not in words(memory)
    assert [each.value for each in memory.beliefs("ana")] == ["Porto"]
    assert memory.erasure.list()[-1].of == "special"
    clock.now += 336 * DAY
    assert memory.erasure.erase_due() == {"erasures": 1, "bodies": 4, "held": 0}
    assert "Porto" not in words(memory)
    assert memory.erasure.erase_due() == {"erasures": 0, "bodies": 0, "held": 0}
    sound(memory)


def test_what_was_revoked_is_erased_after_the_grace(memory, clock):
    adopt(memory, revoked_grace_days=7)
    say(memory, PORTO)
    revoke(memory, "User lives in Porto")
    clock.now += 7 * DAY
    assert memory.erasure.erase_due()["erasures"] == 0
    clock.now += 1
    assert memory.erasure.erase_due()["erasures"] == 1
    assert "Porto" not in words(memory)
    assert texts(memory) == ["User works with Ben Carter"], "its own time is not over"
    assert memory.explain(memory.beliefs("ana")[0].memory_id).turn is None
    sound(memory)


def test_a_job_passes_over_who_is_held_and_counts_them(memory, clock):
    adopt(memory, retention_days={"ordinary": 10})
    memory.consent.grant("ben", "consent")
    for who in ("ana", "ben"):
        say(memory, AGAIN, subject=who)
    name = memory.erasure.holds.place("ana", "a case at court", by="lea")
    clock.now += 11 * DAY
    run = memory.operations.jobs.run("forgetting")
    assert (run.outcome, run.counts) == ("done", {"erasures": 1, "bodies": 4, "held": 1})
    assert texts(memory) == ["User lives in Porto"]
    assert texts(memory, "ben") == []
    memory.erasure.holds.lift(name, by="lea")
    clock.now += DAY
    assert memory.operations.jobs.run("forgetting").counts["erasures"] == 1
    assert "Porto" not in words(memory)


def test_who_is_old_enough_for_nothing_is_not_read(memory, clock, monkeypatch):
    adopt(memory, retention_days={"ordinary": 10}, revoked_grace_days=5, erase_on_withdrawal=True)
    memory.consent.grant("ben", "consent")
    say(memory, AGAIN)
    clock.now += 5 * DAY
    say(memory, AGAIN, subject="ben")
    clock.now += 5 * DAY + 1
    read, trail = [], Scope.trail

    def reading(self, subject_ref):
        read.append(memory._log.vault.real_id(subject_ref))
        return trail(self, subject_ref)

    monkeypatch.setattr(Scope, "trail", reading)
    assert memory.erasure.erase_due()["erasures"] == 1
    assert set(read) == {"ana"}
    read.clear()
    assert memory.erasure.erase_due()["erasures"] == 0
    assert read == []


def test_without_a_word_in_the_policy_the_job_erases_nothing(memory, clock):
    say(memory, AGAIN)
    revoke(memory, "User lives in Porto")
    clock.now += 10_000 * DAY
    assert memory.erasure.erase_due() == {"erasures": 0, "bodies": 0, "held": 0}
    assert "Porto" in words(memory)


def test_a_withdrawal_leads_to_erasure_only_where_the_policy_says_so(memory):
    say(memory, AGAIN)
    assert memory.consent.withdraw("ana", by="system") == 1
    assert "Porto" in words(memory)
    adopt(memory, erase_on_withdrawal=True)
    memory.consent.grant("ana", "consent")
    memory.consent.grant("ana", "contract")
    memory.store("ana", "pytest", attribute="tool.test_framework", details=Details(session="s1"))
    contract = say(memory, "I always use dark mode.", "s2")
    assert memory.consent.withdraw("ana", basis="contract", by="lea") == 2
    [record] = memory.erasure.list("ana")
    assert (record.reach, record.legal_basis, record.by) == ("revoked", "consent withdrawn", "lea")
    withdrawn = memory._log.find(record.because)
    assert withdrawn.type == "consent.withdrawn.v1"
    assert memory._log.read_stream(contract, upto=1)[0].event is None
    assert MODE not in words(memory)
    assert "Porto" in words(memory), "it was withdrawn before the policy said so"
    assert memory.erasure.erase_due()["erasures"] == 1
    assert "Porto" not in words(memory)
    sound(memory)


def test_a_withdrawal_under_a_hold_revokes_now_and_erases_later(memory):
    adopt(memory, erase_on_withdrawal=True)
    say(memory, AGAIN)
    name = memory.erasure.holds.place("ana", "a case at court", by="lea")
    assert memory.consent.withdraw("ana", by="system") == 1
    assert texts(memory) == []
    assert memory.erasure.erase_due() == {"erasures": 0, "bodies": 0, "held": 1}
    assert "Porto" in words(memory)
    memory.erasure.holds.lift(name, by="lea")
    assert memory.erasure.erase_due()["erasures"] == 1
    assert "Porto" not in words(memory)
    assert [each.legal_basis for each in memory.erasure.list("ana")] == ["consent withdrawn"]


def test_who_registers_anew_is_named_also_after_a_crash(memory, place, clock, monkeypatch):
    say(memory, AGAIN)
    memory.erase("ana", by="lea")

    class Killed(BaseException):
        pass

    def killed(*_args, **_more):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Log, "_record_registrations", killed)
        with pytest.raises(Killed):
            memory.erasure.register_anew("ana", by="lea")
    with open_memory(place, clock=clock) as later:
        for again in (
            lambda: later.record_turn("ana", AGAIN),
            lambda: later.consent.grant("ana", "consent"),
        ):
            with pytest.raises(NotPermitted, match="erasure register"):
                again()
        later.erasure.register_anew("ana", by="dora")
        later.consent.grant("ana", "consent")
        say(later, AGAIN)
        ref = later._log.subject("ana")
        first = next(iter(later._log.of_subject(ref)))
        assert (first.type, first.facts) == ("subject.registered.v1", {"anew": True})
        assert later._log.vault.principal_name(first.actor) == "dora"


# As it is typed


@pytest.fixture
def cli(place, memory):
    def run(*typed, code=0):
        result = CliRunner().invoke(app, ["--ledger", place, *typed])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, (typed, result.stdout, result.stderr)
        return result

    return run


def test_what_would_go_is_shown_first_and_is_what_goes(cli, memory):
    first = say(memory, PORTO)
    say(memory, AGAIN, "s2")
    shown = cli("erasure", "preview", "ana", "--turn", first[:8]).stdout
    assert "User lives in Porto" in shown
    assert "its words are from turn" in shown
    told = json.loads(cli("erasure", "preview", "ana", "--turn", first, "--json").stdout)
    assert "Porto" in words(memory), "nothing went yet"
    refused = cli("erase", "ana", "--turn", first, "--by", "lea", code=2)
    assert "--yes" in refused.stderr
    assert refused.stdout == ""
    answer = json.loads(
        cli("erase", "ana", "--turn", first, "--by", "lea", "--yes", "--json").stdout
    )
    assert answer["bodies"] == len(told["positions"])
    [record] = json.loads(cli("erasure", "list", "--json").stdout)
    assert (record["erasure"], record["counts"]) == (answer["erasure"], told["counts"])
    assert record["subject"] == "ana"
    assert answer["erasure"][:10] in cli("erasure", "list", "--subject", "ana").stdout
    assert "Nothing of ana is reached" in cli("erase", "ana", "--revoked", "--by", "lea").stdout


def test_a_whole_person_is_forgotten_and_the_certificate_is_offered(cli, memory):
    memory.consent.grant("ben", "consent")
    say(memory, AGAIN)
    say(memory, "I report to Ana Silva.", subject="ben")
    done = cli("erase", "ana", "--known-as", "Ana Silva", "--by", "lea", "--yes").stdout
    assert "User reports to Ana Silva" in done
    assert "ana is forgotten" in done
    whole, other = json.loads(cli("erasure", "list", "--json").stdout)
    assert f"beliefledger erasure certificate {whole['erasure']}" in done
    assert other["erasure"] in done


def test_the_certificate_is_written_where_it_is_wanted(cli, memory, tmp_path):
    turn = say(memory, AGAIN)
    file = tmp_path / "ana.json"
    cli("erase", "ana", "--turn", turn, "--by", "lea", "--yes", "--certificate", str(file))
    [record] = memory.erasure.list()
    certificate = json.loads(file.read_text("utf-8"))
    assert certificate["format"] == "beliefledger.certificate.v2"
    assert record.erasure in file.read_text("utf-8")


def test_a_relation_under_a_hold_is_erased_once_it_is_lifted(cli, memory):
    memory.consent.grant("ben", "consent")
    say(memory, AGAIN)
    say(memory, "I report to Ana Silva.", subject="ben")
    memory.erasure.holds.place("ben", "a case at court", by="lea", hold="file-7")
    whole = ["erase", "ana", "--known-as", "Ana Silva"]
    look = ["erasure", "preview", *whole[1:]]
    assert "once it is lifted" in " ".join(cli(*look).stdout.split())
    cli(*whole, "--by", "lea", "--yes")
    assert texts(memory, "ben") == ["User reports to Ana Silva"]
    assert "once it is lifted" in " ".join(cli(*look).stdout.split())
    assert "It was done already" in cli(*whole, "--by", "lea", "--yes").stdout
    assert "nothing of them is left" in cli(*whole, "--by", "eva", "--yes", code=3).stderr
    cli("erasure", "hold", "lift", "file-7", "--by", "lea")
    assert "User reports to Ana Silva" in cli(*look).stdout
    done = json.loads(cli(*whole, "--by", "lea", "--yes", "--json").stdout)
    assert texts(memory, "ben") == []
    first, second = memory.erasure.list()
    assert (second.erasure, second.because) == (done["erasure"], first.erasure)
    assert "nothing of them is left" in cli(*look, code=3).stderr
    for less in ("--retention", "--revoked"):
        cli("erasure", "preview", "ana", less, code=3)
    sound(memory)


def test_a_hold_on_who_is_to_be_erased_is_told_first(cli, memory):
    say(memory, AGAIN)
    memory.erasure.holds.place("ana", "a case at court", by="lea", hold="file-7")
    page = cli("erasure", "preview", "ana").stdout
    assert page.startswith(
        "Nothing of ana goes now: a legal hold forbids to erase it: file-7. Once"
    )
    [first, *_] = json.loads(cli("erasure", "preview", "ana", "--json").stdout)["stays"]
    assert first["what"] == "everything"


def test_nothing_is_erased_when_its_certificate_could_not_be_written(cli, memory, tmp_path):
    say(memory, AGAIN)
    erase = ["erase", "ana", "--yes", "--by", "lea", "--certificate"]
    away = cli(*erase, str(tmp_path / "nowhere" / "ana.json"), code=2)
    assert "name another file" in away.stderr
    key = memory._core.signing.key_path()
    key.chmod(0o644)
    assert "chmod 600" in cli(*erase, str(tmp_path / "ana.json"), code=3).stderr
    assert texts(memory) == ["User lives in Porto"]
    key.chmod(0o600)
    (tmp_path / "taken").mkdir()
    cli("erase", "ana", "--yes", "--by", " ", code=2)
    assert "say --by" in cli("erase", "ana", "--yes", code=2).stderr
    assert memory.erasure.list() == []


def test_a_certificate_that_fails_late_names_the_erasure(cli, memory, tmp_path, monkeypatch):
    say(memory, AGAIN)

    def full(*_given, **_named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", full)
    file = str(tmp_path / "ana.json")
    failed = cli("erase", "ana", "--yes", "--by", "lea", "--certificate", file, "--json", code=3)
    [record] = memory.erasure.list()
    assert f"beliefledger erasure certificate {record.erasure[:10]}" in failed.stderr
    assert record.erasure in failed.stdout


def test_a_basis_that_the_policy_does_not_know_is_refused(cli, memory):
    say(memory, AGAIN)
    refused = cli("erase", "ana", "--by", "lea", "--yes", "--legal-basis", "a whim", code=2)
    assert "a whim" in refused.stderr
    for basis in memory.policy.current.erasure_bases:
        assert basis.split()[0] in refused.stderr
    cli("erase", "ana", "--by", "lea", "--yes", "--legal-basis", "unlawful processing")
    assert memory.erasure.list()[0].legal_basis == "unlawful processing"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--turn", "a", "--session", "b"], "--turn, --session"),
        (["--retention", "--revoked"], "--retention, --revoked"),
        (["--turn", "a", "--known-as", "Ana"], "--known-as"),
        (["--turn", ""], "an id is not empty"),
    ],
)
def test_one_thing_at_a_time(cli, typed, said):
    assert said in cli("erase", "ana", "--by", "lea", "--yes", *typed, code=2).stderr


def test_a_hold_is_placed_forbids_and_is_lifted(cli, memory):
    turn = say(memory, AGAIN)
    placed = json.loads(
        cli(
            *("erasure", "hold", "place", "ana", "--reason", "a case at court", "--by", "lea"),
            *("--name", "file-7", "--json"),
        ).stdout
    )
    assert placed == {"subject": "ana", "hold": "file-7"}
    for what in ([], ["--turn", turn]):
        refused = cli("erase", "ana", *what, "--by", "eva", "--yes", "--json", code=3)
        assert refused.stdout == ""
        for told in ("file-7", "lea", "a case at court"):
            assert told in refused.stderr
    for nothing in ("", "  "):
        unsaid = ("erasure", "hold", "place", "ana", "--reason", nothing, "--by", "lea")
        assert "reason is empty: say why" in cli(*unsaid, code=2).stderr
        with pytest.raises(InvalidTurn):
            memory.erasure.holds.place("ana", nothing, by="lea")
    assert "Porto" in words(memory)
    assert "a case at court" in cli("erasure", "hold", "list", "--subject", "ana").stdout
    [held] = json.loads(cli("erasure", "hold", "list", "--json").stdout)
    assert (held["hold"], held["by"]) == ("file-7", "lea")
    assert "lifted" in cli("erasure", "hold", "lift", "file-7", "--by", "lea").stdout
    assert "No legal hold" in cli("erasure", "hold", "list").stdout
    cli("erasure", "hold", "lift", "file-7", "--by", "lea", code=3)
    cli("erase", "ana", "--by", "eva", "--yes")
    assert "Porto" not in words(memory)


def test_an_erased_memory_costs_no_statement_for_each_that_stays(place):
    """Their views are folded again without a question for each belief, and what was written since
    is not looked for in all that there is."""
    asked, read = [], []

    def note(_connection, _cursor, statement, *_others):
        asked.append(statement)

    def counted(memory, size):
        for number in range(size):
            colour, noun = _COLOURS[number // 5], _NOUNS[number % 5]
            memory.remember("ana", f"I like {colour} {noun}.")
        assert len(memory.beliefs("ana")) >= size
        least = min(memory.beliefs("ana"), key=lambda each: each.text)
        asked.clear()
        read.clear()
        memory.erase("ana", memory=least.memory_id, by="lea")
        assert least.text not in texts(memory)
        return len(asked), len(read)

    with open_memory(place, consent="consent") as memory:
        event.listen(memory._core.projector.engine, "before_cursor_execute", note)
        trail = Scope.trail
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Scope, "trail", lambda *given: read.append(1) or trail(*given))
            few, many = counted(memory, 4), counted(memory, 40)
        assert many[0] <= few[0]
        assert few[1] == many[1] == 1


_COLOURS = "red blue green white black brown ivory grey".split()
_NOUNS = "lamps chairs books shoes plants".split()
