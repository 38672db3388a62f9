"""Whatever bodies of somebody living are erased: every view is as a rebuilt one, as of any position
what a fold to there makes of what is left, and points at nothing that is gone; the gate's folds
agree with it, and go on deciding."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beliefledger import open_memory
from beliefledger.gate.belief import folded
from beliefledger.ledger.eraser import Wanted
from beliefledger.ledger.times import DAY
from beliefledger.projections import probes
from beliefledger.projections.beliefs import Version


def neighbour(name):
    """Another module of tests beside this one."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


views, moves = neighbour("test_views"), neighbour("test_moves")
STREAMS = ("turn.", "extraction.", "candidate.", "memory.", "memories.", "entity.", "conflict.")


def with_bodies(log, ref):
    """The positions of the subject's events that may lose their words."""
    return [
        row.position
        for row in log.raw()
        if row.body is not None and ref.encode() in row.envelope and row.type.startswith(STREAMS)
    ]


def erase(memory, positions, *, refold=True, between=lambda: None):
    """As an erasure goes, of any bodies at all."""
    log, ref = memory._log, memory._log.subject("ana")
    wanted = Wanted(ref, "turn", positions=tuple(positions))
    [erasure] = log.eraser.request(
        lambda: [wanted], actor=log.principal("ina"), legal_basis="request"
    )
    between()
    log.eraser.destroy(erasure)
    removed = memory._core.projector.refold(ref) if refold else {}
    log.eraser.complete(erasure)
    return removed


def points_at(memory, positions):
    """How many rows of views point at these positions."""
    projector = memory._core.projector
    projector.catch_up()
    ref = memory._log.subject("ana")
    with projector.reading() as connection:
        return sum(
            probes.left(connection, projector.views[name].tables(state.generation), ref, positions)[
                1
            ]
            for name, state in projector.states(connection).items()
        )


def agrees(memory):
    """The gate's fold of each belief is what the view has of it."""
    rules, rows = memory._core.rulebook.current(), views.table_rows(memory)
    draft = memory._gate.draft()
    draft.consent(memory._log.subject("ana"))
    for stream in {row.belief for row in rows}:
        belief = folded(memory._log.read_stream(stream), rules.registry)
        assert draft.belief(stream) == belief
        there = [row for row in rows if row.belief == stream and row.closed is None]
        held = [row for row in there if not row.quarantined]
        everything = (*belief.current, *belief.past)
        assert sorted(map(_of_row, held)) == sorted(map(_of_row, everything))
        now = {each.memory_id for each in belief.current}
        assert {row.contested for row in held if row.memory_id in now} <= {belief.contested}
        assert not any(row.contested for row in held if row.memory_id not in now)
        views.assert_no_two_values_at_once(held)
        apart = {row.memory_id for row in there if row.quarantined}
        assert apart == {each.memory_id for each in belief.quarantined}


def _of_row(row):
    return (
        row.memory_id,
        row.confidence,
        row.mentions,
        row.valid_from,
        row.valid_to or views.END,
        row.ends_loosely,
    )


erasing = st.tuples(
    st.sampled_from(["erase", "erase", "erase half", "erase unseen", "erase turn", "erase memory"]),
    st.randoms(use_true_random=False),
)
histories = st.lists(st.one_of(views.steps, views.steps, views.steps, erasing), max_size=16)


