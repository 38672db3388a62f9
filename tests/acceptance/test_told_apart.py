"""Where somebody lives, told with whom: each by itself, so that one outlives the other."""

from __future__ import annotations

import pytest

from beliefledger import open_memory


@pytest.fixture
def memory(tmp_path):
    with open_memory(tmp_path / "ledger", consent="consent") as opened:
        opened.remember("ana", "I live with my girlfriend Ana in Ghent", said_at="2026-01-05")
        yield opened


def _told(memory):
    return {each.attribute: each.text for each in memory.beliefs("ana")}


def test_the_town_is_told_without_the_people(memory):
    told = _told(memory)
    assert told["home.location"] == "User lives in Ghent"
    assert "Ana" in told["home.household"]


def test_the_town_stays_once_they_split_up(memory):
    memory.remember("ana", "Ana and I split up in june", said_at="2026-07-05")
    told = _told(memory)
    assert told["home.location"] == "User lives in Ghent"
    assert "home.household" not in told
    assert "relation.partner.name" not in told
