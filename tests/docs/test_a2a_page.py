"""The session on docs/a2a.md is what a server answers."""

from __future__ import annotations

import a2a_session


def test_the_session_is_as_it_runs():
    """`python tests/a2a_session.py` writes it."""
    page = a2a_session.PAGE.read_text("utf-8")
    [shown] = [found[0] for found in a2a_session.BETWEEN.finditer(page)]
    now = a2a_session.written(shown, a2a_session.session())
    assert a2a_session.steady(shown).split("\n") == a2a_session.steady(now).split("\n")
