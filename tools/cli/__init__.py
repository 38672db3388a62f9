"""The command line. `beliefledger --help` lists its commands; docs/cli.md has all of it."""

from __future__ import annotations

import gc
import sys

from beliefledger.tools.cli import (
    audit,
    backups,
    beliefs,
    certificates,
    conflicts,
    consent,
    consolidation,
    context,
    decay,
    entities,
    erasure,
    exports,
    extraction,
    followers,
    holds,
    ledger,
    memories,
    moments,
    ops,
    policy,
    proof,
    recalls,
    relays,
    schedule,
    search,
    server,
    teams,
    tenants,
    tokens,
    turns,
    types,
    vectors,
    webhooks,
    witness,
)
from beliefledger.tools.cli.app import INTERRUPTED, app
from beliefledger.tools.cli.needed_commands import needed

__all__ = [
    "app",
    "audit",
    "backups",
    "beliefs",
    "certificates",
    "conflicts",
    "consent",
    "consolidation",
    "context",
    "decay",
    "entities",
    "erasure",
    "exports",
    "extraction",
    "followers",
    "holds",
    "ledger",
    "main",
    "memories",
    "moments",
    "ops",
    "policy",
    "proof",
    "recalls",
    "relays",
    "schedule",
    "search",
    "server",
    "teams",
    "tenants",
    "tokens",
    "turns",
    "types",
    "vectors",
    "webhooks",
    "witness",
]


def main() -> None:
    """Run the command line and exit."""
    gc.set_threshold(100_000, 10, 10)  # with Python's own, loading takes an eighth longer
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        needed(sys.argv[1:])()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        gc.freeze()  # the process ends: nothing has to be looked through once more
