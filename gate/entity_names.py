"""Resolves a candidate's names to entities, and records the names that it states: aliases, titles,
merges."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from beliefledger.gate.cues import READING
from beliefledger.gate.decision import Decision, TurnView
from beliefledger.gate.draft import Draft, Renamed
from beliefledger.gate.effects import WRITES
from beliefledger.gate.entities import TITLES, Match, Resolution, resolve, unguessed
from beliefledger.gate.moves import Move, move
from beliefledger.gate.outcomes import Outcome
from beliefledger.gate.registry import MemoryType, RelationType, SlotRule, relation_name
from beliefledger.gate.slots import canonical_attribute, canonical_entity
from beliefledger.gate.speakers import SPEAKER, UNNAMED, is_subject, said_by, spoke_first
from beliefledger.ledger import streams
from beliefledger.ledger.candidate import SELF, Candidate, Ends, Resolved, SpeechAct
from beliefledger.ledger.codec import New
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.entity import (
    AliasAdded,
    EntitiesAlike,
    EntitiesMerged,
    EntityRecognised,
)
from beliefledger.ledger.log import new_id
from beliefledger.ledger.vault import SYSTEM

ALIAS = "alias"
PERSON = "person"
_BELIEVED = frozenset({Outcome.ADMIT, Outcome.SUPERSEDE})


_OF_SOMEBODY = {
    "location": "home.location", "work": "work.employer", "role": "work.role",
    "age": "identity.age", "whereabouts": "location.now",
}  # fmt: skip
_AS_SAID = frozenset({"is", "has", "likes"})


def about_whom(candidate: Candidate, kind: MemoryType | None) -> Candidate:
    """ "My sister lives in Oslo", noticed as the user's `relation.sister.location`, is about the
    sister, where she lives; so that it meets what is said of her by name."""
    if candidate.entity != SELF or kind is None or kind.slot is not SlotRule.ATTRIBUTE:
        return candidate
    if "relation" not in candidate.attribute.casefold():  # cheaper than its canonical form
        return candidate
    parts = canonical_attribute(candidate.attribute).split(".")
    if parts[0] != "relation":
        return candidate
    for at in range(2, len(parts)):
        key = _OF_SOMEBODY.get(parts[at])
        if key is None and parts[at] in _AS_SAID:
            key = ".".join(parts[at:])
        if key is not None:
            who = " ".join(parts[2:at]) or parts[1]
            return candidate.model_copy(update={"entity": who.replace("-", " "), "attribute": key})
    return candidate


def there_no_more(candidate: Candidate) -> Candidate:
    """What tells where somebody else lives, or that the user has moved, which ends where they were
    said to be until then."""
    if candidate.attribute != "home.location" or candidate.negated or candidate.retracts:
        return candidate
    if candidate.entity == SELF and candidate.act != SpeechAct.CHANGE:
        return candidate  # who lives in Leeds may be in Oslo for a week
    there = Ends(attribute="location.now", sparing=candidate.value)
    return candidate.model_copy(update={"ends": (*candidate.ends, there)})


def of_speaker(draft: Draft, subject_ref: str, turn: TurnView, noticed: Candidate) -> Candidate:
    """What was noticed in a turn, as said by who spoke: of a named speaker who is not the subject,
    about an entity of that name."""
    if turn.speaker is None or _by_subject(draft, subject_ref, turn.speaker):
        return noticed
    return said_by(noticed, turn.speaker)


def learn_speaker(
    draft: Draft, subject_ref: str, turn: TurnView, decision: Decision, decision_id: str
) -> None:
    """Record the name under which the subject speaks, if something was believed of their words and
    the name is nobody's."""
    speaker = turn.speaker
    if speaker is None or decision.outcome not in _BELIEVED:
        return
    directory, name = draft.directory(subject_ref), canonical_entity(speaker)
    real_id = draft.real_id(subject_ref)
    if directory.named(name) is not None or name == canonical_entity(real_id):
        return
    if name not in UNNAMED and _by_subject(draft, subject_ref, speaker):
        self_id = _self_id(draft, subject_ref)
        if self_id in directory.entities:
            add_alias(draft, subject_ref, self_id, speaker, SPEAKER, decision_id, SYSTEM)


def _by_subject(draft: Draft, subject_ref: str, speaker: str) -> bool:
    directory, self_id = draft.directory(subject_ref), _self_id(draft, subject_ref)
    known = is_subject(speaker, draft.real_id(subject_ref), directory, self_id)
    return spoke_first(speaker, draft.first_speaker(subject_ref)) if known is None else known


def _self_id(draft: Draft, subject_ref: str) -> str:
    own = streams.entity_stream(draft.keys(subject_ref).ids, SELF.casefold())
    return draft.directory(subject_ref).survivor(own)


