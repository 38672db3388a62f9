"""Compiled patterns, kept where Python keeps compiled modules, and under the same conditions.

To compile the thousand that reading turns needs takes half a second in each new process, to load
them a few milliseconds. Only patterns that come with the packages are kept: none is made of
anybody's words, and the file says them in clear.
"""

from __future__ import annotations

import atexit
import marshal
import re
import sys
import threading
from array import array
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any, cast

from beliefledger.ledger.data_files import beside_compiled, put

FEW = 2
"""So many are compiled at once: a command that reads no turn needs no more, and to read the file
would take longer."""
MOST = 5_000
"""Where more are kept, those that this process did not use are of an older version."""
_sre: Any = _compiler._sre  # noqa: SLF001
_MADE_BY = f"{sys.version} {_sre.MAGIC} {array('I').itemsize} {sys.byteorder}"
"""What a compiled pattern is good for."""

Asked = tuple[str, int]
"""Source and flags."""
Compiled = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...]]
"""All that a pattern consists of but its source: flags, code, how many groups, and their names."""


class KeptPatterns:
    """Compiled patterns, and the words that they need, in a file. Threads may share it; of
    processes that write at the same time one is the last."""

    def __init__(self, file: Path | None) -> None:
        """Without a file, nothing is kept."""
        self._file = file
        self._lock = threading.RLock()
        self._there: dict[str, dict[Asked, Any]] | None = None
        self._used: dict[str, dict[Asked, Any]] = {"compiled": {}, "needs": {}}
        self._grew = False

    def compiled(self, source: str, flags: int) -> re.Pattern[str]:
        """As `re.compile`. Raises `re.error`."""
        told, code, groups, index, names = cast(
            "Compiled", self._kept("compiled", source, flags, _compiled)
        )
        made = _sre.compile(source, told, array("I", code).tolist(), groups, index, names)
        return cast("re.Pattern[str]", made)

    def needs(
        self, source: str, flags: int, find: Callable[[str, int], tuple[str, ...]]
    ) -> tuple[str, ...]:
        """What `find` finds that a text must have so that the pattern matches."""
        return cast("tuple[str, ...]", self._kept("needs", source, flags, find))

    def _kept(
        self, what: str, source: str, flags: int, make: Callable[[str, int], object]
    ) -> object:
        asked = source, int(flags)
        with self._lock:
            if self._there is None and what == "compiled" and len(self._used[what]) < FEW:
                found = self._used[what][asked] = make(source, flags)
                return found
            if self._there is None:
                self._there = self._read()
            found = self._there[what].get(asked)
            if found is None:
                found = self._there[what][asked] = make(source, flags)
                if not self._grew and self._file is not None and not sys.dont_write_bytecode:
                    self._grew = True
                    atexit.register(self.write)
            self._used[what][asked] = found
        return found

    def _read(self) -> dict[str, dict[Asked, Any]]:
        if self._file is not None:
            with suppress(OSError, EOFError, ValueError, TypeError, KeyError):
                made_by, kept = marshal.loads(self._file.read_bytes())  # noqa: S302 (as .pyc)
                if made_by == _MADE_BY:
                    return {"compiled": kept["compiled"], "needs": kept["needs"]}
        return {"compiled": {}, "needs": {}}

    def write(self) -> None:
        """Keep what was made here beside what others kept meanwhile."""
        with self._lock:
            there = self._read()
            if len(there["compiled"]) + len(self._used["compiled"]) > MOST:
                there = {"compiled": {}, "needs": {}}
            kept = {what: there[what] | used for what, used in self._used.items()}
            if self._file is not None and kept != there:
                with suppress(OSError):  # they are compiled again the next time
                    put(self._file, marshal.dumps((_MADE_BY, kept)))
            self._grew = False


def _compiled(source: str, flags: int) -> Compiled:
    """As `re.compile` does it."""
    parsed = _parser.parse(source, flags)
    code = array("I", _compiler._code(parsed, flags)).tobytes()  # noqa: SLF001
    state = parsed.state
    names: list[str | None] = [None] * state.groups
    for name, number in state.groupdict.items():
        names[number] = name
    told = int(flags) | int(state.flags)
    return told, code, state.groups - 1, dict(state.groupdict), tuple(names)


PATTERNS = KeptPatterns(beside_compiled(Path(__file__), ".patterns"))
"""Those of this process."""
