"""Who opens a ledger and asks what is believed waits for nothing else to load."""

import json
import subprocess
import sys
from importlib import import_module

from beliefledger import open_memory
from beliefledger.opening.build import KEEP_WORDS

SCRIPT = """
import json, sys
from beliefledger import open_memory
with open_memory(sys.argv[1]) as memory:
    assert memory.beliefs("ana") == []
    print(json.dumps(sorted(sys.modules)))
    receipt, decisions = memory.remember("ana", "I live in Porto.", consent="consent")
    print(json.dumps([[each.outcome for each in decisions], sorted(sys.modules)]))
"""
NOT_FOR_ASKING = {
    "dateparser", "faiss", "numpy", "nicknames", "sqlalchemy.dialects.postgresql",
    "beliefledger.gate.rules.extractor", "beliefledger.gate.decide",
    "beliefledger.gate.speech", "beliefledger.audit.audit",
    "beliefledger.erasure.erasure", "beliefledger.curation.extraction",
    "beliefledger.search.search", "beliefledger.ledger.redact", "stdnum",
    "beliefledger.gate.legible_turn", "beliefledger.ledger.lookalikes", "yaml",
    "beliefledger.projections.search_terms", "beliefledger.projections.search_requests",
    "beliefledger.projections.slot_routing", "beliefledger.gate.gate",
    "beliefledger.gate.intake", "beliefledger.gate.extractor", "beliefledger.gate.decision",
    "beliefledger.curation.storing", "beliefledger.opening.pending",
}  # fmt: skip
NOT_FOR_REMEMBERING = {
    "faiss", "numpy", "beliefledger.audit.audit", "beliefledger.erasure.erasure",
    "beliefledger.search.search", "stdnum",
}  # fmt: skip
SEARCH = """
import json, sys
from beliefledger import open_memory
with open_memory(sys.argv[1]) as memory:
    found = memory.search("ana", "Where do I live?").results[0]
    print(json.dumps([found.memory.value, sorted(sys.modules)]))
"""
NOT_FOR_SEARCHING = {
    "dateparser", "faiss", "nicknames", "packaging", "torch", "sqlalchemy.dialects.postgresql",
    "beliefledger.audit.audit", "beliefledger.erasure.erasure", "beliefledger.gate.decide",
    "beliefledger.gate.checks", "beliefledger.gate.rules.extractor", "beliefledger.gate.speech",
    "beliefledger.gate.rules.lexicon", "stdnum",
}  # fmt: skip


def test_each_part_is_loaded_by_who_uses_it(tmp_path):
    open_memory(tmp_path / "ledger").close()  # a new one has its policy written
    asking, (outcomes, remembering) = told_by(SCRIPT, tmp_path / "ledger")
    assert NOT_FOR_ASKING & set(asking) == set()
    assert outcomes == ["admit"]
    assert "beliefledger.gate.rules.extractor" in remembering
    assert NOT_FOR_REMEMBERING & set(remembering) == set()
    ((value, searching),) = told_by(SEARCH, tmp_path / "ledger")
    assert value == "Porto"
    assert NOT_FOR_SEARCHING & set(searching) == set()


def told_by(script, *arguments):
    """The lines that a script prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_module_that_keeps_words_can_forget_them():
    for name in KEEP_WORDS:
        import_module(name).forget()
