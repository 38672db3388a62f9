"""The page about NATS: its sessions are ones that ran."""

from __future__ import annotations

import docsite
import nats_session
import pytest

from beliefledger.tools.relay.nats import BATCH


def test_the_sessions_on_the_page_are_what_a_run_prints():
    """`python tests/nats_session.py` writes them."""
    page = nats_session.PAGE.read_text("utf-8")
    now = nats_session.written(page)
    assert nats_session.steady(page).split("\n") == nats_session.steady(now).split("\n")


@pytest.mark.parametrize("page", ["nats.md", "adr/0067-batches-to-nats-without-words.md"])
def test_a_batch_is_as_large_as_is_said(page):
    assert f"p to {BATCH:,} events" in (docsite.ROOT / "docs" / page).read_text("utf-8")


def test_the_pages_say_alike_how_often_an_event_comes():
    """What they say is tested: tests/acceptance/test_nats.py."""
    scale = (docsite.ROOT / "docs" / "scale.md").read_text("utf-8")
    assert "**Each event once, in order**" in nats_session.PAGE.read_text("utf-8")
    assert "publishes envelopes from its cursor, each once and in order" in scale
