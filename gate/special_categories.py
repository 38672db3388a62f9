"""The special category of personal data that a statement belongs to, whoever noticed it. Pure."""

from __future__ import annotations

import re

from beliefledger.gate.consent import ORDINARY
from beliefledger.gate.policy import Policy
from beliefledger.gate.registry import Registry
from beliefledger.gate.rules.sensitive import categories_of
from beliefledger.ledger.candidate import Candidate, Source
from beliefledger.ledger.lookalikes import undisguised

_PARTS = re.compile(r"[^\w]+|_")
_NAMED = {
    "health": "health", "medical": "health", "symptom": "health",
    "symptoms": "health", "dose": "health", "sexual": "sexuality", "politics": "politics",
    "political": "politics", "faith": "religion",
    "race": "ethnicity", "ethnic": "ethnicity", "dna": "genetic", "convictions": "criminal",
}  # fmt: skip
"""What an attribute is about that has one of these words; in what is said they may mean others."""


def categorised(candidate: Candidate, registry: Registry, policy: Policy) -> Candidate:
    """The candidate with its category: by its own words, else of its type, else the extractor's. So
    a special category that an extractor overlooks needs consent all the same.

    One that the policy prohibits comes before all others. Where somebody chose the attribute, its
    words count, too: "religion" is of one whatever its value is.
    """
    kind = registry.types.get(candidate.type)
    told = [candidate.claim, candidate.context or "", *candidate.fields.values()]
    if candidate.value not in candidate.claim:  # else the claim tells what it is: a trade is none
        told.append(candidate.value)
    named = ""
    if candidate.source is Source.OPERATOR:
        named = _PARTS.sub(" ", candidate.attribute)
        told.append(named)
    found = [
        category
        for category in (
            *(each for words in told if words for each in categories_of(undisguised(words))),
            *(_NAMED[word] for word in named.lower().split() if word in _NAMED),
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
