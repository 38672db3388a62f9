"""A search: as it is called, as it goes on record, and as the indexes take it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from beliefledger import arguments
from beliefledger.filters import EVERYTHING, Where
from beliefledger.gate.policy import millionths
from beliefledger.gate.rulebook import Rules
from beliefledger.gate.visibility import SUBJECT, seen
from beliefledger.ledger.encryption import SubjectKeys
from beliefledger.ledger.errors import NotPermitted
from beliefledger.ledger.events.recall import SearchQuery, Wanted
from beliefledger.ledger.secret_filter import cleaned, session_name
from beliefledger.ledger.streams import session_tag
from beliefledger.ledger.times import Micros
from beliefledger.opening.core import Core
from beliefledger.projections.search_requests import NOW, SearchRequest, TaggedWhere
from beliefledger.projections.slot_routing import SlotWords, slot_words
from beliefledger.reading.fading import fading
from beliefledger.reading.queries import Snapshot
from beliefledger.search.options import SHARES, SearchOptions, known_options
from beliefledger.search.reranking import READ
from beliefledger.times import Moment, micros


class SearchCall(NamedTuple):
    """The arguments of `MemoryLedger.search`."""

    subject: str
    query: str
    k: int
    as_of: Moment | Snapshot | None
    valid_at: Moment | None
    types: Sequence[str]
    session: str | None
    purpose: str | None
    max_tokens: int | None
    record: bool
    by: str
    options: SearchOptions


class Then(NamedTuple):
    """As of when a search is made, and by which rules. Without a position, as of now."""

    position: int | None
    now: Micros
    rules: Rules
    purpose: str | None = None
    """What for; None: the policy's purpose."""
    standing: str = NOW
    standing_at: int | None = None
    permitted_at: Micros | None = None


def checked(call: SearchCall, rules: Rules, as_of: int | None) -> SearchQuery:
    """What is asked, as it goes on record. Raises `InvalidQuery` for what cannot be asked."""
    options = known_options(call.options)
    for name, value in (
        ("subject", call.subject),
        ("by", call.by),
        ("session", call.session or ""),
    ):
        arguments.text(name, value)
    query = arguments.words(call.query)
    for name in SHARES:
        arguments.share(name, getattr(options, name))
    if options.min_confidence is not None:
        arguments.share("min_confidence", options.min_confidence)
    arguments.counts(call.k, call.max_tokens)
    arguments.included(options.include)
    arguments.names(rules, call.types, options.topics, options.scope, options.profile)
    arguments.reader(rules, options.scope, options.reader)
    arguments.standing(options.standing, options.reason, call.by)
    return SearchQuery(
        query=query,
        k=call.k if options.rerank is None else max(call.k, READ),
        as_of=as_of,
        valid_at=micros(call.valid_at, "valid_at"),
        types=tuple(call.types),
        topics=tuple(options.topics),
        scope=options.scope,
        min_confidence=rules.floor(options.min_confidence),
        min_importance=millionths(options.min_importance),
        recency_weight=millionths(options.recency_weight),
        diversity=millionths(options.diversity),
        max_tokens=call.max_tokens,
        include=tuple(options.include),
        profile=options.profile,
        session=call.session,
        standing=None if options.standing == NOW else options.standing,
        reason=options.reason,
    )


def request_of(core: Core, ref: str, asked: SearchQuery, then: Then) -> SearchRequest:
    """What is asked of the indexes of a subject. Raises `NotPermitted` for an erased one."""
    scopes, tagger, keys = then.rules.policy.scopes, core.tagger, core.log.keys(ref)
    if keys is None:
        raise NotPermitted
    session = session_name(keys.ids, asked.session)
    asked = asked.model_copy(update={"session": session})
    least = asked.scope or SUBJECT
    wide = scopes.index(least) > scopes.index(SUBJECT)
    return SearchRequest(
        subject_ref=ref,
        asked=asked,
        position=then.position,
        now=then.now,
        topic_tags=tuple(tagger(ref, "topic", each) for each in asked.topics),
        scopes=seen(scopes, least, named=asked.reader is not None) if wide else scopes,
        episodes="episodes" in asked.include and not wide,
        session_tag=session_tag(keys.ids, session),
        ages=fading(then.rules),
        purpose=then.purpose,
        standing=then.standing,
        standing_at=then.standing_at,
        permitted_at=then.permitted_at,
        where=None if asked.where is None else _tagged(core, ref, asked.where),
        slots=_slots(then.rules),
    )


def wanted_of(keys: SubjectKeys, where: Where) -> Wanted | None:
    """A filter as it goes on record, where sessions have tags; None for none. Its secrets are taken
    out, as out of what it is looked for in: so the same is found when it is run again."""
    if where == EVERYTHING:
        return None
    session = session_name(keys.ids, where.session)
    wanted = Wanted(
        session_tag=None if session is None else session_tag(keys.ids, session),
        agent=where.agent,
        topic=where.topic,
        type=where.type,
        metadata=dict(where.metadata),
    )
    return cleaned(wanted)


def _tagged(core: Core, ref: str, where: Wanted) -> TaggedWhere:
    return TaggedWhere(
        session_tag=where.session_tag,
        agent=where.agent,
        topic_tags=None if where.topic is None else (core.tagger(ref, "topic", where.topic),),
        types=None if where.type is None else (where.type,),
        metadata=where.metadata,
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
