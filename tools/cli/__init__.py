"""The command line. `beliefledger --help` lists its commands; docs/cli.md has all of it."""

from __future__ import annotations

import sys

from beliefledger.tools.cli import (
    ageing,
    asking,
    auditing,
    backing,
    certifying,
    consolidating,
    evolving,
    extracting,
    following,
    forgetting,
    judging,
    knowing,
    moving,
    permitting,
    proving,
    recalling,
    running,
    searching,
    settling,
    vectoring,
    witnessing,
    writing,
)
from beliefledger.tools.cli.app import INTERRUPTED, app

__all__ = [
    "ageing",
    "app",
    "asking",
    "auditing",
    "backing",
    "certifying",
    "consolidating",
    "evolving",
    "extracting",
    "following",
    "forgetting",
    "judging",
    "knowing",
    "main",
    "moving",
    "permitting",
    "proving",
    "recalling",
    "running",
    "searching",
    "settling",
    "vectoring",
    "witnessing",
    "writing",
]


def main() -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
