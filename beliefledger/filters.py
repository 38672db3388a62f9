"""Which memories, decisions or turns a list is to have: one filter for all lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any

from pydantic import JsonValue

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidQuery, InvalidTurn
from beliefledger.ledger.events.recall import Wanted
from beliefledger.ledger.metadata import check_metadata, has
from beliefledger.ledger.secret_filter import cleaned


@dataclass(frozen=True, slots=True)
class Where:
    """Only what was said in this session, to this agent, on this topic, of this type, and beside
    which each of these was kept. None, and no metadata, ask for all.

    >>> Where.of({"session": "monday", "metadata": {"ticket": 7}}).session
    'monday'
    """

    session: str | None = None
    agent: str | None = None
    topic: str | None = None
    type: str | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Where | Mapping[str, object] | None) -> Where:
        """The filter, which may be given as a mapping. The secrets in what it looks for are taken
        out, as they were of what was kept. Raises `InvalidQuery` that says what is wrong."""
        if given is None:
            return EVERYTHING
        if isinstance(given, Mapping):
            names = [each.name for each in fields(cls)]
            for name in given:
                if name not in names:
                    raise InvalidQuery(f"where: no {name!r}; there are: {', '.join(names)}.")
            made: Any = dict(given)
            given = cls(**made)
        if not isinstance(given, cls):
            raise InvalidQuery(f"where is a Where or a mapping, not {type(given).__name__}.")
        for name in ("session", "agent", "topic", "type"):
            if not isinstance(getattr(given, name), str | None):
                raise InvalidQuery(f"where: {name} is text.")
        try:
            check_metadata(given.metadata)
        except InvalidTurn as problem:
            raise InvalidQuery(f"where: {problem.detail}") from None
        if not given.looks_at_words:
            return given
        kept = cleaned(Wanted(agent=given.agent, metadata=dict(given.metadata)))
        return replace(given, agent=kept.agent, metadata=kept.metadata)

    @property
    def looks_at_words(self) -> bool:
        """Whether it asks for what only the words tell."""
        return self.agent is not None or bool(self.metadata)

    def fits(
        self,
        session: str | None,
        agent: str | None,
        topic: str,
        type: str,
        metadata: Mapping[str, JsonValue],
    ) -> bool:
        """Whether something is of it.

        >>> asked = Where(type="fact", metadata={"ticket": 7})
        >>> asked.fits(None, None, "general", "fact", {"ticket": 7, "by": "lea"})
        True
        """
        return (
            self.session in {None, session}
            and self.agent in {None, agent}
            and self.topic in {None, topic}
            and self.type in {None, type}
            and has(metadata, self.metadata)
        )


EVERYTHING = Where()
