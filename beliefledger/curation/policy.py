"""The policy in force, adopting another, and those that were in force before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from difflib import get_close_matches
from operator import attrgetter
from pathlib import Path
from typing import Any

from beliefledger.gate.policy import Policy, default_policy, load
from beliefledger.gate.registry import Registry
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import PolicyInvalid, UnknownMemory
from beliefledger.ledger.events.policy import PolicyAdopted
from beliefledger.ledger.times import to_datetime
from beliefledger.opening.core import Core
from beliefledger.pages import Cut, Page

DEFAULT, CURRENT = "default", "current"
"""Words for a policy, besides its digest: the one that every new ledger begins with, and the one
in force."""


class AdoptedPolicy(Frozen):
    """A policy that came into force."""

    digest: str
    """SHA-256 of the policy. Every decision that it made names it."""
    name: str
    adopted_at: datetime
    by: str
    """Who adopted it; `system` for the one that the ledger began with."""
    position: int
    in_force: bool
    policy: Policy


class PolicyDifference(Frozen):
    """A field that two policies have different values of. None where one has no such field."""

    field: str
    """`thresholds.default`."""
    before: Any
    after: Any


class PolicyInForce:
    """What is decided by, and how that is changed."""

    def __init__(self, core: Core) -> None:
        self._core = core

    @property
    def current(self) -> Policy:
        """The policy in force."""
        return self._core.rulebook.refreshed().policy

    def adopt(self, policy: Policy | Path | str | Mapping[str, Any], *, by: str) -> str:
        """Put a policy in force; returns its digest. What is left out, at any depth, is as in the
        default one. Raises `PolicyInvalid`, also for a type that there is none of."""
        chosen = load(policy)
        _check_types(chosen, self._core.rulebook.refreshed().registry)
        self._core.rulebook.ensure(chosen, self._core.actor(by))
        self._core.gate.forget()
        return chosen.digest()

    def list(self, *, limit: int | None = None, after: str | None = None) -> Page[AdoptedPolicy]:
        """Every policy that came into force, oldest first. One that came back is there again. With
        `limit` it is a page, whose `next` is given as `after` for the one behind it."""
        cut = Cut.of("policies", (), limit, after)
        recorded = self._core.log.read_stream(self._core.rulebook.stream)
        adopted = [each for each in recorded if each.type == PolicyAdopted.NAME]
        page = cut.of_all(adopted, attrgetter("position"))
        return Page((self._told(each, each is adopted[-1]) for each in page), page.next)

    def get(self, digest: str) -> Policy:
        """A policy that was in force at some time, by its digest or how that begins; `current` and
        `default` are words for two of them. Raises `UnknownMemory`."""
        if digest == DEFAULT:
            return default_policy()
        if digest == CURRENT:
            return self.current
        found = {
            each.digest: each.policy
            for each in self.list()
            if digest and each.digest.startswith(digest)
        }
        if len(found) != 1:
            which = "More than one policy was" if found else "No policy was ever"
            raise UnknownMemory(
                f"{which} in force whose digest begins with {digest!r}. List them: beliefledger"
                " policy list"
            )
        return next(iter(found.values()))

    def diff(self, before: str, after: str = CURRENT) -> tuple[PolicyDifference, ...]:
        """What one policy says otherwise than another, field by field; both as `get` takes them."""
        old, new = (
            dict(_leaves(self.get(each).model_dump(mode="json"))) for each in (before, after)
        )
        return tuple(
            PolicyDifference(field=name, before=old.get(name), after=new.get(name))
            for name in dict.fromkeys((*old, *new))
            if old.get(name) != new.get(name)
        )

    def _told(self, adopted: Recorded, in_force: bool) -> AdoptedPolicy:
        event = adopted.event
        assert isinstance(event, PolicyAdopted)
        policy = Policy.model_validate(event.policy)
        return AdoptedPolicy(
            digest=event.digest,
            name=policy.name,
            adopted_at=to_datetime(adopted.recorded_at),
            by=self._core.log.vault.principal_name(adopted.actor),
            position=adopted.position,
            in_force=in_force,
            policy=policy,
        )


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each field with its dotted name; lists are one."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _leaves(each, f"{name}.{key}" if name else str(key))
    elif value != {}:
        yield name, value


def _check_types(policy: Policy, registry: Registry) -> None:
    """Raises `PolicyInvalid` for a type that the policy names and nobody registered."""
    known = [*registry.types, *registry.retired]
    for field, named in (
        ("thresholds.types", policy.thresholds.types),
        ("ttl_days", policy.ttl_days),
    ):
        for name in named:
            if name not in known:
                near = get_close_matches(name, known, n=1, cutoff=0.5)
                raise PolicyInvalid(
                    f"{field}.{name}: there is no such type; "
                    + (f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}.")
                )
