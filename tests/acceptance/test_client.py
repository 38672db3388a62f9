"""The client of a server: the same script as against an open ledger, and what a network adds."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from datetime import datetime

import pytest
from served import BACKENDS, served_on

import beliefledger
from beliefledger import (
    BackendUnavailable,
    CallerMistake,
    Client,
    Details,
    InvalidQuery,
    InvalidTurn,
    MemoryInput,
    NotPermitted,
    SearchOptions,
    TurnInput,
    UnknownMemory,
    connect,
    connect_async,
    open_memory,
)
from beliefledger.client import questions

LEA = "lea"


@pytest.fixture(scope="module", params=BACKENDS)
def server(request, tmp_path_factory):
    """One for all tests here: each is about people of its own."""
    with served_on(request, tmp_path_factory, worker=False) as running:
        yield running


@pytest.fixture
def client(server, person):
    with connect(server.root, token=server.token(LEA, role="admin", subjects=[person])) as made:
        yield made


def script(memory, person: str) -> list[object]:
    """What somebody does with a ledger on a day, and all that it answers."""
    told: list[object] = [memory.consent.grant(person, "consent", by=LEA) != ""]
    receipt, made = memory.remember(person, "I live in Lisbon.", said_at="2026-03-01T09:00:00Z")
    told += [receipt, made]
    told.append(memory.record_turn(person, "I use unittest.", idempotency_key="k", session="s"))
    told.append(memory.record_turn(person, "I use unittest.", idempotency_key="k", session="s"))
    told.append(
        memory.record_turns([TurnInput(person, "I moved to Porto.", said_at=1_780_000_000_000_000)])
    )
    told.append(memory.process(subject=person))
    told.append(memory.store(person, "red", attribute="favourite colour", by=LEA))
    facts = [MemoryInput(person, "39", "shoe size", details=Details(importance=0.3))]
    told.append(memory.store_many(facts, by=LEA))
    held = memory.beliefs(person)
    told.append(held)
    colour = next(each for each in held if each.value == "red")
    told.append(memory.update(colour.memory_id, value="blue", by=LEA))
    lives = next(each for each in held if each.attribute == "home.location")
    told += [memory.history(lives.belief_id), memory.explain(lives.memory_id, proof=True)]
    told.append(memory.beliefs(person, valid_at="2026-03-02T00:00:00Z"))
    told.append(memory.beliefs(person, as_of=receipt.position))
    told.append(memory.correct(lives.memory_id, "No, I live in Braga.", session="s", by=LEA))
    page = memory.beliefs(person, limit=2)
    told += [page, page.next is not None, memory.beliefs(person, limit=2, after=page.next)]
    decided = memory.decisions(person)
    told += [decided, memory.decision(decided[0].decision_id), memory.turn(receipt.turn_id)]
    told.append(memory.decisions(person, outcome="admit", limit=2))
    told.append(memory.diff(person, receipt.position))
    told.append(memory.why_not(person, "User lives in Faro"))
    told.append(
        memory.search(person, "where is home?", 3, by=LEA, options=SearchOptions(diversity=0.2))
    )
    told.append(memory.context(person, "what about home?", max_tokens=300, by=LEA))
    told += [memory.consent.list(person), memory.conflicts.list(person)]
    tool = next(each for each in memory.beliefs(person) if "unittest" in each.value)
    told.append(memory.revoke(tool.memory_id, by=LEA, note="asked to"))
    for wrong in (
        lambda: memory.turn("0" * 32),
        lambda: memory.decision("0" * 32),
        lambda: memory.beliefs(person, after="nonsense"),
        lambda: memory.record_turn(person, ""),
        lambda: memory.store(person, "x", attribute="", by=LEA),
        lambda: memory.consent.grant(person, "nonsense", by=LEA),
    ):
        with pytest.raises(CallerMistake) as raised:
            wrong()
        told.append(type(raised.value).__name__)
    told.append(memory.consent.withdraw(person, by=LEA))
    told += [memory.beliefs(person), memory.erase(person, by=LEA)]
    return told


_OWN = {
    "position", "positions", "recorded_at", "recorded_from", "recorded_to", "on", "at", "valid_at",
    "recorded_from_position", "recorded_to_position", "subject_ref", "proofs", "next", "arms",
    "score", "content_digest", "settled_at", "components", "citation", "event", "start", "end",
    "content", "messages", "confirmed_by", "agent", "tokens",
}  # fmt: skip
"""What differs between two ledgers that are told the same: positions, times, references; and the
agent, which a token names."""
_ID = re.compile(r"\b[0-9a-f]{12,64}\b")


def steady(value, person):
    """An answer without what differs between two ledgers."""
    if hasattr(value, "model_dump"):
        return {"kind": type(value).__name__, **steady(value.model_dump(), person)}
    if isinstance(value, dict):
        return {name: steady(each, person) for name, each in value.items() if name not in _OWN}
    if isinstance(value, list | tuple):
        return [steady(each, person) for each in value]
    if isinstance(value, str):
        return _ID.sub("ID", value.replace(person, "PERSON"))
    if isinstance(value, datetime):
        return value.date() if value.year == 2026 and value.month == 3 else "TIME"
    return round(value, 3) if isinstance(value, float) else value


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What an open ledger answers to the script."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("BELIEFLEDGER_SIGNING_KEY_FILE", raising=False)
        with open_memory(tmp_path_factory.mktemp("alone")) as embedded:
            return [steady(each, "one-person") for each in script(embedded, "one-person")]


def test_the_same_script_runs_against_both(alone, server, client, person):
    apart = [steady(each, person) for each in script(client, person)]
    assert len(alone) == len(apart) > 30
    different = [
        (number, difference(one, other))
        for number, (one, other) in enumerate(zip(alone, apart, strict=True))
        if one != other
    ]
    assert not different


def difference(one, other):
    """Where two answers differ first."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return next(
            (name, difference(one[name], other[name])) for name in one if one[name] != other[name]
        )
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return next(difference(a, b) for a, b in zip(one, other, strict=True) if a != b)
    return one, other