def named(
    draft: Draft, subject_ref: str, candidate: Candidate
) -> tuple[Candidate, list[Resolution]]:
    """The candidate with the ids of the entities it names, and how each name was found."""
    candidate = about_whom(candidate, draft.rules.registry.types.get(candidate.type))
    keys = draft.keys(subject_ref)
    directory, rules = draft.directory(subject_ref), draft.rules.policy.entities
    found: list[Resolution] = []

    def id_of(name: str, what: str | None = None) -> str:
        known = unguessed(resolve(directory, name, rules), rules)
        found.append(known if what is None else known.of_kind(what))
        # Of a name that was erased, its entity may have gone into another one.
        return found[-1].entity_id or directory.survivor(
            streams.entity_stream(keys.ids, found[-1].canonical)
        )

    entity = id_of(candidate.entity, PERSON if candidate.entity == SELF else None)
    kind = draft.rules.registry.types.get(candidate.type)
    target = target_name = None
    if kind is not None and kind.slot is SlotRule.RELATION:
        relation = _relation(candidate, kind)
        target = id_of(candidate.value, None if relation is None else relation.far)
        target_name = directory.canonical(target) or found[-1].canonical
    resolved = Resolved(
        entity=entity,
        target=target,
        target_name=target_name,
        participants=tuple(id_of(name, PERSON) for name in candidate.participants),
        reading=READING,
    )
    update: dict[str, object] = {"resolved": resolved}
    if candidate.type == "entity" and canonical_attribute(candidate.attribute) == ALIAS:
        # Each alias is a belief of its own: a second one does not take the first one's place.
        update["attribute"] = f"{ALIAS}.{canonical_attribute(candidate.value.replace('.', ' '))}"
    return candidate.model_copy(update=update), found


def learn(
    draft: Draft,
    subject_ref: str,
    candidate: Candidate,
    decision: Decision,
    decision_id: str,
    found: list[Resolution],
) -> None:
    """Record the entities of a memory that was written, and the names that it states."""
    if decision.outcome not in WRITES or candidate.resolved is None:
        return
    for each in found:
        _recognise(draft, subject_ref, each, decision_id)
    if decision.outcome not in _BELIEVED or decision.past or candidate.negated:
        return
    resolved = candidate.resolved
    if candidate.type == "entity" and candidate.attribute.startswith(f"{ALIAS}."):
        add_alias(
            draft, subject_ref, resolved.entity, candidate.value, "stated", decision_id, SYSTEM
        )
    if resolved.target is not None:
        title = _title(candidate, draft.rules.registry.types.get(candidate.type))
        own = _own_title(candidate)
        if title is not None:
            add_alias(draft, subject_ref, resolved.target, title, "role", decision_id, SYSTEM)
        elif own is not None:
            _hold_title(draft, subject_ref, resolved.target, own, decision_id)


def _title(candidate: Candidate, kind: MemoryType | None) -> str | None:
    """The title that a relation gives its far end: one reports to a "manager"."""
    if kind is None or candidate.entity != SELF:
        return None
    relation = _relation(candidate, kind)
    return None if relation is None else relation.role


def _own_title(candidate: Candidate) -> str | None:
    """The title in an attribute that names somebody: "sister" in `relation.sister.name`."""
    parts = canonical_attribute(candidate.attribute).split(".")
    if candidate.entity != SELF or parts[0] != "relation" or parts[2:] != ["name"]:
        return None
    title = parts[1].replace("-", " ")
    return TITLES.get(title, title)


def _hold_title(
    draft: Draft, subject_ref: str, entity_id: str, title: str, decision_id: str
) -> None:
    """Let a title mean an entity. If it has meant another, it means neither from now on: one may
    have two sisters."""
    keys, directory = draft.keys(subject_ref), draft.directory(subject_ref)
    neither = streams.tag(keys.ids, "entity", title, "title")
    owner = directory.named(title)
    if owner == neither:
        return
    if owner is None or owner == entity_id or title not in directory.roles:
        add_alias(draft, subject_ref, entity_id, title, "role", decision_id, SYSTEM)
        return
    event = EntityRecognised(entity_id=neither, name=title, canonical=title)
    _write(draft, subject_ref, event, decision_id, SYSTEM)


def _relation(candidate: Candidate, kind: MemoryType) -> RelationType | None:
    """The relation that the candidate's attribute names, if the vocabulary has it."""
    return kind.vocabulary.get(relation_name(canonical_attribute(candidate.attribute)))


