"""`beliefledger-verify`: what it says of real files, of altered ones, and without the ledger."""

from __future__ import annotations

import ast
import base64
import importlib
import json
import os
import random
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

import beliefledger.tools.verifier
from beliefledger import open_memory
from beliefledger.answers import InclusionProof
from beliefledger.ledger.proofs import merkle
from beliefledger.ledger.proofs.notes import (
    Checkpoint,
    Cosigner,
    NoteInvalid,
    Signer,
    issue,
    with_signatures,
)
from beliefledger.proofs.checkpoints import as_base64, handovers
from beliefledger.tools.verifier import HOLDS, REFUTED, UNUSABLE, main

SOURCE = Path(beliefledger.tools.verifier.__file__)


@dataclass
class Files:
    directory: Path
    vkey: str
    signer: Signer
    witness: Cosigner

    def path(self, name: str) -> str:
        return str(self.directory / name)

    def text(self, name: str) -> str:
        return (self.directory / name).read_text("utf-8")


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Files:
    """Proofs and a checkpoint of a real ledger, cosigned."""
    directory = tmp_path_factory.mktemp("files")
    witness = Cosigner.generate("witness.example")
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("BELIEFLEDGER_MASTER_KEY", raising=False)
        with open_memory(directory / "ledger") as memory:
            memory.remember("ana", "I live in Málaga.", consent="consent")
            old = memory.proofs.checkpoint()
            for n in range(300):
                memory.record_turn("ana", f"I like album {n}.")
            memory.proofs.checkpoint()
            tree = memory.proofs.tree
            new = tree.extend(keep=True)
            cosigned = with_signatures(new, [witness.cosign(new, 1_800_000_000)])
            tree.tiles.keep_cosigned(cosigned.text)
            inclusion = memory.proofs.inclusion(17)
            consistency = memory.proofs.consistency(old.size)
            vkey, signer = memory.proofs.signing_key().verifier_keys[-1], tree.signer
            assert signer is not None
    for name, text in {
        "inclusion.json": inclusion.text(),
        "consistency.json": consistency.text(),
        "checkpoint": old.text,
        "cosigned": cosigned.text,
    }.items():
        (directory / name).write_bytes(text.encode())
    return Files(directory, vkey, signer, witness)


NAMES = ["inclusion.json", "consistency.json", "cosigned"]


def said(capsys) -> str:
    return capsys.readouterr().out


@pytest.mark.parametrize("name", [*NAMES, "checkpoint"])
def test_a_file_of_a_real_ledger_holds(files, name, capsys):
    assert main([files.path(name), "--key", files.vkey]) == HOLDS
    out = said(capsys)
    assert "YES:" in out
    assert "What this cannot prove" in out
    assert "whose key it is" not in out
    assert ("has a signature by witness.example" in out) is (name != "checkpoint")


@pytest.mark.parametrize("name", NAMES)
def test_a_witness_is_looked_for_when_its_key_is_given(files, name, capsys):
    given = [files.path(name), "--key", files.vkey]
    assert main([*given, "--witness-key", files.witness.vkey]) == HOLDS
    out = said(capsys)
    assert "cosigned by the witness witness.example, 2027-01-15 08:00:00 UTC" in out
    assert "that everybody is shown this same history" not in out
    other = Cosigner.generate("witness.example")
    assert main([*given, "--witness-key", other.vkey]) == REFUTED
    assert "not cosigned by the witness" in said(capsys)


def test_a_checkpoint_that_no_witness_has_seen_is_refused_when_one_is_asked_for(files, capsys):
    given = [files.path("checkpoint"), "--key", files.vkey, "--witness-key", files.witness.vkey]
    assert main(given) == REFUTED
    assert "not cosigned" in said(capsys)


@pytest.mark.parametrize("name", ["inclusion.json", "consistency.json"])
def test_without_a_key_the_files_word_for_it_is_told(files, name, capsys):
    assert main([files.path(name)]) == HOLDS
    out = said(capsys)
    assert files.vkey in out
    assert "whose key it is: it stands in the file itself" in out


def test_a_checkpoint_alone_cannot_be_checked_without_a_key(files, capsys):
    assert main([files.path("checkpoint")]) == UNUSABLE
    assert "give --key" in said(capsys)


@pytest.mark.parametrize("name", NAMES)
def test_another_key_is_not_good_enough(files, name, capsys):
    other = Signer.generate(files.signer.name)
    assert main([files.path(name), "--key", other.vkey]) == REFUTED
    assert "not signed by a key that is trusted" in said(capsys)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(60))
