"""The page about NATS: its session is one that ran."""

from __future__ import annotations

import nats_session


def test_the_session_on_the_page_is_what_a_run_prints():
    """`python tests/nats_session.py` writes it."""
    page = nats_session.PAGE.read_text("utf-8")
    [shown] = [found[0] for found in nats_session.BETWEEN.finditer(page)]
    now = nats_session.written(shown, nats_session.session())
    assert nats_session.steady(shown).split("\n") == nats_session.steady(now).split("\n")
