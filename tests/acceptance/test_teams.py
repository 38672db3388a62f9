"""Teams: who is in which is on record, and what is visible to a team is shown to its members."""

from __future__ import annotations

import asyncio
import inspect
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest
from command_line import CliRunner

from beliefledger import Details, MemoryLedger, SearchOptions, open_memory, open_memory_async
from beliefledger.ledger.errors import (
    InvalidQuery,
    InvalidTurn,
    NotPermitted,
    SecretGiven,
    UnknownMemory,
)
from beliefledger.ledger.events.subject import TeamJoined, TeamLeft
from beliefledger.tools.cli import app

ASK = "who knows of the garden party"


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        yield opened


def told(page):
    return [(each.team, each.member, each.by) for each in page]


def test_who_is_in_a_team_is_on_record(memory, clock):
    first = memory.teams.add("Night shift", "ana", by="lea")
    then = memory.as_of(memory.status().position)
    clock.ahead(3_600)
    memory.teams.add("night  SHIFT", "ben", by="max")
    assert memory.teams.add("Night shift", "ana", by="max") == first  # again it does nothing
    memory.teams.add("Choir", "ben", by="lea")
    both = [("Night shift", "ana", "lea"), ("Night shift", "ben", "max")]
    assert told(memory.teams.members("night shift")) == both
    assert told(memory.teams.members("Night shift", as_of=then)) == both[:1]
    assert [(each.team, each.members) for each in memory.teams.list()] == [
        ("Choir", 1), ("Night shift", 2),
    ]  # fmt: skip
    assert [each.team for each in memory.teams.list("ana")] == ["Night shift"]
    assert [each.team for each in memory.teams.list(as_of=then)] == ["Night shift"]
    assert memory.teams.list("zoe") == []
    page = memory.teams.members("Night shift", limit=1)
    rest = memory.teams.members("Night shift", limit=1, after=page.next)
    assert (told(page), told(rest), rest.next) == (both[:1], both[1:], None)
    assert [each.team for each in memory.teams.list(limit=1)] == ["Choir"]

    gone = memory.teams.remove("Night Shift", "ana", by="max")
    assert (gone.member, gone.by) == ("ana", "lea")
    assert told(memory.teams.members("Night shift")) == both[1:]
    assert told(memory.teams.members("Night shift", as_of=then)) == both[:1]
    with pytest.raises(UnknownMemory, match="'ana' is in no team 'Night shift'"):
        memory.teams.remove("Night shift", "ana", by="max")
    memory.teams.add("Night shift", "ana", by="lea")  # the same team as before
    assert len({each.team_id for each in memory.teams.list("ana")}) == 1

    events = list(memory.subscribe(follow=False, types=["team.*"]))
    assert [each.type.split(".")[1] for each in events] == [
        "joined", "joined", "joined", "left", "joined",
    ]  # fmt: skip
    assert {len(each.facts) for each in events} == {1}  # the id of the team, and no name
    kinds = {TeamJoined: "Night shift", TeamLeft: None}
    assert all(getattr(each.event, "name", None) in {*kinds.values(), "Choir"} for each in events)
    assert memory.proofs.verify().ok
    before = {each.name: each.content_digest for each in memory.status(digests=True).views}
    memory.operations.rebuild()
    after = {each.name: each.content_digest for each in memory.status(digests=True).views}
    assert before == after
    assert after["teams"] is not None


@pytest.mark.parametrize("kept_on", ["sqlite"], indirect=True)
def test_what_is_no_team_and_no_member_is_refused(memory):
    memory.teams.add("choir", "ana", by="lea")
    position = memory.status().position
    for team, member, by, problem, says in (
        (" ", "ana", "lea", InvalidTurn, "team: give it a name"),
        ("a\nb", "ana", "lea", InvalidTurn, "one line of at most 100"),
        ("x" * 101, "ana", "lea", InvalidTurn, "one line of at most 100"),
        ("password: hunter2secret", "ana", "lea", SecretGiven, "team: this looks like"),
        ("choir", "", "lea", InvalidTurn, "member: name a person"),
        ("choir", "ben", " ", NotPermitted, "Name who acts"),
    ):
        with pytest.raises(problem, match=says):
            memory.teams.add(team, member, by=by)
    with pytest.raises(UnknownMemory, match="There is no team 'band'"):
        memory.teams.members("band")
    with pytest.raises(UnknownMemory, match="Nothing is known about 'zoe'"):
        memory.teams.remove("choir", "zoe", by="lea")
    assert memory.status().position == position


