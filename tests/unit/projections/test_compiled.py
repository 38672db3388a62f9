"""What a process keeps of tables that a rebuild has put out of use."""

import gc

from sqlalchemy import Table

from beliefledger import open_memory
from beliefledger.projections.compiled import STATEMENTS

REBUILDS = 12
"""More than the generations whose tables are kept."""


def asked(memory):
    memory.remember("ana", "I live in Porto.")
    return [each.value for each in memory.beliefs("ana")]


def test_statements_of_generations_out_of_use_are_forgotten(tmp_path):
    with open_memory(tmp_path / "ledger", consent="consent") as memory:
        before = asked(memory)
        kept = []
        for _ in range(REBUILDS):
            memory.operations.rebuild()
            assert asked(memory) == before
            kept.append(len(STATEMENTS))

    assert max(kept[1:]) <= kept[0] + 2


def test_tables_of_few_generations_are_kept(tmp_path):
    with open_memory(tmp_path / "ledger", consent="consent") as memory:
        for _ in range(REBUILDS):
            memory.operations.rebuild("belief_versions")
            asked(memory)

    gc.collect()
    names = {each.name for each in gc.get_objects() if type(each) is Table}
    kept = {f"belief_versions_{number}" for number in range(1, REBUILDS + 2)} & names
    assert f"belief_versions_{REBUILDS + 1}" in kept
    assert len(kept) < REBUILDS
