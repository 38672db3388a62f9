"""Webhooks: signed, in order for each person, tried again, given up in sight, told again."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from command_line import CliRunner
from programs import Program
from receiver import SOON, delivered, delivering, receiving, wait_until
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from beliefledger import open_memory
from beliefledger.ledger.errors import (
    CallerMistake,
    InvalidQuery,
    InvalidTurn,
    KeyMissing,
    NotPermitted,
    UnknownMemory,
)
from beliefledger.tools.cli import app
from beliefledger.tools.relay.callout import Rules

runner = CliRunner()
ENDLESS = "webhook.delivery_settled.v1"


def say(memory, people=3, turns=2):
    for turn in range(turns):
        for person in range(people):
            memory.remember(f"p{person}", f"I live in town {turn}.", consent="consent")


def told_positions(memory):
    return [each.position for each in memory._log.read() if each.type != ENDLESS]


def test_a_receiver_that_fails_one_in_three_gets_everything_in_order_for_each_person(place):
    with (
        receiving(lambda _document, count: 503 if count % 3 == 0 else 204) as receiver,
        open_memory(place) as memory,
    ):
        made = memory.webhooks.register(receiver.url, "crm", by="lea", role="auditor", after=0)
        say(memory)
        with delivering(memory):
            delivered(memory, made.answer.webhook)
        there = told_positions(memory)
        assert sorted(receiver.positions()) == there
        assert len(receiver.all) > len(there) * 4 / 3 - 2
        lanes = {}
        for each in receiver.taken:
            lanes.setdefault(each["data"]["subject_ref"], []).append(each["data"]["position"])
        assert len(lanes) == 4
        assert all(lane == sorted(lane) for lane in lanes.values())
        assert memory.webhooks.dead_letters() == []
        for document, headers, body in receiver.all:
            assert Webhook(made.secret).verify(body, headers) == document
            assert headers["webhook-id"] == document["data"]["event_id"]
        [event] = [each for each in receiver.taken if each["type"] == "memory.admitted.v2"][:1]
        assert event["timestamp"] == event["data"]["recorded_at"]
        assert event["data"]["body"]["memory"]["claim"] == "I live in town 0."


def test_while_a_secret_is_rotated_deliveries_bear_both_signatures(place, clock):
    with receiving() as receiver, open_memory(place, clock=clock) as memory:
        first = memory.webhooks.register(receiver.url, "crm", by="lea", after=0)
        webhook = first.answer.webhook
        second = memory.webhooks.rotate_secret(webhook[:8], by="lea", overlap_seconds=60)
        assert (second.answer.secrets, first.answer.secrets) == (2, 1)
        with delivering(memory):
            delivered(memory, webhook)
            overlapping = list(receiver.all)
            clock.now += 61_000_000
            say(memory, 1, 1)
            delivered(memory, webhook)
        for _, headers, body in overlapping:
            Webhook(first.secret).verify(body, headers)
            Webhook(second.secret).verify(body, headers)
        _, headers, body = receiver.all[-1]
        Webhook(second.secret).verify(body, headers)
        with pytest.raises(WebhookVerificationError):
            Webhook(first.secret).verify(body, headers)


def test_secrets_are_nowhere_and_the_same_in_every_process(place, tmp_path):
    with open_memory(place) as memory:
        made = memory.webhooks.register("https://example.org/x", "crm", by="lea")
        key = base64.b64decode(made.secret.removeprefix("whsec_"))
        assert len(key) == 32
        assert made.secret not in repr(made)
        rows = [bytes(row.envelope) + bytes(row.body or b"") for row in memory._log.raw()]
    needles = [made.secret.encode(), made.secret[6:].encode(), key, key.hex().encode()]
    assert not any(needle in row for row in rows for needle in needles)
    files = [each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()]
    assert not any(needle in each for each in files for needle in needles)
    with open_memory(place) as memory:
        endpoint = memory.webhooks.endpoint(made.answer.webhook)
        assert memory.webhooks.secrets(endpoint) == (key,)
        other = replace(endpoint, keys=((endpoint.registered.salt, "of another vault", None),))
        with pytest.raises(KeyMissing, match="rotate"):
            memory.webhooks.secrets(other)


def test_who_is_told_what_is_their_rights(place):
    with receiving() as receiver, open_memory(place) as memory:
        say(memory, 2, 1)
        made = memory.webhooks.register(
            receiver.url, "helper", by="lea", subjects=["p0"], types=["memory.*", "consent.*"],
            after=0,
        )  # fmt: skip
        with delivering(memory):
            delivered(memory, made.answer.webhook)
        told = [each["data"] for each in receiver.taken]
        assert {each["type"].partition(".")[0] for each in told} == {"memory", "consent"}
        assert {each["subject"] for each in told} == {"p0"}
        assert all(each["body"] is None and not each["destroyed"] for each in told)
        assert all(each["facts"] is not None for each in told)


def test_outcomes_sort_out_what_has_one(place):
    with receiving() as receiver, open_memory(place) as memory:
        memory.remember("p0", "I live in Lisbon. What if I were a doctor?", consent="consent")
        made = memory.webhooks.register(
            receiver.url, "crm", by="lea", types=["gate.*"], outcomes=["quarantine"], after=0
        )
        with delivering(memory):
            delivered(memory, made.answer.webhook)
        outcomes = [each["data"]["facts"]["outcome"] for each in receiver.taken]
        assert outcomes == ["quarantine"]
        assert {each.outcome for each in memory.decisions("p0")} > {"quarantine"}


def test_an_erasure_waits_until_the_receiver_has_taken_it(place):
    busy = True

    def answer(document, _count):
        return 500 if busy and document["type"].startswith("subject.erased") else 200

    with receiving(answer) as receiver, open_memory(place) as memory:
        made = memory.webhooks.register(receiver.url, "crm", by="lea", role="auditor", after=0)
        name = f"webhook.{made.answer.webhook}"
        say(memory, 2, 1)
        with delivering(memory):
            delivered(memory, made.answer.webhook)
            ref = memory._log.subject("p0")
            memory.erase("p0", by="the dpo")
            [erasure] = memory.erasure.list()
            wait_until(lambda: receiver.all[-1][0]["type"].startswith("subject.erased"))
            issue = memory.erasure.certificates.issue
            assert issue(erasure.erasure)["consumers"]["open"] == [name]
            busy = False
            wait_until(lambda: not issue(erasure.erasure)["consumers"]["open"])
        said = issue(erasure.erasure)["consumers"]["acknowledged"]
        assert [each["consumer"] for each in said] == [name]
        [erased] = [each["data"] for each in receiver.taken if "subject.erased" in each["type"]]
        assert (erased["subject"], erased["subject_ref"]) == (None, ref)
        before = [each["data"] for each in receiver.taken if each["data"]["subject_ref"] == ref]
        assert any(each["subject"] == "p0" and each["body"] for each in before)
        # Told again, what they said is tombstones.
        receiver.taken.clear()
        memory.webhooks.replay(made.answer.webhook, by="lea", after=0)
        with delivering(memory):
            delivered(memory, made.answer.webhook)
        again = [each["data"] for each in receiver.taken if each["data"]["subject_ref"] == ref]
        assert len(again) >= len(before)
        assert all(each["body"] is None and each["subject"] is None for each in again)
        assert any(each["destroyed"] for each in again)


def test_who_is_never_told_of_somebody_does_not_hold_up_their_erasure(place):
    with receiving() as receiver, open_memory(place) as memory:
        say(memory, 2, 1)
        made = memory.webhooks.register(receiver.url, "helper", by="lea", subjects=["p1"], after=0)
        memory.erase("p0", by="the dpo")
        [erasure] = memory.erasure.list()
        with delivering(memory):
            delivered(memory, made.answer.webhook)
        issued = memory.erasure.certificates.issue(erasure.erasure)
        assert issued["state"] == "closed"
        assert not any("subject.erased" in each["type"] for each in receiver.taken)


def test_what_never_arrives_is_a_dead_letter_and_holds_up_its_person_alone(place):
    broken = True

    def answer(document, _count):
        return 500 if broken and document["type"].startswith("memory.admitted") else 200

    trying = replace(SOON, attempts=3)
    with receiving(answer) as receiver, open_memory(place) as memory:
        made = memory.webhooks.register(receiver.url, "crm", by="lea", after=0)
        webhook = made.answer.webhook
        say(memory, 2, 1)
        with delivering(memory, trying) as told:
            delivered(memory, webhook)
            dead = memory.webhooks.dead_letters()
            assert len(dead) == 2
            assert {(each.attempts, each.reason, each.waiting) for each in dead} == {
                (3, "status 500", False)
            }
            assert [each for each in told if each[1] == "given up"]
            assert memory.webhooks.list()[0].dead_letters == 2
            assert not {each.position for each in dead} & set(receiver.positions())
            # That they are given up is on record, and is told to nobody.
            assert not [each for each, _, _ in receiver.all if each["type"] == ENDLESS]
            broken = False
            waiting = memory.webhooks.redeliver(webhook, by="lea", positions=[dead[0].position])
            assert [each.position for each in waiting] == [dead[0].position]
            wait_until(lambda: len(memory.webhooks.dead_letters(webhook)) == 1)
            memory.webhooks.redeliver(webhook, by="lea")
            wait_until(lambda: not memory.webhooks.dead_letters(webhook))
        assert {each.position for each in dead} <= set(receiver.positions())
        with pytest.raises(
            UnknownMemory, match=r"no dead letter\. List them: beliefledger webhooks dead-letters"
        ):
            memory.webhooks.redeliver(webhook, by="lea", positions=[1])


def test_what_arrives_by_a_replay_is_no_dead_letter_any_more(place):
    broken = True

    def answer(document, _count):
        return 500 if broken and document["type"].startswith("memory.") else 200

    with receiving(answer) as receiver, open_memory(place) as memory:
        webhook = memory.webhooks.register(receiver.url, "crm", by="lea", after=0).answer.webhook
        say(memory, 2, 2)
        with delivering(memory, replace(SOON, attempts=1)):
            delivered(memory, webhook)
            assert len(memory.webhooks.dead_letters(webhook)) == 4
            broken = False
            memory.webhooks.replay(webhook, by="lea", after=0)
            wait_until(lambda: not memory.webhooks.dead_letters(webhook))
            delivered(memory, webhook)
        assert memory.webhooks.list()[0].dead_letters == 0
        assert memory.webhooks.redeliver(webhook, by="lea") == ()


def test_a_running_relay_tells_again_from_a_position(place):
    with receiving() as receiver, open_memory(place) as memory:
        made = memory.webhooks.register(receiver.url, "crm", by="lea", after=0)
        say(memory, 1, 1)
        with delivering(memory):
            delivered(memory, made.answer.webhook)
            receiver.taken.clear()
            memory.webhooks.replay(made.answer.webhook, by="lea", after=5)
            replayed = memory._log.head().position
            wait_until(lambda: replayed in receiver.positions())
            delivered(memory, made.answer.webhook)
        assert sorted(set(receiver.positions())) == list(range(6, replayed + 1))


def test_a_receiver_that_is_gone_is_removed_and_still_waited_for(place):
    with receiving(lambda _document, _count: 410) as receiver, open_memory(place) as memory:
        say(memory, 1, 1)
        made = memory.webhooks.register(receiver.url, "crm", by="lea", after=0)
        with delivering(memory):
            wait_until(lambda: not memory.webhooks.list())
        assert memory.status().consumers == ()
        [gone] = memory.webhooks.list(all=True)
        assert (gone.removed_by, gone.webhook) == ("system", made.answer.webhook)
        memory.erase("p0", by="the dpo")
        [erasure] = memory.erasure.list()
        issue = memory.erasure.certificates.issue
        assert issue(erasure.erasure)["consumers"]["open"]
        memory.webhooks.remove(gone.webhook, by="lea")
        consumers = issue(erasure.erasure)["consumers"]
        assert (consumers["open"], len(consumers["written_off"])) == ([], 1)
        with pytest.raises(CallerMistake, match="removed"):
            memory.webhooks.replay(gone.webhook, by="lea", after=0)


def test_what_cannot_be_a_webhook_is_refused_and_writes_nothing(place):
    with open_memory(place) as memory:
        head = memory._log.head().position
        for changed, error in (
            ({"url": "ftp://example.org/"}, InvalidTurn),
            ({"url": "https://lea:word@example.org/"}, InvalidTurn),
            ({"url": "https://"}, InvalidTurn),
            ({"url": "https://example.org:99999/"}, InvalidTurn),
            ({"url": "https://example.org/\nx"}, InvalidTurn),
            ({"name": " "}, InvalidTurn),
            ({"name": "system"}, InvalidTurn),
            ({"by": " "}, NotPermitted),
            ({"role": "king"}, InvalidTurn),
            ({"types": ["nothing.*"]}, InvalidQuery),
            ({"types": []}, InvalidTurn),
            ({"subjects": []}, InvalidTurn),
            ({"outcomes": "admit"}, InvalidTurn),
            ({"after": 10_000}, InvalidTurn),
            ({"outcomes": ["admit", "foo"]}, InvalidQuery),
            ({"outcomes": ["Admit"]}, InvalidQuery),
        ):
            given = {"url": "https://example.org/", "name": "crm", "by": "lea"} | changed
            with pytest.raises(error):
                memory.webhooks.register(given.pop("url"), given.pop("name"), **given)
        assert memory._log.head().position <= head + 2  # who acted became known
        assert memory.webhooks.list(all=True) == []
        assert memory._log.consumers() == []


def test_why_nothing_arrives_is_told_where_webhooks_are_listed(place, tmp_path):
    answers = iter([404] * 3)
    with (
        receiving(lambda _document, _count: next(answers, 204)) as receiver,
        open_memory(place) as memory,
    ):
        fine = memory.webhooks.register("https://example.org/", "fine", by="lea", types=["token.*"])
        made = memory.webhooks.register(receiver.url, "crm", by="lea", after=0)
        inside = replace(SOON, rules=Rules(allow_http=True))
        with delivering(memory, inside) as told:
            wait_until(lambda: memory.webhooks.list()[1].last_problem)
            wait_until(lambda: [each for each in told if each[1] == "failing"])
        first, second = memory.webhooks.list()
        assert (first.webhook, first.last_problem_at) == (fine.answer.webhook, None)
        assert second.last_problem == "address refused"
        head = memory._log.head().position
        with delivering(memory, inside):
            wait_until(lambda: memory._log.consumers()[1].held)
            time.sleep(0.3)
        assert memory._log.head().position == head, "once an hour"
        with delivering(memory):
            wait_until(lambda: memory.webhooks.list()[1].last_problem == "status 404")
            delivered(memory, made.answer.webhook)
        problems = {each.name: each.last_problem for each in memory.status().consumers}
        assert problems == {
            f"webhook.{fine.answer.webhook}": None,
            f"webhook.{made.answer.webhook}": "status 404",
        }
        assert not [each for each, _, _ in receiver.all if each["type"] == ENDLESS]
    for words in (["webhooks", "list"], ["status"]):
        said = runner.invoke(app, ["--ledger", place, *words])
        output = " ".join(said.output.split())  # wherever lines break
        assert "UTC: status 404" in output, said.output


RELAY = "relay webhooks --allow 127.0.0.0/8 --allow-http --first-delay 0.02 --lease-seconds 1"


def test_after_kill_9_of_the_relay_another_delivers_the_rest(place):
    with (
        receiving(lambda _document, count: 500 if count % 3 == 0 else 200) as receiver,
        open_memory(place) as memory,
    ):
        made = memory.webhooks.register(receiver.url, "crm", by="lea", after=0)
        say(memory, 4, 3)
        words = [sys.executable, "-m", "beliefledger", "--ledger", place, *RELAY.split()]
        with Program(words, stdout=subprocess.DEVNULL) as relay:
            try:
                wait_until(lambda: len(receiver.taken) > 20)
            finally:
                relay.kill()
        with delivering(memory):
            delivered(memory, made.answer.webhook)
        assert set(receiver.positions()) == set(told_positions(memory))
        lanes = {}
        for each in receiver.taken:
            lane = lanes.setdefault(each["data"]["subject_ref"], [])
            if each["data"]["position"] not in lane:  # at least once: the rest are repeats
                lane.append(each["data"]["position"])
        assert all(lane == sorted(lane) for lane in lanes.values())


def test_the_command_line_registers_lists_rotates_and_removes(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_LEDGER", str(tmp_path / "ledger"))
    assert runner.invoke(app, ["init"]).exit_code == 0

    def run(*words):
        done = runner.invoke(app, ["webhooks", *words, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    made = run(
        "register", "https://example.org/hook", "crm", "--by", "lea", "--types", "memory.*,gate.*"
    )
    webhook = made["answer"]["webhook"]
    assert made["secret"].startswith("whsec_")
    assert made["answer"]["types"] == ["memory.*", "gate.*"]
    assert [each["webhook"] for each in run("list")] == [webhook]
    assert run("rotate", webhook[:6], "--by", "lea")["secret"] != made["secret"]
    assert run("dead-letters") == []
    assert run("redeliver", webhook, "--by", "lea") == []
    assert run("replay", webhook, "--by", "lea", "--begin", "0")["position"] == 0
    for words in (["list"], ["dead-letters"]):
        assert runner.invoke(app, ["webhooks", *words]).exit_code == 0
    assert run("remove", webhook, "--by", "lea")["removed_by"] == "lea"
    assert run("list") == []
    assert len(run("list", "--all")) == 1
    words = ["webhooks", "register", "https://example.org/hook", "crm", "--by", "lea"]
    refused = runner.invoke(app, [*words, "--outcome", "admit", "--outcome", "foo"])
    assert refused.exit_code == 2
    assert "'foo' is none of admit, confirm, " in refused.stderr
    for outcome in ("admit", "failed", "canceled", "ok", "NOT_PERMITTED"):
        assert runner.invoke(app, [*words, "--outcome", outcome]).stderr.startswith("This is shown")
    past = runner.invoke(app, [*words, "--begin", "99999"])
    assert (past.exit_code, "after" in past.stderr) == (2, False)
    assert "There is no such position in the log: give one from 0 to " in past.stderr
    slip = runner.invoke(app, [*words, "--subject", "anna"])
    assert slip.stderr.startswith("Nobody knew 'anna' until now; ")
    assert "Nobody" not in runner.invoke(app, [*words, "--subject", "anna"]).stderr
    bad = runner.invoke(app, ["relay", "webhooks", "--allow", "the office"])
    assert bad.exit_code == 2
    assert "the office" in bad.output
