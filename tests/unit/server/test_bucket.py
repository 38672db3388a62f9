"""Requests to a store that speaks S3 are signed as AWS's own examples are."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import pytest

from beliefledger.ledger.errors import CallerMistake
from beliefledger.settings import StoreKeys
from beliefledger.tools.server.bucket import Bucket, NoKeys, signed
from beliefledger.tools.server.configuration import configuration

KEYS = StoreKeys(
    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", None, "us-east-1"
)
THEN = datetime(2013, 5, 24, tzinfo=UTC)
HOST = "https://examplebucket.s3.amazonaws.com"
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_signatures_are_those_of_the_published_examples():
    got = signed(
        "GET", f"{HOST}/test.txt", {"Range": "bytes=0-9", "x-amz-content-sha256": EMPTY}, KEYS, THEN
    )
    assert got["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    )
    put = signed(
        "PUT",
        f"{HOST}/test$file.text",
        {
            "Date": "Fri, 24 May 2013 00:00:00 GMT",
            "x-amz-storage-class": "REDUCED_REDUNDANCY",
            "x-amz-content-sha256": hashlib.sha256(b"Welcome to Amazon S3.").hexdigest(),
        },
        KEYS,
        THEN,
    )
    assert put["Authorization"].endswith(
        "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
    )


def test_a_key_for_a_session_is_signed_too():
    keys = StoreKeys("id", "secret", "session", "eu-central-1")
    got = signed("PUT", f"{HOST}/x", {"x-amz-content-sha256": EMPTY}, keys, THEN)
    assert got["x-amz-security-token"] == "session"
    assert "x-amz-security-token,Signature" in got["Authorization"]
    assert "eu-central-1" in got["Authorization"]
    assert "secret" not in repr(keys)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://store.example.com/bucket", "https alone"),
        ("https://id:secret@store.example.com/bucket", "no login"),
        ("https://store.example.com/bucket?x=1", "no login, query"),
        ("https://store.example.com/", "https://host/bucket"),
    ],
)
def test_what_is_no_bucket_is_refused_by_the_configuration(url, why):
    with pytest.raises(CallerMistake, match=f"exports: .*{why}") as refused:
        configuration(exports=url)
    assert "secret" not in str(refused.value)


def test_a_directory_and_a_bucket_are_told_apart(tmp_path):
    assert configuration(exports=str(tmp_path)).exports == tmp_path
    at = configuration(exports="https://store.example.com/bucket/audit/").exports
    assert at == Bucket("https://store.example.com/bucket/audit")


def test_without_keys_nothing_is_sent(monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    with pytest.raises(NoKeys, match="AWS_ACCESS_KEY_ID"):
        Bucket("http://127.0.0.1:9/bucket").write_text("x", ["x"])
