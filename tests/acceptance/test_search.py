"""Memories and turns are found, with the reasons; through the front door, on both backends."""

from __future__ import annotations

import json
import re

import pytest
from command_line import CliRunner
from wishes import searching, storing

from beliefledger import open_memory
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.errors import InvalidQuery, NotPermitted
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.streams import query_digest, session_tag
from beliefledger.ledger.times import DAY, to_datetime
from beliefledger.search.answers import SearchAnswer
from beliefledger.search.options import SearchOptions
from beliefledger.tools.cli import app

EDITOR, HOME = "User always uses dark mode", "User lives in Porto"
SAID = ("I always use dark mode.", "I live in Porto.")


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        yield memory


def say(memory, *words, **said):
    for each in words:
        memory.record_turn("ana", each, **said)
    memory.process()


def found(answer):
    return [each.text for each in answer.results]


def unmarked(answer):
    """The answer without what became of its results since."""
    return answer.model_copy(
        update={
            "results": tuple(each.model_copy(update={"standing": None}) for each in answer.results)
        }
    )


def memories(memory, query, **asked):
    return found(memory.search("ana", query, **searching(include=["memories"], **(asked))))


def by_words(answer):
    return {each.text: each.arms["words"].score for each in answer.results}


def recalled(memory):
    """The events of searches, in order."""
    memory._core.recorder.flush()
    return [each for each in memory._log.read() if each.type == MemoriesRecalled.NAME]


def stored(memory, value, attribute, **chosen):
    decision = memory.store("ana", value, attribute=attribute, **storing(**(chosen)))
    assert decision.outcome in {"admit", "supersede"}, decision
    return decision.memory_id


# What is found, and why


def test_memories_and_turns_are_found_side_by_side_and_say_why(memory, clock):
    say(memory, *SAID, session="s1")
    answer = memory.search("ana", "dark mode")
    assert found(answer) == [EDITOR]  # the turn that it came of is its evidence
    only = SearchOptions(include=["episodes"])
    of = {
        each.kind: each
        for each in (*answer.results, *memory.search("ana", "dark mode", options=only).results)
    }
    assert set(of) == {"memory", "episode"}
    for each in of.values():
        assert each.arms["words"].rank in {1, 2}
        assert each.arms["words"].score > 0
        assert 0 < each.arms["meaning"].score <= 1
        assert "by its words" in each.why
        assert "by its meaning" in each.why
    [believed] = [each for each in memory.beliefs("ana") if each.text == EDITOR]
    assert of["memory"].memory == believed
    assert of["memory"].id == believed.memory_id
    assert of["memory"].episode is None
    decided = memory.decision(believed.decision_id)
    brief = of["memory"].decision
    assert brief.decision_id == decided.decision_id
    assert (brief.outcome, brief.reason, brief.confidence) == (
        decided.outcome,
        decided.reason,
        decided.confidence,
    )
    episode = of["episode"].episode
    assert (episode.speaker, episode.role, episode.session) == ("user", "user", "s1")
    assert episode.said_at == to_datetime(clock.now)
    [evidence] = of["memory"].memory.evidence
    assert evidence.turn_id == episode.turn_id == of["episode"].id
    assert of["episode"].memory is None
    assert of["episode"].decision is None


def test_what_has_nothing_to_do_with_the_query_is_not_found(memory):
    say(memory, *SAID)
    answer = memory.search("ana", "dark mode")
    assert not {HOME, SAID[1]} & set(found(answer))
    assert (answer.candidates, answer.suppressed) == (4, 2)
    nothing = memory.search("ana", "zebra crossings")
    assert (nothing.results, nothing.suppressed, nothing.recall_id) == ((), 4, None)
    assert recalled(memory)[1:] == []  # what found nothing showed nothing


