"""What named people do with entities: name, merge, split and keep them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beliefledger.gate import entity_names
from beliefledger.gate.draft import Draft
from beliefledger.gate.gate import Gate
from beliefledger.gate.slots import canonical_entity
from beliefledger.ledger import streams
from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import NotPermitted, UnknownMemory
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.entity import EntitiesKeptApart, EntitySplit
from beliefledger.ledger.log import new_id
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.names import check_name
from beliefledger.ledger.secret_filter import refuse


class EntitySteward:
    """Acts on behalf of a principal; `actor` is always the principal's reference."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._log = gate.log

    def _draft(self, subject_ref: str, *entities: str) -> Draft:
        """A draft with the directory read again. Raises `UnknownMemory` for an entity that does not
        exist any more."""
        keys = self._log.keys(subject_ref)
        if keys is None:
            raise NotPermitted("This subject was erased.")
        self._gate.memo.forget(subject_ref, streams.directory_stream(keys.ids))
        draft = self._gate.draft()
        draft.consent(subject_ref)
        directory = draft.directory(subject_ref)
        for each in entities:
            if each not in directory.entities:
                raise UnknownMemory(f"There is no entity {each}.")
            if directory.survivor(each) != each:
                raise NotPermitted(f"The entity {each} is part of another one already.")
        return draft

    def alias(self, subject_ref: str, entity_id: str, name: str, *, actor: str) -> None:
        """Give an entity another name; an entity first known by that name is merged into it."""
        check_name("name", name)
        if not name.strip() or canonical_entity(name) == SELF.casefold():
            raise NotPermitted(f"{name!r} cannot be the name of an entity.")
        refuse(name, "The entity's name")

        def attempt() -> None:
            draft = self._draft(subject_ref, entity_id)
            entity_names.add_alias(draft, subject_ref, entity_id, name, "actor", None, actor)
            self._gate.commit(draft)

        self._gate.again(attempt)

    def merge(self, subject_ref: str, entity_id: str, absorbed_id: str, *, actor: str) -> int:
        """Merge two entities; `entity_id` survives. Returns how many memories moved."""
        if entity_id == absorbed_id:
            raise NotPermitted("An entity cannot be merged with itself.")

        def attempt() -> int:
            draft = self._draft(subject_ref, entity_id, absorbed_id)
            if draft.directory(subject_ref).canonical(absorbed_id) == SELF.casefold():
                raise NotPermitted("The subject's own entity cannot go into another one.")
            count = entity_names.merge(
                draft, subject_ref, entity_id, absorbed_id, "actor", None, actor
            )
            self._gate.commit(draft)
            return count

        return self._gate.again(attempt)

    def split(
        self,
        subject_ref: str,
        entity_id: str,
        names: Sequence[str],
        memories: Mapping[str, str],
        *,
        actor: str,
    ) -> str:
        """Split an entity: these names become another's, whose id is returned.

        `memories` (id → belief) are the entity's: those that were written under one of the names
        move.
        """
        canonicals = tuple(dict.fromkeys(map(canonical_entity, names)))
        if not canonicals:
            raise NotPermitted("Name at least one name that is the other's.")

        def attempt() -> str:
            draft = self._draft(subject_ref, entity_id)
            directory = draft.directory(subject_ref)
            theirs = directory.names_of(entity_id)
            for name, canonical in zip(names, canonicals, strict=False):
                if canonical not in theirs:
                    raise NotPermitted(f"{name!r} is not a name of this entity.")
            if directory.canonical(entity_id) in canonicals:
                raise NotPermitted(
                    "An entity keeps the name that it was first known by: split the others off."
                )
            keys = draft.keys(subject_ref)
            other = streams.tag(keys.ids, "entity", canonicals[0], "split", str(directory.version))
            event = EntitySplit(
                entity_id=entity_id, other_id=other, name=names[0], canonicals=canonicals
            )
            split_id = self._write(draft, subject_ref, event, actor)
            moving = {}
            found = {**memories, **draft.about(subject_ref, entity_id)}
            for memory_id, stream in found.items():
                held = draft.belief(stream).find(memory_id)
                if held is not None and _under(canonicals, held.written.memory, entity_id):
                    moving[memory_id] = stream
            renamed = {entity_id: (other, canonicals[0])}
            entity_names.moved(
                draft, subject_ref, renamed, "split", split_id, actor, moving, canonicals
            )
            self._gate.commit(draft)
            return other

        return self._gate.again(attempt)

    def keep_apart(self, subject_ref: str, entity_id: str, other_id: str, *, actor: str) -> None:
        """Record that two entities with similar names are different."""

        def attempt() -> None:
            draft = self._draft(subject_ref, entity_id, other_id)
            pair = frozenset({entity_id, other_id})
            if pair in draft.directory(subject_ref).apart:
                return
            event = EntitiesKeptApart(entity_id=entity_id, other_id=other_id)
            self._write(draft, subject_ref, event, actor)
            self._gate.commit(draft)

        self._gate.again(attempt)

    def _write(self, draft: Draft, subject_ref: str, event: Event, actor: str) -> str:
        stream = streams.directory_stream(draft.keys(subject_ref).ids)
        new = New(event, new_id(), stream, subject_ref, actor)
        draft.write_directory(subject_ref, new)
        return new.event_id


def _under(canonicals: Sequence[str], memory: Memory, entity_id: str) -> bool:
    """Whether a memory of the entity was written under one of the names."""
    if memory.resolved is None:
        return False
    about = memory.resolved.entity == entity_id and canonical_entity(memory.entity) in canonicals
    far = memory.resolved.target == entity_id and canonical_entity(memory.value) in canonicals
    return about or far
