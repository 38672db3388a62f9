"""The session on docs/http.md: `python tests/http_session.py` runs it and writes it into the page.

Ids and times differ in each run; tests/docs/test_http_page.py compares all else.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import httpx2
from a2a_session import lines
from served import served

from beliefledger import open_memory

os.environ.setdefault("BELIEFLEDGER_EMBEDDER", "hashed-1")
PAGE = Path(__file__).parent.parent / "docs" / "http.md"
BETWEEN = re.compile(r"(<!-- session -->\n).*?(<!-- end -->)", re.S)
_ID = re.compile(r"\b[0-9a-f]{8,32}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ][\d:.]+(Z|\+00:00)?)?")
_TAG = re.compile(r'"[0-9a-f]{32}"')
_NUMBER = re.compile(r'("position": ?|^ *id: |Last-Event-ID: |\?after=)\d+', re.M)
_KEPT = (
    "receipt", "turn_id", "pending", "already", "items", "next", "state", "decisions", "outcome",
    "reason", "claim", "text", "value", "valid_from", "type", "title", "status", "detail", "code",
    "remedy", "position", "subject", "subject_ref", "body", "content", "destroyed", "withheld",
)  # fmt: skip
"""What is shown of an answer; the rest is shortened away."""


def session() -> str:
    """Calls and answers of a run, as the page has them."""
    with tempfile.TemporaryDirectory() as place, open_memory(place) as memory:
        with served(memory) as server:
            token, auditor = (
                server.token("support-bot"),
                server.token("crm", role="auditor", subjects=None, consent=None),
            )
            told: list[str] = []

            def curl(path: str, *options: str, sent: str = "", as_: str = token) -> str:
                """Ask as this line of curl does, and tell the line and the answer."""
                given = [f"-H '{each}'" for each in options]
                if sent:
                    given += ["-H 'Content-Type: application/json'", f"-d '{sent}'"]
                command = " ".join(["$ curl -i -H $TOKEN", *given, f"'$URL/v1/{path}'"])
                told.append(lines(command))
                headers = dict(each.split(": ") for each in options)
                headers |= {"Authorization": f"Bearer {as_}", "Content-Type": "application/json"}
                method, url = "POST" if sent else "GET", f"{server.root}/v1/{path}"
                with httpx2.stream(
                    method, url, headers=headers, content=sent or None, timeout=30
                ) as answer:
                    body = _events(answer) if "event-stream" in str(options) else _whole(answer)
                told.append(_shown(answer, body) + "\n")
                return body

            job = curl("turns", sent='{"content": "I live in Lisbon."}')
            curl(f"turns/{json.loads(job)['turn_id']}/job?wait=20")
            curl("turns/remember", sent='{"text": "I moved to Porto."}')
            beliefs = curl("beliefs")
            assert "Porto" in beliefs
            curl("beliefs?limit=1", "Accept: text/csv")
            curl("beliefs?as_of=yesterday-ish")
            curl("memories/00000000000000000000000000000000")
            curl("events?types=turn.*&bodies=true&limit=1", as_=auditor)
            curl(
                "events?types=memory.*", "Accept: text/event-stream", "Last-Event-ID: 20",
                as_=auditor,
            )  # fmt: skip
            ref = server.memory.tokens.subject("ana")
            server.memory.erase("ana", by="dpo")
            told.append("    (ana is erased)\n")
            query = f"events?types=turn.recorded.*&bodies=true&subject_ref={ref}&limit=1"
            curl(query, as_=auditor)
    return "\n".join(told) + "\n"


def _whole(answer: httpx2.Response) -> str:
    return answer.read().decode()


def _events(answer: httpx2.Response) -> str:
    """The first two events of a stream."""
    told, ends = [], 0
    for line in answer.iter_lines():
        told.append(line)
        ends += line.startswith("data:")
        if ends == 2:
            break
    return "\n".join(told)


def _shown(answer: httpx2.Response, body: str) -> str:
    told = [lines(f"{answer.status_code} {answer.reason_phrase}")]
    for name in ("content-type", "etag", "location", "link"):
        if name in answer.headers:
            told.append(lines(f"{name}: {answer.headers[name]}"))
    if "json" in answer.headers["content-type"]:
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


def written(page: str, told: str) -> str:
    return BETWEEN.sub(lambda found: found[1] + "\n" + told + found[2], page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8"), session()), "utf-8")
