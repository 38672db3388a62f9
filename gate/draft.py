"""A draft: decisions and their events, gathered for one append.

Within a draft each decision sees what the ones before it did. Nothing is in the log until `commit`,
which names the version of every stream that the decisions wrote or read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from beliefledger.gate import entities
from beliefledger.gate.belief import Belief, evolve
from beliefledger.gate.consent import Consent, Grant
from beliefledger.gate.decision import Decision, TurnView
from beliefledger.gate.effects import effects
from beliefledger.gate.entities import Directory
from beliefledger.gate.memo import Memo
from beliefledger.gate.rulebook import Rules
from beliefledger.gate.shown_memories import Shown
from beliefledger.gate.slots import canonical_context, canonical_entity, slot_attribute, value_of
from beliefledger.gate.turns import cited
from beliefledger.ledger import codec, streams
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.encryption import SubjectKeys
from beliefledger.ledger.errors import NotPermitted
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.belief import ConflictEscalated, MemoryConfirmed
from beliefledger.ledger.events.turn import GateDecided, TurnRecorded
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.store import Appended
from beliefledger.ledger.times import Micros

About = Callable[[str, str], Mapping[str, str]]
"""(subject_ref, entity id) → the memories in force that are about the entity or relate to it, each
with its belief. A view supplies it."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """An entity whose memories moved to another's slots: all, or those under some names."""

    subject_ref: str
    old: str
    new: str
    cause: str
    moved_by: str
    actor: str
    under: Collection[str] | None = None


