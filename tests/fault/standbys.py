"""A Postgres and a streaming standby of it, both of our own: to be paused, stopped and promoted."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
from clusters import free_port
from own_postgres import OwnPostgres

SECONDS = 60


class Standby:
    """A standby of a server, which is reached by TCP on loopback."""

    def __init__(self, primary: OwnPostgres) -> None:
        self._primary = primary
        self._directory = Path(tempfile.mkdtemp(prefix="standby-"))
        self._data = self._directory / "data"
        self.port = free_port()
        if primary.user is not None:
            shutil.chown(self._directory, primary.user)
        said = psycopg.conninfo.conninfo_to_dict(primary.url)
        self._primary.run(
            "pg_basebackup", "-D", self._data, "-h", said["host"], "-U", said["user"],
            "--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf", "--no-sync",
        )  # fmt: skip
        self.user = said["user"]
        self.start()

    @property
    def address(self) -> str:
        """For `read=` in a URL."""
        return f"127.0.0.1:{self.port}/postgres"

    @property
    def url(self) -> str:
        return f"postgresql://{self.user}@{self.address}?"

    def start(self) -> None:
        options = f"-F -p {self.port} -h 127.0.0.1 -k {self._directory}"
        log = self._directory / "log"
        self._primary.run("pg_ctl", "-D", self._data, "-w", "-o", options, "-l", log, "start")

    def stop(self) -> None:
        self._primary.run("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop")

    def promote(self) -> None:
        self._primary.run("pg_ctl", "-D", self._data, "-w", "promote")

    def ask(self, statement: str):
        with psycopg.connect(self.url.rstrip("?"), autocommit=True) as connection:
            return connection.execute(statement).fetchall()

    def pause(self) -> None:
        """Replay no more, from now on; what is asked is answered as of then."""
        self.ask("SELECT pg_wal_replay_pause()")
        self._until("SELECT pg_get_wal_replay_pause_state() = 'paused'")

    def go_on(self) -> None:
        self.ask("SELECT pg_wal_replay_resume()")

    def catch_up(self) -> None:
        """Until it has all that the primary has written by now."""
        with psycopg.connect(self._primary.url, autocommit=True) as connection:
            connection.execute("SELECT pg_logical_emit_message(true, 'tests', '')")  # flushes
            [(there,)] = connection.execute("SELECT pg_current_wal_flush_lsn()").fetchall()
        self._until(f"SELECT pg_last_wal_replay_lsn() >= '{there}'")

    def _until(self, question: str) -> None:
        ends = time.monotonic() + SECONDS
        while self.ask(question) != [(True,)]:
            assert time.monotonic() < ends, question
            time.sleep(0.01)

    def close(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):  # it was not running
            self.stop()
        shutil.rmtree(self._directory)
