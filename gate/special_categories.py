"""The special category of personal data that a statement belongs to, whoever noticed it. Pure."""

from __future__ import annotations

from beliefledger.gate.consent import ORDINARY
from beliefledger.gate.policy import Policy
from beliefledger.gate.registry import Registry
from beliefledger.gate.rules.sensitive import categories_of
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.lookalikes import undisguised


def categorised(candidate: Candidate, registry: Registry, policy: Policy) -> Candidate:
    """The candidate with its category: by its own words, else of its type, else the extractor's. So
    a special category that an extractor overlooks needs consent all the same.

    One that the policy prohibits comes before all others.
    """
    kind = registry.types.get(candidate.type)
    told = (candidate.claim, candidate.value, candidate.context or "", *candidate.fields.values())
    found = [
        category
        for category in (
            *(each for words in told if words for each in categories_of(undisguised(words))),
            kind.category if kind else None,
            candidate.category,
        )
        if category and category.strip().casefold() != ORDINARY
    ]
    rules = policy.special_categories
    category = next((each for each in found if rules.get(each) == "prohibit"), None)
    category = category or next(iter(found), None)
    if category == candidate.category:
        return candidate
    return candidate.model_copy(update={"category": category})