class Draft:
    """Decisions of one append. Not thread-safe; lives for a moment."""

    def __init__(
        self,
        log: Log,
        memo: Memo,
        rules: Rules,
        policy_stream: str,
        now: Micros,
        about: About,
    ) -> None:
        self.rules = rules
        self.now = now
        self.events: list[New] = []
        self.expect: dict[str, int] = {policy_stream: rules.version}
        self.decided: list[str] = []
        self._log = log
        self._memo = memo
        self._versions: dict[str, int] = {}
        self._beliefs: dict[str, Belief] = {}
        self._directories: dict[str, Directory] = {}
        self._directory_streams: dict[str, str] = {}
        self._slots: dict[tuple[str, str, str], str] = {}
        self._shown: dict[str, Shown] = {}
        self._real_ids: dict[str, str] = {}
        self._first_speakers: dict[str, str | None] = {}
        self._about = about
        self._viewed: dict[tuple[str, str], Mapping[str, str]] = {}
        self._read: dict[str, int] = {}
        self._of_entity: dict[str, set[str]] = {}
        self._supposed: dict[str, Grant] = {}
        self.seen: int | None = None
        """The head of the log when memories of an entity were first looked up."""
        self.renamed: list[Renamed] = []

    # Streams

    def reads(self, stream: str, version: int) -> None:
        """Rely on a stream being at a version."""
        self.expect.setdefault(stream, version)
        self._versions.setdefault(stream, version)

    def write(self, new: New) -> int:
        """Add an event of a stream that was read before; returns the version it will have."""
        version = self._versions[new.stream] = self._versions[new.stream] + 1
        self.events.append(new)
        return version

    def keys(self, subject_ref: str) -> SubjectKeys:
        keys = self._log.keys(subject_ref)
        if keys is None:
            raise NotPermitted("This subject was erased.")
        return keys

    def real_id(self, subject_ref: str) -> str:
        """Who the subject is to the callers."""
        if subject_ref not in self._real_ids:
            found = self._log.vault.real_id(subject_ref)
            if found is None:
                raise NotPermitted("This subject was erased.")
            self._real_ids[subject_ref] = found
        return self._real_ids[subject_ref]

    def of_subject(
        self, subject_ref: str, types: Collection[str]
    ) -> Iterator[tuple[str, str, Event]]:
        """A subject's events of these types, also those of this draft: the id, the stream and the
        event of each. What is erased is left out."""
        there = self._log.of_subject(subject_ref, types=types)
        consent = self._memo.consent(subject_ref)
        for each in there:
            if each.event is not None and not consent.is_going(each.position):
                yield each.event_id, each.stream, each.event
        for new in self.events:
            if new.subject_ref == subject_ref and new.event.NAME in types:
                yield new.event_id, new.stream, new.event

    def rely_on(self, stream: str) -> None:
        """Rely on a stream being as it is now."""
        if stream not in self._versions:
            there = self._memo.read(stream)
            self.reads(stream, there[-1].version if there else 0)

    def first_speaker(self, subject_ref: str) -> str | None:
        """Who spoke first in the role `user`, if the turn names them."""
        if subject_ref not in self._first_speakers:
            turns = (each.event for each in self._log.of_subject(subject_ref))
            spoken = (each for each in turns if isinstance(each, TurnRecorded))
            first = next((each for each in spoken if each.role == "user"), None)
            self._first_speakers[subject_ref] = None if first is None else first.speaker
        return self._first_speakers[subject_ref]

    def consent(self, subject_ref: str) -> Consent:
        consent = self._memo.consent(subject_ref)
        self.reads(streams.subject_stream(subject_ref), consent.version)
        if consent.erasing:
            raise NotPermitted("This subject is being erased.")
        supposed = self._supposed.get(subject_ref)
        return consent if supposed is None else consent.with_grant(supposed)

    def suppose(self, subject_ref: str, grant: Grant) -> None:
        """Decide as if this grant were in force. Such a draft cannot be committed."""
        self._supposed[subject_ref] = grant

    def belief(self, stream: str) -> Belief:
        if stream not in self._beliefs:
            self._keep(stream, self._memo.belief(stream, self.rules))
            self.reads(stream, self._beliefs[stream].version)
        return self._beliefs[stream]

    def read_ahead(self, about: Iterable[tuple[str, Candidate]]) -> None:
        """Read the beliefs that these candidates, each with its subject, are probably about: all at
        once. Whoever asks for another one waits for that alone."""
        slots = (self.slot(self.keys(ref), each.type, each) for ref, each in about)
        self._memo.read_ahead(slots, self.rules)

    def _keep(self, stream: str, belief: Belief) -> None:
        """Keep a belief as it is now, and by the entities that its memories are about."""
        self._beliefs[stream] = belief
        self._read.setdefault(stream, len(self._read))
        for held in (*belief.current, *belief.quarantined, *belief.past):
            resolved = held.written.memory.resolved
            if resolved:
                for entity in (resolved.entity, resolved.target):
                    if entity is not None:
                        self._of_entity.setdefault(entity, set()).add(stream)

    def holds(self, stream: str) -> bool:
        """Whether a belief holds or keeps apart anything. The draft does not rely on the answer:
        read the belief where it does."""
        belief = self.peek(stream)
        return bool(belief.current or belief.quarantined)

    def peek(self, stream: str) -> Belief:
        """A belief that the draft does not rely on: read it where it does."""
        return self._beliefs.get(stream) or self._memo.belief(stream, self.rules)

    def read_all_ahead(self, streams: Iterable[str]) -> None:
        """Read beliefs that will be peeked at, all at once."""
        self._memo.read_ahead((each for each in streams if each not in self._beliefs), self.rules)

    def confirmations(self, stream: str, memory_id: str) -> dict[str, MemoryConfirmed]:
        """The confirmations of a memory, by turn."""
        return {
            each.event.turn: each.event
            for each in self._memo.read(stream)
            if isinstance(each.event, MemoryConfirmed) and each.event.memory_id == memory_id
        }

    def write_belief(self, new: New) -> None:
        """Add an event of a belief, which later decisions of this draft will see."""
        before = self.belief(new.stream)
        version = self.write(new)
        self._keep(new.stream, evolve(before, version, new.event, self.rules.registry))

    def directory(self, subject_ref: str) -> Directory:
        """The subject's entities and their names."""
        stream = self._directory_stream(subject_ref)
        if stream not in self._directories:
            self._directories[stream] = self._memo.directory(stream)
            self.reads(stream, self._directories[stream].version)
        return self._directories[stream]

    def _directory_stream(self, subject_ref: str) -> str:
        if subject_ref not in self._directory_streams:
            stream = streams.directory_stream(self.keys(subject_ref).ids)
            self._directory_streams[subject_ref] = stream
        return self._directory_streams[subject_ref]

    def write_directory(self, subject_ref: str, new: New) -> None:
        """Add an event of the directory, which later decisions of this draft will see."""
        before = self.directory(subject_ref)
        version = self.write(new)
        self._directories[new.stream] = entities.evolve(before, version, new.event)

    def named_since(self, subject_ref: str, position: int) -> list[Event | None]:
        """The directory's events after a position, including those of this draft."""
        stream = self._directory_stream(subject_ref)
        there = [each.event for each in self._memo.read(stream) if each.position > position]
        return [*there, *(each.event for each in self.events if each.stream == stream)]

    def about(self, subject_ref: str, entity_id: str) -> dict[str, str]:
        """The memories in force that are about an entity or relate to it, each with its belief;
        including those of this draft."""
        if self.seen is None:
            self.seen = self._log.head().position
        asked = (subject_ref, entity_id)
        if asked not in self._viewed:
            self._viewed[asked] = self._about(subject_ref, entity_id)
        found = dict(self._viewed[asked])
        for stream in sorted(self._of_entity.get(entity_id, ()), key=self._read.__getitem__):
            belief = self._beliefs[stream]
            for held in (*belief.current, *belief.quarantined, *belief.past):
                resolved = held.written.memory.resolved
                if resolved and entity_id in {resolved.entity, resolved.target}:
                    found[held.memory_id] = stream
        return found

    def cited(self, subject_ref: str, candidates: Sequence[Candidate]) -> dict[str, str]:
        """The texts of the subject's turns that candidates cite."""
        return cited(self._log, subject_ref, candidates, self._memo.consent(subject_ref))

    def placed(
        self, candidate: Candidate, subject_ref: str, turn: TurnView
    ) -> tuple[Candidate, str]:
        """The candidate and its belief's stream. The candidate notes which memory it repeats, and
        which its speaker had just been shown."""
        kind = self.rules.registry.types.get(candidate.type)
        stream = self.slot(self.keys(subject_ref), candidate.type, candidate)
        resolved = candidate.resolved
        if kind is None or resolved is None:
            return candidate, stream
        repeats = None
        if self.belief(stream).redirects:
            stream, repeats = self._followed(
                stream, value_of(candidate, kind), canonical_context(candidate.context)
            )
        shown: tuple[str, ...] = ()
        belief = self.belief(stream)
        if (belief.current or belief.quarantined) and turn.session_tag is not None:
            if subject_ref not in self._shown:
                self._shown[subject_ref] = self._memo.shown(subject_ref)
            seen = self._shown[subject_ref].before(turn.position, turn.session_tag)
            there = (held.memory_id for held in (*belief.current, *belief.quarantined))
            shown = tuple(each for each in there if each in seen)
        if repeats or shown:
            resolved = resolved.model_copy(update={"repeats": repeats, "shown": shown})
            candidate = candidate.model_copy(update={"resolved": resolved})
        return candidate, stream

    def _followed(self, slot: str, value: str, context: str | None) -> tuple[str, str | None]:
        """Where the memory of a slot moved to, and the memory that this very value was merged
        into."""
        redirect = self.belief(slot).redirect(value, context)
        repeats = redirect is not None and redirect.value == value
        seen: set[tuple[str, str]] = set()
        while redirect is not None and (redirect.to, redirect.into) not in seen:
            stream, memory_id = redirect.to, redirect.into
            seen.add((stream, memory_id))  # merged again, it went on within one belief
            belief = self.belief(stream)
            if any(held.memory_id == memory_id for held in belief.current):
                return stream, memory_id if repeats else None
            redirect = next(
                (each for each in reversed(belief.redirects) if each.memory_id == memory_id), None
            )
        return slot, None  # it is not believed any more: the slot is free again

    def apply(
        self,
        decision: Decision,
        decision_id: str,
        candidate: Candidate,
        turn: TurnView,
        subject_ref: str,
        stream: str,
        new_memory: str,
        actor: str,
    ) -> list[Event]:
        """Write what the decision does to its belief."""
        belief = self.belief(stream)
        written = effects(decision, decision_id, candidate, turn, belief, new_memory)
        for event in written:
            self.write_belief(
                New(event, new_id(), stream, subject_ref, actor, decision_id, turn.turn_id)
            )
        return written

    def slot(self, keys: SubjectKeys, type_: str, said: Candidate | Memory) -> str:
        """The stream of the belief that a statement of a type is about."""
        kind = self.rules.registry.known(type_)
        attribute = slot_attribute(said, kind) if kind else f"unknown type:{said.attribute}"
        if said.resolved is None:
            named = (keys.subject_ref, "entity", canonical_entity(said.entity))
            if named not in self._slots:
                self._slots[named] = streams.entity_stream(keys.ids, named[2])
            entity = self._slots[named]
        else:
            entity = said.resolved.entity
        slot = (keys.subject_ref, entity, attribute)
        if slot not in self._slots:
            self._slots[slot] = streams.belief_stream(keys.ids, entity, attribute)
        return self._slots[slot]

    def outcomes(self) -> Counter[str]:
        """How many decisions there are of each outcome."""
        decided = (new.event for new in self.events)
        return Counter(each.outcome for each in decided if isinstance(each, GateDecided))

    def waiting_at(self) -> dict[str, str]:
        """By decision that is put before a person, the belief where it waits in the end."""
        return {
            new.event.decision: new.stream
            for new in self.events
            if isinstance(new.event, ConflictEscalated)
        }

    def written(self, appended: Appended, *kinds: type[Event]) -> list[Recorded]:
        """The events of these kinds as they are in the log, once they are."""
        versions = dict(self.expect)
        found = []
        for position, new in enumerate(self.events, appended.first):
            version = versions[new.stream] = versions[new.stream] + 1
            if isinstance(new.event, kinds):
                at = appended.recorded_at
                found.append(codec.written(new, version, position, at, self._log.tenant))
        return found

    def commit(self) -> Appended | None:
        """Append everything; None when there is nothing. Raises `VersionConflict`."""
        if self._supposed:
            raise NotPermitted("What is only supposed is not recorded.")
        if not self.events:
            return None
        appended = self._log.append(self.events, self.expect)
        self._memo.keep(self._beliefs, self._directories)
        return appended
