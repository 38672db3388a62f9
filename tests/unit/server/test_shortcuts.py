"""Which questions are answered without FastAPI, and that nothing else is."""

from __future__ import annotations

import re

import pytest

from beliefledger.tools.server.api import http
from beliefledger.tools.server.api.endpoint import ENDPOINTS
from beliefledger.tools.server.api.shortcuts import Shortcuts

SHORTCUTS = Shortcuts(http.ENDPOINTS)


def test_a_question_by_id_is_found_with_its_arguments() -> None:
    found = SHORTCUTS.find("GET", "/memories/abc/explanation", b"")
    assert found is not None
    endpoint, given = found
    assert endpoint.name == "explain"
    assert given == {"memory_id": "abc", "as_of": None, "proof": False}


@pytest.mark.parametrize(
    ("method", "path", "query"),
    [
        ("DELETE", "/memories/abc", b""),
        ("HEAD", "/memories/abc", b""),
        ("GET", "/memories/abc", b"as_of=3"),
        ("GET", "/memories/abc/", b""),
        ("GET", "/memories/a/b", b""),
        ("GET", "/memories/", b""),
        ("GET", f"/memories/{'a' * 201}", b""),  # FastAPI says what is wrong with it
        ("GET", "/proofs/inclusion/1", b""),  # a number, which is read
        ("GET", "/beliefs", b""),
        ("GET", "/nowhere/abc", b""),
    ],
)
def test_everything_else_is_left_to_fastapi(method: str, path: str, query: bytes) -> None:
    assert SHORTCUTS.find(method, path, query) is None


def test_a_path_leads_where_its_route_does() -> None:
    for each in ENDPOINTS:
        path = re.sub(r"{\w+}", "abc", each.path)
        found = SHORTCUTS.find("GET", path, b"")
        if found is not None:
            [first] = [
                route.name
                for route in http._routes()
                if route.path_regex.match(path) and "GET" in (route.methods or ())
            ][:1]
            assert found[0].name == first
