"""Passes search scores on to neighbouring turns, and weighs turns. Pure.

An answer seldom repeats the words of its question: "Yes, in Lisbon" is found by what was said
before it. So what a term adds to a turn's score is passed on along the conversation, getting less
with each step, and a turn gets the most that reaches it, of each term apart: the most and not the
sum, so that a turn never outdoes those it hears from by their number. It passes only between
different speakers: what one of them goes on to say is another matter more often. A long turn, as
agents' are, touches on many things, so a term in it says less about its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from beliefledger.projections.lexical import Mask, Part, Scores

    Links = NDArray[np.int64]
    """By text: the number of the next text that scores are passed to; −1 for none."""

ONWARD, BACK = 0.8, 0.5
"""The share of a score that is passed on to the next turn, and to the one before."""
STEPS = 4
PASSED_WHOLE = 20
"""A turn of more terms than this passes on less, in proportion."""
NEAR = 0.3
"""The share of its neighbours' cosines that a turn gets."""

AGENTS = frozenset(("assistant", "system", "tool"))
"""The roles that are no people."""
_STATED = 1.0
_OF_AGENTS = 0.5


def prior(role: str, stated: int) -> float:
    """How much a turn counts, beside memories, which count 1. `stated` is how many terms it has
    outside its questions: a question is seldom what answers one. What an agent said counts half:
    it is long, and not what its user said."""
    return (stated + 1) / (stated + 1 + _STATED) * (_OF_AGENTS if role in AGENTS else 1.0)


def of_asked_agents(prior: Scores, agents: Mask) -> Scores:
    """The priors where a question asks what an agent said: agents' turns count as others do."""
    return np.where(agents, prior / np.float32(_OF_AGENTS), prior)


def shares(lengths: Scores) -> Scores:
    """Which share of its scores each text passes on, by its number of terms."""
    whole = np.float32(PASSED_WHOLE)
    return np.divide(whole, np.maximum(lengths, whole), dtype=np.float32)


def in_context(
    parts: Sequence[Part], before: Links, after: Links, mask: Mask, share: Scores
) -> Scores:
    """The scores of texts, of which some are turns with neighbours; `share` is what each passes
    on."""
    count = len(share)
    scores = np.zeros(count, np.float32)
    most = np.zeros(count, np.float32)
    for part in parts:
        texts, values = part.texts, part.values
        most[texts] = values
        begun = texts.astype(np.int64)
        reached = [begun]
        for links, factor in ((after, ONWARD), (before, BACK)):
            at, passed = begun, values
            for _ in range(STEPS):
                passed = passed * share[at]
                at = links[at]
                on = at >= 0
                at, passed = at[on], passed[on] * factor
                on = mask[at]
                at, passed = at[on], passed[on]
                if not at.size:
                    break
                most[at] = np.maximum(most[at], passed)  # each is the neighbour of one at most
                reached.append(at)
        for at in reached:
            scores[at] += most[at]
            most[at] = 0
    return scores


def near(cosines: Scores, before: Links, after: Links) -> Scores:
    """Cosines that are above 0, each with a part of those of the turns beside it; 0 for texts that
    have none themselves."""
    own = np.maximum(cosines, 0)
    total = own.copy()
    for links in (before, after):
        at = np.flatnonzero(links >= 0)
        total[at] += NEAR * own[links[at]]
    total[cosines < -1] = 0
    return total


def highest(scores: Scores, sessions: NDArray[np.int64]) -> Scores:
    """By text: the highest score in its session; its own if it is in none (−1)."""
    top = np.zeros(int(sessions.max(initial=-1)) + 1, np.float32)
    at = np.flatnonzero(sessions >= 0)
    np.maximum.at(top, sessions[at], scores[at])
    found = scores.copy()
    found[at] = top[sessions[at]]
    return found
