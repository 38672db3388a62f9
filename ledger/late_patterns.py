"""Regular expressions that are compiled when they are first used.

Hundreds of them took half of the time of importing the package, and most processes need few.
"""

from __future__ import annotations

import re
from typing import Any, cast

from beliefledger.ledger.kept_patterns import PATTERNS


def compile_later(source: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that is compiled when it is first asked anything.

    A mistake in it shows only then; tests/linear compiles them all.
    """
    return cast("re.Pattern[str]", _Late(source, flags))


class _Late:
    """Stands for a compiled pattern. From its first use on, it has the methods of that pattern as
    its own attributes, so that it costs nothing more than the pattern does."""

    def __init__(self, source: str, flags: int) -> None:
        self.pattern = source
        self._asked = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = PATTERNS.compiled(self.pattern, self._asked)
        vars(self).update((each, getattr(compiled, each)) for each in _PUBLIC)
        return getattr(compiled, name)

    def __repr__(self) -> str:
        return f"compile_later({self.pattern!r})"


_PUBLIC = tuple(each for each in dir(re.Pattern) if not each.startswith("_"))
