"""Adam, by which trained weights are found where no closed form is at hand.

Kingma and Ba, Adam: A Method for Stochastic Optimization, ICLR 2015.
"""

from __future__ import annotations

import math
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.float32, np.float64)
_FIRST, _SECOND, _LITTLE = 0.9, 0.999, 1e-8


class Adam(Generic[Number]):
    """The steps of one descent. `like` has the weights' shape and type, `rate` is how far a step
    goes at most, about."""

    def __init__(self, like: NDArray[Number], rate: float) -> None:
        self._mean: NDArray[Any] = np.zeros_like(like)
        self._square: NDArray[Any] = np.zeros_like(like)
        self._rate, self._steps = rate, 0

    def step(self, gradient: NDArray[Number]) -> NDArray[Number]:
        """What is to be taken from the weights."""
        self._steps += 1
        self._mean += (1 - _FIRST) * (gradient - self._mean)
        self._square += (1 - _SECOND) * (gradient**2 - self._square)
        rate = self._rate * math.sqrt(1 - _SECOND**self._steps) / (1 - _FIRST**self._steps)
        taken: NDArray[Number] = rate * self._mean / (np.sqrt(self._square) + _LITTLE)
        return taken
