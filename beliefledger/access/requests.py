"""Requests under a key of the caller's: each is done once, and what was answered is kept, without
words, to be answered again."""

from __future__ import annotations

import hmac
import json
import secrets
from dataclasses import field

from pydantic import JsonValue

from beliefledger.access.calls import inputs_digest
from beliefledger.access.principal import Principal
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import BackendUnavailable, VersionConflict
from beliefledger.ledger.events.kind import Event
from beliefledger.ledger.events.request import RequestBegun, RequestEnded
from beliefledger.ledger.log import Log, new_id

_EVERYBODY = "everybody"


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request, and the key under which it is to be done once."""

    principal: Principal
    door: str
    tool: str
    key: str = field(repr=False)
    sent: str = field(repr=False)
    """What was sent, as canonical JSON. Only a keyed hash of it is kept."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A request that is to be done now: its stream, and the version that this is."""

    stream: str
    version: int


@dataclass(frozen=True, slots=True)
class Done:
    """A request that was done before. `same` says whether it was this one: None where that cannot
    be told any more, because whom it was about is erased."""

    answer: JsonValue
    same: bool | None


@dataclass(frozen=True, slots=True)
class UnderWay:
    """A request that somebody works on now, perhaps in another process."""


def begin(log: Log, asked: KeyedRequest, seconds: float) -> Begun | Done | UnderWay:
    """Take a request on, unless it was done or is under way. Who began it and has not ended it
    after `seconds` counts as dead."""
    stream = _stream(log, asked)
    events = log.read_stream(stream)
    last = events[-1] if events else None
    if last is not None and last.type == RequestEnded.NAME and last.facts["done"]:
        return Done(json.loads(last.facts["answer"]), _is_same(log, last, asked))
    began = last is not None and last.type == RequestBegun.NAME
    if last is not None and began and log.clock() - last.recorded_at < seconds * 1e6:
        return UnderWay()
    event = RequestBegun(door=asked.door, tool=asked.tool)
    try:
        version = _append(log, asked, stream, len(events), event)
    except VersionConflict:
        return UnderWay()
    return Begun(stream, version)


def end(
    log: Log, asked: KeyedRequest, begun: Begun, answer: JsonValue, subject_ref: str | None
) -> None:
    """Keep what was answered, which has no words. Whoever took over a request that seemed dead
    keeps their own answer."""
    keys = None if subject_ref is None else log.keys(subject_ref)
    of, salt = (None if keys is None else subject_ref), secrets.token_hex(16)
    inputs = inputs_digest(log, of, salt, asked.sent)
    told = json.dumps(answer, sort_keys=True, separators=(",", ":"))
    event = RequestEnded(done=True, of=of, inputs=inputs, salt=salt, answer=told)
    _end(log, asked, begun, event)


def give_up(log: Log, asked: KeyedRequest, begun: Begun) -> None:
    """Nothing came of it: whoever asks again under the key begins anew."""
    _end(log, asked, begun, RequestEnded(done=False))


def _end(log: Log, asked: KeyedRequest, begun: Begun, event: RequestEnded) -> None:
    try:
        _append(log, asked, begun.stream, begun.version, event)
    except VersionConflict:
        return  # somebody else took it over


def _append(log: Log, asked: KeyedRequest, stream: str, version: int, event: Event) -> int:
    """Append as the next version; which that is. Raises `VersionConflict`."""
    new = New(event, new_id(), stream, None, asked.principal.ref)
    try:
        log.append([new], {stream: version})
    except BackendUnavailable:
        if log.find(new.event_id) is None:  # its reply may be all that was lost
            raise
    return version + 1


def _is_same(log: Log, last: Recorded, asked: KeyedRequest) -> bool | None:
    of, salt = last.facts["of"], last.facts["salt"]
    if of is not None and log.keys(of) is None:
        return None
    return hmac.compare_digest(inputs_digest(log, of, salt, asked.sent), last.facts["inputs"])


def _stream(log: Log, asked: KeyedRequest) -> str:
    """Another principal's same key is another, and so is one of a token for other people."""
    subjects = asked.principal.subjects
    allowed = [_EVERYBODY] if subjects is None else sorted(subjects)
    parts = (log.tenant, asked.principal.ref, *allowed, asked.key)
    return log.vault.notes.keyed_hash("request", *parts)
