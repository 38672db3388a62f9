"""Fifty people tell things that are marked and twenty-five are erased: nothing of these is found in
any file, table, dead row or write-ahead log, and all that the others said can still be read."""

from __future__ import annotations

import base64
import itertools
import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from finding import changed_since, found_in, held, times
from own_postgres import OwnPostgres

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.ledger.encryption import derive
from beliefledger.ledger.errors import NotPermitted
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.postgres.schema import vault_schema
from beliefledger.ledger.postgres.server import PostgresURL

TEXTS = json.loads((Path(__file__).parents[1] / "data" / "presidio_pii.json").read_text("utf-8"))
PEOPLE = 50
MASTER = bytes(range(32)).hex()


@dataclass
class Person:
    """Somebody, and every word of theirs that must not be found once they are erased."""

    name: str
    session: str
    texts: list[str]
    spans: list[str]
    claim: str
    value: str
    readable: list[str] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        return [self.name, self.session, self.claim, self.value, *self.readable]


def people() -> list[Person]:
    each = len(TEXTS) // PEOPLE
    found = []
    for number in range(PEOPLE):
        theirs = TEXTS[number * each : (number + 1) * each]
        found.append(
            Person(
                name=f"canary-{number:02}-{number * 7919:06x}@example.org",
                session=f"session-of-canary-{number:02}",
                texts=[text["text"] for text in theirs],
                spans=[span["value"] for text in theirs for span in text["spans"]],
                claim=f"Canary {number:02} eats zwieback{number:02} at dawn",
                value=f"zwieback{number:02}",
            )
        )
    return found


def tell(memory, everybody: list[Person]) -> None:
    for person in everybody:
        memory.consent.grant(person.name, "consent", note=f"noted of {person.name}")
        for text in person.texts:
            memory.record_turn(person.name, text, session=person.session, speaker=person.name)
        memory.store(
            person.name,
            person.value,
            attribute="breakfast",
            text=person.claim,
            details=Details(session=person.session),
        )
    memory.process()
    memory.status()
    for person in everybody:
        memory.search(person.name, f"what does {person.value} mean?")
        said = " ".join(words(memory, person))
        # Numbers of cards, accounts and the like are taken out before anything is written.
        person.readable = [span for span in person.spans if span in said]
    kept = sum(len(person.readable) for person in everybody)
    assert kept > 0.9 * sum(len(person.spans) for person in everybody)


def words(memory, person: Person) -> list[str]:
    ref = memory._log.subject(person.name)
    return [
        each.event.content
        for each in memory._log.of_subject(ref)
        if isinstance(each.event, TurnRecorded)
    ]


def secrets_of(memory, person: Person) -> dict[str, bytes]:
    """The key in each form in which it could have been written."""
    vault = memory._log.vault
    key = vault._key(vault.find("default", person.name)).key
    return {
        "key": key,
        "key of bodies": derive(key, "bodies"),
        "key of ids": derive(key, "ids"),
    }


def row_of(memory, person: Person) -> list[bytes]:
    """What the vault has of them: the key, wrapped, and the id, sealed under that key."""
    ref = memory._log.subject(person.name)
    return next([each[4], each[5]] for each in memory._log.vault.dump().keys if each[0] == ref)


def forms(texts: list[str], secrets: list[bytes]) -> list[bytes]:
    plain = [text.encode() for text in texts]
    return [
        *plain,
        *(text.lower().encode() for text in texts),
        *(text.encode("utf-16-le") for text in texts),
        *(each.hex().encode() for each in (*plain, *secrets)),
        *secrets,
        *(each.hex().upper().encode() for each in secrets),
        *(base64.b64encode(each)[:-4] for each in secrets),
    ]


@dataclass
class Kept:
    """A ledger, and every file in which anything of it may lie."""

    place: str
    files: object
    checkpoint: object = lambda: None


@pytest.fixture(scope="module")
def own_postgres():
    server = OwnPostgres()
    yield server
    server.close()


_numbers = itertools.count(1)


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request, tmp_path, monkeypatch) -> Kept:
    if request.param == "sqlite":
        home = tmp_path / "ledger"
        return Kept(str(home), lambda: [path for path in home.rglob("*") if path.is_file()])
    server = request.getfixturevalue("own_postgres")

    def files():
        return [path for path in server._data.rglob("*") if path.is_file()]

    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", MASTER)
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))

    def checkpoint():
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CHECKPOINT")

    checkpoint()
    before = times(files())
    return Kept(
        f"{server.url}&schema=canaries_{next(_numbers)}",
        lambda: changed_since(files(), before),
        checkpoint,
    )


def test_the_search_finds_what_is_there_wherever_it_lies(tmp_path):
    dice = random.Random(3)
    words = [dice.randbytes(dice.randint(2, 9)) for _ in range(300)]
    words += [word[:5] + b"\x00\n" for word in words[:50]]
    data = [dice.randbytes(50_000), b"".join(dice.sample(words, 40)), words[7], b"\x01", b""]
    for each in data:
        assert held(each, words) == sorted({word for word in words if word in each})
    assert sum(len(held(each, words)) for each in data) > 40
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"some words")
    before = times(tmp_path.iterdir())
    new.write_bytes(b"other words")
    assert changed_since([old, new], before) == [new]
    assert found_in([old, new, tmp_path / "gone"], [b"words", b"other"]) == [
        "b'words' in old", "b'other' in new", "b'words' in new",
    ]  # fmt: skip


