"""What every EventStore guarantees, on SQLite and on Postgres."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from hashlib import sha256

import pytest
from stores import store_at

from beliefledger.ledger import canonical, envelope
from beliefledger.ledger.encryption import clear
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.errors import (
    CallerMistake,
    ClockWentBack,
    EventIdReused,
    LedgerError,
    LogCorrupted,
    VersionConflict,
)
from beliefledger.ledger.sqlite import SQLiteEventStore
from beliefledger.ledger.store import (
    Activity,
    Appended,
    ErasedMeanwhile,
    EventStore,
    Head,
    Row,
    Sealed,
)
from beliefledger.ledger.times import SECOND

ANA, BEN = "a" * 32, "b" * 32


@pytest.fixture(params=["sqlite", "postgres"])
def connect(request, tmp_path) -> Iterator[Callable[[], EventStore]]:
    """Opens the same store again, as another process would."""
    opened: list[EventStore] = []
    on_postgres = request.param == "postgres"
    url = request.getfixturevalue("postgres_url") if on_postgres else ""

    def open_() -> EventStore:
        opened.append(store_at(url if on_postgres else str(tmp_path)))
        return opened[-1]

    yield open_
    for store in opened:
        store.close()


@pytest.fixture
def store(connect) -> EventStore:
    return connect()


_ids = iter(range(1, 10**9))


def event(
    stream="s", version=1, *, subject=ANA, body=b"words", type_="turn.parked.v1", id_=None, **facts
) -> Sealed:
    event_id = id_ or f"{next(_ids):032x}"
    address = Address(event_id, type_, stream, version, "default", subject)
    blob = None if body is None else clear(body)
    head, tail = envelope.split(
        address,
        actor="system",
        causation=None,
        correlation=None,
        body_digest=None if blob is None else canonical.digest(blob),
        facts=facts,
    )
    return Sealed(address, head, tail, blob)


def events(stream, *versions, **fields):
    return [event(stream, version, **fields) for version in versions]


def fields(row):
    return canonical.decode(row.envelope)


# Appending


def test_a_new_store_is_empty(store):
    assert store.head() == Head(0, 0)
    assert store.read(0, 10) == []
    assert store.versions(["s"]) == {"s": 0}
    assert store.find("e" * 32) is None
    assert store.position_at(2**60) == 0


def test_positions_are_dense_over_all_streams_and_versions_over_each(store, clock):
    first = store.append(events("s", 1, 2), {"s": 0}, clock)
    second = store.append([*events("s", 3), *events("t", 1)], {"s": 2, "t": 0}, clock)
    assert first == Appended(1, 2, clock.now)
    assert second == Appended(3, 4, clock.now)
    rows = store.read(0, 10)
    assert [row.position for row in rows] == [1, 2, 3, 4]
    assert [(fields(row)["stream"], fields(row)["version"]) for row in rows] == [
        ("s", 1),
        ("s", 2),
        ("s", 3),
        ("t", 1),
    ]


def test_what_comes_back_is_what_was_written_stamped_with_the_time(store, clock):
    with_body, without = event("s", 1), event("s", 2, body=None)
    store.append([with_body, without], {"s": 0}, clock)
    one, two = store.read(0, 10)
    assert one.envelope == envelope.stamp(with_body.head, clock.now, with_body.tail)
    assert one.body == with_body.body
    assert two.body is None


def test_appending_nothing_moves_nothing(store, clock):
    store.append(events("s", 1), {"s": 0}, clock)
    store.append([], {"s": 1}, clock)
    assert store.head().position == 1


@pytest.mark.parametrize(
    ("expect", "conflict"),
    [
        ({"s": 0}, ("s", 0, 1)),
        ({"s": 2}, ("s", 2, 1)),
        ({"s": 1, "t": 1}, ("t", 1, 0)),
        ({"s": 1, "only read": 4}, ("only read", 4, 0)),
    ],
)
def test_a_stream_that_moved_on_is_named_and_nothing_is_written(store, clock, expect, conflict):
    store.append(events("s", 1), {"s": 0}, clock)
    batch = [event("new", 1), event("s", expect["s"] + 1)]
    with pytest.raises(VersionConflict) as raised:
        store.append(batch, {"new": 0, **expect}, clock)
    assert (raised.value.stream, raised.value.expected, raised.value.actual) == conflict
    assert store.head() == Head(1, clock.now)
    assert store.versions(["new"]) == {"new": 0}


def test_a_stream_that_was_only_read_is_checked_and_not_moved(store, clock):
    store.append(events("policy", 1), {"policy": 0}, clock)
    store.append(events("s", 1), {"s": 0, "policy": 1}, clock)
    assert store.versions(["s", "policy"]) == {"s": 1, "policy": 1}


def test_a_refused_append_leaves_no_gap(store, clock):
    store.append(events("s", 1), {"s": 0}, clock)
    for _ in range(3):
        with pytest.raises(VersionConflict):
            store.append(events("s", 1, 2), {"s": 0}, clock)
    assert store.append(events("s", 2), {"s": 1}, clock).first == 2


@pytest.mark.parametrize("versions", [(3,), (2, 4), (2, 2), (1,)])
def test_a_version_that_is_not_the_next_is_never_told_as_a_conflict(store, clock, versions):
    store.append(events("s", 1), {"s": 0}, clock)
    with pytest.raises(LedgerError) as raised:
        store.append(events("s", *versions), {"s": 1}, clock)
    assert not isinstance(raised.value, VersionConflict)
    assert store.head().position == 1


# Appending again


def test_the_same_batch_again_is_there_already_with_its_positions(store, clock):
    batch = [event("s", 1), event("t", 1), event("s", 2)]
    first = store.append(batch, {"s": 0, "t": 0}, clock)
    store.append(events("t", 2), {"t": 1}, clock)
    clock.ahead(5)
    again = store.append(batch, {"s": 0, "t": 0}, clock)
    assert again == Appended(first.first, first.last, first.recorded_at, already=True)
    assert store.head().position == 4


def test_the_same_batch_again_is_known_by_another_process(store, connect, clock):
    batch = events("s", 1, 2)
    store.append(batch, {"s": 0}, clock)
    assert connect().append(batch, {"s": 0}, clock).already


@pytest.mark.parametrize(
    "change", [{"outcome": "x"}, {"body": b"other"}, {"body": None}, {"subject": BEN}]
)
def test_an_id_that_comes_again_with_other_content_is_an_error(store, clock, change):
    store.append([event("s", 1, id_="e" * 32)], {"s": 0}, clock)
    with pytest.raises(EventIdReused):
        store.append([event("s", 1, id_="e" * 32, **change)], {"s": 0}, clock)
    with pytest.raises(EventIdReused):
        store.append([event("s", 2, id_="e" * 32, **change)], {"s": 1}, clock)
    with pytest.raises(EventIdReused):
        store.append([event("t", 1, id_="e" * 32, **change)], {"t": 0}, clock)
    assert store.head().position == 1


def test_an_id_twice_in_one_batch_is_an_error(store, clock):
    with pytest.raises(EventIdReused):
        store.append(
            [event("s", 1, id_="e" * 32), event("t", 1, id_="e" * 32)], {"s": 0, "t": 0}, clock
        )
    assert store.head().position == 0


def test_a_batch_of_which_only_a_part_is_there_is_refused_whole(store, clock):
    old, new = event("s", 1), event("t", 1)
    store.append([old], {"s": 0}, clock)
    with pytest.raises(VersionConflict):
        store.append([new, old], {"s": 0, "t": 0}, clock)
    assert store.find(new.address.event_id) is None
    assert store.head().position == 1


def test_events_that_came_one_by_one_are_not_a_batch(store, clock):
    one, between, two = event("s", 1), event("t", 1), event("s", 2)
    for each, at in ((one, 0), (between, 0), (two, 1)):
        store.append([each], {each.address.stream: at}, clock)
    with pytest.raises(EventIdReused, match="not as one batch"):
        store.append([one, two], {"s": 0}, clock)


# Time


def test_recorded_at_never_goes_back_and_a_little_behind_is_borne(store, clock):
    store.append(events("s", 1), {"s": 0}, clock)
    before = clock.now
    clock.ahead(-60)
    assert store.append(events("s", 2), {"s": 1}, clock).recorded_at == before
    clock.ahead(61)
    assert store.append(events("s", 3), {"s": 2}, clock).recorded_at == before + SECOND


def test_a_clock_further_behind_refuses_and_writes_nothing(store, clock):
    store.append(events("s", 1), {"s": 0}, clock)
    head = store.head()
    clock.now -= 60 * SECOND + 1
    with pytest.raises(ClockWentBack):
        store.append(events("s", 2), {"s": 1}, clock)
    assert store.head() == head
    clock.now += 1
    assert store.append(events("s", 2), {"s": 1}, clock).first == 2


def test_the_position_at_a_time_is_the_last_one_recorded_by_then(store, clock):
    times = []
    for version in range(1, 8):
        store.append(events("s", version), {"s": version - 1}, clock)
        times.append(clock.now)
        clock.ahead(0 if version % 2 else 10)
    assert store.position_at(times[0] - 1) == 0
    for at in times:
        assert store.position_at(at) == max(i for i, t in enumerate(times, 1) if t == at)
        assert store.position_at(at + 1) == store.position_at(at)
    assert store.position_at(2**60) == 7


# Reading


@pytest.fixture
def filled(store, clock) -> EventStore:
    for version in range(1, 11):
        store.append(
            [event("s", version), event("t", version, subject=BEN, type_="turn.recorded.v2")],
            {"s": version - 1, "t": version - 1},
            clock,
        )
    return store


@pytest.mark.parametrize(
    ("after", "limit", "upto", "desc", "positions"),
    [
        (0, 3, None, False, [1, 2, 3]),
        (18, 10, None, False, [19, 20]),
        (20, 10, None, False, []),
        (4, 10, 6, False, [5, 6]),
        (0, 2, None, True, [20, 19]),
        (3, 10, 6, True, [6, 5, 4]),
    ],
)
def test_a_page_is_after_up_to_and_no_longer_than_its_limit(
    filled, after, limit, upto, desc, positions
):
    rows = filled.read(after, limit, upto, desc=desc)
    assert [row.position for row in rows] == positions


def test_single_positions_come_in_order_and_strangers_not_at_all(filled):
    assert [row.position for row in filled.read_at([7, 3, 99, 12])] == [3, 7, 12]
    assert filled.read_at([]) == []


def test_many_positions_and_streams_can_be_asked_for_at_once(filled):
    assert len(filled.read_at(list(range(1, 3_000)))) == 20
    asked = [f"none {number}" for number in range(2_000)]
    assert filled.versions([*asked, "t"]) == {**dict.fromkeys(asked, 0), "t": 10}


def test_a_stream_is_read_by_version(filled):
    def versions(*bounds):
        return [fields(row)["version"] for row in filled.read_stream("t", *bounds)]

    assert versions() == list(range(1, 11))
    assert versions(8) == [9, 10]
    assert versions(2, 4) == [3, 4]
    assert filled.read_stream("nobody's") == []


def test_several_streams_are_read_at_once_each_in_its_order(filled):
    streams = list(dict.fromkeys(fields(row)["stream"] for row in filled.read(0, 1000)))
    many = [f"nobody's {number}" for number in range(1200)]
    assert len(streams) > 1

    rows = filled.read_streams([*many, *streams])

    found = {each: [row for row in rows if fields(row)["stream"] == each] for each in streams}
    assert found == {each: filled.read_stream(each) for each in streams}
    assert len(rows) == sum(map(len, found.values()))
    assert filled.read_streams([]) == filled.read_streams(many) == []


def test_an_event_is_found_by_its_id(filled):
    row = filled.read(6, 1)[0]
    assert filled.find(fields(row)["event_id"]) == row


def test_events_are_found_by_type_and_subject(filled):
    recorded = filled.of_types(["turn.recorded.v2"])
    assert [row.position for row in recorded] == list(range(2, 21, 2))
    assert filled.of_types(["turn.recorded.v2"], ANA) == []
    assert len(filled.of_types(["turn.recorded.v2", "turn.parked.v1"], BEN)) == 10
    assert filled.of_types(["subject.erased.v1"]) == []


def test_how_much_there_is_of_each_subject_is_counted(store, clock):
    store.append(
        [*events("s", 1, 2), event("t", subject=BEN), event("u", subject=None)],
        {"s": 0, "t": 0, "u": 0},
        clock,
    )
    store.append(events("s", 3), {"s": 2}, clock)
    assert store.activity([ANA, BEN, "c" * 32]) == {ANA: Activity(3, 1, 5), BEN: Activity(1, 3, 3)}
    assert store.activity([]) == {}
    many = [f"{number:032x}" for number in range(1_200)]
    assert store.activity([*many, ANA]) == {ANA: Activity(3, 1, 5)}


def test_another_process_reads_what_was_appended_before_it_asked(store, connect, clock):
    other = connect()
    assert other.head().position == 0
    store.append(events("s", 1), {"s": 0}, clock)
    assert other.head().position == 1
    assert other.read(0, 10) == store.read(0, 10)


# Waiting


def test_waiting_ends_at_once_when_there_is_something_already(filled):
    assert filled.wait(19, 60)


def test_waiting_gives_up_when_the_time_is_over(filled):
    assert not filled.wait(20, 0)
    assert not filled.wait(20, 0.01)


@pytest.mark.parametrize("writer", ["the same store", "another process"])
def test_waiting_ends_when_somebody_appends(filled, connect, clock, writer):
    writing = filled if writer == "the same store" else connect()
    answers = []
    waiter = threading.Thread(target=lambda: answers.append(filled.wait(20, 60)))
    waiter.start()
    writing.append(events("s", 11), {"s": 10}, clock)
    waiter.join(30)
    assert answers == [True]


def test_the_edges_of_what_is_read(filled):
    first = filled.read(0, 1)[0]
    assert filled.event_id_at(1) == fields(first)["event_id"]
    assert filled.event_id_at(21) is None
    assert filled.find("f" * 32) is None
    assert [row.position for row in filled.read(0, 100)] == list(range(1, 21))
    assert [row.position for row in filled.read_at(list(range(20, 0, -1)))] == list(range(1, 21))

    def of(subject, *bounds):
        return [row.position for row in filled.read_subject(subject, *bounds)]

    assert of(BEN, 0, 100) == list(range(2, 21, 2))
    assert of(BEN, 2, 2) == [4, 6]
    assert of(BEN, 2, 100, 6) == [4, 6]
    assert of(ANA, 19, 100) == []
    assert [row.position for row in filled.of_types(["turn.parked.v1"], ANA, 15)] == [17, 19]
    assert [row.position for row in filled.of_types(["turn.parked.v1"], None, 19)] == []
    ids = [fields(row)["event_id"] for row in filled.read(0, 100)]
    strangers = [f"{number:032x}" for number in range(10**12, 10**12 + 1_200)]
    assert filled.positions_of([*ids, *strangers]) == {id_: n for n, id_ in enumerate(ids, 1)}
    assert filled.positions_of([]) == {}


def test_the_leaves_of_the_tree_are_the_envelopes_in_their_order(filled):
    leaves = [sha256(b"\x00" + row.envelope).digest() for row in filled.read(0, 100)]
    assert filled.leaf_hashes(0, 20) == leaves
    assert filled.leaf_hashes(3, 7) == leaves[3:7]
    assert filled.leaf_hashes(7, 7) == filled.leaf_hashes(7, 3) == []
    with pytest.raises(LogCorrupted, match="position 21 is missing"):
        filled.leaf_hashes(18, 22)
    assert filled.first_missing(0, 20) is None
    assert filled.first_missing(0, 22) == 21
    assert filled.first_missing(20, 21) == 21
    assert filled.first_missing(5, 5) is None


def test_many_streams_that_are_only_read_are_all_checked(filled, clock):
    """Few are looked up one by one, many together: both name the one that moved on."""
    for many in (5, 19, 20, 600, 1_100):
        expect = {f"none {number}": 0 for number in range(many)}
        at = filled.head().position
        for stream, version in (("t", 9), ("t", 11), (f"none {many - 1}", 1)):
            with pytest.raises(VersionConflict, match=stream) as told:
                filled.append([event("new")], {**expect, "new": 0, stream: version}, clock)
            actual = 10 if stream == "t" else 0
            assert (told.value.expected, told.value.actual) == (version, actual)
        assert filled.head().position == at
        new = f"new {many}"
        filled.append([event(new)], {**expect, "t": 10, new: 0}, clock)
        assert filled.head().position == at + 1


def test_what_was_sealed_before_an_erasure_is_not_appended_after_it(filled, clock):
    erased = filled.head().erasures
    at = filled.append(events("s", 11), {"s": 10}, clock, erased)
    assert (at.first, at.last) == (21, 21)
    filled.delete_bodies(BEN)
    with pytest.raises(ErasedMeanwhile):
        filled.append(events("s", 12), {"s": 11}, clock, erased)
    assert filled.head() == Head(21, at.recorded_at, erased + 1)
    asked = event("s", 12, type_="erasure.requested.v2")
    at = filled.append([asked, event("s", 13)], {"s": 11}, clock, erased + 1)
    assert filled.head() == Head(23, at.recorded_at, erased + 2)
    with pytest.raises(ErasedMeanwhile):
        filled.append(events("s", 14), {"s": 13}, clock, erased + 1)


def test_rows_of_another_store_are_loaded_as_they_are(filled, connect, clock, tmp_path):
    rows = filled.read(0, 100)
    other = SQLiteEventStore(tmp_path / "other.db")
    other.load(rows[:5])
    other.load([Row(6, rows[5].envelope, None, rows[5].type), *rows[6:]])
    assert other.read(0, 100) == [
        Row(row.position, row.envelope, None if row.position == 6 else row.body, row.type)
        for row in rows
    ]
    assert other.head() == filled.head()
    assert other.damage() is None
    asked = event("s", 11, type_="erasure.requested.v2")
    filled.append([asked], {"s": 10}, clock)
    other.load(filled.read(20, 1))
    assert other.head() == filled.head()
    other.close()


# Forgetting bodies


def test_deleting_the_bodies_of_events_takes_those_and_no_others(filled):
    ids = {row.position: fields(row)["event_id"] for row in filled.read(0, 100)}
    before = filled.head()
    strangers = [f"{number:032x}" for number in range(10**12, 10**12 + 1_200)]
    assert filled.delete_bodies_of([ids[3], *strangers, ids[4], ids[20]]) == 3
    assert [row.position for row in filled.read(0, 100) if row.body is None] == [3, 4, 20]
    assert filled.delete_bodies_of([ids[3]]) == 0
    head = filled.head()
    assert (head.position, head.erasures) == (before.position, before.erasures + 2)
    filled.flush_wal()
    assert filled.damage() is None


def test_deleting_bodies_takes_one_subject_s_and_leaves_every_envelope(filled):
    before = [row.envelope for row in filled.read(0, 100)]
    assert filled.delete_bodies(ANA) == 10
    rows = filled.read(0, 100)
    assert [row.envelope for row in rows] == before
    assert [row.body is None for row in rows] == [row.position % 2 == 1 for row in rows]
    assert filled.delete_bodies(ANA) == 0
    assert filled.damage() is None


def test_after_deleting_bodies_appending_goes_on(filled, clock):
    filled.delete_bodies(ANA)
    assert filled.append(events("s", 11), {"s": 10}, clock).first == 21


# Threads, closing, health


def test_threads_that_append_at_once_get_every_position_once(store, clock):
    taken: list[int] = []

    def write(stream):
        for version in range(1, 11):
            taken.append(store.append(events(stream, version), {stream: version - 1}, clock).first)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(1, 61))
    assert [row.position for row in store.read(0, 100)] == list(range(1, 61))


def test_threads_that_race_for_one_version_have_one_winner(store, clock):
    outcomes = []
    start = threading.Barrier(6)

    def race():
        batch = events("s", 1)
        start.wait()
        try:
            outcomes.append(store.append(batch, {"s": 0}, clock).first)
        except VersionConflict as conflict:
            outcomes.append((conflict.expected, conflict.actual))

    threads = [threading.Thread(target=race) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes, key=str) == [*[(0, 1)] * 5, 1]


def test_a_sound_store_finds_no_damage(filled):
    assert filled.damage() is None


def test_a_closed_store_says_so_and_can_be_closed_again(filled, clock):
    filled.close()
    filled.close()
    for use in (
        filled.head,
        lambda: filled.read(0, 1),
        lambda: filled.append(events("s", 11), {"s": 10}, clock),
        lambda: filled.delete_bodies(ANA),
        lambda: filled.wait(99, 1),
    ):
        with pytest.raises(CallerMistake, match="was closed"):
            use()


def test_a_reader_whose_store_is_closed_meanwhile_is_told_that(filled):
    started = threading.Event()
    said = []

    def follow():
        try:
            while True:
                filled.read(0, 20)
                started.set()
        except CallerMistake as problem:
            said.append(problem)

    reader = threading.Thread(target=follow)
    reader.start()
    started.wait()
    filled.close()
    reader.join(30)
    assert len(said) == 1
