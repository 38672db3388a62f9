"""How answers are written: one JSON document, or Rich tables that fit the terminal."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import datetime
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

WIDTH = 100
"""Where nobody tells how wide the output is."""
SHORT_ID = 10
NOT_READ = (
    "Not read: language. The rules read English only; a model reads others (docs/extraction.md)."
)
STYLES = {
    "admit": "green",
    "confirm": "green",
    "supersede": "cyan",
    "quarantine": "yellow",
    "queue": "yellow",
    "escalate": "magenta",
    "reject": "red",
}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def jsonable(answer: Any) -> Any:
    """Answers, lists and mappings of answers as what JSON knows."""
    if hasattr(answer, "model_dump"):
        return answer.model_dump(mode="json")
    if is_dataclass(answer) and not isinstance(answer, type):
        return asdict(answer)
    if isinstance(answer, dict):
        return {name: jsonable(each) for name, each in answer.items()}
    if isinstance(answer, list | tuple):
        return [jsonable(each) for each in answer]
    return answer


def write_json(answer: Any, *, lines: bool = False) -> None:
    """One document on standard output; with `lines`, on one line."""
    import orjson

    option = 0 if lines else orjson.OPT_INDENT_2
    typer.echo(orjson.dumps(jsonable(answer), option=option))


def show(answer: Any, json: bool, page: Callable[[Any], Iterable[RenderableType]]) -> None:
    """Answer in JSON, or as the page that a person reads."""
    if json:
        write_json(answer)
        return
    out = console()
    for part in page(answer):
        out.print(part)


def show_page(
    answer: Any,
    json: bool,
    page: Callable[[Any], Iterable[RenderableType]],
    *,
    limit: int | None,
    after: str | None,
) -> None:
    """As `show`. Where a page was asked for, by its `limit` or what it comes `after`, JSON has the
    answers as `items` and the cursor of the `next` one."""
    if json:
        paged = limit is not None or after is not None
        write_json({"items": answer, "next": answer.next} if paged else answer)
        return
    show(answer, json, page)
    if answer.next is not None:
        console().print(whole(f"There is more: --after {answer.next}"), soft_wrap=True)


def console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    class Output(Console):
        """Leaves a broken pipe to whoever runs the command."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    out = Output(stderr=stderr, highlight=False, emoji=False, markup=True)
    if not out.is_terminal:
        out.width = get_terminal_size((WIDTH, 24)).columns
    return out


def words(text: object) -> str:
    """Text of others, fit for a terminal: control characters become visible."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))


def cell(text: object, style: str = "") -> Text:
    """Words of others in a table: on one line, never taken for markup."""
    from rich.text import Text

    return Text("" if text is None else " ".join(words(text).split()), style=style)


def whole(text: object) -> Text:
    """What somebody copies, such as a key: on one line however long, never taken for markup."""
    from rich.text import Text

    return Text(words(text), no_wrap=True, overflow="ignore")


def outcome(name: str) -> Text:
    return cell(name, STYLES.get(name, ""))


def short(identifier: str | None) -> Text:
    return cell((identifier or "")[:SHORT_ID], "dim")


def when(moment: datetime | str | None) -> str:
    """`2026-03-01 09:30`, in UTC."""
    if moment is None:
        return "–"
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return moment.strftime("%Y-%m-%d %H:%M")


def day(moment: datetime | str | None) -> str:
    """`2026-03-01`, in UTC."""
    return when(moment)[:10]


def number(value: float) -> str:
    """A score with two digits and no leading zero, as `.65`."""
    return f"{value:.2f}".removeprefix("0")


def command(text: str) -> Any:
    """A command to copy: on one line, or on more that end in backslashes where it is too long."""
    from rich.text import Text

    from beliefledger.tools.cli.tables import Command

    return Command(Text(f"  {' '.join(words(text).split())}"))


def table(*columns: str | tuple[str, dict[str, Any]], title: str | None = None) -> Table:
    from rich import box

    from beliefledger.tools.cli.tables import FittingTable

    made = FittingTable(
        box=box.SIMPLE_HEAD,
        title=title,
        title_justify="left",
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for column in columns:
        name, options = column if isinstance(column, tuple) else (column, {})
        made.add_column(name, **options)
    return made


RIGHT: dict[str, Any] = {"justify": "right", "no_wrap": True}
FIXED: dict[str, Any] = {"no_wrap": True}


def decided(answers: Iterable[Any]) -> Table:
    """What was just decided, a row for each."""
    made = table(
        ("outcome", FIXED), ("reason", FIXED), ("conf.", RIGHT), "claim", ("memory", FIXED)
    )
    for each in answers:
        made.add_row(
            outcome(each.outcome),
            each.reason,
            number(each.confidence),
            cell(each.claim),
            short(each.memory_id),
        )
    return made


def cost(micro_usd: int | None) -> str:
    """What a model cost, in dollars."""
    return "at an unknown price" if micro_usd is None else f"${micro_usd / 1e6:.4f}"


def count(number_of: int, one: str, many: str | None = None) -> str:
    """`1 turn`, `1,200 turns`."""
    return f"{number_of:,} {one if number_of == 1 else many or one + 's'}"


def tally(counts: dict[str, int]) -> str:
    return " · ".join(f"{name} {value:,}" for name, value in counts.items()) or "none"


def hints(answers: Iterable[Any]) -> Iterator[Any]:
    """What to do about decisions, where there is something to do: each way on a line to copy."""
    ways = dict.fromkeys(way for each in answers if each.hint for way in each.hint.split("; or "))
    if ways:
        yield cell("To change that:")
    for way in ways:
        yield command(way)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error while it is a terminal. Gives (done, of how many)."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns: Sequence[Any] = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)
