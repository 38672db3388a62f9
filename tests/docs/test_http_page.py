"""The session on docs/http.md is what a server answers, and its table has every endpoint."""

from __future__ import annotations

import http_session

from beliefledger.tools.server.api.endpoint import ENDPOINTS


def test_the_session_is_what_a_server_answers():
    """`python tests/http_session.py` writes it."""
    page = http_session.PAGE.read_text("utf-8")
    [shown] = [found[0] for found in http_session.BETWEEN.finditer(page)]
    now = http_session.written(shown, http_session.session())
    assert http_session.steady(shown) == http_session.steady(now)


def test_the_page_names_every_endpoint():
    page = http_session.PAGE.read_text("utf-8")
    for of in ENDPOINTS:
        assert f"`{of.method} {of.path}`" in page, of.name
