"""A witness, as a process of its own: what it cosigns, what it refuses, and what it remembers; and
ledgers that were set back, split or rewritten, which it keeps from being opened."""

from __future__ import annotations

import base64
import importlib.util
import json
import secrets
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx2
import programs
import psycopg
import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.ledger.errors import (
    BackendUnavailable,
    BehindWitness,
    CallerMistake,
    LogCorrupted,
    NotPermitted,
    SplitView,
)
from beliefledger.ledger.proofs import keyfile
from beliefledger.ledger.proofs.merkle import EMPTY_ROOT, consistency_proof, leaf_hash, root_of
from beliefledger.ledger.proofs.notes import (
    Checkpoint,
    CosignatureVerifier,
    Signature,
    Signer,
    check,
    issue,
    with_signatures,
)
from beliefledger.operations.copy import copy
from beliefledger.tools.cli import app

LEAVES = [leaf_hash(b"%d" % number) for number in range(600)]
OTHERS = [leaf_hash(b"not %d" % number) for number in range(600)]


class Running:
    """A witness that was started."""

    def __init__(self, store, *words):
        command = [sys.executable, "-m", "beliefledger", "proof", "witness", "serve", "--json"]
        self.store = store
        self.process = programs.Program(
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
        with httpx2.Client(trust_env=False, timeout=60) as client:
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
    result = CliRunner().invoke(app, ["proof", "witness", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, (words, result.stdout, result.stderr)
    return result


def shown(witness, signer):
    """What `show` tells of a log."""
    result = CliRunner().invoke(
        app, ["proof", "witness", "show", "--store", str(witness.store), "--json"]
    )
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


def signed_by(text):
    return {(each.name, each.key_id) for each in Checkpoint.parse(text).signatures}


def test_lines_of_strangers_are_not_kept(witness, signer):
    verifier = CosignatureVerifier.parse(witness.vkey)
    note = head(signer, 5).text
    junk = [
        Signature(f"example.org/{number}", bytes(4), bytes(64)).line for number in range(98)
    ] + [Signature(verifier.name, verifier.key_id, bytes(72)).line]
    full = Checkpoint.parse(note + "".join(f"{line}\n" for line in junk))
    assert len(full.signatures) == 100, "as many as a note may have"
    answer = witness.post(request(0, full))
    assert answer.status_code == 200, answer.text
    kept = Checkpoint.parse(shown(witness, signer)["checkpoint"])
    assert verifier.check(kept)
    both = {(signer.name, signer.key_id), (verifier.name, verifier.key_id)}
    assert signed_by(kept.text) == both
    other = head(signer, 5, OTHERS).text + "".join(f"{line}\n" for line in junk)
    assert witness.post(request(5, Checkpoint.parse(other))).status_code == 409
    [evidence] = shown(witness, signer)["evidence"]
    assert signed_by(evidence["submitted"]) == {(signer.name, signer.key_id)}


def test_a_key_that_another_one_followed_signs_no_more(witness, signer):
    second = Signer.generate(signer.name)
    assert grow(witness, signer, 0, 5).status_code == 200
    cli("add-log", second.vkey, "--store", witness.store)
    assert grow(witness, signer, 5, 6).status_code == 200, "not handed over yet"
    both = issue(signer.name, 7, root_of(LEAVES[:7]), signer, second)
    assert witness.post(request(6, both, proof(6, 7))).status_code == 200
    assert shown(witness, signer)["retired"] == {signer.vkey: 7}
    forged = head(signer, 9, [*LEAVES[:7], *OTHERS])
    answer = witness.post(request(7, forged, proof(7, 9, [*LEAVES[:7], *OTHERS])))
    assert answer.status_code == 403
    assert "later key" in answer.text
    assert witness.post(request(7, both)).status_code == 200, "it may be sent again"
    honest = issue(signer.name, 9, root_of(LEAVES[:9]), second)
    assert witness.post(request(7, honest, proof(7, 9))).status_code == 200
    assert shown(witness, signer)["retired"] == {signer.vkey: 7}


def test_the_first_head_of_a_later_key_retires_the_one_before(witness, signer):
    second = Signer.generate(signer.name)
    assert grow(witness, signer, 0, 5).status_code == 200
    cli("add-log", second.vkey, "--store", witness.store)
    later = issue(signer.name, 7, root_of(LEAVES[:7]), second)
    assert witness.post(request(5, later, proof(5, 7))).status_code == 200
    assert grow(witness, signer, 7, 9).status_code == 403


def test_a_key_can_be_taken_away_and_nothing_is_forgotten_by_it(witness, signer):
    second = Signer.generate(signer.name)
    cli("add-log", second.vkey, "--store", witness.store)
    assert grow(witness, signer, 0, 5).status_code == 200
    told = json.loads(cli("remove-log", signer.vkey, "--store", witness.store, "--json").stdout)
    assert told == {"origin": signer.name, "verifier_key": signer.vkey, "removed": True}
    assert "was not known" in cli("remove-log", signer.vkey, "--store", witness.store).stdout
    assert grow(witness, signer, 5, 6).status_code == 403
    cli("remove-log", second.vkey, "--store", witness.store)
    log = shown(witness, signer)
    assert (log["verifier_keys"], log["size"]) == ([], 5)
    cli("add-log", signer.vkey, "--store", witness.store)
    assert grow(witness, signer, 0, 4).status_code == 409
    assert grow(witness, signer, 5, 6).status_code == 200


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
    yield "old 0\n\n" + note.replace("\n5\n", "\nfive\n"), "no checkpoint"
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
    with httpx2.Client(trust_env=False, timeout=60) as client:
        assert client.get(f"{witness.url}/add-checkpoint").status_code == 405
        assert client.post(f"{witness.url}/elsewhere").status_code == 404


# At once, and after a fall


def test_connections_that_say_nothing_keep_nobody_out(serve, signer):
    witness = serve("--log", signer.vkey)
    host, _, port = witness.url.removeprefix("http://").partition(":")
    with ExitStack() as idle:
        for _ in range(130):
            each = idle.enter_context(socket.create_connection((host, int(port)), timeout=60))
            with suppress(OSError):  # closed by now
                each.sendall(b"POST /add-checkpoint HTTP/1.1\r\nHost: x\r\n")
        assert grow(witness, signer, 0, 5).status_code == 200
        assert grow(witness, signer, 5, 6).status_code == 200


@pytest.mark.parametrize(
    "said",
    [
        b"POST /add-checkpoint HTTP/1.1\r\nHost: x\r\n",
        b"GET /elsewhere HTTP/1.1\r\nHost: x\r\n\r\nGET /",
    ],
)
def test_headers_that_do_not_arrive_end_the_connection(serve, said):
    witness = serve()
    host, _, port = witness.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(said)
        told = b""
        with suppress(ConnectionResetError):
            while True:
                more = connection.recv(10_000)
                if not more:
                    break
                told += more
                with suppress(OSError):
                    connection.sendall(b"x")  # each byte is a sign of life, and does not help
        assert b"200 OK" not in told


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
        with httpx2.Client(trust_env=False, timeout=60) as client:
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


def test_a_spoilt_file_is_not_taken_for_a_new_log(serve, signer):
    witness = serve("--log", signer.vkey)
    assert grow(witness, signer, 0, 5).status_code == 200
    [file] = Path(witness.store, "logs").iterdir()
    for spoilt in ("{}", "", '{"format": "beliefledger.witness.v1"}', file.read_text()[:-20]):
        file.write_text(spoilt)
        answer = grow(witness, signer, 0, 5)
        assert answer.status_code == 503
        assert "Nothing was cosigned" in answer.text
        error = cli("serve", "--store", witness.store, code=3).stderr
        assert f"{file}" in error
    assert witness.end().count("Nothing was cosigned") == 4


def test_it_starts_over_where_making_it_was_broken_off(tmp_path, signer):
    store = tmp_path / "w"
    cli("add-log", signer.vkey, "--store", store)
    vkey = cli("key", "--store", store).stdout
    shutil.rmtree(store / "logs")
    cli("add-log", signer.vkey, "--store", store)
    assert cli("key", "--store", store).stdout == vkey


# Ledgers that have a witness


class Places:
    """Ledgers on one backend: a directory each, or a database each of a Postgres."""

    def __init__(self, tmp_path, server=None):
        self._tmp_path = tmp_path
        self._server = server
        self.made = []

    def new(self):
        name = f"ledger_{secrets.token_hex(6)}"
        if self._server is None:
            return str(self._tmp_path / name)
        self._execute(f"CREATE DATABASE {name}")
        return self._url(name)

    def copy(self, place):
        """All of a ledger as it is now: history, bodies, proofs and vault."""
        name = f"copy_{secrets.token_hex(6)}"
        if self._server is None:
            shutil.copytree(place, self._tmp_path / name)
            return str(self._tmp_path / name)
        of = place.partition("?")[0].rpartition("/")[2]
        self._execute(f"CREATE DATABASE {name} TEMPLATE {of}")
        return self._url(name)

    def forget_mark(self):
        """What lies beside the signing keys goes, too: the head that was signed last."""
        for mark in self._tmp_path.rglob("signing*.key.head"):
            mark.unlink()

    def drop(self):
        for name in self.made:
            self._execute(f"DROP DATABASE {name} WITH (FORCE)")

    def _url(self, name):
        self.made.append(name)
        schema = f"&schema=s{secrets.token_hex(4)}" if not self.made[1:] else self._schema
        self._schema = schema
        return self._server.replace("/postgres?", f"/{name}?") + schema

    def _execute(self, statement):
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture(params=["sqlite", "postgres"])
def places(request, tmp_path, monkeypatch, master):
    if request.param == "sqlite":
        yield Places(tmp_path)
        return
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", master.key.hex())
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))
    made = Places(tmp_path, request.getfixturevalue("postgres"))
    yield made
    made.drop()


@pytest.fixture
def files(tmp_path):
    """Places in files, where the backend makes no difference."""
    return Places(tmp_path)


@pytest.fixture
def with_witness(monkeypatch):
    def set_(witness=None):
        monkeypatch.setenv("BELIEFLEDGER_WITNESS", "" if witness is None else witness.url)
        monkeypatch.setenv("BELIEFLEDGER_WITNESS_KEY", "" if witness is None else witness.vkey)

    return set_


@pytest.fixture
def watch(shared, with_witness):
    """Makes a ledger that the witness knows, with some events; from then on it is asked."""

    def make(place, witness=shared):
        with_witness(None)
        with open_memory(place) as memory:
            memory.consent.grant("ana", "consent")
            say(memory, "I live in Porto.")
            key = memory.proofs.tree.verifiers()[-1].vkey
        cli("add-log", key, "--store", witness.store)
        with_witness(witness)
        return key

    return make


def say(memory, *sentences):
    for text in sentences:
        memory.record_turn("ana", text)
    return memory.process()


def size_of(place):
    """How many events there are, past everything that looks after them."""
    with open_memory(place, witnessed=False) as memory:
        return memory.status(digests=False).position


def known_at(witness, key):
    store = ["--store", str(witness.store), "--json"]
    logs = json.loads(CliRunner().invoke(app, ["proof", "witness", "show", *store]).stdout)["logs"]
    [log] = [each for each in logs if key in each["verifier_keys"]]
    return log


def ledger_cli(place, *words, code=0):
    result = CliRunner().invoke(app, ["--ledger", place, *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, (words, result.stdout, result.stderr)
    return result


def test_a_ledger_opens_with_its_head_cosigned(places, watch, shared):
    place = places.new()
    key = watch(place)
    with open_memory(place) as memory:
        first = memory.status(digests=False)
        assert not [each for each in first.warnings if "witness" in each]
        cosigned = Checkpoint.parse(memory.proofs.tree.tiles.cosigned())
        assert CosignatureVerifier.parse(shared.vkey).check(cosigned)
        check(cosigned, memory.proofs.tree.verifiers())
        assert cosigned.size == first.position == known_at(shared, key)["size"]
        say(memory, "I work at Acme.")
        memory.proofs.checkpoint()
        now = memory.status(digests=False).position
        assert now > first.position
        assert known_at(shared, key)["size"] == now
    with open_memory(place) as memory:
        assert memory.proofs.verify().ok
    assert not known_at(shared, key)["evidence"]


def test_a_ledger_that_was_set_back_is_refused(places, watch, shared, with_witness):
    place = places.new()
    key = watch(place)
    with open_memory(place):
        pass
    before = size_of(place)
    backup = places.copy(place)
    with open_memory(place) as memory:
        say(memory, "I work at Acme.", "I use Vim.")
    with open_memory(place):
        pass
    after = known_at(shared, key)["size"]
    assert after > before
    places.forget_mark()
    for policy in (None, {"name": "another"}):
        with pytest.raises(BehindWitness) as refused:
            open_memory(backup, policy=policy)
        assert f"cosigned {after} events" in str(refused.value)
        assert f"here are {before}." in str(refused.value)
    assert size_of(backup) == before, "nothing was written before it was refused"
    for command in (["status"], ["beliefs"], ["process"], ["erase", "ana", "--by", "lea"]):
        error = ledger_cli(backup, *command, code=3).stderr
        assert f"has cosigned {after} events" in error
        assert error.count("\n") == 1
    # What looks for the fault opens it, and says so.
    said = json.loads(ledger_cli(backup, "proof", "verify", "--json", code=3).stdout)
    assert not said["ok"]
    assert f"has cosigned {after} events" in said["problem"]
    # The ledger itself goes on, and the witness has nothing against it.
    with open_memory(place) as memory:
        assert memory.proofs.verify().ok
    assert known_at(shared, key)["size"] == after
    with_witness(None)
    places.forget_mark()
    with open_memory(backup) as memory:
        assert memory.proofs.verify().ok, "in itself it is whole: only somebody else can tell"


def test_of_two_copies_that_went_on_differently_the_second_is_refused(
    places, watch, shared, with_witness
):
    one = places.new()
    key = watch(one)
    with open_memory(one):
        pass
    same, longer = places.copy(one), places.copy(one)
    with open_memory(one) as memory:
        say(memory, "I work at Acme.")
    with open_memory(one):
        pass
    size = known_at(shared, key)["size"]
    with_witness(None)
    places.forget_mark()
    with open_memory(same) as memory:
        say(memory, "I work at Hooli.")
    assert size_of(same) == size
    places.forget_mark()
    with open_memory(longer) as memory:
        say(memory, "I work at Hooli.", "I use Emacs.")
    with_witness(shared)
    for place in (same, longer):
        places.forget_mark()
        with pytest.raises(SplitView, match="another history"):
            open_memory(place)
        said = json.loads(ledger_cli(place, "proof", "verify", "--json", code=3).stdout)
        assert "has cosigned" in said["problem"]
    log = known_at(shared, key)
    assert log["size"] == size
    assert {each["size"] for each in log["evidence"]} == {size, size_of(longer)}
    [first] = [each for each in log["evidence"] if each["size"] == size]
    assert first["kind"] == "split view"
    places.forget_mark()
    with open_memory(one) as memory:
        assert memory.proofs.verify().ok


def test_history_that_was_rewritten_with_the_real_keys_is_refused(
    places, watch, shared, with_witness, tmp_path
):
    place = places.new()
    key = watch(place)
    with open_memory(place) as memory:
        say(memory, "I work at Acme.")
    with open_memory(place):
        pass
    with_witness(None)
    places.forget_mark()
    other = places.new()
    if Path(place).is_dir():
        Path(other).mkdir()
        for name in ("master.key", "signing.key"):
            shutil.copy2(Path(place, name), Path(other, name))
    with open_memory(other) as memory:
        memory.consent.grant("ana", "consent")
        say(memory, "I never lived in Porto.", "I work at Hooli.", "I use Emacs.", "I like tea.")
        assert memory.proofs.tree.verifiers()[-1].vkey == key
        assert memory.proofs.verify().ok
    with_witness(shared)
    with pytest.raises(SplitView, match="do not begin with"):
        open_memory(other)
    assert known_at(shared, key)["evidence"]


def test_one_envelope_rewritten_and_all_hashes_with_it_is_refused(
    files, watch, shared, with_witness
):
    place = files.new()
    watch(place)
    with open_memory(place):
        pass
    with sqlite3.connect(Path(place, "log.db")) as database:
        database.execute("DROP TRIGGER history_refuses_update")
        [(position, envelope)] = database.execute(
            "SELECT position, envelope FROM history ORDER BY position DESC LIMIT 1"
        ).fetchall()
        document = json.loads(envelope)
        document["recorded_at"] += 1
        written = json.dumps(document, separators=(",", ":"), sort_keys=True).encode()
        database.execute("UPDATE history SET envelope = ? WHERE position = ?", (written, position))
    database.close()
    # With the tiles there, the ledger itself sees it; so they go, too.
    with pytest.raises(LogCorrupted, match=f"position {position}"):
        open_memory(place)
    shutil.rmtree(Path(place, "proofs"))
    files.forget_mark()
    with pytest.raises(SplitView, match=f"another tree of {position} events"):
        open_memory(place)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_witness_that_was_started_again_still_refuses(files, serve, watch, with_witness, how):
    witness = serve()
    place = files.new()
    watch(place, witness)
    with open_memory(place):
        pass
    backup = files.copy(place)
    with open_memory(place) as memory:
        say(memory, "I work at Acme.")
        memory.proofs.checkpoint()
    witness.end(how)
    again = serve(store=witness.store)
    assert again.vkey == witness.vkey
    with_witness(again)
    with pytest.raises(BehindWitness):
        open_memory(backup)
    with open_memory(place) as memory:
        assert memory.proofs.verify().ok


def test_without_an_answer_a_ledger_does_not_open(files, serve, watch, with_witness):
    witness = serve()
    place = files.new()
    watch(place, witness)
    witness.end()
    with pytest.raises(BackendUnavailable, match="set BELIEFLEDGER_WITNESS to nothing"):
        open_memory(place)
    assert "does not answer" in ledger_cli(place, "status", code=3).stderr
    said = json.loads(ledger_cli(place, "proof", "verify", "--json", code=3).stdout)
    assert "does not answer" in said["problem"]
    with_witness(None)
    with open_memory(place) as memory:
        assert memory.proofs.verify().ok


def test_a_witness_that_ends_meanwhile_is_told_of(files, serve, watch):
    witness = serve()
    place = files.new()
    key = watch(place, witness)
    with open_memory(place) as memory:
        say(memory, "I work at Acme.")
        witness.end()
        with pytest.raises(BackendUnavailable, match="does not answer"):
            memory.proofs.checkpoint()
        [warning] = [each for each in memory.status(digests=False).warnings if "cosigned" in each]
        assert "does not answer" in warning
        say(memory, "I use Vim.")
        listen = witness.url.removeprefix("http://")
        serve("--listen", listen, store=witness.store)
        memory.proofs.checkpoint()
        status = memory.status(digests=False)
        assert not [each for each in status.warnings if "cosigned" in each]
        assert known_at(witness, key)["size"] == status.position


def test_a_witness_that_does_not_know_the_ledger_says_how_it_gets_to(files, shared, with_witness):
    place = files.new()
    with_witness(shared)
    with pytest.raises(NotPermitted) as refused:
        open_memory(place)
    command = str(refused.value.detail).partition("`beliefledger proof witness ")[2]
    command = command.partition("`")[0]
    name, vkey = command.split()
    cli(name, vkey.strip("'"), "--store", shared.store)
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        assert say(memory, "I live in Porto.").turns == 1


def test_a_witness_that_signs_with_another_key_is_refused(
    files, watch, shared, monkeypatch, tmp_path
):
    place = files.new()
    watch(place)
    cli("add-log", Signer.generate("example.org/x").vkey, "--store", tmp_path / "w")
    other = cli("key", "--store", tmp_path / "w").stdout.strip()
    monkeypatch.setenv("BELIEFLEDGER_WITNESS_KEY", other)
    with pytest.raises(NotPermitted, match="does not sign with the key"):
        open_memory(place)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("witness.example", "key"),
        ("ftp://witness.example", "key"),
        ("http://[::bad", "key"),
        ("http://witness.example:port", "key"),
        ("https://", "key"),
        ("http://127.0.0.1:9", ""),
        ("http://127.0.0.1:9", "nonsense"),
    ],
)
def test_a_witness_that_is_named_wrongly_is_told(files, monkeypatch, url, key):
    monkeypatch.setenv("BELIEFLEDGER_WITNESS", url)
    monkeypatch.setenv("BELIEFLEDGER_WITNESS_KEY", key)
    with pytest.raises(CallerMistake, match="BELIEFLEDGER_WITNESS"):
        open_memory(files.new())


def test_a_password_in_the_url_is_not_told(files, watch, monkeypatch):
    place = files.new()
    watch(place)
    monkeypatch.setenv("BELIEFLEDGER_WITNESS", "http://lea:secret@127.0.0.1:9/w?token=hidden")
    with pytest.raises(BackendUnavailable) as refused:
        open_memory(place)
    assert "http://127.0.0.1:9/w " in str(refused.value)
    assert "secret" not in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_a_witness_that_was_set_back_itself_is_told_of(files, serve, watch, with_witness):
    witness = serve()
    place = files.new()
    key = watch(place, witness)
    with open_memory(place):
        pass
    store = Path(witness.store)
    shutil.copytree(store / "logs", store.parent / "kept")
    with open_memory(place) as memory:
        say(memory, "I work at Acme.")
        memory.proofs.checkpoint()
        had = known_at(witness, key)["size"]
    shutil.rmtree(store / "logs")
    shutil.copytree(store.parent / "kept", store / "logs")
    with open_memory(place) as memory:
        [warning] = [each for each in memory.status(digests=False).warnings if "set back" in each]
        assert f"had cosigned {had} events" in warning
    assert known_at(witness, key)["size"] == had


def test_several_processes_open_one_ledger_at_once(places, watch, shared):
    place = places.new()
    key = watch(place)
    command = [sys.executable, "-m", "beliefledger", "--ledger", place, "remember", "-s", "ana"]
    running = [
        programs.Program([*command, f"I work at Acme {number}."], stderr=subprocess.PIPE, text=True)
        for number in range(4)
    ]
    for each in running:
        said = each.communicate(timeout=120)[1]
        assert each.returncode == 0, said
    with open_memory(place) as memory:
        assert memory.proofs.verify().ok
        assert known_at(shared, key)["size"] == memory.status(digests=False).position
    assert not known_at(shared, key)["evidence"]


def test_heads_are_sent_once_a_second_at_most(files, watch, monkeypatch):
    place = files.new()
    watch(place)
    with open_memory(place) as memory:
        witness, tree = memory._core.witness, memory.proofs.tree
        monkeypatch.setattr("beliefledger.opening.witness_client.EVERY", 3600)
        assert witness.send(tree) is None, "one was sent when it was opened"
        assert witness.check(tree).size == tree.latest().size, "asked for, it is sent at once"
        monkeypatch.setattr("beliefledger.opening.witness_client.EVERY", 0)
        assert witness.send(tree).size == tree.latest().size


def test_what_is_appended_is_shown_to_the_witness_without_being_asked(files, watch, shared):
    place = files.new()
    key = watch(place)
    with open_memory(place) as memory:
        say(memory, "I work at Acme.")
        position = memory.status(digests=False).position
        deadline = time.monotonic() + 60
        while known_at(shared, key)["size"] < position:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        say(memory, "I use Vim.")
        last = memory.status(digests=False).position
    assert known_at(shared, key)["size"] >= last, "the last one when it closes"


def test_a_new_signing_key_has_to_be_known_to_the_witness(files, watch, shared):
    place = files.new()
    watch(place)
    with open_memory(place) as memory:
        key = memory.proofs.rotate_signing_key(by="lea").verifier_keys[-1]
        say(memory, "I work at Acme.")
    with pytest.raises(NotPermitted, match="the key that signs") as refused:
        open_memory(place)
    assert key in str(refused.value)
    cli("add-log", key, "--store", shared.store)
    with open_memory(place) as memory:
        assert memory.proofs.verify().ok


def test_a_head_signed_with_the_retired_key_is_not_cosigned(files, watch, shared, with_witness):
    place = files.new()
    key = watch(place)
    old = keyfile.read(Path(place, "signing.key"))
    with open_memory(place) as memory:
        new = memory.proofs.rotate_signing_key(by="lea").verifier_keys[-1]
    cli("add-log", new, "--store", shared.store)
    with open_memory(place) as memory:
        size = memory.proofs.checkpoint().size
        leaves = [*memory._log.store.leaf_hashes(0, size), leaf_hash(b"forged")]
    assert known_at(shared, key)["retired"][key] <= known_at(shared, key)["size"]
    size = known_at(shared, key)["size"]
    forged = issue(old.name, len(leaves), root_of(leaves), old)
    answer = shared.post(request(size, forged, proof(size, len(leaves), leaves)))
    assert answer.status_code == 403
    with open_memory(place) as memory:
        say(memory, "I work at Acme.")
        assert memory.proofs.verify().ok


SPOILT = {
    "garbage": b"garbage\n",
    "no text": b"\xff\xfe\x00",
    "huge": (
        f"x/y\n999999999\n{base64.b64encode(bytes(32)).decode()}\n\n"
        f"— x/y {base64.b64encode(bytes(68)).decode()}\n"
    ).encode(),
}


@pytest.mark.parametrize("spoilt", SPOILT.values(), ids=SPOILT)
def test_a_cosigned_checkpoint_that_was_spoilt_is_replaced(files, watch, shared, spoilt):
    place = files.new()
    key = watch(place)
    with open_memory(place):
        pass
    file = Path(place, "proofs", "cosigned")
    file.write_bytes(spoilt)
    with open_memory(place) as memory:
        found = Checkpoint.parse(file.read_text())
        assert CosignatureVerifier.parse(shared.vkey).check(found)
        assert found.size == known_at(shared, key)["size"]
        [warning] = [each for each in memory.status(digests=False).warnings if "cosigned" in each]
        assert "asked anew" in warning
        assert memory.proofs.inclusion(3).checkpoint == found.text
        assert memory.proofs.verify().ok
    with open_memory(place) as memory:
        assert not [each for each in memory.status(digests=False).warnings if "cosigned" in each]


@pytest.mark.parametrize("spoilt", SPOILT.values(), ids=SPOILT)
def test_without_a_witness_a_spoilt_one_is_told_of(files, watch, with_witness, spoilt):
    place = files.new()
    watch(place)
    with open_memory(place):
        pass
    Path(place, "proofs", "cosigned").write_bytes(spoilt)
    with_witness(None)
    with open_memory(place) as memory:
        [warning] = [each for each in memory.status(digests=False).warnings if "cosigned" in each]
        assert "not kept as it was" in warning
        assert Checkpoint.parse(memory.proofs.inclusion(3).checkpoint).size >= 3
        size = memory.proofs.checkpoint().size
        assert memory.proofs.consistency(size).old


def test_a_ledger_that_was_set_back_is_not_copied(files, watch, with_witness, tmp_path):
    place = files.new()
    watch(place)
    with open_memory(place):
        pass
    backup = files.copy(place)
    with open_memory(place) as memory:
        say(memory, "I work at Acme.")
    with pytest.raises(BehindWitness):
        copy(backup, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    copy(place, tmp_path / "copy")
    with open_memory(tmp_path / "copy") as memory:
        assert memory.proofs.verify().ok


def test_an_answer_of_trouble_is_no_reason_to_go_without(files, serve, watch):
    witness = serve()
    place = files.new()
    watch(place, witness)
    for log in Path(witness.store, "logs").iterdir():
        log.write_text("spoilt")
    with pytest.raises(BackendUnavailable, match="answered 503") as refused:
        open_memory(place)
    assert "to nothing" not in str(refused.value)


def test_without_the_extra_it_says_to_install_it(monkeypatch, tmp_path):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "beliefledger.tools.cli.witness.find_spec",
        lambda name: None if name == "uvicorn" else found(name),
    )
    done = CliRunner().invoke(app, ["proof", "witness", "show", "--store", str(tmp_path)])
    assert done.exit_code == 3
    assert "pip install 'beliefledger[server]'" in " ".join(done.stderr.split())