def test_a_date_and_a_speaker_find_turns(memory):
    memory.record_turn("ana", "The boiler broke.", speaker="Marta", said_at="2023-05-08T10:00:00Z")
    memory.record_turn("ana", "The boiler works.", speaker="Paul", said_at="2023-07-01T10:00:00Z")
    memory.process()
    best = memory.search("ana", "what did Marta say about the boiler?").results[0]
    assert (best.text, best.episode.speaker) == ("The boiler broke.", "Marta")
    best = memory.search("ana", "what was with the boiler on 1 July 2023?").results[0]
    assert best.text == "The boiler works."


def test_include_leaves_one_of_them_out(memory):
    say(memory, *SAID)
    only = {
        each: memory.search("ana", "dark mode", options=SearchOptions(include=[each]))
        for each in ("memories", "episodes")
    }
    assert found(only["memories"]) == [EDITOR]
    assert found(only["episodes"]) == [SAID[0]]
    assert all(each.candidates == 2 for each in only.values())


def test_as_many_as_were_asked_for_the_best_ones(memory):
    for number in range(12):
        memory.record_turn("ana", f"Lunch number {number} was soup.")
    memory.process()
    whole = memory.search("ana", "soup", 12)
    assert len(whole.results) == 12
    assert len(memory.search("ana", "soup").results) == 10
    assert found(memory.search("ana", "soup", 3)) == found(whole)[:3]


def test_a_question_is_routed_to_a_type_and_says_so(memory):
    say(memory, *SAID)
    answer = memory.search("ana", "what do I prefer, dark mode?")
    assert answer.routed
    assert "prefer" in answer.route
    assert memory.search("ana", "dark mode").routed == ()
    typed = memory.search("ana", "what do I prefer, dark mode?", types=["fact"])
    assert (typed.routed, typed.route) == ((), None)


@pytest.mark.parametrize("profile", ["default", "recall"])
def test_both_profiles_find_and_the_parts_of_the_score_are_told(memory, profile):
    say(memory, *SAID)
    answer = memory.search("ana", "dark mode", options=SearchOptions(profile=profile))
    assert answer.profile == profile
    assert found(answer) == [EDITOR]
    for each in answer.results:
        assert bool(each.components) == (profile == "recall")
        if each.components:
            assert sum(each.components.values()) == pytest.approx(each.score, abs=1e-3)


# Filters


def test_types_topics_and_what_is_surest_or_matters_most(memory):
    stored(memory, "tea", "drink.hot", type="preference", topic="food", importance=0.9)
    stored(memory, "tea shop", "employer", topic="work", importance=0.3, confidence=0.55)
    tea = {"drink hot is tea", "employer is tea shop"}
    assert set(memories(memory, "tea")) == tea
    assert memories(memory, "tea", types=["preference"]) == ["drink hot is tea"]
    assert memories(memory, "tea", types=["fact"]) == ["employer is tea shop"]
    assert memories(memory, "tea", topics=["food"]) == ["drink hot is tea"]
    assert set(memories(memory, "tea", topics=["food", "work"])) == tea
    assert memories(memory, "tea", topics=["travel"]) == []
    assert memories(memory, "tea", min_importance=0.5) == ["drink hot is tea"]
    assert memories(memory, "tea", min_confidence=0.6) == ["drink hot is tea"]


def test_what_is_in_quarantine_is_never_found(memory):
    decision = memory.store("ana", "coffee", attribute="drink", confidence=0.45)
    assert decision.outcome == "quarantine"
    assert memories(memory, "coffee", min_confidence=0) == []
    stored(memory, "tea", "drink.cold")
    assert memories(memory, "coffee tea", min_confidence=0) == ["drink cold is tea"]


SCOPED = {
    "session": "note",
    "subject": "diary",
    "team": "plan",
    "tenant": "memo",
    "public": "motto",
}


