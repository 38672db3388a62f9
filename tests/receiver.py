"""A receiver of webhooks on the loopback, which answers as a test wants it to."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network

from beliefledger import MemoryLedger
from beliefledger.tools.relay.callout import Rules
from beliefledger.tools.relay.delivery import Trying
from beliefledger.tools.relay.webhooks import WebhookRelay

LOOPBACK = Rules(seconds=5, allow_http=True, allow=(ip_network("127.0.0.0/8"),))
SOON = Trying(first_seconds=0.01, longest_seconds=0.1, lease_seconds=1.0, rules=LOOPBACK)


class Receiver:
    """What was posted, in order: `taken` where it answered 2xx, `all` besides what it refused."""

    def __init__(self, answer: Callable[[dict, int], int]) -> None:
        self.all: list[tuple[dict, dict[str, str], bytes]] = []
        self.taken: list[dict] = []
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                document = json.loads(body)
                with receiver._lock:
                    told = {name.lower(): value for name, value in self.headers.items()}
                    receiver.all.append((document, told, body))
                    status = answer(document, len(receiver.all))
                    if 200 <= status < 300:
                        receiver.taken.append(document)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                if 300 <= status < 400:
                    self.send_header("Location", receiver.url)
                self.end_headers()

            def log_message(self, *_words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def positions(self) -> list[int]:
        return [each["data"]["position"] for each in self.taken]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextlib.contextmanager
def receiving(answer: Callable[[dict, int], int] = lambda _document, _count: 204):
    made = Receiver(answer)
    try:
        yield made
    finally:
        made.close()


@contextlib.contextmanager
def delivering(memory: MemoryLedger, trying: Trying = SOON) -> Iterator[list[tuple[str, ...]]]:
    """A relay in a thread; what it tells."""
    told: list[tuple[str, ...]] = []
    relay = WebhookRelay(memory, trying, lambda *words: told.append(words))
    thread = threading.Thread(target=relay.run, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        relay.close()
        thread.join(10)


def wait_until(found: Callable[[], object], seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < until, "It did not come to that in time."
        time.sleep(0.02)


def delivered(memory: MemoryLedger, webhook: str) -> None:
    """Wait until everything that is there has arrived or was given up."""
    wait_until(lambda: memory.webhooks._answer(memory.webhooks.endpoint(webhook)).lag == 0)
