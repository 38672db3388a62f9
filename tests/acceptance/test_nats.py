"""The relay to NATS JetStream: every event once and in order, whatever dies, and no words."""

from __future__ import annotations

import contextlib
import gc
import signal
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace

import pytest
from nats_cluster import cluster, following
from programs import Program
from receiver import wait_until

from beliefledger import open_memory
from beliefledger.ledger.errors import BackendUnusable
from beliefledger.tools.relay.nats import NatsRelay, Target

STREAM = "BELIEFLEDGER"


@pytest.fixture(scope="module")
def nats_server(tmp_path_factory):
    gc.collect()
    gc.freeze()  # each relay that ends looks for garbage: not in what hundreds of tests have kept
    with cluster(tmp_path_factory.mktemp("nats")) as running:
        yield running


@pytest.fixture
def server(nats_server):
    """One server, without a stream."""

    async def clear(client):
        context = client.jetstream()
        for each in await context.streams_info():
            await context.delete_stream(each.config.name)

    nats_server.asked(clear)
    return nats_server


def say(memory, turns, first=0):
    for turn in range(first, first + turns):
        memory.remember(f"p{turn % 3}", f"I live in town {turn}.", consent="consent")
    return memory._log.head().position


@contextlib.contextmanager
def relaying(memory, target):
    told = []
    relay = NatsRelay(memory, target, lambda *words: told.append(words))
    thread = threading.Thread(target=relay.run, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        relay.stop()
        thread.join(10)
        assert not thread.is_alive()


def relayed(memory, head):
    """Wait until the relay's cursor is there."""
    at = lambda: {each.name: each.position for each in memory._log.consumers()}  # noqa: E731
    wait_until(lambda: at().get(f"nats.{STREAM}", 0) >= head, 40)


def sequences(documents):
    return [int(each["sequence"]) for each in documents]


def test_each_event_is_a_cloud_event_without_words(place, server):
    with open_memory(place) as memory:
        head = say(memory, 3)
        NatsRelay(memory, Target(server.servers, replicas=1)).run(follow=False)
        documents = server.read(STREAM, head)
        assert sequences(documents) == list(range(1, head + 1))
        rows = {each.event_id: each for each in memory.subscribe(follow=False)}
        for each in documents:
            assert each["specversion"] == "1.0"
            assert each["type"] == rows[each["id"]].type == each["data"]["type"]
            assert each.get("subject") == rows[each["id"]].subject_ref
            assert each["source"] == "urn:beliefledger"
            assert (each["data"]["body"], each["data"]["subject"]) == (None, None)
        assert "town" not in str(documents)
        assert '"p0"' not in str(documents)
        assert any(each["data"]["facts"].get("outcome") == "admit" for each in documents)


def test_a_relay_that_was_killed_goes_on_and_doubles_nothing(tmp_path, server):
    with open_memory(tmp_path / "ledger") as memory:
        say(memory, 3)
        words = [
            sys.executable, "-m", "beliefledger", "--ledger", str(tmp_path / "ledger"),
            "relay", "nats", "--server", server.servers[0], "--replicas", "1",
            "--lease-seconds", "0.5",
        ]  # fmt: skip
        with Program(words, stdout=subprocess.DEVNULL) as relay:
            try:
                relayed(memory, 1)
            finally:
                relay.send_signal(signal.SIGKILL)
        head = say(memory, 3, 3)
        # As if it had died after publishing and before its cursor moved.
        memory._log.cursors.rewind(f"nats.{STREAM}", 2)
        with relaying(memory, Target(server.servers, replicas=1, lease_seconds=0.5)):
            relayed(memory, head)
        assert sequences(server.read(STREAM, head)) == list(range(1, head + 1))


def test_an_erasure_is_acknowledged_once_its_event_is_in_the_stream(place, server):
    target = Target(server.servers, replicas=1)
    with open_memory(place) as memory:
        head = say(memory, 3)
        NatsRelay(memory, target).run(follow=False)
        memory.erase("p0", by="the dpo")
        [erasure] = memory.erasure.list()
        issue = memory.erasure.certificates.issue
        assert issue(erasure.erasure)["consumers"]["open"] == [f"nats.{STREAM}"]
        NatsRelay(memory, target).run(follow=False)
        assert issue(erasure.erasure)["state"] == "closed"
        documents = server.read(STREAM, head + 2)
        assert any(each["type"].startswith("subject.erased") for each in documents)


def test_a_stream_that_is_not_the_relays_is_left_alone(tmp_path, server):
    target = Target(server.servers, replicas=1)
    with open_memory(tmp_path / "one") as one, open_memory(tmp_path / "two") as two:
        say(one, 1)
        say(two, 3)
        NatsRelay(one, target).run(follow=False)
        with pytest.raises(BackendUnusable, match="not of this ledger"):
            NatsRelay(two, target).run(follow=False)
        with pytest.raises(BackendUnusable, match="not the relay's"):
            NatsRelay(two, replace(target, prefix="other")).run(follow=False)


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_the_leader_is_killed_while_somebody_reads_and_every_event_arrives_once(
    postgres_place, tmp_path
):
    """It comes back, and has what came meanwhile: another one is killed, so that it is needed.

    The client leaves its connection to a node that died unclosed; it is collected here, so that no
    other test is told of it."""
    with (
        cluster(tmp_path / "nats", 3) as nodes,
        open_memory(postgres_place) as memory,
        relaying(memory, Target(nodes.servers, seconds=1.0)),
    ):
        relayed(memory, say(memory, 5))
        leader = nodes.leader(STREAM)
        with following(nodes.servers, STREAM) as reader:
            wait_until(lambda: reader.given, 20)
            say(memory, 3, 5)
            nodes.kill(leader)
            head = say(memory, 5, 8)
            relayed(memory, head)
            second = nodes.leader(STREAM)
            assert second not in {leader, None}
            nodes.begin_again(leader)
            wait_until(lambda: nodes.has_all(STREAM, leader), 30)
            nodes.kill(second)
            head = say(memory, 3, 13)
            relayed(memory, head)
            everything = set(range(1, head + 1))
            wait_until(lambda: {at for at, _ in reader.given} == everything, 40)
        told = [at for at, _ in reader.given]
        heard = Counter(at for at, taken in reader.given if taken)
        assert list(dict.fromkeys(told)) == sorted(everything), "in order"
        assert set(heard.values()) == {1}, "what was acknowledged came no second time"
        assert sequences(nodes.read(STREAM, head)) == sorted(everything)
    gc.collect()
