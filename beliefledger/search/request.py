"""A search as the indexes take it: whose, with which tags and scopes, as of when."""

from __future__ import annotations

from dataclasses import dataclass

from beliefledger.gate.rulebook import Rules
from beliefledger.ledger.errors import NotPermitted
from beliefledger.ledger.events.recall import SearchQuery
from beliefledger.ledger.secret_filter import session_name
from beliefledger.ledger.streams import session_tag
from beliefledger.ledger.times import Micros
from beliefledger.opening.core import Core
from beliefledger.projections.search_requests import NOW, SearchRequest
from beliefledger.projections.slot_routing import SlotWords, slot_words
from beliefledger.reading.fading import fading


@dataclass(frozen=True, slots=True)
class Then:
    """As of when a search is made, and by which rules. Without a position, as of now."""

    position: int | None
    now: Micros
    rules: Rules
    purpose: str | None = None
    """What for; None: the policy's purpose."""
    standing: str = NOW
    standing_at: int | None = None
    permitted_at: Micros | None = None


def request_of(core: Core, ref: str, asked: SearchQuery, then: Then) -> SearchRequest:
    """What is asked of the indexes of a subject. Raises `NotPermitted` for an erased one."""
    scopes, tagger, keys = then.rules.policy.scopes, core.tagger, core.log.keys(ref)
    if keys is None:
        raise NotPermitted
    session = session_name(keys.ids, asked.session)
    asked = asked.model_copy(update={"session": session})
    reader = asked.scope or "subject"
    wide = scopes.index(reader) > scopes.index("subject")
    return SearchRequest(
        subject_ref=ref,
        asked=asked,
        position=then.position,
        now=then.now,
        topic_tags=tuple(tagger(ref, "topic", each) for each in asked.topics),
        scopes=scopes[scopes.index(reader) :] if wide else scopes,
        episodes="episodes" in asked.include and not wide,
        session_tag=session_tag(keys.ids, session),
        ages=fading(then.rules),
        purpose=then.purpose,
        standing=then.standing,
        standing_at=then.standing_at,
        permitted_at=then.permitted_at,
        slots=_slots(then.rules),
    )


def _slots(rules: Rules) -> tuple[SlotWords, ...]:
    """By which words the ledger's own types are asked for."""
    return tuple(
        slot_words(
            f"type {kind.name}",
            {
                "types": (kind.name,),
                "names": (kind.name.replace("_", " "),),
                "asks": kind.asks,
                "says": kind.says,
                "about": kind.description,
            },
        )
        for kind in rules.registry.added()
    )
