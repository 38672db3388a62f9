"""The policy in force, and adopting another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beliefledger.gate.policy import Policy, load
from beliefledger.opening.core import Core


class PolicyInForce:
    """What is decided by, and how that is changed."""

    def __init__(self, core: Core) -> None:
        self._core = core

    @property
    def current(self) -> Policy:
        """The policy in force."""
        return self._core.rulebook.refreshed().policy

    def adopt(self, policy: Policy | Path | str | Mapping[str, Any], *, by: str) -> str:
        """Put a policy in force; returns its digest. Raises `PolicyInvalid`."""
        chosen = load(policy)
        self._core.rulebook.ensure(chosen, self._core.actor(by))
        self._core.gate.forget()
        return chosen.digest()
