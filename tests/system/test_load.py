"""Fifty agents at two servers over one Postgres, one of which is killed in the middle."""

from __future__ import annotations

import pytest

from beliefledger.tools.bench.load import AGENTS, loaded

SECONDS = 8
"""`python -m beliefledger.tools.bench load` takes 60 and asserts more of the memory."""


@pytest.mark.timeout(280)
def test_fifty_agents_lose_nothing_when_one_of_two_servers_is_killed(postgres_place):
    done = loaded(postgres_place, SECONDS)

    assert done.errors == []
    assert done.lost == []
    assert {key.split("-")[0] for key in done.stored} == {str(at) for at in range(AGENTS)}
    assert done.calls >= 2 * AGENTS
    assert done.growth < 0.2  # tens of megabytes of a leak, in this little time
