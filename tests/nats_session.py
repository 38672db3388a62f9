"""The session on docs/nats.md: `python tests/nats_session.py` writes it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from nats_cluster import cluster
from programs import Program

from beliefledger import MemoryLedger, open_memory

os.environ.setdefault("BELIEFLEDGER_EMBEDDER", "hashed-1")
SERVER = "nats://127.0.0.1:4222"
PAGE = Path(__file__).parent.parent / "docs" / "nats.md"
COMMAND = "beliefledger relay nats --server nats://127.0.0.1:4222 --replicas 3"
RELAY = re.compile(r"(<!-- relay -->\n).*?(<!-- end -->)", re.S)
BETWEEN = re.compile(r"(<!-- session -->\n).*?(<!-- end -->)", re.S)
READER = """\
# reader.py
import asyncio
import json

import nats


async def main():
    client = await nats.connect("nats://127.0.0.1:4222")
    reader = await client.jetstream().pull_subscribe("beliefledger.memory.>", "index")
    for message in await reader.fetch(1, timeout=5):
        print(json.dumps(json.loads(message.data), indent=1))
        await message.ack_sync()
    await client.close()


if __name__ == "__main__":
    asyncio.run(main())
"""


def sessions() -> tuple[str, str]:
    """The command with what it prints; and the reader, with what it prints."""
    with (
        tempfile.TemporaryDirectory() as place,
        cluster(Path(place) / "nats", 3) as nodes,
        open_memory(Path(place) / "ledger", consent="consent") as memory,
    ):
        memory.remember("ana", "I live in Lisbon.")
        relayed = _relayed(COMMAND.replace(SERVER, nodes.servers[0]), memory)
        reader = READER.replace(SERVER, nodes.servers[0])
        told = _printed(reader)
    return (
        f"```console\n$ {COMMAND}\n{relayed}```\n",
        f"```python\n{READER}```\n\n```console\n$ python reader.py\n{told}```\n",
    )


def _relayed(command: str, memory: MemoryLedger) -> str:
    """What a relay prints until it has nothing more to do, without what it had to do again because
    the nodes were busy."""
    words = [sys.executable, "-m", *command.split()]
    env = os.environ | {"BELIEFLEDGER_LEDGER": str(memory.place), "COLUMNS": "100"}
    with Program(words, env=env, stdout=subprocess.PIPE, text=True) as running:
        until = time.monotonic() + 120
        while not _has_all(memory):
            assert time.monotonic() < until, "two minutes went by"
            assert running.poll() is None, f"it ended with {running.returncode}"
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        printed, code = running.stdout.read(), running.wait(20)
        assert code == 0, f"it ended with {code}, and printed {printed!r}"
    lines = printed.splitlines(keepends=True)
    return "".join(each for each in lines if not each.startswith("retries: "))


def _has_all(memory: MemoryLedger) -> bool:
    """Whether the relay has published all of the log; none has begun where no cursor is there."""
    lags = [each.lag for each in memory.status().consumers if each.name.startswith("nats.")]
    return lags == [0]


def _printed(program: str) -> str:
    """What the reader prints; begun again while busy nodes still agree on its consumer."""
    for _ in range(5):
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        if ran.returncode == 0:
            return ran.stdout
        time.sleep(1)
    raise AssertionError(ran.stderr)


def steady(text: str) -> str:
    """A session without what differs in each run."""
    text = re.sub(r"\b[0-9a-f]{32,64}\b", "ID", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)


def written(page: str) -> str:
    for where, told in zip((RELAY, BETWEEN), sessions(), strict=True):
        page = _put(page, where, told)
    return page


def _put(page: str, where: re.Pattern[str], told: str) -> str:
    return where.sub(lambda found: found[1] + "\n" + told + "\n" + found[2], page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
