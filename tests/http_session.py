"""The sessions on docs/http.md: `python tests/http_session.py` runs them and writes them there.

Ids, times and lengths differ in each run; tests/docs/test_http_page.py compares all else.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import httpx2
import programs
from a2a_session import lines
from served import Served, served

from beliefledger import open_memory

os.environ.setdefault("BELIEFLEDGER_EMBEDDER", "hashed-1")
PAGE = Path(__file__).parent.parent / "docs" / "http.md"
BETWEEN = re.compile(r"(<!-- session -->\n).*?(<!-- end -->)", re.S)
PYTHON = re.compile(r"(<!-- python -->\n).*?(<!-- end -->)", re.S)
FILES = re.compile(r"```python\n# (\w+\.py)\n(.*?)```", re.S)
_ID = re.compile(r"\b[0-9a-f]{8,32}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ][\d:.]+(Z|\+00:00)?)?|(?<=date: )\w{3}, .* GMT")
_TAG = re.compile(r'"[0-9a-f]{32}"')
_NUMBER = re.compile(
    r'("position": ?|^ *id: |Last-Event-ID: |\?after=|^ *content-length: |^)\d+', re.M
)
_KEPT = (
    "receipt", "turn_id", "pending", "already", "items", "next", "state", "decisions", "outcome",
    "reason", "claim", "text", "value", "valid_from", "type", "title", "status", "detail", "code",
    "remedy", "position", "subject", "subject_ref", "body", "content", "destroyed", "withheld",
)  # fmt: skip
"""What is shown of an answer; the rest is shortened away."""

Ask = Callable[[str, dict[str, str]], Iterator[str]]
"""What a line of `curl -i` prints, line by line, in an environment; it is closed where that is
enough."""


def by_curl(line: str, environment: dict[str, str]) -> Iterator[str]:
    """As bash and curl do it."""
    with subprocess.Popen(
        ["bash", "-c", f"exec {line}"], env=os.environ | environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        try:
            yield from (each.rstrip("\r\n") for each in running.stdout)
        finally:
            running.terminate()


def by_client(line: str, environment: dict[str, str]) -> Iterator[str]:
    """As bash reads the line, and without curl."""
    read = subprocess.run(
        ["bash", "-c", f"curl() {{ printf '%s\\0' \"$@\"; }}; {line}"],
        env=os.environ | environment, text=True, capture_output=True, check=True,
    ).stdout  # fmt: skip
    options = ArgumentParser()
    for name in ("-i", "-N"):
        options.add_argument(name, action="store_true", required=name == "-i")
    options.add_argument("-H", action="append", default=[])
    options.add_argument("-d")
    options.add_argument("url")
    told = options.parse_args(read.split("\0")[:-1])
    headers = dict(each.split(": ", 1) for each in told.H)
    method = "GET" if told.d is None else "POST"
    with httpx2.stream(method, told.url, headers=headers, content=told.d, timeout=30) as answer:
        yield f"HTTP/1.1 {answer.status_code} {answer.reason_phrase}"
        for name, value in answer.headers.multi_items():
            yield f"{name}: {value}"
        yield ""
        yield from answer.iter_lines()


@contextmanager
def serving() -> Iterator[tuple[Served, dict[str, str]]]:
    """A server, and the variables of the page."""
    with tempfile.TemporaryDirectory() as place, open_memory(place) as memory:
        with served(memory) as server:
            yield (
                server,
                {
                    "URL": server.root,
                    "TOKEN": server.token("support-bot"),
                    "AUDITOR": server.token("crm", role="auditor", subjects=None, consent=None),
                },
            )


def session(ask: Ask = by_curl) -> str:
    """Calls and answers of a run, as the page has them."""
    told: list[str] = []
    with serving() as (server, environment):

        def curl(path: str, *options: str, sent: str = "", as_: str = "TOKEN") -> str:
            """Ask by a line of curl, and tell the line and the answer."""
            stream = "text/event-stream" in str(options)
            words = [f'curl -i{"N" if stream else ""} -H "Authorization: Bearer ${as_}"']
            words += [f"-H '{each}'" for each in options]
            if sent:
                words += ["-H 'Content-Type: application/json'", f"-d '{sent}'"]
            line = " ".join([*words, f'"$URL/v1/{path}"'])
            with closing(ask(line, environment)) as printed:
                head = list(iter(lambda: next(printed), ""))
                body = "\n".join(_events(printed) if stream else printed)
            told.append(f"    $ {line}")
            told.append(_shown(head, body) + "\n")
            return body

        job = curl("turns", sent='{"content": "I live in Lisbon."}')
        curl(f"turns/{json.loads(job)['turn_id']}/job?wait=20")
        curl("turns/remember", sent='{"text": "I moved to Porto."}')
        beliefs = curl("beliefs")
        assert "Porto" in beliefs
        curl("beliefs?limit=1", "Accept: text/csv")
        curl("beliefs?as_of=yesterday-ish")
        curl("memories/00000000000000000000000000000000")
        curl("events?types=turn.*&bodies=true&limit=1", as_="AUDITOR")
        curl(
            "events?types=memory.*", "Accept: text/event-stream", "Last-Event-ID: 20",
            as_="AUDITOR",
        )  # fmt: skip
        told.append("    ^C\n")
        ref = server.memory.tokens.subject("ana")
        server.memory.erase("ana", by="dpo")
        told.append("    (ana is erased)\n")
        query = f"events?types=turn.recorded.*&bodies=true&subject_ref={ref}&limit=1"
        curl(query, as_="AUDITOR")
    return "\n".join(told) + "\n"


def _events(printed: Iterable[str]) -> Iterator[str]:
    """The first two events of a stream."""
    ends = 0
    for line in printed:
        yield line
        ends += line.startswith("data:")
        if ends == 2:
            return


def python_session(page: str) -> str:
    """The files of Python of a page, and what each prints, one after another."""
    [shown] = [found[0] for found in PYTHON.finditer(page)]
    told = []
    with serving() as (_, environment), tempfile.TemporaryDirectory() as directory:
        for name, text in FILES.findall(shown):
            (Path(directory) / name).write_text(text, "utf-8")
            done = programs.run(
                [sys.executable, name], cwd=directory, env=os.environ | environment, check=True,
                capture_output=True, text=True, timeout=60,
            )  # fmt: skip
            told.append(f"```python\n# {name}\n{text}```\n\n")
            told.append(f"```console\n$ python {name}\n{done.stdout}```\n\n")
    return "".join(told)


def _shown(head: list[str], body: str) -> str:
    """What was printed, shortened: JSON by what is not told of it, and all else by long lines."""
    told = [f"    {each}" for each in head] + [""]
    if any(re.match(r"content-type: application/(problem\+)?json", each) for each in head):
        return "\n".join([*told, lines(shortened(json.loads(body)))])
    cut = (each if len(each) < 100 else f"{each[:90]}…" for each in body.strip().splitlines())
    return "\n".join([*told, *(f"    {each}".rstrip() for each in cut)])


def shortened(answer: Any) -> str:
    """An answer as JSON, without what a reader does not need."""
    if isinstance(answer, dict):
        kept = [f'"{name}": {shortened(answer[name])}' for name in _KEPT if name in answer]
        return "{" + ", ".join(kept + ["…"] * (len(kept) < len(answer))) + "}"
    if isinstance(answer, list):
        return "[" + ", ".join(map(shortened, answer)) + "]"
    return json.dumps(answer, ensure_ascii=False)


def steady(text: str) -> str:
    """A session without what differs in each run."""
    text = _TIME.sub("TIME", _ID.sub("ID", _TAG.sub('"TAG"', text)))
    return re.sub(r"\s+", " ", _NUMBER.sub(r"\1N", text))


def written(page: str, told: str, where: re.Pattern[str] = BETWEEN) -> str:
    return where.sub(lambda found: found[1] + "\n" + told + found[2], page)


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    text = written(text, python_session(text), PYTHON)
    PAGE.write_text(written(text, session()), "utf-8")