def test_a_team_that_two_begin_at_once_is_one(place, memory, clock):
    with open_memory(place, clock=clock) as other, ThreadPoolExecutor(4) as pool:
        ledgers = (memory, other, memory, other)
        each = [
            pool.submit(ledger.teams.add, "choir", f"p{number}", by="lea")
            for number, ledger in enumerate(ledgers)
        ]
        assert [one.result(60).team for one in each] == ["choir"] * 4
        [team] = other.teams.list()
    assert team.members == 4


# Who sees what


def scoped(memory):
    """Of ana: a memory of each visibility and type of question; in a team with ben, not cleo."""
    memory.consent.grant("ana", "consent", scope="public")
    for scope in ("session", "subject", "team", "tenant", "public"):
        for type_, attribute, value in (
            ("fact", f"garden.{scope}", f"party {scope}"),
            ("event", f"event.{scope}", f"garden party of {scope}"),
            ("relation", f"relation.works-with.{scope}", f"Mr {scope.title()}"),
            ("constraint", f"rule.{scope}", f"no garden music {scope}"),
        ):
            made = memory.store(
                "ana",
                value,
                attribute=attribute,
                type=type_,
                text=f"the garden party: {type_} for {scope}",
                valid_from="2026-03-01T09:00:00Z",
                details=Details(visibility_scope=scope, session="s1", importance=0.9),
            )
            assert made.outcome == "admit", made
    memory.record_turn("ana", "I heard that the garden party needs cakes.", role="assistant")
    memory.process()
    for team, member in (("garden", "ana"), ("garden", "ben"), ("choir", "cleo")):
        memory.teams.add(team, member, by="lea")


def every_listing(memory, reader):
    """By verb, the visibility of what it shows of ana to a reader."""
    asked = SearchOptions(reader=reader)
    hits = memory.search("ana", ASK, 100, session="s1", options=asked).results
    block = memory.context("ana", ASK, max_tokens=5_000, session="s1", options=asked)
    known = {each.memory_id: each.visibility_scope for each in memory.beliefs("ana")}
    paged, after = [], None
    while True:
        page = memory.beliefs(reader=reader, limit=3, after=after)
        paged += page
        after = page.next
        if after is None:
            break
    return {
        "search": {"turn" if hit.memory is None else known[hit.id] for hit in hits},
        "context": {known.get(line.id, "turn") for line in block.lines},
        "beliefs": {each.visibility_scope for each in memory.beliefs("ana", reader=reader)},
        "beliefs of all": {each.visibility_scope for each in paged if each.subject == "ana"},
        "events": {each.visibility_scope for each in memory.events("ana", reader=reader)},
        "typed": {known[each.memory_id] for each in memory.typed("ana", reader=reader)},
        "related": {
            step.memory.visibility_scope
            for path in memory.related("ana", relation="works-with", reader=reader)
            for step in path.steps
        },
        "history": {
            version.visibility_scope
            for each in memory.beliefs("ana")
            for version in memory.history(each.memory_id, reader=reader)
        },
    }


