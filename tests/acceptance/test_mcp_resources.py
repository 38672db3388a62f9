"""Resources, completion, questions to a person and progress, by the official client, on both
revisions."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import asynccontextmanager

import pytest
from mcp import MCPError
from mcp_types import ElicitResult, ResourceTemplateReference, ResourceUpdatedNotification
from served import LEGACY, MODERN, connected, served

from beliefledger import open_memory
from beliefledger.ledger.events.ops import ToolCalled

ANA, BEN = "beliefledger://subject/ana/beliefs", "beliefledger://subject/ben/beliefs"
TOPICS = "beliefledger://subject/{subject}/beliefs/{topic}"
MEETINGS = [f"I prefer {when} meetings." for when in ("morning", "afternoon") * 2]
pytestmark = pytest.mark.filterwarnings("ignore:resources/")


@pytest.fixture
def server(place):
    with open_memory(place) as memory, served(memory) as running:
        yield running


def called(memory):
    return [
        (each.facts["tool"], each.facts["outcome"])
        for each in memory._log.read()
        if each.type == ToolCalled.NAME
    ]


def ask(server, token, *wanted, mode=MODERN):
    """What these coroutine functions answer over one connection; an error of the protocol is its
    answer, too."""

    async def all_of_them():
        async with connected(server.url, token, mode) as client:
            answers = []
            for each in wanted:
                try:
                    answers.append(await each(client))
                except MCPError as problem:
                    answers.append(problem)
            return answers

    return asyncio.run(all_of_them())


def read(uri):
    async def asked(client):
        answer = await client.read_resource(uri)
        [content] = answer.contents
        assert (content.mime_type, str(content.uri)) == ("application/json", uri)
        return json.loads(content.text)

    return asked


def completed(argument, value, template=TOPICS, **context):
    async def asked(client):
        ref = ResourceTemplateReference(uri=template)
        given = {"name": argument, "value": value}
        answer = await client.complete(ref, given, context_arguments=context or None)
        return answer.completion.values

    return asked


def refused(answer):
    assert isinstance(answer, MCPError), answer
    return answer.error.message, (answer.error.data or {}).get("code")


async def listing(client):
    found, cursor = [], None
    while True:
        page = await client.list_resources(cursor=cursor)
        found += [str(each.uri) for each in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            return found


async def templates(client):
    found = (await client.list_resource_templates()).resource_templates
    assert all(each.description for each in found)
    return {each.uri_template for each in found}


@pytest.mark.parametrize("mode", [MODERN, LEGACY])
def test_beliefs_history_and_decisions_can_be_read(server, mode):
    token = server.token(subjects=["ana", "o'neil/é"])
    server.store(server.token("first"), "I live in Lisbon.", "I live in Porto.")
    [held] = server.memory.beliefs("ana")
    odd = "beliefledger://subject/o%27neil%2F%C3%A9/beliefs"
    uris, made, beliefs, by_topic, other, history, versions, decisions, empty = ask(
        server,
        token,
        listing,
        templates,
        read(ANA),
        read(f"{ANA}/home"),
        read(f"{ANA}/hobbies"),
        read("beliefledger://subject/ana/history"),
        read(f"beliefledger://subject/ana/history/{held.belief_id}"),
        read("beliefledger://subject/ana/decisions"),
        read(odd),
        mode=mode,
    )
    kinds = "beliefs", "history", "decisions"
    people = "ana", "o%27neil%2F%C3%A9"
    assert uris == [f"beliefledger://subject/{who}/{kind}" for who in people for kind in kinds]
    assert made == {f"beliefledger://subject/{{subject}}/{kind}" for kind in kinds} | {
        TOPICS,
        "beliefledger://subject/{subject}/history/{belief_id}",
    }
    assert [each["text"] for each in beliefs["beliefs"]] == ["User lives in Porto"]
    assert (by_topic["total"], other["total"], empty["total"]) == (1, 0, 0)
    assert [each["what"] for each in history["changes"]] == ["added", "superseded"]
    assert [each["value"] for each in versions["versions"]] == ["Lisbon", "Lisbon", "Porto"]
    assert [each["outcome"] for each in decisions["decisions"]] == ["supersede", "admit"]
    recorded = [each for each in called(server.memory) if each[0] != "store_memory"]
    assert [each for each in recorded if each[0] != "job_status"] == [
        ("list_resources", "ok"),
        *(("read_" + each, "ok") for each in ("beliefs", "beliefs_of_topic", "beliefs_of_topic")),
        *(("read_" + each, "ok") for each in ("history", "belief_history", "decisions")),
        ("read_beliefs", "ok"),
    ]


def test_a_resource_is_gated_as_the_tools_are(server):
    ana, ben = server.token(), server.token("other", subjects=["ben"])
    gone = server.store(ben, "I live in Oslo.", "I play the theremin.")[1]["decisions"][0]
    theirs = server.memory.beliefs("ben")[0].belief_id
    absent = "beliefledger://subject/zoe/beliefs"
    history = "beliefledger://subject/ana/history/"
    answers = ask(
        server,
        ana,
        read(BEN),
        read(absent),
        read(history + theirs),
        read(history + "f" * 32),
        read(history + theirs[:8]),
        read("beliefledger://subject/ana/secrets"),
        read("file:///etc/passwd"),
        read("beliefledger://subject/%ff/beliefs"),
        read(ANA + "?x=hunter2"),
        completed("subject", ""),
        completed("topic", "", subject="ben"),
    )
    told = [refused(each) if isinstance(each, MCPError) else each for each in answers]
    assert told[0] == told[1]
    assert told[0][1] == "NOT_PERMITTED"
    assert told[2] == told[3] == told[4]
    assert told[2][1] == "MEMORY_NOT_FOUND"
    assert len(set(told[5:9])) == 1
    assert "hunter2" not in str(told)
    assert told[9] == ["ana"]
    assert told[10][1] == "NOT_PERMITTED"
    assert "Oslo" not in str(answers)
    assert ("read", "UNKNOWN_RESOURCE") in called(server.memory)

    server.memory.revoke(gone["memory_id"], by="lea")
    kinds = ("beliefs", "history", "decisions", f"history/{gone['belief_id']}")
    told = ask(server, ben, *(read(f"beliefledger://subject/ben/{each}") for each in kinds))
    assert "Oslo" in str(told[0])
    assert "theremin" not in str(told)
    [consent] = server.memory.consent.list("ben")
    server.memory.consent.withdraw("ben", grant_id=consent.grant_id, by="lea")
    told = ask(server, ben, *(read(f"beliefledger://subject/ben/{each}") for each in kinds[:3]))
    assert "Oslo" not in str(told)

    narrow = server.token(scopes=["search"])
    uris, made, answer, topics = ask(
        server, narrow, listing, templates, read(ANA), completed("subject", "")
    )
    assert (uris, made) == ([], set())
    assert refused(answer)[1] == "NOT_PERMITTED"
    assert refused(topics)[1] == "INVALID_PARAM"
    operator = server.token(role="operator", subjects=None)
    assert ask(server, operator, listing, templates) == [[], set()]


def test_who_may_know_everybody_is_told_of_everybody(server):
    server.store(server.token(), "I live in Lisbon.")
    server.memory.tokens.create("x", by="lea", subjects=[f"person {n:03}" for n in range(120)])
    for number in range(120):
        server.memory.consent.grant(f"person {number:03}", "consent")
    auditor = server.token(role="auditor", subjects=None)
    uris, some, none, wrong = ask(
        server,
        auditor,
        listing,
        completed("subject", "PERSON 11"),
        completed("subject", "nobody"),
        lambda client: client.list_resources(cursor="hunter2"),
    )
    assert len(uris) == len(set(uris)) == 3 * 121
    assert some == [f"person {n}" for n in range(110, 120)]
    assert none == []
    assert refused(wrong)[1] == "INVALID_PARAM"
    assert "hunter2" not in str(refused(wrong))
    agent = server.token(subjects=None)  # it may ask for anybody by name, and has no list of them
    uris, named, one = ask(server, agent, listing, completed("subject", "p"), read(ANA))
    assert (uris, named, one["total"]) == ([], [], 1)
    some = server.token(subjects=[f"person {n:03}" for n in range(120)])
    assert len(ask(server, some, listing)[0]) == 3 * 120


def test_topics_are_those_of_the_policy_and_those_that_were_given(server):
    token = server.token()
    given = {"text": "I live in Lisbon.", "topic": "abode"}
    job = server.call(token, "store_memory", **given)["data"]["job_id"]
    server.wait_decided(token, job)
    own, policy, other, wrong = ask(
        server,
        token,
        completed("topic", "Ab"),
        completed("topic", "", subject="ana"),
        completed("belief_id", "", template="beliefledger://subject/{subject}/history/{belief_id}"),
        completed("topic", "", template="hunter2"),
    )
    assert own == ["abode"]
    assert set(server.memory.policy.current.topics) <= set(policy)
    assert other == []
    assert "hunter2" not in str(refused(wrong))


@asynccontextmanager
async def watching(server, token, mode, *uris):
    """A client that watches these, and the list of the addresses that it is told."""
    told = []

    async def note(message):
        if isinstance(message, ResourceUpdatedNotification):
            told.append(str(message.params.uri))

    async with connected(server.url, token, mode, message_handler=note) as client:
        if mode == MODERN:
            async with client.listen(resource_subscriptions=list(uris)) as stream:
                yield client, told, stream
        else:
            for each in uris:
                await client.subscribe_resource(each)
            yield client, told, None


async def until(condition, seconds=10):
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it did not happen in time"
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("mode", [MODERN, LEGACY])
def test_a_change_is_told_to_whoever_watches_and_may(server, mode):
    memory = server.memory
    token = server.token()
    decisions = ANA.replace("beliefs", "decisions")

    async def watch():
        async with watching(server, token, mode, ANA, decisions) as (client, told, stream):
            if stream is not None:
                assert stream.honored.resource_subscriptions == [ANA, decisions]
            memory.remember("ben", "I live in Oslo.", consent="consent")
            memory.remember("ana", "I live in Lisbon.", consent="consent")
            await until(lambda: {ANA, decisions} <= set(told))
            assert json.loads((await client.read_resource(ANA)).contents[0].text)["total"] == 1
            told.clear()
            [consent] = memory.consent.list("ana")
            memory.consent.withdraw("ana", grant_id=consent.grant_id, by="lea")
            await until(lambda: ANA in told)
            assert json.loads((await client.read_resource(ANA)).contents[0].text)["total"] == 0
            if mode == LEGACY:
                await client.unsubscribe_resource(ANA)
                told.clear()
                memory.consent.grant("ana", "consent")
                memory.remember("ana", "I ski.")
                await until(lambda: decisions in told)
                assert ANA not in told

    asyncio.run(watch())
    assert ("subscribe", "ok") in called(memory)


@pytest.mark.parametrize("mode", [MODERN, LEGACY])
def test_nobody_watches_what_is_not_theirs_nor_longer_than_their_token(server, mode):
    memory, token = server.memory, server.token()

    async def watch():
        if mode == LEGACY:
            async with connected(server.url, token, mode) as client:
                with pytest.raises(MCPError, match="There is no such resource"):
                    await client.subscribe_resource(BEN)
        wanted = (ANA, BEN) if mode == MODERN else (ANA,)
        async with watching(server, token, mode, *wanted) as (_client, told, stream):
            if stream is not None:
                assert stream.honored.resource_subscriptions == [ANA]
            [listed] = memory.tokens.list()
            memory.tokens.revoke(listed.token_id, by="lea")
            begun = time.monotonic()
            if stream is not None:
                assert [each async for each in stream] == []  # ended by the server
                assert time.monotonic() - begun < 2
            memory.remember("ben", "I live in Oslo.", consent="consent")
            memory.remember("ana", "I live in Lisbon.", consent="consent")
            await asyncio.sleep(1)
            assert told == []

    asyncio.run(watch())


def test_a_token_watches_so_much_at_once(server, monkeypatch):
    from beliefledger.tools.server.mcp import notices, resource_door

    monkeypatch.setattr(notices, "MOST_OF_TOKEN", 1)
    monkeypatch.setattr(resource_door, "MOST_ADDRESSES", 3)

    async def watch(token):
        many = [f"{ANA}/{number}" for number in range(4)]
        async with connected(server.url, token) as client:
            with pytest.raises(MCPError, match="At most 3 resources"):
                async with client.listen(resource_subscriptions=many):
                    pass
            async with client.listen(resource_subscriptions=[ANA]):
                with pytest.raises(MCPError, match="watches as much as it may"):
                    async with client.listen(resource_subscriptions=[ANA]):
                        pass

    asyncio.run(watch(server.token()))


@pytest.mark.parametrize("mode", [MODERN, LEGACY])
def test_a_person_is_asked_where_the_client_can(server, mode):
    token = server.token()
    server.store(token, *MEETINGS, MEETINGS[0])
    [conflict] = server.memory.conflicts.list("ana")
    given = {"belief_id": conflict.belief_id}
    without = server.call(token, "resolve_conflict", mode, **given)
    assert without["code"] == "NOT_PERMITTED"
    assert "Choose either one value" in without["error"]
    answers, asked = [], []

    async def answer(_context, params):
        asked.append((params.message, params.requested_schema["properties"]["choice"]["enum"]))
        return answers.pop(0)

    async def resolve():
        async with connected(server.url, token, mode, elicitation_callback=answer) as client:
            return (await client.call_tool("resolve_conflict", given)).structured_content

    told = ["User prefers afternoon meetings", "User prefers morning meetings"]
    for said, code in (
        (ElicitResult(action="decline"), "DECLINED"),
        (ElicitResult(action="cancel"), "DECLINED"),
        (ElicitResult(action="accept", content={"choice": "hunter2"}), "INVALID_PARAM"),
        (ElicitResult(action="accept", content={"other": told[0]}), "INVALID_PARAM"),
    ):
        answers.append(said)
        refused_ = asyncio.run(resolve())
        assert refused_["code"] == code
        assert "hunter2" not in str(refused_)
        assert [each.belief_id for each in server.memory.conflicts.list("ana")] == [
            conflict.belief_id
        ]
    answers.append(ElicitResult(action="accept", content={"choice": told[1]}))
    settled = asyncio.run(resolve())
    assert [each["value"] for each in settled["data"]["beliefs"]] == ["morning"]
    assert len(asked) == 5
    assert "meeting.time" in asked[0][0]
    assert sorted(asked[0][1]) == told
    assert server.memory.conflicts.list("ana") == []
    ends = [outcome for tool, outcome in called(server.memory) if tool == "resolve_conflict"]
    asking = ["INPUT_REQUIRED"] if mode == MODERN else []
    assert ends == [
        "NOT_PERMITTED", *asking, "DECLINED", *asking, "DECLINED", *asking, "INVALID_PARAM",
        *asking, "INVALID_PARAM", *asking, "ok",
    ]  # fmt: skip


def test_a_choice_that_is_withheld_is_not_put_to_anybody(server):
    token = server.token()
    server.store(token, *MEETINGS, MEETINGS[0])
    [conflict] = server.memory.conflicts.list("ana")
    [consent] = server.memory.consent.list("ana")
    server.memory.consent.withdraw("ana", grant_id=consent.grant_id, by="lea")

    async def never(_context, params):
        raise AssertionError(params)

    async def resolve():
        async with connected(server.url, token, elicitation_callback=never) as client:
            given = {"belief_id": conflict.belief_id}
            return (await client.call_tool("resolve_conflict", given)).structured_content

    answer = asyncio.run(resolve())
    assert answer["status"] == "error"
    assert "meeting" not in str(answer)


@pytest.mark.parametrize("mode", [MODERN, LEGACY])
def test_a_job_is_waited_for_and_its_progress_told(place, mode):
    with open_memory(place) as memory, served(memory, worker=False) as server:
        token, heard = server.token(), []

        async def note(done, of, message):
            heard.append((done, of, message))

        async def wait():
            async with connected(server.url, token, mode) as client:
                given = {"text": "I live in Lisbon.", "topic": "home"}
                stored = (await client.call_tool("store_memory", given)).structured_content
                job = {"job_id": stored["data"]["job_id"]}
                short = await client.call_tool("job_status", job | {"wait_seconds": 0.3})
                assert short.structured_content["data"]["state"] == "pending"
                asked = client.call_tool(
                    "job_status", job | {"wait_seconds": 20}, progress_callback=note
                )
                waiting = asyncio.ensure_future(asked)
                await until(lambda: len(heard) > 1)
                await asyncio.to_thread(memory.process)
                return (await waiting).structured_content

        assert asyncio.run(wait())["data"]["state"] == "extracted"
        done = [each[0] for each in heard]
        assert done == sorted(set(done))
        assert {each[1:] for each in heard} == {(200.0, "pending, 0 attempts")}


def test_the_progress_of_an_export_and_of_a_verification_is_told(place, tmp_path, monkeypatch):
    from beliefledger.tools.server.mcp import audit_tools

    monkeypatch.setattr(audit_tools, "_TELL_EVERY", 5)
    with open_memory(place) as memory, served(memory, exports=tmp_path) as server:
        server.store(server.token(), *MEETINGS)
        heard = []

        async def note(done, of, _message):
            heard.append(done <= of)

        async def export(name, token):
            async with connected(server.url, token) as client:
                answer = await client.call_tool(name, {}, progress_callback=note)
                return answer.structured_content["status"]

        everybody = server.token(role="admin", subjects=None)
        for name in ("trigger_audit_export", "verify_audit_chain"):
            heard.clear()
            assert asyncio.run(export(name, everybody)) == "ok"
            assert heard, name
            assert all(heard)
        heard.clear()  # how far a verification is tells how large the log is
        assert asyncio.run(export("verify_audit_chain", server.token(role="auditor"))) == "ok"
        assert heard == []


def test_consolidation_tells_its_progress(place, monkeypatch):
    with open_memory(place) as memory, served(memory) as server:
        consolidation = type(memory.operations.consolidation)
        asked = consolidation.consolidate

        def slow(self, *given, progress=None, **named):
            progress(1, 2)
            monkeypatch.setattr(consolidation, "consolidate", asked)
            return asked(self, *given, progress=progress, **named)

        monkeypatch.setattr(consolidation, "consolidate", slow)
        heard = []

        async def note(done, of, _message):
            heard.append((done, of))

        async def run():
            async with connected(server.url, server.token(), LEGACY) as client:
                await client.call_tool(
                    "consolidate_memories",
                    {"topic": "general", "dry_run": True},
                    progress_callback=note,
                )

        asyncio.run(run())
        assert (1, 2) in heard
