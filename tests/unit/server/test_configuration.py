"""The server's settings: file, environment, command line, and what is refused."""

from __future__ import annotations

import json
import socket

import pytest
from certificates import certificate
from command_line import CliRunner

from beliefledger.ledger.errors import BackendUnavailable, CallerMistake
from beliefledger.tools.cli import app
from beliefledger.tools.server.configuration import configuration, is_loopback
from beliefledger.tools.server.gatekeeper import Rates
from beliefledger.tools.server.refusals import MOST_SOURCES, Refusals
from beliefledger.tools.server.serving import CannotListen, listen


def test_what_is_given_goes_before_the_environment_and_that_before_the_file(tmp_path, monkeypatch):
    file = tmp_path / "server.yaml"
    file.write_text("port: 1\nthreads: 2\nhosts: [a.example]\nworker: false\n")
    monkeypatch.setenv("BELIEFLEDGER_SERVER_CONFIG", str(file))
    monkeypatch.setenv("BELIEFLEDGER_SERVER_THREADS", "3")
    monkeypatch.setenv("BELIEFLEDGER_SERVER_ORIGINS", "https://a.example https://b.example")
    found = configuration(port=4)
    assert (found.port, found.threads, found.hosts, found.worker) == (4, 3, ("a.example",), False)
    assert found.origins == ("https://a.example", "https://b.example")
    assert configuration(None).port == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prot: 1", "prot is no setting"),
        ("port: many", "port: input should be a valid integer"),
        ("port: 70000", "port: input should be less than"),
        ("- port", "one setting a line"),
        ("{", "no YAML"),
        ("tls_cert: /nowhere.pem", "belong together"),
        ("tls_cert: /nowhere.pem\ntls_key: /nowhere.key", "there is no file"),
        ("host: 0.0.0.0", "tokens would travel in clear"),
        ("host: example.org", "tokens would travel in clear"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, says):
    file = tmp_path / "server.yaml"
    file.write_text(text)
    with pytest.raises(CallerMistake, match=says):
        configuration(file)
    result = CliRunner().invoke(app, ["config", "check", "--config", str(file)])
    assert result.exit_code == 2
    assert says.split(":")[0] in result.stderr


def test_a_public_address_needs_a_certificate_or_a_proxy(tmp_path):
    cert, key = certificate(tmp_path)
    assert configuration(host="0.0.0.0", behind_proxy=True).is_public
    assert configuration(host="0.0.0.0", tls_cert=cert, tls_key=key).is_public
    assert [is_loopback(each) for each in ("::1", "localhost", "127.9.9.9", "::", "10.0.0.1")] == [
        True, True, True, False, False,
    ]  # fmt: skip


def test_config_check_tells_what_holds():
    told = CliRunner().invoke(app, ["config", "check", "--json"])
    assert json.loads(told.stdout)["port"] == 8321
    assert "127.0.0.1" in CliRunner().invoke(app, ["config", "check"]).stdout


def test_no_answer_waits_for_the_acknowledgement_of_its_first_piece():
    with listen(configuration(port=0)) as at, socket.create_connection(at.getsockname()):
        accepted, _ = at.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_of_a_port_that_is_taken_nothing_is_said_of_the_store():
    with listen(configuration(port=0)) as at:
        port = at.getsockname()[1]
        with pytest.raises(CannotListen, match=rf":{port} .*in use.* Give another") as taken:
            listen(configuration(port=port))
    assert "store" not in str(taken.value)


def test_rates_fill_up_again():
    now = [0.0]
    rates = Rates(60, lambda: now[0])
    assert [rates.wait("a") for _ in range(60)] == [0.0] * 60
    assert rates.wait("a") == pytest.approx(1.0)
    assert rates.wait("b") == 0.0
    now[0] += 1
    assert rates.wait("a") == 0.0
    assert rates.wait("a") > 0


def test_refusals_are_bounded_and_none_is_lost():
    written, now, broken = [], [0], [False]

    def write(minute, counts):
        if broken[0]:
            raise BackendUnavailable
        written.append((minute, dict(counts)))

    refusals = Refusals(write, lambda: now[0])
    for number in range(1_000):
        refusals.count(f"10.0.0.{number % 200}")
    refusals.flush()
    assert written == []
    now[0] = 60_000_000
    broken[0] = True
    with pytest.raises(BackendUnavailable):
        refusals.flush()
    broken[0] = False
    refusals.flush()
    [(minute, counts)] = written
    assert minute == 0
    assert len(counts) == MOST_SOURCES + 1
    assert sum(counts.values()) == 1_000
    refusals.count("x")
    refusals.flush(all_of_them=True)
    assert written[1] == (60_000_000, {"x": 1})