def with_scopes(memory, scopes):
    memory.consent.grant("ana", "consent", scope="public")
    for member in ("ana", "ben"):
        memory.teams.add("garden", member, by="eva")
    memory.teams.add("choir", "cleo", by="eva")
    for scope in scopes:
        stored(
            memory,
            f"the garden party {SCOPED[scope]}",
            SCOPED[scope],
            visibility_scope=scope,
            session="s1",
        )


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ({}, ["subject", "team", "tenant", "public"]),
        ({"session": "s1"}, list(SCOPED)),
        ({"session": "s2"}, ["subject", "team", "tenant", "public"]),
        ({"scope": "subject"}, ["subject", "team", "tenant", "public"]),
        ({"scope": "public"}, ["public"]),
        ({"reader": "ana", "session": "s1"}, list(SCOPED)),
        ({"reader": "ben", "session": "s1"}, ["team", "tenant", "public"]),
        ({"reader": "ben", "scope": "team"}, ["team", "tenant", "public"]),
        ({"reader": "ben", "scope": "public"}, ["public"]),
        ({"reader": "cleo", "scope": "team", "session": "s1"}, ["tenant", "public"]),
    ],
)
def test_the_scope_is_enforced_before_anything_is_ranked(new_place, clock, asked, seen):
    """What is hidden changes no score: it is as in a ledger in which it was never said."""
    answers = []
    for scopes in (list(SCOPED), seen):
        with open_memory(new_place(), clock=clock) as memory:
            with_scopes(memory, scopes)
            asked_for = {"query": "garden plan", "include": ["memories"], **asked}
            answers.append(memory.search("ana", **searching(**(asked_for))))
    whole, only = answers
    assert len(whole.results) == len(seen)
    assert whole.candidates == len(seen)
    assert by_words(whole) == by_words(only)
    assert [(each.text, each.score) for each in whole.results] == [
        (each.text, each.score) for each in only.results
    ]


def test_turns_are_for_the_subject_alone(memory):
    say(memory, *SAID)
    only = SearchOptions(include=["episodes"])
    assert SAID[0] in found(memory.search("ana", "dark mode", options=only))
    for member in ("ana", "ben"):
        memory.teams.add("garden", member, by="eva")
    assert memory.search("ana", "dark mode", options=SearchOptions(reader="ben")).candidates == 0
    assert memory.search("ana", "dark mode", options=SearchOptions(scope="tenant")).candidates == 0


# Then


def test_a_search_as_of_a_moment_sees_what_was_known_then(memory, clock):
    stored(memory, "dark", "editor.theme", type="preference")
    say(memory, "My editor is called Vim.")
    then, at = memory.status(digests=False).position, clock.now
    clock.ahead(DAY / 1e6)
    before = memory.search("ana", "editor theme", as_of=then, valid_at=at, record=False)
    decision = memory.store("ana", "light", attribute="editor.theme", type="preference")
    assert decision.outcome == "supersede"
    say(memory, "My editor has a new theme.")
    for _ in range(3):
        memory.search("ana", "editor theme")
    clock.ahead(30 * 86_400)
    dark, light = "editor theme is dark", "editor theme is light"
    now = found(memory.search("ana", "editor theme"))
    assert light in now
    assert dark not in now
    assert "My editor has a new theme." in now
    for as_of in (then, to_datetime(at), memory.as_of(then)):
        after = memory.search("ana", "editor theme", as_of=as_of, valid_at=at, record=False)
        assert dark in found(after)
        assert light not in found(after)
        assert "My editor has a new theme." not in found(after)
        # Every score too: how often it was shown is as it was then.
        assert unmarked(after) == unmarked(before)
    [was] = [each for each in after.results if each.text == dark]
    assert was.standing.state == "outdated"
    was = was.memory
    assert (was.recorded_to, was.superseded_by) == (None, None)


def test_being_shown_counts_for_later_searches_only(memory, clock):
    say(memory, SAID[0])
    clock.ahead(90 * 86_400)

    def freshness(**asked):
        [only] = memory.search(
            "ana", "dark mode", **searching(include=["memories"], **(asked))
        ).results
        return only.arms["recency"].score

    assert freshness(record=False) == pytest.approx(0.5)
    position = memory.status(digests=False).position
    assert freshness() == pytest.approx(0.5)
    memory.status(digests=False)  # recorded
    assert freshness(record=False) == pytest.approx(1.0)
    assert freshness(record=False, as_of=position, valid_at=clock.now) == pytest.approx(0.5)


