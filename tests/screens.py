"""Screens of the command line as drawings: what a command shows in a terminal, in colour.

`python tests/screens.py` writes docs/screens/*.svg; tests/docs/test_screens.py draws them again and
compares. The commands run on a ledger of the demo's story, on its clock. Ids are other ones in each
run: in a drawing they are always the same ones. Nothing is loaded from elsewhere, and no font.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from unittest.mock import patch

from command_line import CliRunner
from rich.console import Console
from rich.text import Text

from beliefledger import opener
from beliefledger.tools import demo
from beliefledger.tools.cli import app

SCREENS = Path(__file__).parent.parent / "docs" / "screens"
WIDTH = 100
TODAY = "2026-04-30 09:00"
COMMANDS = {
    "demo": "demo",
    "remember": 'remember --subject ana "We have two cats, and I started a course in Rust."',
    "beliefs": "beliefs --subject ana",
    "history": "history {home}",
    "search": 'search --subject ana "where does she live?"',
    "context": 'context --subject ana --max-tokens 120 "which tools for tests?"',
    "explain": "explain {home}",
    "why-not": 'why-not --subject ana "Ana is a doctor"',
    "diff": "diff --subject ana --start 2026-03-01 --end 2026-04-01",
    "conflicts": "conflicts list",
    "related": "entities related --subject ana --hops 2",
    "status": "status",
    "audit": "audit counts",
    "checklist": "audit checklist write",
    "erasure-preview": "erasure preview ana",
    "proof": "proof verify",
}
"""What is drawn, by the name of its file."""
CHAPTERS = 1
"""How much of the demo is drawn: it is long."""
_ID = re.compile(r"(?<![\w-])(?=[a-f]*[0-9])[0-9a-f]{8,64}(?![\w-])")
_TEMPLATE = """\
<svg class="screen" role="img" aria-label="COMMAND" viewBox="0 0 {width} {height}" \
xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font: {char_height}px/{line_height}px ui-monospace, Menlo, Consolas, \
"DejaVu Sans Mono", monospace; white-space: pre; }}
.{unique_id}-title {{ font: bold 18px ui-sans-serif, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def drawn() -> Iterator[tuple[str, str]]:
    """Each screen: the name of its file, and the drawing."""
    clock = demo.Hands()
    known: dict[str, str] = {}
    # Of the same length everywhere: a table is laid out by it.
    with tempfile.TemporaryDirectory(dir="/tmp") as directory, _steady(clock):
        place = Path(directory) / "ledger"
        home = _told(place, clock)
        clock.set(TODAY)
        for name, command in COMMANDS.items():
            told = ["--ledger", str(place), *_words(command.format(home=home))]
            shown = _shown(told, directory)
            if name == "demo":
                shown = shown[: re.search(rf"^{CHAPTERS + 1}\. ", shown.plain, re.M).start()]
            yield name, _drawing(name, command.format(home=home[:10]), shown, known)


def _told(place: Path, clock: demo.Hands) -> str:
    """Write the ledger that the commands look at; returns the memory of where Ana lives."""
    with opener.open_memory(place, consent="consent", embedder="hashed-1", clock=clock) as memory:
        story = (*demo.WINTER, *demo.SPRING, *demo.MEETINGS, *demo.PEOPLE)
        for at, words in story:
            clock.set(at)
            memory.remember("ana", words, session=at[:10], said_at=at)
        return next(each.memory_id for each in memory.beliefs("ana") if each.value == "Porto")


def _steady(clock: demo.Hands) -> patch.dict:
    """The commands read this clock, and nothing of the environment."""
    return patch.dict(opener.open_memory.__kwdefaults__, clock=clock)


def _words(command: str) -> list[str]:
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', command)]


def _shown(words: list[str], directory: str) -> Text:
    """What a terminal shows."""
    terminal = {
        **{name: "" for name in os.environ if name.startswith("BELIEFLEDGER_")},
        "BELIEFLEDGER_EMBEDDER": "hashed-1",
        "COLUMNS": str(WIDTH),
        "FORCE_COLOR": "1",
        "NO_COLOR": None,
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }
    done = CliRunner().invoke(app, words, env=terminal)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return Text.from_ansi(done.stdout.replace(f"{directory}/", ""))


def _drawing(name: str, command: str, shown: Text, known: dict[str, str]) -> str:
    typed = _same(Text(f"beliefledger {command}", "bold"), known)
    prompt = Text.assemble(("$ ", "bold green"), typed, "\n\n")
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        paper = Console(record=True, width=WIDTH, file=nowhere, force_terminal=True)
        paper.print(prompt, _same(shown, known), sep="", highlight=False)
        template = _TEMPLATE.replace("COMMAND", escape(typed.plain))
        drawing = paper.export_svg(title="beliefledger", code_format=template, unique_id=name)
    return "".join(f"{line.rstrip()}\n" for line in drawing.splitlines() if line.strip())


def _same(text: Text, known: dict[str, str]) -> Text:
    """The text with the ids that it has in every run, which are as long."""

    def same(match: re.Match[str]) -> str:
        key = match[0][:8]
        known.setdefault(key, hashlib.sha256(str(len(known)).encode()).hexdigest())
        return known[key][: len(match[0])]

    made = text.copy()
    made.plain = _ID.sub(same, text.plain)
    return made


def main() -> None:
    SCREENS.mkdir(exist_ok=True)
    for name, drawing in drawn():
        (SCREENS / f"{name}.svg").write_text(drawing, "utf-8")


if __name__ == "__main__":
    main()
