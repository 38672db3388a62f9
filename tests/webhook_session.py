"""The session on docs/webhooks.md: `python tests/webhook_session.py` writes it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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
_WAIT = {COMMANDS[2]: 2.0, COMMANDS[3]: 9.0, COMMANDS[4]: 9.0}
"""Seconds until what was begun has done its work."""


def session() -> str:
    """What the commands of the page print, one after another."""
    page = PAGE.read_text("utf-8")
    [receiver] = RECEIVER.findall(page)
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "receiver.py").write_text(receiver, "utf-8")
        bin_ = str(Path(sys.executable).parent)
        env = {
            **os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "COLUMNS": "140",
            "BELIEFLEDGER_LEDGER": f"{place}/beliefledger-data",
            "BELIEFLEDGER_EMBEDDER": "hashed-1",
        }  # fmt: skip
        with subprocess.Popen(
            ["bash"], cwd=place, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        ) as shell:  # fmt: skip
            assert shell.stdin is not None
            for command in COMMANDS:
                shell.stdin.write(f"printf '%s\\n' {_quoted('$ ' + command)}\n{command}\n")
                shell.stdin.flush()
                time.sleep(_WAIT.get(command, 2.5))
            shell.stdin.write("\nkill %1 %2\nwait\n")
            shell.stdin.close()
            assert shell.stdout is not None
            told = "".join(f"{line.rstrip()}\n" for line in shell.stdout)
    return f"```console\n{told}```\n"


def _quoted(words: str) -> str:
    return "'" + words.replace("'", "'\\''") + "'"


def written(page: str, told: str) -> str:
    return BETWEEN.sub(lambda found: found[1] + "\n" + told + "\n" + found[2], page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8"), session()), "utf-8")
