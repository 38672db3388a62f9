"""Lists in pages and by filters: nothing twice, nothing left out."""

from __future__ import annotations

import json
import re

import pytest
from command_line import CliRunner

from beliefledger import Details, InvalidQuery, MemoryInput, Where, open_memory
from beliefledger.tools.cli import app


@pytest.fixture
def memory(place, clock):
    with open_memory(place, consent="consent", clock=clock) as opened:
        yield opened


def told(number, subject="ana", **details):
    given = Details(metadata={"n": number % 3, "of": {"x": number}}, **details)
    return MemoryInput(subject, f"value {number}", f"thing {number}", details=given)


def pages(ask, limit, between=lambda _number: None):
    found, cursor = [], None
    for number in range(100):
        page = ask(limit=limit, after=cursor)
        assert len(page) <= limit
        found.append(list(page))
        if page.next is None:
            return found
        cursor = page.next
        between(number)
    raise AssertionError("it does not end")


def test_pages_are_the_whole_list(memory):
    memory.store_many(map(told, range(25)))
    memory.store_many(told(number, "ben") for number in range(5))
    for ask in (
        lambda **page: memory.beliefs("ana", **page),
        memory.beliefs,
        lambda **page: memory.typed("ana", **page),
        lambda **page: memory.beliefs("ana", as_of=memory.status().position - 8, **page),
    ):
        for limit in (1, 7, 25, 100):
            found = pages(ask, limit)
            assert [each for page in found for each in page] == list(ask())
            assert all(len(page) == limit for page in found[:-1])
    whole = memory.decisions("ana")
    found = pages(lambda **page: memory.decisions("ana", **page), 7)
    assert [each for page in found[::-1] for each in page] == whole
    assert found[0] == whole[-7:]


def test_what_is_recorded_meanwhile_moves_nothing(memory, clock):
    memory.store_many(map(told, range(12)))
    before = [(each.memory_id, each.text) for each in memory.beliefs("ana")]

    def change(number):
        clock.ahead(60)
        if number == 0:
            last = memory.beliefs("ana")[-1]
            memory.update(last.memory_id, value="another", by="Lea")
            memory.revoke(memory.beliefs("ana")[6].memory_id, by="Lea")
        memory.store_many([told(3), told(50 + number)])  # one is said again, one is new

    found = pages(lambda **page: memory.beliefs("ana", **page), 5, change)
    assert [(each.memory_id, each.text) for page in found for each in page] == before
    decided = len(memory.decisions("ana"))
    found = pages(lambda **page: memory.decisions("ana", **page), 5, change)
    ids = [each.decision_id for page in found for each in page]
    assert len(ids) == len(set(ids)) == decided


def test_a_page_of_many_reads_few(memory, monkeypatch):
    memory.store_many(map(told, range(600)))
    read = []
    plainly = memory._log.read_at
    monkeypatch.setattr(memory._log, "read_at", lambda at: (read.extend(at), plainly(at))[1])
    for ask in (memory.beliefs, memory.decisions):
        read.clear()
        page = ask("ana", limit=10)
        assert len(ask("ana", limit=10, after=page.next)) == 10
        assert len(read) < 100


def test_versions_of_a_belief_come_in_pages(memory, clock):
    for size in range(36, 41):
        clock.ahead(40 * 86_400)
        decision = memory.store("ana", str(size), attribute="shoe size")
    whole = memory.history(decision.memory_id)
    found = pages(
        lambda **page: memory.history(decision.memory_id, **page),
        2,
        lambda number: memory.store("ana", f"4{number}", attribute="shoe size"),
    )
    versions = [(each.memory_id, each.valid_from) for page in found for each in page]
    assert versions == [(each.memory_id, each.valid_from) for each in whole]


def test_events_come_in_pages(memory):
    for day in range(1, 8):
        memory.remember("ana", f"I had lunch with Bo on 2026-02-0{day}.", metadata={"day": day})
    whole = memory.events("ana")
    assert len(whole) == 7
    found = pages(lambda **page: memory.events("ana", **page), 3)
    assert [each.text for page in found for each in page] == [each.text for each in whole]
    assert len(memory.events("ana", where={"metadata": {"day": 3}})) == 1


def test_filters(memory):
    memory.store_many(
        [
            told(1, session="monday", agent="bot"),
            told(2, session="tuesday", agent="bot", topic="work"),
            told(3, session="monday", agent="desk"),
        ]
    )
    memory.store("ana", "x", attribute="y", type="preference", details=Details(session="monday"))

    def values(**where):
        filters = (where, Where(**where))
        found = [[each.value for each in memory.beliefs("ana", where=each)] for each in filters]
        typed = [each.value for each in memory.typed("ana", where=where)]
        claims = [each.claim for each in memory.decisions("ana", where=where)]
        assert found[0] == found[1] == typed
        assert [each.rpartition(" is ")[2] for each in claims] == found[0]
        return found[0]

    assert values() == ["value 1", "value 2", "value 3", "x"]
    assert values(session="monday") == ["value 1", "value 3", "x"]
    assert values(agent="bot") == ["value 1", "value 2"]
    assert values(session="monday", agent="bot") == ["value 1"]
    assert values(topic="work") == ["value 2"]
    assert values(type="preference") == ["x"]
    assert values(metadata={"n": 0}) == ["value 3"]
    assert values(metadata={"of": {"x": 2}}) == ["value 2"]
    assert values(metadata={"n": True}) == []
    assert values(session="friday") == []
    [first] = memory.beliefs("ana", where={"agent": "desk"})
    assert memory.history(first.memory_id, where={"agent": "bot"}) == []
    assert [each.value for each in memory.beliefs(where={"agent": "desk"})] == ["value 3"]


