"""Sessions on pages of the documents: what a reader types after `$`, and what it prints.

`python tests/sessions.py docs/tutorial.md …` runs the commands of a page in an empty directory and
writes what they print into the page; tests/docs/test_sessions.py runs them and compares. A Python
block that begins with the name of a file is that file, from there on. Ids and the present time are
other ones in each run: on the page they are always the same ones.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

_BLOCK = re.compile(r"^```(python|console|yaml)\n(.*?)^```$", re.M | re.S)
_FILE = re.compile(r"# ([\w.-]+\.\w+)\n")
_ID = re.compile(r"(?<![\w-])(?=[a-f]*[0-9])[0-9a-f]{8,64}(?![\w-])")
_MARK = "\x1d"
MEASURED = {
    r"\b[0-9.]+ (ms|s)\b": r"0.1 \1",
    r"\b[0-9,]+ turns/s": "10 turns/s",
    r"[0-9]+% fresh": "36% fresh",
}
"""What differs with the machine and the day, and what stands for it."""
_SCORE = re.compile(r"(?<= )[0-9]+\.[0-9]{2}$", re.M)
SECONDS = 240
WIDTH = "100"
BIN = Path(sys.executable).parent


def run(text: str, directory: Path, programs: Path = BIN) -> list[list[tuple[str, str]]]:
    """The console blocks of a page, each with its commands and what they print, run in order.

    `beliefledger` and `python` are those of the directory `programs`.
    """
    blocks: list[list[tuple[str, str]]] = []
    script = ["cd " + str(directory)]
    for kind, inside in _BLOCK.findall(text):
        if kind == "console":
            blocks.append([(line, "") for line in _commands(inside)])
            script += [f"printf '{_MARK}'\n{command}" for command, _ in blocks[-1]]
        elif named := _FILE.match(inside):
            mark = "END_OF_FILE"
            script.append(f"cat > {named[1]} <<'{mark}'\n{inside}{mark}")
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], env=_environment(directory, programs), cwd=directory,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        check=False, timeout=SECONDS,
    )  # fmt: skip
    printed = iter(steady(done.stdout, directory).split(_MARK)[1:])
    return [[(command, next(printed, "")) for command, _ in block] for block in blocks]


def written(text: str, directory: Path, programs: Path = BIN) -> str:
    """The page with what its commands print now."""
    blocks = iter(run(text, directory, programs))

    def filled(match: re.Match[str]) -> str:
        if match[1] != "console":
            return match[0]
        lines = []
        for command, printed in next(blocks):
            lines.append(f"$ {command}\n")
            lines += [f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines()]
        return f"```console\n{''.join(lines)}```"

    return _BLOCK.sub(filled, text)


def compared(text: str) -> str:
    """A page without its scores: they fall a little each day, as what was said grows older."""
    return _SCORE.sub("a score", text)


def _commands(block: str) -> list[str]:
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def steady(printed: str, directory: Path) -> str:
    """What was printed, with ids, the present time and the directory as they are on a page."""
    known: dict[str, str] = {}

    def same(match: re.Match[str]) -> str:
        key = match[0][:8]
        if key not in known:
            known[key] = hashlib.sha256(str(len(known)).encode()).hexdigest()
        return known[key][: len(match[0])]

    today = datetime.now(UTC)
    for date in (today, datetime.now().astimezone()):
        now = rf"{date:%Y-%m-%d}([T ])[0-9:]{{5,8}}(\.[0-9]+)?"
        printed = re.sub(now, _then, printed)
        printed = printed.replace(f"{date:%Y-%m-%d}", "2026-03-20")
    for measured, shown in MEASURED.items():
        printed = re.sub(measured, shown, printed, flags=re.M)
    printed = printed.replace(f"{directory}/", "").replace(str(directory), ".")
    return _ID.sub(same, printed)


def _then(match: re.Match[str]) -> str:
    return f"2026-03-20{match[1]}{'09:00:00.000000'[: len(match[0]) - 11]}"


def _environment(directory: Path, programs: Path) -> dict[str, str]:
    kept = {name: told for name, told in os.environ.items() if "BELIEFLEDGER" not in name}
    return {
        **kept,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(directory),
        "COLUMNS": WIDTH,
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "",
        "BELIEFLEDGER_EMBEDDER": "hashed-1",
    }


def main() -> None:
    for name in sys.argv[1:]:
        page = Path(name)
        with tempfile.TemporaryDirectory() as directory:
            page.write_text(written(page.read_text("utf-8"), Path(directory)), "utf-8")


if __name__ == "__main__":
    main()
