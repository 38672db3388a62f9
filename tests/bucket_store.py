"""A store on the loopback that takes objects as S3 does, and refuses what is signed wrongly."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY_ID, SECRET, REGION = "test-key", "test-secret", "eu-test-1"


class BucketStore:
    """What was put, by its path."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        store = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                good = (
                    store.signature(self)
                    == self.headers["Authorization"].partition("Signature=")[2]
                )
                same = hashlib.sha256(body).hexdigest() == self.headers["x-amz-content-sha256"]
                if good and same:
                    store.objects[self.path] = body
                self.send_response(200 if good and same else 403)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/audit/ledger"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def signature(self, request: BaseHTTPRequestHandler) -> str:
        """What the signature has to be, worked out from what came."""
        told = request.headers["Authorization"]
        names = told.partition("SignedHeaders=")[2].partition(",")[0]
        lines = [f"{name}:{request.headers[name]}\n" for name in names.split(";")]
        whole = f"PUT\n{request.path}\n\n{''.join(lines)}\n{names}\n"
        whole += request.headers["x-amz-content-sha256"]
        stamp = request.headers["x-amz-date"]
        scope = f"{stamp[:8]}/{REGION}/s3/aws4_request"
        said = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(whole.encode()).hexdigest()}"
        key = f"AWS4{SECRET}".encode()
        for part in (stamp[:8], REGION, "s3", "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return hmac.new(key, said.encode(), hashlib.sha256).hexdigest()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextlib.contextmanager
def bucket_store() -> Iterator[BucketStore]:
    store = BucketStore()
    try:
        yield store
    finally:
        store.close()
