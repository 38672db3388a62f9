"""Search where it hurts: what callers get wrong, erasures in between, and a cache that is full."""

from __future__ import annotations

import gc
import sys
import threading

import pytest
from wishes import searching

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.ledger.errors import BackendUnavailable, ClockWentBack, InvalidQuery
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.projections import embedding, search_terms
from beliefledger.search.indexes import Indexes
from beliefledger.search.live_index import LiveIndex
from beliefledger.search.options import SearchOptions


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        memory.remember("ana", "I always use dark mode.")
        yield memory


@pytest.fixture(scope="module")
def asked_nothing(common):
    """A ledger in which no search succeeds."""
    common.remember("ana", "I always use dark mode.")
    return common


@pytest.mark.parametrize(
    "asked",
    [
        {"query": 5},
        {"query": "dark \ud800"},
        {"query": "x" * 1_000_001},
        {"subject": None},
        {"subject": "\ud800"},
        {"session": "\ud800"},
        {"session": 5},
        {"by": None},
        {"purpose": 5},
        {"purpose": "a\0b"},
        {"purpose": "\ud800"},
        {"k": True},
        {"k": 1.5},
        {"k": "3"},
        {"max_tokens": 10**40},
        {"max_tokens": 1.5},
        {"max_tokens": True},
        {"diversity": "0.5"},
        {"recency_weight": float("nan")},
        {"min_confidence": "0.4"},
        {"types": "fact"},
        {"types": None},
        {"topics": "general"},
        {"include": "memories"},
        {"include": None},
        {"valid_at": 1.5},
        {"as_of": 1.5},
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_recorded(asked_nothing, asked):
    memory = asked_nothing
    named = {"subject": "ana", "query": "dark mode"} | asked
    with pytest.raises(InvalidQuery):
        memory.search(**searching(**(named)))
    memory.record_turn("ana", "It is still dark.")  # appends the searches that wait
    assert memory.recalls.list() == []


def test_a_purpose_that_no_view_takes_is_refused_where_a_caller_chose(memory):
    [belief] = memory.beliefs("ana")
    with pytest.raises(InvalidQuery, match="purpose"):
        memory.recalls.record_shown("ana", [belief], purpose="a\0b")


def test_a_secret_in_a_query_is_not_kept(memory):
    secret = "sk-ant-api03-" + "abcDEF123456" * 8
    answer = memory.search("ana", f"dark mode with {secret}")
    assert answer.results
    assert secret not in answer.query
    details = memory.recalls.get(answer.recall_id)
    assert secret not in details.asked["query"]
    [event] = [each.event for each in memory._log.read() if each.type == MemoriesRecalled.NAME]
    assert secret not in event.asked.query
    assert memory.audit.replay_recall(answer.recall_id).verdict == "same"


def test_a_memory_that_is_disagreed_with_says_so_as_of_then(memory):
    memory.store("ana", "Porto", attribute="city", text="zeta Porto")
    before = memory._log.head().position
    assert memory.search("ana", "zeta").results[0].memory.contradicts == ()
    memory.store("ana", "Braga", attribute="city", text="zeta Braga", confidence=0.45)
    [found] = memory.search("ana", "zeta", options=SearchOptions(include=["memories"])).results
    [believed] = [each for each in memory.beliefs("ana") if each.text == "zeta Porto"]
    assert believed.contradicts
    assert found.memory == believed
    [then] = memory.search(
        "ana", "zeta", options=SearchOptions(include=["memories"]), as_of=before
    ).results
    assert then.memory.contradicts == ()


def test_words_of_somebody_erased_elsewhere_do_not_stay_without_their_index(place, clock):
    with open_memory(place, clock=clock) as here, open_memory(place, clock=clock) as there:
        here.consent.grant("ana", "consent")
        here.consent.grant("bob", "consent")
        here.remember("ana", "My quixotic aunt is Marta.")
        assert here.search("ana", "quixotic").results
        here._indexes().drop()  # as a rebuild does, and memory that gets short
        assert "quixotic" in search_terms._STEMS
        assert embedding._FEATURES
        there.erase("ana", by="office")
        search_terms._STEMS["quixotic"] = "quixot"  # of another process, as it were
        here.search("bob", "something")
        assert "quixotic" not in search_terms._STEMS


def test_an_answer_that_was_read_before_an_erasure_is_not_kept_after_it(memory, monkeypatch):
    tell = Indexes.tell

    def late(self, *given):
        memory.erase("ana", by="office")
        tell(self, *given)

    monkeypatch.setattr(Indexes, "tell", late)
    memory.search("ana", "dark mode", record=False)
    assert not memory._indexes()._answers


def test_an_index_that_was_read_during_an_erasure_is_dropped(memory, monkeypatch):
    follow = LiveIndex.follow

    def slow(self, *given):
        memory.erase("ana", by="office")
        followed = follow(self, *given)
        search_terms.indexed("quixotic")  # of what it had read already
        return followed

    monkeypatch.setattr(LiveIndex, "follow", slow)
    assert memory.search("ana", "dark mode").results == ()
    assert "quixotic" not in search_terms._STEMS
    assert not memory._indexes()._indexes


def test_vectors_that_cannot_be_kept_do_not_keep_a_search_from_words(memory, monkeypatch):
    store = memory._indexes().store

    def full(*_given):
        raise BackendUnavailable("The disk is full.")

    monkeypatch.setattr(store, "keep", full)
    answer = memory.search("ana", "dark mode")
    assert answer.results
    assert answer.unembedded
    with pytest.raises(BackendUnavailable):
        memory.vectors.build("ana")
    monkeypatch.undo()
    assert memory.search("ana", "dark mode").unembedded == 0


def test_threads_search_write_erase_and_rebuild_at_once(memory):
    problems, ended = [], threading.Event()

    def work(do):
        try:
            while not ended.is_set():
                do()
        except Exception as problem:  # noqa: BLE001  (whatever it is, the test is to tell)
            problems.append(problem)

    def erased():
        memory.consent.grant("bob", "consent") if not memory.beliefs("bob") else None
        memory.remember("bob", "I always use light mode.")
        memory.erase("bob", by="office")
        memory.erasure.register_anew("bob", by="office")

    work_of = (
        lambda: memory.search("ana", "dark mode"),
        lambda: memory.search("bob", "light mode"),
        lambda: memory.record_turn("ana", "It is dark again."),
        erased,
        memory.operations.rebuild,
    )
    threads = [threading.Thread(target=work, args=(each,)) for each in work_of]
    for each in threads:
        each.start()
    ended.wait(3)
    ended.set()
    for each in threads:
        each.join(60)
    assert problems == []
    assert memory.search("ana", "dark mode").results
    assert memory.search("bob", "light mode").results == ()


def test_whoever_is_erased_before_their_search_is_recorded_has_nothing_to_find(memory, monkeypatch):
    look = Indexes.look

    def slow(self, *given, **named):
        looked = look(self, *given, **named)
        memory.erase("ana", by="office")
        return looked

    monkeypatch.setattr(Indexes, "look", slow)
    assert memory.search("ana", "dark mode").results == ()


def test_sessions_of_like_names_are_not_each_others(memory):
    memory.store(
        "ana",
        "tea",
        attribute="drink",
        text="zeta",
        details=Details(visibility_scope="session", session="run-1"),
    )
    for session in ("run 1", "Run-1", "run_1", " run-1", None):
        assert memory.search("ana", "zeta", session=session).results == ()
    assert memory.search("ana", "zeta", session="run-1").results


def test_no_word_of_somebody_erased_stays_in_the_modules_caches(memory):
    word = "quixzzotl"
    memory.remember("ana", f"I always use {word} mode since yesterday.", session=word)
    answer = memory.search("ana", f"what is {word}?", session=word)
    assert word in answer.results[0].text
    assert _cached(word)
    memory.erase("ana", by="office")
    assert _cached(word) == []


def _cached(word):
    """The names of what is kept by modules of ours and holds a word."""
    found = []
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "beliefledger":
            for held, value in list(vars(module).items()):
                kept = value
                if hasattr(value, "cache_clear"):
                    kept = [each for each in gc.get_referents(value) if not callable(each)]
                if isinstance(kept, dict | list | set) and held != "__builtins__":
                    found += [f"{name}.{held}"] if word[:-1] in str(kept) else []
    return found


def test_a_turn_for_which_there_was_no_room_was_not_shown(memory):
    memory.record_turn("ana", "It is dark. " * 40)
    memory.process()
    turns = SearchOptions(include=["episodes"])
    whole = memory.search("ana", "dark", options=turns)
    most = whole.results[0].tokens
    answer = memory.search("ana", "dark", max_tokens=most, options=turns)
    assert 0 < len(answer.results) < len(whole.results)
    told = memory.recalls.get(answer.recall_id).results
    assert [each.shown for each in told] == [
        each.id in {shown.id for shown in answer.results} for each in whole.results
    ]


def test_a_ledger_whose_clock_went_back_is_searched_and_says_how_it_is(memory, clock):
    clock.ahead(-600)
    assert memory.search("ana", "dark").results
    with pytest.raises(ClockWentBack):
        memory._core.recorder.flush()
    assert memory.status().turns
    clock.ahead(1200)
    assert [each.query for each in memory.recalls.list()] == ["dark"]


@pytest.mark.parametrize("marks", ["...", "?!", "👍", "—"])
def test_a_turn_without_words_stops_no_search(memory, marks):
    memory.remember("ana", marks)
    assert [each.text for each in memory.search("ana", "dark mode", 1).results] == [
        "User always uses dark mode"
    ]
    assert "dark mode" in memory.context("ana", "dark mode").lines[0].text
