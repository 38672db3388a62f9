"""A subscriber that drops its connection all the time is told of every event, once and in order.

`make test-system` does it ten thousand times.
"""

from __future__ import annotations

import pytest
from dropping import told_all
from served import BACKENDS, served_on


@pytest.fixture(params=BACKENDS)
def server(request, tmp_path_factory):
    with served_on(request, tmp_path_factory, worker=False, calls_per_minute=1_000_000) as running:
        yield running


def test_who_drops_its_connection_after_each_event_loses_none(server, person):
    assert told_all(server, person, subscribers=10, many=20) > 200
