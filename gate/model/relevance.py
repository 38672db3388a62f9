"""Which of the beliefs in force a model is shown beside a turn. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from beliefledger.gate.claim_wordings import forms_in
from beliefledger.gate.extractor import Known
from beliefledger.ledger.candidate import SELF, Speech

MOST_CHARACTERS = 4_000
"""The budget of what is shown, about 1,000 tokens."""
_EACH = 60
"""What the JSON around one belief takes."""
_OFTEN = ("identity.", "home.", "work.", "family.", "relation.", "diet.")
"""Keys that most of what people say bears on."""
_LOOK_BACK = 1_000


def relevant(known: Sequence[Known], turn: Speech, earlier: Sequence[Speech]) -> list[Known]:
    """The beliefs to show, in the order they were given, so that what is shown of a subject begins
    alike from turn to turn."""
    if not known:
        return []
    said = forms_in(turn.content[:20_000])
    before = forms_in(" ".join(each.content[:_LOOK_BACK] for each in earlier[-2:]))
    scored = sorted(
        range(len(known)), key=lambda at: (_score(known[at], said, before), at), reverse=True
    )
    left = MOST_CHARACTERS
    chosen: set[int] = set()
    for at in scored:
        each = known[at]
        size = _EACH + len(each.entity) + len(each.attribute) + len(each.value)
        if size <= left:
            chosen.add(at)
            left -= size
    return [known[at] for at in sorted(chosen)]


def _score(known: Known, said: frozenset[str], before: frozenset[str]) -> int:
    words = forms_in(known.value) | forms_in(known.attribute.replace(".", " ").replace("_", " "))
    score = 4 * len(words & said) + len(words & before)
    if known.entity != SELF and not forms_in(known.entity).isdisjoint(said):
        score += 6
    return score + (2 if known.attribute.startswith(_OFTEN) else 0)
