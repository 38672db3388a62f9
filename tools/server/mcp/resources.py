"""What can be read at an address: the beliefs, the history and the decisions of a person, as JSON.

Each is a tool under another form: the same rights, the same gate of the way out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from mcp_types import Resource, ResourceTemplate

from beliefledger.access.principal import Principal
from beliefledger.ledger.errors import LedgerError, UnknownMemory
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.mcp import belief_tools
from beliefledger.tools.server.mcp.tool import Answer, Tool, made, schema
from beliefledger.tools.server.shown import Shown

SCHEME = "beliefledger://subject/"
JSON = "application/json"
MOST = 1_000
"""Entries of one answer: the newest, with the number of all of them beside."""
MOST_DECISIONS = 200
PAGE = 100
"""Subjects of one page of the list."""
_ADDRESS = re.compile(rf"{SCHEME}([^/?#]+)/(beliefs|history|decisions)(?:/([^/?#]+))?")
_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of resource. `tool` reads it; `by` names what may follow in its address."""

    name: str
    tool: Tool
    by: str | None = None

    @property
    def template(self) -> str:
        further = "" if self.by is None else f"/{{{self.by}}}"
        return f"{SCHEME}{{subject}}/{self.name}{further}"


@dataclass(frozen=True, slots=True)
class Address:
    """What an address names."""

    kind: Kind
    subject: str
    further: str | None

    @property
    def arguments(self) -> dict[str, str]:
        """Those of its tool."""
        told = {"subject": self.subject}
        return told if self.kind.by is None else told | {self.kind.by: self.further or ""}


def beliefs(caller: Caller, subject: str, topic: str = "") -> Answer:
    """What is believed of a person now, the newest first: all of it, or what is of one topic."""
    shown = Shown(caller.memory).beliefs(caller.memory.beliefs(caller.subject(subject)))
    held = [each for each in shown if not topic or each["topic"] == topic]
    held.sort(key=lambda each: (each["recorded_from"], each["memory_id"]), reverse=True)
    return {"subject": subject, "total": len(held), "beliefs": held[:MOST]}


def history(caller: Caller, subject: str) -> Answer:
    """Every memory that there was of a person and what happened to it, the last ones first. What
    was erased or may not be told has no words."""
    changes = belief_tools.diff(caller, "0", subject=subject)["changes"]
    return {"subject": subject, "total": len(changes), "changes": changes[::-1][:MOST]}


def versions(caller: Caller, subject: str, belief_id: str) -> Answer:
    """Every version of one belief, oldest first, as far as it may be told."""
    person = caller.subject(subject)
    found = belief_tools.versions_of(caller, belief_id)
    if any(each.subject != person for each in found):
        raise UnknownMemory("There is no such belief.")
    return {"subject": subject, "versions": Shown(caller.memory).beliefs(found)}


def decisions(caller: Caller, subject: str) -> Answer:
    """What the gate decided of what a person said, the last ones first, with reasons. A claim is
    told only where its words may be."""
    made = belief_tools.list_decisions(caller, limit=MOST_DECISIONS, subject=subject)["decisions"]
    return {"subject": subject, "decisions": made[::-1]}


_BELIEFS = schema("subject", total=int, beliefs=list)
KINDS = (
    Kind("beliefs", made(beliefs, "beliefs", name="read_beliefs", result=_BELIEFS, reads=True)),
    Kind(
        "beliefs",
        made(beliefs, "beliefs", name="read_beliefs_of_topic", result=_BELIEFS, reads=True),
        by="topic",
    ),
    Kind(
        "history",
        made(
            history, "diff", name="read_history",
            result=schema("subject", total=int, changes=list), reads=True,
        ),
    ),
    Kind(
        "history",
        made(
            versions, "history", name="read_belief_history",
            result=schema("subject", versions=list), reads=True,
        ),
        by="belief_id",
    ),
    Kind(
        "decisions",
        made(
            decisions, "decisions", name="read_decisions",
            result=schema("subject", decisions=list), reads=True,
        ),
    ),
)  # fmt: skip


def address(uri: str) -> Address | None:
    """What an address names; None for one that is none of ours."""
    found = _ADDRESS.fullmatch(uri) if len(uri) <= _LONGEST else None
    if found is None:
        return None
    try:
        subject, further = (
            None if each is None else unquote(each, errors="strict") for each in found.group(1, 3)
        )
    except UnicodeDecodeError:
        return None
    for kind in KINDS:
        if kind.name == found.group(2) and (kind.by is None) == (further is None):
            return Address(kind, subject or "", further)
    return None


def written(subject: str, kind: Kind) -> str:
    """The address of a kind of resource of a person."""
    return f"{SCHEME}{quote(subject, safe='')}/{kind.name}"


def names(memory: MemoryLedger, principal: Principal) -> list[str] | None:
    """Those whom a token is for and who are not erased; None where it is for everybody."""
    if principal.subjects is None:
        return None
    return sorted(name for each in principal.subjects if (name := memory.name_of(each)) is not None)


def readable(principal: Principal) -> list[Kind]:
    """What a token may read, of whomever it is for."""
    return [each for each in KINDS if each.tool.may(principal)]


def listed(caller: Caller, after: str | None) -> tuple[list[Resource], str | None]:
    """The resources of a page of the subjects, and the cursor of the next page. Raises
    `InvalidQuery` for a cursor that is none."""
    principal, memory = caller.principal, caller.memory
    kinds = [each for each in readable(principal) if each.by is None]
    subjects, further = names(memory, principal), None
    if not kinds:
        return [], None
    if subjects is not None:
        first = 0 if after is None else next(
            (at for at, each in enumerate(subjects) if each > unquote(after)), len(subjects)
        )  # fmt: skip
        page = subjects[first : first + PAGE]
        further = quote(page[-1]) if first + PAGE < len(subjects) else None
    elif principal.may("subjects"):
        found = memory.subjects(limit=PAGE, after=after)
        page, further = [each.subject for each in found.subjects], found.next
    else:  # for everybody, and not to be told who that is
        page = []
    return [_listed(each, kind) for each in page for kind in kinds], further


def _listed(subject: str, kind: Kind) -> Resource:
    return Resource(
        uri=written(subject, kind),
        name=f"{kind.name} of {subject}",
        description=kind.tool.description,
        mime_type=JSON,
    )


def templates(principal: Principal) -> list[ResourceTemplate]:
    """How the addresses are made of what a token may read."""
    return [
        ResourceTemplate(
            uri_template=each.template,
            name=each.tool.name.removeprefix("read_"),
            description=each.tool.description,
            mime_type=JSON,
        )
        for each in readable(principal)
    ]


def watched(caller: Caller, uri: str) -> tuple[str, str] | None:
    """The reference of the person and the kind of what is to be watched; None where the token is
    not for it, or it cannot be."""
    named = address(uri)
    if named is None or not named.kind.tool.may(caller.principal):
        return None
    try:
        caller.subject(named.subject)
    except LedgerError:
        return None
    ref = caller.subject_ref
    return None if ref is None else (ref, named.kind.name)
