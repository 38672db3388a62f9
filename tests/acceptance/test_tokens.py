"""Tokens: made once, kept as a digest, for some people and some verbs, and ended everywhere."""

from __future__ import annotations

import json
import time

import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.access.calls import Call, inputs_digest
from beliefledger.access.tokens import TokenRefused, digest
from beliefledger.ledger.errors import InvalidTurn, NotPermitted, SecretGiven, UnknownMemory
from beliefledger.ledger.events.ops import AccessRefused, TokenIssued, ToolCalled
from beliefledger.ledger.redact import redact
from beliefledger.tools.cli import app

runner = CliRunner()


def test_a_token_says_who_for_whom_and_what_for(place):
    with open_memory(place) as memory:
        made = memory.tokens.create(
            "support-bot",
            by="lea",
            subjects=["ana", "ben"],
            agent="desk",
            consent="consent",
            scopes=["memory", "conflicts.list"],
            expires_at="2100-01-01",
        )
        who = memory.tokens.principal(made.token)
        assert (who.name, who.agent, who.role, who.tenant) == (
            "support-bot", "desk", "agent", memory._log.tenant
        )  # fmt: skip
        assert who.subjects == {memory._log.subject("ana"), memory._log.subject("ben")}
        assert who.consent == "consent"
        assert who.may("search")
        assert who.may("conflicts.list")
        assert not who.may("conflicts.resolve")
        [listed] = memory.tokens.list()
        assert listed == made.answer
        assert listed.subjects == ("ana", "ben")
        assert listed.issued_by == "lea"
        assert listed.last_used_at is None
    with open_memory(place) as memory:
        assert memory.tokens.principal(made.token) == who
        assert made.token not in repr(who)
        assert made.token not in repr(made)


def test_a_token_is_at_hand_as_long_as_its_look_is_fresh(place, monkeypatch):
    from beliefledger.access import tokens

    monkeypatch.setattr(tokens, "LOOK_SECONDS", 3_600)
    with open_memory(place) as memory, open_memory(place) as elsewhere:
        made = memory.tokens.create("bot", by="lea", subjects=["ana"])
        assert memory.tokens.at_hand(made.token) is None  # not used yet
        who = memory.tokens.principal(made.token)
        assert memory.tokens.at_hand(made.token) == who
        assert memory.tokens.at_hand("blt_" + "x" * 43) is memory.tokens.at_hand(None) is None
        with memory.tokens._lock:  # somebody looks just now: nobody waits for it
            assert memory.tokens.at_hand(made.token) is None
        elsewhere.tokens.revoke(made.answer.token_id, by="lea")
        monkeypatch.setattr(tokens, "LOOK_SECONDS", 0)
        assert memory.tokens.at_hand(made.token) is None
        with pytest.raises(TokenRefused):
            memory.tokens.principal(made.token)
        monkeypatch.setattr(tokens, "LOOK_SECONDS", 3_600)
        assert memory.tokens.at_hand(made.token) is None  # known to be revoked


def test_the_token_is_kept_nowhere_but_its_digest_is(place):
    with open_memory(place) as memory:
        made = memory.tokens.create("helper-q7zx", by="lea", subjects=["someone-q7zx"])
        rows = [bytes(row.envelope) + bytes(row.body or b"") for row in memory._log.raw()]
    assert not any(made.token.encode() in row or made.token[4:].encode() in row for row in rows)
    assert sum(digest(made.token).encode() in row for row in rows) == 1
    assert not any(b"q7zx" in row for row in rows)


