"""Some rounds of `make torture`."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
@pytest.mark.parametrize(("mix", "most"), [("plain", "--rounds 12"), ("attack", "--seconds 8")])
def test_nothing_is_lost_nor_twice_whatever_is_killed(backend, mix, most):
    seed = random.SystemRandom().randrange(10**6)  # in what it prints if it fails
    script = Path(__file__).with_name("torture.py")
    asked = f"--seed {seed} --backend {backend} --mix {mix} {most}"
    torture = subprocess.Popen(
        [sys.executable, str(script), *asked.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said, _ = torture.communicate(timeout=270)
    finally:
        torture.send_signal(signal.SIGTERM)  # so that it ends what it started
        with torture:
            torture.wait(30)
    assert torture.returncode == 0, said
    assert said.startswith(f"seed {seed}\n")
    name = backend if mix == "plain" else f"{backend}, {mix}"
    assert re.search(rf"^{name}: \d+ rounds in .*killed: \w", said, re.MULTILINE)
    assert "nothing lost, nothing twice, views as rebuilt" in said
