"""Contexts: what an agent puts before a model, collected, fitted into a budget and recorded."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from beliefledger import arguments
from beliefledger.gate.policy import millionths
from beliefledger.ledger.codec import New
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidQuery, NotPermitted, TokenizerMissing
from beliefledger.ledger.events.recall import ContextQuery, MemoriesRecalled, SearchQuery
from beliefledger.ledger.log import new_id
from beliefledger.ledger.registered import Group
from beliefledger.ledger.secret_filter import session_name
from beliefledger.ledger.spans import COUNT, SEARCH, traced
from beliefledger.ledger.streams import query_digest, recall_stream, session_tag
from beliefledger.ledger.times import from_datetime
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.projections import search_requests
from beliefledger.projections.search_requests import NOW
from beliefledger.reading.queries import Queries, Snapshot
from beliefledger.search.answers import SearchAnswer
from beliefledger.search.context import (
    Candidate,
    ContextAnswer,
    Fitted,
    as_messages,
    fitted,
    merged,
    of_found,
    of_memory,
    telling,
)
from beliefledger.search.context_text import (
    FORMATS,
    ContextLine,
    Format,
    Section,
    Tokenizer,
    estimated,
    of_bytes,
)
from beliefledger.search.on_demand import IndexesOnDemand
from beliefledger.search.options import SearchOptions, known_options
from beliefledger.search.pinning import Beside, PinnedMemory, Pinning
from beliefledger.search.request import SearchCall, Then, request_of
from beliefledger.search.search import Search
from beliefledger.times import Moment

ESTIMATE = "estimate"
TOKENIZERS: dict[str, Tokenizer] = {ESTIMATE: estimated, "bytes": of_bytes}
_REGISTERED = Group(
    "beliefledger.tokenizers",
    "tokenizer",
    TokenizerMissing,
    tuple(TOKENIZERS),
    unknown=InvalidQuery,
)
"""Packages register functions that count tokens, or classes of which one can be called."""
CALLABLE = "callable"
"""What is recorded of a function that a caller gave."""


@dataclass(frozen=True, slots=True)
class ContextCall:
    """The arguments of `MemoryLedger.context`."""

    subject: str
    query: str
    max_tokens: int
    purpose: str | None
    as_of: Moment | Snapshot | None
    session: str | None
    format: Format
    tokenizer: str | Tokenizer | None
    k: int
    record: bool
    by: str
    options: SearchOptions


class Contexts:
    """Makes contexts of one subject at a time."""

    def __init__(
        self, core: Core, queries: Queries, indexes: IndexesOnDemand, search: Search
    ) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._search = search
        self._pinning = Pinning(core, queries, indexes)

    @traced(SEARCH, lambda answer: {COUNT: len(answer.lines)})
    def context(self, call: ContextCall) -> ContextAnswer:
        """What to put before a model; see `MemoryLedger.context`."""
        if call.format not in FORMATS:
            raise InvalidQuery(f"format: {call.format!r} is none of {', '.join(FORMATS)}.")
        arguments.counts(call.k, call.max_tokens)
        options = known_options(call.options)
        if options.standing != NOW or options.rerank is not None:
            raise InvalidQuery(
                "options: a context is of what may be shown now, as search ranks it; leave out"
                " standing and rerank."
            )
        name, count = tokenizer_of(call.tokenizer or self._core.settings.tokenizer)
        snapshot = self._queries.snapshot(call.as_of)
        prepared = self._search.prepared(_searching(call, snapshot))
        searched, rules = self._search.found(prepared), prepared.rules
        purpose = call.purpose or rules.policy.purpose
        ref, beside = prepared.ref, Beside()
        asked = prepared.asked.model_copy(update={"max_tokens": call.max_tokens})
        results = telling(searched.results, searched.query)
        if ref is not None and searched.embedder is not None:
            when = Then(searched.position, from_datetime(searched.valid_at), rules, purpose)
            turns = {each.id: each.episode.position for each in results if each.episode}
            with suppress(NotPermitted):  # erased just now: there is nothing beside
                request = request_of(self._core, ref, asked, when)
                beside = self._pinning.of(request, searched.position, turns)
        now = searched.valid_at
        found = [of_found(each, beside.turns, searched.query, now) for each in results]
        taken_up = {each.id: each.taken_up_by for each in searched.results if each.taken_up_by}
        told = (*_pinned(beside, now), *(each for each in found if each is not None))
        lines = merged(told, taken_up)
        fit = fitted(lines, call.subject, call.format, call.max_tokens, count)
        recall_id = None
        if call.record and fit.lines and ref is not None:
            asked = asked.model_copy(update={"context": _noted(name, call, beside, fit)})
            recall_id = self._note(ref, searched, purpose, asked, fit.lines, call.by)
        return ContextAnswer(
            recall_id=recall_id,
            subject=call.subject,
            query=searched.query,
            purpose=purpose,
            position=searched.position,
            valid_at=searched.valid_at,
            format=call.format,
            content=fit.content,
            messages=as_messages(fit.content),
            lines=fit.lines,
            tokens=fit.tokens,
            max_tokens=call.max_tokens,
            counted_by=name,
            estimated=name == ESTIMATE,
            left_out=fit.left_out,
            pending=searched.pending,
            notes=(*searched.notes, *_notes(name, fit)),
        )

    def _note(
        self,
        subject_ref: str,
        searched: SearchAnswer,
        purpose: str,
        asked: SearchQuery,
        lines: Sequence[ContextLine],
        by: str,
    ) -> str | None:
        """Have the context recorded as one recall, off the reader's path; returns its id."""
        keys = self._log.keys(subject_ref)
        if keys is None:
            return None  # erased just now: of whoever is erased nothing is recorded
        session, salt = session_name(keys.ids, asked.session), new_id()
        event = MemoriesRecalled(
            purpose=purpose,
            session_tag=session_tag(keys.ids, session),
            query_digest=query_digest(keys.ids, salt, asked.query),
            ranker=f"{asked.profile}/{search_requests.VERSION}",
            memories=tuple(line.id for line in lines if line.kind == "memory"),
            scores=tuple(millionths(each.score) for each in searched.results),
            ranked=tuple(each.id for each in searched.results),
            position=searched.position,
            asked_at=from_datetime(searched.valid_at),
            embedder=searched.embedder,
            index=searched.index,
            unembedded=searched.unembedded,
            asked=asked.model_copy(update={"session": session}),
            salt=salt,
        )
        recall_id = new_id()
        actor = SYSTEM if by == SYSTEM else self._log.principal(by)
        stream = recall_stream(subject_ref)
        self._core.recorder.note(New(event, recall_id, stream, subject_ref, actor))
        return recall_id


