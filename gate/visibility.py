"""Who may see a memory, by its visibility scope. Pure.

A scope says how widely a memory may be seen: by the subject (and in one session alone), by the
members of the subject's teams, by everybody here. Of these the ledger can tell who is meant by
`subject` and by `team`; any other scope is taken at the word of who asks.
"""

from __future__ import annotations

from collections.abc import Sequence

SUBJECT, TEAM, TENANT = "subject", "team", "tenant"


def narrowest(scopes: Sequence[str], *, shares_team: bool, wanted: str | None = None) -> str | None:
    """The narrowest scope that somebody may see of another person's memories; None where they may
    see none. `scopes` are the policy's, from narrow to wide. `wanted` narrows it further."""
    wide = scopes[scopes.index(SUBJECT) + 1 :]
    for_all = [each for each in wide if each != TEAM]
    if shares_team and TEAM in wide:
        least = TEAM
    elif TENANT in for_all:
        least = TENANT
    elif for_all:
        least = for_all[-1]
    else:
        return None
    if wanted not in for_all or scopes.index(wanted) <= scopes.index(least):
        return least
    return wanted


def seen(scopes: Sequence[str], least: str, *, named: bool) -> tuple[str, ...]:
    """The scopes of what is seen: the narrowest and all that are wider. Where it is said who asks,
    `team` is among them only as the narrowest, which it is for who shares one."""
    wide = scopes[scopes.index(least) :] if least in scopes else ()
    return tuple(each for each in wide if not named or each != TEAM or least == TEAM)


def covers_team(scopes: Sequence[str], scope: str) -> bool:
    """Whether a search on behalf of a scope finds what is for the members of a team, so that it has
    to be said who asks."""
    place, subject = scopes.index(scope), scopes.index(SUBJECT)
    return TEAM in scopes and subject < place <= scopes.index(TEAM)
