"""Lists in pages and by filters: nothing twice, nothing left out."""

from __future__ import annotations

import json
import re
from functools import partial
from operator import attrgetter

import pytest
import reference
from command_line import CliRunner

from beliefledger import (
    Details,
    ExtractionUnavailable,
    InvalidQuery,
    MemoryInput,
    TurnInput,
    Where,
    open_memory,
)
from beliefledger.access.calls import Call
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


def _of_ana(verb):
    return lambda memory, **page: verb(memory)("ana", **page)


def _of_all(verb):
    return lambda memory, **page: verb(memory)(**page)


def _colours(memory, **page):
    [colour] = {each.belief_id for each in memory.beliefs("ana") if each.attribute == "colour"}
    return memory.history(colour, **page)


PAGED = {
    "MemoryLedger.beliefs": (_of_ana(attrgetter("beliefs")), 5),
    "MemoryLedger.history": (_colours, 3),
    "MemoryLedger.decisions": (None, 0),  # the last come first: see above
    "MemoryLedger.subjects": (None, 0),  # an answer of its own: see test_exports
    "MemoryLedger.events": (_of_ana(attrgetter("events")), 4),
    "MemoryLedger.typed": (_of_ana(attrgetter("typed")), 5),
    "MemoryLedger.related": (_of_ana(attrgetter("related")), 4),
    "conflicts.list": (_of_ana(attrgetter("conflicts.list")), 2),
    "conflicts.loops": (_of_all(attrgetter("conflicts.loops")), 2),
    "consent.list": (_of_ana(attrgetter("consent.list")), 2),
    "entities.list": (_of_ana(attrgetter("entities.list")), 5),
    "erasure.list": (_of_all(attrgetter("erasure.list")), 3),
    "erasure.holds.list": (_of_all(attrgetter("erasure.holds.list")), 4),
    "operations.ageing.decay": (_of_all(attrgetter("operations.ageing.decay")), 5),
    "operations.ageing.reconfirm": (
        lambda memory, **page: memory.operations.ageing.reconfirm(at="2036-01-01", **page),
        2,
    ),
    "operations.extraction.parked": (_of_all(attrgetter("operations.extraction.parked")), 2),
    "policy.list": (_of_all(attrgetter("policy.list")), 3),
    "recalls.list": (_of_ana(attrgetter("recalls.list")), 4),
    "tokens.list": (lambda memory, **page: memory.tokens.list(all=True, **page), 3),
    "tokens.calls": (_of_all(attrgetter("tokens.calls")), 3),
    "types.list": (_of_all(attrgetter("types.list")), 10),
    "webhooks.list": (lambda memory, **page: memory.webhooks.list(all=True, **page), 3),
    "webhooks.dead_letters": (_of_all(attrgetter("webhooks.dead_letters")), 3),
    "teams.list": (None, 0),  # see test_teams
    "teams.members": (None, 0),
}
"""Every list in pages: how it is asked for, and how many are in it at least."""


WHOLE = {
    "one for each that is given": (
        "MemoryLedger.record_turns",
        "MemoryLedger.store_many",
    ),
    "all that one call did, or would do": (
        "MemoryLedger.remember",
        "MemoryLedger.correct",
        "conflicts.resolve",
        "consent.preview_reconsider",
        "consent.reconsider",
        "operations.ageing.expire",
        "operations.ageing.revoke_outdated",
        "operations.consolidation.undo",
    ),
    "one for each view": ("operations.rebuild",),
    "one for each job, of which there is a handful": (
        "operations.jobs.list",
        "operations.jobs.scheduled",
    ),
    "what is not finished, of which there is a handful": (
        "erasure.unfinished",
        "tasks.under_way",
    ),
    "one for each field of a policy": ("policy.diff",),
    "the webhooks that are registered, and the secrets of one": (
        "webhooks.endpoints",
        "webhooks.secrets",
        "webhooks.with_problems",
    ),
    "the dead letters that were asked for": ("webhooks.redeliver",),
    "the steps of one task": ("tasks.steps",),
    "as many as were asked about": (
        "operations.ageing.left",
        "recalls.words",
        "recalls.showable",
    ),
    "counts by a fixed name": (
        "erasure.erase_due",
        "operations.consolidation.everyone",
        "vectors.complete",
    ),
    "one document": ("exports.schema",),
    "of parts that somebody else writes": ("Extractor.extract",),
}
"""Lists that are told as a whole, and why each has an end by nature."""


def test_every_list_is_in_pages_or_says_why_not():
    """So that no list is forgotten."""
    lists, paged = set(), set()
    for name, thing in reference.names():
        returns = str(getattr(thing, "returns", None))
        given = {each.name for each in getattr(thing, "parameters", ())}
        if name == "tasks.list":
            assert {"limit", "before"} <= given  # the newest first: see test_a2a
        elif re.search(r"Page\b", returns):
            assert {"limit", "after"} <= given, name
            paged.add(name)
        elif re.search(r"\b(list|Sequence|tuple|dict|Mapping)\[", returns):
            lists.add(name)
    assert paged == set(PAGED)
    whole = [name for names in WHOLE.values() for name in names]
    assert lists == set(whole)
    assert len(lists) == len(whole)