def test_what_is_for_a_team_is_shown_to_its_members_alone(memory, clock):
    scoped(memory)
    clock.ahead(60)
    everything = {"session", "subject", "team", "tenant", "public"}
    own, of_all = every_listing(memory, "ana"), every_listing(memory, None)
    assert own == of_all
    assert {"subject", "turn"} <= own["search"]
    assert all(everything <= found for verb, found in own.items() if verb != "context"), own
    mates, others = every_listing(memory, "ben"), every_listing(memory, "cleo")
    # One member never reads what is for the subject, nor what was said.
    assert set(map(frozenset, mates.values())) == {frozenset({"team", "tenant", "public"})}, mates
    assert set(map(frozenset, others.values())) == {frozenset({"tenant", "public"})}, others

    # Nor does an error tell others of whom somebody spoke, or a name what it stands for.
    for reader in ("ben", "cleo"):
        assert memory.related("ana", "Mr Nobody", reader=reader) == []
        assert memory.related("ana", relation="worships", reader=reader) == []
        assert memory.events("ana", participant="Mr Nobody", reader=reader) == []
        paths = memory.related("ana", relation="works-with", reader=reader)
        assert {step.entity for path in paths for step in path.steps} == {None}
    with pytest.raises(UnknownMemory):
        memory.related("ana", "Mr Nobody")
    with pytest.raises(InvalidQuery, match="nobody here is known as 'zoe'"):
        memory.beliefs("ana", reader="zoe")

    # Whoever leaves sees it no longer, though the ledger of then is asked about.
    then = memory.as_of(memory.status().position)
    memory.teams.remove("garden", "ben", by="lea")
    assert every_listing(memory, "ben") == others
    past = memory.search("ana", ASK, 100, as_of=then, options=SearchOptions(reader="ben"))
    assert {each.memory.visibility_scope for each in past.results} == {"tenant", "public"}
    # An auditor sees what they could see then.
    audit = SearchOptions(reader="ben", standing="then", reason="a complaint")
    past = memory.search("ana", ASK, 100, as_of=then, by="nia", options=audit)
    assert {each.memory.visibility_scope for each in past.results} == {"team", "tenant", "public"}


def test_who_asked_is_on_record_and_found_again(memory, clock):
    scoped(memory)
    options = SearchOptions(reader="ben")
    found = memory.search("ana", ASK, options=options)
    made = memory.context("ana", ASK, options=options)
    memory.teams.remove("garden", "ben", by="lea")
    memory.teams.add("garden", "cleo", by="lea")
    for recall_id in (found.recall_id, made.recall_id):
        replay = memory.audit.replay_recall(recall_id)
        assert (replay.verdict, replay.differs) == ("same", ())
        asked = memory.recalls.get(recall_id).asked
        assert (asked["reader"], asked["scope"]) == ("ben", "team")
    memory.erase("ben", by="lea")
    assert memory.recalls.get(found.recall_id).asked["reader"] is None
    assert memory.audit.replay_recall(found.recall_id).verdict == "same"
    with pytest.raises(NotPermitted):
        memory.beliefs("ana", reader="ben")


def test_a_member_takes_their_membership_with_them(memory):
    scoped(memory)
    memory.teams.add("the lonely", "ben", by="lea")
    then = memory.status().position
    assert memory.erase("ben", by="lea").bodies == 2
    assert told(memory.teams.members("garden")) == [("garden", "ana", "lea")]
    assert told(memory.teams.members("garden", as_of=then)) == [("garden", "ana", "lea")]
    assert [each.team for each in memory.teams.list(as_of=then)] == ["choir", "garden"]
    with pytest.raises(UnknownMemory, match="There is no team 'the lonely'"):
        memory.teams.members("the lonely")
    with pytest.raises(NotPermitted):
        memory.teams.add("garden", "ben", by="lea")
    bodies = [each.event for each in memory.subscribe(follow=False, types=["team.joined.v1"])]
    assert sum(each is None for each in bodies) == 2  # both of ben's
    digest = {each.name: each.content_digest for each in memory.status(digests=True).views}
    memory.operations.rebuild()
    after = {each.name: each.content_digest for each in memory.status(digests=True).views}
    assert digest == after


@pytest.mark.parametrize("kept_on", ["sqlite"], indirect=True)
def test_where_no_scope_is_wider_nobody_else_sees_anything(memory):
    memory.remember("ana", "I live in Porto.", consent="consent")
    memory.teams.add("garden", "ana", by="lea")
    memory.teams.add("garden", "ben", by="lea")
    memory.policy.adopt({"name": "narrow", "scopes": ["session", "subject"]}, by="lea")
    found = memory.search("ana", "where do I live", options=SearchOptions(reader="ben"))
    assert (found.results, found.recall_id) == ((), None)
    assert "no scope by which anybody but the subject" in found.notes[0]
    assert memory.context("ana", "x", options=SearchOptions(reader="ben")).lines == ()
    assert memory.beliefs("ana", reader="ben") == []
    with pytest.raises(InvalidQuery, match="leave out standing and rerank"):
        memory.context("ana", "x", options=SearchOptions(standing="all", reason="x"))