def test_of_fifty_people_half_are_erased_and_nothing_of_theirs_is_found(kept, tmp_path):
    everybody = people()
    with open_memory(kept.place) as memory:
        tell(memory, everybody)
        erased, others = everybody[::2], everybody[1::2]
        secrets = [each for person in erased for each in secrets_of(memory, person).values()]
        rows = [each for person in erased for each in row_of(memory, person)]
        refs = [memory._log.subject(person.name) for person in erased]
        sealed = [
            row.body
            for row in memory._log.raw()
            if row.body and any(ref.encode() in row.envelope for ref in refs)
        ]
        assert len(sealed) > 25 * 6
        kept.checkpoint()
        assert found_in(kept.files(), rows), "or else the search finds nothing"
        for person in erased:
            answer = memory.erase(person.name, by="the officer")
            assert answer.bodies > 6
        told = {
            record.erasure: record for record in memory.erasure.list() if record.reach == "subject"
        }
        assert len(told) == len(erased)
        assert all(record.completed_at is not None for record in told.values())

        for person in others:
            said = " ".join(words(memory, person))
            assert [span for span in person.readable if span not in said] == []
            assert [belief.value for belief in memory.beliefs(person.name)].count(person.value) == 1
        shown = exported(memory)
        assert [each for person in erased for each in person.words if each in shown] == []
        for person in erased:
            with pytest.raises(NotPermitted):
                memory.record_turn(person.name, person.texts[0], session=person.session)
        assert memory.proofs.verify().ok
        kept.checkpoint()
        wanted = forms([each for person in erased for each in person.words], secrets)
        assert found_in(kept.files(), wanted) == []
        assert kept_rows(kept, refs) == {}
    kept.checkpoint()
    assert found_in(kept.files(), wanted) == []
    if "postgresql" not in kept.place:
        assert found_in(kept.files(), [*sealed, *rows]) == []
    else:  # the server's own log has them, wrapped and sealed under keys that are gone
        heap = [path for path in kept.files() if "pg_wal" not in path.parts]
        assert found_in(heap, rows) == []


def exported(memory) -> str:
    """All that a client can be shown."""
    shown = [
        memory.beliefs(),
        memory.decisions(),
        memory.conflicts.loops(),
        memory.conflicts.list(),
    ]
    shown += [memory.recalls.list(), memory.erasure.list(), memory.status()]
    with memory.subscribe(follow=False) as events:
        shown += [each.event for each in events]
    return repr(shown)


def kept_rows(kept: Kept, refs: list[str]) -> dict[str, int]:
    """On a Postgres, rows of keys and of bodies that are there of these people, dead ones too."""
    if "postgresql" not in kept.place:
        return {}
    url = PostgresURL.parse(kept.place)
    with psycopg.connect(url.conninfo, autocommit=True) as connection:
        counts = {
            "keys": connection.execute(
                f"SELECT count(*) FROM {vault_schema(url.schema)}.keys"
                " WHERE subject_ref = ANY (%s)",
                (refs,),
            ).fetchone()[0],
            "bodies": connection.execute(
                f"SELECT count(*) FROM {url.schema}.bodies WHERE position IN"
                f" (SELECT position FROM {url.schema}.history WHERE subject_ref = ANY (%s))",
                (refs,),
            ).fetchone()[0],
        }
    return {name: count for name, count in counts.items() if count}


def test_less_than_a_person_leaves_no_trace_either(kept):
    everybody = people()[:6]
    with open_memory(kept.place) as memory:
        tell(memory, everybody)
        person, other = everybody[0], everybody[1]
        turn = next(
            each
            for each in memory._log.of_subject(memory._log.subject(person.name))
            if isinstance(each.event, TurnRecorded) and person.readable[0] in each.event.content
        )
        gone = [span for span in person.readable if span in turn.event.content]
        stays = [span for span in person.readable if span not in gone]
        positions = memory.erasure.preview(person.name, turn=turn.stream).positions
        assert turn.position in positions
        sealed = [row.body for row in memory._log.store.read_at(positions) if row.body]
        memory.erase(person.name, turn=turn.stream, by="the officer")
        said = " ".join(words(memory, person))
        assert [span for span in gone if span in said] == []
        assert [span for span in stays if span not in said] == []
        assert [span for span in other.readable if span not in " ".join(words(memory, other))] == []
        shown = exported(memory)
        assert [span for span in gone if span in shown] == []
        memory.erase(person.name, session=person.session, by="the officer")
        assert words(memory, person) == []
        shown = exported(memory)
        assert [each for each in (person.claim, *person.readable) if each in shown] == []
        assert all(view.same for view in memory.operations.rebuild(verify=True))
        assert memory.proofs.verify().ok
        kept.checkpoint()
        assert found_in(kept.files(), forms([person.claim, *person.readable], [])) == []
    if "postgresql" not in kept.place:
        assert found_in(kept.files(), sealed) == []
