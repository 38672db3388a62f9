"""What was searched for and shown is told, and searched again as of then; on both backends."""

from __future__ import annotations

import json
import sqlite3

import pytest
from command_line import CliRunner
from wishes import searching

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import InvalidQuery, NotPermitted, UnknownMemory
from beliefledger.ledger.log import new_id
from beliefledger.ledger.streams import recall_stream, session_tag
from beliefledger.ledger.times import to_datetime
from beliefledger.search.options import SearchOptions
from beliefledger.search.recall_replay import RecallReplay, RecallsReplay
from beliefledger.search.recalls import RecallAnswer, RecallDetails
from beliefledger.tools.cli import app

EDITOR = "User always uses dark mode"
SAID = ("I always use dark mode.", "I live in Porto.", "I love hiking in the mountains.")


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        say(memory, *SAID)
        yield memory


def say(memory, *words, subject="ana", **said):
    for each in words:
        memory.record_turn(subject, each, **said)
    memory.process()


def recorded(memory, recall_id):
    memory._core.recorder.flush()
    return memory._log.find(recall_id)


def recorded_as(memory, recall_id, **other):
    """Have the search recorded once more, as if it had been made by something else."""
    was = recorded(memory, recall_id)
    event = was.event.model_copy(update=other)
    again = new_id()
    memory._core.recorder.note(
        New(event, again, recall_stream(was.subject_ref), was.subject_ref, "system")
    )
    return again


def verdict(memory, recall_id):
    return memory.audit.replay_recall(recall_id).verdict


# What there is


def test_recalls_are_listed_newest_first_with_who_asked_what_and_how(memory, clock):
    first = memory.search("ana", "dark mode", session="s1", purpose="assistance", by="bot")
    clock.ahead(60)
    second = memory.search("ana", "hiking", options=SearchOptions(profile="recall"))
    answers = memory.recalls.list("ana")
    assert [each.recall_id for each in answers] == [second.recall_id, first.recall_id]
    newest, oldest = answers
    keys = memory._log.keys(memory._log.subject("ana"))
    assert oldest == RecallAnswer(
        recall_id=first.recall_id,
        position=recorded(memory, first.recall_id).position,
        recorded_at=oldest.recorded_at,
        subject="ana",
        by="bot",
        purpose="assistance",
        session_tag=session_tag(keys.ids, "s1"),
        searched=True,
        ranker="default/25",
        embedder="hashed-1",
        found=len(first.results),
        query="dark mode",
    )
    assert (newest.by, newest.ranker, newest.query) == ("system", "recall/25", "hiking")
    assert newest.recorded_at == to_datetime(clock.now)
    assert memory.recalls.list() == answers
    assert memory.recalls.list(limit=1) == [newest]
    assert memory.recalls.list("nobody") == []


def test_recalls_of_one_memory_or_turn(memory):
    dark = memory.search("ana", "dark mode")
    hiking = memory.search("ana", "hiking")
    for each in dark.results:
        [only] = memory.recalls.list(found=each.id[:12])
        assert only.recall_id == dark.recall_id
        assert memory.recalls.list("nobody", found=each.id) == []
    both = memory.search("ana", "dark mode and hiking")
    told = [each.recall_id for each in memory.recalls.list(found=hiking.results[0].id)]
    assert told == [both.recall_id, hiking.recall_id]
    with pytest.raises(UnknownMemory, match="no memory or turn that was shown 'beefbeef"):
        memory.recalls.list(found="beef" * 8)


def test_what_a_caller_chose_to_show_is_listed_too(memory):
    [belief] = [each for each in memory.beliefs("ana") if each.text == EDITOR]
    memory.recalls.record_shown("ana", [belief], query="dark?", session="s1", by="bot")
    [only] = memory.recalls.list("ana")
    assert (only.searched, only.ranker, only.query, only.found) == (False, "shown", None, 1)
    details = memory.recalls.get(only.recall_id)
    assert (details.asked, details.searched_position, details.searched_at) == (None, None, None)
    [result] = details.results
    assert (result.id, result.kind, result.text) == (belief.memory_id, "memory", EDITOR)
    assert (result.score, result.shown) == (None, True)
    with pytest.raises(NotPermitted, match="a caller chose by itself what to show"):
        memory.audit.replay_recall(only.recall_id)
    assert memory.audit.replay_recalls() == RecallsReplay(
        recalls=0, same=0, different=0, inputs_destroyed=0, shown=1, differing=()
    )


