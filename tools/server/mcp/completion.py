"""What an argument of an address may be: subjects and topics, as far as a token may see them."""

from __future__ import annotations

from beliefledger.ledger.errors import InvalidQuery
from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.mcp import resources
from beliefledger.tools.server.mcp.tool import Answer, made, schema
from beliefledger.tools.server.shown import Shown

MOST = 100
"""Values of one answer, as the protocol has it."""
_PAGES = 50
"""Pages of subjects that are looked through for a token that is for everybody."""


def complete(caller: Caller, template: str, argument: str, value: str, subject: str = "") -> Answer:
    """Values of an argument that begin with what was typed, whatever its case."""
    kinds = [each for each in resources.readable(caller.principal) if each.template == template]
    if not kinds:
        raise InvalidQuery("There is no such template, or this token is not for it.")
    typed = value.strip().casefold()
    if argument == "subject":
        found = _subjects(caller, typed)
    elif argument == kinds[0].by == "topic":
        found = [each for each in _topics(caller, subject) if each.casefold().startswith(typed)]
    else:
        found = []
    return {"values": found[:MOST], "total": len(found)}


def _subjects(caller: Caller, typed: str) -> list[str]:
    known = resources.names(caller.memory, caller.principal)
    if known is not None:
        return [each for each in known if each.casefold().startswith(typed)]
    if not caller.principal.may("subjects"):
        return []
    found: list[str] = []
    after = None
    for _ in range(_PAGES):
        page = caller.memory.subjects(limit=1_000, after=after)
        found += [
            each.subject for each in page.subjects if each.subject.casefold().startswith(typed)
        ]
        after = page.next
        if after is None or len(found) > MOST:
            break
    return sorted(found)


def _topics(caller: Caller, subject: str) -> list[str]:
    """The topics of the policy, and the words under which agents stored what is shown of a person
    where the token is for them."""
    known = set(caller.memory.policy.current.topics)
    allowed = caller.principal.subjects
    if subject or (allowed is not None and len(allowed) == 1):
        person = caller.subject(subject)
        held = Shown(caller.memory).beliefs(caller.memory.beliefs(person))
        known |= {each["topic"] for each in held}
    return sorted(known)


COMPLETE = made(complete, result=schema(values=list, total=int), reads=True)
