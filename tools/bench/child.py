"""Records turns one by one in a process of its own, so that its system calls can be counted.

`python -m beliefledger.tools.bench.child DIRECTORY TURNS record|decide`. It leaves without closing
the ledger: the checkpoint of a closing is no part of a turn.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from beliefledger.opener import open_memory
from beliefledger.tools.bench.conversations import statements

SUBJECT = "person 0"
WARM = 3
"""Turns recorded in any case: the first commit into an empty WAL also syncs the WAL's header."""


def main() -> None:
    directory, turns, what = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    memory = open_memory(directory, create=False)
    for content in statements(WARM + turns, seed=len(what)):
        memory.record_turn(SUBJECT, content)
        if what == "decide":
            memory.process()
    sys.stdout.write(f"{memory.status(digests=False).position}\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