def test_everything_that_was_recorded_is_shown(memory, clock):
    memory.store("ana", "a dark roast", attribute="coffee")
    head = memory.status(digests=False).position
    asked_at = clock.now
    answer = memory.search(
        "ana",
        "dark mode",
        7,
        valid_at=clock.now,
        options=SearchOptions(min_importance=0.1, recency_weight=0.25),
    )
    clock.ahead(60)
    details = memory.recalls.get(answer.recall_id[:12])
    assert isinstance(details, RecallDetails)
    assert details.recall == memory.recalls.list()[0]
    assert (details.searched_position, details.searched_at) == (head, to_datetime(asked_at))
    assert details.index == answer.index
    assert details.unembedded == 0
    asked = details.asked
    assert (asked["query"], asked["k"], asked["profile"]) == ("dark mode", 7, "default")
    assert (asked["min_importance"], asked["recency_weight"]) == (0.1, 0.25)
    assert asked["valid_at"] == to_datetime(asked_at)
    assert len(answer.results) == 2
    assert [(e.rank, e.id, e.kind, e.score, e.text, e.shown) for e in details.results] == [
        (e.rank, e.id, e.kind, e.score, e.text, True) for e in answer.results
    ]


def test_what_was_found_is_shown_as_it_was_said_then(memory):
    memory.store("ana", "dark", attribute="coffee.roast", type="preference")
    answer = memory.search("ana", "coffee roast", 1, options=SearchOptions(include=["memories"]))
    decision = memory.store("ana", "light", attribute="coffee.roast", type="preference")
    assert decision.outcome == "supersede"
    texts = [each.text for each in memory.recalls.get(answer.recall_id).results]
    assert texts == ["coffee roast is dark"]


def test_what_had_no_room_is_marked(memory):
    memory.store("ana", "a dark roast", attribute="coffee")
    whole = memory.search("ana", "dark", options=SearchOptions(include=["memories"]), record=False)
    answer = memory.search(
        "ana",
        "dark",
        options=SearchOptions(include=["memories"]),
        max_tokens=whole.results[0].tokens,
    )
    assert [each.shown for each in memory.recalls.get(answer.recall_id).results] == [True, False]
    assert verdict(memory, answer.recall_id) == "same"


def test_turns_that_had_no_room_are_marked_too(memory):
    memory.record_turn("ana", "I had a dark roast, and then another one that was darker.")
    memory.process()
    whole = memory.search("ana", "dark", record=False)
    assert {each.kind for each in whole.results} == {"memory", "episode"}
    for room in range(len(whole.results)):
        most = sum(each.tokens for each in whole.results[:room]) + 1
        answer = memory.search("ana", "dark", max_tokens=most)
        marks = [each.shown for each in memory.recalls.get(answer.recall_id).results]
        assert marks == [True] * room + [False] * (len(whole.results) - room)


@pytest.mark.parametrize("given", ["", "beef" * 8])
def test_a_recall_that_is_not_there(memory, given):
    memory.search("ana", "dark mode")
    memory.search("ana", "hiking")
    for ask in (memory.recalls.get, memory.audit.replay_recall):
        expected = UnknownMemory if given else InvalidQuery
        with pytest.raises(expected, match="recall"):
            ask(given)


def test_the_id_of_another_event_is_no_recall(memory):
    turn = memory._log.event_id_at(memory.record_turn("ana", "Hello.").position)
    with pytest.raises(UnknownMemory, match="There is no recall"):
        memory.audit.replay_recall(turn)


# Again


ASKED = [
    {},
    {"profile": "recall"},
    {"include": ["memories"], "types": ["preference"]},
    {"include": ["episodes"]},
    {"diversity": 0.6},
    {"session": "s1"},
    {"reader": "ben"},
    {"reader": "eva", "scope": "team"},
    {"where": {"session": "s1"}},
    {"where": {"agent": "clerk", "metadata": {"ticket": 7}}},
    {"where": {"type": "preference"}, "k": 2},
    {"topics": ["tools", "general"]},
    {"max_tokens": 6},
    {"valid_at": "2027-01-01"},
    {"k": 1, "recency_weight": 1.0},
]


def changed(memory, clock):
    """Much that has come since."""
    clock.ahead(40 * 86_400)
    memory.store("ana", "dark", attribute="editor.theme", type="preference")
    memory.store("ana", "light", attribute="editor.theme", type="preference")
    say(memory, "I use dark mode at night and hiking boots by day.", "I live in Lisbon now.")
    [belief] = [each for each in memory.beliefs("ana") if each.text == EDITOR]
    memory.recalls.record_shown("ana", [belief] * 1)
    memory.revoke(belief.memory_id, by="eva")
    for query in ("dark mode", "hiking"):
        memory.search("ana", query)
    memory.policy.adopt(
        {
            "name": "other",
            "scopes": ["session", "subject", "public"],
            "decay": {"profile": "decay", "rate": 0.5},
        },
        by="system",
    )