def test_one_changed_character_is_never_a_yes(files, name, seed, tmp_path, capsys):
    chance = random.Random(seed)
    data = bytearray((files.directory / name).read_bytes())
    at = chance.randrange(len(data))
    data[at] = chance.choice([each for each in b'A9z +/"\n,}{' if each != data[at]])
    changed = tmp_path / "changed"
    changed.write_bytes(data)
    given = [str(changed), "--key", files.vkey, "--witness-key", files.witness.vkey]
    assert main(given) in {REFUTED, UNUSABLE}
    assert "YES:" not in said(capsys)  # a signature may have the letters


def change(files, name, tmp_path, **fields):
    """The file with other fields, written as files are."""
    document = json.loads(files.text(name)) | fields
    path = tmp_path / name
    path.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")
    return str(path)


def test_an_event_at_another_position_is_refused(files, tmp_path, capsys):
    path = change(files, "inclusion.json", tmp_path, position=18)
    assert main([path, "--key", files.vkey]) == REFUTED
    assert "is not what the log has at position 18" in said(capsys)


def test_an_envelope_with_another_fact_is_refused(files, tmp_path, capsys):
    envelope = json.loads(json.loads(files.text("inclusion.json"))["envelope"])
    envelope["actor"] = "somebody else"
    text = json.dumps(envelope, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    path = change(files, "inclusion.json", tmp_path, envelope=text)
    assert main([path, "--key", files.vkey]) == REFUTED
    assert "is not what the log has" in said(capsys)


@pytest.mark.parametrize("name", ["inclusion.json", "consistency.json"])
@pytest.mark.parametrize("how", ["one less", "one more", "none"])
def test_a_proof_of_another_length_is_refused(files, name, how, tmp_path, capsys):
    hashes = json.loads(files.text(name))["hashes"]
    other = {"one less": hashes[:-1], "one more": [*hashes, hashes[0]], "none": []}[how]
    path = change(files, name, tmp_path, hashes=other)
    assert main([path, "--key", files.vkey]) == REFUTED
    assert "proof" in said(capsys)


def test_two_histories_of_one_size_are_not_consistent(files, tmp_path, capsys):
    old = beliefledger.tools.verifier.Note.parse(json.loads(files.text("consistency.json"))["old"])
    forked = issue(files.signer.name, old.size, b"\x07" * 32, files.signer)
    path = change(files, "consistency.json", tmp_path, old=forked.text)
    assert main([path, "--key", files.vkey]) == REFUTED
    assert "does not lead to the old root" in said(capsys)
    both = {"new": forked.text, "old": files.text("checkpoint"), "hashes": []}
    path = change(files, "consistency.json", tmp_path, **both)
    assert main([path, "--key", files.vkey]) == REFUTED
    assert f"two histories of {old.size} events" in said(capsys)


# After the key was changed


@dataclass
class Rotated:
    """A ledger whose key was changed, closed by now; sizes of its checkpoints before and after."""

    old: Signer
    new: Signer
    sizes: list[int]
    tree: object

    def inclusion(self, position: int, size: int) -> dict:
        """A proof in the checkpoint of this size."""
        tree = self.tree
        [row] = tree._store.read_at([position])
        proof = InclusionProof(
            origin=tree.origin,
            position=position,
            envelope=row.envelope.decode(),
            hashes=as_base64(tree.inclusion(position, size)),
            checkpoint=tree.kept(size).text,
            verifier_keys=tuple(each.vkey for each in tree.verifiers()),
            handovers=handovers(tree, size),
        )
        return json.loads(proof.text())


@pytest.fixture(scope="module")
def rotated(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("BELIEFLEDGER_MASTER_KEY", raising=False)
        with open_memory(tmp_path_factory.mktemp("rotated") / "ledger") as memory:
            memory.remember("ana", "I live in Porto.", consent="consent")
            sizes = [memory.proofs.checkpoint().size]
            memory.record_turn("ana", "I use pytest.")
            sizes.append(memory.proofs.checkpoint().size)
            old = memory.proofs.tree.signer
            memory.proofs.rotate_signing_key(by="ops")
            memory.record_turn("ana", "I use vim.")
            sizes.append(memory.proofs.checkpoint().size)
            memory.record_turn("ana", "I use ruff.")
            sizes.append(memory.proofs.checkpoint().size)
            yield Rotated(old, memory.proofs.tree.signer, sizes, memory.proofs.tree), memory


def written(document, tmp_path):
    path = tmp_path / "file.json"
    path.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")
    return str(path)


def test_the_newest_key_alone_is_enough_for_what_the_older_one_signed(rotated, tmp_path, capsys):
    told, memory = rotated
    first, second, third, fourth = told.sizes
    for sizes in [(first, second), (first, third), (third, fourth), (first, None)]:
        path = written(json.loads(memory.proofs.consistency(*sizes).text()), tmp_path)
        assert main([path, "--key", told.new.vkey]) == HOLDS, said(capsys)
        assert main([path]) == HOLDS
        assert f"the file lists a key that was not given: {told.old.vkey}" in said(capsys)
    for size in told.sizes:
        path = written(told.inclusion(2, size), tmp_path)
        assert main([path, "--key", told.new.vkey]) == HOLDS
        assert ("which handed over to key" in said(capsys)) is (size <= second)


def test_a_key_counts_no_further_than_where_it_handed_over(rotated, tmp_path, capsys):
    told, memory = rotated
    fourth = told.sizes[3]
    note = told.tree.kept(fourth)
    late = issue(note.origin, note.size, note.root, told.old).text
    path = written(told.inclusion(2, fourth) | {"checkpoint": late}, tmp_path)
    keys = ["--key", told.old.vkey, "--key", told.new.vkey]
    for given in (keys[:2], keys[2:], keys, []):
        assert main([path, *given]) == REFUTED
        assert "which had handed over before" in said(capsys)
    document = json.loads(memory.proofs.consistency(told.sizes[2], fourth).text())
    old = told.tree.kept(told.sizes[2])
    document["old"] = issue(old.origin, old.size, old.root, told.old).text
    assert main([written(document, tmp_path), *keys]) == REFUTED
    assert "which had handed over before" in said(capsys)


def test_a_stranger_cannot_make_a_key_of_theirs_an_older_one_of_the_ledger(
    rotated, tmp_path, capsys
):
    """A signature can be added to any checkpoint. It hands nothing over: the head that a key not
    given signed must also be a part of what the trusted one did."""
    told, _ = rotated
    note = told.tree.kept(told.sizes[3])
    theirs = Signer.generate(told.new.name)
    handover = with_signatures(note, [theirs.sign(note.body)])
    document = told.inclusion(2, told.sizes[3])
    forged = json.loads(document["envelope"]) | {"actor": "somebody else"}
    text = json.dumps(forged, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    document |= {
        "envelope": text,
        "position": 1,
        "hashes": [],
        "checkpoint": issue(note.origin, 1, merkle.leaf_hash(text.encode()), theirs).text,
        "verifier_keys": [theirs.vkey, told.new.vkey],
    }
    for hashes in ([], list(as_base64(told.tree.consistency(1, note.size)))):
        document["handovers"] = [{"note": handover.text, "hashes": hashes}]
        assert main([written(document, tmp_path), "--key", told.new.vkey]) == REFUTED
        assert "proof" in said(capsys)


@pytest.mark.parametrize(
    "how", ["left out", "one key's", "another's", "a field more", "not proved"]
)
def test_a_handover_has_to_be_one(rotated, how, tmp_path, capsys):
    told, _ = rotated
    document = told.inclusion(2, told.sizes[0])
    [handover] = document["handovers"]
    note = Checkpoint.parse(handover["note"])
    other = Signer.generate("elsewhere.example/log")
    made = {
        "left out": [],
        "one key's": [handover | {"note": issue(note.origin, note.size, note.root, told.new).text}],
        "another's": [handover | {"note": issue(other.name, note.size, note.root, other).text}],
        "a field more": [handover | {"by": "ops"}],
        "not proved": [handover | {"hashes": handover["hashes"][:-1]}],
    }[how]
    path = written(document | {"handovers": made}, tmp_path)
    assert main([path, "--key", told.new.vkey]) == REFUTED
    assert main([written(document, tmp_path), "--key", told.new.vkey]) == HOLDS


def test_a_key_of_another_log_does_not_vouch_for_this_one(files, tmp_path, capsys):
    other = Signer.generate("elsewhere.example/log")
    note = beliefledger.tools.verifier.Note.parse(files.text("checkpoint"))
    signed = tmp_path / "signed"
    signed.write_text(issue(note.origin, note.size, note.root, other).text)
    assert main([str(signed), "--key", other.vkey]) == REFUTED
    assert "signed by a key of elsewhere.example/log" in said(capsys)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"{}",
        b"[1, 2]",
        b'{"format": "beliefledger.inclusion.v2"}',
        b'{"format": 1.5}',
        b"\xff\xfe",
        b"{" * 100_000,
    ],
)
def test_what_is_none_of_our_files_cannot_be_checked(data, tmp_path, capsys):
    path = tmp_path / "file"
    path.write_bytes(data)
    assert main([str(path)]) == UNUSABLE
    assert "CANNOT BE CHECKED" in said(capsys)


def test_a_file_that_is_not_there_cannot_be_checked(tmp_path, capsys):
    assert main([str(tmp_path / "nowhere")]) == UNUSABLE


@pytest.mark.parametrize("option", ["--key", "--witness-key"])
def test_a_key_that_is_none_is_told(files, option, capsys):
    assert main([files.path("inclusion.json"), option, "no+key+here"]) == UNUSABLE
    assert option in said(capsys)
    wrong_kind = files.witness.vkey if option == "--key" else files.vkey
    assert main([files.path("inclusion.json"), option, wrong_kind]) == UNUSABLE


@pytest.mark.parametrize(
    "fields",
    [
        {"hashes": "none"},
        {"statement": "Everything was forgotten."},
        {"handovers": None},
        {"hashes": ["AAAA"]},
        {"hashes": [7]},
        {"position": "17"},
        {"position": True},
        {"position": 0},
        {"position": 10**30},
        {"envelope": "{}"},
        {"envelope": "\ud800"},
        {"checkpoint": "a\n\n— b c\n"},
        {"checkpoint": 5},
        {"verifier_keys": {}},
        {"verifier_keys": ["x"]},
        {"origin": None},
        {"origin": "another/log"},
    ],
)
def test_a_malformed_proof_is_a_no_and_never_a_crash(files, fields, tmp_path, capsys):
    path = change(files, "inclusion.json", tmp_path, **fields)
    assert main([path, "--key", files.vkey]) == REFUTED
    assert "NO: " in said(capsys)


def test_a_consistency_proof_has_its_fields_and_no_others(files, tmp_path, capsys):
    path = change(files, "consistency.json", tmp_path, subject="ana")
    assert main([path, "--key", files.vkey]) == REFUTED
    assert "subject" in said(capsys)


def test_a_key_that_the_file_lists_and_nobody_gave_is_told(files, tmp_path, capsys):
    other = Signer.generate(files.signer.name)
    assert main([files.path("inclusion.json"), "--key", files.vkey, "--key", other.vkey]) == HOLDS
    assert f"not one that the file lists: {other.vkey}" in said(capsys)
    path = change(files, "inclusion.json", tmp_path, verifier_keys=[files.vkey, other.vkey])
    assert main([path, "--key", files.vkey]) == REFUTED
    assert f"was not given: {other.vkey}" in said(capsys)


LINE = "— x/{} " + base64.b64encode(bytes(68)).decode()


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ("\nhello\n", []),
        ("a\tb\n", []),
        ("\x1b[2J\n", []),
        ("", [LINE.format(n) for n in range(100)]),
        ("", [LINE.format("a+b")]),
        ("", [LINE.format("a\tb")]),
        ("", [LINE.format("a\u2003b")]),
        ("", [""]),
    ],
)
def test_a_note_that_the_ledger_refuses_is_refused_here(files, more, lines, tmp_path, capsys):
    note = beliefledger.tools.verifier.Note.parse(files.text("checkpoint"))
    body = note.body.decode() + more
    text = "".join(f"{each}\n" for each in [body, files.signer.sign(body), *lines])
    path = tmp_path / "note"
    path.write_bytes(text.encode())
    with pytest.raises(NoteInvalid):
        Checkpoint.parse(text)
    assert main([str(path), "--key", files.vkey]) == REFUTED


