"""Where audit exports go besides a directory: a bucket of any store that speaks S3.

A file is put there by one signed request (AWS Signature Version 4). Nothing is read, listed or
deleted there, so that the keys need the right to put objects, and no other.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from tempfile import TemporaryFile
from typing import IO
from urllib.parse import quote, unquote, urlsplit

from beliefledger.ledger.errors import CallerMistake
from beliefledger.settings import StoreKeys, store_keys

SECONDS = 60
"""So long the store may say nothing."""
_ALGORITHM = "AWS4-HMAC-SHA256"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class NoKeys(CallerMistake):
    """Set the store's keys in the environment of the server."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket, or a part of one, by its URL: `https://HOST/BUCKET/PREFIX`. Raises `ValueError` for
    what is no such URL."""

    url: str

    def __post_init__(self) -> None:
        at = urlsplit(self.url)
        if at.scheme == "http" and at.hostname not in _LOOPBACK:
            raise ValueError("a bucket elsewhere is reached by https alone")
        if at.username or at.password or at.query or at.fragment:
            raise ValueError("a bucket's URL has no login, query or fragment")
        if not at.hostname or not at.path.strip("/"):
            raise ValueError("write it as https://host/bucket, or https://host/bucket/prefix")
        object.__setattr__(self, "url", self.url.rstrip("/"))

    def write_text(self, name: str, pieces: Iterable[str]) -> None:
        """Put a file there; it is there as a whole or not at all. Meanwhile it lies in a file
        without a name. Raises `OSError` that says what the store answered, and `NoKeys`."""
        keys = store_keys()
        if keys is None:
            raise NoKeys("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set.")
        with TemporaryFile() as file:
            hashed = hashlib.sha256()
            for piece in pieces:
                data = piece.encode()
                hashed.update(data)
                file.write(data)
            size = file.tell()
            file.seek(0)
            self._put(name, file, size, hashed.hexdigest(), keys)

    def _put(self, name: str, file: IO[bytes], size: int, digest: str, keys: StoreKeys) -> None:
        url = f"{self.url}/{quote(name)}"
        at = urlsplit(url)
        headers = signed("PUT", url, {"x-amz-content-sha256": digest}, keys, datetime.now(UTC))
        kind = http.client.HTTPSConnection if at.scheme == "https" else http.client.HTTPConnection
        connection = kind(at.netloc, timeout=SECONDS)
        try:
            sent = {**headers, "Content-Length": str(size), "Content-Type": "application/x-ndjson"}
            connection.request("PUT", _path(url), file, sent)
            answer = connection.getresponse()
            answer.read(1_000)
        except http.client.HTTPException as problem:
            raise OSError(None, "the store did not answer as HTTP does") from problem
        except TimeoutError as problem:
            raise OSError(None, f"the store said nothing for {SECONDS} seconds") from problem
        except ssl.SSLError as problem:
            raise OSError(None, "the store's certificate is not trusted") from problem
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise OSError(None, f"the store answered {answer.status} {answer.reason}")


def signed(
    method: str, url: str, headers: Mapping[str, str], keys: StoreKeys, now: datetime
) -> dict[str, str]:
    """The headers of a request with its signature. `x-amz-content-sha256` is among them."""
    stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    told = {name.lower(): value for name, value in headers.items()}
    told |= {"host": urlsplit(url).netloc, "x-amz-date": stamp}
    if keys.session is not None:
        told["x-amz-security-token"] = keys.session
    names = sorted(told)
    canonical = [method, _path(url), "", *(f"{name}:{told[name].strip()}" for name in names), ""]
    canonical += [";".join(names), told["x-amz-content-sha256"]]
    scope = f"{day}/{keys.region}/s3/aws4_request"
    request = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    key = b"AWS4" + keys.secret.encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    said = f"{_ALGORITHM}\n{stamp}\n{scope}\n{request}".encode()
    signature = hmac.digest(key, said, "sha256").hex()
    told["Authorization"] = (
        f"{_ALGORITHM} Credential={keys.key_id}/{scope},SignedHeaders={';'.join(names)},"
        f"Signature={signature}"
    )
    return told


def _path(url: str) -> str:
    """The path as it is signed: each byte that is not plain is encoded, once."""
    return quote(unquote(urlsplit(url).path), safe="/-_.~")