def test_searches_are_the_same_again_whatever_came_later(place, memory, clock):
    memory.consent.grant("ana", "consent", scope="public")
    for member in ("ana", "ben", "eva"):
        memory.teams.add("tools", member, by="clara")
    memory.teams.remove("tools", "eva", by="clara")
    beside = {"agent": "clerk", "metadata": {"ticket": 7}}
    for scope in ("session", "team", "public"):
        memory.store(
            "ana",
            f"dark {scope}",
            attribute=f"mode.{scope}",
            details=Details(session="s1", visibility_scope=scope, **beside),
        )
    clock.ahead(30 * 86_400)
    answers = [
        memory.search("ana", "dark mode or hiking?", **searching(**(asked))) for asked in ASKED
    ]
    assert all(each.recall_id for each in answers)
    assert len({tuple(e.id for e in each.results) for each in answers}) > 5  # they do differ
    changed(memory, clock)
    memory.teams.remove("tools", "ben", by="clara")
    memory.teams.add("tools", "eva", by="clara")
    past = memory.search("ana", "dark mode or hiking?", as_of=answers[0].position)
    answers.append(past)
    for answer in answers:
        replay = memory.audit.replay_recall(answer.recall_id)
        assert (replay.verdict, replay.differs, replay.reasons) == ("same", (), ())
        assert replay.again == replay.recorded
        ids = [each.id for each in replay.again]
        assert [each.id for each in answer.results] == ids[: len(answer.results)]
    summary = memory.audit.replay_recalls()
    assert (summary.same, summary.different, summary.inputs_destroyed) == (len(answers) + 2, 0, 0)
    memory.operations.rebuild()
    assert memory.audit.replay_recalls() == summary
    memory.close()
    with open_memory(place, clock=clock) as again:  # other indexes, other vectors' places
        assert again.audit.replay_recalls("ana") == summary


def test_replaying_leaves_no_record(memory):
    answer = memory.search("ana", "dark mode")
    recorded(memory, answer.recall_id)
    head = memory.status(digests=False).position
    memory.audit.replay_recall(answer.recall_id)
    memory.audit.replay_recalls()
    assert memory.status(digests=False).position == head
    assert len(memory.recalls.list()) == 1


def test_progress_is_told_and_one_subject_alone_can_be_replayed(memory):
    memory.consent.grant("bob", "consent")
    say(memory, "I always use dark mode.", subject="bob")
    memory.search("ana", "dark mode")
    memory.search("bob", "dark mode")
    told = []
    assert memory.audit.replay_recalls(progress=lambda *each: told.append(each)).same == 2
    assert told[-1][0] == told[-1][1] > 0
    assert memory.audit.replay_recalls("bob").same == 1
    assert memory.audit.replay_recalls("nobody").recalls == 0


def test_after_an_erasure_the_inputs_are_destroyed(memory):
    answer = memory.search("ana", "dark mode")
    memory.consent.grant("bob", "consent")
    say(memory, "I always use dark mode.", subject="bob")
    other = memory.search("bob", "dark mode")
    recorded(memory, answer.recall_id)
    memory.erase("ana", by="system")
    assert [each.recall_id for each in memory.recalls.list()] == [other.recall_id]
    assert memory.recalls.list("ana") == []
    replay = memory.audit.replay_recall(answer.recall_id)
    assert (replay.verdict, replay.again, replay.query) == ("inputs destroyed", None, None)
    assert [each.id for each in replay.recorded] == [each.id for each in answer.results]
    assert replay.reasons == ("The subject was erased, and the query with them.",)
    details = memory.recalls.get(answer.recall_id)
    assert (details.asked, details.recall.query, details.recall.subject) == (None, None, None)
    assert {each.text for each in details.results} == {None}
    summary = memory.audit.replay_recalls()
    assert (summary.same, summary.different, summary.inputs_destroyed) == (1, 0, 1)
    assert memory.audit.replay_recalls("ana").recalls == 0
    memory.erasure.register_anew("ana", by="eva")
    assert verdict(memory, answer.recall_id) == "inputs destroyed"