def test_both_clients_have_the_same_verbs_as_each_other_and_the_facade(server, person):
    verbs = {each for each in vars(Client) if not each.startswith("_")} - {"close", "subscribe"}
    assert verbs >= {"remember", "beliefs", "search", "context", "explain", "erase"}
    for verb in verbs:
        assert hasattr(beliefledger.MemoryLedger, verb), verb
        assert hasattr(beliefledger.AsyncClient, verb), verb

    token = server.token("bot", subjects=[person])

    async def day():
        async with connect_async(server.root, token=token) as memory:
            receipt, made = await memory.remember(person, "I live in Lisbon.")
            assert receipt.turn_id
            assert [each.outcome for each in made] == ["admit"]
            assert [each.grant_id != "" for each in await memory.consent.list(person)] == [True]
            assert await memory.conflicts.list(person) == []
            with pytest.raises(NotPermitted):
                await memory.subjects()
            return [each.text for each in await memory.beliefs()]

    assert asyncio.run(day()) == ["User lives in Lisbon"]


def test_a_list_that_is_wanted_as_a_whole_is_fetched_in_pages(client, person, monkeypatch):
    monkeypatch.setattr(questions, "MOST", 2)
    client.consent.grant(person, "consent")
    client.store_many(MemoryInput(person, str(n), f"number {n}") for n in range(5))
    assert [each.value for each in client.beliefs(person)] == list("01234")
    assert [each.claim for each in client.decisions(person)] == [
        f"number {n} is {n}" for n in range(5)
    ]
    assert len(client.beliefs(person, limit=3)) == 3
    client.store(person, "six", attribute="number", details=Details(metadata={"of": {"n": 6}}))
    assert [each.value for each in client.beliefs(person, metadata={"of": {"n": 6}})] == ["six"]
    assert client.beliefs(person, agent="nobody") == []


