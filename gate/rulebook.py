"""The rules in force: policy and types, read from the policy stream and kept while it stands
still."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from beliefledger.gate import policy as policies
from beliefledger.gate.policy import Policy, millionths
from beliefledger.gate.registry import MemoryType, Registry, default_types, replaceable
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import InvalidQuery, LogCorrupted, NotPermitted, TypeInvalid
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.policy import PolicyAdopted, TypeRegistered, TypeRetired
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.streams import policy_stream
from beliefledger.ledger.vault import SYSTEM

_UNNAMED = (
    "A policy with a default_basis is adopted by a named person: memory.policy.adopt(policy,"
    " by=NAME), or beliefledger policy adopt FILE --by NAME. Open the ledger without it."
)


class Rules(NamedTuple):
    """A policy and a registry, and the version of the policy stream that they are of."""

    version: int
    policy: Policy
    policy_digest: str
    registry: Registry
    registry_digest: str

    @classmethod
    def folded(cls, version: int, events: Iterable[Event | None], *, named: bool = True) -> Rules:
        """The rules after these events. Where the policy was not adopted by a `named` person, it
        has no default basis, whatever it says."""
        events = list(events)
        adopted = policies.folded(events)
        if adopted is None:
            raise LogCorrupted("The policy stream holds no policy.")
        policy, digest = adopted
        if not named:
            policy = policy.model_copy(update={"default_basis": None})
        registry = Registry.folded(events)
        return cls(version, policy, digest, registry, registry.digest())

    def floor(self, min_confidence: float | None) -> int:
        """The least confidence (millionths) of what is shown: the caller's, else the policy's
        `recall_floor`. Raises `InvalidQuery` for a number that is not from 0 to 1."""
        if min_confidence is not None and (
            isinstance(min_confidence, bool)
            or not isinstance(min_confidence, int | float)
            or not 0 <= min_confidence <= 1
        ):
            raise InvalidQuery(f"min_confidence is {min_confidence!r}; it must be from 0 to 1.")
        stated = self.policy.recall_floor if min_confidence is None else min_confidence
        return millionths(stated)


class Rulebook:
    """Reads and adopts rules."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.stream = policy_stream(log.tenant)
        self._known: dict[int, Rules] = {}
        self._latest = 0

    def current(self) -> Rules:
        """The rules in force as this process last read them. An append checks their version."""
        return self.at(self._latest) if self._latest else self.refreshed()

    def refreshed(self) -> Rules:
        """The rules in force now, looking at the log again."""
        self._latest = self._log.version(self.stream)
        return self.at(self._latest)

    def at(self, version: int) -> Rules:
        """The rules as of a version of the policy stream."""
        if version not in self._known:
            recorded = self._log.read_stream(self.stream, upto=version)
            adopted = [each.actor for each in recorded if each.type == PolicyAdopted.NAME]
            self._known[version] = Rules.folded(
                version,
                [each.event for each in recorded],
                named=bool(adopted) and adopted[-1] != SYSTEM,
            )
        return self._known[version]

    def ensure(self, policy: Policy | None, actor: str = SYSTEM) -> None:
        """Give a new ledger its first rules; adopt `policy` where another one is in force.

        Raises `NotPermitted` for one with a default basis that nobody adopts under a name.
        """

        def attempt() -> None:
            version = self._log.version(self.stream)
            events: list[Event] = []
            if version == 0:
                events += [
                    TypeRegistered(type=kind.name, definition=kind.definition())
                    for kind in default_types()
                ]
            wanted = policy or (policies.default_policy() if version == 0 else None)
            if wanted is not None and not (version and self._is_adopted(wanted, version)):
                if wanted.default_basis is not None and actor == SYSTEM:
                    raise NotPermitted(_UNNAMED)
                events.append(
                    PolicyAdopted(digest=wanted.digest(), policy=wanted.model_dump(mode="json"))
                )
            if events:
                new = [New(event, new_id(), self.stream, None, actor) for event in events]
                self._log.append(new, {self.stream: version})
            self._latest = version + len(events)

        self._log.decide_again(attempt)

    def _is_adopted(self, wanted: Policy, version: int) -> bool:
        rules = self.at(version)
        return (
            rules.policy_digest == wanted.digest()
            and rules.policy.default_basis == wanted.default_basis
        )

    def register(self, kind: MemoryType, actor: str) -> bool:
        """Put a type in force, or its new definition; False where it is so already.

        Raises `TypeInvalid` for another type of that name.
        """

        def attempt() -> bool:
            registry = self.refreshed().registry
            known = registry.known(kind.name)
            if known is not None:
                replaceable(known, kind)
                if kind.name in registry.types and known.definition() == kind.definition():
                    return False
            self._write(TypeRegistered(type=kind.name, definition=kind.definition()), actor)
            return True

        return self._log.decide_again(attempt)

    def retire(self, name: str, actor: str) -> bool:
        """Let no memory of a type be written any more; False where it is so already.

        Raises `TypeInvalid` for a type that nobody registered.
        """

        def attempt() -> bool:
            registry = self.refreshed().registry
            if name in registry.types:
                self._write(TypeRetired(type=name), actor)
                return True
            if name in registry.retired:
                return False
            raise TypeInvalid(f"There is no type {name!r}; there are {', '.join(registry.types)}.")

        return self._log.decide_again(attempt)

    def registered_by(self, name: str) -> str:
        """The id of the event that registered a type as it is now."""
        found = [
            each.event_id
            for each in self._log.read_stream(self.stream)
            if isinstance(each.event, TypeRegistered) and each.event.type == name
        ]
        if not found:
            raise TypeInvalid(f"There is no type {name!r}.")
        return found[-1]

    def _write(self, event: Event, actor: str) -> None:
        new = New(event, new_id(), self.stream, None, actor)
        self._log.append([new], {self.stream: self._latest})
        self._latest += 1
