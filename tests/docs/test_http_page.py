"""The session on docs/http.md is what a server answers, and its table has every endpoint."""

from __future__ import annotations

import shutil

import http_session
import pytest

from beliefledger.tools.server.api.endpoint import ENDPOINTS


@pytest.mark.parametrize("ask", [http_session.by_curl, http_session.by_client])
def test_the_session_is_what_a_line_of_curl_prints(ask):
    """`python tests/http_session.py` writes it. Without curl, another client sends what bash makes
    of each line."""
    if ask is http_session.by_curl and shutil.which("curl") is None:
        pytest.skip("there is no curl")
    page = http_session.PAGE.read_text("utf-8")
    [shown] = [found[0] for found in http_session.BETWEEN.finditer(page)]
    now = http_session.written(shown, http_session.session(ask))
    assert http_session.steady(shown) == http_session.steady(now)


def test_a_line_that_bash_reads_otherwise_is_noticed():
    with http_session.serving() as (_, environment):
        wrong = "curl -i -H 'Authorization: Bearer $TOKEN' \"$URL/v1/beliefs\""
        assert next(http_session.by_client(wrong, environment)) == "HTTP/1.1 401 Unauthorized"


def test_the_python_of_the_page_prints_what_it_says():
    page = http_session.PAGE.read_text("utf-8")
    [shown] = [found[0] for found in http_session.PYTHON.finditer(page)]
    told = http_session.python_session(page)
    now = http_session.written(shown, told, http_session.PYTHON)
    assert http_session.steady(shown) == http_session.steady(now)
    assert told.count("```console\n$ python ") == 2


def test_the_page_names_every_endpoint():
    page = http_session.PAGE.read_text("utf-8")
    for of in ENDPOINTS:
        assert f"`{of.method} {of.path}`" in page, of.name
