"""`beliefledger-verify`: what it says of real files, of altered ones, and without the ledger."""

from __future__ import annotations

import ast
import base64
import importlib
import json
import random
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

import tools.verifier
from beliefledger import open_memory
from ledger.proofs import merkle
from ledger.proofs.notes import Cosigner, Signer, issue, with_signatures
from tools.verifier import HOLDS, REFUTED, UNUSABLE, main

SOURCE = Path(tools.verifier.__file__)


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
            old = memory.sign_checkpoint()
            for n in range(300):
                memory.record_turn("ana", f"I like album {n}.")
            memory.sign_checkpoint()
            tree = memory.tree
            new = tree.extend(keep=True)
            cosigned = with_signatures(new, [witness.cosign(new, 1_800_000_000)])
            tree.tiles.keep_cosigned(cosigned.text)
            inclusion = memory.prove_inclusion(17)
            consistency = memory.prove_consistency(old.size)
            vkey, signer = memory.signing_key().verifier_keys[-1], tree.signer
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
    assert "YES" in out
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
    assert "YES" not in said(capsys)


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
    old = tools.verifier.Note.parse(json.loads(files.text("consistency.json"))["old"])
    forked = issue(files.signer.name, old.size, b"\x07" * 32, files.signer)
    path = change(files, "consistency.json", tmp_path, old=forked.text)
    assert main([path, "--key", files.vkey]) == REFUTED
    assert "does not lead to the old root" in said(capsys)
    both = {"new": forked.text, "old": files.text("checkpoint"), "hashes": []}
    path = change(files, "consistency.json", tmp_path, **both)
    assert main([path, "--key", files.vkey]) == REFUTED
    assert f"two histories of {old.size} events" in said(capsys)


def test_after_a_rotation_each_checkpoint_takes_its_own_key(files, tmp_path, capsys):
    new = Signer.generate(files.signer.name)
    note = tools.verifier.Note.parse(json.loads(files.text("consistency.json"))["new"])
    resigned = issue(note.origin, note.size, note.root, new)
    keys = [files.vkey, new.vkey]
    path = change(files, "consistency.json", tmp_path, new=resigned.text, verifier_keys=keys)
    assert main([path, "--key", files.vkey, "--key", new.vkey]) == HOLDS
    assert main([path, "--key", new.vkey]) == REFUTED
    assert main([path, "--key", files.vkey]) == REFUTED
    assert main([path]) == HOLDS


def test_a_key_of_another_log_does_not_vouch_for_this_one(files, tmp_path, capsys):
    other = Signer.generate("elsewhere.example/log")
    note = tools.verifier.Note.parse(files.text("checkpoint"))
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
    verifier = tools.verifier
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
    project = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, function = project["scripts"]["beliefledger-verify"].partition(":")
    assert getattr(importlib.import_module(module), function) is main


def test_a_public_key_that_is_no_point_verifies_nothing(files):
    key = tools.verifier.Key("a", b"", 1, b"\xff" * 32, "")
    assert not key.verify(b"\0" * 64, b"message")
    coded = base64.b64encode(b"\x01" + files.signer.verifier.public).decode()
    assert files.vkey.endswith(coded)
