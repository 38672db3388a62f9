"""Several clients of one ledger, each with caches of its own, against a model that is a few
dictionaries: whoever does what, all of them say what the model says."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

import pytest
from echoes import echo
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from beliefledger import open_memory
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import (
    IdempotencyKeyReused,
    NotPermitted,
    UnknownMemory,
    VersionConflict,
)
from beliefledger.ledger.events.subject import SubjectErased
from beliefledger.ledger.events.turn import (
    ExtractionCompleted,
    GateDecided,
    TurnParked,
    TurnRecorded,
    TurnRetried,
)
from beliefledger.ledger.log import new_id
from beliefledger.ledger.postgres.server import is_postgres
from beliefledger.ledger.times import DAY, SECOND, parse

START = parse("2026-03-01T09:00:00Z")
WINDOW = 30 * DAY
HOUR = 3_600 * SECOND
CLIENTS, PEOPLE = 3, ("ana", "ben")

STATES = {
    TurnRecorded.NAME: "pending",
    TurnRetried.NAME: "pending",
    ExtractionCompleted.NAME: "extracted",
    TurnParked.NAME: "parked",
}

clients = st.integers(0, CLIENTS - 1)
people = st.sampled_from(PEOPLE)
attributes = st.sampled_from(["colour", "editor"])
values = st.sampled_from(["red", "green", "blue"])
bases = st.sampled_from(["consent", "contract"])
keys = st.sampled_from(["k1", "k2", "k3"])


class Verbatim:
    """Takes every turn for one statement, about itself."""

    name = "verbatim"

    def extract(self, turn, earlier=()):
        return echo(turn.content, about=turn.content.split()[-1])


@dataclass
class Slot:
    """What is believed of one attribute now."""

    value: str
    basis: str
    mentions: int = 1
    changes: list[int] = field(default_factory=list)
    contested: bool = False


@dataclass
class Person:
    """Somebody, as far as the ledger may know them. Each life begins with a registration."""

    name: str
    life: int = 0
    known: bool = False
    erased: bool = False
    erased_at: int = 0
    grants: list[str] = field(default_factory=list)
    slots: dict[str, Slot] = field(default_factory=dict)
    turns: dict[str, tuple[str, int]] = field(default_factory=dict)
    stored: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)

    @property
    def mark(self):
        """A word that is in everything this life says, and in nothing else."""
        return f"{self.name}{self.life}"

    def believed(self):
        return {name: (slot.value, slot.mentions) for name, slot in self.slots.items()}

    def store(self, attribute, value, now):
        """What the gate has to decide; and it is so from now on."""
        slot = self.slots.get(attribute)
        if not self.grants:
            return "reject"
        if slot is None:
            self.slots[attribute] = Slot(value, self.grants[-1])
            return "admit"
        if slot.value == value:
            slot.mentions += 1
            return "confirm"
        if slot.contested:
            return "escalate"
        recent = [at for at in slot.changes if now - at <= WINDOW]
        changes = [*slot.changes, now]
        self.slots[attribute] = Slot(
            value, self.grants[-1], changes=changes, contested=len(recent) >= 2
        )
        return "supersede"


class Machine(RuleBasedStateMachine):
    def __init__(self, place):
        super().__init__()
        self.place = place
        self.now = START
        self.people = {name: Person(name) for name in PEOPLE}
        self.clients = [self.open() for _ in range(CLIENTS)]
        self.recorded = Counter()
        self.acknowledged = set()
        self.position = 0
        self.outcomes, self.turns = Counter(), {}
        self.snapshots = []
        self.gone = []
        """Of each life that was erased: its mark, and the ids of its beliefs and memories."""

    def open(self):
        return open_memory(self.place, clock=lambda: self.now, extractor=Verbatim())

    def teardown(self):
        try:
            self.everything_is_in_order()
        finally:
            for memory in self.clients:
                memory.close()

    def everything_is_in_order(self):
        said = [
            {
                view.name: (view.digest, view.content_digest)
                for view in memory.status(digests=True).views
            }
            for memory in self.clients
        ]
        assert said == [said[0]] * CLIENTS
        projector = self.clients[0]._core.projector
        with projector.reading() as connection:
            for state in projector.states(connection).values():
                if state.name in {"turns", "decisions"}:  # or `status` would count the tables
                    assert json.loads(state.counts)["at"] == [*state.at]
        for view in self.clients[0].operations.rebuild(verify=True):
            assert view.same, view
            assert (view.digest, view.content_digest) == said[0][view.name]
        for gone in self.gone:
            self.check_gone(self.clients[0], *gone)
        assert self.clients[-1].proofs.verify().ok

    @contextmanager
    def refused(self, *errors):
        """Nothing is written."""
        before = self.clients[0]._log.head()
        with pytest.raises(errors):
            yield
        assert self.clients[0]._log.head() == before

    def tick(self, client):
        """Time goes on, and somebody does something."""
        self.now += SECOND
        return self.clients[client]

    # What is said

    @initialize(said=st.lists(st.tuples(clients, values), min_size=3, max_size=8))
    def ana_consents_and_tells_something(self, said):
        self.grant(0, "ana", "consent")
        self.grant(1, "ana", "contract")
        self.record(2, "ana", "k1")
        self.store_in_turn(said, "ana", "colour")

    @rule(client=clients, name=people, key=keys)
    def record(self, client, name, key):
        memory, person = self.tick(client), self.people[name]
        words = f"{person.mark} says {key}"
        if person.erased:
            with self.refused(NotPermitted):
                memory.record_turn(name, words, idempotency_key=key)
            return
        receipt = memory.record_turn(name, words, idempotency_key=key)
        assert receipt.already == (key in person.turns)
        there = person.turns.setdefault(key, (receipt.turn_id, receipt.position))
        assert (receipt.turn_id, receipt.position) == there
        if not receipt.already:
            person.waiting.append(key)
        person.known = True
        self.acknowledged.add(receipt.turn_id)

    @rule(client=clients)
    def process(self, client):
        answer = self.tick(client).process()
        waiting = sum(len(person.waiting) for person in self.people.values())
        assert (answer.turns, answer.failed, answer.pending) == (waiting, 0, 0)
        for person in self.people.values():
            for key in person.waiting:
                person.store(f"said.{key}", f"{person.mark} says {key}", self.now)
            person.waiting.clear()

    @rule(client=clients, name=people, attribute=attributes, value=values)
    def store(self, client, name, attribute, value):
        memory, person = self.tick(client), self.people[name]
        value = f"{person.mark} {value}"
        if person.erased:
            with self.refused(NotPermitted):
                memory.store(name, value, attribute=attribute)
            return
        key = f"store {len(person.stored)}"
        decision = memory.store(name, value, attribute=attribute, idempotency_key=key)
        assert decision.outcome == person.store(attribute, value, self.now)
        person.known = True
        person.stored[key] = attribute, value, decision.decision_id
        self.acknowledged.add(decision.turn_id)

    @rule(
        said=st.lists(st.tuples(clients, values), min_size=2, max_size=5),
        name=people,
        attribute=attributes,
    )
    def store_in_turn(self, said, name, attribute):
        """Each client knows of its own writes only, until it looks."""
        for client, value in said:
            self.store(client, name, attribute, value)

    @precondition(lambda self: any(person.stored for person in self.people.values()))
    @rule(client=clients, data=st.data())
    def store_again(self, client, data):
        """The reply to a caller was lost, and they say it again, to whom they reach."""
        named = [person for person in self.people.values() if person.stored]
        person = data.draw(st.sampled_from(named))
        key = data.draw(st.sampled_from(sorted(person.stored)))
        attribute, value, decision_id = person.stored[key]
        memory = self.tick(client)
        decision = memory.store(person.name, value, attribute=attribute, idempotency_key=key)
        assert decision.decision_id == decision_id
        with self.refused(IdempotencyKeyReused):
            memory.store(person.name, f"{value} too", attribute=attribute, idempotency_key=key)

    # What people decide

    @rule(client=clients, name=people, basis=bases)
    def grant(self, client, name, basis):
        memory, person = self.tick(client), self.people[name]
        if person.erased:
            with self.refused(NotPermitted):
                memory.consent.grant(name, basis)
            return
        memory.consent.grant(name, basis)
        person.known = True
        if basis not in person.grants:
            person.grants.append(basis)

    @rule(client=clients, name=people, basis=bases)
    def withdraw(self, client, name, basis):
        memory, person = self.tick(client), self.people[name]
        if basis not in person.grants:
            with self.refused(NotPermitted, UnknownMemory):
                memory.consent.withdraw(name, basis=basis, by="system")
            return
        memory.consent.withdraw(name, basis=basis, by="system")
        person.grants.remove(basis)
        person.slots = {
            attribute: slot for attribute, slot in person.slots.items() if slot.basis != basis
        }

    @precondition(lambda self: any(person.slots for person in self.people.values()))
    @rule(client=clients, other=clients, data=st.data())
    def revoke(self, client, other, data):
        memory, (person, attribute, belief) = self.tick(client), self.some(other, data)
        memory.revoke(belief.memory_id, by="dora")
        del person.slots[attribute]
        with self.refused(UnknownMemory):
            self.clients[other].revoke(belief.memory_id, by="system")

    @precondition(lambda self: any(self.contested()))
    @rule(client=clients, other=clients, data=st.data())
    def resolve(self, client, other, data):
        memory = self.tick(client)
        person, attribute, belief = self.some(other, data, contested=True)
        slot = person.slots[attribute]
        if not person.grants:
            with pytest.raises(NotPermitted):
                memory.conflicts.resolve(belief.belief_id, choose=slot.value, by="dora")
            return
        memory.conflicts.resolve(belief.belief_id, choose=slot.value, by="dora")
        person.slots[attribute] = Slot(slot.value, person.grants[-1])

    def contested(self):
        return [
            slot for each in self.people.values() for slot in each.slots.values() if slot.contested
        ]

    def some(self, client, data, *, contested=False):
        """Something that is believed, and how a client shows it."""
        person, attribute = data.draw(
            st.sampled_from(
                [
                    (person, attribute)
                    for person in self.people.values()
                    for attribute, slot in person.slots.items()
                    if slot.contested or not contested
                ]
            )
        )
        shown = self.clients[client].beliefs(person.name)
        return person, attribute, next(each for each in shown if each.attribute == attribute)

    @rule(client=clients, name=st.sampled_from(["ana", "ben", "ben"]))
    def erase(self, client, name):
        memory, person = self.tick(client), self.people[name]
        if person.erased and self.now - person.erased_at > HOUR:
            with self.refused(NotPermitted):
                memory.erase(name, by="system")
            return
        if person.erased:  # by the same actor, lately: asked again
            before = memory._log.head()
            assert memory.erase(name, by="system").already
            assert memory._log.head() == before
            return
        if not person.known:
            with self.refused(UnknownMemory):
                memory.erase(name, by="system")
            return
        held = memory.beliefs(name)
        memory.erase(name, by="system")
        self.gone.append((person.mark, [(each.belief_id, each.memory_id) for each in held]))
        self.people[name] = Person(name, person.life + 1, erased=True, erased_at=self.now)
        for each in self.clients:
            self.check_gone(each, *self.gone[-1])
            assert each.erasure.was_erased(name)
            assert [*each.beliefs(name), *each.decisions(name), *each.consent.list(name)] == []

    @rule(client=clients, name=people)
    def register_anew(self, client, name):
        memory, person = self.tick(client), self.people[name]
        if not person.life:
            with self.refused(NotPermitted):
                memory.erasure.register_anew(name, by="dora")
            return
        memory.erasure.register_anew(name, by="dora")
        person.known, person.erased = True, False

    # What happens to clients

    @rule(client=clients)
    def open_again(self, client):
        self.clients[client].close()
        self.clients[client] = self.open()

    @rule(days=st.sampled_from([1, 20, 40]))
    def time_passes(self, days):
        self.now += days * DAY

    @rule(client=clients, view=st.sampled_from(["belief_versions", "decisions", "turns", "links"]))
    def rebuild(self, client, view):
        [answer] = self.tick(client).operations.rebuild(view, verify=True)
        assert answer.same, answer

    @rule(client=clients, name=people, off=st.sampled_from([-1, 1]))
    def append_with_a_stale_expectation(self, client, name, off):
        log, person = self.tick(client)._log, self.people[name]
        stream = (person.known and not person.erased and log.subject(name)) or "f" * 32
        version = log.version(stream)
        with self.refused(VersionConflict):
            log.append(
                [New(TurnParked(attempts=1), new_id(), "e" * 32, None)],
                {"e" * 32: 0, stream: version + off},
            )

    @precondition(lambda self: self.snapshots)
    @rule(client=clients, name=people, by_time=st.booleans(), data=st.data())
    def ask_as_of(self, client, name, by_time, data):
        position, at, then = data.draw(st.sampled_from(self.snapshots))
        life, believed = then[name]
        if life != self.people[name].life:
            believed = {}
        memory = self.clients[client]
        shown = memory.beliefs(name, as_of=memory.as_of(at if by_time else position))
        assert {each.attribute: (each.value, each.mentions) for each in shown} == believed
        assert len(shown) == len(believed)

    # What always holds

    @invariant()
    def the_ledger_is_as_the_model_says(self):
        self.check_positions()
        self.check_beliefs()
        lives = {name: (each.life, each.believed()) for name, each in self.people.items()}
        self.snapshots.append((self.position, self.now, lives))

    def check_positions(self):
        """They are dense, and every turn that was acknowledged is there once."""
        log = self.clients[-1]._log
        new = list(log.read(self.position))
        assert [each.position for each in new] == [
            self.position + number for number in range(1, len(new) + 1)
        ]
        self.position += len(new)
        self.check_counts(new)
        self.recorded.update(each.stream for each in new if each.type == TurnRecorded.NAME)
        assert self.recorded == dict.fromkeys(self.acknowledged, 1)
        assert log.head().position == self.position

    def check_counts(self, new):
        """What `status` counts is what the log says."""
        for each in new:
            if each.type == GateDecided.NAME:
                self.outcomes[each.facts["outcome"]] += 1
            elif each.type in STATES:
                self.turns[each.stream] = (each.subject_ref, STATES[each.type])
            elif each.type == SubjectErased.NAME:
                self.turns = {i: t for i, t in self.turns.items() if t[0] != each.subject_ref}
        for memory in self.clients[-1:]:
            status = memory.status()
            assert status.outcomes == self.outcomes
            assert status.turns == Counter(state for _, state in self.turns.values())
            assert status.subjects == len(memory.subjects().subjects)
            assert status.waiting == len(memory.decisions(waits=True))

    def check_beliefs(self):
        """Every client believes what the model does, and shows nothing of the erased."""
        expected = {
            (name, attribute): held
            for name, person in self.people.items()
            for attribute, held in person.believed().items()
        }
        for memory in self.clients:
            shown = memory.beliefs()
            assert {
                (each.subject, each.attribute): (each.value, each.mentions) for each in shown
            } == expected
            assert len(shown) == len(expected)
            if self.gone:
                words = repr((shown, memory.decisions()))
                assert not [mark for mark, _ in self.gone if mark in words]

    def check_gone(self, memory, mark, ids):
        beliefs = memory.beliefs(quarantined=True, min_confidence=0)
        words = repr(
            (beliefs, memory.decisions(), memory.conflicts.list(), memory.conflicts.loops())
        )
        assert mark not in words
        for belief_id, memory_id in ids:
            with pytest.raises(UnknownMemory):
                memory.history(belief_id)
            with pytest.raises(UnknownMemory):
                memory.explain(memory_id)


@pytest.mark.timeout(900)
def test_clients_of_one_ledger_agree_with_a_model(new_place, monkeypatch, tmp_path):
    examples = 8 if is_postgres(new_place()) else 25
    files = (str(tmp_path / f"signing{number}.key") for number in count(1))

    def machine():
        monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", next(files))  # one is for one ledger
        return Machine(new_place())

    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
