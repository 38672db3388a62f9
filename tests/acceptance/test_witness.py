"""A witness, as a process of its own: what it cosigns, what it refuses, and what it remembers; and
ledgers that were set back, split or rewritten, which it keeps from being opened."""

from __future__ import annotations

import base64
import json
import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import psycopg
import pytest
from typer.testing import CliRunner

from beliefledger import open_memory
from ledger.errors import (
    BackendUnavailable,
    BehindWitness,
    CallerMistake,
    LogCorrupted,
    NotPermitted,
    SplitView,
)
from ledger.proofs.merkle import EMPTY_ROOT, consistency_proof, leaf_hash, root_of
from ledger.proofs.notes import (
    Checkpoint,
    CosignatureVerifier,
    Signer,
    check,
    issue,
    with_signatures,
)
from tools.cli import app

LEAVES = [leaf_hash(b"%d" % number) for number in range(600)]
OTHERS = [leaf_hash(b"not %d" % number) for number in range(600)]


class Running:
    """A witness that was started."""

    def __init__(self, store, *words):
        command = [sys.executable, "-m", "beliefledger", "witness", "serve", "--json"]
        self.store = store
        self.process = subprocess.Popen(
            [*command, "--store", store, "--listen", "127.0.0.1:0", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        told = json.loads(line)
        self.url, self.vkey, self.logs = told["url"], told["verifier_key"], told["logs"]

    def post(self, body):
        if isinstance(body, str):
            body = body.encode()
        with httpx2.Client(trust_env=False) as client:
            return client.post(f"{self.url}/add-checkpoint", content=body)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(30)
        said = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return said


@pytest.fixture
def signer():
    """The key of a log that no other test has."""
    return Signer.generate(f"example.org/{secrets.token_hex(4)}")


@pytest.fixture
def serve(tmp_path):
    started = []

    def start(*words, store=None):
        started.append(Running(store or tmp_path / "witness", *words))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.end(signal.SIGKILL)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    running = Running(tmp_path_factory.mktemp("shared") / "witness")
    yield running
    running.end(signal.SIGKILL)


@pytest.fixture
def witness(shared, signer):
    """A witness that knows the log. It runs on for other tests."""
    cli("add-log", signer.vkey, "--store", shared.store)
    return shared


def head(signer, size, leaves=LEAVES):
    return issue(signer.name, size, root_of(leaves[:size]), signer)


def proof(old, new, leaves=LEAVES):
    def node(level, index):
        return root_of(leaves[index << level : (index + 1) << level])

    return consistency_proof(old, new, node)


def request(old, checkpoint, hashes=()):
    lines = [f"old {old}", *(base64.b64encode(each).decode() for each in hashes)]
    return "\n".join(lines) + "\n\n" + checkpoint.text


def grow(witness, signer, old, new, leaves=LEAVES):
    return witness.post(request(old, head(signer, new, leaves), proof(old, new, leaves)))


def cli(*words, code=0):
    result = CliRunner().invoke(app, ["witness", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, (words, result.stdout, result.stderr)
    return result


def shown(witness, signer):
    """What `show` tells of a log."""
    result = CliRunner().invoke(app, ["witness", "show", "--store", str(witness.store), "--json"])
    logs = json.loads(result.stdout)["logs"]
    assert result.exit_code == (3 if any(each["split_view"] for each in logs) else 0)
    [log] = [each for each in logs if each["origin"] == signer.name]
    return log


# What it cosigns


def test_it_cosigns_the_first_checkpoint_and_each_that_goes_on(witness, signer):
    verifier = CosignatureVerifier.parse(witness.vkey)
    old = 0
    for new in (0, 1, 2, 5, 8, 8, 21, 300, 600):
        before = int(time.time())
        answer = grow(witness, signer, old, new)
        assert answer.status_code == 200, answer.text
        cosigned = with_signatures(head(signer, new), answer.text.splitlines())
        assert before <= verifier.check(cosigned) <= time.time()
        old = new
    log = shown(witness, signer)
    kept = Checkpoint.parse(log["checkpoint"])
    assert (log["size"], bytes.fromhex(log["root"])) == (600, root_of(LEAVES))
    assert check(kept, [signer.verifier]) == signer.verifier
    assert verifier.check(kept)
    assert not log["evidence"]


def test_the_answer_has_the_form_that_the_protocol_says(witness, signer):
    answer = grow(witness, signer, 0, 5)
    assert answer.text.startswith("— ")
    assert answer.text.endswith("\n")
    assert answer.text.count("\n") == 1
    conflict = grow(witness, signer, 0, 6)
    assert conflict.status_code == 409
    assert conflict.headers["content-type"] == "text/x.tlog.size"
    assert conflict.content == b"5\n"


def test_a_note_with_signatures_of_others_is_cosigned(witness, signer):
    stranger = Signer.generate("example.org/other")
    note = issue(signer.name, 5, root_of(LEAVES[:5]), stranger, signer)
    assert witness.post(request(0, note)).status_code == 200


def test_a_log_may_have_several_keys(witness, signer):
    second = Signer.generate(signer.name)
    later = issue(signer.name, 7, root_of(LEAVES[:7]), second)
    assert grow(witness, signer, 0, 5).status_code == 200
    assert witness.post(request(5, later, proof(5, 7))).status_code == 403
    told = json.loads(cli("add-log", second.vkey, "--store", witness.store, "--json").stdout)
    assert told == {"origin": signer.name, "verifier_key": second.vkey, "added": True}
    assert witness.post(request(5, later, proof(5, 7))).status_code == 200
    assert "already" in cli("add-log", second.vkey, "--store", witness.store).stdout
    log = shown(witness, signer)
    assert log["verifier_keys"] == [signer.vkey, second.vkey]
    assert log["size"] == 7


# What it refuses


def test_a_size_never_goes_back(witness, signer):
    assert grow(witness, signer, 0, 20).status_code == 200
    for old, new in ((0, 10), (10, 15), (0, 20), (19, 20)):
        answer = grow(witness, signer, old, new)
        assert (answer.status_code, answer.text) == (409, "20\n")
    assert shown(witness, signer)["size"] == 20


def test_an_old_size_above_the_new_one_makes_no_sense(witness, signer):
    answer = witness.post(request(6, head(signer, 5)))
    assert answer.status_code == 400
    assert "cannot go on from" in answer.text


def test_a_proof_that_does_not_fit_is_refused_and_proves_nothing_against_the_log(witness, signer):
    assert grow(witness, signer, 0, 5).status_code == 200
    for hashes in ([], proof(5, 9)[:-1], [*proof(5, 9), LEAVES[0]], [LEAVES[0]] * 4):
        answer = witness.post(request(5, head(signer, 9), hashes))
        assert answer.status_code == 422, hashes
    log = shown(witness, signer)
    assert [each["kind"] for each in log["evidence"]] == ["not proved"]
    assert log["size"] == 5
    # The log itself can prove it, so that nothing is left against it.
    assert grow(witness, signer, 5, 9).status_code == 200
    log = shown(witness, signer)
    assert not log["evidence"]


def test_a_proof_from_nothing_is_empty(witness, signer):
    assert witness.post(request(0, head(signer, 5), [LEAVES[0]])).status_code == 422


def test_another_tree_of_the_same_size_is_kept_as_evidence(serve, signer):
    witness = serve("--log", signer.vkey)
    assert grow(witness, signer, 0, 20).status_code == 200
    other = head(signer, 20, OTHERS)
    for _ in range(2):
        answer = witness.post(request(20, other))
        assert (answer.status_code, answer.text) == (409, "20\n")
    log = shown(witness, signer)
    assert log["split_view"]
    [evidence] = log["evidence"]
    assert evidence["submitted"] == other.text
    cosigned, submitted = (Checkpoint.parse(evidence[name]) for name in ("cosigned", "submitted"))
    for each in (cosigned, submitted):
        check(each, [signer.verifier])
    assert cosigned.size == submitted.size
    assert cosigned.root != submitted.root
    assert json.loads(Path(evidence["file"]).read_text())["submitted"] == other.text
    page = cli("show", "--store", witness.store, code=3).stdout
    assert f"split view: {signer.name} signed another history at 20" in page
    assert evidence["file"] in page.replace("\n", "")
    assert "Kept as evidence" in witness.end()


def test_the_proof_of_a_larger_tree_shows_that_it_began_otherwise(witness, signer):
    assert grow(witness, signer, 0, 21).status_code == 200
    answer = grow(witness, signer, 21, 50, OTHERS)
    assert answer.status_code == 422
    log = shown(witness, signer)
    [evidence] = log["evidence"]
    assert evidence["kind"] == "split view"
    assert (evidence["old"], evidence["size"]) == (21, 50)
    hashes = [base64.b64decode(each) for each in evidence["proof"]]
    assert hashes == proof(21, 50, OTHERS)


def test_an_empty_tree_has_one_root(witness, signer):
    answer = witness.post(request(0, issue(signer.name, 0, LEAVES[0], signer)))
    assert (answer.status_code, answer.text) == (409, "0\n")
    assert witness.post(request(0, issue(signer.name, 0, EMPTY_ROOT, signer))).status_code == 200


def test_an_unknown_log_and_an_unknown_key_are_refused(witness, signer):
    stranger = Signer.generate("example.org/other")
    answer = grow(witness, stranger, 0, 5)
    assert answer.status_code == 404
    assert "example.org/other is not known" in answer.text
    answer = grow(witness, Signer.generate(signer.name), 0, 5)
    assert answer.status_code == 403
    assert "not signed by a known key" in answer.text
    assert shown(witness, signer)["size"] == 0


def test_a_signature_over_another_text_is_refused(witness, signer):
    real, other = head(signer, 5), head(signer, 6)
    forged = Checkpoint.parse(real.body + "\n" + other.text.rpartition("\n\n")[2])
    assert witness.post(request(0, forged)).status_code == 403


def malformed(signer):
    note = head(signer, 5).text
    line = base64.b64encode(LEAVES[0]).decode()
    yield "", "empty line"
    yield "old 0\n", "empty line"
    yield note, "`old`"
    yield f"\n\n{note}", "`old`"
    yield f"old\n\n{note}", "`old`"
    yield f"old 00\n\n{note}", "`old`"
    yield f"old -1\n\n{note}", "`old`"
    yield f"old  5\n\n{note}", "`old`"
    yield f"old ٥\n\n{note}", "`old`"
    yield f"old 0\r\n\n{note}", "`old`"
    yield f"old {'9' * 20}\n\n{note}", "`old`"
    yield f"old 3\nnot base64\n\n{note}", "base64"
    yield f"old 3\n{line[:-1]}\n\n{note}", "base64"
    yield f"old 3\n{base64.b64encode(b'short').decode()}\n\n{note}", "base64"
    yield f"old 3\n {line}\n\n{note}", "base64"
    yield "old 3\n" + f"{line}\n" * 64 + f"\n{note}", "at most 63"
    yield "old 0\n\n", "no checkpoint"
    yield f"old 0\n\n{note.rstrip()}", "no checkpoint"
    yield f"old 0\n\n{note.partition(chr(8212))[0]}", "no checkpoint"
    yield f"old 0\n\n{note.replace('5', 'five', 1)}", "no checkpoint"
    yield f"old 0\n\n{note.replace(chr(8212), '-')}", "no checkpoint"
    yield b"old 0\n\n\xff\xfe", "UTF-8"


def test_malformed_requests_are_answered_with_a_sentence(witness, signer):
    for body, why in malformed(signer):
        answer = witness.post(body)
        assert answer.status_code == 400, (body, answer.text)
        assert why in answer.text, (body, answer.text)
        assert answer.text.count("\n") == 1
        assert answer.text.rstrip().endswith(".")
    assert shown(witness, signer)["size"] == 0
    assert grow(witness, signer, 0, 5).status_code == 200


def test_a_request_of_another_kind_is_refused(witness):
    assert witness.post(b"x" * 300_000).status_code == 413
    with httpx2.Client(trust_env=False) as client:
        assert client.get(f"{witness.url}/add-checkpoint").status_code == 405
        assert client.post(f"{witness.url}/elsewhere").status_code == 404


# At once, and after a fall


def test_of_requests_at_once_one_is_granted_also_by_two_processes(serve, signer):
    first = serve("--log", signer.vkey)
    both = [first, serve(store=first.store)]
    assert both[1].logs == [signer.name]
    at = 0
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            start = threading.Barrier(8)

            def ask(number, old=at, start=start):
                start.wait()
                answer = grow(both[number % 2], signer, old, old + 1 + number)
                return answer.status_code, answer.text, old + 1 + number

            answers = list(pool.map(ask, range(8)))
            [granted] = [size for status, _text, size in answers if status == 200]
            others = [(status, text) for status, text, _size in answers if status != 200]
            assert others == [(409, f"{granted}\n")] * 7
            at = granted
    assert shown(first, signer)["size"] == at


def test_what_it_answered_it_still_knows_after_it_was_killed(serve, signer):
    witness = serve("--log", signer.vkey)
    granted = [0]

    def send():
        with httpx2.Client(trust_env=False) as client:
            for new in range(1, 600):
                body = request(granted[-1], head(signer, new), proof(granted[-1], new))
                try:
                    answer = client.post(f"{witness.url}/add-checkpoint", content=body.encode())
                except httpx2.HTTPError:
                    return
                assert answer.status_code == 200
                granted.append(new)

    sending = threading.Thread(target=send)
    sending.start()
    while len(granted) < 20 and sending.is_alive():
        time.sleep(0.01)
    witness.end(signal.SIGKILL)
    sending.join(30)
    assert len(granted) >= 20
    again = serve()
    assert again.vkey == witness.vkey
    assert again.logs == [signer.name]
    answer = grow(again, signer, 0, 1)
    # It may have died between writing and answering, by one.
    assert int(answer.text) in {granted[-1], granted[-1] + 1}
    assert grow(again, signer, int(answer.text), 600).status_code == 200


def test_it_ends_when_told(serve):
    witness = serve()
    assert witness.process.poll() is None
    witness.end(signal.SIGTERM)
    assert witness.process.returncode == -signal.SIGTERM


# Its store


def test_its_key_is_readable_by_its_owner_alone(serve):
    witness = serve()
    file = Path(witness.store) / "witness.key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert Path(witness.store).stat().st_mode & 0o777 == 0o700
    assert cli("key", "--store", witness.store).stdout == f"{witness.vkey}\n"
    told = json.loads(cli("key", "--store", witness.store, "--json").stdout)
    assert told == {"verifier_key": witness.vkey}
    file.chmod(0o640)
    assert "chmod 600" in cli("key", "--store", witness.store, code=3).stderr


def test_a_witness_without_its_key_does_not_become_another(tmp_path, signer):
    store = tmp_path / "w"
    cli("add-log", signer.vkey, "--store", store)
    (store / "witness.key").unlink()
    for words in (["key"], ["show"], ["serve"], ["add-log", signer.vkey]):
        error = cli(*words, "--store", store, code=3).stderr
        assert "put witness.key back" in error


def test_where_there_is_no_witness_none_is_shown(tmp_path):
    for command in ("key", "show"):
        assert "no witness at" in cli(command, "--store", tmp_path / "w", code=2).stderr
    assert not (tmp_path / "w").exists()


def test_what_is_typed_wrong_is_told(tmp_path, signer):
    store = tmp_path / "w"
    for words in (
        ["add-log", "nonsense"],
        ["add-log", signer.vkey.replace("+", "+0", 1)],
        ["serve", "--log", "nonsense"],
        ["serve", "--listen", "8790"],
        ["serve", "--listen", "localhost:http"],
        ["serve", "--listen", "localhost:70000"],
    ):
        cli(*words, "--store", store, code=2)
    assert not store.exists()


def test_a_port_that_is_taken_is_told(witness, tmp_path):
    address = witness.url.removeprefix("http://")
    error = cli("serve", "--store", tmp_path / "w", "--listen", address, code=3).stderr
    assert "--listen" in error


@pytest.mark.parametrize("spoil", ["{}", "", '{"format": "beliefledger.witness.v1"}'])
def test_a_spoilt_file_is_not_taken_for_a_new_log(serve, signer, spoil):
    witness = serve("--log", signer.vkey)
    assert grow(witness, signer, 0, 5).status_code == 200
    [file] = Path(witness.store, "logs").iterdir()
    file.write_text(spoil)
    answer = grow(witness, signer, 0, 5)
    assert answer.status_code == 503
    assert "Nothing was cosigned" in answer.text
    assert "Nothing was cosigned" in witness.end()
    error = cli("serve", "--store", witness.store, code=3).stderr
    assert f"{file}" in error


def test_it_starts_over_where_making_it_was_broken_off(tmp_path, signer):
    store = tmp_path / "w"
    cli("add-log", signer.vkey, "--store", store)
    vkey = cli("key", "--store", store).stdout
    shutil.rmtree(store / "logs")
    cli("add-log", signer.vkey, "--store", store)
    assert cli("key", "--store", store).stdout == vkey
