"""Every command of the command line, as it is typed: answers, exit codes, and what goes wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from command_line import CliRunner

from beliefledger.ledger.closeable import Closeable
from beliefledger.tools.cli import app
from beliefledger.tools.cli.followers import closed_by_a_supervisor, ended_by_a_supervisor

PROGRAM = [sys.executable, "-m", "beliefledger"]
DECISION = (
    "decision_id position turn_id subject claim type outcome reason confidence span policy"
    " recorded_at"
).split()
BELIEF = (
    "memory_id belief_id type topic entity attribute value text context confidence importance"
    " contested valid_from valid_to recorded_from recorded_to superseded_by supersedes evidence"
    " visibility_scope consent_basis expires_at session agent"
).split()


class Cli:
    """The command line on one ledger."""

    def __init__(self, ledger: Path) -> None:
        self.ledger = ledger

    def run(self, *words: str, code: int = 0, typed: str | None = None) -> Any:
        result = CliRunner().invoke(app, ["--ledger", str(self.ledger), *words], input=typed)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, (words, result.stdout, result.stderr)
        assert "Traceback" not in result.stderr
        return result

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self.run(*words, "--json", code=code).stdout)

    def error(self, *words: str, code: int = 3) -> str:
        """The one line on standard error; there is nothing on standard output."""
        result = self.run(*words, code=code)
        assert result.stdout == ""
        assert result.stderr.count("\n") == 1
        assert result.stderr.startswith("beliefledger: ")
        return result.stderr

    def say(self, text: str, at: str, subject: str = "ana") -> list[dict[str, Any]]:
        return self.json("remember", "--subject", subject, text, "--at", at)["decisions"]


@pytest.fixture
def cli(tmp_path):
    return Cli(tmp_path / "ledger")


@pytest.fixture
def ana(cli):
    """A ledger in which Ana consented and said a few things."""
    cli.run("consent", "grant", "--subject", "ana", "--basis", "consent")
    cli.say("I live in Lisbon.", "2026-01-05")
    cli.say("I use unittest.", "2026-01-06")
    cli.say("I'm tired today.", "2026-01-07")
    cli.say("I moved to Porto.", "2026-03-01")
    cli.say("No, I use pytest, not unittest.", "2026-03-02")
    return cli


@pytest.fixture
def looping(cli):
    """A ledger in which Ana goes round in circles."""
    cli.run("consent", "grant", "--subject", "ana")
    for day, part in enumerate(["morning", "afternoon", "morning", "afternoon", "morning"], 1):
        cli.say(f"I prefer {part} meetings.", f"2026-04-{3 * day:02}")
    return cli


# Beginning


def test_init_makes_a_ledger_and_tells_once_where_the_key_is(cli):
    first = cli.run("init")
    assert "master.key" in first.stderr
    assert "apart from the backups" in first.stderr
    assert (cli.ledger / "master.key").stat().st_mode & 0o777 == 0o600
    again = cli.run("init", "--json")
    assert again.stderr == ""
    assert json.loads(again.stdout)["key_file"] is None


def test_without_consent_a_refusal_says_how_to_grant_it_and_doing_so_helps(cli):
    said = cli.run("remember", "--subject", "ana", "I live in Porto.")
    told = re.sub(r"\\\n +", "", said.stdout)  # a long command goes on in the next line
    hint = re.search(r"beliefledger (consent grant .*)", told)
    assert "permission.no_consent" in said.stdout
    assert hint is not None
    cli.run(*hint[1].split())
    assert [each["text"] for each in cli.json("beliefs", "--subject", "ana")] == [
        "User lives in Porto"
    ]


def test_remember_with_consent_answers_with_turn_position_and_decisions(cli):
    answer = cli.json("remember", "--subject", "ana", "I live in Porto.", "--consent", "consent")
    assert set(answer) >= {"turn_id", "position", "decisions"}
    (decision,) = answer["decisions"]
    assert set(decision) >= set(DECISION)
    assert decision["span"]["text"] == "I live in Porto"


def test_remembering_the_same_at_the_same_time_is_one_turn(ana):
    before = ana.json("status")["position"]
    answer = ana.json("remember", "--subject", "ana", "I use unittest.", "--at", "2026-01-06")
    assert answer["already"]
    assert ana.json("status")["position"] == before


# Queries


def test_beliefs_now_at_a_position_at_a_time_and_of_a_date(ana):
    now = ana.json("beliefs", "--subject", "ana")
    assert {each["value"] for each in now} == {"Porto", "pytest"}
    assert all(set(each) >= set(BELIEF) for each in now)
    opened = next(each for each in now if each["value"] == "Porto")["recorded_from_position"]
    before = str(opened - 1)
    then = ana.json("beliefs", "--as-of", before, "--valid-at", "2026-02-01")
    assert {each["value"] for each in then} == {"Lisbon", "unittest"}
    in_february = ana.json("beliefs", "--valid-at", "2026-02-01")
    assert {each["value"] for each in in_february} == {"Lisbon", "pytest"}
    assert ana.json("beliefs", "--as-of", "2020-01-01") == []
    assert f"as of position {before}" in ana.run("beliefs", "--as-of", before).stdout


def test_beliefs_can_be_picked(ana):
    assert ana.json("beliefs", "--subject", "nobody") == []
    assert ana.json("beliefs", "--type", "preference") == []
    assert ana.json("beliefs", "--min-confidence", "0.99") == []
    assert ana.json("beliefs", "--min-importance", "1") == []
    home = ana.json("beliefs", "--subject", "ana", "--topic", "home")
    assert [each["value"] for each in home] == ["Porto"]
    ana.say("What if I were a doctor?", "2026-03-03")
    kept = ana.json("beliefs", "--quarantined", "--min-confidence", "0")
    assert any(each["quarantined"] for each in kept)


@pytest.mark.parametrize("asked", ["beliefs", "search where", "context where", "remember hello"])
@pytest.mark.parametrize("subject", ["", " "])
def test_an_empty_subject_is_a_mistake(cli, asked, subject):
    said = cli.run(*asked.split(), "--subject", subject, code=2)
    assert "name whom it is about" in " ".join(said.stderr.split())


def test_history_and_explain_take_the_first_characters_of_an_id(ana):
    porto = next(each for each in ana.json("beliefs") if each["value"] == "Porto")
    short = porto["memory_id"][:8]
    versions = ana.json("history", short)
    assert ana.json("history", porto["belief_id"][:8]) == versions
    assert [each["value"] for each in versions] == ["Lisbon", "Lisbon", "Porto"]
    answer = ana.json("explain", short)
    assert answer["turn"]["marked"] == "⟦I moved to Porto⟧."
    assert answer["decision"]["reason"] == "truth.change"
    page = ana.run("explain", short).stdout
    for words in ("⟦I moved to Porto⟧", "truth.change", "confidence", "default", "Lisbon"):
        assert words in page


def test_explain_says_since_when_a_memory_was_first_known(ana):
    porto = next(each for each in ana.json("beliefs") if each["value"] == "Porto")
    old = ana.json("history", porto["memory_id"])[0]
    answer = ana.json("explain", old["memory_id"])
    page = ana.run("explain", old["memory_id"]).stdout
    [known] = [line for line in page.splitlines() if line.split()[:1] == ["known"]]
    assert known.split()[-1] == str(answer["positions"]["admission"])


def test_explain_says_why_something_was_refused(ana):
    (refused,) = ana.json("decisions", "--outcome", "reject")
    answer = ana.json("explain", refused["decision_id"][:10])
    assert answer["memory"] is None
    assert answer["decision"] == refused
    assert any("transient" in check for check in answer["trace"])
    assert "durability.transient" in ana.run("explain", refused["decision_id"]).stdout
    admitted = ana.json("decisions", "--outcome", "admit")[0]
    by_decision = ana.json("explain", admitted["decision_id"])
    assert by_decision["memory"]["memory_id"] == admitted["memory_id"]


def test_decisions_by_outcome_reason_and_number(ana):
    rejected = ana.json("decisions", "--outcome", "reject")
    assert [each["reason"] for each in rejected] == ["durability.transient"]
    assert ana.json("decisions", "--reason", "durability.transient") == rejected
    assert len(ana.json("decisions", "--limit", "2")["items"]) == 2
    assert ana.json("decisions", "--waiting") == []
    assert "durability.transient" in ana.run("decisions", "--subject", "ana").stdout


def test_pages_fit_a_hundred_columns(ana):
    ana.say("I prefer tea with milk and honey, in the large blue cup, on rainy days.", "2026-03-04")
    memory = ana.json("beliefs")[0]["memory_id"]
    for words in (["beliefs"], ["decisions"], ["history", memory], ["explain", memory], ["status"]):
        page = ana.run(*words).stdout
        assert max(len(line.rstrip()) for line in page.splitlines()) <= 100, words


def test_words_of_others_cannot_steer_the_terminal(cli):
    cli.run("consent", "grant", "--subject", "eve")
    cli.say("I like \x1b[31mred\x07 [bold]tea[/bold].", "2026-01-01", "eve")
    page = cli.run("decisions").stdout + cli.run("ops", "tail").stdout + cli.run("beliefs").stdout
    assert "\x1b" not in page
    assert "\x07" not in page
    assert "[bold]" in page


# Settling


def test_a_loop_is_shown_explained_as_a_choice_and_resolved_by_context(looping):
    (loop,) = looping.json("conflicts", "loops")
    assert loop["contested"]
    assert loop["supersessions"] == 3
    (conflict,) = looping.json("conflicts", "list", "--subject", "ana")
    assert "--choose" in looping.run("conflicts", "list").stdout
    belief = conflict["belief_id"][:10]
    values = {each["value"] for each in looping.json("history", belief)}
    morning = next(value for value in values if "morning" in value)
    afternoon = next(value for value in values if "afternoon" in value)
    held = looping.json(
        *("conflicts", "resolve", belief, "--by", "lea"),
        *("--context", f"office={morning}", "--context", f"home={afternoon}"),
    )
    assert {(each["context"], each["value"]) for each in held} == {
        ("office", morning),
        ("home", afternoon),
    }
    assert looping.json("conflicts", "list") == []
    assert looping.run("conflicts", "list").stdout == "Nothing to choose.\n"


def test_a_conflict_is_settled_by_choosing_an_escalated_decision(looping):
    (conflict,) = looping.json("conflicts", "list")
    chosen = conflict["escalated"][0]["decision_id"][:10]
    held = looping.json(
        "conflicts", "resolve", conflict["belief_id"], "--choose", chosen, "--by", "lea"
    )
    assert ["morning" in each["value"] for each in held] == [True]


def test_resolve_wants_a_choice_a_name_and_a_conflict(ana):
    belief = ana.json("beliefs")[0]["belief_id"]
    assert "not contested" in ana.error(
        "conflicts", "resolve", belief, "--choose", "x", "--by", "lea"
    )
    ana.error("conflicts", "resolve", belief, "--by", "lea", code=2)
    ana.error("conflicts", "resolve", belief, "--context", "office", "--by", "lea", code=2)
    twice = ("--context", "office=morning", "--context", "office=afternoon")
    assert "twice" in ana.error("conflicts", "resolve", belief, *twice, "--by", "lea", code=2)
    ana.run("conflicts", "resolve", belief, "--choose", "x", code=2)


def test_review_lists_what_waits_and_keeps_what_is_approved(ana):
    ana.say("I'm allergic to penicillin.", "2026-03-05")
    (waiting,) = ana.json("conflicts", "review")
    assert waiting["outcome"] == "queue"
    assert "penicillin" in ana.run("conflicts", "review").stdout
    ana.error("conflicts", "review", waiting["decision_id"], "--by", "lea", code=2)
    ana.error("conflicts", "review", waiting["decision_id"], "--approve", code=2)
    answer = ana.json(
        "conflicts", "review", waiting["decision_id"][:8], "--approve", "--by", "dr. lima"
    )
    assert answer["memory_id"] in {each["memory_id"] for each in ana.json("beliefs")}
    assert ana.run("conflicts", "review").stdout == "Nothing waits for a review.\n"
    ana.error("conflicts", "review", waiting["decision_id"], "--refuse", "--by", "dr. lima")


def test_a_refused_review_keeps_nothing(ana):
    ana.say("I'm allergic to penicillin.", "2026-03-05")
    before = ana.json("beliefs")
    (waiting,) = ana.json("conflicts", "review")
    answer = ana.json("conflicts", "review", waiting["decision_id"], "--refuse", "--by", "dr. lima")
    assert answer == {"approved": False, "memory_id": None}
    assert ana.json("beliefs") == before


def test_consent_is_granted_shown_and_withdrawn(ana):
    answer = ana.json(
        *("consent", "grant", "--subject", "ana", "--basis", "explicit_consent"),
        *("--category", "health", "--expires", "2030-01-01", "--note", "on paper", "--by", "lea"),
    )
    assert answer["categories"] == ["health"]
    assert len(ana.json("consent", "list", "--subject", "ana")) == 2
    assert "explicit_consent" in ana.run("consent", "list", "--subject", "ana").stdout
    withdrawn = ana.json(
        "consent", "withdraw", "--subject", "ana", "--basis", "consent", "--by", "lea"
    )
    assert withdrawn == {"subject": "ana", "revoked": 3}
    assert ana.json("beliefs") == []
    assert "in force" in ana.error(
        "consent", "withdraw", "-s", "ana", "--grant", "00", "--by", "lea"
    )
    assert "lawful basis" in ana.error(
        "consent", "grant", "--subject", "ana", "--basis", "whim", code=2
    )
    assert ana.json("consent", "list", "--subject", "nobody") == []


def test_a_revoked_memory_stays_in_the_history(ana):
    memory = ana.json("beliefs")[0]["memory_id"]
    answer = ana.json("revoke", memory[:8], "--by", "lea", "--note", "she asked")
    assert answer["recorded_to"] is not None
    assert memory not in {each["memory_id"] for each in ana.json("beliefs")}
    assert memory in {each["memory_id"] for each in ana.json("history", memory)}
    ana.error("revoke", memory, "--by", "lea")


def test_erasing_asks_then_forgets_and_refuses_until_registered_anew(ana):
    assert "--yes" in ana.error("erase", "ana", "--by", "lea", code=2)
    answer = ana.json("erase", "ana", "--by", "lea", "--yes")
    assert answer["bodies"] > 0
    assert ana.json("beliefs", "--subject", "ana") == []
    assert "(erased)" in ana.run("decisions").stdout
    assert "erased" in ana.error("remember", "--subject", "ana", "I am back.")
    again = ana.json("erase", "ana", "--by", "lea", "--yes")
    assert (again["already"], again["erasure"]) == (True, answer["erasure"])
    assert "erased" in ana.error("erase", "ana", "--by", "max", "--yes")
    assert ana.json("audit", "replay", "--all")["inputs_destroyed"] > 0
    assert "Porto" not in ana.run("ops", "tail", "--json").stdout
    ana.run("erasure", "register", "ana", "--by", "lea")
    assert ana.say("I live in Faro.", "2026-05-01")[0]["reason"] == "permission.no_consent"
    ana.error("erasure", "register", "nobody", "--by", "lea")
    ana.error("erase", "nobody", "--by", "lea", "--yes")


def test_a_policy_is_shown_validated_adopted_and_named(ana, tmp_path):
    strict = tmp_path / "strict.yaml"
    strict.write_text("name: strict\nthresholds: {default: 0.9}\n")
    valid = ana.json("policy", "validate", str(strict))
    assert ana.json("policy", "show")["policy"]["name"] == "default"
    assert ana.json("policy", "adopt", str(strict), "--by", "lea") == valid
    assert "name: strict" in ana.run("policy", "show").stdout
    assert ana.json("status")["policy"]["name"] == "strict"
    assert ana.say("I play the cello.", "2026-05-01")[0]["outcome"] == "quarantine"
    assert "lawful_bases" in ana.run("policy", "show", "--default").stdout
    strict.write_text("thresholds: {default: 9}\n")
    assert "thresholds" in ana.error("policy", "validate", str(strict))
    ana.error("policy", "adopt", str(strict), "--by", "lea")
    strict.write_text("a: [")
    assert "not YAML" in ana.error("policy", "validate", str(strict))


# Running


def test_replay_one_and_all_and_under_another_policy(ana, tmp_path):
    decision = ana.json("decisions")[0]["decision_id"]
    assert ana.json("audit", "replay", decision[:8])["verdict"] == "same"
    assert "same" in ana.run("audit", "replay", decision).stdout
    answer = ana.json("audit", "replay", "--all")
    assert answer["decisions"] == answer["same"] > 0
    strict = tmp_path / "strict.yaml"
    strict.write_text("name: strict\nthresholds: {default: 0.9}\n")
    other = ana.json("audit", "replay", "--all", "--policy", str(strict))
    assert other["different"] == len(other["differing"]) > 0
    assert "quarantine" in ana.run("audit", "replay", "--all", "--policy", str(strict)).stdout
    assert ana.json("audit", "replay", decision, "--policy", str(strict))["verdict"] == "different"
    ana.error("audit", "replay", code=2)
    ana.error("audit", "replay", decision, "--all", code=2)
    ana.error("audit", "replay", "ffffffff")


def test_rebuild_gives_the_same_digests_and_takes_one_view(ana):
    before = {each["name"]: each["digest"] for each in ana.json("status", "--digests")["views"]}
    answer = ana.json("ops", "rebuild", "--verify")
    assert {each["name"]: each["digest"] for each in answer} == before
    assert all(each["same"] for each in answer)
    assert [each["name"] for each in ana.json("ops", "rebuild", "churn")] == ["churn"]
    assert "There is no view" in ana.error("ops", "rebuild", "nonsense", code=2)


def test_verify_says_that_nothing_is_wrong_or_where(ana):
    assert ana.json("proof", "verify")["ok"]
    assert "nothing is wrong" in ana.run("proof", "verify").stdout


def test_status_has_the_documented_fields(ana):
    fast = ana.json("status")
    assert all(each["digest"] is each["content_digest"] is None for each in fast["views"])
    assert ana.json("status", "--no-digests") == fast
    answer = ana.json("status", "--digests")
    assert answer["pending_turns"] == 0
    assert answer["position"] > 0
    for view in answer["views"]:
        assert set(view) >= {"name", "position", "lag", "digest", "content_digest"}
        assert view["lag"] == 0
        assert len(view["content_digest"]) == 64
    assert ana.json("status") == answer  # they are kept until something happens


def test_tail_writes_one_document_a_line_past_a_position(ana):
    lines = ana.run("ops", "tail", "--json").stdout.splitlines()
    events = [json.loads(line) for line in lines]
    assert [each["position"] for each in events] == list(range(1, len(events) + 1))
    picked = ana.run(
        *("ops", "tail", "--after", "12", "--types", "memory.admitted.v2,gate.decided.v2"),
        *("--subject", "ana", "--json"),
    ).stdout.splitlines()
    kept = [json.loads(line) for line in picked]
    assert {each["type"] for each in kept} == {"memory.admitted.v2", "gate.decided.v2"}
    assert {each["subject"] for each in kept} == {"ana"}
    assert all(each["position"] > 12 for each in kept)
    assert "Nothing is known about" in ana.error("ops", "tail", "--subject", "nobody")
    assert "memory.admitted.v2" in ana.run("ops", "tail").stdout


def test_tail_as_a_consumer_goes_on_where_it_was(ana):
    def positions(*words):
        lines = ana.run(
            "ops", "tail", "--consumer", "mailer", "--no-follow", "--json", *words
        ).stdout
        return [json.loads(line)["position"] for line in lines.splitlines()]

    head = ana.json("status")["position"]
    assert positions() == list(range(1, head + 1))
    assert positions() == []
    ana.say("I play the cello.", "2026-05-01")
    [turn] = positions("--types", "turn.recorded.v2", "--subject", "ana")
    assert turn == head + 1
    assert positions() == []  # what was not wanted is passed over too
    [mailer] = ana.json("status")["consumers"]
    assert (mailer["name"], mailer["lag"], mailer["holder"]) == ("mailer", 0, None)
    page = ana.run("status").stdout
    assert re.search(r"mailer +\d+ +0 +4 +nobody", page)


def test_tail_as_a_consumer_follows_and_another_takes_over(ana):
    words = ("--ledger", ana.ledger, "ops", "tail", "--consumer", "mailer", "--lease-seconds", "1")
    with _started(*words, "--json") as first:
        assert json.loads(first.stdout.readline())["position"] == 1
        with _started(*words, "--json") as second:
            first.kill()
            whole = [line for line in first.stdout if line.endswith("\n")]
            heard = [json.loads(line)["position"] for line in whole]
            # The first may have heard everything before it died: now there is more.
            ana.say("I play the cello.", "2026-05-01")
            head = ana.json("status")["position"]
            heard.append(json.loads(second.stdout.readline())["position"])
            while heard[-1] < head:
                heard.append(json.loads(second.stdout.readline())["position"])
            second.send_signal(signal.SIGINT)
            assert second.wait(20) == 130
            assert "Traceback" not in second.stderr.read()
    assert sorted({1, *heard}) == list(range(1, head + 1))


def test_tail_says_that_another_process_is_the_consumer(ana):
    words = ("ops", "tail", "--consumer", "mailer")
    with _started("--ledger", ana.ledger, *words, "--json") as first:
        assert json.loads(first.stdout.readline())["position"] == 1
        assert "Another process runs the consumer mailer. Try again" in ana.error(
            *words, "--no-follow"
        )
        with _started("--ledger", ana.ledger, *words) as second:
            assert "mailer: waiting to take over." in second.stderr.readline()
            for each in (second, first):
                each.send_signal(signal.SIGINT)
                assert each.wait(20) == 130


def test_a_consumer_has_a_name_a_lease_and_a_place_of_its_own(ana):
    both = ana.error("ops", "tail", "--consumer", "mailer", "--after", "3", code=2)
    assert "--after, or --consumer" in both
    assert "cannot name a consumer" in ana.error("ops", "tail", "--consumer", "two words", code=2)
    for own in ("projector", "scheduler"):
        said = ana.error("ops", "tail", "--consumer", own, "--no-follow", code=2)
        assert f"'{own}' is a consumer of the ledger's own" in said
    lease = ("--lease-seconds", "0")
    assert "A lease is" in ana.error("ops", "tail", "--consumer", "mailer", *lease, code=2)
    assert "A lease is" in ana.error("ops", "project", *lease, code=2)
    assert ana.json("status")["consumers"] == []


def test_a_consent_that_is_not_heeded_is_remarked_on(ana):
    say = ("remember", "--subject", "ana", "--consent", "consent", "I play the cello.")
    assert "--consent" not in ana.run(*say).stderr
    ana.run("consent", "withdraw", "--subject", "ana", "--by", "ana")
    store = ("store", "-s", "ana", "pet", "a cat", "--consent", "consent")
    for words in (say, store):
        said = ana.run(*words).stderr
        assert "--consent records no basis for ana, who had one before or withdrew it." in said
        assert "beliefledger consent grant --subject ana --basis consent" in said
    ana.run("consent", "grant", "--subject", "ana")
    assert "--consent" not in ana.run(*say).stderr


@pytest.mark.parametrize(
    ("words", "listing"),
    [
        (("erasure", "hold", "lift", "nope", "--by", "lea"), "erasure hold list"),
        (("ops", "retry", "nope"), "ops retry"),
        (("diff", "-s", "nobody", "--start", "0"), "subjects"),
        (("erase", "nobody", "--by", "lea", "--yes"), "subjects"),
        (("ops", "tail", "-s", "nobody"), "subjects"),
        (("entities", "show", "-s", "nobody", "Bea"), "subjects"),
        (("history", "ffffff"), "beliefs, decisions"),
    ],
)
def test_what_is_not_there_names_the_list_of_its_kind(ana, words, listing):
    assert ana.error(*words).endswith(f"beliefledger {listing}.\n")


def test_copy_answers_with_counts_and_the_digests_of_both_sides(ana, tmp_path):
    copy = str(tmp_path / "copy")
    answer = json.loads(ana.run("ops", "copy", str(ana.ledger), copy, "--json").stdout)
    assert answer["digests"]["source"] == answer["digests"]["copy"]
    assert {len(each) for each in answer["digests"]["copy"].values()} == {64}
    assert answer["events"] == ana.json("status")["position"]
    assert (answer["source"], answer["destination"]) == (str(ana.ledger), copy)
    assert Cli(Path(copy)).json("beliefs") == ana.json("beliefs")
    ana.say("I play the cello.", "2026-05-01")
    page = ana.run("ops", "copy", str(ana.ledger), copy).stdout
    assert "had been copied before" in page
    assert answer["digests"]["copy"]["history"][:32] not in page
    Cli(Path(copy)).say("I play the flute.", "2026-05-02")
    assert "was used since" in ana.error("ops", "copy", str(ana.ledger), copy)
    assert "to itself" in ana.error("ops", "copy", copy, copy, code=2)
    assert "There is no ledger at" in ana.error("ops", "copy", str(tmp_path / "nothing"), copy)
    assert not (tmp_path / "nothing").exists()


def test_process_decides_what_was_only_recorded(cli, tmp_path):
    file = tmp_path / "chat.json"
    file.write_text(json.dumps([{"role": "user", "content": "I live in Porto."}]))
    cli.run("ingest", str(file), "--consent", "consent", "--no-process")
    assert cli.json("status")["pending_turns"] == 1
    assert cli.json("process", "--limit", "5")["turns"] == 1
    assert cli.json("status")["pending_turns"] == 0
    assert "0 pending" in cli.run("process").stdout


# What goes wrong


def test_reading_commands_want_a_ledger_and_make_none(cli, tmp_path):
    for words in (
        *(
            ["beliefs"],
            ["status"],
            ["decisions"],
            ["conflicts", "loops"],
            ["conflicts", "list"],
            ["proof", "verify"],
            ["ops", "tail"],
        ),
        *(["ops", "project"], ["ops", "upgrade"], ["ops", "tail", "--consumer", "x"]),
        *(
            ["ops", "rebuild"],
            ["audit", "replay", "--all"],
            ["history", "a"],
            ["explain", "a"],
            ["conflicts", "review"],
        ),
        *(["consent", "list", "-s", "ana"], ["policy", "show"], ["process"]),
        *(["erase", "ana", "--by", "lea", "--yes"], ["revoke", "a", "--by", "lea"]),
    ):
        assert "There is no ledger at" in cli.error(*words)
        assert not cli.ledger.exists()
    empty = Cli(tmp_path)
    empty.error("status")
    assert list(tmp_path.iterdir()) == []


def test_malformed_arguments_are_usage_and_unknown_ids_are_not(ana):
    for words in (
        ["beliefs", "--valid-at", "yesterday"],
        ["beliefs", "--as-of", "soon"],
        ["beliefs", "--as-of", "99999"],
        ["beliefs", "--topic", "home"],
        ["decisions", "--outcome", "nonsense"],
        ["remember", "--subject", "ana", "  "],
        ["remember", "--subject", "ana", "words", "--at", "soon"],
    ):
        ana.error(*words, code=2)
    for words in (["history", "ffffff"], ["explain", "ffffff"], ["audit", "replay", "ffffff"]):
        ana.error(*words)
    for words in (["nonsense"], ["beliefs", "--nonsense"], ["beliefs", "--min-confidence", "2"]):
        ana.run(*words, code=2)


def test_what_the_policy_does_not_know_and_empty_ids_are_usage(ana):
    grant = ["consent", "grant", "--subject", "ana"]
    for words in (["--basis", "whim"], ["--category", "whim"], ["--scope", "whim"]):
        assert "'whim' is not a" in ana.error(*grant, *words, code=2)
    for words in (["explain"], ["history"], ["audit", "replay"], ["conflicts", "review"]):
        assert "an id is not empty" in ana.run(*words, "", code=2).stderr
    for words in (["conflicts", "resolve", "", "--choose", "x"], ["revoke", " "]):
        ana.run(*words, "--by", "lea", code=2)
    told = ana.error("beliefs", "--valid-at", "soon", code=2)
    assert "cannot be recorded" not in told
    near = ana.error("ops", "tail", "--types", "memory.admited.v1", code=2)
    assert "memory.admitted.v2" in near
    ana.error("ops", "tail", "--types", "", code=2)


def test_a_review_is_one_or_the_other(ana):
    decision = ana.json("decisions")[0]["decision_id"]
    both = ana.error(
        "conflicts", "review", decision, "--approve", "--refuse", "--by", "lea", code=2
    )
    assert "not both" in both
    ana.error("conflicts", "review", "--approve", "--by", "lea", code=2)


def test_an_empty_variable_is_the_default_and_suggestions_can_be_copied(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BELIEFLEDGER_LEDGER", "")
    result = CliRunner().invoke(app, ["status"])
    assert "There is no ledger at ./beliefledger-data" in result.stderr
    assert "--ledger 'my notes' init" in Cli(Path("my notes")).error("status")


def test_the_ledger_may_be_named_after_the_command(ana, tmp_path):
    elsewhere = Cli(tmp_path / "elsewhere")
    expected = ana.json("beliefs")
    assert elsewhere.json("beliefs", "--ledger", str(ana.ledger)) == expected
    assert elsewhere.json("consent", "list", "-s", "ana", f"--ledger={ana.ledger}")
    elsewhere.run("beliefs", "--ledger", code=2)
    ana.run("remember", "--subject", "ana", "--", "--ledger")


def test_a_store_of_another_kind_is_refused_with_its_name():
    result = Cli(Path("x")).run("--ledger", "mysql://host/base", "status", code=2)
    assert "mysql:// is no place of a ledger" in result.stderr


def test_a_file_cannot_be_a_ledger(tmp_path):
    (tmp_path / "file").write_text("")
    Cli(tmp_path / "file").error("init")


def test_a_wrong_master_key_is_told_before_anything_is_written(ana, monkeypatch):
    def contents():
        return {
            path.name: path.read_bytes()
            for path in ana.ledger.rglob("*")
            if path.is_file() and not path.name.endswith(("-shm", "-wal"))
        }

    before = contents()
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", "ab" * 32)
    for words in (["status"], ["remember", "--subject", "ana", "I like tea."], ["init"]):
        assert "master key" in ana.error(*words)
    assert contents() == before
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", "no key")
    ana.error("status")


def test_a_missing_key_file_is_told_and_not_replaced(ana):
    (ana.ledger / "master.key").unlink()
    assert "no master key" in ana.error("beliefs")
    assert not (ana.ledger / "master.key").exists()


# As processes


class _Process(subprocess.Popen):
    """Ends with the test, whatever becomes of that."""

    def __exit__(self, kind, *rest):
        if kind is not None:
            self.kill()
        super().__exit__(kind, *rest)


def _started(*words: object, **more: Any) -> _Process:
    return _Process(
        [*PROGRAM, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_interruptible,
        **more,
    )


def _interruptible():
    """A shell lets what it starts in the background ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_as_a_process_only_the_document_is_on_standard_output(tmp_path):
    environment = {**os.environ, "BELIEFLEDGER_LEDGER": str(tmp_path / "here")}
    words = ("remember", "--subject", "ana", "I live in Porto.", "--consent", "consent", "--json")
    done = subprocess.run(
        [*PROGRAM, *words], capture_output=True, text=True, env=environment, check=True
    )
    assert json.loads(done.stdout)["decisions"][0]["outcome"] == "admit"
    assert "master.key" in done.stderr
    assert (tmp_path / "here" / "log.db").exists()


