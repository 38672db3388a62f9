"""How memories fade, by the rules in force."""

from __future__ import annotations

from typing import cast, get_args

from beliefledger.gate.rulebook import Rules
from beliefledger.ledger.errors import InvalidQuery
from beliefledger.projections.decay import Profile, ProfileName


def fading(rules: Rules, name: str | None = None) -> Profile:
    """The profile of that name, else the policy's, with each type's half-life. Raises
    `InvalidQuery` for a name that there is none of."""
    decay, types = rules.policy.decay, rules.registry
    if name is not None and name not in get_args(ProfileName):
        raise InvalidQuery(f"profile: {name!r} is neither freshness nor decay.")
    return Profile(
        cast("ProfileName", name or decay.profile),
        decay.rate,
        decay.cap,
        {
            kind.name: kind.half_life_days
            for kind in (*types.retired.values(), *types.types.values())
        },
    )