def _searching(call: ContextCall, snapshot: Snapshot | None) -> SearchCall:
    return SearchCall(
        subject=call.subject,
        query=call.query,
        k=call.k,
        as_of=snapshot,
        valid_at=None,
        types=(),
        session=call.session,
        purpose=call.purpose,
        max_tokens=None,
        record=False,
        by=call.by,
        options=call.options,
    )


def _pinned(beside: Beside, now: datetime) -> list[Candidate]:
    of: list[tuple[Section, PinnedMemory]] = [
        *(("constraints", each) for each in beside.constraints),
        *(("profile", each) for each in beside.profile),
    ]
    return [of_memory(each.belief, section, each.standing, now) for section, each in of]


def _noted(name: str, call: ContextCall, beside: Beside, fit: Fitted) -> ContextQuery:
    return ContextQuery(
        format=call.format,
        tokenizer=name,
        pinned=beside.ids,
        lines=tuple(line.id for line in fit.lines),
    )


def _notes(name: str, fit: Fitted) -> list[str]:
    notes = []
    if name == ESTIMATE:
        notes.append(
            "Tokens are estimated, a quarter of the characters; the model may count more:"
            " tokenizer='bytes' is never too few."
        )
    if fit.left_out:
        notes.append(f"{fit.left_out:,} further lines did not fit into the budget.")
    return notes


def tokenizer_of(given: str | Tokenizer) -> tuple[str, Tokenizer]:
    """The function that counts tokens, and its name. Raises `InvalidQuery` for an unknown name, and
    `TokenizerMissing` for one that cannot be loaded."""
    if callable(given):
        return CALLABLE, _checked(given)
    if given in TOKENIZERS:
        return given, TOKENIZERS[given]
    return given, _checked(_REGISTERED.made(given, needs=("__call__",)))


def _checked(count: Tokenizer) -> Tokenizer:
    def counted(text: str) -> int:
        number = count(text)
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise InvalidQuery(f"tokenizer: it returned {number!r}, which is no number of tokens.")
        return number

    return counted
