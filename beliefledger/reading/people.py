"""The part of the front door that asks after entities, relations and events."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from beliefledger.answers import BeliefAnswer
from beliefledger.gate.policy import millionths
from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.errors import InvalidTurn, UnknownMemory
from beliefledger.ledger.log import Log
from beliefledger.ledger.times import Clock
from beliefledger.opening.build import Parts
from beliefledger.reading.entities import Acquaintance, EntityAnswer
from beliefledger.reading.queries import Asking, Snapshot
from beliefledger.reading.relations import PathAnswer, Relating, window_of
from beliefledger.times import Moment, micros


class Knowing:
    """A base of the front door, which has made these."""

    _parts: Parts
    _clock: Clock
    _log: Log
    _asking: Asking
    _actor: Callable[[str], str]
    _snapshot: Callable[[Moment | Snapshot | None], Snapshot | None]

    @property
    def _acquaintance(self) -> Acquaintance:
        return Acquaintance(self._parts, self._asking)

    @property
    def _relating(self) -> Relating:
        return Relating(self._parts, self._asking)

    # Entities

    def entities(
        self,
        subject: str,
        *,
        kind: str | None = None,
        questions: bool = False,
        as_of: Moment | Snapshot | None = None,
    ) -> list[EntityAnswer]:
        """Whom and what a subject speaks of, those spoken of most first; the subject is `User`.

        `kind` picks persons, places and so on, as far as the words said; `questions` those of
        nearly one name, about whom a person is asked. Absorbed entities are part of others.
        """
        return self._acquaintance.entities(
            subject, self._snapshot(as_of), kind=kind, questions_only=questions
        )

    def entity(
        self, subject: str, name_or_id: str, *, as_of: Moment | Snapshot | None = None
    ) -> EntityAnswer:
        """One entity, by any of its names, its id or the first characters of that. Raises
        `UnknownMemory`."""
        found = self._acquaintance.entities(
            subject, self._snapshot(as_of), kind=None, questions_only=False, given=name_or_id
        )
        if not found:
            raise UnknownMemory(f"Nothing is known of {subject!r}.")
        return found[0]

    def add_alias(self, subject: str, entity: str, name: str, *, by: str) -> EntityAnswer:
        """Give an entity another name, as a named principal. An entity that was first known by that
        name becomes part of this one, with its memories."""
        ref, entity_id = self._entity_of(subject, entity)
        self._parts.director.alias(ref, entity_id, name, actor=self._actor(by))
        return self.entity(subject, entity_id)

    def merge_entities(self, subject: str, entity: str, absorbed: str, *, by: str) -> int:
        """Make two entities one, which goes on as `entity`; returns how many memories moved.

        Nothing is lost: `history` and `as_of` tell what was before.
        """
        ref, entity_id = self._entity_of(subject, entity)
        absorbed_id = self._acquaintance.find(subject, ref, absorbed)
        return self._parts.director.merge(ref, entity_id, absorbed_id, actor=self._actor(by))

    def split_entity(self, subject: str, entity: str, names: Sequence[str], *, by: str) -> str:
        """Make some of an entity's names another entity's, with the memories that were written
        under them; returns the other's id."""
        if isinstance(names, str):
            raise InvalidTurn("names: give a list of names.")
        ref, entity_id = self._entity_of(subject, entity)
        memories = self._acquaintance.about(ref, entity_id)
        return self._parts.director.split(ref, entity_id, names, memories, actor=self._actor(by))

    def keep_apart(self, subject: str, entity: str, other: str, *, by: str) -> None:
        """Say that two entities of nearly one name are two; nobody is asked about them again."""
        ref, entity_id = self._entity_of(subject, entity)
        other_id = self._acquaintance.find(subject, ref, other)
        if entity_id == other_id:
            raise InvalidTurn(f"{entity!r} and {other!r} are one entity; split it.")
        self._parts.director.keep_apart(ref, entity_id, other_id, actor=self._actor(by))

    def _entity_of(self, subject: str, entity: str) -> tuple[str, str]:
        ref = self._acquaintance.subject(subject)
        return ref, self._acquaintance.find(subject, ref, entity)

    # Relations

    def related(
        self,
        subject: str,
        entity: str = SELF,
        relation: str | Sequence[str] | None = None,
        *,
        attribute: str | None = None,
        hops: int | None = None,
        as_of: Moment | Snapshot | None = None,
        valid_at: Moment | None = None,
        min_confidence: float = 0.4,
    ) -> list[PathAnswer]:
        """Who and what an entity is related to, as paths of one to three memories each, the
        shortest first, every memory with its evidence.

        All memories of a path but the last are relations, the last may be a fact about whom the
        path reached. `relation` names the relation of every hop, or, as a sequence, of each; it is
        also found where the far end's memory says it the other way round (`manages` for
        `reports-to`). With `attribute`, only paths that end in such a fact. `hops` is the most
        memories of a path: if not given, one for each relation named and one for the attribute.

        "Who does Ana work for, and what is that manager's role" is
        `related("ana", relation="reports-to", attribute="role")`.
        """
        return self._relating.related(
            subject,
            entity,
            relation,
            attribute,
            hops,
            self._snapshot(as_of),
            micros(valid_at, "valid_at"),
            min_confidence=millionths(min_confidence),
        )

    # Events

    def events(
        self,
        subject: str,
        *,
        start: Moment | None = None,
        end: Moment | None = None,
        on: str | None = None,
        participant: str | None = None,
        as_of: Moment | Snapshot | None = None,
        min_confidence: float = 0.4,
    ) -> list[BeliefAnswer]:
        """What happened: memories of type `event`, in order of time, and no others.

        With `start` or `end`, those that may have happened in [start, end): the whole day, week or
        month counts that their words mean, an approximate time a day more on either side, and an
        unknown one never. `on` says the window in words, such as "last tuesday" (as of now, or of
        `as_of`). `participant` is somebody who took part, or whom it is about, under any name.
        """
        if on is not None and (start is not None or end is not None):
            raise InvalidTurn("on: say either on or start and end.")
        snapshot = self._snapshot(as_of)
        window = micros(start, "start"), micros(end, "end")
        if on is not None:
            now = self._asking.now() if snapshot is None else snapshot.at
            window = window_of(on, now)
        elif window[0] is not None and window[1] is not None and window[0] >= window[1]:
            raise InvalidTurn("end must come after start.")
        return self._relating.events(
            subject,
            snapshot,
            window=window,
            participant=participant,
            min_confidence=millionths(min_confidence),
        )
