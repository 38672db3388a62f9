"""Ten thousand connections for events that are dropped, some in the middle of one: none is lost."""

from __future__ import annotations

import pytest
from dropping import told_all
from served import BACKENDS, served_on


@pytest.fixture(params=BACKENDS)
def server(request, tmp_path_factory):
    with served_on(request, tmp_path_factory, worker=False, calls_per_minute=1_000_000) as running:
        yield running


@pytest.mark.timeout(900)
def test_ten_thousand_reconnects_lose_nothing(server, person):
    rounds = [
        told_all(server, f"{person}-{number}", subscribers=10, many=100) for number in range(10)
    ]
    assert sum(rounds) > 10_000
