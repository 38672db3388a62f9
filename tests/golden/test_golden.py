"""What was released is read and written the same for ever.

A failure here means: give the event a new version and a step in `ledger.upcast` (or the slots a new
`SLOT_VERSION`), and leave the golden file as it is. `write.py` makes files for what is new.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest
import rfc8785

from beliefledger.ledger import canonical, codec, envelope, streams
from beliefledger.ledger.encryption import Sealer, SubjectKeys, clear
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.events import BY_NAME
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.store import Row
from beliefledger.ledger.upcast import STEPS

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("golden_write", HERE / "write.py")
golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(golden)

EVENTS = {path.name.removesuffix(".json"): path for path in (HERE / "events").glob("*.json")}
SLOTS = json.loads((HERE / "slots.json").read_text())
SEALED = json.loads((HERE / "sealed.json").read_text())


def read(name):
    parts = json.loads(EVENTS[name].read_text())
    return {part: None if text is None else text.encode() for part, text in parts.items()}


def stored(name, *, gone=False):
    parts = read(name)
    body = None if parts["body"] is None or gone else clear(parts["body"])
    return Row(1, envelope.stamp(parts["head"], golden.RECORDED_AT, parts["tail"]), body)


class Erased:
    """A vault in which everybody was erased."""

    def is_erased(self, _):
        return True


def test_every_event_has_a_golden_file():
    missing = BY_NAME.keys() - EVENTS.keys()
    assert not missing, f"run tests/golden/write.py for {sorted(missing)}"


def test_every_golden_file_is_of_an_event_that_is_read():
    assert EVENTS.keys() <= BY_NAME.keys() | STEPS.keys()


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_released_bytes_are_read(name):
    recorded = codec.unseal(stored(name), Erased())
    assert recorded.event is not None
    assert recorded.recorded_at == golden.RECORDED_AT
    assert recorded.type in BY_NAME


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_released_bytes_are_read_without_their_body(name):
    recorded = codec.unseal(stored(name, gone=True), Erased())
    assert (recorded.event is None) == (read(name)["body"] is not None)
    assert recorded.facts is not None


@pytest.mark.parametrize("name", sorted(EVENTS.keys() & BY_NAME.keys()))
def test_today_s_code_writes_the_released_bytes(name):
    event = codec.unseal(stored(name), Erased()).event
    again = golden.written(event)
    assert again == json.loads(EVENTS[name].read_text())


@pytest.mark.parametrize("name", sorted(EVENTS.keys() & BY_NAME.keys()))
def test_every_field_is_in_the_golden_file(name):
    parts = read(name)
    facts = json.loads(stored(name).envelope)["facts"]
    body = json.loads(parts["body"] or b"{}")
    kind = BY_NAME[name]
    later = kind.model_fields.keys() - facts.keys() - body.keys()
    assert facts.keys() == kind.FACTS - later
    assert body.keys() <= kind.model_fields.keys() - kind.FACTS
    assert all(kind.model_fields[each].exclude_if is not None for each in later), (
        "a released event cannot get another field, unless it is left out when it says nothing:"
        " give it a new version"
    )


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_released_envelopes_are_rfc_8785(name):
    written = stored(name).envelope
    assert rfc8785.dumps(json.loads(written)) == written


@pytest.mark.parametrize(("function", "words", "form"), SLOTS)
def test_canonical_forms_stay_as_they_are(function, words, form):
    assert golden.canonical_form(function, words) == form


def test_what_was_sealed_opens():
    keys = SubjectKeys.of(SEALED["subject_ref"], bytes.fromhex(SEALED["subject_key"]))
    address = Address("e" * 32, "turn.recorded.v1", "5" * 32, 7, "default", SEALED["subject_ref"])
    assert address.bytes().decode() == SEALED["bound_to"]
    assert keys.ids.hex() == SEALED["id_key"]
    opened = keys.bodies.open(bytes.fromhex(SEALED["sealed"]), address.bytes())
    assert opened.decode() == SEALED["words"]


def test_what_was_wrapped_opens():
    master = MasterKey.from_hex(SEALED["master_key"], "the golden file")
    assert master.id == SEALED["master_key_id"]
    key = Sealer(master.key).open(bytes.fromhex(SEALED["wrapped"]), SEALED["subject_ref"].encode())
    assert key.hex() == SEALED["subject_key"]


def test_stream_ids_stay_as_they_are():
    key = bytes.fromhex(SEALED["id_key"])
    assert SEALED["streams"] == {
        "policy default": streams.policy_stream("default"),
        "ops default": streams.ops_stream("default"),
        "recall": streams.recall_stream(SEALED["subject_ref"]),
        "turn given k": streams.turn_stream(key, "given\x1fk"),
        "entity user": streams.entity_stream(key, "user"),
        "belief user editor.theme": streams.belief_stream(key, "user", "editor.theme"),
        "memory 5… 0": streams.memory_id(key, "5" * 32, 0),
        "memory 5… 1 home": streams.memory_id(key, "5" * 32, 1, "home"),
        "tag topic work": streams.tag(key, "tag topic", "work"),
    }


def test_the_writer_adds_what_is_missing_and_never_changes_what_is_there(tmp_path):
    shutil.copytree(HERE / "events", tmp_path / "events")
    shutil.copy(HERE / "slots.json", tmp_path)
    (tmp_path / "events" / "turn.parked.v2.json").unlink()
    (tmp_path / "events" / "job.ran.v1.json").write_text("released long ago")
    lines = [["canonical_text", "Dark mode", "released long ago"], ["canonical_text", "A New one"]]
    (tmp_path / "slots.json").write_text(json.dumps(lines))
    assert golden.write(tmp_path) == ["turn.parked.v2", "canonical_text 'A New one'"]
    assert (tmp_path / "events" / "turn.parked.v1.json").read_bytes() == (
        EVENTS["turn.parked.v1"].read_bytes()
    )
    assert (tmp_path / "events" / "job.ran.v1.json").read_text() == "released long ago"
    assert json.loads((tmp_path / "slots.json").read_text()) == [
        ["canonical_text", "Dark mode", "released long ago"],
        ["canonical_text", "A New one", "new one"],
    ]
    assert golden.write(tmp_path) == []


def test_the_digest_of_a_golden_body_is_of_its_bytes():
    parts = read("turn.recorded.v1")
    assert canonical.digest(clear(parts["body"])).encode() in parts["head"]