class Life:
    """A history played through the front door, with erasures in it."""

    def __init__(self, memory):
        self.memory = memory
        self.gone = set()
        memory.consent.grant("ana", "consent")

    def play(self, history):
        memory = self.memory
        for day, (step, said) in enumerate(history):
            if step.startswith("erase"):
                self.erase(step, said)
            elif step == "say":
                words = json.dumps(said)
                memory.record_turn("ana", words, said_at=views.START + (day - said["back"]) * DAY)
                memory.process()
            elif step == "revoke" and (beliefs := memory.beliefs("ana")):
                memory.revoke(beliefs[0].memory_id, by="ben")
            elif step == "resolve":
                for conflict in memory.conflicts.list("ana"):
                    if conflict.standing:
                        choice = conflict.standing[0].memory_id
                        memory.conflicts.resolve(conflict.belief_id, choose=choice, by="ben")
            elif step == "withdraw" and memory.consent.list("ana"):
                memory.consent.withdraw("ana", by="system")
                memory.consent.grant("ana", "consent")

    def erase(self, step, random):
        memory, log = self.memory, self.memory._log
        there = with_bodies(log, log.subject("ana"))
        if not there:
            return
        before = {row.position for row in log.raw() if row.body is not None}
        believed = memory.beliefs("ana")
        if step == "erase turn":
            turns = [each.stream for each in log.read_at(there).values() if "turn" in each.type]
            memory.erase("ana", turn=random.choice(turns), by="system") if turns else None
        elif step == "erase memory":
            memory.erase(
                "ana", memory=random.choice(believed).memory_id, by="system"
            ) if believed else None
        else:
            share = 2 if step == "erase half" else 5
            erase(
                memory,
                random.sample(there, max(1, len(there) // share)),
                refold=step != "erase unseen",
            )
        self.gone |= before - {row.position for row in log.raw() if row.body is not None}
        assert points_at(memory, self.gone) == 0
        agrees(memory)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(views.steps, min_size=4, max_size=6), histories, st.randoms(use_true_random=False))
def test_what_followed_is_what_is_rebuilt_and_what_the_gate_believes(first, then, random):
    with tempfile.TemporaryDirectory() as directory:
        with open_memory(Path(directory), extractor=views.Scripted()) as memory:
            life = Life(memory)
            life.play(first)
            life.erase("erase", random)
            life.play(then)
            position = random.randint(1, memory._log.head().position)
            table, fold = views.table_rows(memory), views.fold_rows(memory, position)
            assert views.open_rows(table, position) == views.open_rows(fold, position)
            generation, _ = memory._core.projector.shadow("belief_versions", position)
            rebuilt = views.table_rows(memory, generation)
            memory._core.projector.drop("belief_versions", generation)
            assert views.open_rows(table, position) == views.open_rows(rebuilt, position)
            agrees(memory)
            assert points_at(memory, life.gone) == 0
            for ask in (
                memory.conflicts.list,
                memory.conflicts.loops,
                memory.entities.list,
                memory.beliefs,
            ):
                ask("ana")
            assert [each for each in memory.operations.rebuild(verify=True) if not each.same] == []
            assert points_at(memory, life.gone) == 0
            assert memory.audit.replay_all().different == 0
            assert memory.proofs.verify().ok


class Walk(moves.Walk):
    """As where memories move, with erasures."""

    def __init__(self, place, seed):
        super().__init__(place, seed)
        self.gone = set()

    def erase(self):
        log = self.memory._log
        there = with_bodies(log, log.subject("ana"))
        chosen = self.chance.sample(there, max(1, len(there) // self.chance.choice([4, 10, 30])))
        self.memory.beliefs("ana")
        erase(self.memory, chosen, refold=self.chance.random() < 0.5)
        self.gone |= set(chosen)
        return len(chosen)

    def resolve(self):
        waiting = [each for each in self.memory.conflicts.list("ana") if each.choices]
        return super().resolve() if len(waiting) == len(self.memory.conflicts.list("ana")) else None

    def check(self, *, whole):
        memory, log = self.memory, self.memory._log
        rules = memory._core.rulebook.refreshed()
        rows = [Version(*row) for row in self.table("belief_versions", 0)]
        standing = [row for row in rows if row.closed is None]
        for stream in sorted({row.belief for row in rows}):
            fold = folded(log.read_stream(stream), rules.registry)
            self.check_belief(fold, [row for row in standing if row.belief == stream])
        assert points_at(memory, self.gone) == 0
        ref = log.subject("ana")
        directory = moves.entities.folded(
            log.read_stream(moves.streams.directory_stream(log.keys(ref).ids))
        )
        names = {row["name_tag"]: row["entity_id"] for row in self.names(moves.tables.entity_names)}
        assert names == {
            memory._core.tagger(ref, "entity", name): directory.survivor(entity_id)
            for name, entity_id in directory.names.items()
        }
        if whole:
            for answer in memory.operations.rebuild(verify=True):
                assert answer.same, answer
            assert memory.audit.replay_all().different == 0
            assert memory.proofs.verify().ok
            for ask in (
                memory.conflicts.list,
                memory.conflicts.loops,
                memory.entities.list,
                memory.typed,
            ):
                ask("ana")

    def table(self, view, number):
        projector = self.memory._core.projector
        projector.catch_up()
        with projector.reading() as connection:
            generation = projector.states(connection)[view].generation
            table = projector.views[view].tables(generation)[number]
            return connection.execute(table.select()).all()


@pytest.mark.parametrize("seed", range(8))
def test_what_moved_and_was_erased_in_part_is_nowhere(tmp_path, seed):
    walk = Walk(str(tmp_path), seed)
    with walk.memory:
        for number in range(1, 41):
            if number % 8 == 0:
                walk.erase()
            walk.step()
            walk.check(whole=number % 20 == 0)
        told = [name for name, _ in walk.told if "refused" not in name]
        assert len(told) > 20
        assert walk.gone
