"""The session on docs/webhooks.md: `python tests/webhook_session.py` writes it."""

from __future__ import annotations

import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import orjson
import programs

PAGE = Path(__file__).parent.parent / "docs" / "webhooks.md"
BETWEEN = re.compile(r"(<!-- session -->\n).*?(<!-- end -->)", re.S)
RECEIVER = re.compile(r"```python\n(# receiver\.py\n.*?)```", re.S)
COMMANDS = (
    'beliefledger remember --subject ana --consent consent "I live in Lisbon."',
    "beliefledger webhooks register http://127.0.0.1:8099/ crm --by lea --role auditor"
    " --types 'memory.*' --begin 0 > secret.txt",
    "SECRET=$(cat secret.txt) python receiver.py > heard.txt &",
    "beliefledger relay webhooks --allow 127.0.0.0/8 --allow-http > relay.txt &",
    'beliefledger erase ana --by "the data protection officer" --yes > erased.txt',
    "cat heard.txt",
    "beliefledger webhooks list",
    "curl -s -o answer.txt -w '%{http_code}' -d '{}' http://127.0.0.1:8099/",
)
PORT = "8099"
SECONDS = 60


def session() -> str:
    """What the commands of the page print, one after another."""
    page = PAGE.read_text("utf-8")
    [receiver] = RECEIVER.findall(page)
    port = _free()
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "receiver.py").write_text(receiver.replace(PORT, port), "utf-8")
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        env = {
            **os.environ, "PATH": path, "COLUMNS": "140",
            "BELIEFLEDGER_LEDGER": f"{place}/beliefledger-data",
            "BELIEFLEDGER_EMBEDDER": "hashed-1",
        }  # fmt: skip

        def delivered() -> bool:
            list_ = [sys.executable, "-m", "beliefledger", "webhooks", "list", "--json"]
            done = programs.run(list_, env=env, check=True, capture_output=True)
            [hook] = orjson.loads(done.stdout)
            return hook["lag"] == 0

        done = {
            COMMANDS[2]: lambda: _answers(port),
            COMMANDS[3]: lambda: _lines(place / "heard.txt") == 1 and delivered(),
            COMMANDS[4]: lambda: _lines(place / "heard.txt") == 2 and delivered(),
        }
        with (place / "told.txt").open("w") as told, subprocess.Popen(
            ["bash"], cwd=place, env=env, stdin=subprocess.PIPE, stdout=told,
            stderr=subprocess.DEVNULL, text=True,
        ) as shell:  # fmt: skip
            assert shell.stdin is not None
            for number, command in enumerate(COMMANDS):
                typed = command.replace(PORT, port)
                ready = f"printf x >> {number}.ended"
                shell.stdin.write(f"printf '%s\\n' {_quoted('$ ' + command)}\n{typed}\n{ready}\n")
                shell.stdin.flush()
                _wait((place / f"{number}.ended").exists)
                _wait(done.get(command, lambda: True))
            shell.stdin.write("\nkill %1 %2\nwait\n")
            shell.stdin.close()
        text = (place / "told.txt").read_text("utf-8").replace(port, PORT)
    told_ = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    return f"```console\n{told_}```\n"


def _free() -> str:
    """A port that nobody has, with as many digits as the one on the page: tables are as wide."""
    for port in random.sample(range(8100, 10_000), 100):
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return str(port)
    raise OSError("There is no free port.")


def _answers(port: str) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", int(port))) == 0


def _lines(file: Path) -> int:
    return len(file.read_text("utf-8").splitlines()) if file.exists() else 0


def _wait(until: Callable[[], bool]) -> None:
    """Until what was begun has done its work."""
    end = time.monotonic() + SECONDS
    while not until():
        if time.monotonic() > end:
            raise TimeoutError("What the page shows did not happen.")
        time.sleep(0.1)


def steady(text: str) -> str:
    """A session without what differs in each run."""
    return re.sub(r"\b(?=[a-f]*[0-9])[0-9a-f]{10,32}\b", "ID", text)


def _quoted(words: str) -> str:
    return "'" + words.replace("'", "'\\''") + "'"


def written(page: str, told: str) -> str:
    return BETWEEN.sub(lambda found: found[1] + "\n" + told + "\n" + found[2], page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8"), session()), "utf-8")
