"""The units of systemd, as systemd reads them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
EXPOSED = "25"
"""Tenths of systemd's own score, of 0 (safe) to 100, that a unit may have at most."""

pytestmark = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="this machine has no systemd"
)


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_systemd_takes_the_unit_and_finds_it_safe(unit, tmp_path):
    program = Path(sys.executable).with_name("beliefledger")
    copy = tmp_path / unit.name
    # Its program has to be there, wherever this one was installed.
    text = unit.read_text("utf-8").replace("/opt/beliefledger/bin/beliefledger", str(program))
    copy.write_text(text, "utf-8")
    for words in (["verify"], ["security", "--offline=true", f"--threshold={EXPOSED}"]):
        said = subprocess.run(
            ["systemd-analyze", "--no-pager", *words, copy],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert said.returncode == 0, said.stdout + said.stderr
        assert "Unknown" not in said.stderr
