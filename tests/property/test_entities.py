"""The views of entities and links, as of every position, are what a plain model says; and a rebuild
makes what following made, whatever the pages."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stores import log_at

from beliefledger.ledger.candidate import Resolved
from beliefledger.ledger.codec import New
from beliefledger.ledger.events.belief import MemoryAdmitted, MemoryMovedIn
from beliefledger.ledger.events.entity import (
    AliasAdded,
    EntitiesAlike,
    EntitiesKeptApart,
    EntitiesMerged,
    EntityRecognised,
    EntitySplit,
)
from beliefledger.ledger.log import new_id
from beliefledger.ledger.memory import Memory
from beliefledger.opening.build import WordTagger
from beliefledger.projections import digests, graph, projector, tables
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.entities import EntitiesView
from beliefledger.projections.links import LinksView
from beliefledger.projections.projector import Projector
from beliefledger.projections.view_databases import SQLiteHome

NAMES = ["ann", "bob", "cat", "dan", "eve"]
T = 1_772_355_600_000_000

steps = st.lists(
    st.tuples(
        st.sampled_from("recognise recognise alias merge split say say move alike apart".split()),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(0, 4),
    ),
    min_size=12,
    max_size=30,
)


class Model:
    """Who has which name, and of whom each memory speaks: plain dictionaries."""

    def __init__(self):
        self.alive: list[str] = []
        self.whose: dict[str, str] = {}
        self.links: dict[str, list[tuple[str, str, str]]] = {}
        """Memory → (part, name used, entity)."""
        self.asked: list[set[str]] = []

    def now(self):
        return (
            dict(self.whose),
            sorted(
                (memory, part, entity)
                for memory, links in self.links.items()
                for part, _, entity in links
            ),
            sorted(map(sorted, self.asked)),
        )

    def step(self, kind, a, b, c, count):
        """The event of a step, or None where it makes no sense."""
        alive = self.alive
        if kind == "recognise":
            name, entity = NAMES[c], f"1{count:03d}".ljust(32, "0")
            if name in self.whose:
                return None
            alive.append(entity)
            self.whose[name] = entity
            return EntityRecognised(entity_id=entity, name=name.title(), canonical=name)
        if not alive:
            return None
        one, other = alive[a % len(alive)], alive[b % len(alive)]
        if kind == "alias":
            self.whose[NAMES[c]] = one
            return AliasAdded(entity_id=one, how="stated", alias=NAMES[c], canonical=NAMES[c])
        if kind == "say":
            return self.say(f"{count:032d}", one, other, c)
        if kind == "move":
            if not self.links:
                return None
            return self.say(sorted(self.links)[c % len(self.links)], one, other, count, moved=True)
        if kind == "split":
            theirs = sorted(name for name, entity in self.whose.items() if entity == one)
            if len(theirs) < 2:
                return None
            new = f"5{count:03d}".ljust(32, "0")
            given = theirs[: 1 + c % (len(theirs) - 1)]
            self.whose |= dict.fromkeys(given, new)
            self.replace(lambda name, entity: new if entity == one and name in given else entity)
            alive.append(new)
            return EntitySplit(entity_id=one, other_id=new, name=given[0], canonicals=tuple(given))
        if one == other:
            return None
        if kind == "merge":
            alive.remove(other)
            self.whose = {n: one if e == other else e for n, e in self.whose.items()}
            self.replace(lambda _, entity: one if entity == other else entity)
            self.asked = [{one if e == other else e for e in pair} for pair in self.asked]
            self.asked = [pair for pair in self.asked if len(pair) == 2]
            return EntitiesMerged(entity_id=one, absorbed_id=other, how="actor")
        if kind == "alike":
            self.asked.append({one, other})
            return EntitiesAlike(entity_id=one, like_id=other, similarity=900_000)
        self.asked = [pair for pair in self.asked if pair != {one, other}]
        return EntitiesKeptApart(entity_id=one, other_id=other)

    def replace(self, entity_of):
        self.links = {
            memory: [(part, name, entity_of(name, entity)) for part, name, entity in links]
            for memory, links in self.links.items()
        }

    def name(self, entity, pick):
        theirs = sorted(name for name, whose in self.whose.items() if whose == entity)
        return theirs[pick % len(theirs)] if theirs else "nobody"

    def say(self, memory_id, one, other, pick, *, moved=False):
        about, far = self.name(one, pick), self.name(other, pick)
        self.links[memory_id] = [
            ("about", about, one),
            ("target", far, other),
            ("participant", far, other),
        ]
        memory = Memory(
            claim="x",
            entity=about,
            attribute="relation.works-with",
            value=far,
            said_at=T,
            said_at_stated=True,
            valid_from=T,
            turn="a" * 32,
            spans=(),
            participants=(far,),
            resolved=Resolved(entity=one, target=other, target_name=far, participants=(other,)),
        )
        written = {
            "memory_id": memory_id,
            "decision": "d" * 32,
            "type": "relation",
            "confidence": 900_000,
            "base": 900_000,
            "importance": 500_000,
            "mentions": 1,
            "visibility_scope": "subject",
            "basis": "consent",
            "grant": "e" * 32,
            "memory": memory,
        }
        if moved:
            return MemoryMovedIn(
                **written,
                moved_from="b" * 32,
                cause="merged",
                moved_by="c" * 32,
                turns=(),
                last_said_at=T,
            )
        return MemoryAdmitted(**written)


def told(views, log, subject, position):
    """As `Model.now`, out of the views as of a position."""
    tagger = WordTagger(log)
    with views.reading() as connection:
        states = views.states(connection)
        at = graph.GraphGenerations.of(states[name] for name in graph.VIEWS)
        known = graph.directory(connection, at, subject, position)
        named = {name: known.named(tagger(subject, "entity", name)) for name in NAMES}
        links = tables.links(at.links)
        query = links.select().where(graph.open_then(links, position))
        rows = [(row.memory_id, row.part, row.entity_id) for row in connection.execute(query)]
        asked = [
            sorted({known.survivor(row.entity_id), known.survivor(row.like_id)})
            for row in known.questions
        ]
    return (
        {name: entity for name, entity in named.items() if entity is not None},
        sorted(rows),
        sorted(asked),
    )


def digests_of(views):
    with views.reading() as connection:
        states = views.states(connection)
        return {
            name: digests.digest(connection, view.tables(states[name].generation))
            for name, view in views.views.items()
        }


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps, st.integers(1, 5))
def test_as_of_every_position_the_views_are_the_model_and_a_rebuild_is_the_same(history, page):
    with tempfile.TemporaryDirectory() as directory, closing_log(Path(directory)) as log:
        subject = log.register(["ana"])["ana"]
        model, expected = Model(), {}
        for count, (kind, *numbers) in enumerate(history):
            event = model.step(kind, *numbers, count)
            if event is not None:
                stream = f"{count:032x}"
                log.append([New(event, new_id(), stream, subject)], {stream: 0})
            expected[log.head().position] = model.now()
        tagger = WordTagger(log)
        kept = projector.FOLLOW_PAGE
        with closing(
            Projector(
                log,
                SQLiteHome(Path(directory) / "views.db"),
                [BeliefsView(tagger), EntitiesView(tagger), LinksView(tagger)],
            )
        ) as views:
            head = log.head().position
            projector.FOLLOW_PAGE = page
            try:
                for upto in range(1, head + page, page):
                    views.catch_up(min(upto, head))
            finally:
                projector.FOLLOW_PAGE = kept
            for position, now in expected.items():
                assert told(views, log, subject, position) == now
            followed = digests_of(views)
            for name in views.views:
                views.rebuild(name)
            assert digests_of(views) == followed


def closing_log(path):
    return closing(log_at(str(path), lambda: T))
