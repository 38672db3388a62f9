"""The cues of how something is meant: blocks of patterns in a data file."""

from __future__ import annotations

import re
from typing import Any

from beliefledger.gate.literals import Guarded, Line, Table
from beliefledger.ledger.data_files import data
from beliefledger.ledger.late_patterns import compile_later

READING = 5
"""The edition of the cues. What was decided by those of before is read by those again: 0; 1, which
refuses nothing of a turn that asks to keep none of it; 2, which takes any words that were stored,
and word problems and parts to play for the speaker's own; 3, to which a statement is asked where
help is asked for behind it: "I'm vegetarian, ideas for dinner?"; and 4, by which the value that was
stored last is the present one, whatever time it was stored for."""
UNRECORDED = 2
"""The first edition that refuses what is not to be kept."""
ORDERS_STORED = 3
"""The first edition that refuses orders to the machine that come without a turn, too."""
TASKS_SET = 3
"""The first edition that knows what is only set as a task."""
HELP_ASKED = 4
"""The first edition to which who asks for help behind a statement tells it."""
TIMES_STORED = 5
"""The first edition by which a value that is stored for a time before the present one is past."""


class Cues:
    """A data file of cues. Its `parts` stand in the other blocks as `<name>`."""

    def __init__(self, name: str) -> None:
        self._blocks: dict[str, Any] = data("beliefledger.gate", name)

    def __getitem__(self, name: str) -> Any:
        """A block as it is written."""
        return self._blocks[name]

    def pattern(self, name: str, flags: re.RegexFlag = re.I) -> re.Pattern[str]:
        """The lines of a block as one pattern."""
        return compile_later(self._filled("|".join(self._blocks[name].splitlines())), flags)

    def guarded(self, name: str) -> Guarded:
        """The same, asked only about texts with a word that it needs."""
        return Guarded(self._filled("|".join(self._blocks[name].splitlines())), re.I)

    def lines(self, name: str) -> list[Guarded]:
        """The lines of a block as a pattern each."""
        return [Guarded(self._filled(line), re.I) for line in self._blocks[name].splitlines()]

    def table(self, *names: str) -> Table[Line]:
        """The lines of some blocks, of which one look tells which may find something."""
        return Table(Line(each) for name in names for each in self.lines(name))

    def _filled(self, lines: str) -> str:
        for part, pattern in self._blocks["parts"].items():
            lines = lines.replace(f"<{part}>", pattern)
        return lines
