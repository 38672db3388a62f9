"""The data files that come with the packages: words, patterns, defaults, in YAML or in lines."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import orjson


def data(package: str, name: str) -> Any:
    """The content of a file that lies in a package, such as `rules/cues.yaml` in
    `beliefledger.gate`.

    To parse YAML takes fifty times as long as JSON. So what was parsed is kept as JSON where Python
    keeps the package's compiled modules, and under the same conditions; it counts as long as the
    file's digest is the one that it was made from.
    """
    import hashlib  # noqa: PLC0415
    from importlib.resources import files  # noqa: PLC0415

    file = files(package).joinpath(*name.split("/"))
    written = file.read_bytes()
    kept = beside_compiled(file, ".json") if isinstance(file, Path) else None
    if kept is None:
        return parsed(written)
    made_from = hashlib.blake2b(written, digest_size=16).hexdigest()
    with suppress(OSError, orjson.JSONDecodeError, ValueError):
        found, _, content = kept.read_bytes().partition(b"\n")
        if found.decode() == made_from:
            return orjson.loads(content)
    read = parsed(written)
    if not sys.dont_write_bytecode:
        with suppress(OSError, orjson.JSONEncodeError):  # it is parsed again the next time
            content = orjson.dumps(read)
            if orjson.loads(content) == read:  # else it has what JSON does not know
                put(kept, f"{made_from}\n".encode() + content)
    return read


def beside_compiled(file: Path, suffix: str) -> Path | None:
    """Where what is made of a file is kept; None where Python keeps no compiled modules."""
    if sys.implementation.cache_tag is None:
        return None
    return Path(cache_from_source(str(file))).with_suffix(suffix)


def put(file: Path, content: bytes) -> None:
    """Write a whole file at once, whoever reads it or writes it, too, meanwhile. Raises
    `OSError`."""
    file.parent.mkdir(exist_ok=True)
    mine = file.with_suffix(f".{os.urandom(8).hex()}")
    mine.write_bytes(content)
    mine.replace(file)


def parsed(written: bytes) -> Any:
    """What YAML in UTF-8 says: of data files, which are known to be well formed."""
    import yaml  # noqa: PLC0415  (it takes long to load)

    # The safe loader in C, where there is one: ten times as fast.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(written.decode(), Loader=loader)  # noqa: S506


def lines(package: str, name: str) -> list[str]:
    """The lines of a text file that lies in a package."""
    return content(package, name).decode().splitlines()


def content(package: str, name: str) -> bytes:
    """The bytes of a file that lies in a package."""
    from importlib.resources import files  # noqa: PLC0415

    return files(package).joinpath(name).read_bytes()


@cache
def digest(*packages: str) -> str:
    """SHA-256, in hex, of all YAML files that lie in some packages: another one where any of their
    words or patterns is."""
    import hashlib  # noqa: PLC0415
    from importlib.resources import files  # noqa: PLC0415

    found = hashlib.sha256()
    for package in packages:
        for each in sorted(files(package).iterdir(), key=lambda file: file.name):
            if each.name.endswith(".yaml"):
                found.update(f"{package}/{each.name}\n".encode())
                found.update(each.read_bytes())
    return found.hexdigest()