@pytest.mark.parametrize(
    ("more", "lines"), [("hello\n", []), ("", [LINE.format(n) for n in range(99)])]
)
def test_a_note_that_the_ledger_takes_is_taken_here(files, more, lines, tmp_path, capsys):
    for size in (7, 10**18):
        body = f"{files.signer.name}\n{size}\n{base64.b64encode(bytes(32)).decode()}\n{more}"
        text = "".join(f"{each}\n" for each in [body, files.signer.sign(body), *lines])
        Checkpoint.parse(text)
        (tmp_path / "note").write_bytes(text.encode())
        assert main([str(tmp_path / "note"), "--key", files.vkey]) == HOLDS


def test_a_tree_of_no_events_has_one_root(files, tmp_path, capsys):
    for root, verdict in ((merkle.EMPTY_ROOT, HOLDS), (bytes(32), REFUTED)):
        (tmp_path / "note").write_text(issue(files.signer.name, 0, root, files.signer).text)
        assert main([str(tmp_path / "note"), "--key", files.vkey]) == verdict


def test_a_key_that_is_not_text_cannot_be_used(files, capsys):
    public = base64.b64encode(b"\x01" + bytes(32)).decode()
    for option in ("--key", "--witness-key"):
        given = [files.path("inclusion.json"), option, f"\udcff\udcfe+00000000+{public}"]
        assert main(given) == UNUSABLE
        assert option in said(capsys)


