"""Runs commands in the process of the test."""

from __future__ import annotations

from functools import cache

import typer.testing
from typer.testing import CliRunner

__all__ = ["CliRunner"]

# Typer's runner builds all commands anew for each command that it runs, which takes longer than
# most commands do.
typer.testing._get_command = cache(typer.testing._get_command)
