"""Random histories against a log that is a few dictionaries."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path

import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from beliefledger.ledger import canonical, codec, envelope
from beliefledger.ledger.codec import New
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.errors import ClockWentBack, EventIdReused, LogCorrupted, VersionConflict
from beliefledger.ledger.events import BY_NAME
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.postgres.server import is_postgres
from beliefledger.ledger.store import Row
from beliefledger.ledger.times import SECOND
from beliefledger.ledger.upcast import upcast
from beliefledger.ledger.verify import verify

STREAMS = "abc"
START = 1_772_355_600 * SECOND

batches = st.lists(st.sampled_from(STREAMS), max_size=5)
ids = itertools.count(1)


class StoreAgainstDictionaries(RuleBasedStateMachine):
    """Appends, repeats and mistakes; after each step the store says what the oracle says."""

    written = Bundle("written")

    def __init__(self, connect):
        super().__init__()
        self.connect = connect
        self.store = connect()
        self.now = START
        self.head = (0, 0)
        self.events: list[tuple[str, int, str, int]] = []
        self.versions: Counter[str] = Counter()

    def teardown(self):
        self.store.close()

    def sealed(self, streams, base):
        versions = Counter(base)
        batch = []
        for stream in streams:
            versions[stream] += 1
            address = Address(
                f"{next(ids):032x}", "turn.parked.v1", stream, versions[stream], "default", None
            )
            head, tail = envelope.split(
                address, actor="x", causation=None, correlation=None, body_digest=None, facts={}
            )
            batch.append(codec.Sealed(address, head, tail, None))
        return batch

    def append(self, batch, expect):
        return self.store.append(batch, expect, lambda: self.now)

    @rule(target=written, streams=batches, read=st.sets(st.sampled_from(STREAMS)))
    def append_as_expected(self, streams, read):
        expect = {stream: self.versions[stream] for stream in {*streams, *read}}
        batch = self.sealed(streams, expect)
        position, recorded_at = self.head
        at = max(recorded_at, self.now)
        if recorded_at - self.now > 60 * SECOND:
            with pytest.raises(ClockWentBack):
                self.append(batch, expect)
            return None
        appended = self.append(batch, expect)
        assert (appended.first, appended.last) == (position + 1, position + len(batch))
        assert (appended.recorded_at, appended.already) == (at, False)
        for each in batch:
            self.versions[each.address.stream] += 1
            self.events.append(
                (each.address.stream, each.address.version, each.address.event_id, at)
            )
        if batch:
            self.head = (position + len(batch), at)
        return batch, expect, appended

    @rule(streams=batches, stream=st.sampled_from(STREAMS), off=st.sampled_from([-2, -1, 1, 5]))
    def append_with_a_wrong_expectation(self, streams, stream, off):
        self.now = max(self.now, self.head[1])
        right = {each: self.versions[each] for each in streams}
        expect = {**right, stream: self.versions[stream] + off}
        with pytest.raises(VersionConflict) as conflict:
            self.append(self.sealed(streams, expect), expect)
        assert conflict.value.stream == stream
        assert conflict.value.actual == self.versions[stream]

    @rule(before=written)
    def append_again(self, before):
        if before is None or not before[0]:
            return
        self.now = max(self.now, self.head[1])
        batch, expect, appended = before
        again = self.append(batch, expect)
        assert again.already
        assert (again.first, again.last, again.recorded_at) == (
            appended.first,
            appended.last,
            appended.recorded_at,
        )

    @rule(before=written)
    def append_other_content_under_an_old_id(self, before):
        if before is None or not before[0]:
            return
        self.now = max(self.now, self.head[1])
        old = before[0][0]
        stream = old.address.stream
        head = old.head.replace(b'"facts":{}', b'"facts":{"n":1}')
        address = Address(
            old.address.event_id, "turn.parked.v1", stream, self.versions[stream] + 1, "d", None
        )
        with pytest.raises(EventIdReused):
            self.append(
                [codec.Sealed(address, head, old.tail, None)], {stream: self.versions[stream]}
            )

    @rule(seconds=st.sampled_from([0, 1, 59, 120, -30, -60, -61]))
    def time_passes_or_goes_back(self, seconds):
        self.now += seconds * SECOND

    @rule()
    def open_again(self):
        self.store.close()
        self.store = self.connect()

    @invariant()
    def the_store_holds_what_the_oracle_holds(self):
        rows = self.store.read(0, 1_000)
        assert [row.position for row in rows] == list(range(1, len(self.events) + 1))
        kept = [canonical.decode(row.envelope) for row in rows]
        assert [
            (each["stream"], each["version"], each["event_id"], each["recorded_at"])
            for each in kept
        ] == self.events
        assert self.store.head()[:2] == self.head
        assert self.store.versions(list(STREAMS)) == {s: self.versions[s] for s in STREAMS}
        times = [each["recorded_at"] for each in kept]
        assert times == sorted(times)


def test_a_store_holds_what_dictionaries_hold(new_place, store_at):
    def machine():
        place = new_place()
        return StoreAgainstDictionaries(lambda: store_at(place))

    examples = 20 if is_postgres(new_place()) else 60
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples, stateful_step_count=20, deadline=None)
    )


people = st.sampled_from(["ana", "ben", "eva"])
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("says"), people, texts),
        st.tuples(st.just("is erased"), people, st.none()),
        st.tuples(st.just("comes anew"), people, st.none()),
    ),
    max_size=12,
)


def test_what_is_read_is_what_was_said_by_those_who_were_not_erased(new_place, log_at):
    @settings(
        max_examples=15 if is_postgres(new_place()) else 30,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(steps)
    def is_so(happened):
        log = log_at(new_place(), lambda: START)
        try:
            check_what_is_read(log, happened)
        finally:
            log.close()

    is_so()


def check_what_is_read(log, happened):
    expected: list[tuple[str, str | None]] = []
    refs: dict[str, str] = {}
    for what, name, words in happened:
        if what == "says" and refs.get(name) != "erased":
            ref = refs[name] = log.register([name])[name]
            turn = TurnRecorded(
                role="user",
                channel="conversation",
                secrets=0,
                session_tag="",
                said_at_stated=False,
                content=words,
            )
            stream = f"{next(ids):032x}"
            log.append([New(turn, f"{next(ids):032x}", stream, ref)], {stream: 0})
            expected.append((ref, words))
        elif what == "is erased" and refs.get(name, "erased") != "erased":
            log.erase(refs[name], actor="system", legal_basis="x")
            expected = [(r, None if r == refs[name] else said) for r, said in expected]
            refs[name] = "erased"
        elif what == "comes anew" and refs.get(name) == "erased":
            actor = log.principal("dora")
            refs[name] = log.register([name], actor=actor, anew=True)[name]
    said = [
        (each.subject_ref, each.event.content if each.event else None)
        for each in log.read()
        if each.type == TurnRecorded.NAME
    ]
    assert said == expected
    assert verify(log).ok


# Canonical bytes


small = st.integers(-(2**53) + 1, 2**53 - 1)
facts = st.recursive(
    st.none() | st.booleans() | small | texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="ascii"), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(st.characters(codec="ascii"), max_size=8), facts, max_size=6))
def test_any_facts_are_written_as_rfc_8785_asks(some):
    address = Address("e" * 32, "turn.parked.v1", "5" * 32, 1, "default", None)
    head, tail = envelope.split(
        address, actor="x", causation=None, correlation=None, body_digest=None, facts=some
    )
    written = envelope.stamp(head, START, tail)
    assert rfc8785.dumps(json.loads(written)) == written
    assert envelope.read(written, 1)["facts"] == some
    assert envelope.same_but_time(written, head, tail)


GOLDEN = Path(__file__).parents[1] / "golden" / "events"


def mutated(value, draw):
    """The value with other words and numbers in the same places."""
    if isinstance(value, bool):
        return draw(st.booleans())
    if isinstance(value, int):
        return draw(st.integers(0, 1_000_000))
    if isinstance(value, dict):
        return {name: mutated(each, draw) for name, each in value.items()}
    if isinstance(value, list) and len(value) == 2 and all(type(each) is int for each in value):
        return [mutated(each, draw) for each in value]  # the ends of a run: never more, nor less
    if isinstance(value, list):
        return [mutated(value[0], draw) for _ in range(draw(st.integers(1, 3)))] if value else []
    return value if value is None or value.isascii() else draw(texts.filter(bool))


@pytest.mark.parametrize("name", sorted(BY_NAME))
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_any_event_is_written_as_rfc_8785_asks_and_read_back(name, data):
    parts = json.loads((GOLDEN / f"{name}.json").read_text())
    fields = json.loads(parts["head"] + "0" + parts["tail"])["facts"]
    fields |= json.loads(parts["body"] or "{}")
    event = BY_NAME[name].model_validate(mutated(fields, data.draw))
    kept, body = event.split()
    address = Address("e" * 32, name, "5" * 32, 1, "default", None)
    head, tail = envelope.split(
        address, actor="x", causation=None, correlation=None, body_digest=None, facts=kept
    )
    written = envelope.stamp(head, START, tail)
    assert rfc8785.dumps(json.loads(written)) == written
    again = BY_NAME[name].model_validate({**json.loads(written)["facts"], **(body or {})})
    assert again == event


# Upcasting

fields = st.dictionaries(st.text(max_size=5), st.integers() | texts, max_size=4)
chain = st.integers(1, 6)


@given(chain, fields, st.none() | fields)
def test_upcasting_is_total_pure_and_keeps_a_destroyed_body_destroyed(length, some, body):
    def step(facts, body):
        return {**facts, "steps": facts.get("steps", 0) + 1 if "steps" in facts else 1}, (
            None if body is None else {**body, "seen": True}
        )

    some.pop("steps", None)
    steps = {f"x.v{n}": (f"x.v{n + 1}", step) for n in range(1, length)}
    before = json.dumps([some, body])
    for start in range(1, length + 1):
        name, facts_, body_ = upcast(f"x.v{start}", some, body, steps)
        assert name == f"x.v{length}"
        assert facts_.get("steps", 0) == length - start
        assert (body_ is None) == (body is None)
    assert json.dumps([some, body]) == before


@given(st.binary(max_size=200))
def test_no_bytes_at_all_are_read_as_an_envelope_by_accident(data):
    with pytest.raises(LogCorrupted):
        codec.unseal(Row(1, data, None), None)