def _recognise(draft: Draft, subject_ref: str, name: Resolution, decision_id: str) -> None:
    directory = draft.directory(subject_ref)
    if name.canonical in directory.names:
        return
    if name.entity_id is not None:
        how = name.match.value
        if name.match is not Match.EXACT:
            event: Event = AliasAdded(
                entity_id=name.entity_id,
                how=how,
                decision=decision_id,
                alias=name.name,
                canonical=name.canonical,
            )
            _write(draft, subject_ref, event, decision_id, SYSTEM)
        return
    keys = draft.keys(subject_ref)
    new = streams.entity_stream(keys.ids, name.canonical)
    event = EntityRecognised(
        entity_id=new, name=name.name, canonical=name.canonical, kind=name.kind
    )
    _write(draft, subject_ref, event, decision_id, SYSTEM)
    if name.like is not None:
        event = EntitiesAlike(
            entity_id=new, like_id=name.like, similarity=name.similarity, decision=decision_id
        )
        _write(draft, subject_ref, event, decision_id, SYSTEM)


def add_alias(
    draft: Draft,
    subject_ref: str,
    entity_id: str,
    alias: str,
    how: str,
    decision_id: str | None,
    actor: str,
) -> None:
    """Give an entity another name. If that is the name that another entity was first known by, the
    two are one."""
    directory, canonical = draft.directory(subject_ref), canonical_entity(alias)
    owner = directory.named(canonical)
    if owner == entity_id or canonical == SELF.casefold():
        return
    first_known_by_it = owner is not None and directory.canonical(owner) == canonical
    if owner is not None and first_known_by_it and canonical not in directory.roles:
        merge(draft, subject_ref, entity_id, owner, how, decision_id, actor)
        if how != "role":
            return
    event = AliasAdded(
        entity_id=entity_id, how=how, decision=decision_id, alias=alias, canonical=canonical
    )
    _write(draft, subject_ref, event, decision_id, actor)


def merge(
    draft: Draft,
    subject_ref: str,
    entity_id: str,
    absorbed_id: str,
    how: str,
    decision_id: str | None,
    actor: str,
) -> int:
    """Make two entities one: the memories of the absorbed one move. Returns how many did."""
    event = EntitiesMerged(
        entity_id=entity_id, absorbed_id=absorbed_id, how=how, decision=decision_id
    )
    event_id = _write(draft, subject_ref, event, decision_id, actor)
    name = draft.directory(subject_ref).canonical(entity_id)
    return moved(draft, subject_ref, {absorbed_id: (entity_id, name)}, "merged", event_id, actor)


def moved(
    draft: Draft,
    subject_ref: str,
    renamed: Mapping[str, tuple[str, str | None]],
    cause: str,
    moved_by: str,
    actor: str,
    only: Mapping[str, str] | None = None,
    under: Collection[str] | None = None,
) -> int:
    """Move the memories of entities to the slots of others: old id → (new id, canonical name).

    With `under`, only where they use one of these canonical names: a memory may relate both.
    """
    count = 0
    memories = only
    for old, (new, _) in renamed.items():
        draft.renamed.append(Renamed(subject_ref, old, new, cause, moved_by, actor, under))
    if memories is None:
        memories = {}
        for old in renamed:
            memories = {**memories, **draft.about(subject_ref, old)}
    for memory_id, stream in memories.items():
        held = draft.belief(stream).find(memory_id)
        resolved = None if held is None else held.written.memory.resolved
        if held is None or resolved is None:
            continue
        update: dict[str, object] = {}
        said = held.written.memory
        if resolved.entity in renamed and (under is None or canonical_entity(said.entity) in under):
            update["entity"] = renamed[resolved.entity][0]
        far = under is None or canonical_entity(said.value) in under
        if far and resolved.target is not None and resolved.target in renamed:
            update["target"], update["target_name"] = renamed[resolved.target]
        if not update:
            continue
        memory = said.model_copy(update={"resolved": resolved.model_copy(update=update)})
        move(
            draft,
            held,
            stream,
            memory,
            Move(subject_ref, cause, moved_by, actor),
        )
        count += 1
    return count


def move_again(draft: Draft, late: Renamed) -> None:
    """Move memories that were written to the old slots while the others moved."""
    subject_ref, directory = late.subject_ref, draft.directory(late.subject_ref)
    new = directory.survivor(late.new)
    renamed = {late.old: (new, directory.canonical(new))}
    left = draft.about(subject_ref, new)
    moved(draft, subject_ref, renamed, late.cause, late.moved_by, late.actor, left, late.under)


def _write(draft: Draft, subject_ref: str, event: Event, causation: str | None, actor: str) -> str:
    stream = streams.directory_stream(draft.keys(subject_ref).ids)
    new = New(event, new_id(), stream, subject_ref, actor, causation)
    draft.write_directory(subject_ref, new)
    return new.event_id