# Where


def test_where_filters_before_the_best_are_taken(memory, clock):
    memory.consent.grant("ana", "consent")
    for number in range(40):
        details = Details(
            session=f"s{number % 4}",
            agent="clerk" if number % 3 else "guide",
            metadata={"ticket": number % 2, "tags": ["a", number % 5]},
            topic="work" if number % 8 < 4 else "general",
        )
        memory.store(
            "ana", f"tea {number}", attribute=f"drink.{number}", text=f"green tea of {number}",
            type="preference" if number % 2 else "fact", details=details,
        )  # fmt: skip
    for number in range(12):
        memory.record_turn(
            "ana", f"More green tea, please, cup {number}.", session=f"s{number % 4}",
            agent="guide", metadata={"ticket": number % 2},
        )  # fmt: skip
    memory.process()
    clock.ahead(60)
    for where, turns in (
        ({"session": "s1"}, True),
        ({"agent": "guide"}, True),
        ({"metadata": {"ticket": 1}}, True),
        ({"metadata": {"tags": ["a", 3]}}, False),
        ({"type": "preference"}, False),
        ({"topic": "work"}, False),
        ({"type": "fact", "topic": "work", "agent": "clerk"}, False),
        ({"session": "s2", "agent": "guide", "metadata": {"ticket": 0}}, True),
        ({"session": "elsewhere"}, None),
        ({"metadata": {"ticket": True}}, None),
    ):
        listed = {each.memory_id for each in memory.beliefs("ana", where=where)}
        only = SearchOptions(where=where, include=["memories"])
        found = memory.search("ana", "green tea", 5, options=only)
        assert len(found.results) == min(5, len(listed)), where
        assert {each.id for each in found.results} <= listed
        assert found.candidates == len(listed)
        whole = memory.search("ana", "green tea", 100, options=SearchOptions(where=where))
        assert {each.id for each in whole.results if each.memory} == listed
        assert any(each.episode for each in whole.results) == bool(turns), where
        block = memory.context("ana", "green tea", options=SearchOptions(where=where))
        shown = {each.id for each in block.lines}
        assert shown <= {each.id for each in whole.results}
        assert bool(shown) == (turns is not None)
        for answer in (found, whole, block):
            if answer.recall_id is not None:
                replay = memory.audit.replay_recall(answer.recall_id)
                assert (replay.verdict, replay.differs) == ("same", ()), where
    assert "of what `where` asks for" in memory.search(
        "ana", "tea", options=SearchOptions(where={"session": "elsewhere"})
    ).notes[0]  # fmt: skip
    # The name of the session that was picked goes with the session.
    picked = memory.search("ana", "green tea", options=SearchOptions(where={"session": "s3"}))
    memory.erase("ana", session="s3", by="lea")
    assert memory.recalls.get(picked.recall_id).asked is None


# Other doors


