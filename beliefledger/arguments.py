"""Checks of a search's arguments. They run at once, because the search is recorded later by a
thread, and an error there would not reach the caller."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from beliefledger.gate.rulebook import Rules
from beliefledger.gate.visibility import covers_team
from beliefledger.ledger.errors import CallerMistake, InvalidQuery, InvalidTurn, NotPermitted
from beliefledger.ledger.names import check_text
from beliefledger.ledger.secret_filter import refuse
from beliefledger.ledger.vault import SYSTEM
from beliefledger.times import LATEST

# ruff: noqa: PLC0415  what only some questions need is imported when one is asked

MOST_RESULTS = 1_000
LONGEST_QUERY = 100_000
"""Characters."""
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
EVERYTHING = ("memories", "episodes")


def text(name: str, value: object) -> str:
    """Raises `InvalidQuery` unless the value is text."""
    return check_text(name, value)


def purpose(value: object) -> str:
    """Raises `InvalidQuery` unless the value is a plain name."""
    return plain_name(value, "purpose")


def plain_name(value: object, name: str, wrong: type[CallerMistake] = InvalidQuery) -> str:
    """Raises `wrong` unless it is a plain name, since it stays on record after an erasure."""
    if not _PLAIN.fullmatch(text(name, value)):
        raise wrong(
            f"{name}: write a short name, like support or order-desk (a to z, 0 to 9, - _ and ."
            " up to 60); no words about anybody, since it stays when they are erased."
        )
    refuse(str(value), name)
    return str(value)


def words(value: object) -> str:
    """The query without secrets, as it is searched for and recorded. Raises `InvalidQuery`."""
    query = text("query", value)
    if not query.strip():
        raise InvalidQuery("query: write what to look for.")
    if len(query) > LONGEST_QUERY:
        raise InvalidQuery(f"query has {len(query):,} characters; at most {LONGEST_QUERY:,} go in.")
    from beliefledger.ledger.redact import redact

    return redact(query).text


def share(name: str, value: object, wrong: type[CallerMistake] = InvalidQuery) -> None:
    """Raises `wrong` unless the value is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise wrong(f"{name} is {value!r}; it must be from 0 to 1.")


def counts(k: object, max_tokens: object) -> None:
    """Raises `InvalidQuery` unless these are valid numbers of results and of tokens."""
    if not _whole(k, MOST_RESULTS):
        raise InvalidQuery(f"k is {k!r}; it must be a whole number from 1 to {MOST_RESULTS:,}.")
    if max_tokens is not None and not _whole(max_tokens, LATEST):
        raise InvalidQuery(f"max_tokens is {max_tokens!r}; it must be a whole number from 1.")


def names(
    rules: Rules, types: Sequence[str], topics: Sequence[str], scope: object, profile: object
) -> None:
    """Raises `InvalidQuery` for an unknown profile, type, topic or scope."""
    from beliefledger.projections import search_requests

    retired, policy = rules.registry.retired, rules.policy
    _known("profile", (profile,), search_requests.PROFILES)
    _known("types", types, tuple(rules.registry.types), also=tuple(retired))
    _known("topics", topics, policy.topics)
    _known("scope", () if scope is None else (scope,), policy.scopes)


def reader(rules: Rules, scope: str | None, reader: object) -> None:
    """Raises `InvalidQuery` for a scope of which the ledger knows who is meant, where it is not
    said who asks."""
    if scope is not None and reader is None and covers_team(rules.policy.scopes, scope):
        raise InvalidQuery(
            f"scope: {scope!r} finds what is for the members of a team, so say who asks: reader"
            " (--reader) names a person, who is in one or not."
        )


def filters(rules: Rules, type_: object, topic: object) -> None:
    """Raises `InvalidQuery` for an unknown type or topic; None is every one."""
    known = (*rules.registry.types, *rules.registry.retired)
    _known("type", () if type_ is None else (type_,), known)
    _known("topic", () if topic is None else (topic,), rules.policy.topics)


def type_(rules: Rules, name: str) -> None:
    """Raises `InvalidTurn` for a type of memory that there never was."""
    try:
        filters(rules, name, None)
    except InvalidQuery as problem:
        raise InvalidTurn(
            f"{problem.detail} More can be added: beliefledger types add."
        ) from problem


def reason(code: object) -> None:
    """Raises `InvalidQuery` unless it is a reason code."""
    from beliefledger.gate.outcomes import Reason

    _known("reason", (code,), [each.value for each in Reason])


def json_object(name: str, text: str) -> dict[str, Any]:
    """A JSON object that was written as a text. Raises `InvalidQuery` for what is none."""
    import orjson

    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        read = None
    if not isinstance(read, dict):
        raise InvalidQuery(f'{name}: write a JSON object, as {{"ticket": 7}}.')
    return read


def included(given: Collection[str]) -> None:
    """Raises `InvalidQuery` unless it names memories, episodes or both."""
    if isinstance(given, str) or not given or any(each not in EVERYTHING for each in given):
        raise InvalidQuery(f"include: {given!r} must name memories, episodes or both, in a list.")


def standing(given: object, reason: object, by: object) -> None:
    """A standing other than `now` is for whoever audits: under a name, and with a reason."""
    from beliefledger.projections import search_requests

    known = search_requests.STANDINGS
    if given not in known:
        raise InvalidQuery(f"standing: there is no {given!r}; there are: {', '.join(known)}.")
    if given == search_requests.NOW:
        if reason is not None:
            raise InvalidQuery("reason: it goes with standing 'then' or 'all'; leave it out.")
        return
    if by == SYSTEM or not isinstance(reason, str) or not reason.strip():
        raise NotPermitted(
            f"Searching with standing {given!r} shows what agents may not see, and goes on record:"
            " say who looks (by) and why (reason)."
        )
    refuse(reason, "reason")


def _known(
    name: str, given: Collection[object], known: Sequence[str], also: Sequence[str] = ()
) -> None:
    if isinstance(given, str) or not isinstance(given, Collection):
        raise InvalidQuery(f"{name}: give a list of names, not {given!r}.")
    for each in given:
        if each not in known and each not in also:
            from difflib import get_close_matches

            near = get_close_matches(str(each), known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise InvalidQuery(
                f"{name}: there is no {each!r}; {hint}there are: {', '.join(known)}."
            )


def _whole(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
