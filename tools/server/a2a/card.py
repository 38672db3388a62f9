"""The agent card: what the ledger does for other agents, and how it is reached."""

from __future__ import annotations

from collections.abc import Collection
from importlib.metadata import version

from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)

from beliefledger.tools.server.a2a.skills import ANSWER, CONSOLIDATE, RESOLVE

PATH = "/.well-known/agent-card.json"
JSON, TEXT = "application/json", "text/plain"
MODES = (TEXT, JSON)
_SCHEME = "token"
_SKILLS = (
    AgentSkill(
        id=CONSOLIDATE,
        name="Consolidate memories",
        description="Records what somebody said and decides what of it is to be believed. Where it"
        " contradicts a belief the task waits for keep_existing, keep_new or keep_both.",
        tags=["memory", "consolidation", "contradiction"],
        examples=[
            '{"skill": "consolidate_memories", "text": "I live in Porto.", "topic": "home"}',
            "I live in Porto.",
        ],
    ),
    AgentSkill(
        id=ANSWER,
        name="Answer as of a time",
        description="Tells what was believed at a time about a question, as far as it may still be"
        " told. Without as_of: what is believed now.",
        tags=["memory", "history", "question"],
        examples=['{"skill": "answer_as_of", "question": "Where is home?", "as_of": "2026-03-01"}'],
    ),
    AgentSkill(
        id=RESOLVE,
        name="Resolve a conflict",
        description="Puts the beliefs about which a person has to choose to whoever asks, and"
        " settles them by the answer: keep_existing, keep_new or keep_both.",
        tags=["memory", "contradiction", "review"],
        examples=['{"skill": "resolve_conflict"}'],
    ),
)


def card(base: str, skills: Collection[str] | None = None) -> AgentCard:
    """The card of a server that is reached at `base`, with all skills or with these."""
    made = AgentCard(
        name="beliefledger",
        description="Memory of people as belief under audit: what was said, what is believed of it,"
        " since when and why.",
        version=version("beliefledger"),
        supported_interfaces=[
            AgentInterface(url=f"{base}/a2a", protocol_binding="JSONRPC", protocol_version=each)
            for each in ("1.0", "0.3")
        ],
        capabilities=AgentCapabilities(
            streaming=True, push_notifications=False, extended_agent_card=True
        ),
        security_schemes={
            _SCHEME: SecurityScheme(
                http_auth_security_scheme=HTTPAuthSecurityScheme(
                    scheme="Bearer", description="A token of `beliefledger token create`."
                )
            )
        },
        security_requirements=[SecurityRequirement(schemes={_SCHEME: StringList()})],
        default_input_modes=list(MODES),
        default_output_modes=list(MODES),
    )
    made.skills.extend(each for each in _SKILLS if skills is None or each.id in skills)
    return made
