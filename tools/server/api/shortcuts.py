"""Questions by id, whose requests hold nothing that FastAPI would have to read or check."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from fastapi.params import Header

from beliefledger.tools.server.api.endpoint import LONGEST_ID, Endpoint, Id


class Shortcut(NamedTuple):
    """An endpoint that is asked by ids in its path, and may be asked by these alone."""

    path: re.Pattern[str]
    endpoint: Endpoint
    defaults: dict[str, Any]
    """The arguments that are not in the path."""


class Shortcuts:
    """The endpoints that are asked by ids. FastAPI takes half of the time of a small question to
    read arguments of which there are none; what it would do here is to match the path, to see that
    the ids are of a length that an id may have, and to fill in defaults."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        made = [each for each in map(_shortcut, endpoints) if each is not None]
        # By the first part of a path, as few of them have the same.
        self._by_first_part = {
            first: [each for each in made if first_part(each.endpoint.path) == first]
            for first in {first_part(each.endpoint.path) for each in made}
        }

    def find(self, method: str, path: str, query: bytes) -> tuple[Endpoint, dict[str, Any]] | None:
        """The endpoint of a request, and its arguments; None where FastAPI has to look at it."""
        if method != "GET" or query:
            return None
        for each in self._by_first_part.get(first_part(path), ()):
            found = each.path.fullmatch(path)
            if found is not None:
                return each.endpoint, found.groupdict() | each.defaults
        return None


def first_part(path: str) -> str:
    """Of "/memories/abc", "memories"."""
    return path[1:].partition("/")[0]


def _shortcut(of: Endpoint) -> Shortcut | None:
    """None for an endpoint that is not read, has another argument in its path or reads headers."""
    names = re.findall(r"{(\w+)}", of.path)
    if of.method != "GET" or not names:
        return None
    defaults: dict[str, Any] = {}
    for each in of.parameters:
        if each.name in names:
            if each.annotation != Id:
                return None
        elif each.default is inspect.Parameter.empty or _is_header(each.annotation):
            return None
        else:
            defaults[each.name] = each.default
    pattern = re.sub(r"{(\w+)}", rf"(?P<\1>[^/]{{1,{LONGEST_ID}}})", of.path)
    return Shortcut(re.compile(pattern), of, defaults)


def _is_header(annotation: Any) -> bool:
    return any(isinstance(each, Header) for each in getattr(annotation, "__metadata__", ()))
