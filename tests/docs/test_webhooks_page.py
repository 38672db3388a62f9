"""The page about webhooks: its session is one that ran."""

from __future__ import annotations

import webhook_session


def test_the_session_on_the_page_is_what_a_run_prints():
    """`python tests/webhook_session.py` writes it."""
    page = webhook_session.PAGE.read_text("utf-8")
    [shown] = [found[0] for found in webhook_session.BETWEEN.finditer(page)]
    now = webhook_session.written(shown, webhook_session.session())
    assert webhook_session.steady(shown).split("\n") == webhook_session.steady(now).split("\n")
