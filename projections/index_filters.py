"""What a search may find: the filters of an index, and what it keeps of each text for them."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.metadata import has
from beliefledger.ledger.times import Micros
from beliefledger.projections.columns import Codes
from beliefledger.projections.search_requests import SearchRequest, TaggedWhere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from beliefledger.projections.index_state import State
    from beliefledger.projections.lexical import Mask


@dataclass(frozen=True, slots=True)
class Filters:
    """What may be found. Times are microseconds, scores millionths; `position` is that of the log
    as it is asked about."""

    position: int
    valid_at: Micros
    types: tuple[str, ...] = ()
    topic_tags: tuple[str | None, ...] = ()
    scopes: tuple[str, ...] = ()
    """Those of which a memory may be."""
    session_tag: str | None = None
    """Memories of the scope `session` are for this session alone."""
    min_confidence: int = 0
    min_importance: int = 0
    memories: bool = True
    episodes: bool = True
    where: TaggedWhere | None = None
    past: bool = False
    """Also what was so and is not any more."""


@dataclass(slots=True)
class FoundTexts:
    """What the filters let through: a mask over the texts, and the row that each memory's text
    stands for."""

    mask: Mask
    row_of: NDArray[np.int64]
    """−1 for turns, and for what is left out."""


def filters_of(request: SearchRequest, position: int) -> Filters:
    asked = request.asked
    return Filters(
        position=position,
        valid_at=request.now,
        types=asked.types,
        topic_tags=request.topic_tags,
        scopes=request.scopes,
        session_tag=request.session_tag,
        min_confidence=asked.min_confidence,
        min_importance=asked.min_importance,
        memories="memories" in asked.include,
        episodes=request.episodes,
        where=request.where,
    )


class Beside:
    """Of each text of an index, by number: to which agent it was said, and what was kept beside
    it."""

    def __init__(self) -> None:
        self._agents = Codes()
        self._agent = array("i")
        self._metadata: dict[int, Mapping[str, Any]] = {}

    def add(self, agent: str | None, metadata: Mapping[str, Any] | None) -> None:
        """Of the next text."""
        if metadata:
            self._metadata[len(self._agent)] = metadata
        self._agent.append(-1 if agent is None else self._agents(agent))

    def of(self, where: TaggedWhere) -> NDArray[np.bool_]:
        """Which texts were said to an agent, with this beside them."""
        found = np.ones(len(self._agent), np.bool_)
        if where.agent is not None:
            found &= np.isin(np.array(self._agent), self._agents.known([where.agent]))
        if where.metadata:
            there = [n for n, each in self._metadata.items() if has(each, where.metadata)]
            beside = np.zeros(len(found), np.bool_)
            beside[there] = True
            found &= beside
        return found

    def state(self) -> State:
        """All of it, to be restored in another process."""
        return {
            "agents": self._agents.names,
            "agent": np.array(self._agent, np.int32),
            "metadata": list(self._metadata.items()),
        }

    def restore(self, state: State) -> None:
        """Have what another one had."""
        self._agents = Codes(state["agents"])
        self._agent = array("i", state["agent"].tobytes())
        self._metadata = dict(state["metadata"])
