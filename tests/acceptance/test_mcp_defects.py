"""Defects that another memory server was seen to have, tried against ours through its door."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import sqlite3
from pathlib import Path

import pytest
from messages_api import messages_api, says
from served import connected, served

from beliefledger import open_memory
from beliefledger.access.tokens import TokenRefused
from beliefledger.curation.storing import Details


@pytest.fixture
def server(place):
    with open_memory(place) as memory, served(memory) as running:
        yield running


def believed(server, token):
    return [each["text"] for each in server.call(token, "inspect_memories")["data"]["memories"]]


def test_an_idempotency_key_is_of_one_subject_and_a_token_of_one_ledger(server, tmp_path):
    ana, ben = server.token(), server.token("other", subjects=["ben"])
    text = {"text": "I live in Lisbon.", "topic": "home", "idempotency_key": "k1"}
    one, other = server.call(ana, "store_memory", **text), server.call(ben, "store_memory", **text)
    assert (one["data"]["cached"], other["data"]["cached"]) == (False, False)
    assert one["data"]["job_id"] != other["data"]["job_id"]
    with open_memory(tmp_path / "another") as elsewhere, pytest.raises(TokenRefused):
        elsewhere.tokens.principal(ana)


def test_honest_concurrency_loses_nothing_and_breaks_no_chain(server):
    tokens = [server.token(), server.token("other", subjects=["ben"])]

    async def storm():
        async def talk(number):
            async with connected(server.url, tokens[number % 2]) as client:
                jobs = []
                for each in range(5):
                    given = {"text": f"I like the number {number}{each}.", "topic": "x"}
                    answer = await client.call_tool("store_memory", given)
                    jobs.append(answer.structured_content["data"]["job_id"])
                return jobs

        return [job for jobs in await asyncio.gather(*map(talk, range(8))) for job in jobs]

    jobs = asyncio.run(storm())
    assert len(set(jobs)) == 40
    contents = {server.memory.turn(each).content for each in jobs}
    assert len(contents) == 40
    auditor = server.token("auditor", role="auditor")
    answer = server.call(auditor, "verify_audit_chain")
    assert answer["data"]["status"] == "ok", answer
    stores = [each for each in server.memory.tokens.calls() if each.tool == "store_memory"]
    assert [(each.outcome, each.calls) for each in stores] == [("ok", 20)] * 2


@pytest.mark.parametrize("damage", ["edited", "removed"])
def test_an_edited_audit_is_noticed(tmp_path, damage):
    place = tmp_path / "ledger"
    with open_memory(place) as memory:
        memory.remember("ana", "I live in Lisbon.", consent="consent")
        token = memory.tokens.create("auditor", by="lea", subjects=None, role="auditor").token
        memory.operations.tidy()
        at = memory.decisions("ana")[0].position
    with sqlite3.connect(Path(place) / "log.db") as log:
        log.execute("DROP TRIGGER history_refuses_update")
        log.execute("DROP TRIGGER history_refuses_delete")
        if damage == "edited":
            said = "replace(CAST(envelope AS TEXT), 'admit', 'admix')"
            log.execute(
                f"UPDATE history SET envelope = CAST({said} AS BLOB) WHERE position = ?", (at,)
            )
        else:
            log.execute("DELETE FROM history WHERE position = ?", (at,))
    log.close()
    with open_memory(place) as memory, served(memory, worker=False) as server:
        answer = server.call(token, "verify_audit_chain")
    assert answer["data"]["status"] == "broken"
    assert answer["data"]["broken_at"] == at


def test_a_response_that_rests_on_what_is_believed_no_more_is_told_so(server):
    memory = server.memory
    for said in ("I live in Lisbon.", "I have a dog named Rex.", "I moved to Porto."):
        memory.remember("ana", said, consent="consent")
    token = server.token()

    def score(response, query="Where does the user live?", **more):
        return server.call(token, "score_response", query=query, response=response, **more)["data"]

    past = score("The user lives in Lisbon.")
    assert past["score"] < 0.5
    [issue] = [each for each in past["issues"] if each.startswith("outdated: ")]
    assert "Lisbon" in issue
    assert "now: User moved to Porto" in issue
    used = score("The user lives in Lisbon.", "what?", context_used="User lives in Lisbon")
    assert [each for each in used["issues"] if "outdated: " in each] == [issue]
    assert score("The user lives in Porto.") == {**past, "score": 1.0, "issues": []} | {
        "reasoning": "1 of 1 telling words of the response stand in what was used or is believed."
    }


def test_an_evaluation_leaves_no_text_and_an_erasure_none_either(server):
    server.store(server.token(), "I live in Lisbon.")
    admin = server.token("admin", role="admin", subjects=None)
    said = "The user of kqzv lives in Lisbon."
    scored = server.call(
        admin, "score_response", query="home?", response=said, context_used=said, subject="ana"
    )
    assert scored["status"] == "ok"
    events = [str(each.__dict__) + str(each.event) for each in server.memory._log.read()]
    assert not any("kqzv" in each for each in events)
    erase = {"confirm": "DELETE MY DATA", "subject": "ana"}
    assert server.call(admin, "delete_namespace_data", **erase)["status"] == "ok"
    events = [str(each.__dict__) + str(each.event) for each in server.memory._log.read()]
    assert not any("Lisbon" in each for each in events)


def test_what_a_model_costs_is_told_and_a_dry_run_costs_nothing(place, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    with messages_api() as api:
        monkeypatch.setenv("BELIEFLEDGER_MODEL_URL", api.url)
        api.answer = lambda _asked: says({"statements": []})
        with open_memory(place, extractor="claude") as memory, served(memory) as server:
            admin = server.token(role="admin")
            given = {"text": "I live in Lisbon, near the river.", "topic": "home"}
            job = server.call(admin, "store_memory", **given, session_id="s1")["data"]["job_id"]
            server.wait_decided(admin, job)
            costs = server.call(admin, "get_cost_summary")["data"]
            assert costs["total_cost_usd"] > 0
            assert [each["session_id"] for each in costs["sessions"]] == ["s1"]
            assert server.call(admin, "get_cost_summary", session_id="s2")["data"]["sessions"] == []
            asked = len(api.asked)
            ran = server.call(admin, "consolidate_memories", topic="home", dry_run=True)
            assert ran["data"]["dry_run"] is True
            assert server.call(admin, "get_cost_summary")["data"] == costs | {
                "total_tool_calls": _calls(memory)
            }
            assert len(api.asked) == asked


def _calls(memory):
    return sum(each.calls for each in memory.tokens.calls()) - 1  # the last one, when it counted


def test_a_model_that_fails_leaves_no_raw_text_as_a_fact(place, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    with messages_api() as api:
        monkeypatch.setenv("BELIEFLEDGER_MODEL_URL", api.url)
        api.answer = lambda _asked: says("no JSON at all")
        with open_memory(place, extractor="claude") as memory:
            with served(memory, worker=False) as server:
                token = server.token()
                given = {"text": "I live in Lisbon.", "topic": "home"}
                job = server.call(token, "store_memory", **given)["data"]["job_id"]
                memory.process()
                status = server.call(token, "job_status", job_id=job)["data"]
                assert (status["state"], status["attempts"]) == ("pending", 1)
                assert server.call(token, "get_memory_stats")["data"] == {
                    "by_type": {}, "total": 0, "pending_extractions": 1,
                }  # fmt: skip


def test_a_hypothetical_replaces_no_fact_and_what_is_said_again_is_one_memory(server):
    token = server.token()
    server.store(
        token,
        "I live in Lisbon.",
        "If I lived in Porto, I would swim every day.",
        "Maybe I'll live in Porto one day.",
        "I live in Lisbon.",
        "I live in Lisbon!",
    )
    homes = [each for each in believed(server, token) if "live" in each]
    assert homes == ["User lives in Lisbon"]
    [memory] = [each for each in server.memory.beliefs("ana") if each.value == "Lisbon"]
    assert memory.mentions == 3


def test_one_memory_among_many_is_found_and_an_exact_match_comes_first(server):
    token = server.token()
    server.memory.consent.grant("ana", "consent")
    for number in range(150):
        server.memory.store(
            "ana",
            f"shelf {number}",
            attribute=f"book.{number}",
            text=f"The book with the number {number} stands on the shelf {number}",
            details=Details(importance=0.9),
        )
    server.memory.store(
        "ana",
        "under the blue pot",
        attribute="spare.key",
        text="The spare key lies under the blue pot",
        details=Details(importance=0.21),
    )
    found, exact = server.calls(
        token,
        ("search_memories", {"query": "where is the spare key?"}),
        ("search_memories", {"query": "The spare key lies under the blue pot"}),
    )
    assert "blue pot" in found["data"]["results"][0]["text"]
    assert "blue pot" in exact["data"]["results"][0]["text"]


def test_a_loop_of_six_flips_is_contested_and_a_deleted_memory_keeps_its_history(server):
    token = server.token()
    told = ("morning", "afternoon") * 3
    decided = server.store(token, *(f"I prefer {each} meetings." for each in told))
    outcomes = [each["decisions"][0]["outcome"] for each in decided]
    assert outcomes == ["admit", "supersede", "supersede", "supersede", "escalate", "confirm"]
    [standing] = server.memory.beliefs("ana")
    assert standing.contested
    assert server.call(token, "delete_memory", memory_id=standing.memory_id)["data"]["deleted"]
    assert believed(server, token) == []
    kept = server.call(token, "belief_history", belief_id=standing.belief_id)["data"]["versions"]
    assert {each["value"] for each in kept} != set()
    assert len(server.memory.history(standing.belief_id)) > 3
    listed = server.call(token, "list_decisions")["data"]["decisions"]
    assert [each["outcome"] for each in listed] == outcomes
    assert json.dumps(listed).count("decision_id") == 6


def test_two_servers_ask_the_model_once_for_each_turn(place, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    with messages_api() as api:
        monkeypatch.setenv("BELIEFLEDGER_MODEL_URL", api.url)
        api.answer = lambda _asked: says({"statements": []})
        with (
            open_memory(place, extractor="claude") as one,
            open_memory(place, extractor="claude") as two,
        ):
            with served(one) as first, served(two) as second:
                token = first.token()
                for number in range(3):
                    first.store(token, f"I like the number {number}1, and I live in Porto.")
                    second.store(token, f"I like the number {number}2, and I live in Porto.")
            assert len(api.asked) == 6
            holders = {each.name: each.holder for each in one.status(digests=False).consumers}
            assert "extractor" in holders


def test_a_response_of_an_outdated_half_of_a_turn_is_told_so(server):
    memory = server.memory
    memory.remember("ana", "I live in Lisbon. My dog is called Rex.", consent="consent")
    memory.remember("ana", "I moved to Porto.")
    token = server.token()
    asked = {"query": "Where does the user live?", "response": "The user lives in Lisbon."}
    told = server.call(token, "score_response", **asked)["data"]
    assert told["score"] < 0.5
    [issue] = [each for each in told["issues"] if each.startswith("outdated: ")]
    assert "Lisbon" in issue
    assert "now: User moved to Porto" in issue
    asked = {"query": "the dog", "response": "The dog is called Rex."}
    assert server.call(token, "score_response", **asked)["data"]["issues"] == []


def test_a_plan_whose_day_is_over_is_outdated_and_has_its_times(server):
    memory = server.memory
    said_at = dt.datetime(2026, 1, 5, 9, tzinfo=dt.UTC)
    said = "I'm meeting Tom tomorrow at 5pm."
    memory.remember("ana", said, said_at=said_at, consent="consent")
    token = server.token()
    found = server.call(token, "search_memories", query="When do I meet Tom?")["data"]["results"]
    listed = server.call(token, "inspect_memories")["data"]["memories"]
    for some in (found, listed):
        [plan] = [each for each in some if "Tom" in each["text"]]
        assert plan["standing"] == "outdated"
        assert plan["said_at"].startswith("2026-01-05")
        assert plan["event_from"].startswith("2026-01-06")