def test_what_is_no_token_in_force_is_refused_alike(place, clock):
    with open_memory(place, clock=clock) as memory:
        made = memory.tokens.create(
            "bot", by="lea", subjects=None, expires_at=clock.now + 5_000_000
        )
        gone = memory.tokens.create("bot", by="lea", subjects=None)
        memory.tokens.revoke(gone.answer.token_id, by="ben")
        assert memory.tokens.principal(made.token).name == "bot"
        clock.ahead(6)
        said = set()
        others = (None, "", "Bearer", made.token + "x", made.token[:-1], "blt_" + "A" * 43)
        for given in (*others, made.token, gone.token):
            with pytest.raises(TokenRefused) as refused:
                memory.tokens.principal(given)
            said.add(str(refused.value))
        assert len(said) == 1
        states = {each.token_id: each.state for each in memory.tokens.list(all=True)}
        assert states == {made.answer.token_id: "expired", gone.answer.token_id: "revoked"}
        assert memory.tokens.list() == []


def test_a_revocation_is_in_force_in_another_process_within_a_second(place):
    with open_memory(place) as here, open_memory(place) as there:
        made = here.tokens.create("bot", by="lea", subjects=None)
        assert there.tokens.principal(made.token).name == "bot"
        answer = here.tokens.revoke(made.answer.token_id[:6], by="ben")
        assert (answer.state, answer.revoked_by) == ("revoked", "ben")
        with pytest.raises(TokenRefused):
            here.tokens.principal(made.token)
        ends = time.monotonic() + 1
        while time.monotonic() < ends:
            try:
                there.tokens.principal(made.token)
            except TokenRefused:
                break
            time.sleep(0.02)
        else:
            pytest.fail("it was good for a second more")
        head = here.status(digests=False).position
        assert here.tokens.revoke(made.answer.token_id, by="cy").revoked_by == "ben"
        assert here.status(digests=False).position in {head, head + 1}  # cy became known
        with pytest.raises(UnknownMemory):
            here.tokens.revoke("zz", by="lea")
        with pytest.raises(UnknownMemory):
            here.tokens.revoke("", by="lea")


def test_what_a_token_cannot_be_made_of_is_refused_before_anything_is_written(place):
    with open_memory(place) as memory:
        memory.record_turn("eve", "I live in Porto.")
        memory.erase("eve", by="lea")
        memory.tokens.create("bot", by="lea", subjects=None)
        head = memory.status(digests=False).position
        for error, changed in (
            (InvalidTurn, {"role": "boss"}),
            (InvalidTurn, {"scopes": ["everything"]}),
            (InvalidTurn, {"scopes": "memory"}),
            (InvalidTurn, {"subjects": []}),
            (InvalidTurn, {"subjects": "ana"}),
            (InvalidTurn, {"subjects": [" "]}),
            (InvalidTurn, {"expires_at": "2001-01-01"}),
            (NotPermitted, {"consent": "because"}),
            (NotPermitted, {"by": " "}),
            (NotPermitted, {"subjects": ["eve"]}),
            (InvalidTurn, {"name": ""}),
            (InvalidTurn, {"name": "system"}),
            (SecretGiven, {"agent": "ghp_" + "a1B2c3D4e5F6g7H8i9J0"}),
        ):
            with pytest.raises(error):
                memory.tokens.create(**{"name": "bot", "by": "lea", "subjects": None} | changed)
        assert memory.status(digests=False).position == head


def test_a_token_of_ours_that_is_said_is_redacted(tmp_path):
    with open_memory(tmp_path) as memory:
        token = memory.tokens.create("bot", by="lea", subjects=None).token
        said = redact(f"try {token} instead").text
        assert "[redacted" in said
        assert token[4:12] not in said


