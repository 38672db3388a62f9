"""Ledgers that an earlier program wrote, as they lie in `tests/data/before_2`."""

from __future__ import annotations

import itertools
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

BEFORE = Path(__file__).with_name("data") / "before_2"
NOW = 1_781_946_000_000_000
"""2026-06-20T09:00:00Z, when they told what they hold."""
ROLES = ("kept_owner", "kept_app")
_databases = itertools.count(1)


@dataclass(frozen=True)
class Kept:
    """Where it was brought to, and what it told when it was written. `files` are its directory's
    neighbours (backups), or the keys of one on a server."""

    place: str
    told: dict[str, Any]
    files: Path


def in_directory(where: Path) -> Kept:
    _unpacked("directory", where)
    return Kept(str(where / "ledger"), _told("directory"), where)


def on_server(where: Path, uri: str) -> Kept:
    """In a database of its own. Its keys are where the environment has to say."""
    _unpacked("postgres", where)
    name = f"kept_{next(_databases)}"
    with psycopg.connect(uri, autocommit=True) as admin:
        for role in ROLES:  # they belong to the whole server
            if not admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
                admin.execute(f"CREATE ROLE {role} NOLOGIN")
        admin.execute(f"CREATE DATABASE {name}")
    mine = uri.replace("/postgres?", f"/{name}?")
    assert mine != uri
    with psycopg.connect(mine, autocommit=True) as restoring:
        restoring.execute((where / "ledger.sql").read_text("utf-8"))
    return Kept(f"{mine}&schema=kept", _told("postgres"), where)


def _unpacked(name: str, where: Path) -> None:
    with tarfile.open(BEFORE / f"{name}.tar.gz") as tar:
        tar.extractall(where, filter="data")


def _told(name: str) -> dict[str, Any]:
    return json.loads((BEFORE / f"{name}.told.json").read_text("utf-8"))
