"""What OpenAPI tells besides what FastAPI makes of the endpoints: the token, the headers, errors as
what they are, and what each parameter means."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from beliefledger.tools.server.api.once import HEADER, REPLAYED
from beliefledger.tools.server.api.problem import MEDIA

_METHODS = ("get", "post", "patch", "delete")
_PROBLEM = {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}
_TOKEN = {"type": "http", "scheme": "bearer", "description": "A token: see docs/tokens.md."}
_IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "ETags that are known: while it is as it was, the answer is 304 without a body.",
}
_MEANINGS = {
    "accept": "`text/event-stream` for a stream that goes on.",
    "after": "The `next` of the page before, as it is.",
    "agent": "Only what was said to this agent.",
    "basis": "The lawful basis that is withdrawn.",
    "belief_id": "A belief, by its whole id; for its history also a memory in it.",
    "bodies": "Whether words are told, as far as they may be now.",
    "by": "Who acts. The token says it: may be left out.",
    "decision_id": "A decision, by its whole id.",
    "digest": "A policy, by its digest or how that begins; or `current`, or `default`.",
    "end": "Up to this time.",
    "erasure": "An erasure, by its whole id.",
    "grant_id": "The one grant that is withdrawn.",
    "Last-Event-ID": "The id of the last event that was taken: goes before `after`.",
    "limit": "How many at most.",
    "memory_id": "A memory, by its whole id.",
    "min_confidence": "Only what is at least so sure, from 0 to 1.",
    "min_importance": "Only what is at least so important, from 0 to 1.",
    "moment": "A time, such as 2026-03-01 or 2026-03-01T09:00:00Z, or a position.",
    "name": "By its name.",
    "new": "The size of the newer checkpoint; the last one where it is left out.",
    "note": "Why, for the record.",
    "old": "The size of the older checkpoint.",
    "only": "Only this question.",
    "outcome": "Only what ended so.",
    "position": "A position of the log.",
    "proof": "Whether proofs of the events come with it.",
    "quarantined": "Whether what is in quarantine is told, too.",
    "reason": "Only decisions with this reason: `beliefledger reasons` has them.",
    "session": "Only what was said in this session.",
    "start": "From this time on.",
    "subject": "Whom it is about.",
    "subject_ref": "Whom it is about, as the log calls them: also somebody who is erased.",
    "topic": "Only memories of this topic.",
    "turn_id": "A turn, by its whole id.",
    "type": "Only memories of this type.",
    "types": "Names of event types, or patterns such as `memory.*`.",
    "valid_at": "A time: only what was true then.",
    "wait": "How many seconds to wait for it.",
    "waits": "Only what waits for a person, or only what does not.",
}
"""Of parameters that have no description of their own."""
_OF_EVENTS = {"after": "A position: only what comes after it."}
_OF_COUNTS = {"as_of": "A position: what there was up to it."}
_OF_DIFFERENCES = {"after": "The policy that it is compared with: as `digest`."}
_ELSEWHERE = {"events": _OF_EVENTS, "counts": _OF_COUNTS, "policy_diff": _OF_DIFFERENCES}
"""By endpoint, where a name means something else."""


def complete(app: FastAPI) -> None:
    """Have an application tell all of it in its document."""
    made = app.openapi

    def told() -> dict[str, Any]:
        document = made()
        return document if "security" in document else completed(document)

    app.openapi = told  # type: ignore[method-assign]


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with what is missing in it. It is changed."""
    document["components"]["securitySchemes"] = {"token": _TOKEN}
    document["security"] = [{"token": []}]
    for path in document["paths"].values():
        for each in (path[method] for method in _METHODS if method in path):
            _complete(each)
    return document


def _complete(operation: dict[str, Any]) -> None:
    meanings = _MEANINGS | _ELSEWHERE.get(operation["operationId"], {})
    parameters = operation.setdefault("parameters", [])
    for each in parameters:
        each.setdefault("description", meanings.get(each["name"], ""))
    responses = operation["responses"]
    done = next(each for status, each in responses.items() if status.startswith("2"))
    done["headers"] = headers = _headers()
    if "304" in responses:
        parameters.append(_IF_NONE_MATCH)
        headers["ETag"] = _header("Of this answer: see If-None-Match.")
        responses["304"]["headers"] = {"ETag": headers["ETag"]}
    if any(each["name"] == HEADER for each in parameters):
        headers[REPLAYED] = _header("`true` where it had been done before under the same key.")
    if "text/csv" in done.get("content", {}):
        headers["Link"] = _header("Of CSV: where the next page is.")
    if operation["operationId"] == "record_turn":
        headers["Location"] = _header("The job of the turn.")
        del headers[REPLAYED]  # its answer says `already`
    for status, each in responses.items():
        if status[0] in "45":
            each["content"] = _PROBLEM
            each["headers"] = _headers()
            if status == "401":
                each["headers"]["WWW-Authenticate"] = _header("How to come with a token.")
            if status in {"409", "429", "503"}:
                each["headers"]["Retry-After"] = _header("Try again after so many seconds.")


def _headers() -> dict[str, Any]:
    return {"X-Request-Id": _header("That of the request, or one that was made for it.")}


def _header(means: str) -> dict[str, Any]:
    return {"description": means, "schema": {"type": "string"}}
