"""Which extractor a name means: one of ours, or one that an installed package registers.

A package registers one as an entry point of the group `beliefledger.extractors`: its name, and a
function that makes the extractor from `ExtractorSettings`. Our own `openai` is one of these. The
two that need no extra stand here, so that nobody can take their names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from beliefledger.gate.rulebook import Rulebook
from beliefledger.gate.rules import NAME
from beliefledger.ledger.errors import ExtractorMissing, InvalidTurn
from beliefledger.ledger.made_once import made_once
from beliefledger.ledger.registered import Group
from beliefledger.settings import Settings

if TYPE_CHECKING:
    from beliefledger.gate.extractor import Extractor, ExtractorSettings
    from beliefledger.gate.model import Client
    from beliefledger.gate.registry import Registry
    from beliefledger.gate.rules.extractor import RuleExtractor
    from beliefledger.ledger.candidate import Candidate, Speech

RULES, CLAUDE = "rules", "claude"
GROUP = "beliefledger.extractors"
_REGISTERED = Group(GROUP, "extractor", ExtractorMissing, (RULES, CLAUDE))


def extractor_of(
    chosen: Extractor | str | None, rulebook: Rulebook, settings: Settings
) -> Extractor:
    """The extractor itself, or the one of that name; without either, the one of the settings.

    Raises `InvalidTurn` for a name that there is none of, and `ExtractorMissing` for one that is
    registered and cannot be made.
    """
    name = settings.extractor if chosen is None else chosen
    if not isinstance(name, str):
        return name
    if name == RULES:
        return LateRules(lambda: rulebook.current().registry)
    from beliefledger.gate.extractor import ExtractorSettings  # noqa: PLC0415  (as the rules are)

    given = ExtractorSettings(
        lambda: rulebook.current().registry,
        lambda: rulebook.current().policy,
        settings.model,
        settings.model_url,
        settings.key_of(name),
    )
    if name == CLAUDE:
        return _claude(given)
    made: Extractor = _REGISTERED.made(name, [given], needs=("name", "extract"))
    return made


def model_name(current: Extractor, settings: Settings) -> str:
    """The extractor that asks a model: the one in use if it does, else that of the settings, else
    Claude."""
    provider = getattr(getattr(current, "client", None), "provider", None)
    return provider or (CLAUDE if settings.extractor == RULES else settings.extractor)


def client_of(name: str, rulebook: Rulebook, settings: Settings) -> Client:
    """The client of the model that an extractor asks. Raises as `extractor_of`, and `InvalidTurn`
    for an extractor that asks none."""
    from beliefledger.gate.model import ModelExtractor  # noqa: PLC0415  (only who asks a model needs it)

    made = extractor_of(name, rulebook, settings)
    if not isinstance(made, ModelExtractor):
        raise InvalidTurn(f"The extractor {name!r} asks no model.")
    return made.client


class _Extract(Protocol):
    def __call__(self, turn: Speech, earlier: Sequence[Speech] = ()) -> list[Candidate]: ...


class LateRules:
    """The rule extractor, loaded when a turn is first read: who only asks need not wait for it."""

    name = NAME

    def __init__(self, registry: Callable[[], Registry]) -> None:
        self._registry = registry

    @made_once
    def _rules(self) -> RuleExtractor:
        from beliefledger.gate.custom_types import Noticing  # noqa: PLC0415
        from beliefledger.gate.rules.extractor import RuleExtractor  # noqa: PLC0415

        return RuleExtractor(Noticing(self._registry))

    @property
    def extract(self) -> _Extract:
        """As that of the rules. To ask for it loads them, before the turn's deadline begins."""
        return self._rules.extract

    @property
    def not_read(self) -> Callable[[Speech], str | None]:
        return self._rules.not_read

    @property
    def unplaced(self) -> Callable[[Speech], list[Candidate]]:
        return self._rules.unplaced


def _claude(given: ExtractorSettings) -> Extractor:
    from beliefledger.gate.model.claude import extractor  # noqa: PLC0415  (it takes long to load)

    return extractor(given)
