"""Redactions that are not ours: what secrets of one's own look like, by name or as objects.

They hold for the whole process, whichever ledger is written to: what is a secret here is one there.
Added once, they stay; `ledger.redact` looks for them as for its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from beliefledger.ledger import canonical
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import RedactionMissing
from beliefledger.ledger.registered import Group

GROUP = Group(
    "beliefledger.redactions", "redaction", RedactionMissing, unknown=RedactionMissing
)  # fmt: skip
_KIND = re.compile(r"[a-z][a-z0-9_]{1,39}")


@runtime_checkable
class Redaction(Protocol):
    """What one kind of secret looks like.

    `kind` is the word in the placeholder, `[redacted employee_number]`. `pattern` is a regular
    expression; of its matches the group `secret` is taken out, or the whole match. It is looked for
    only in texts that contain the `hint`, in whatever case, and has to take linear time: bound its
    repetitions. With a method `is_secret(value)`, only values that it confirms are taken out.
    """

    kind: str
    hint: str
    pattern: str


@dataclass(frozen=True, slots=True)
class OwnSecret:
    """A redaction that was added."""

    kind: str
    hint: str
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool]
    source: str
    """Who says so: the name and package that register it, or the class of what was given."""
    digest: str
    """SHA-256 of canonical JSON of `kind`, `hint`, `pattern`, and whether values are checked."""


_added: tuple[OwnSecret, ...] = ()


def added() -> tuple[OwnSecret, ...]:
    """Those that were added, in the order of their kinds."""
    return _added


def _put(kind: str, own: OwnSecret | None) -> None:
    """Have this one of a kind from now on, or none."""
    global _added  # noqa: PLW0603  they hold for the whole process
    others = [each for each in _added if each.kind != kind]
    _added = tuple(sorted([*others, *([own] if own else [])], key=lambda each: each.kind))


def digest() -> str | None:
    """SHA-256 of what those that were added say, and of who says it; None where there are none."""
    told = [[each.kind, each.source, each.digest] for each in added()]
    return canonical.digest(canonical.encode(told)) if told else None


def add(given: Redaction | str) -> None:
    """Look for a kind of secret from now on: an object, or the name that a package registers it
    under. A kind that was added before is replaced.

    Raises `RedactionMissing` for a name that there is none of, and for what is no redaction.
    """
    named = isinstance(given, str)
    made = GROUP.made(given, needs=("kind", "hint", "pattern")) if isinstance(given, str) else given
    what = f"The redaction {given!r}" if named else f"{type(given).__name__}, given as redaction,"
    kind, hint, pattern = (getattr(made, each, None) for each in ("kind", "hint", "pattern"))
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise RedactionMissing(f"{what} has the kind {kind!r}: take lower-case letters and _.")
    if not isinstance(hint, str) or not hint.strip():
        raise RedactionMissing(f"{what} has no hint: words without which it cannot be there.")
    try:
        compiled = re.compile(str(pattern))
    except re.error as problem:
        raise RedactionMissing(f"{what} has a pattern that is none: {problem}.") from problem
    if compiled.search("") is not None:
        raise RedactionMissing(f"{what} has a pattern that fits an empty text.")
    judge = getattr(made, "is_secret", None)
    own = type(made) if not isinstance(made, type) else made
    source = (
        f"{given} of {GROUP.package(given)}"
        if isinstance(given, str)
        else f"{own.__module__}.{own.__qualname__}"
    )
    told = {"kind": kind, "hint": hint.lower(), "pattern": str(pattern), "checked": bool(judge)}
    digest_ = canonical.digest(canonical.encode(told))
    is_secret = judge or (lambda _value: True)
    _put(kind, OwnSecret(kind, hint.lower(), compiled, is_secret, source, digest_))


def remove(kind: str) -> None:
    """Look for a kind of secret no more. Raises `KeyError` for one that was not added."""
    if all(each.kind != kind for each in _added):
        raise KeyError(kind)
    _put(kind, None)