def test_a_filter_that_few_fit_fills_its_pages(memory):
    memory.store_many(map(told, range(30)))
    where = {"metadata": {"n": 2}}
    for ask in (memory.beliefs, memory.decisions):
        found = pages(lambda ask=ask, **page: ask("ana", where=where, **page), 4)
        assert [len(page) for page in found] == [4, 4, 2]


def test_what_cannot_be_asked_says_why(memory):
    memory.store_many(map(told, range(4)))
    cursor = memory.beliefs("ana", limit=2).next
    for wrong, words in (
        ({"limit": 0}, "limit is 0"),
        ({"limit": True}, "limit is True"),
        ({"limit": 10_001}, "1 to 10,000"),
        ({"limit": 2, "after": "x"}, "no cursor"),
        ({"limit": 2, "after": 7}, "no cursor"),
        ({"limit": 2, "after": "ž"}, "no cursor"),
        ({"limit": 2, "after": cursor, "type": "fact"}, "of another question"),
        ({"where": {"colour": "red"}}, "no 'colour'"),
        ({"where": "monday"}, "is a Where or a mapping"),
        ({"where": {"session": 7}}, "session is text"),
        ({"where": {"metadata": []}}, "is a JSON object"),
        ({"where": {"type": "fact"}, "type": "event"}, "another type"),
    ):
        with pytest.raises(InvalidQuery, match=words):
            memory.beliefs("ana", **wrong)
    with pytest.raises(InvalidQuery, match="of another question"):
        memory.decisions("ana", limit=2, after=cursor)
    with pytest.raises(InvalidQuery, match="of another question"):
        memory.beliefs("ben", limit=2, after=cursor)
    typed = memory.typed("ana", limit=1)
    memory.erase("ana", memory=typed[0].memory_id, by="Lea")
    with pytest.raises(InvalidQuery, match="begin again"):
        memory.typed("ana", limit=1, after=typed.next)
    assert memory.beliefs("nobody", limit=3).next is None
    assert memory.decisions("nobody", limit=3) == []


def test_decisions_as_they_were(memory):
    memory.remember("ana", "I'm allergic to peanuts.")
    [waiting] = memory.decisions(waits=True)
    then = memory.status().position
    memory.conflicts.review(waiting.decision_id, approve=False, by="Lea")
    assert memory.decisions(waits=True) == []
    assert len(memory.decisions(waits=False)) == 1
    [before] = memory.decisions(waits=True, as_of=then, limit=5)
    assert before.waits
    assert memory.decisions(waits=False, as_of=then) == []


def test_the_lists_of_the_parts_come_in_pages(memory, clock):
    for name in ("Bo", "Cy", "Di", "Ed"):
        memory.remember("ana", f"I had lunch with {name} yesterday.")
        memory.search("ana", name)
    for what in ("colour", "size"):
        for value in ("one", "two", "three", "four", "five"):
            clock.ahead(60)
            memory.store("ana", value, attribute=what)
    for number in range(3):
        receipt = memory.record_turn("ana", f"Thing {number}.")
        memory.erase("ana", turn=receipt.turn_id, by="Lea")
    for ask, least in (
        (lambda **page: memory.entities.list("ana", **page), 5),
        (lambda **page: memory.conflicts.list("ana", **page), 2),
        (lambda **page: memory.recalls.list("ana", **page), 4),
        (lambda **page: memory.erasure.list("ana", **page), 3),
        (memory.erasure.list, 3),
    ):
        whole = list(ask())
        assert len(whole) >= least
        assert [each for page in pages(ask, 1) for each in page] == whole
        assert [each for page in pages(ask, 3) for each in page] == whole


def test_the_commands(place):
    def run(*words, code=0):
        result = CliRunner().invoke(app, ["--ledger", str(place), *words])
        assert result.exit_code == code, result.output
        return result.stdout

    with open_memory(place, consent="consent") as memory:
        memory.store_many(told(number, session="monday") for number in range(5))
    for command in (["beliefs"], ["decisions"]):
        asked = [*command, "-s", "ana", "--session", "monday", "--limit", "3"]
        page = json.loads(run(*asked, "--json"))
        assert len(page["items"]) == 3
        [cursor] = re.findall(r"^There is more: --after (\S+)$", run(*asked), re.M)
        rest = json.loads(run(*asked, "--after", cursor, "--json"))
        assert (len(rest["items"]), rest["next"]) == (2, None)
        rest = json.loads(run(*asked, "--after", page["next"], "--json"))
        assert (len(rest["items"]), rest["next"]) == (2, None)
        assert len(json.loads(run(*command, "--json", "--metadata", '{"n": 0}'))) == 2
        run(*command, "--after", page["next"], code=2)
    for command in (
        ["entities", "list", "-s", "ana"],
        ["conflicts", "list"],
        ["recalls", "list"],
        ["erasure", "list"],
    ):
        assert isinstance(json.loads(run(*command, "--json")), list)
        assert json.loads(run(*command, "--limit", "1", "--json"))["next"] is None
    [belief, *_] = json.loads(run("beliefs", "--json"))
    page = json.loads(run("history", belief["memory_id"], "--limit", "1", "--json"))
    assert len(page["items"]) == 1
    assert json.loads(run("events", "-s", "ana", "--limit", "1", "--json"))["items"] == []