def test_a_call_is_on_record_with_a_hash_that_an_erasure_ends(place):
    with open_memory(place) as memory:
        made = memory.tokens.create("bot", by="lea", subjects=["ana"])
        who = memory.tokens.principal(made.token)
        ref = memory._log.subject("ana")
        sent = '{"query":"where does she live"}'
        call = Call(who, "mcp", "search_memories", sent, "ok", 1_500, subject=ref, model_tokens=3)
        at = memory.tokens.record_call(call)
        recorded = memory._log.read_at([at])[at]
        assert recorded.type == ToolCalled.NAME
        assert recorded.actor == who.ref
        facts = recorded.facts
        assert (facts["tool"], facts["outcome"]) == ("search_memories", "ok")
        again = inputs_digest(memory._log, ref, facts["salt"], sent)
        assert facts["inputs"] == again
        assert inputs_digest(memory._log, ref, facts["salt"], sent + " ") != again
        assert "where does she live" not in str(recorded.__dict__)
        [used] = memory.tokens.list()
        assert used.last_used_at is not None
        [row] = memory.tokens.calls()
        assert (row.name, row.tool, row.outcome, row.calls) == ("bot", "search_memories", "ok", 1)
        assert row.model_tokens == 3
        assert memory.tokens.calls(end="2001-01-01") == []
        memory.erase("ana", by="lea")
        assert inputs_digest(memory._log, ref, facts["salt"], sent) != again
        [listed] = memory.tokens.list()
        assert listed.subjects == (None,)
        memory.erasure.register_anew("ana", by="lea")
        assert memory._log.subject("ana") not in (who.subjects or ())


def test_refusals_are_counted_without_an_address(place):
    with open_memory(place) as memory:
        memory.tokens.record_refusals(60_000_000, {"203.0.113.7": 12, "others": 3})
        found = [each for each in memory._log.read() if each.type == AccessRefused.NAME]
        assert [each.facts["count"] for each in found] == [12, 3]
        assert found[1].facts["source"] == "others"
        assert not any("203.0.113.7" in str(each.__dict__) for each in found)


def test_the_first_turns_basis_is_granted_once_and_never_to_who_withdrew(place):
    with open_memory(place) as memory:
        memory.tokens.create("bot", by="lea", subjects=["ana"], consent="consent")
        assert memory.consent.list("ana") == []
        memory.consent.grant_first("ana", "consent", by="bot")
        memory.consent.grant_first("ana", "consent", by="bot")
        assert [each.basis for each in memory.consent.list("ana")] == ["consent"]
        memory.consent.withdraw("ana", basis="consent", by="lea")
        memory.consent.grant_first("ana", "consent", by="bot")
        assert memory.consent.list("ana") == []
        with pytest.raises(NotPermitted):
            memory.consent.grant_first("ben", "because", by="bot")


def test_the_command_line(place):
    with open_memory(place):
        pass

    def run(*arguments, code=0):
        answer = runner.invoke(app, ["--ledger", str(place), "token", *arguments])
        assert answer.exit_code == code, answer.output
        return answer

    made = json.loads(
        run("create", "bot", "-s", "ana", "--by", "lea", "--consent", "consent", "--json").stdout
    )
    listed = json.loads(run("list", "--json").stdout)
    assert listed == [made["answer"]]
    assert made["token"].startswith("blt_")
    assert "bot" in run("list").stdout
    shown = run("create", "watcher", "--all-subjects", "--role", "auditor", "--by", "lea").stdout
    with open_memory(place) as memory:
        assert memory.tokens.principal(shown.strip()).role == "auditor"
    assert "everybody" in run("list").stdout
    token_id = made["answer"]["token_id"]
    assert "is revoked" in run("revoke", token_id, "--by", "lea").stdout
    assert len(json.loads(run("list", "--json").stdout)) == 1
    assert len(json.loads(run("list", "--all", "--json").stdout)) == 2
    assert "needs one of them" in run("create", "bot", "--by", "lea", code=2).stderr
    both = run("create", "bot", "-s", "ana", "--all-subjects", "--by", "lea", code=2)
    assert "not both" in both.stderr
    run("create", "bot", "-s", "ana", "--role", "boss", "--by", "lea", code=2)
    run("create", "bot", "-s", "ana", code=2)
    run("revoke", "ffff", "--by", "lea", code=3)


def test_issued_events_are_folded_by_what_their_envelopes_say(place):
    with open_memory(place) as memory:
        memory.tokens.create("bot", by="lea", subjects=["ana"])
        [issued] = [each for each in memory._log.read() if each.type == TokenIssued.NAME]
        assert issued.event.split()[1] is None
        assert issued.subject_ref is None
