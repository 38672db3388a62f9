"""The AsyncAPI 3 document of the ways out: server-sent events, webhooks and NATS.

Made of the catalogue of events: each event type is a schema, and what carries them are messages.
"""

from __future__ import annotations

from typing import Any

import orjson

from beliefledger import __version__
from beliefledger.exports.event_schema import DIALECT, schema
from beliefledger.ledger.events import BY_NAME
from beliefledger.tools.relay.cloud_events import CONTENT_TYPE

_FORMAT = "application/schema+json;version=2020-12"
_EVENT = "#/components/schemas/Event"
_ITS_SCHEMA = f"{_EVENT}/schema"
"""For references within JSON Schemas: each lies beside the name of its format."""
_NOTE = (
    "Bodies go to roles that may follow the log (auditor, admin); to others, and after an erasure,"
    " they are null. Who was erased is told by the `subject_ref` that their events had."
)


def document() -> dict[str, Any]:
    """The document, as JSON."""
    events, schemas = _schemas()
    schemas["Event"] = {"oneOf": [{"$ref": _place(name)} for name in events]}
    schemas["WebhookPayload"] = _webhook()
    schemas["CloudEvent"] = _cloud_event()
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "beliefledger",
            "version": __version__,
            "description": f"What happened in a ledger, as others are told of it. {_NOTE}",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": _servers(),
        "channels": _channels(),
        "operations": _operations(),
        "components": {
            "messages": _messages(),
            "schemas": {
                name: {"schemaFormat": _FORMAT, "schema": each}
                for name, each in sorted(schemas.items())
            },
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "See tokens.md."},
                "nats": {"type": "userPassword", "description": "As the NATS servers want it."},
            },
        },
    }


def as_text() -> str:
    """The document as text, the same each time."""
    return orjson.dumps(document(), option=orjson.OPT_INDENT_2).decode() + "\n"


def _schemas() -> tuple[list[str], dict[str, Any]]:
    """The names of all events; their schemas, and those of parts of theirs."""
    whole = _moved(schema())
    return sorted(BY_NAME), dict(whole["$defs"])


def _moved(found: Any) -> Any:
    """With references to where schemas lie in this document."""
    if isinstance(found, dict):
        return {
            name: _place(each) if name == "$ref" else _moved(each)
            for name, each in found.items()
            if name != "$schema"
        }
    return [_moved(each) for each in found] if isinstance(found, list) else found


def _place(ref: str) -> str:
    return f"#/components/schemas/{ref.rpartition('/')[2]}/schema"


def _webhook() -> dict[str, Any]:
    return {
        "$schema": DIALECT,
        "type": "object",
        "properties": {
            "type": {"type": "string", "description": "The event's type."},
            "timestamp": {"type": "string", "format": "date-time", "description": "Recorded at."},
            "data": {"$ref": _ITS_SCHEMA},
        },
        "required": ["type", "timestamp", "data"],
    }


def _cloud_event() -> dict[str, Any]:
    text = {"type": "string", "minLength": 1}
    properties = {
        "specversion": {"const": "1.0"},
        "id": {**text, "description": "The event id, and the message id of NATS."},
        "source": {**text, "format": "uri-reference"},
        "type": text,
        "time": {"type": "string", "format": "date-time"},
        "subject": {**text, "description": "The subject_ref; not there where it is nobody's."},
        "datacontenttype": {"const": "application/json"},
        "dataschema": {**text, "format": "uri"},
        "sequence": {**text, "description": "The position, 20 digits."},
        "data": {"$ref": _ITS_SCHEMA, "description": "Never with a body or a name."},
    }
    needed = [name for name in properties if name != "subject"]
    return {"$schema": DIALECT, "type": "object", "properties": properties, "required": needed}


def _servers() -> dict[str, Any]:
    return {
        "http": {
            "host": "localhost:8321",
            "protocol": "https",
            "description": "`beliefledger serve`.",
            "security": [{"$ref": "#/components/securitySchemes/token"}],
        },
        "receiver": {
            "host": "example.org",
            "protocol": "https",
            "description": "Yours: the URL that a webhook was registered with.",
        },
        "nats": {
            "host": "localhost:4222",
            "protocol": "nats",
            "description": "Where `beliefledger relay nats` publishes; JetStream, 2.12 or later.",
            "security": [{"$ref": "#/components/securitySchemes/nats"}],
        },
    }


def _channels() -> dict[str, Any]:
    return {
        "sse": _channel(
            "http", "/v1/events", "event", "Server-sent events: past a position, then what comes."
        ),
        "webhook": _channel("receiver", "/", "delivery", "Posted to a URL, by Standard Webhooks."),
        "nats": {
            **_channel("nats", "beliefledger.{type}", "cloudEvent", "A stream of NATS JetStream."),
            "parameters": {"type": {"description": "The event's type: `memory.admitted.v2`."}},
        },
    }


def _channel(server: str, address: str, message: str, words: str) -> dict[str, Any]:
    return {
        "address": address,
        "description": words,
        "servers": [{"$ref": f"#/servers/{server}"}],
        "messages": {message: {"$ref": f"#/components/messages/{message}"}},
    }


def _operations() -> dict[str, Any]:
    """Seen from us, as AsyncAPI has it: all is sent."""
    return {
        name: {
            "action": "send",
            "channel": {"$ref": f"#/channels/{channel}"},
            "messages": [{"$ref": f"#/channels/{channel}/messages/{message}"}],
            "summary": words,
        }
        for name, channel, message, words in (
            ("streamEvents", "sse", "event", "`id` is the position: send it as Last-Event-ID."),
            ("deliverWebhook", "webhook", "delivery", "Answer 2xx once it is yours to keep."),
            ("relayToNats", "nats", "cloudEvent", "Each event once, in order."),
        )
    }


def _messages() -> dict[str, Any]:
    headers = {
        "type": "object",
        "properties": {
            "webhook-id": {
                "type": "string",
                "description": "The event id.",
            },
            "webhook-timestamp": {"type": "string", "description": "Seconds since 1970."},
            "webhook-signature": {"type": "string", "description": "`v1,…` for each secret."},
        },
        "required": ["webhook-id", "webhook-timestamp", "webhook-signature"],
    }
    return {
        "event": {
            "title": "An event",
            "contentType": "application/json",
            "payload": {"$ref": _EVENT},
        },
        "delivery": {
            "title": "A delivery",
            "contentType": "application/json",
            "headers": headers,
            "payload": {"$ref": "#/components/schemas/WebhookPayload"},
        },
        "cloudEvent": {
            "title": "A CloudEvent 1.0, structured",
            "contentType": CONTENT_TYPE,
            "headers": {
                "type": "object",
                "properties": {"Nats-Msg-Id": {"type": "string", "description": "The event id."}},
                "required": ["Nats-Msg-Id"],
            },
            "payload": {"$ref": "#/components/schemas/CloudEvent"},
        },
    }