def test_valid_at_searches_what_was_true_then(memory):
    stored(memory, "Porto", "city", valid_from="2020-01-01", valid_to="2022-01-01")
    stored(memory, "Lisbon", "town", valid_from="2022-01-01")
    assert memories(memory, "Porto Lisbon") == ["town is Lisbon"]
    assert memories(memory, "Porto Lisbon", valid_at="2021-06-01") == ["city is Porto"]
    assert memories(memory, "Porto Lisbon", valid_at="2019-01-01") == []


# How many, and how different


def test_the_budget_of_tokens_is_kept_and_what_had_no_room_was_not_shown(memory):
    for each in ("soup", "stew", "rice"):
        stored(memory, f"{each} for lunch", f"meal.{each}")
    whole = memory.search("ana", "lunch", record=False)
    assert len(whole.results) == 3
    most = whole.results[0].tokens + whole.results[1].tokens
    answer = memory.search("ana", "lunch", max_tokens=most)
    assert found(answer) == found(whole)[:2]
    assert (answer.tokens, answer.left_out) == (most, 1)
    event = recalled(memory)[-1].event
    assert event.memories == tuple(each.id for each in answer.results)
    assert event.ranked == tuple(each.id for each in whole.results)
    assert {each.text for each in memory.operations.ageing.decay("ana") if each.accesses} == set(
        found(answer)
    )
    none = memory.search("ana", "lunch", max_tokens=1)
    assert (none.results, none.left_out) == ((), 3)


def test_diversity_brings_forward_what_is_different(memory):
    for number in range(4):
        memory.record_turn("ana", f"Garden party garden party number {number}.")
    memory.record_turn("ana", "My bicycle stood in the garden, wet from last night's thunderstorm.")
    memory.process()
    alike = found(memory.search("ana", "garden party", 2, record=False))
    varied = found(
        memory.search("ana", "garden party", 2, options=SearchOptions(diversity=0.9), record=False)
    )
    assert alike[0] == varied[0]
    assert "bicycle" not in alike[1]
    assert "bicycle" in varied[1]


