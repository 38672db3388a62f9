"""What calls cost, in millionths of a US dollar, for the record; an invoice may say otherwise.

Anthropic's price list, platform.claude.com/docs/en/about-claude/pricing, as of November 2026. A
write to the cache of five minutes costs 1.25 times the input, a read from it a tenth; a batch is
half of everything.
"""

from __future__ import annotations

from typing import NamedTuple

_DOLLARS_PER_MILLION = {  # by the beginning of the model's name: input, output
    "claude-haiku-4-5": (1, 5),
    "claude-sonnet-4-5": (3, 15),
    "claude-opus-4-5": (5, 25),
}


class Tokens(NamedTuple):
    """Tokens of one or more calls. `fresh` ones were neither written to the cache nor read."""

    fresh: int = 0
    written: int = 0
    read: int = 0
    output: int = 0

    @property
    def input(self) -> int:
        return self.fresh + self.written + self.read

    def plus(self, other: Tokens) -> Tokens:
        return Tokens(*(mine + more for mine, more in zip(self, other, strict=True)))


def cost(model: str, tokens: Tokens, *, batch: bool = False) -> int:
    """Micro-dollars, rounded up; 0 for a model whose price is not known (a local one)."""
    for name, (input_, output) in _DOLLARS_PER_MILLION.items():
        if model.startswith(name):
            twentieths = (
                input_ * (20 * tokens.fresh + 25 * tokens.written + 2 * tokens.read)
                + output * 20 * tokens.output
            )
            return -(-twentieths // (40 if batch else 20))
    return 0