@pytest.mark.parametrize("depth", [300, 900, 980, 2_000, 200_000])
def test_what_is_nested_deep_is_a_no_and_never_a_crash(depth, tmp_path, capsys):
    path = tmp_path / "deep"
    nested = "[" * depth + "]" * depth
    path.write_text('{\n  "format": "beliefledger.inclusion.v1",\n  "x": ' + nested + "\n}\n")
    assert main([str(path)]) in {REFUTED, UNUSABLE}


def test_whoever_stops_reading_gets_the_answer_and_no_traceback(files):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = subprocess.run(
            [sys.executable, SOURCE, files.path("inclusion.json"), "--key", files.vkey],
            stdout=writer, stderr=subprocess.PIPE, check=False, timeout=60,
        )  # fmt: skip
    finally:
        os.close(writer)
    assert (result.returncode, result.stderr) == (HOLDS, b"")


def test_control_characters_of_a_file_do_nothing_to_a_terminal(files, tmp_path, capsys):
    path = change(files, "inclusion.json", tmp_path, origin="\x1b[2J")
    assert main([path, "--key", files.vkey]) == REFUTED
    assert "\x1b" not in said(capsys)


# The trees of all small sizes, against the other implementation


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 13, 32, 33])
def test_it_agrees_with_the_tree_on_every_proof(size):
    leaves = [merkle.leaf_hash(str(n).encode()) for n in range(size)]

    def node(level, index):
        return merkle.root_of(leaves[index << level : (index + 1) << level])

    root = merkle.root_of(leaves)
    verifier = beliefledger.tools.verifier
    for index in range(size):
        proof = merkle.inclusion_proof(index, size, node)
        assert verifier.root_by_inclusion(index, size, leaves[index], proof) == root
    for old in range(1, size):
        proof, old_root = merkle.consistency_proof(old, size, node), merkle.root_of(leaves[:old])
        assert verifier.roots_by_consistency(old, size, old_root, proof) == (old_root, root)


