"""The command line. `beliefledger --help` lists its commands; docs/cli.md has all of it."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beliefledger.tools.cli.commands import app

__all__ = ["app", "main"]


def __getattr__(name: str) -> Any:
    """`app` is the whole command line, which most do not need."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from beliefledger.tools.cli.commands import app  # noqa: PLC0415

    return app


def main() -> None:
    """Run the command line and exit."""
    # With Python's own threshold, loading takes an eighth longer. A command that asks one question
    # makes 130,000 to 190,000 objects in all, and they stay.
    gc.set_threshold(250_000, 10, 10)
    from beliefledger.settings import no_plugins  # noqa: PLC0415  (loaded after that)
    from beliefledger.tools.cli.common import INTERRUPTED  # noqa: PLC0415
    from beliefledger.tools.cli.needed_commands import needed  # noqa: PLC0415

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    no_plugins()
    try:
        needed(sys.argv[1:])()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        gc.freeze()  # the process ends: nothing has to be looked through once more
