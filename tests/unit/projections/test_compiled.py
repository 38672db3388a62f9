"""What a process keeps of tables that a rebuild has put out of use."""

import gc

from sqlalchemy import Table

from beliefledger import open_memory
from beliefledger.projections.compiled import _MANY, STATEMENTS

REBUILDS, OF_ONE = 12, 50
"""More than the generations whose tables are kept, of all views and of one."""


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

    assert max(kept) < _MANY + 20
    assert min(kept[1:]) < kept[0] + 20  # they were forgotten at some time


def test_what_one_ledger_has_compiled_another_one_uses_after_a_rebuild(tmp_path):
    STATEMENTS.clear()
    kept = []
    for place in ("first", "second"):
        with open_memory(tmp_path / place, consent="consent") as memory:
            asked(memory)
            memory.operations.rebuild()
            asked(memory)
        kept.append(len(STATEMENTS))

    assert kept[0] == kept[1]


def test_tables_of_few_generations_are_kept(tmp_path):
    with open_memory(tmp_path / "ledger", consent="consent") as memory:
        for _ in range(OF_ONE):
            memory.operations.rebuild("belief_versions")
            asked(memory)

    gc.collect()
    names = {each.name for each in gc.get_objects() if type(each) is Table}
    kept = {f"belief_versions_{number}" for number in range(1, OF_ONE + 2)} & names
    assert f"belief_versions_{OF_ONE + 1}" in kept
    assert len(kept) < OF_ONE
