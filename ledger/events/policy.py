"""Events of the rules: which policy was in force, and which types of memory there were."""

from typing import Annotated, Any, ClassVar

from beliefledger.ledger.events.kind import Event, Fact
from beliefledger.ledger.fields import A_DEFINITION, Name


class PolicyAdopted(Event):
    """A policy came into force. Its text is nobody's and is stored in clear."""

    NAME: ClassVar = "policy.adopted.v1"
    CLEAR: ClassVar = True
    digest: Fact[str]
    policy: dict[str, Any]


class TypeRegistered(Event):
    """A type of memory came into being, or got a new definition."""

    NAME: ClassVar = "type.registered.v1"
    CLEAR: ClassVar = True
    type: Fact[Name[str]]
    definition: Annotated[dict[str, Any], A_DEFINITION]


class TypeRetired(Event):
    """A type of memory is written no more; what exists stays."""

    NAME: ClassVar = "type.retired.v1"
    type: Fact[Name[str]]