def test_every_difference_is_told_in_a_sentence(memory):
    answer = memory.search("ana", "dark mode hiking", 2)
    event = recorded(memory, answer.recall_id).event
    first, second = event.ranked
    [other] = [e.memory_id for e in memory.beliefs("ana") if e.text == "User lives in Porto"]
    higher = event.scores[0] + 5_000_000
    changed = recorded_as(
        memory,
        answer.recall_id,
        ranked=(other, first),
        memories=(other,),
        scores=(higher, event.scores[1]),
    )
    replay = memory.audit.replay_recall(changed)
    assert replay.verdict == "different"
    says = {each.id: each for each in replay.differs}
    assert says.keys() == {other, first, second}
    assert says[other].says == f"Then it was 1st with {higher / 1e6:.6f}; now it is not found."
    assert (says[other].text, says[other].now) == ("User lives in Porto", None)
    assert says[first].says.startswith("Then it was 2nd with ")
    assert "; now it is 1st with " in says[first].says
    assert says[second].says.startswith("Then it was not found; now it is 2nd with ")
    assert says[second].text == answer.results[1].text
    [reason] = replay.reasons
    assert "beliefledger ops rebuild" in reason
    summary = memory.audit.replay_recalls()
    assert (summary.same, summary.different) == (1, 1)
    assert summary.differing == (replay,)


def test_what_is_further_down_now_says_where(memory):
    answer = memory.search("ana", "dark mode hiking")
    event = recorded(memory, answer.recall_id).event
    last = event.ranked[-1]
    changed = recorded_as(
        memory,
        answer.recall_id,
        ranked=(last,),
        memories=(),
        scores=event.scores[:1],
        asked=event.asked.model_copy(update={"k": 1}),
    )
    says = {each.id: each.says for each in memory.audit.replay_recall(changed).differs}
    place = {2: "2nd", 3: "3rd", 4: "4th"}[len(event.ranked)]
    assert says[last].endswith(f"; now it is {place}, further down than was asked for.")


@pytest.mark.parametrize("by", [1, 10, 11])
def test_a_score_may_differ_by_some_millionths(memory, by):
    answer = memory.search("ana", "dark mode")
    scores = recorded(memory, answer.recall_id).event.scores
    changed = recorded_as(memory, answer.recall_id, scores=(scores[0] + by, *scores[1:]))
    assert verdict(memory, changed) == ("same" if by <= 10 else "different")


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"ranker": "default/0"}, "ranked by default/25 now; then it was by default/0."),
        ({"index": "bm25+/0 flat/1"}, "now; then it was bm25+/0 flat/1."),
        ({"unembedded": 2}, "Then 2 texts had no vector and were compared by words alone; now 0."),
    ],
)
def test_what_is_known_to_be_other_than_it_was_is_told(memory, other, says):
    answer = memory.search("ana", "dark mode")
    [reason] = memory.audit.replay_recall(recorded_as(memory, answer.recall_id, **other)).reasons
    assert reason.endswith(says)


def test_a_model_that_is_not_here_is_stood_in_for_and_that_is_told(memory, tmp_path):
    model = str(tmp_path / "no-such-model")
    answer = memory.search("ana", "dark mode")
    replay = memory.audit.replay_recall(recorded_as(memory, answer.recall_id, embedder=model))
    [reason] = replay.reasons
    assert f"by {model} then, which is not installed; now by hashed-1" in reason
    assert "pip install" in reason


