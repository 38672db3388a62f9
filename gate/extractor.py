"""The port of extractors: words in, candidates out. Nothing is decided or stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Protocol

from pydantic import ValidationError

from beliefledger.gate.policy import Policy
from beliefledger.gate.registry import Registry
from beliefledger.ledger.candidate import Candidate, Speech
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import ExtractionUnavailable
from beliefledger.ledger.secret_filter import cleaned


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor found in a turn, and its cost."""

    candidates: list[Candidate] = field(default_factory=list)
    skipped: str | None = None
    """Why nobody had to look (`prefilter:thanks`), or None."""
    not_read: str | None = None
    """Why it could not be read (`language`), where nothing was found, or None."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micro_usd: int | None = 0
    """None where the model's price is not known."""
    fallen: int = 0
    """How many statements could not be read as such, and were left out."""
    shown: tuple[str, ...] = ()
    """The memories that the extractor was shown, by their ids."""


@dataclass(frozen=True, slots=True)
class Known:
    """A memory in force, as an extractor is shown it so that it uses the same key."""

    memory_id: str
    type: str
    entity: str
    attribute: str
    value: str
    negated: bool = False
    context: str | None = None


@dataclass(frozen=True, slots=True)
class ExtractorSettings:
    """What an extractor that is chosen by its name is made from.

    An entry point of the group `beliefledger.extractors` names a function that takes this and
    returns an `Extractor`. Nothing should be asked of a service before the first turn.
    """

    registry: Callable[[], Registry]
    """The types in force; another object when they have changed."""
    policy: Callable[[], Policy]
    """The policy in force; likewise."""
    model: str | None = None
    """Which model to ask; None: the extractor's default."""
    model_url: str | None = field(default=None, repr=False)
    """Where it is served; None: by its vendor."""
    model_key: str | None = field(default=None, repr=False)


def checked(found: object) -> Extraction:
    """The extractor's result with secrets taken out, if all of it can be encoded and decoded: a
    candidate copied with other fields was never validated. Raises `ExtractionUnavailable`."""
    if isinstance(found, list):
        found = Extraction(found)
    if not isinstance(found, Extraction) or not all(
        isinstance(each, Candidate) for each in found.candidates
    ):
        raise ExtractionUnavailable("The extractor did not return a list of candidates.")
    costs = () if found.cost_micro_usd is None else (found.cost_micro_usd,)
    for count in (found.input_tokens, found.output_tokens, found.fallen, *costs):
        if not isinstance(count, int) or not 0 <= count < 2**53:
            what = count if isinstance(count, int | float) else type(count).__name__
            raise ExtractionUnavailable(f"The extractor counted {what} tokens or micro-dollars.")
    try:
        for each in found.candidates:
            Candidate.model_validate(vars(each))
            for part in (*each.spans, each.when):
                type(part).model_validate(vars(part))
    except (ValidationError, AttributeError, TypeError) as problem:
        raise ExtractionUnavailable(
            "The extractor returned a candidate that is none: make it anew, with all its fields."
        ) from problem
    return replace(found, candidates=[cleaned(each) for each in found.candidates])


class Extractor(Protocol):
    """Notices statements in a turn.

    `extract` returns the candidates of `turn` in the order of their first span, and an empty list
    when there is nothing to keep. `earlier` holds the turns before it in the same session, oldest
    first, so that "yes, that's right" can be understood. It raises `ExtractionUnavailable` when it
    could not look: an empty list always means that it looked and found nothing.

    One that waits for somebody else's answer may have an attribute `concurrency`: so many subjects'
    turns are then looked at side by side, from as many threads. One with a `close` is closed with
    its ledger. One with a true `wants_known` is given what is believed of the subject now as a
    third argument, a sequence of `Known`. One that does not read every language may have a method
    `not_read`, which is asked about turns in which it found nothing: `language` or None. One that
    returns a list may have a method `unplaced`: more candidates of a turn, whose `ends` say
    `among`; of these those count that name something believed.
    """

    @property
    def name(self) -> str:
        """The extractor and its version, as recorded with each outcome."""
        ...

    def extract(self, turn: Speech, earlier: Sequence[Speech] = ()) -> list[Candidate] | Extraction:
        """The candidates of a turn, in the order of their first span.

        Raises `ExtractionUnavailable` when it could not look.
        """
        ...
