"""A search as of a position finds what the search made then found; what a reader may not see
changes nothing; an index that follows is the index built at once."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from wishes import searching, storing

from beliefledger import MemoryLedger, open_memory
from beliefledger.curation.storing import Details
from beliefledger.ledger.errors import CallerMistake
from beliefledger.ledger.times import DAY, SECOND, parse
from beliefledger.projections.index_filters import Filters
from beliefledger.search.options import SearchOptions

START = parse("2026-03-01T09:00:00Z")
ATTRIBUTES = ("home.city", "editor.theme", "drink", "pet.name")
VALUES = ("Lisbon", "tea with milk", "dark mode", "a cat", "Porto by the river", "green tea")
SCOPES = (None, None, "subject", "team", "public", "session")
TYPES = ("fact", "fact", "preference", "event", "decision", "commitment")
TEXTS = (
    "I moved to Lisbon with my cat in May.",
    "I prefer green tea to coffee.",
    "What do you drink in the morning?",
    "Tea, always tea. Dark mode hurts nobody.",
    "My cat Miso sleeps by the river in Porto.",
    "I always use dark mode.",
    "Ok.",
    "who are you",
)
SEARCHES = (
    {"query": "where does she live, Lisbon or Porto?"},
    {"query": "which tea does she prefer", "diversity": 0.5, "k": 4},
    {"query": "tea cat mode", "profile": "recall", "recency_weight": 0.7},
    {"query": "dark mode Lisbon", "reader": "ben", "recency_weight": 0.0},
    {"query": "green tea and a cat", "where": {"session": "s1"}, "k": 2},
    {"query": "tea Lisbon", "where": {"type": "preference", "topic": "general"}},
    {"query": "green tea", "types": ("preference", "fact"), "k": 3, "profile": "recall"},
    {"query": "the river cat", "session": "s1", "include": ("memories",), "diversity": 1.0},
    {"query": "user tea", "min_confidence": 0.6, "min_importance": 0.5, "recency_weight": 1.0},
    {"query": "ana cat", "include": ("episodes",), "max_tokens": 12},
)

steps = st.tuples(
    st.sampled_from(
        ["say"] * 4
        + ["store"] * 5
        + ["again", "search", "search", "show", "revoke", "known", "merge", "wait", "consent"]
        + ["team"]
    ),
    st.integers(0, 10**6),
)
histories = st.lists(steps, min_size=4, max_size=12)


class Life:
    """A history that is lived step by step through the front door."""

    def __init__(self, place, number=0):
        self.place = place
        self.now = START + number * SECOND
        self.memory = self.open()
        self.memory.consent.grant("ana", "consent", scope="public")
        for member in ("ana", "ben"):
            self.memory.teams.add("river", member, by="eva")
        self.done: Counter[str] = Counter()
        self.others: list[MemoryLedger] = []

    def close(self):
        for each in (*self.others, self.memory):
            each.close()

    def open(self):
        return open_memory(self.place, clock=lambda: self.now)

    def reopen(self):
        self.memory.close()
        self.memory = self.open()

    def step(self, name, seed):
        self.now += SECOND
        pick = random.Random(seed)
        try:
            getattr(self, name)(pick)
        except CallerMistake:  # there was nothing to do it to
            return
        self.done[name] += 1

    def say(self, pick):
        self.memory.remember(
            "ana",
            pick.choice(TEXTS),
            session=pick.choice([None, "s1", "s2"]),
            said_at=pick.choice([None, self.now - 5 * DAY]),
        )

    def store(self, pick, **more):
        type_ = pick.choice(TYPES)
        self.memory.store(
            "ana",
            pick.choice(VALUES),
            attribute=pick.choice(ATTRIBUTES),
            type=type_,
            **storing(
                importance=pick.choice([0.3, 0.5, 0.9]),
                visibility_scope=pick.choice(SCOPES),
                session=pick.choice([None, "s1"]),
                expires_at=pick.choice([None, None, None, self.now + 3 * DAY]),
                **(more),
            ),
            confidence=pick.choice([None, 0.55, 0.95]),
            valid_from=pick.choice([None, None, self.now - 40 * DAY, self.now + 2 * DAY]),
        )

    def again(self, pick):
        """What is believed is said once more, which confirms it."""
        belief = pick.choice(self.memory.beliefs("ana") or [None])
        if belief is not None:
            self.memory.store("ana", belief.value, attribute=belief.attribute, type=belief.type)

    def known(self, pick):
        self.memory.store(
            "ana",
            pick.choice(VALUES),
            attribute="drink",
            details=Details(entity=pick.choice(["Bob", "Robert Ek"])),
        )

    def merge(self, pick):
        self.memory.entities.merge("ana", "Bob", "Robert Ek", by="ben")

    def search(self, pick):
        self.memory.search("ana", **searching(**(pick.choice(SEARCHES))))
        self.memory._core.recorder.flush()

    def show(self, pick):
        self.memory.recalls.record_shown("ana", self.memory.beliefs("ana")[:2], query="tea")

    def revoke(self, pick):
        beliefs = self.memory.beliefs("ana")
        if beliefs:
            self.memory.revoke(pick.choice(beliefs).memory_id, by="ben")

    def team(self, pick):
        if any(each.member == "ben" for each in self.memory.teams.members("river")):
            self.memory.teams.remove("river", "ben", by="eva")
        else:
            self.memory.teams.add("river", "ben", by="eva")

    def wait(self, pick):
        self.now += pick.choice([1, 2, 30]) * DAY

    def consent(self, pick):
        self.memory.consent.withdraw("ana", by="system")
        self.memory.consent.grant("ana", "consent", scope="public")


THEN = {"standing": "then", "reason": "to compare", "by": "auditor"}


def told(answer):
    """All that a search says, without what is of today: which index looked, and what became of the
    results since."""
    without = {"recall_id": True, "index": True, "results": {"__all__": {"standing"}}}
    return answer.model_dump(exclude=without)


def asked_now(memory):
    return [memory.search("ana", **searching(**(each)), record=False) for each in SEARCHES]


def asked_as_of(memory, answers):
    return [
        memory.search(
            "ana", **searching(**(each), **THEN), as_of=then.position, valid_at=then.valid_at
        )
        for each, then in zip(SEARCHES, answers, strict=True)
    ]


def assert_same_as_then(life, kept):
    for answers in kept:
        for then, now in zip(answers, asked_as_of(life.memory, answers), strict=True):
            assert told(now) == told(then)


def live(life, history):
    """Live it; returns what was found after each step."""
    kept = []
    for name, seed in history:
        life.step(name, seed)
        kept.append(asked_now(life.memory))
    return kept


def everywhen(life, history):
    kept = live(life, history)
    assert_same_as_then(life, kept)
    life.memory.operations.rebuild()
    assert_same_as_then(life, kept[::2])
    life.reopen()
    assert_same_as_then(life, kept)
    life.step("store", 1)
    assert_same_as_then(life, kept[1::3])
    return kept


@settings(
    phases=(Phase.explicit, Phase.generate),
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(histories)
def test_a_search_as_of_then_is_the_search_made_then(history):
    with tempfile.TemporaryDirectory() as directory:
        life = Life(Path(directory))
        try:
            everywhen(life, history)
        finally:
            life.memory.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_it_is_so_on_both_backends_for_long_histories(place, seed):
    pick = random.Random(seed)
    names = ["say"] * 4 + ["store"] * 5 + ["again", "search", "known", "show", "revoke", "merge"]
    history = [("known", 1), ("known", 2), ("known", 5)]
    history += [(pick.choice(names), pick.randrange(10**6)) for _ in range(22)]
    life = Life(place)
    try:
        kept = everywhen(life, history)
        assert sum(life.done.values()) > 15
        found = [len(each.results) for answers in kept for each in answers]
        assert max(found) > 3, "histories must give something to find"
        kinds = {hit.kind for answers in kept for each in answers for hit in each.results}
        assert kinds == {"memory", "episode"}
    finally:
        life.memory.close()


# Scope

visible = st.lists(
    st.tuples(
        st.integers(0, len(VALUES) - 1),
        st.sampled_from([0.3, 0.9]),
        st.sampled_from(["session", "subject", "team", "public"]),
    ),
    min_size=3,
    max_size=10,
)


def seen(answer):
    """What whoever asks sees, without ids, which are random."""
    return (
        [
            (hit.rank, hit.kind, hit.text, hit.score, hit.arms, hit.components, hit.why)
            for hit in answer.results
        ],
        answer.candidates,
        answer.suppressed,
        answer.unembedded,
        answer.left_out,
        answer.tokens,
        answer.notes,
        answer.route,
    )


@settings(phases=(Phase.explicit, Phase.generate), max_examples=15, deadline=None)
@given(visible, st.sampled_from(["default", "recall"]), st.booleans())
def test_what_is_not_visible_changes_nothing(memories, profile, shown):
    answers = []
    for whole in (True, False):
        with tempfile.TemporaryDirectory() as directory:
            life = Life(Path(directory))
            with life.memory as memory:
                for number, (value, importance, scope) in enumerate(memories):
                    life.now += DAY
                    if not whole and scope in {"session", "subject"}:
                        continue
                    memory.store(
                        "ana",
                        VALUES[value],
                        attribute=f"thing.{number}",
                        details=Details(importance=importance, visibility_scope=scope),
                    )
                assert {each.visibility_scope for each in memory.beliefs("ana")} == {
                    scope for _, _, scope in memories if whole or scope in {"team", "public"}
                }
                if shown and whole:
                    hidden = [
                        each for each in memory.beliefs("ana") if each.visibility_scope == "subject"
                    ]
                    for _ in range(3 if hidden else 0):
                        memory.recalls.record_shown("ana", hidden, query="x")
                if whole:
                    memory.record_turn("ana", "green tea in Lisbon", said_at=START)
                life.now = START + 20 * DAY
                answers.append(
                    [
                        seen(
                            memory.search(
                                "ana",
                                query,
                                options=SearchOptions(
                                    reader="ben", profile=profile, diversity=diversity
                                ),
                                record=False,
                            )
                        )
                        for query in ("green tea", "a cat by the river", "thing", "mode")
                        for diversity in (0.0, 0.6)
                    ]
                )
    assert answers[0] == answers[1]


# The index

COLUMNS = (
    "type", "topic", "scope", "quarantined", "confidence", "importance",
    "valid_from", "valid_to", "expires_at", "said_at", "opened", "closed", "row_id",
)  # fmt: skip


def rows_of(index):
    """The rows of an index, with names for its numbers."""
    rows, names = index.rows, {
        "type": index.types.names, "topic": index.topics.names,
        "scope": index.scopes.names,
    }  # fmt: skip
    found = []
    for at in range(len(rows)):
        row = {name: int(rows[name][at]) for name in COLUMNS}
        for name, known in names.items():
            row[name] = known[row[name]]
        row["memory"] = index.memories.names[int(rows["memory"][at])]
        against = int(rows["against"][at])
        row["against"] = "" if against < 0 else index.memories.names[against]
        text = int(rows["text"][at])
        row["session"] = index.sessions.names[int(index.texts["own"][text])] if text >= 0 else ""
        row["words_at"] = int(index.texts["words_at"][text]) if text >= 0 else -1
        found.append(sorted(row.items()))
    return sorted(found)


def texts_of(index):
    places = [int(each) for each in index.texts["words_at"]]
    assert len(set(places)) == len(places), "each text is there once"

    def place(number):
        return None if number < 0 else places[number]

    texts = index.texts
    return {
        places[at]: (
            int(texts["is_memory"][at]),
            int(texts["said_at"][at]),
            index.turn_ids[at],
            index.tags[at],
            place(int(texts["before"][at])),
            place(int(texts["after"][at])),
            index.dense.vectors([at])[0].tobytes() if at not in index.waiting else None,
        )
        for at in range(len(index))
    }


def found_by(index, position, valid_at):
    found = index.found(
        Filters(position=position, valid_at=valid_at, scopes=("session", "subject", "team"))
    )
    places = index.texts["words_at"]
    rows = index.rows["row_id"]
    return {
        int(places[at]): int(rows[found.row_of[at]]) if found.row_of[at] >= 0 else None
        for at in np.flatnonzero(found.mask)
    }


def assert_one_index(one, other, times):
    assert rows_of(one) == rows_of(other)
    assert texts_of(one) == texts_of(other)
    for position, at in times:
        assert found_by(one, position, at) == found_by(other, position, at)
        counts = []
        for index in (one, other):
            count, last = index.accesses(position)
            counts.append(
                {
                    name: (int(count[number]), int(last[number]))
                    for number, name in enumerate(index.memories.names)
                    if count[number]
                }
            )
        assert counts[0] == counts[1]


@pytest.mark.parametrize("seed", [3, 4])
def test_an_index_that_follows_is_the_index_built_at_once(place, seed):
    pick = random.Random(seed)
    names = ["say"] * 2 + ["store"] * 6 + ["again", "search", "known", "show", "revoke", "merge"]
    names += ["wait", "consent"]
    life = Life(place)
    try:
        other = life.open()  # follows by itself, and in larger strides
        life.others.append(other)
        times: list[tuple[int, int]] = []
        for number in range(26):
            life.step(pick.choice(names), pick.randrange(10**6))
            life.memory.search("ana", "tea", record=False)
            times.append((life.memory._log.head().position, life.now))
            if number % 7 == 3:
                other.search("ana", "tea", record=False)
            if number == 12:
                life.memory.operations.rebuild(pick.choice(["belief_versions", "turns", "recalls"]))
        for seed_ in range(8):
            life.step("store", seed_)
        life.step("search", 1)
        ref = life.memory._log.subject("ana")
        model = life.memory._indexes().embedders.in_force(0).embedder
        with (
            life.open() as fresh,
            fresh._indexes().index(ref, model) as whole,
            life.memory._indexes().index(ref, model) as followed,
            other._indexes().index(ref, model) as strides,
        ):
            assert len(whole.rows) > 5
            assert len(whole.shown) > 0
            assert_one_index(followed, whole, times)
            assert_one_index(strides, whole, times)
    finally:
        life.close()
