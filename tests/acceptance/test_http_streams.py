"""Streams of events: who reads slowly or not at all, what is asked for, and how it is written."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time

import pytest
import served as serving_of_tests
from receiver import wait_until
from served import BACKENDS, calling, served_on

from beliefledger.tools.server import serving
from beliefledger.tools.server.api import feed

STREAM = {"Accept": "text/event-stream"}
LONG = 9_000
"""Characters of one memory."""


@pytest.fixture(scope="module", params=BACKENDS)
def server(request, tmp_path_factory):
    """One whose system keeps little of what a reader has not taken, as if megabytes came."""

    def listen(settings):
        made = serving.listen(settings)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving_of_tests, "listen", listen)
        with served_on(request, tmp_path_factory, worker=False) as running:
            yield running


@pytest.fixture
def writer(server, person):
    with calling(server, f"writer of {person}", role="admin", subjects=[person]) as made:
        yield made


class Reader:
    """A client that takes of its socket when it is told to, and has little room there."""

    def __init__(self, client, query):
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        self._socket.settimeout(20)
        self._socket.connect((client.base_url.host, client.base_url.port))
        self.taken = b""
        self._socket.sendall(
            f"GET /v1/events?{query} HTTP/1.1\r\nHost: {client.base_url.netloc.decode()}\r\n"
            f"Authorization: {client.headers['authorization']}\r\n"
            "Accept: text/event-stream\r\n\r\n".encode()
        )
        while b"retry: 500" not in self.taken:
            self.take(100)

    def take(self, most):
        """False at the end."""
        some = self._socket.recv(most)
        self.taken += some
        return bool(some)

    def ids(self):
        """Those of the events that came whole."""
        *whole, _ = self.taken.split(b"\n\n")
        return [
            int(line.removeprefix(b"id: "))
            for each in whole
            if b"data: " in each
            for line in each.splitlines()
            if line.startswith(b"id: ")
        ]

    def close(self):
        self._socket.close()


def write(client, count, named):
    """So many long memories."""
    many = [{"value": "x" * LONG, "attribute": f"{named} {number}"} for number in range(count)]
    answer = client.post("memories/batch", json={"memories": many})
    assert answer.is_success, answer.text


def told(client, query, count, **headers):
    """The first events of a stream."""
    found = []
    with client.stream("GET", f"events?{query}", headers=STREAM | headers, timeout=20) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
            if len(found) == count:
                return found
    raise AssertionError(f"the stream ended after {len(found)}")


def test_who_takes_nothing_is_left_and_holds_nobody_up(writer, monkeypatch, caplog):
    """The writer and another reader go on meanwhile; who was left comes back for the rest."""
    monkeypatch.setattr(feed, "SEND_SECONDS", 0.5)
    monkeypatch.setattr(feed, "_KEPT", 10)
    caplog.set_level(logging.INFO, "beliefledger.server")
    query, count = "types=memory.*&bodies=true", 40
    slow, quick = Reader(writer, query), []
    other = threading.Thread(target=lambda: quick.extend(told(writer, query, count)))
    other.start()
    try:
        for batch in range(4):
            begun = time.monotonic()
            write(writer, count // 4, batch)
            assert time.monotonic() - begun < 5
        other.join(20)
        assert len(quick) == count
        left = lambda: [r for r in caplog.records if "took nothing" in r.getMessage()]  # noqa: E731
        wait_until(left, 10)
        while slow.take(65_536):
            pass
    finally:
        slow.close()
    positions, had = [each["position"] for each in quick], slow.ids()
    assert 0 < len(had) < count, "it was left with what it had room for"
    rest = told(writer, query, count - len(had), **{"Last-Event-ID": str(had[-1])})
    assert had + [each["position"] for each in rest] == positions
    assert all(each["body"]["memory"]["value"] == "x" * LONG for each in rest)
    assert len(left()) == 1
    assert not [each for each in caplog.records if each.name.startswith("uvicorn")]


def test_who_takes_little_at_a_time_is_not_left(writer, monkeypatch, caplog):
    """One piece takes longer than somebody may take nothing."""
    monkeypatch.setattr(feed, "SEND_SECONDS", 0.3)
    caplog.set_level(logging.INFO, "beliefledger.server")
    slow, count = Reader(writer, "types=memory.*&bodies=true"), 20
    try:
        write(writer, count, "steadily")
        while len(slow.ids()) < count:
            assert slow.take(4_096), "it was left"
            time.sleep(0.02)
    finally:
        slow.close()
    assert not [each for each in caplog.records if "took nothing" in each.getMessage()]


def test_a_stream_of_one_person_has_their_events_alone(server, person):
    ana, ben = f"{person}-ana", f"{person}-ben"
    with calling(server, f"both {ana}", role="admin", subjects=[ana, ben]) as client:
        for who, value in ((ben, "jazz"), (ana, "chess"), (ben, "go"), (ana, "tennis")):
            sent = {"value": value, "attribute": f"likes.{value}", "subject": who}
            assert client.post("memories", json=sent).is_success
        events = told(client, f"types=memory.admitted.*&bodies=true&subject={ana}", 2)
        assert [each["body"]["memory"]["value"] for each in events] == ["chess", "tennis"]
        assert {each["subject"] for each in events} == {ana}
        events = told(client, "types=memory.admitted.*&bodies=true", 4)
        assert [each["subject"] for each in events] == [ben, ana, ben, ana]


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("text/event-stream;q=0", "application/json"),
        ("application/json, text/event-stream; q=0.0", "application/json"),
        ("text/event-stream;q=0.1", "text/event-stream"),
        ("application/json, text/event-stream", "text/event-stream"),
        ("*/*", "application/json"),
    ],
)
def test_a_stream_is_for_who_accepts_one(writer, accept, media):
    with writer.stream("GET", "events", headers={"Accept": accept}) as answer:
        assert answer.headers["content-type"].partition(";")[0] == media


def test_a_stream_has_plain_ends_of_lines(writer):
    write(writer, 1, "plain")
    with writer.stream("GET", "events", headers=STREAM) as answer:
        some = b""
        for piece in answer.iter_bytes():
            some += piece
            if b"data: " in some:
                break
    assert b"\r" not in some
    assert some.startswith(b": begins\nid: 0\nretry: 500\n\n")
