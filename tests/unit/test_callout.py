"""Calls to URLs of others: where they may lead, how long they take, how much comes back."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from email.utils import formatdate
from ipaddress import ip_network

import pytest
from receiver import LOOPBACK, receiving

from beliefledger.tools.relay.callout import Caller, CallFailed, Rules, may_call

REFUSED = """
    127.0.0.1 127.8.8.8 0.0.0.0 10.0.0.1 172.16.5.4 192.168.1.1 169.254.169.254 100.64.0.1
    192.0.0.8 192.0.2.1 198.18.0.1 203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
    ::1 :: fe80::1 fc00::1 fd12:3456::1 ff02::1 2001:db8::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1
    2002:7f00:1:: 2002:a00:1:: 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::7f00:1
    ::127.0.0.1 fec0::1 not-an-address
""".split()


@pytest.mark.parametrize("address", REFUSED)
def test_what_is_not_public_is_not_called(address):
    assert not may_call(address)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"]
)
def test_what_is_public_is_called(address):
    assert may_call(address)


def test_a_network_that_is_allowed_is_called_and_no_other_one():
    allow = (ip_network("10.1.0.0/16"), ip_network("::1/128"))
    assert may_call("10.1.2.3", allow)
    assert may_call("::ffff:10.1.2.3", allow)
    assert may_call("::1", allow)
    assert not may_call("10.2.0.1", allow)
    assert not may_call("127.0.0.1", allow)


def resolving(monkeypatch, *answers):
    """Each lookup gets the next of these lists of addresses; the last stays."""
    asked = list(answers)

    def lookup(_host, port, *_args, **_named):
        addresses = asked.pop(0) if len(asked) > 1 else asked[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    monkeypatch.setattr("beliefledger.tools.relay.callout.socket.getaddrinfo", lookup)


def fails(url, rules, reason):
    with contextlib.closing(Caller(url, rules)) as caller:
        with pytest.raises(CallFailed, match=reason):
            caller.post(b"{}", {})


def test_a_name_that_leads_inside_is_refused_even_beside_a_public_address(monkeypatch):
    rules = Rules(allow_http=True)
    with receiving() as receiver:
        fails(receiver.url, rules, "address refused")
        resolving(monkeypatch, ["93.184.216.34", "127.0.0.1"])
        fails(receiver.url.replace("127.0.0.1", "two.test"), rules, "address refused")
    assert receiver.all == []


def test_the_address_that_was_looked_at_is_the_one_connected_to(monkeypatch):
    """A name that resolves to something else a moment later leads nowhere else."""
    connected = []

    def connect(address, timeout):
        connected.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr("beliefledger.tools.relay.callout.socket.create_connection", connect)
    resolving(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    fails("http://rebinding.test/", Rules(allow_http=True), "no connection")
    assert connected == ["93.184.216.34"]
    fails("http://rebinding.test/", Rules(allow_http=True), "address refused")
    assert connected == ["93.184.216.34"]


def test_http_is_refused_unless_allowed():
    with receiving() as receiver:
        fails(receiver.url, Rules(allow=LOOPBACK.allow), "http refused")
    assert receiver.all == []


def test_a_redirect_is_an_answer_and_is_not_followed():
    with receiving(lambda _document, _count: 302) as receiver:
        with contextlib.closing(Caller(receiver.url, LOOPBACK)) as caller:
            assert caller.post(b"{}", {}).status == 302
    assert len(receiver.all) == 1


@contextlib.contextmanager
def answering(speak):
    """A server whose every connection is given to `speak`."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    talking, _ = listening.accept()
                    with talking, contextlib.suppress(OSError):
                        talking.recv(65_536)
                        speak(talking)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"


def test_who_answers_a_byte_at_a_time_has_no_more_time_than_others():
    def speak(talking):
        for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: " + b"x" * 1_000:
            talking.sendall(bytes([byte]))
            time.sleep(0.02)

    began = time.monotonic()
    with answering(speak) as url:
        fails(url, Rules(seconds=0.3, allow_http=True, allow=LOOPBACK.allow), "timeout")
    assert time.monotonic() - began < 2


def test_an_answer_without_end_is_cut_off():
    sent = []

    def speak(talking):
        talking.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            talking.sendall(b"x" * 65_536)
            sent.append(65_536)

    with answering(speak) as url, contextlib.closing(Caller(url, LOOPBACK)) as caller:
        assert caller.post(b"{}", {}).status == 200
    time.sleep(0.1)
    assert sum(sent) < 20_000_000  # what fits into the buffers between the two


def test_a_connection_that_was_closed_meanwhile_is_made_again():
    def speak(talking):
        talking.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")  # and closes, without saying so

    with answering(speak) as url, contextlib.closing(Caller(url, LOOPBACK)) as caller:
        assert [caller.post(b"{}", {}).status for _ in range(3)] == [204] * 3


def test_retry_after_is_told_in_seconds():
    def speak(talking):
        talking.sendall(b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n")

    with answering(speak) as url, contextlib.closing(Caller(url, LOOPBACK)) as caller:
        assert caller.post(b"{}", {}) == (429, 7.0)


@pytest.mark.parametrize(
    ("said", "least", "most"),
    [
        (lambda: formatdate(time.time() + 90, usegmt=True), 85, 90),
        (lambda: formatdate(time.time() + 90), 85, 90),
        (lambda: time.strftime("%A, %d-%b-%y %H:%M:%S GMT", time.gmtime(time.time() + 90)), 85, 90),
        (lambda: formatdate(time.time() - 90, usegmt=True), 0, 0),
        (lambda: "Fri, 99 Dec 2100 23:59:59 GMT", None, None),
        (lambda: "Fri, 31 Dec 2100 23:59:59 +" + "9" * 30, None, None),
        (lambda: "soon", None, None),
        (lambda: "-7", None, None),
        (lambda: "\u0667", None, None),
    ],
    ids="date offset old past no-day no-zone word negative digits".split(),
)
def test_retry_after_may_be_a_date(said, least, most):
    def speak(talking):
        head = f"HTTP/1.1 503 Slow\r\nRetry-After: {said()}\r\nContent-Length: 0\r\n\r\n"
        talking.sendall(head.encode())

    with answering(speak) as url, contextlib.closing(Caller(url, LOOPBACK)) as caller:
        told = caller.post(b"{}", {}).retry_after
    assert told is None if least is None else least <= told <= most


def test_a_certificate_that_nobody_vouches_for_is_refused():
    with answering(lambda talking: talking.sendall(b"this is no TLS")) as url:
        fails(url.replace("http:", "https:"), LOOPBACK, "TLS refused")
