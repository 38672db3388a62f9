"""The AsyncAPI document: it is current, it hangs together, and what is sent fits it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import asyncapi
from catalogue import EXAMPLES
from jsonschema import Draft7Validator, Draft202012Validator
from jsonschema.validators import validator_for

from beliefledger.ledger.events import BY_NAME
from beliefledger.tools.relay.asyncapi import as_text, document
from beliefledger.tools.relay.cloud_events import CONTENT_TYPE

DOCUMENT = document()
PUBLISHED = Path(__file__).parents[1] / "data" / "asyncapi" / "3.0.0.json.gz"


def refs(found):
    if isinstance(found, dict):
        if isinstance(found.get("$ref"), str):
            yield found["$ref"]
        found = list(found.values())
    if isinstance(found, list):
        for each in found:
            yield from refs(each)


def at(ref):
    found = DOCUMENT
    for part in ref.removeprefix("#/").split("/"):
        found = found[part.replace("~1", "/").replace("~0", "~")]
    return found


def validator(name):
    return Draft202012Validator({**DOCUMENT, "$ref": f"#/components/schemas/{name}/schema"})


def test_the_page_is_what_the_catalogue_says():
    assert asyncapi.PAGE.read_text("utf-8") == as_text(), "run python tests/asyncapi.py"
    assert json.loads(as_text()) == json.loads(json.dumps(DOCUMENT))


def test_every_reference_leads_somewhere():
    found = set(refs(DOCUMENT))
    assert len(found) > len(BY_NAME)
    assert all(at(each) for each in found)


def test_it_is_valid_by_the_schema_that_asyncapi_publishes():
    published = Draft7Validator(json.loads(gzip.decompress(PUBLISHED.read_bytes())))
    assert not list(published.iter_errors(DOCUMENT))
    broken = {**DOCUMENT, "operations": {"tell": {"action": "shout"}}}
    assert list(published.iter_errors(broken))
    assert list(published.iter_errors({**DOCUMENT, "asyncapi": "2.6.0"}))


def test_it_has_what_asyncapi_3_asks_for():
    assert DOCUMENT["asyncapi"] == "3.0.0"
    assert {"title", "version"} <= DOCUMENT["info"].keys()
    assert all({"host", "protocol"} <= each.keys() for each in DOCUMENT["servers"].values())
    for channel in DOCUMENT["channels"].values():
        assert {each["$ref"] for each in channel["servers"]} <= {
            f"#/servers/{name}" for name in DOCUMENT["servers"]
        }
        named = {part[1:-1] for part in channel["address"].split(".") if part.startswith("{")}
        assert named == channel.get("parameters", {}).keys()
    carried = {operation["channel"]["$ref"] for operation in DOCUMENT["operations"].values()}
    assert carried == {f"#/channels/{name}" for name in DOCUMENT["channels"]}
    for operation in DOCUMENT["operations"].values():
        assert operation["action"] in {"send", "receive"}
        own = at(operation["channel"]["$ref"])["messages"]
        assert all(each["$ref"].rpartition("/")[2] in own for each in operation["messages"])
    for each in DOCUMENT["components"]["schemas"].values():
        assert each["schemaFormat"] == "application/schema+json;version=2020-12"
        validator_for(each["schema"], Draft202012Validator).check_schema(each["schema"])


def test_every_example_is_an_event_a_delivery_and_a_cloud_event():
    examples = [json.loads(line) for line in EXAMPLES.read_text("utf-8").splitlines()]
    assert {each["type"] for each in examples} == BY_NAME.keys()
    deliveries, clouds = validator("WebhookPayload"), validator("CloudEvent")
    for each in examples:
        bare = each | {"body": None, "subject": None}
        delivery = {"type": each["type"], "timestamp": each["recorded_at"], "data": bare}
        # Validated by the type's own schema: to look through all of them for each takes long.
        own = validator(each["type"])
        assert own.is_valid(each)
        assert own.is_valid(bare)
        if each["type"] == "memory.admitted.v2":
            assert deliveries.is_valid(delivery)
            assert not deliveries.is_valid({**delivery, "data": {**bare, "facts": None}})
            cloud = {
                "specversion": "1.0", "id": each["event_id"], "source": "urn:beliefledger",
                "type": each["type"], "time": each["recorded_at"], "data": bare,
                "datacontenttype": "application/json", "sequence": f"{1:020}",
                "dataschema": f"urn:beliefledger:event:{each['type']}",
            }  # fmt: skip
            assert clouds.is_valid(cloud)
            assert not clouds.is_valid({**cloud, "specversion": "0.3"})
    messages = DOCUMENT["components"]["messages"]
    assert messages["cloudEvent"]["contentType"] == CONTENT_TYPE