def test_errors_are_those_of_an_open_ledger(server, client, person):
    secret = "4111 1111 1111 1111"
    with pytest.raises(UnknownMemory, match="no such thing here"):
        client.explain("f" * 32)
    with pytest.raises(InvalidTurn) as raised:
        client.record_turn(person, "Hello.", said_at=f"yesterday {secret}")
    assert secret not in str(raised.value)
    with pytest.raises(InvalidQuery, match="limit"):
        client.beliefs(person, limit=10_000)
    with pytest.raises(InvalidQuery, match="reader is not taken"):
        client.search(person, "x", options=SearchOptions(reader="ben"))
    with pytest.raises(NotPermitted, match="the token says who acts"):
        client.store(person, "red", attribute="colour", by="somebody else")
    with pytest.raises(NotPermitted, match="which agent"):
        client.record_turn(person, "Hello.", agent="somebody else")
    with connect(server.root, token="blt_" + "x" * 43) as nobody, pytest.raises(NotPermitted):
        nobody.beliefs(person)


def test_what_a_context_cites_is_explained_and_nobody_else_s(server, client, person):
    client.remember(person, "I live in Lisbon.", consent="consent")
    [line] = client.context(person, "where do I live?", by=LEA).lines
    assert len(line.citation) == 10
    told = client.explain(line.citation)
    [evidence] = told.memory.evidence
    assert client.turn(evidence.turn_id[:10]).turn_id == evidence.turn_id
    assert told.memory.memory_id == line.id
    for few in (line.id[:9], "", "f" * 10, line.id + "0"):
        with pytest.raises(UnknownMemory):
            client.explain(few)
    other = f"{person}-other"
    with connect(server.root, token=server.token("other", subjects=[other])) as theirs:
        for each in (line.citation, line.id):
            with pytest.raises(UnknownMemory):
                theirs.explain(each)
    assert client.revoke(line.citation, by=LEA).memory_id == line.id


def test_tokens_do_not_travel_in_clear_nor_into_the_void(person):
    with pytest.raises(CallerMistake, match="https"):
        connect("http://memory.example.org", token="blt_x")
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with connect(url, token="blt_x", seconds=1) as memory, pytest.raises(BackendUnavailable):
        memory.beliefs(person)


def test_subscribing_goes_on_where_the_connection_broke(server, client, person):
    """Between client and server stands a proxy that cuts every second connection."""
    client.consent.grant(person, "consent")
    client.store(person, "0", attribute="number 0")
    auditor = server.token("auditor", role="auditor", subjects=[person], consent=None)
    with cutting(server.root) as proxy, connect(proxy.url, token=auditor, seconds=5) as reader:
        events = reader.subscribe(types=["memory.admitted.*"], subject=person, bodies=True)
        got = [next(events)]
        for number in range(1, 12):
            client.store(person, str(number), attribute=f"number {number}")
            got.append(next(events))
        assert proxy.cut > 3
    assert [each.body["memory"]["value"] for each in got] == [str(n) for n in range(12)]
    assert [each.position for each in got] == sorted({each.position for each in got})
    with connect(server.root, token=auditor) as reader:
        again = list(reader.subscribe(types=["memory.admitted.*"], bodies=True, follow=False))
        assert again == got

        async def all_of_them():
            async with connect_async(server.root, token=auditor) as other:
                events = other.subscribe(types=["memory.admitted.*"], bodies=True)
                return [await anext(events) for _ in got]

        assert asyncio.run(all_of_them()) == got


class cutting:  # noqa: N801
    """A proxy: every second connection is cut in its first event, the others soon after."""

    def __init__(self, root: str) -> None:
        host, port = root.removeprefix("http://").split(":")
        self._to = host, int(port)
        self._at = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._at.getsockname()[1]}"
        self.cut, self._number = 0, 0
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *_):
        self._at.close()

    def _accept(self) -> None:
        while True:
            try:
                taken, _ = self._at.accept()
            except OSError:
                return
            self._number += 1
            threading.Thread(target=self._pass, args=(taken, self._number), daemon=True).start()

    def _pass(self, taken: socket.socket, number: int) -> None:
        left = 900 + 137 * number if number % 2 else 6_000
        with taken, socket.create_connection(self._to) as server:
            server.sendall(taken.recv(65_536))
            while left > 0 and (some := server.recv(65_536)):
                try:
                    taken.sendall(some[:left])
                except OSError:
                    return
                left -= len(some)
            if left <= 0:
                self.cut += 1
