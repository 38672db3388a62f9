"""Keeps secrets out of the log, whatever field they were given in.

Every event goes through `cleaned` when it is made ready to be appended (`ledger.codec.New`), so
that a field cannot be forgotten. The words of its body lose their secrets, as a turn's do. A name
is refused instead where it would lead to something or outlive an erasure: two people whose tokens
were taken out of their names would be one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import EnumType
from functools import cache, lru_cache
from typing import Any, TypeVar, cast, get_args

from pydantic import BaseModel

from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.errors import SecretGiven
from beliefledger.ledger.fields import A_NAME, CLEAN
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.streams import tag

# Redaction is loaded by who writes: its tables take longer than to ask what is believed.
# ruff: noqa: PLC0415
M = TypeVar("M", bound=BaseModel)

_BETWEEN = "\n■\n"
"""Keeps the words of one field from being read on into the next."""
_IDS = compile_later(
    r"(?i)(?<![0-9a-z])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{24,128})(?![0-9a-z])"
)
"""Ids that are made and not chosen; their digits look like anything."""
_MADE = compile_later(r"[0-9a-f]{24,128}")
_SHORTEST_ID = 24


# --- Names ---------------------------------------------------------------------------------------


def secret_in_name(name: str, *, numbers: bool = True) -> str | None:
    """What kind of secret a name holds, if it holds one.

    Ids are full of digits, and one number in ten passes the check of a card. A number is therefore
    taken for a card only as people write cards, in groups; with `numbers` also if it has the length
    of one.
    """
    from beliefledger.ledger.redact import SecretKind, secrets_in

    name = _IDS.sub(" ", name)
    for start, end, kind in secrets_in(name):
        digits = sum(char.isdigit() for char in name[start:end])
        bare = kind == SecretKind.CARD and digits == end - start
        if not bare or (numbers and digits in {15, 16}):
            return kind
    return None


def clean_name(name: str) -> str:
    """A name that stays in a body: as given, or without the secret in it."""
    from beliefledger.ledger.redact import redact

    return name if secret_in_name(name) is None else redact(name).text


def session_name(key: bytes, session: str | None) -> str | None:
    """A session's name as it is kept. One with a secret in it gets a tag under the subject's key in
    its place, so that it is the same session when it is given again, and no other one's."""
    if session is None or secret_in_name(session) is None:
        return session
    from beliefledger.ledger.redact import redact

    return f"{redact(session).text} ~{tag(key, 'session name', session)[:12]}"


def refuse(name: str, what: str, *, numbers: bool = True) -> None:
    """Raises `SecretGiven` for a name that holds a secret; `what` says which name it is."""
    kind = secret_in_name(name, numbers=numbers)
    if kind is not None:
        raise SecretGiven(f"{what}: this looks like {_AS_TOLD.get(kind, kind)}.")


_AS_TOLD = {
    "card_number": "a card number",
    "iban": "a bank account number",
    "password": "a password",
    "pin": "a PIN",
    "api_key": "an API key",
    "token": "an access token",
    "private_key": "a private key",
    "national_id": "a national id number",
}


# --- Models --------------------------------------------------------------------------------------


def cleaned(model: M, facts: Iterable[str] = (), *, refusing: bool = False) -> M:
    """The model without secrets in its words; the same one where there were none.

    `facts` are fields that are left alone, but for names. With `refusing`, words are not changed:
    raises `SecretGiven` for a secret in them, as for one in a name that is a fact.
    """
    names, words = _Strings(), _Strings()
    named: list[tuple[str, str]] = []
    values = model.__dict__
    for field, is_name, is_clean in _fields(type(model)):
        value = values[field]
        if not value:
            continue
        if field in facts:
            if is_name:
                named += ((name, field) for name in _strings(value))
        elif not is_clean:
            _gather(value, names if is_name else words, names)
    stays = tuple(name for name, _ in named)
    if names or words:
        suspicious = may_hold_secret([*stays, *names], words)
    else:
        from beliefledger.ledger import own_secrets

        suspicious = bool(stays) and _name_holds_secret(stays, own_secrets.digest())
    if not suspicious:
        return model
    for name, field in named:
        refuse(name, field)
    from beliefledger.ledger.redact import secrets_in

    if not any(map(secret_in_name, names)) and not secrets_in(_BETWEEN.join(words)):
        return model
    if refusing:
        for each in words:
            if secrets_in(each):
                raise SecretGiven("A text that stays in clear holds what looks like a secret.")
    return cast("M", _without(model, facts))


