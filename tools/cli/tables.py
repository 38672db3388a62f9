"""Tables that fit the width they are printed at, or turn into one block for each row.

Rich narrows a table by cutting ids and words. Here every column keeps room for its longest word,
and one that may not wrap for its longest cell. Where that is too much for the width, or leaves too
little for sentences, each row becomes a block: its short cells on one line, its texts below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

COMFORT = 24
"""A column of sentences is not made narrower than this."""
GAP = " · "
INDENT = 2


@dataclass(frozen=True, slots=True)
class Room:
    """How wide a column has to be, and would like to be."""

    least: int
    most: int
    wraps: bool

    @property
    def comfortable(self) -> int:
        return max(self.least, min(self.most, COMFORT)) if self.wraps else self.most


class FittingTable(Table):
    """A table that never cuts an id or a word."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = self._fitting(console, options)
        if widths is None:
            yield from self._blocks(console, options)
            return
        for column, width in zip(self.columns, widths, strict=True):
            column.width = width
        yield from super().__rich_console__(console, options)

    def _fitting(self, console: Console, options: ConsoleOptions) -> list[int] | None:
        """The width of each column, or None where they do not fit."""
        rooms = [self._room(console, options, at) for at in range(len(self.columns))]
        between = sum(self._get_padding_width(at) for at in range(len(rooms)))
        left = options.max_width - self._extra_width - between
        if sum(room.comfortable for room in rooms) > left:
            return None
        widths = [room.comfortable for room in rooms]
        left -= sum(widths)
        # Whoever wants least is served first, so that few columns wrap.
        order = sorted(range(len(rooms)), key=lambda at: rooms[at].most - widths[at])
        for served, at in enumerate(order):
            more = min(rooms[at].most - widths[at], left // (len(order) - served))
            widths[at] += more
            left -= more
        return widths

    def _room(self, console: Console, options: ConsoleOptions, at: int) -> Room:
        column = self.columns[at]
        wide = options.update_width(10_000)
        cells = [*column.cells, *([column.header] if self.show_header else [])]
        sizes = [Measurement.get(console, wide, cell) for cell in cells]
        most = max((size.maximum for size in sizes), default=0)
        least = max((size.minimum for size in sizes), default=0)
        return Room(most if column.no_wrap else least, most, not column.no_wrap)

    def _blocks(self, console: Console, options: ConsoleOptions) -> Iterator[Text | Padding]:
        """Each row by itself: short cells on its first line, sentences below."""
        yield Text()
        if self.title:
            yield self.title.copy() if isinstance(self.title, Text) else Text(str(self.title))
        rooms = [self._room(console, options, at) for at in range(len(self.columns))]
        long = [at for at, room in enumerate(rooms) if room.wraps and room.most > COMFORT]
        for cells in zip(*(column.cells for column in self.columns), strict=True):
            row = [
                cell.copy() if isinstance(cell, Text) else console.render_str(str(cell))
                for cell in cells
            ]
            short = [at for at in range(len(row)) if at not in long]
            yield from self._head([(at, row[at]) for at in short], options.max_width)
            for at in long:
                if row[at].plain.strip("–"):
                    label = str(self.columns[at].header) if len(long) > 1 else ""
                    named = Text(f"{label}: " if label else "", style="dim")
                    yield Padding(named + row[at], (0, 0, 0, INDENT), expand=False)
        yield Text()

    def _head(self, cells: Sequence[tuple[int, Text]], width: int) -> Iterator[Text]:
        """The short cells of a row, on as many lines as they need; the first goes unnamed."""
        line = Text()
        for at, cell in cells:
            if not cell.plain.strip("–"):
                continue
            name = str(self.columns[at].header) if at else ""
            part = Text(f"{name} " if name else "", style="dim") + cell
            if not line.plain:
                line = part
            elif len(line.plain) + len(GAP) + len(part.plain) <= width:
                line = Text("").join([line, Text(GAP, style="dim"), part])
            else:
                yield line
                line = Text(" " * INDENT) + part
        if line.plain:
            yield line


@dataclass(frozen=True, slots=True)
class Command:
    """A command to copy. Where it is too long for the width it goes on after a backslash."""

    words: Text

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        indent = len(self.words.plain) - len(self.words.plain.lstrip())
        parts = self.words.plain.split(" --")
        line, rest = parts[0], parts[1:]
        for part in rest:
            more = f"{line} --{part}"
            if len(more) + 2 > options.max_width:
                yield _copied(f"{line} \\")
                line = f"{' ' * (indent + INDENT)}--{part}"
            else:
                line = more
        yield _copied(line)


def _copied(line: str) -> Text:
    return Text(line, no_wrap=True, overflow="ignore")