def test_a_search_with_another_model_is_made_again_with_that_model(place, clock, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_EMBEDDER", "all-minilm-l6-v2")
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        say(memory, *SAID)
        answer = memory.search("ana", "which city is home to the user?")
        assert answer.embedder == "all-minilm-l6-v2"
        assert "User lives in Porto" in [each.text for each in answer.results]
    monkeypatch.setenv("BELIEFLEDGER_EMBEDDER", "hashed-1")
    with open_memory(place, clock=clock) as memory:
        assert memory.search("ana", "which city is home to the user?").embedder == "hashed-1"
        replay = memory.audit.replay_recall(answer.recall_id)
        assert (replay.verdict, replay.reasons) == ("same", ())


@pytest.fixture
def damaged(tmp_path, clock):
    """A ledger in which a search was made; then, with it closed, something is done to a file."""
    place = tmp_path / "damaged"
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        say(memory, *SAID)
        answer = memory.search("ana", "dark mode")
        assert verdict(memory, answer.recall_id) == "same"

    def damage(file, statement, *values):
        [path] = [each for each in place.rglob("*.db") if each.name == file]
        connection = sqlite3.connect(path)
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for name in [row[0] for row in names if row[0].startswith("belief_versions_")]:
            statement = statement.replace("BELIEFS", name)
        assert connection.execute(statement, values).rowcount == 1
        connection.commit()
        connection.close()
        return open_memory(place, clock=clock)

    return answer, damage


def test_a_damaged_view_makes_a_difference_and_a_rebuild_ends_it(damaged):
    answer, damage = damaged
    [gone] = [each.id for each in answer.results if each.kind == "memory"]
    with damage("views.db", "DELETE FROM BELIEFS WHERE memory_id = ?", gone) as memory:
        replay = memory.audit.replay_recall(answer.recall_id)
        assert replay.verdict == "different"
        [lost] = [each for each in replay.differs if each.id == gone]
        assert lost.says.endswith("; now it is not found.")
        assert lost.now is None
        assert "beliefledger ops rebuild" in replay.reasons[-1]
        memory.operations.rebuild("belief_versions")
        assert verdict(memory, answer.recall_id) == "same"


# The commands


def run(place, *words, code=0):
    answer = CliRunner().invoke(app, ["--ledger", place, *words])
    assert answer.exit_code == code, answer.output
    return answer


def test_the_commands_tell_and_do_the_same(place):
    run(place, "init")
    assert "0 recalls." in run(place, "recalls", "list").stdout
    run(place, "remember", "-s", "ana", "--consent", "consent", SAID[0])
    found = json.loads(run(place, "search", "dark mode", "-s", "ana", "--json").stdout)
    run(place, "search", "mode", "-s", "ana", "--by", "bot", "--purpose", "assistance")
    recall_id, result = found["recall_id"], found["results"][0]
    listed = json.loads(run(place, "recalls", "list", "--json").stdout)
    assert [each["query"] for each in listed] == ["mode", "dark mode"]
    assert set(listed[0]) == set(RecallAnswer.model_fields)
    page = run(place, "recalls", "list").stdout
    assert max(map(len, page.splitlines())) <= 100
    for each in (recall_id[:10], "bot", "assistance", "default/25", "dark mode", "2 recalls"):
        assert each in page
    assert "dark mode" not in run(place, "recalls", "list", "--limit", "1").stdout
    of = json.loads(run(place, "recalls", "list", "--found", result["id"][:8], "--json").stdout)
    assert len(of) == 2
    shown = json.loads(run(place, "recalls", "show", recall_id[:8], "--json").stdout)
    assert set(shown) == set(RecallDetails.model_fields)
    assert shown["asked"]["query"] == "dark mode"
    page = run(place, "recalls", "show", recall_id).stdout
    for each in (
        "“dark mode”",
        recall_id,
        result["text"],
        "hashed-1",
        "k 10",
        "min_confidence 0.4",
    ):
        assert each in page
    replay = json.loads(run(place, "recalls", "replay", recall_id, "--json").stdout)
    assert set(replay) == set(RecallReplay.model_fields)
    assert (replay["verdict"], replay["again"]) == ("same", replay["recorded"])
    assert ": same." in run(place, "recalls", "replay", recall_id[:8]).stdout
    summary = json.loads(run(place, "recalls", "replay", "--all", "--json").stdout)
    assert set(summary) == set(RecallsReplay.model_fields)
    assert summary["same"] == 2
    assert "1 search made again" not in run(place, "recalls", "replay", "--all", "-s", "ana").stdout


def test_a_search_that_comes_out_different_ends_with_three_and_says_how(place, clock):
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        say(memory, *SAID)
        answer = memory.search("ana", "dark mode")
        scores = tuple(each + 70 for each in recorded(memory, answer.recall_id).event.scores)
        changed = recorded_as(memory, answer.recall_id, scores=scores, ranker="default/0")
    page = run(place, "recalls", "replay", changed, code=3).stdout
    for each in ("different", "Then it was 1st with", "default/0", EDITOR):
        assert each in page
    page = run(place, "recalls", "replay", "--all", code=3).stdout
    assert "2 searches made again: 1 same, 1 different, 0 with inputs destroyed." in page
    assert changed[:10] in page


@pytest.mark.parametrize(
    ("words", "says", "code"),
    [
        (["replay"], "name a recall, or say --all", 2),
        (["replay", "ab", "--all"], "name a recall, or say --all", 2),
        (["replay", "ab", "-s", "ana"], "--subject goes with --all", 2),
        (["replay", "beef"], "There is no recall 'beef'; to see which there are", 3),
        (["show", "beef"], "beliefledger recalls list", 3),
        (["show", ""], "an id is not empty", 2),
    ],
)
def test_what_the_commands_refuse(place, words, says, code):
    run(place, "init")
    refused = run(place, "recalls", *words, code=code)
    assert refused.stdout == ""
    assert says in " ".join(refused.stderr.replace("│", " ").split())
    assert "decisions" not in refused.stderr