# Alone


def test_it_imports_nothing_but_the_standard_library_and_cryptography():
    names = set()
    for each in ast.walk(ast.parse(SOURCE.read_text("utf-8"))):
        if isinstance(each, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in each.names}
        elif isinstance(each, ast.ImportFrom):
            assert not each.level
            names.add(str(each.module).partition(".")[0])
    assert names - set(sys.stdlib_module_names) == {"cryptography"}


def test_it_runs_as_a_file_of_its_own_away_from_everything(files, tmp_path):
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(SOURCE, alone / "check.py")
    for name in NAMES:
        shutil.copy(files.path(name), alone / name)

    def run(*words, typed=None):
        return subprocess.run(
            [sys.executable, "-I", "check.py", *words],
            cwd=alone, input=typed, check=False, capture_output=True, timeout=60,
            env={"PYTHONIOENCODING": "ascii"},
        )  # fmt: skip

    for name in NAMES:
        result = run(name, "--key", files.vkey)
        assert (result.returncode, result.stderr) == (HOLDS, b"")
    data = (alone / "inclusion.json").read_bytes()
    assert run("-", typed=data).returncode == HOLDS
    assert run("-", typed=data.replace(b'"position": 17', b'"position": 16')).returncode == REFUTED


def test_it_is_shipped_as_a_program():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]
    module, _, function = project["scripts"]["beliefledger-verify"].partition(":")
    assert getattr(importlib.import_module(module), function) is main


def test_a_public_key_that_is_no_point_verifies_nothing(files):
    key = beliefledger.tools.verifier.Key("a", b"", 1, b"\xff" * 32, "")
    assert not key.verify(b"\0" * 64, b"message")
    coded = base64.b64encode(b"\x01" + files.signer.verifier.public).decode()
    assert files.vkey.endswith(coded)
