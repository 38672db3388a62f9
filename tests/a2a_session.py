"""The session on docs/a2a.md: `python tests/a2a_session.py` runs it and writes it into the page.

Ids and times differ in each run; tests/docs/test_a2a_page.py compares all else.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import httpx2
from served import served

from beliefledger import open_memory

os.environ.setdefault("BELIEFLEDGER_EMBEDDER", "hashed-1")
WIDTH = 140
PAGE = Path(__file__).parent.parent / "docs" / "a2a.md"
BETWEEN = re.compile(r"(<!-- session -->\n).*?(<!-- end -->)", re.S)
_ID = re.compile(r"\b[0-9a-f]{32}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ][\d:.]+(Z|\+00:00)?)?")
_KEPT = (
    "result", "tasks", "totalSize", "task", "error", "code", "id", "status", "state", "message",
    "text", "value", "parts", "type", "contradictions", "existing_text", "new_text", "answers",
    "artifacts", "data", "question", "as_of", "resolution_applied", "beliefs",
)  # fmt: skip
"""What is shown of an answer, in this order; the rest is shortened away."""


def session() -> str:
    """Calls and answers of a run, as the page has them."""
    with tempfile.TemporaryDirectory() as place, open_memory(place) as memory:
        with served(memory) as server:
            token = server.token("support-bot")
            headers = {"Authorization": f"Bearer {token}", "A2A-Version": "1.0"}
            told: list[str] = []

            def call(method: str, params: dict[str, Any]) -> dict[str, Any]:
                sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                answer = httpx2.post(f"{server.root}/a2a", headers=headers, json=sent, timeout=40)
                told.append(lines(f"> {method} {json.dumps(params)}"))
                told.append(lines(shortened(answer.json())) + "\n")
                found: dict[str, Any] = answer.json()
                return found

            def send(number: int, *parts: dict[str, Any], **more: str) -> dict[str, Any]:
                said = {"messageId": f"m{number}", "role": "ROLE_USER", "parts": list(parts)}
                found: dict[str, Any] = call("SendMessage", {"message": said | more})
                return found

            send(1, {"text": "I live in Lisbon."})
            waits = send(2, {"text": "I live in Porto."})["result"]["task"]["id"]
            send(3, {"text": "keep_new"}, taskId=waits)
            send(4, {"data": {"skill": "answer_as_of", "question": "Where is home?"}})
            call("ListTasks", {"status": "TASK_STATE_INPUT_REQUIRED"})
            call("GetTask", {"id": "0" * 32})
    return "\n".join(told) + "\n"


def shortened(answer: Any) -> str:
    """An answer as JSON, without what a reader does not need."""
    if isinstance(answer, dict):
        kept = [f'"{name}": {shortened(answer[name])}' for name in _KEPT if name in answer]
        return "{" + ", ".join(kept + ["…"] * (len(kept) < len(answer))) + "}"
    if isinstance(answer, list):
        return "[" + ", ".join(map(shortened, answer)) + "]"
    return json.dumps(answer, ensure_ascii=False)


def lines(text: str) -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent="    ",
        subsequent_indent="     ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def steady(text: str) -> str:
    """A session without what differs in each run."""
    return _TIME.sub("TIME", _ID.sub("ID", text))


def written(page: str, told: str) -> str:
    return BETWEEN.sub(lambda found: found[1] + "\n" + told + found[2], page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8"), session()), "utf-8")