def test_a_reader_that_goes_away_ends_the_command_quietly(looping):
    with _started("--ledger", looping.ledger, "ops", "tail") as process:
        assert process.stdout is not None
        process.stdout.close()
        process.wait(20)
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 130


def test_following_shows_what_another_process_says_and_ends_at_an_interrupt(ana):
    after = str(ana.json("status")["position"])
    follow = _started(
        *("--ledger", ana.ledger, "ops", "tail", "--after", after, "--follow", "--json"),
        start_new_session=True,
    )
    with follow:
        time.sleep(1)
        ana.say("I play the cello.", "2026-05-01")
        assert follow.stdout is not None
        assert json.loads(follow.stdout.readline())["type"] == "turn.recorded.v2"
        follow.send_signal(signal.SIGINT)
        follow.wait(20)
        assert follow.stderr is not None
        assert "Traceback" not in follow.stderr.read()
    assert follow.returncode == 130


class _Waiting(Closeable):
    def __init__(self):
        self.closed = threading.Event()

    def close(self):
        self.closed.set()


def _interrupted_and_dropped(work):
    with ended_by_a_supervisor(), closed_by_a_supervisor(work):
        with suppress(KeyboardInterrupt):  # as Python does within a finalizer
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        assert work.closed.wait(10)


def test_an_interrupt_that_is_dropped_where_it_came_ends_the_work_all_the_same():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            _interrupted_and_dropped(_Waiting())
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_help_is_quick_because_nothing_heavy_is_imported():
    code = "import sys, tools.cli; print([m for m in sys.modules if m in HEAVY])"
    heavy = "{'sqlalchemy', 'cryptography', 'dateparser', 'eventsourcing', 'pydantic', 'orjson'}"
    done = subprocess.run(
        [sys.executable, "-c", code.replace("HEAVY", heavy)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_a_full_disk_beneath_the_output_is_told_on_one_line(tmp_path):
    place = str(tmp_path / "ledger")
    run = [sys.executable, "-m", "beliefledger", "--ledger", place]
    said = [*run, "remember", "-s", "ana", "--consent", "consent", "I live in Porto."]
    subprocess.run(said, check=True, capture_output=True, timeout=60)
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*run, "ops", "tail", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert ended.returncode == 3
    assert len(ended.stderr.splitlines()) == 1
    assert b"No space left" in ended.stderr
