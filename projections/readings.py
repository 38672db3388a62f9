"""The words of an index's texts, as the network of two sentences reads them.

They tell what took the place of what without the texts being read again.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from beliefledger.networks import pairs
from beliefledger.networks.pairs import Text

if TYPE_CHECKING:
    from beliefledger.projections.index_state import State


class Readings:
    """The first words of each text, by its number."""

    def __init__(self) -> None:
        self._places, self._stems = array("i"), array("I")
        self._ends = array("q")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> Text:
        start = self._ends[number - 1] if number else 0
        these = slice(start, self._ends[number])
        return Text(self._places[these], self._stems[these])

    def add(self, words: str) -> None:
        """Add the next text."""
        read = pairs.small().read(words, pairs.OF_SAID)
        self._places.extend(read.places)
        self._stems.extend(read.stems)
        self._ends.append(len(self._places))

    def state(self) -> State:
        """All of it, to be restored in another process."""
        return {
            "places": np.array(self._places, np.int32),
            "stems": np.array(self._stems, np.uint32),
            "ends": np.array(self._ends, np.int64),
        }

    def restore(self, state: State) -> None:
        """Have what another one had."""
        self._places = array("i", state["places"].tobytes())
        self._stems = array("I", state["stems"].tobytes())
        self._ends = array("q", state["ends"].tobytes())
