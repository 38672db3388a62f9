"""How a policy that names only what differs is completed, and what is wrong in one is told. Pure.

What a map does not name is as in the default, at every depth; `null` takes an entry of a map away.
Lists are taken as they are. A policy that has every field of the default is a whole one: its maps
of names (`special_categories`) have what they have, so that what `policy show` prints is read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

THRESHOLDS = "thresholds"


def completed(
    given: Mapping[str, Any], default: Mapping[str, Any], types: Iterable[str]
) -> dict[str, Any]:
    """All fields of a policy. `types` are those that a threshold can be for by their bare name."""
    whole = default.keys() <= given.keys()
    fields = {**given}
    if isinstance(fields.get(THRESHOLDS), Mapping):
        special = _merged(fields, default, whole=whole)["special_categories"]
        fields[THRESHOLDS] = _sorted_out(fields[THRESHOLDS], special, frozenset(types))
    return _merged(fields, default, whole=whole)


_NAMED = frozenset({"special_categories"})
"""Maps whose keys somebody chose: a whole policy has all that it means to have."""


def _merged(given: Mapping[str, Any], default: Mapping[str, Any], *, whole: bool) -> dict[str, Any]:
    made = dict(default)
    for name, value in given.items():
        before = default.get(name)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            under = {} if whole and name in _NAMED else before
            merged = _merged(value, under, whole=whole)
            made[name] = {key: each for key, each in merged.items() if each is not None}
        else:
            made[name] = value
    return made


def _sorted_out(
    thresholds: Mapping[str, Any], special: object, types: frozenset[str]
) -> dict[str, Any]:
    """`{fact: .8}` as `{types: {fact: .8}}`, `{health: .8}` as `{categories: {health: .8}}`."""
    made = dict(thresholds)
    known = {
        "types": types,
        "categories": frozenset(special if isinstance(special, Mapping) else ()),
    }
    for where, names in known.items():
        there = made.get(where) or {}
        short = {name: made.pop(name) for name in list(made) if name in names}
        if short and isinstance(there, Mapping):
            made[where] = {**there, **short}
    return made


def problems(problem: ValidationError, model: type[BaseModel], types: Iterable[str]) -> str:
    """What is wrong in a policy, field by field; for a field that there is none of, the nearest."""
    return "; ".join(_told(each, model, types) for each in _errors(problem))


def _errors(problem: ValidationError) -> Iterator[tuple[Sequence[str], str, str]]:
    for each in problem.errors():
        yield [str(part) for part in each["loc"]], each["type"], each["msg"]


def _told(
    error: tuple[Sequence[str], str, str], model: type[BaseModel], types: Iterable[str]
) -> str:
    where, kind, message = error
    name = ".".join(where) or "policy"
    if kind != "extra_forbidden":
        return f"{name}: {message}"
    known = list(_fields(model, where[:-1]))
    if where[:-1] == [THRESHOLDS]:
        known += types
    from difflib import get_close_matches  # noqa: PLC0415  (of a name that there is none of)

    near = get_close_matches(where[-1], known, n=1, cutoff=0.5)
    if near:
        return f"{name}: there is no such field; did you mean {near[0]}?"
    return f"{name}: there is no such field; there are: {', '.join(known)}"


def _fields(model: type[BaseModel], path: Sequence[str]) -> Iterable[str]:
    for name in path:
        kind = model.model_fields[name].annotation
        kinds = [kind, *getattr(kind, "__args__", ())]
        model = next(
            each for each in kinds if isinstance(each, type) and issubclass(each, BaseModel)
        )
    return model.model_fields
