"""Memories that move: random sequences of aliases, titles, merges, splits, backfills, merged
rephrasings and their undoing, among statements of every kind. After each, the gate and the views
agree, and nothing is in two places, where nobody looks, or gone without an event that says so."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from beliefledger import Candidate, Span, open_memory
from beliefledger.gate import belief as beliefs
from beliefledger.gate import entities
from beliefledger.gate.consolidation import Consolidator
from beliefledger.gate.intake import ChosenMemory, TurnInput
from beliefledger.ledger import streams
from beliefledger.ledger.candidate import SpeechAct
from beliefledger.ledger.errors import CallerMistake
from beliefledger.ledger.events.belief import (
    ConsolidationUndone,
    MemoryMovedOut,
    MemoryRevoked,
    MemorySuperseded,
    Written,
)
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.times import DAY, SECOND, parse
from beliefledger.projections import tables
from beliefledger.projections.beliefs import COLUMNS, BeliefsView, Version
from beliefledger.projections.entities import EntitiesView
from beliefledger.projections.links import LinksView

START = parse("2026-03-01T09:00:00Z")
NAMES = ["User", "Sarah", "S. Chen", "Tom", "Bo", "Liz Miller", "Elizabeth Miller", "manager"]
ATTRIBUTES = ["role", "home.city", "drink.tea"]
VALUES = ["red", "green", "blue"]
PILLS = {
    "name": "pill",
    "prior": 0.15,
    "slot": "attribute",
    "attribute": "pill.{what}",
    "fields": {"what": {"description": "which", "required": True}},
    "patterns": ["picks {what} of {value}"],
}
STEPS = (
    ["say"] * 10
    + ["relate"] * 3
    + ["alias", "alias", "title", "merge", "merge", "split", "split", "apart"]
    + ["backfill", "constrain", "retire", "consolidate", "consolidate", "undo", "undo"]
    + ["revoke", "withdraw", "resolve", "expire", "queue", "review", "days"]
)
ACTS = [SpeechAct.STATEMENT] * 6 + [
    SpeechAct.CHANGE,
    SpeechAct.CORRECTION,
    SpeechAct.REMOVAL,
    SpeechAct.HYPOTHETICAL,
]


class Walk:
    """One ledger and a source of chance."""

    def __init__(self, place, seed):
        self.chance = random.Random(seed)
        self.now = START
        self.memory = open_memory(place, clock=lambda: self.now)
        self.told = []
        self.memory.consent.grant("ana", "consent")
        self.memory.consent.grant("ana", "contract")
        self.memory.types.add(PILLS)

    def step(self):
        name = self.chance.choice(STEPS)
        self.now += SECOND
        try:
            told = getattr(self, name)()
        except CallerMistake as refused:
            told = f"refused: {refused}"
            name += " refused"
        self.told.append((name, told))

    # What is said

    def store(self, entity, attribute, value, kind="fact", text=None, **more):
        chance = self.chance
        act = more.pop("act", None) or chance.choice(ACTS)
        claim = text or f"{entity}: {attribute} is {value}"
        said_at = self.now - chance.choice([0, 0, 0, 1, 5, 40]) * DAY
        begins = ends = None
        if chance.random() < 0.2:
            begins = said_at - chance.randint(0, 60) * DAY
            if chance.random() < 0.5:
                ends = begins + chance.randint(1, 80) * DAY
        candidate = Candidate(
            claim=claim,
            spans=(Span(start=0, end=len(claim), quote=claim),),
            type=kind,
            entity=entity,
            attribute=attribute,
            value=value,
            act=act,
            context=chance.choice([None, None, None, "work"]),
            negated=act is SpeechAct.REMOVAL,
            importance=500_000,
            confidence=1_000_000,
            participants=tuple(chance.sample(NAMES, chance.choice([0, 0, 1]))),
            **more,
        )
        choices = Choices(
            confidence=chance.choice([None, None, 900_000, 600_000, 300_000])
            if act is not SpeechAct.HYPOTHETICAL
            else 300_000,
            valid_from=begins,
            valid_to=ends,
            expires_at=said_at + 50 * DAY if chance.random() < 0.1 else None,
        )
        turn = TurnInput(
            subject="ana",
            content=claim,
            role="system",
            channel="store",
            said_at=said_at,
            session="s",
            ordinal=len(self.told),
        )
        decision = self.memory._gate.store([ChosenMemory(turn, candidate, choices)])[0][1]
        answer = self.memory.decision(decision)
        return (
            entity,
            attribute,
            value,
            kind,
            act.value,
            candidate.context,
            begins,
            ends,
            said_at,
            answer.outcome,
            answer.reason,
            answer.memory_id,
        )

    def say(self):
        chance = self.chance
        who, what = chance.choice(NAMES), chance.choice(ATTRIBUTES)
        kind, value, text = "fact", chance.choice(VALUES), None
        if what == "drink.tea":
            what = chance.choice(["drink.tea", "drink.cup"])
            text = chance.choice(
                [
                    f"the favorite drink of {who} is {value}",
                    f"{who}'s favorite drink is {value}",
                    f"{who} picks Tea of {value}",
                ]
            )
        elif chance.random() < 0.2:
            kind = chance.choice(["constraint", "preference", "pill"])
        return self.store(who, what, value, kind, text)

    def relate(self):
        name = self.chance.choice(["works-with", "located-at"])
        who, other = self.chance.sample(NAMES, 2)
        return self.store(who, f"relation.{name}", other, "relation")

    def queue(self):
        return self.store(
            self.chance.choice(NAMES),
            "illness.cold",
            self.chance.choice(VALUES),
            category="health",
            act=SpeechAct.STATEMENT,
        )

    def title(self):
        return self.store(
            "User",
            "relation.reports-to",
            self.chance.choice(NAMES[1:]),
            "relation",
            act=SpeechAct.CHANGE,
        )

    # Names

    def alias(self):
        who, name = self.chance.choice(NAMES), self.chance.choice([*NAMES, "Mx"])
        if self.chance.random() < 0.5:
            self.memory.entities.add_alias("ana", who, name, by="ina")
            return who, name
        return self.store(who, "alias", name, "entity", act=SpeechAct.STATEMENT)

    def merge(self):
        pair = self.chance.sample(NAMES, 2)
        return pair, self.memory.entities.merge("ana", *pair, by="ina")

    def split(self):
        found = [each for each in self.memory.entities.list("ana") if len(each.names) > 1]
        if not found:
            return None
        one = self.chance.choice(found)
        names = self.chance.sample(
            [e.name for e in one.names], self.chance.randint(1, len(one.names) - 1)
        )
        return names, self.memory.entities.split("ana", one.entity_id, names, by="ina")

    def apart(self):
        pair = self.chance.sample(NAMES, 2)
        return self.memory.entities.keep_apart("ana", *pair, by="ina")

    # Types

    def backfill(self):
        self.memory.types.add(PILLS)
        return self.memory.types.backfill("pill", apply=True).moved

    def constrain(self):
        return self.memory.types.backfill(
            "constraint",
            apply=True,
            from_type="fact",
            attribute=self.chance.choice(["rule.drink", "drink.tea"]),
            patterns=["favorite drink is {value}"],
        ).moved

    def retire(self):
        self.memory.types.retire("pill")

    # Merging

    def consolidate(self):
        same = {}
        for each in self.memory.beliefs("ana"):
            same.setdefault((each.type, each.value, each.context), []).append(each)
        groups = [each for each in same.values() if len(each) > 1]
        self.chance.shuffle(groups)
        ref = self.memory._log.subject("ana")
        refused = None
        for group in groups:
            for neighbours in pairwise(group):
                pair = list(neighbours)
                self.chance.shuffle(pair)
                try:
                    merged = Consolidator(self.memory._gate).consolidate(
                        ref, {each.memory_id: each.belief_id for each in pair}, similarity=900_000
                    )
                except CallerMistake as problem:
                    refused = problem
                    continue
                return [each.memory_id for each in pair], merged
        return str(refused)

    def undo(self):
        merged = [
            each.event.memory_id
            for each in self.memory._log.read()
            if each.type == "memories.consolidated.v2"
        ]
        self.chance.shuffle(merged)
        refused = None
        for one in merged:
            try:
                self.memory.operations.consolidation.undo(one, by="ina")
            except CallerMistake as problem:
                refused = problem
                continue
            return one
        return str(refused)

    # People

    def revoke(self):
        shown = self.memory.beliefs("ana", quarantined=self.chance.random() < 0.5, min_confidence=0)
        if not shown:
            return None
        one = self.chance.choice(shown).memory_id
        self.memory.revoke(one, by="ina")
        return one

    def withdraw(self):
        if self.chance.random() < 0.8:
            return
        self.memory.consent.withdraw("ana", basis="contract", by="system")
        self.memory.consent.grant("ana", "contract")

    def resolve(self):
        waiting = self.memory.conflicts.list("ana")
        if not waiting:
            return None
        one = self.chance.choice(waiting)
        choice = self.chance.choice(one.choices).id
        if self.chance.random() < 0.5:
            self.memory.conflicts.resolve(one.belief_id, choose=choice, by="ina")
        else:
            self.memory.conflicts.resolve(
                one.belief_id, contexts={"work": choice, "home": choice}, by="ina"
            )
        return one.belief_id, choice

    def review(self):
        waiting = self.memory.decisions("ana", outcome="queue", waits=True)
        if not waiting:
            return None
        one = self.chance.choice(waiting).decision_id
        return one, self.memory.conflicts.review(one, approve=True, by="ina")

    def expire(self):
        return self.memory.operations.ageing.expire()

    def days(self):
        self.now += self.chance.choice([1, 10, 45]) * DAY

    # What always holds

    def check(self, *, whole):
        memory, log = self.memory, self.memory._log
        ref = log.subject("ana")
        keys = log.keys(ref)
        registry = memory._core.rulebook.refreshed().registry
        rows = [
            Version(*(row[name] for name in COLUMNS))
            for row in self.rows(BeliefsView.name, tables.belief_versions)
        ]
        standing = [row for row in rows if row.closed is None]
        assert len({row.memory_id for row in standing}) == len(standing), "in two places"
        directory = entities.folded(log.read_stream(streams.directory_stream(keys.ids)))
        draft, found = memory._gate.draft(), set()
        for stream in sorted({row.belief for row in rows}):
            fold = beliefs.folded(log.read_stream(stream), registry)
            self.check_belief(fold, [row for row in standing if row.belief == stream])
            for held in (*fold.current, *fold.quarantined, *fold.past):
                said = held.written.memory
                slot = draft.slot(keys, held.type, said)
                # What is said of a slot that something moved out of is about it where it went.
                assert slot == stream or draft.belief(slot).redirects, said.claim
                assert directory.survivor(said.resolved.entity) == said.resolved.entity, said.claim
                target = said.resolved.target
                if target is not None:
                    assert directory.survivor(target) == target, said.claim
                    assert directory.canonical(target) == said.resolved.target_name
                found.add(held.memory_id)
        written, ended = self.written()
        assert found == written - ended
        self.check_directory(directory, ref, standing)
        if whole:
            self.check_whole(written)

    def check_belief(self, fold, there):
        """The gate's fold of a belief is what the view has of it."""
        now = {r.memory_id for r in there if not r.quarantined and holds(r, self.now)}
        current = [held for held in fold.current if not held.ended(self.now)]
        assert {held.memory_id for held in current if held.valid_from <= self.now} <= now
        later = {held.memory_id for held in fold.past if not held.ended(self.now)}
        assert now <= {held.memory_id for held in current} | later
        assert len({held.context for held in fold.current}) == len(fold.current), "two values"
        apart = {row.memory_id for row in there if row.quarantined}
        assert apart == {held.memory_id for held in fold.quarantined}
        by_id = {row.memory_id: row for row in there}
        everything = (*fold.current, *fold.quarantined, *fold.past)
        assert sorted(by_id) == sorted(held.memory_id for held in everything)
        for held in everything:
            row = by_id[held.memory_id]
            assert (row.valid_from, row.valid_to) == (held.valid_from, held.valid_to)
            assert (row.confidence, row.mentions) == (held.confidence, held.mentions)

    def written(self):
        """The memories that were written, and those of which an event says that they ended."""
        written, ended = set(), set()
        for each in self.memory._log.read():
            event = each.event
            if isinstance(event, Written):
                written.add(event.memory_id)
                ended.discard(event.memory_id)
            if isinstance(event, MemoryRevoked | ConsolidationUndone | MemoryMovedOut):
                ended.add(event.memory_id)
            if isinstance(event, MemorySuperseded) and event.kind == "correction":
                ended.add(event.supersedes)
        return written, ended

    def check_directory(self, directory, ref, standing):
        """The views know the names that the gate knows, and link each memory to whom it is of."""
        names = {row["name_tag"]: row["entity_id"] for row in self.names(tables.entity_names)}
        assert names == {
            self.memory._core.tagger(ref, "entity", name): directory.survivor(entity_id)
            for name, entity_id in directory.names.items()
        }
        merged = {row["entity_id"]: row["merged_into"] for row in self.names(tables.entities)}
        for each in directory.entities:
            into = each
            while merged[into]:
                into = merged[into]
            assert into == directory.survivor(each)
        links = {}
        for row in self.rows(LinksView.name, tables.links):
            if row["closed"] is None:
                assert directory.survivor(row["entity_id"]) == row["entity_id"], row["part"]
                links.setdefault(row["memory_id"], {})[row["part"]] = row["entity_id"]
        words = self.memory._log.read_at([row.words_at for row in standing])
        for row in standing:
            resolved = words[row.words_at].event.memory.resolved
            assert links[row.memory_id]["about"] == resolved.entity
            assert links[row.memory_id].get("target") == resolved.target

    def check_whole(self, written):
        memory = self.memory
        for view in memory.operations.rebuild(verify=True):
            assert view.same, view
        replayed = memory.audit.replay_all()
        assert (replayed.different, replayed.inputs_destroyed) == (0, 0), replayed.differing[:1]
        assert memory.proofs.verify().ok
        for each in written:
            assert memory.history(each)
            assert memory.explain(each).memory.memory_id == each
        head = memory.status(digests=False).position
        for position in self.chance.sample(range(1, head + 1), 10):
            then = memory.beliefs("ana", as_of=position, min_confidence=0)
            assert len({each.memory_id for each in then}) == len(then)
        for ask in (
            memory.conflicts.list,
            memory.conflicts.loops,
            memory.entities.list,
            memory.typed,
        ):
            ask("ana")

    def names(self, table):
        return [row for row in self.rows(EntitiesView.name, table) if row["closed"] is None]

    def rows(self, view, table):
        projector = self.memory._core.projector
        projector.catch_up()
        with projector.reading() as connection:
            generation = projector.states(connection)[view].generation
            found = connection.execute(table(generation).select())
            return [row._asdict() for row in found]


def holds(row, now):
    return row.valid_from <= now and all(
        end is None or end > now for end in (row.valid_to, row.expires_at)
    )


@pytest.mark.parametrize("seed", range(16))
def test_nothing_is_lost_on_the_way(tmp_path, seed):
    walk = Walk(str(tmp_path), seed)
    with walk.memory:
        for number in range(1, 41):
            walk.step()
            walk.check(whole=number % 20 == 0)
        told = [name for name, _ in walk.told if "refused" not in name]
        assert len(told) > 20
