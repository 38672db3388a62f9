"""How long a name may be: of a subject, a session, an agent, a principal. The only place that says
so, and what is no name at all."""

from __future__ import annotations

import unicodedata

from beliefledger.ledger.errors import CallerMistake, InvalidQuery, InvalidTurn, NotPermitted

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


def check_actor(name: str) -> str:
    """The name of who acts. Raises `NotPermitted` without one."""
    if not check_text("by", name).strip():
        raise NotPermitted("Name who acts.")
    return name


def composed(subject: str) -> str:
    """The form of Unicode under which somebody is registered: NFC."""
    return subject if subject.isascii() else unicodedata.normalize("NFC", subject)


def forms(subject: str) -> tuple[str, ...]:
    """The forms of Unicode of an id that look alike, as given first: somebody is found under each,
    since an older ledger may have any of them."""
    if subject.isascii():
        return (subject,)
    apart = unicodedata.normalize("NFD", subject)
    return tuple(dict.fromkeys((subject, composed(subject), apart)))


def check_subject(subject: str) -> None:
    """Raises `InvalidTurn` for an id that nobody new may have: it looks like another one."""
    unseen = [each for each in subject if unicodedata.category(each) in {"Cc", "Zl", "Zp"}]
    at_ends = {unicodedata.category(each)[0] for each in subject[:1] + subject[-1:]}
    if unseen or at_ends & {"Z", "C"}:
        raise InvalidTurn(
            f"subject: {subject!r} has a blank at its beginning or end, or a character that is not"
            " seen. Give the id without it."
        )


def shown(given: object) -> str:
    """How an error tells what was given for a name or an id: text as it is, else only its type,
    since an object may say more of somebody."""
    return repr(given) if isinstance(given, str | None) else f"a {type(given).__name__}"
