"""How long a name may be: of a subject, a session, an agent, a principal. The only place that says
so, and what is no name at all."""

from __future__ import annotations

from beliefledger.ledger.errors import CallerMistake, InvalidQuery, InvalidTurn

LONGEST = 512
"""Characters."""


def check_name(what: str, name: str) -> str:
    """The name, if it is short enough. Raises `InvalidTurn` with both sizes."""
    if len(name) > LONGEST:
        raise InvalidTurn(f"{what} has {len(name):,} characters; a name has at most {LONGEST:,}.")
    return name


def check_text(what: str, given: object, wrong: type[CallerMistake] = InvalidQuery) -> str:
    """A name or an id, if it is text. Raises `wrong` for anything else."""
    if not isinstance(given, str):
        raise wrong(f"{what} must be text, not {type(given).__name__}.")
    try:
        given.isascii() or given.encode()
    except UnicodeEncodeError:
        raise wrong(f"{what} is not valid Unicode text.") from None
    return given


def shown(given: object) -> str:
    """How an error tells what was given for a name or an id: text as it is, else only its type,
    since an object may say more of somebody."""
    return repr(given) if isinstance(given, str | None) else f"a {type(given).__name__}"
