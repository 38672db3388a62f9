"""The server that the conformance suite is run against: our application with the suite's fixtures.

The suite has no way to send a token, so an outer layer adds one. All else is ours: the gatekeeper,
the sessions, the checks of hosts and origins, the handlers and the record of calls. Only the tools
and resources that the suite asks for by name stand beside ours.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass

from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequiredResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)
from mcp_types import Tool as ListedTool
from served import serving

from beliefledger import open_memory
from beliefledger.tools.server import app
from beliefledger.tools.server.configuration import configuration
from beliefledger.tools.server.mcp.door import Door

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8"
    "z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
TEMPLATE = "test://template/{id}/data"
ENUM_TITLES = [("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option")]


def text(said):
    return TextContent(type="text", text=said)


def held(uri, said, mime_type="text/plain"):
    return TextResourceContents(uri=uri, mime_type=mime_type, text=said)


def image():
    return ImageContent(type="image", data=PIXEL, mime_type="image/png")


def form(message, properties, required=()):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ElicitRequestFormParams(message=message, requested_schema=schema)


ASKED = {
    "test_elicitation": form(
        "Please answer.",
        {"username": {"type": "string"}, "email": {"type": "string"}},
        ("username", "email"),
    ),
    "test_elicitation_sep1034_defaults": form(
        "Please look at these.",
        {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {
                "type": "string", "enum": ["active", "inactive", "pending"], "default": "active",
            },
            "verified": {"type": "boolean", "default": True},
        },
    ),
    "test_elicitation_sep1330_enums": form(
        "Please choose.",
        {
            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {
                "type": "string",
                "oneOf": [{"const": value, "title": title} for value, title in ENUM_TITLES],
            },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {
                "type": "array",
                "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
            },
            "titledMulti": {
                "type": "array",
                "items": {"anyOf": [{"const": v, "title": title} for v, title in ENUM_TITLES]},
            },
        },
    ),
}  # fmt: skip
NAMED = form("What is your name?", {"name": {"type": "string"}}, ("name",))
FIXED = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [AudioContent(type="audio", data=SOUND, mime_type="audio/wav")],
    "test_embedded_resource": [
        EmbeddedResource(
            type="resource", resource=held("test://embedded-resource", "An embedded resource.")
        )
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        image(),
        EmbeddedResource(
            type="resource",
            resource=held("test://mixed-content-resource", '{"test": 1}', "application/json"),
        ),
    ],
}
OTHERS = (
    "test_error_handling", "test_tool_with_progress", "test_input_required_result_elicitation",
    "test_streaming_elicitation", "test_missing_capability", "test_logging_tool",
)  # fmt: skip
HEADERS = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}
JSON_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
RESOURCES = {
    "test://static-text": held("test://static-text", "This is the content of the static text."),
    "test://static-binary": BlobResourceContents(
        uri="test://static-binary", mime_type="image/png", blob=PIXEL
    ),
    "test://watched-resource": held("test://watched-resource", "It is watched."),
}


@dataclass
class FixtureDoor(Door):
    """Our door, with the fixtures beside what is ours."""

    def server(self):
        server = Door.server(self)
        self._theirs = {
            method: server.get_request_handler(method)
            for method in (
                "resources/list", "resources/templates/list", "resources/read",
                "resources/subscribe", "resources/unsubscribe",
            )
        }  # fmt: skip
        for method, handler in (
            ("resources/list", self.list_resources),
            ("resources/templates/list", self.list_templates),
            ("resources/read", self.read),
            ("resources/subscribe", self.subscribe),
            ("resources/unsubscribe", self.subscribe),
        ):
            known = self._theirs[method]
            server.add_request_handler(method, known.params_type, handler)
        return server

    async def list_tools(self, request, params):
        ours = await Door.list_tools(self, request, params)
        told = {
            name: ListedTool(name=name, description=name, input_schema={"type": "object"})
            for name in (*FIXED, *ASKED, *OTHERS)
        }
        told["json_schema_2020_12_tool"] = ListedTool(
            name="json_schema_2020_12_tool", description="A schema.", input_schema=JSON_SCHEMA
        )
        told["test_custom_header"] = ListedTool(
            name="test_custom_header", description="A header.", input_schema=HEADERS
        )
        return ours.model_copy(update={"tools": [*ours.tools, *told.values()]})

    def _input_schema(self, name):
        return HEADERS if name == "test_custom_header" else Door._input_schema(self, name)

    async def call_tool(self, request, params):
        name = params.name
        if name in FIXED:
            return CallToolResult(content=FIXED[name])
        if name in ASKED:
            asked = ASKED[name]
            answer = await request.session.elicit_form(
                asked.message, asked.requested_schema, request.request_id
            )
            told = f"User response: action={answer.action}, content={answer.content}"
            return CallToolResult(content=[text(told)])
        if name == "test_error_handling":
            said = "This tool intentionally returns an error for testing"
            return CallToolResult(content=[text(said)], is_error=True)
        if name == "test_tool_with_progress":
            for done in (0, 50, 100):
                await request.session.report_progress(done, 100)
                await asyncio.sleep(0.05)
            return CallToolResult(content=[text("It is done.")])
        if name == "test_missing_capability":
            needed = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(
                code=MISSING_REQUIRED_CLIENT_CAPABILITY, message="It needs sampling.", data=needed
            )
        if name in {"test_logging_tool", "test_custom_header"}:
            return CallToolResult(content=[text("It is done.")])
        if name in {"test_input_required_result_elicitation", "test_streaming_elicitation"}:
            answers = params.input_responses or {}
            if "user_name" not in answers:
                asking = {"user_name": ElicitRequest(params=NAMED)}
                return InputRequiredResult(input_requests=asking)
            given = answers["user_name"].content
            return CallToolResult(content=[text(f"Hello, {given['name']}!")])
        return await Door.call_tool(self, request, params)

    async def list_resources(self, request, params):
        ours = await self._theirs["resources/list"].handler(request, params)
        told = [
            Resource(uri=each, name=each, mime_type=content.mime_type)
            for each, content in RESOURCES.items()
        ]
        return ours.model_copy(update={"resources": [*told, *ours.resources]})

    async def list_templates(self, request, params):
        ours = await self._theirs["resources/templates/list"].handler(request, params)
        told = ResourceTemplate(uri_template=TEMPLATE, name="template", mime_type="text/plain")
        return ours.model_copy(update={"resource_templates": [told, *ours.resource_templates]})

    async def read(self, request, params):
        if params.uri in RESOURCES:
            return ReadResourceResult(contents=[RESOURCES[params.uri]])
        before, after = TEMPLATE.split("{id}")
        if params.uri.startswith(before) and params.uri.endswith(after):
            id_ = params.uri.removeprefix(before).removesuffix(after)
            said = f'{{"id": "{id_}", "templateTest": true, "data": "Data for ID: {id_}"}}'
            return ReadResourceResult(contents=[held(params.uri, said, "application/json")])
        return await self._theirs["resources/read"].handler(request, params)

    async def subscribe(self, request, params):
        if params.uri in RESOURCES:
            return EmptyResult()
        return await self._theirs[request.method].handler(request, params)


class WithToken:
    """ASGI: every request comes with this token."""

    def __init__(self, inner, token):
        self._inner = inner
        self._header = (b"authorization", f"Bearer {token}".encode())
        self.state = inner.state

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._inner(scope, receive, send)


@contextmanager
def conformance_server(place, monkeypatch):
    """Serves while it is entered; yields where, and the ledger."""
    monkeypatch.setattr(app, "Door", FixtureDoor)
    with open_memory(place) as memory:
        memory.remember("ana", "I live in Lisbon.", consent="consent")
        token = memory.tokens.create("bot", by="lea", subjects=["ana"]).token
        settings = configuration(port=0, calls_per_minute=100_000)
        with serving(memory, settings, lambda inner: WithToken(inner, token)) as url:
            yield url, memory
