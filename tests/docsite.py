"""The site of the documents: `python tests/docsite.py` (or `make docs`) builds it, strictly.

The pages are those of docs/, the README as the first one, and the reference, which is made of the
docstrings. They are staged in a directory of their own, since a link from a page to a file of the
code leads nowhere on a site: there it is the file's name. Any other link that leads nowhere, a
heading included, fails the build. Nothing is fetched.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

import reference

ROOT = Path(__file__).parent.parent
STAGE = ROOT / "build" / "pages"
CONFIG = "zensical.toml"
ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
}
"""Pages outside of docs/, and what they are called on the site."""
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_FENCE = re.compile(r"(^ *```.*?^ *```$)", re.M | re.S)


def stage(directory: Path = STAGE) -> Path:
    """Lay out the pages for the site; returns the directory."""
    shutil.rmtree(directory, ignore_errors=True)
    pages = directory / "docs"
    pages.mkdir(parents=True)
    shutil.copy(ROOT / CONFIG, directory)
    for path in sorted((ROOT / "docs").rglob("*")):
        name = path.relative_to(ROOT / "docs").as_posix()
        if path.suffix == ".md":
            _write(pages / name, staged(path.read_text("utf-8"), f"docs/{name}"))
        elif path.suffix == ".svg":
            (pages / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, pages / name)
    for source, name in ELSEWHERE.items():
        _write(pages / name, staged((ROOT / source).read_text("utf-8"), source))
    _write(pages / "adr" / "index.md", decisions())
    for name, text in reference.pages().items():
        _write(pages / "reference" / name, text)
    return directory


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def staged(text: str, source: str) -> str:
    """A page as it is on the site; `source` is where it lies in the repository."""
    here = _place(source) or ""

    def relinked(match: re.Match[str]) -> str:
        words, target = match.groups()
        path, hash_, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:") or not path:
            return match[0]
        place = _place(posixpath.normpath(posixpath.join(posixpath.dirname(source), path)))
        if place is None:  # a file of the code
            return words if words.startswith("`") else f"`{words}`" if "/" in words else words
        target = posixpath.relpath(place, posixpath.dirname(here) or ".")
        return f"[{words}]({target}{hash_}{anchor})"

    parts = _FENCE.split(text)  # every second one is code, in which nothing is a link
    parts[::2] = [_LINK.sub(relinked, part) for part in parts[::2]]
    # A diagram's program would be fetched by the reader's browser: it is shown as it is written.
    return "".join(parts).replace("```mermaid\n", "```text\n")


def _place(source: str) -> str | None:
    """Where a file of the repository is on the site; None for one that is not there."""
    if source in ELSEWHERE:
        return ELSEWHERE[source]
    if source in {"docs/adr", "docs/howto"}:
        return {"docs/adr": "adr/index.md", "docs/howto": "howto/engineer.md"}[source]
    inside = source.startswith("docs/") and source.endswith((".md", ".svg"))
    return source.removeprefix("docs/") if inside else None


def decisions() -> str:
    """The page that lists the decisions of the architecture."""
    lines = ["# Decisions", "", "Why things are as they are, one page each.", ""]
    for path in sorted((ROOT / "docs" / "adr").glob("*.md")):
        title = path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        number, _, words = title.partition(". ")
        lines.append(f"- [{number}. {words}]({path.name})")
    return "\n".join([*lines, ""])


def build(directory: Path = STAGE) -> subprocess.CompletedProcess[str]:
    """Build the site of what was staged; what is not as it should be is an error."""
    program = Path(sys.executable).with_name("zensical")
    return subprocess.run(
        [program, "build", "--clean", "--strict"],
        cwd=directory, capture_output=True, text=True, check=False, env={"NO_COLOR": "1"},
    )  # fmt: skip


def main() -> int:
    stage()
    done = build()
    if done.returncode:
        told = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
        sys.stderr.write(told.partition("Traceback")[0])
        return 1
    sys.stdout.write(f"The documents are in {(STAGE / 'site').relative_to(ROOT)}/index.html.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
