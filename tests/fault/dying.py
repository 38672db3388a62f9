"""A process that appends one batch and dies at a step of it, without a word.

    dying.py PLACE STEP ID ID …

Says `acknowledged` in the case that it did not come past that step.
"""

# ruff: noqa: T201  what it prints is read by the test

from __future__ import annotations

import os
import sys

from ledgers import open_store, sealed

from beliefledger.ledger.times import system_clock


def main(place, step, *ids):
    store = open_store(place)

    def die(at):
        if at == step:
            os._exit(9)

    store.step = die
    store.append(sealed("s", 2, len(ids), list(ids)), {"s": 1}, system_clock)
    print("acknowledged", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
