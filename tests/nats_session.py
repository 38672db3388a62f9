"""The session on docs/nats.md: `python tests/nats_session.py` writes it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from nats_cluster import cluster

from beliefledger import open_memory
from beliefledger.tools.relay.nats import NatsRelay, Target

os.environ.setdefault("BELIEFLEDGER_EMBEDDER", "hashed-1")
PAGE = Path(__file__).parent.parent / "docs" / "nats.md"
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


def session() -> str:
    """The reader, and what it prints."""
    with (
        tempfile.TemporaryDirectory() as place,
        cluster(Path(place) / "nats") as nodes,
        open_memory(Path(place) / "ledger", consent="consent") as memory,
    ):
        memory.remember("ana", "I live in Lisbon.")
        NatsRelay(memory, Target(nodes.servers, replicas=1)).run(follow=False)
        reader = READER.replace("nats://127.0.0.1:4222", nodes.servers[0])
        told = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", reader],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    return f"```python\n{READER}```\n\n```console\n$ python reader.py\n{told}```\n"


def steady(text: str) -> str:
    """A session without what differs in each run."""
    text = re.sub(r"\b[0-9a-f]{32,64}\b", "ID", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)


def written(page: str, told: str) -> str:
    return BETWEEN.sub(lambda found: found[1] + "\n" + told + "\n" + found[2], page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8"), session()), "utf-8")