# What cannot be asked, and of whom nothing is known


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"query": "  "}, "query: write what to look for"),
        ({"k": 0}, "k is 0; it must be a whole number from 1 to 1,000"),
        ({"k": 1001}, "k is 1001"),
        ({"min_confidence": 1.5}, "min_confidence is 1.5; it must be from 0 to 1"),
        ({"min_importance": -1}, "min_importance is -1"),
        ({"recency_weight": 2}, "recency_weight is 2"),
        ({"diversity": -0.1}, "diversity is -0.1"),
        ({"max_tokens": 0}, "max_tokens is 0; it must be a whole number from 1"),
        ({"include": []}, "must name memories, episodes or both"),
        ({"include": ["dreams"]}, "must name memories, episodes or both"),
        ({"profile": "best"}, "there is no 'best'; there are: default, recall"),
        ({"types": ["dream"]}, "types: there is no 'dream'; there are: "),
        ({"topics": ["dreams"]}, "topics: there is no 'dreams'; there are: general"),
        ({"scope": "world"}, "scope: there is no 'world'; there are: session, subject"),
        ({"scope": "team"}, "say who asks: reader"),
        ({"reader": "zoe"}, "nobody here is known as 'zoe'"),
        ({"reader": " "}, "reader: name the person who asks"),
        ({"where": {"topics": "work"}}, "where: no 'topics'; there are: session"),
        ({"where": {"topic": "wok"}}, "topic: there is no 'wok'"),
        ({"where": {"type": "fat"}}, "type: there is no 'fat'"),
        ({"where": {"metadata": [1]}}, "where: metadata is a JSON object"),
        ({"as_of": 10_000}, "position 10000 is not in the log"),
        ({"valid_at": "yesterday"}, "valid_at"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(somebody, asked, says):
    somebody.memory.consent.grant(somebody.who, "consent")
    with pytest.raises(InvalidQuery, match=says):
        somebody.search(**searching(**({"query": "dark mode", **asked})))


def test_of_somebody_unknown_or_erased_there_is_nothing_to_find(memory):
    say(memory, *SAID)
    assert found(memory.search("ana", "dark mode"))
    memory.erase("ana", by="system")
    for name in ("ana", "nobody"):
        answer = memory.search(name, "dark mode")
        assert (answer.results, answer.recall_id, answer.embedder) == ((), None, None)
        assert answer.notes == (f"Nothing is known about {name!r}.",)
    with pytest.raises(NotPermitted):
        memory.record_turn("ana", SAID[0])
    memory.erasure.register_anew("ana", by="eva")
    assert memory.search("ana", "dark mode").results == ()


def test_one_person_s_search_does_not_see_another_s(memory):
    say(memory, *SAID)
    alone = memory.search("ana", "dark mode", record=False)
    memory.consent.grant("bob", "consent")
    memory.remember("bob", "I always use dark mode at night.")
    again = memory.search("ana", "dark mode", record=False)
    assert again.results == alone.results
    assert all("night" in each.text for each in memory.search("bob", "dark mode").results)


# The record


def test_what_was_found_is_recorded_with_all_that_it_depended_on(memory, clock):
    say(memory, *SAID)
    head = memory.status(digests=False).position
    answer = memory.search(
        "ana", "dark mode", 5, session="s1", purpose="assistance", types=["preference"], by="bot"
    )
    [recorded] = recalled(memory)
    event = recorded.event
    keys = memory._log.keys(recorded.subject_ref)
    assert recorded.event_id == answer.recall_id
    assert memory.actor_name(recorded.actor) == "bot"
    assert event.query_digest == query_digest(keys.ids, event.salt, "dark mode")
    assert event.session_tag == session_tag(keys.ids, "s1")
    assert event.ranked == tuple(each.id for each in answer.results)
    assert [each / 1e6 for each in event.scores] == [each.score for each in answer.results]
    assert event.memories == tuple(e.id for e in answer.results if e.kind == "memory") != ()
    assert (event.position, event.asked_at) == (head, clock.now) == (answer.position, clock.now)
    assert (event.embedder, event.index) == ("hashed-1", answer.index)
    assert (event.purpose, event.ranker) == ("assistance", "default/25")
    asked = event.asked
    assert (asked.query, asked.k, asked.types, asked.session) == (
        "dark mode",
        5,
        ("preference",),
        "s1",
    )
    assert "dark mode" not in json.dumps(recorded.facts)  # the words are in the body alone


def test_without_a_record_nobody_was_shown_anything(memory):
    say(memory, *SAID)
    answer = memory.search("ana", "dark mode", record=False)
    assert answer.results
    assert answer.recall_id is None
    assert recalled(memory) == []
    assert {each.accesses for each in memory.operations.ageing.decay("ana")} == {0}


def test_memories_that_were_found_count_as_shown_once_for_each_search(memory):
    say(memory, *SAID)
    for _ in range(3):
        memory.search("ana", "dark mode")
    assert {each.text: each.accesses for each in memory.operations.ageing.decay("ana")} == {
        EDITOR: 3,
        HOME: 0,
    }


def test_searches_are_recorded_when_the_ledger_is_closed(place, clock):
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        say(memory, *SAID)
        ids = [memory.search("ana", "dark mode").recall_id for _ in range(5)]
    with open_memory(place, clock=clock) as memory:
        assert [each.event_id for each in recalled(memory)] == ids


@pytest.mark.parametrize(("session", "mentions"), [("s1", 1), ("s2", 2)])
def test_what_repeats_at_once_what_was_found_in_the_session_is_no_mention(
    memory, session, mentions
):
    say(memory, SAID[0], session="s0")
    memory.search("ana", "dark mode", session="s1")
    memory.record_turns([TurnInput(subject="ana", content=SAID[0], session=session)])
    memory.process()
    [belief] = memory.beliefs("ana")
    assert belief.mentions == mentions


# The command


def run(place, *words, code=0):
    answer = CliRunner().invoke(app, ["--ledger", place, *words])
    assert answer.exit_code == code, answer.output
    return answer


def test_the_command_finds_the_same(place):
    run(place, "init")
    run(place, "remember", "-s", "ana", "--consent", "consent", SAID[0])
    run(place, "remember", "-s", "ana", SAID[1])
    told = json.loads(run(place, "search", "dark mode", "-s", "ana", "--json").stdout)
    assert set(told) == set(SearchAnswer.model_fields)
    assert [each["text"] for each in told["results"]] == [EDITOR]
    page = run(place, "search", "dark mode", "-s", "ana")
    assert max(map(len, page.stdout.splitlines())) <= 100
    for each in (EDITOR, "preference", "by its words", "1 result of 4"):
        assert each in page.stdout
    [newest, first] = json.loads(run(place, "recalls", "list", "--json").stdout)
    assert first["recall_id"] == told["recall_id"]
    assert f"beliefledger recalls show {newest['recall_id'][:10]}" in page.stdout
    only = run(place, "search", "dark mode", "-s", "ana", "--include", "episodes", "--no-record")
    assert EDITOR not in only.stdout
    assert SAID[0] in only.stdout
    assert "turn, user" in only.stdout
    assert "recalls show" not in only.stdout
    only = run(
        place, "search", "dark mode", "-s", "ana", "--type", "preference", "--include", "memories"
    )
    assert SAID[0] not in only.stdout
    assert EDITOR in only.stdout


def test_the_command_says_why(place):
    run(place, "init")
    run(place, "remember", "-s", "ana", "--consent", "consent", SAID[0], "--session", "s1")
    plain = run(place, "search", "dark mode", "-s", "ana", "--no-record").stdout
    page = run(place, "search", "dark mode", "-s", "ana", "--why", "--no-record").stdout
    only = ("--include", "episodes", "--why", "--no-record")
    page += run(place, "search", "dark mode", "-s", "ana", *only).stdout
    for each in ("admit, because truth.new", "evidence", "session s1", "meaning", "visible to"):
        assert each in page
        assert each not in plain or each == "meaning"
    assert not re.search(r"^ \w+ +0 +\d\.\d", page, re.M)  # what is not ranked has no rank
    parts = run(place, "search", "dark", "-s", "ana", "--why", "--profile", "recall").stdout
    assert "relevance" in parts


def test_the_command_says_when_it_finds_nothing(place):
    run(place, "init")
    run(place, "remember", "-s", "ana", "--consent", "consent", SAID[0])
    assert (
        "Nothing was found; 2 texts were searched."
        in run(place, "search", "zebra", "-s", "ana").stdout
    )
    told = run(place, "search", "zebra", "-s", "nobody")
    assert "Nothing is known about 'nobody'." in told.stderr
    assert "fits" in run(place, "search", "dark", "-s", "ana", "--max-tokens", "1").stdout
    refused = run(place, "search", "dark", "-s", "ana", "--profile", "best", code=2)
    assert "there are: default, recall" in refused.stderr
    assert refused.stdout == ""
    refused = run(place, "search", "dark", "-s", "ana", "--as-of", "999999", code=2)
    assert "is not in the log" in refused.stderr


def test_the_command_searches_the_past(place):
    run(place, "init")
    run(place, "remember", "-s", "ana", "--consent", "consent", SAID[0])
    then = json.loads(run(place, "status", "--json").stdout)["position"]
    run(place, "remember", "-s", "ana", "My dark mode is broken.")
    words = ("search", "dark mode", "-s", "ana", "--json", "--include", "episodes")
    now = json.loads(run(place, *words).stdout)["results"]
    past = json.loads(run(place, *words, "--as-of", str(then)).stdout)["results"]
    assert len(now) == 2
    assert [each["text"] for each in past] == [SAID[0]]
