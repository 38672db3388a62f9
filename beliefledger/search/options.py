"""The rarer wishes of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidQuery
from beliefledger.ledger.names import shown

if TYPE_CHECKING:
    from beliefledger.filters import Where
    from beliefledger.search.reranking import Rerank

Included = Literal["memories", "episodes"]
EVERYTHING: tuple[Included, ...] = ("memories", "episodes")
SHARES = ("recency_weight", "diversity", "min_importance")
"""The options that are from 0 to 1, and never None."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The rarer wishes of a search. Shares and weights are from 0 to 1."""

    topics: Sequence[str] = ()
    """Of memories: only these topics; all if empty."""
    reader: str | None = None
    """The person who asks, by default the subject. Another one finds what is visible to the team if
    they share one with the subject now, else what is visible more widely; turns never."""
    scope: str | None = None
    """Only memories that are visible as widely as that; turns are for the subject alone. What is
    for a team takes a `reader`."""
    where: Where | Mapping[str, object] | None = None
    """Only what was said in a session, to an agent, on a topic, of a type, or with this metadata
    beside it, as for `beliefs`. Turns have no topic and no type."""
    min_confidence: float | None = None
    """By default the `recall_floor` of the policy in force."""
    min_importance: float = 0.0
    recency_weight: float = 0.3
    """How much fresh memories come first."""
    diversity: float = 0.0
    """How much results are to differ."""
    include: Sequence[Included] = EVERYTHING
    profile: str = "default"
    """`default` or `recall`: how the score is made."""
    standing: Literal["now", "then", "all"] = "now"
    """`now`: what an agent may be shown. For whoever audits, under a name and with a `reason`, and
    on record: `then`, what could be shown as of `as_of`; `all`, also what is withheld, and why."""
    reason: str | None = None
    rerank: str | Rerank | None = None
    """Puts the best 30 in a better order: a cross-encoder of sentence-transformers, by its
    directory or name, or a function of the query and the texts that gives each a score."""


DEFAULT = SearchOptions()


def known_options(given: object) -> SearchOptions:
    """The options that were given. Raises `InvalidQuery` for what are none."""
    if not isinstance(given, SearchOptions):
        raise InvalidQuery(
            f"options must be SearchOptions(…), not {shown(given)}: import it from beliefledger."
        )
    return given