def furnished(memory, clock):
    """What the lists are of."""
    memory.consent.grant("ana", "contract", by="Lea")
    memory.consent.grant("ana", "explicit_consent", categories=["health"], by="Lea")
    for name in ("Bo", "Cy", "Di", "Ed"):
        memory.remember("ana", f"I had lunch with {name} yesterday.")
        memory.remember("ana", f"I work with {name}.")
        memory.search("ana", name)
        memory.remember(name, "I live in Porto.")
        memory.erasure.holds.place(name, "a claim", by="Lea", hold="claim")
        token = memory.tokens.create(f"bot of {name}", by="Lea", subjects=["ana"])
        who = memory.tokens.principal(token.token)
        memory.tokens.record_call(Call(who, "mine", "search", "{}", "ok", 1_000))
    memory.tokens.revoke(token.answer.token_id, by="Lea")
    for number in range(3):
        made = memory.webhooks.register("https://example.org/", f"crm {number}", by="Lea")
        webhook, reason = made.answer.webhook, "timeout"
        memory.webhooks.settle(webhook, number + 1, delivered=False, attempts=3, reason=reason)
    important = Details(importance=0.9)
    for number in range(3):
        rule = {"attribute": f"rule.{number}", "confidence": 0.9, "details": important}
        memory.store("ana", f"rule {number}", **rule)
        named = {"name": f"policy {number}"}
        memory.policy.adopt(memory.policy.current.model_copy(update=named), by="Lea")
        receipt = memory.record_turn("ana", f"Thing {number}.")
        memory.erase("ana", turn=receipt.turn_id, by="Lea")
    for what in ("colour", "size"):
        for value in ("one", "two", "three", "four", "five"):
            clock.ahead(60)
            memory.store("ana", value, attribute=what)


class Broken:
    name = "broken/1"

    def extract(self, _turn, earlier=()):
        raise ExtractionUnavailable(f"no answer, after {len(earlier)} turns")


def test_small_lists_come_in_pages(memory, place, clock):
    furnished(memory, clock)
    memory.close()
    with open_memory(place, extractor=Broken(), clock=clock) as again:
        again.record_turns([TurnInput("ana", "One."), TurnInput("ben", "Two.")])
        for _ in range(again.policy.current.extraction_tries):
            again.process()
            clock.ahead(86_400)
        for name, (asked, least) in PAGED.items():
            if asked is None:
                continue
            ask = partial(asked, again)
            whole = list(ask())
            assert len(whole) >= least, name
            for limit in (1, 3):
                found = pages(ask, limit)
                assert [each for page in found for each in page] == whole, name
                assert all(len(page) == limit for page in found[:-1]), name
            with pytest.raises(InvalidQuery, match="no cursor"):
                ask(limit=1, after="x")


def test_pages_of_what_fades_and_of_relations_are_of_one_time(memory, clock):
    furnished(memory, clock)
    whole = memory.operations.ageing.decay()
    first = memory.operations.ageing.decay(limit=2)
    clock.ahead(86_400 * 30)
    rest = memory.operations.ageing.decay(limit=100, after=first.next)
    assert [*first, *rest] == whole
    assert memory.operations.ageing.decay()[0].days > whole[0].days + 29

    def later(number):
        clock.ahead(86_400)
        memory.remember("ana", f"I work with {('Flo', 'Gus', 'Hal', 'Ian', 'Jo')[number % 5]}.")

    related = [each.entity_id for each in memory.related("ana")]
    found = pages(lambda **page: memory.related("ana", **page), 1, later)
    assert [each.entity_id for page in found for each in page] == related
    assert len(memory.related("ana")) > len(related)


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
    for command, found in (
        (["decisions", "--type", "fact", "--topic", "general"], 5),
        (["decisions", "--type", "event"], 0),
        (["decisions", "--topic", "work"], 0),
        (["beliefs", "--type", "fact", "--topic", "general"], 5),
        (["events", "--topic", "general"], 0),
    ):
        assert len(json.loads(run(*command, "-s", "ana", "--json"))) == found, command
        run(*command, "-s", "ana", "--topic", "wrok", code=2)
    for command in (
        ["entities", "list", "-s", "ana"],
        ["conflicts", "list"],
        ["recalls", "list"],
        ["erasure", "list"],
        ["erasure", "hold", "list"],
        ["conflicts", "loops"],
        ["entities", "related", "-s", "ana"],
        ["ops", "decay", "--reconfirm"],
        ["ops", "retry"],
        ["token", "list"],
    ):
        assert isinstance(json.loads(run(*command, "--json")), list)
        assert json.loads(run(*command, "--limit", "1", "--json"))["next"] is None
    [belief, *_] = json.loads(run("beliefs", "--json"))
    for command in (["types", "list"], ["ops", "decay"], ["consent", "list", "-s", "ana"]):
        whole = json.loads(run(*command, "--json"))
        page = json.loads(run(*command, "--limit", "1", "--json"))
        assert page["items"] == whole[:1] or command[0] == "ops"
        assert (page["next"] is not None) == (len(whole) > 1)
    with open_memory(place) as memory:
        memory.policy.adopt(memory.policy.current.model_copy(update={"name": "two"}), by="Lea")
    page = json.loads(run("policy", "list", "--limit", "1", "--json"))
    assert [each["name"] for each in page["items"]] == ["default"]
    [last] = json.loads(run("policy", "list", "--after", page["next"], "--json"))["items"]
    assert (last["name"], "policy" in last) == ("two", False)
    assert "--after" in run("policy", "list", "--limit", "1")
    run("ops", "retry", "--all", "--limit", "1", code=2)
    for asked, found in ((("--session", "monday"), 1), (("--agent", "desk"), 0)):
        versions = run("history", belief["memory_id"], *asked, "--json")
        assert len(json.loads(versions)) == found
    page = json.loads(run("history", belief["memory_id"], "--limit", "1", "--json"))
    assert len(page["items"]) == 1
    assert json.loads(run("events", "-s", "ana", "--limit", "1", "--json"))["items"] == []
