"""The data files that come with the packages: words, patterns, defaults, in YAML or in lines."""

from __future__ import annotations

from functools import cache
from typing import Any


def data(package: str, name: str) -> Any:
    """The content of a file that lies in a package, such as `rules/cues.yaml` in
    `beliefledger.gate`."""
    from importlib.resources import files  # noqa: PLC0415

    import yaml  # noqa: PLC0415  (a question of what is believed needs none of these files)

    text = files(package).joinpath(*name.split("/")).read_text(encoding="utf-8")
    # The safe loader in C, where there is one: ten times as fast.
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506


def lines(package: str, name: str) -> list[str]:
    """The lines of a text file that lies in a package."""
    from importlib.resources import files  # noqa: PLC0415

    return files(package).joinpath(name).read_text(encoding="utf-8").splitlines()


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
