"""Events of one request that was made under a key of the caller's, so that it is done once.

Whoever made it is the actor. The stream is a keyed hash of who they are and of their key.
"""

from typing import ClassVar

from beliefledger.ledger.events.kind import Event, Fact
from beliefledger.ledger.fields import Name


class RequestBegun(Event):
    """A request under a key was begun: the same one meanwhile is told to wait. Begun again, the one
    before was refused, or whoever worked on it died."""

    NAME: ClassVar = "request.begun.v1"
    door: Fact[Name[str]]
    tool: Fact[Name[str]]


class RequestEnded(Event):
    """A request under a key was done, or was refused, so that its key is free again."""

    NAME: ClassVar = "request.ended.v1"
    done: Fact[bool]
    of: Fact[str | None] = None
    """The reference of whom it was about, where it was about one person."""
    inputs: Fact[str | None] = None
    """Keyed hash of the salt and of what was sent, as of a call: under the key of that person."""
    salt: Fact[str | None] = None
    answer: Fact[str | None] = None
    """What was answered, as canonical JSON without words: ids, counts and codes, of which the same
    answer is made again."""