def may_hold_secret(names: Iterable[str], words: Iterable[str]) -> bool:
    """Whether any of them may hold a secret: all of them looked at once.

    `SELF` is left out. It is no secret, and every candidate has it, but beside a password it reads
    as the label of a login.
    """
    texts = [each if len(each) < _SHORTEST_ID else _IDS.sub(" ", each) for each in names if each]
    texts += [each for each in words if each != SELF]
    if not texts:
        return False
    from beliefledger.ledger import redact

    return redact.may_any_hold_secret(texts)


@lru_cache(maxsize=1_000)
def _name_holds_secret(names: tuple[str, ...], _own: str | None) -> bool:
    """Whether one of these names holds a secret, which are facts: doors, tools, extractors. They
    are few, and each call brings the same. What is kept here stays in the log for ever anyway."""
    return may_hold_secret(names, ()) and any(map(secret_in_name, names))


class _Strings(list[str]):
    """Strings that were found in a model."""


@cache
def _fields(kind: type[BaseModel]) -> tuple[tuple[str, bool, bool], ...]:
    """The fields that may hold words: whether each is a name, and whether it is clean already."""
    return tuple(
        (name, A_NAME in field.metadata, CLEAN in field.metadata)
        for name, field in kind.model_fields.items()
        if not _is_wordless(field.annotation)
    )


_WORDLESS = frozenset({type(None), bool, int})


def _is_wordless(annotation: Any) -> bool:
    """Whether values of a type are numbers, or words of a fixed list, or nothing."""
    kinds = get_args(annotation) or (annotation,)
    return all(kind in _WORDLESS or isinstance(kind, EnumType) for kind in kinds)


def _gather(value: Any, words: _Strings, names: _Strings) -> None:
    kind = type(value)
    if kind is str:
        if value and not (len(value) >= _SHORTEST_ID and _MADE.fullmatch(value)):
            words.append(value)
    elif kind in _WORDLESS:
        return
    elif isinstance(value, BaseModel):
        values = value.__dict__
        for field, is_name, _ in _fields(type(value)):
            each = values[field]
            if each:
                _gather(each, names if is_name else words, names)
    elif isinstance(value, tuple | list):
        for each in value:
            _gather(each, words, names)
    elif isinstance(value, dict):
        for key, each in value.items():
            _gather(key, words, names)
            _gather(each, words, names)
            if _is_told(key, each):
                words.append(_line(key, each))


_LONGEST_PIN = 10**8


def _is_told(name: str, value: Any) -> bool:
    """Whether a value may be a secret for the name that it stands under. A long number is an id,
    unless its name says otherwise: one in ten passes the check of a card."""
    if type(value) is int:
        return abs(value) < _LONGEST_PIN or "card" in name.lower()
    return type(value) is str


def _line(name: str, value: str | int) -> str:
    """A field of an object, as somebody would write it in a line: `password: hunter2`."""
    return f"{name}: {value}"


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        yield from value


def _without(value: Any, skipped: Iterable[str] = (), *, name: bool = False) -> Any:
    """The same without secrets, all the way down."""
    if type(value) is str:
        if _MADE.fullmatch(value):
            return value
        from beliefledger.ledger.redact import redact

        return clean_name(value) if name else redact(value).text
    if isinstance(value, BaseModel):
        changed = {
            field: _without(getattr(value, field), name=is_name)
            for field, is_name, is_clean in _fields(type(value))
            if field not in skipped and not is_clean
        }
        return value.model_copy(update=changed)
    if isinstance(value, tuple | list):
        return type(value)(_without(each, name=name) for each in value)
    if isinstance(value, dict):
        return {
            _without(key, name=name): _without(_under(key, each), name=name)
            for key, each in value.items()
        }
    return value


def _under(name: str, value: Any) -> Any:
    """A value of an object; in its place the text without it, where its name makes it a secret."""
    if not _is_told(name, value):
        return value
    from beliefledger.ledger.redact import redact

    line, start = _line(name, value), len(_line(name, ""))
    told = redact(line)
    if told.text == line or any(each.start < start for each in told.redactions):
        return value
    return told.text[start:]