@pytest.mark.parametrize("kept_on", ["sqlite"], indirect=True)
def test_the_command_line_and_the_event_loop_do_the_same(place, memory):
    scoped(memory)
    runner = CliRunner()

    def run(*arguments, code=0):
        result = runner.invoke(app, ["--ledger", str(place), *arguments])
        assert result.exit_code == code, result.output
        return result

    def read(*arguments):
        return orjson.loads(run(*arguments, "--json").stdout)

    assert read("teams", "add", "choir", "dan", "--by", "lea")["member"] == "dan"
    assert "dan is no longer in" in run("teams", "remove", "choir", "dan", "--by", "lea").stdout
    assert [each["team"] for each in read("teams", "list")] == ["choir", "garden"]
    assert [each["team"] for each in read("teams", "list", "--member", "ben")] == ["garden"]
    assert [each["member"] for each in read("teams", "members", "garden")] == ["ana", "ben"]
    page = read("teams", "members", "garden", "--limit", "1")
    assert (len(page["items"]), page["next"] is None) == (1, False)
    assert "2 members" in run("teams", "members", "garden").stdout
    run("search", ASK, "-s", "ana", "--scope", "team", code=2)
    told = read("search", ASK, "-s", "ana", "-k", "50", "--reader", "ben", "--scope", "team")
    assert {each["memory"]["visibility_scope"] for each in told["results"]} == {
        "team", "tenant", "public",
    }  # fmt: skip
    assert read("search", ASK, "-s", "ana", "--said-in", "s2")["results"] == []
    assert read("search", ASK, "-s", "ana", "--said-in", "s1", "--agent", "x")["results"] == []
    assert read("search", ASK, "-s", "ana", "--metadata", '{"a": 1}')["results"] == []
    lines = read("context", ASK, "-s", "ana", "--reader", "cleo", "--type", "fact")["lines"]
    assert {each["text"] for each in lines} == {
        "the garden party: fact for public", "the garden party: fact for tenant",
    }  # fmt: skip
    for command in (["beliefs"], ["events"]):
        answer = read(*command, "-s", "ana", "--reader", "ben")
        assert {each["visibility_scope"] for each in answer} == {"team", "tenant", "public"}
    [hidden, *_] = [each for each in memory.beliefs("ana") if each.visibility_scope == "subject"]
    assert read("history", hidden.memory_id, "--reader", "ben") == []
    assert len(read("history", hidden.memory_id, "--reader", "ana")) == 1
    related = ["entities", "related", "-s", "ana", "--relation", "works-with"]
    assert len(read(*related)) == 5
    assert len(read(*related, "--reader", "ben")) == 3

    async def ask():
        async with open_memory_async(place) as other:
            await other.teams.add("choir", "eva", by="lea")
            members = await other.teams.members("choir")
            options = SearchOptions(reader="ben", where={"type": "fact"})
            found = await other.search("ana", ASK, options=options)
            return [each.member for each in members], len(found.results)

    assert asyncio.run(ask()) == (["cleo", "eva"], 3)


@pytest.mark.parametrize("kept_on", ["sqlite"], indirect=True)
def test_a_search_that_found_nothing_has_no_recall(memory):
    nothing = memory.search("ana", "anything")
    assert nothing.recall_id is None
    for none in (nothing.recall_id, ""):
        with pytest.raises(InvalidQuery, match="recall_id: give the id of a recall"):
            memory.recalls.get(none)
        with pytest.raises(InvalidQuery, match="recall_id: give the id of a recall"):
            memory.audit.replay_recall(none)


def test_what_tells_of_more_than_memories_takes_no_reader_and_the_page_says_why():
    takes = {
        name
        for name, verb in inspect.getmembers(MemoryLedger, inspect.isfunction)
        if "reader" in inspect.signature(verb).parameters
    }
    assert takes == {"beliefs", "history", "events", "typed", "related"}
    assert {"options"} <= set(inspect.signature(MemoryLedger.search).parameters)
    assert {"options"} <= set(inspect.signature(MemoryLedger.context).parameters)
    page = (Path(__file__).parents[2] / "docs" / "verbs.md").read_text("utf-8")
    section = page.partition("## Teams, and who asks")[2].partition("\n## ")[0]
    reasons = dict(re.findall(r"(?m)^\| `(\w+)` \| (.{30,}) \|$", section))
    assert set(reasons) == {"decisions", "explain", "why_not", "diff", "export"}
    assert all(f"`{verb}`" in section for verb in {*takes, "search", "context"})


def test_a_reader_compares_two_lists_where_diff_takes_none(memory):
    memory.teams.add("night shift", "cleo", by="lea")
    memory.teams.add("night shift", "ben", by="lea")
    memory.consent.grant("cleo", "consent", scope="team")
    shared = Details(visibility_scope="team")
    memory.store("cleo", "locker 7", attribute="spare key", details=shared)
    then = memory.as_of(memory.status().position)
    memory.store("cleo", "locker 9", attribute="spare key", details=shared)
    memory.store("cleo", "blue", attribute="favourite colour")
    lists = [memory.beliefs("cleo", reader="ben", as_of=at) for at in (then, None)]
    assert [[each.value for each in found] for found in lists] == [["locker 7"], ["locker 9"]]
