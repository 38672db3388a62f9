"""What goes with what of one subject's record. Pure.

- A **turn** goes with everything in its stream (words, candidates, notes); with each memory whose
  words are from it, whole; with what it confirmed other memories by; with the names that it made
  known and nothing that stays uses.
- A **memory** goes with all of its events, and with what it was merged into or from: rephrasings of
  one memory are one. Asked for by itself it takes along the turns that are its evidence, and so
  what these carry.
- What goes **for its time** (retention, revoked, consent withdrawn) takes its turns along too, as
  their text says the same. Other memories, which nobody asked for, keep their words and lose that
  evidence.
- What an **agent repeated** of a memory that goes, after it was first said, goes as a turn does:
  where no memory that stays has the same value.
- A **relation** to somebody who is erased goes as memory, candidate and name; the turn is the other
  person's own words.
- A **search** that found something that goes loses its words: whoever asks says what they know.
- A **task** goes as a search does: with the turn that it is about, and with what it found.
- **Consents, exports and imports** are about the person as a whole, and go with them only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field

from beliefledger.erasure.affected import Dependent, Reached, Remains
from beliefledger.gate.consent import ORDINARY, SPECIAL
from beliefledger.gate.slots import canonical_entity
from beliefledger.gate.taken_back import AGENTS, telling_sentences
from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.belief import MemoryConfirmed, Written
from beliefledger.ledger.events.entity import AliasAdded, EntityRecognised, EntitySplit
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.events.task import TaskSubmitted
from beliefledger.ledger.events.turn import CandidateProposed, TurnRecorded
from beliefledger.ledger.times import Micros
from beliefledger.reading.subject_record import SHOWN, WITHDRAWN, Trail

_SHORT = 10


@dataclass(slots=True)
class _Going:
    """What goes: turns, memories (each with how it came to, None where it was asked for) and the
    positions of what is neither's."""

    turns: set[str] = field(default_factory=set)
    memories: dict[str, tuple[str, str] | None] = field(default_factory=dict)
    also: set[int] = field(default_factory=set)


class Closure(Trail):
    """A subject's trail, and what is reached of it from somewhere. Nothing is changed."""

    def whole(self) -> Reached:
        """Everything."""
        return Reached(
            self._subject_ref,
            "subject",
            None,
            tuple(self._left),
            self._counted(self._left),
            self._turns_among(self._left),
            tuple(self.memory_ids()),
            stays=(_envelopes(self._count),),
            texts=self._texts(self.memory_ids()),
        )

    def memory(self, memory_id: str) -> Reached:
        """A memory, with the turns that are its evidence."""
        going = _Going(memories={memory_id: None})
        self._merged_with(going)
        self._with_evidence(going)
        return self._carried("memory", memory_id, going)

    def turn(self, turn_id: str) -> Reached:
        return self._carried("turn", turn_id, _Going(turns={turn_id}))

    def session(self, session_tag: str) -> Reached:
        """What was said in a session, and asked in it."""
        going = _Going(
            turns={
                each.stream
                for events in self._turns.values()
                for each in events
                if isinstance(each.event, TurnRecorded) and each.event.session_tag == session_tag
            },
            also={
                each.position
                for each in self._recalls
                if isinstance(each.event, MemoriesRecalled)
                and session_tag in {each.event.session_tag, _picked_session(each.event)}
            }
            | {
                each.position
                for events in self._tasks.values()
                for each in events
                if isinstance(events[0].event, TaskSubmitted)
                and events[0].event.session_tag == session_tag
            },
        )
        return self._carried("session", session_tag, going)

    def retention(self, ages: Mapping[str, Micros], now: Micros) -> Reached:
        """What is older than these ages, by category. A category without one is kept.

        Rephrasings that were merged are as old as the youngest. A turn that supports no memory is
        ordinary, as searches are, and of the categories of what was noticed in it.
        """
        ends = {category: now - age for category, age in ages.items()}

        def over(category: str, at: Micros) -> bool:
            return at < ends.get(category, at)

        going, categories = _Going(), set()
        seen: set[str] = set()
        for memory_id in self.memory_ids():
            if memory_id in seen:
                continue
            cluster = self._cluster(memory_id)
            seen |= cluster
            left = [self._memories[each] for each in cluster if each in self._memories]
            said = max(each.said for each in left)
            category = self._memories[memory_id].category
            if over(category, said):
                categories.add(category)
                going.memories |= dict.fromkeys(cluster)
        self._with_evidence(going)
        self._with_repeated(going)
        supporting = set().union(*(m.evidence for m in self._memories.values() if m.text))
        for turn_id, events in self._turns.items():
            if turn_id in supporting or not any(e.position in self._left for e in events):
                continue
            for category in self._noticed(events):
                if over(category, self._said.get(turn_id, now)):
                    categories.add(category)
                    going.turns.add(turn_id)
        for each in self._recalls:
            if each.facts["ranker"] != SHOWN and over(ORDINARY, each.recorded_at):
                categories.add(ORDINARY)
                going.also.add(each.position)
        for each in (each for events in self._tasks.values() for each in events):
            if each.position in self._left and over(ORDINARY, each.recorded_at):
                categories.add(ORDINARY)
                going.also.add(each.position)
        told = {each if each == ORDINARY else SPECIAL for each in categories}
        return self._told("retention", ",".join(sorted(told)) or None, going)

    @staticmethod
    def _noticed(events: Iterable[Recorded]) -> set[str]:
        """The categories of what was noticed in a turn, and ordinary."""
        return {ORDINARY} | {
            each.event.candidate.category or ORDINARY
            for each in events
            if isinstance(each.event, CandidateProposed)
        }

    def revoked(self, grace: Micros | None, now: Micros, *, at_once: bool) -> Reached:
        """Memories revoked for longer than `grace` (None: never for that alone); with `at_once`,
        all for which consent was withdrawn."""
        going = _Going()
        for memory_id in self.memory_ids():
            revoked = self._memories[memory_id].revoked
            if revoked is not None and (
                (grace is not None and revoked.recorded_at < now - grace)
                or (at_once and revoked.facts["cause"] == WITHDRAWN)
            ):
                going.memories[memory_id] = None
        return self._ended(going)

    def withdrawn(self, withdrawals: Collection[str]) -> Reached:
        """Memories that these withdrawals of consent revoked."""
        going = _Going()
        for memory_id in self.memory_ids():
            revoked = self._memories[memory_id].revoked
            if revoked is not None and revoked.causation in withdrawals:
                going.memories[memory_id] = None
        return self._ended(going)

    def withdrawals(self) -> list[str]:
        """The withdrawals of consent (event ids) that revoked memories of which words are left."""
        left = (self._memories[each].revoked for each in self.memory_ids())
        return list(
            dict.fromkeys(
                each.causation
                for each in left
                if each is not None and each.causation and each.facts["cause"] == WITHDRAWN
            )
        )

    def _ended(self, going: _Going) -> Reached:
        self._merged_with(going)
        self._with_evidence(going)
        self._with_repeated(going)
        return self._told("revoked", None, going)

    def relation(self, entities: AbstractSet[str]) -> Reached:
        """Relations that end at these entities, and the names of these."""
        ends = {i for i in self.memory_ids() if self._memories[i].far_ends & entities}
        going = _Going(memories=dict.fromkeys(ends))
        self._merged_with(going)
        gone = set(going.memories)
        for each in self._left.values():
            if isinstance(each.event, CandidateProposed):
                resolved = each.event.candidate.resolved
                if resolved is not None and resolved.target in entities:
                    going.also.add(each.position)
        candidates = {
            candidate for _, memory, candidate in self._decided.values() if memory in gone
        }
        going.also |= {e.position for e in self._left.values() if e.event_id in candidates}
        going.also |= {e.position for e in self._naming if _entity_of(e) in entities}
        if not gone:
            return Reached(self._subject_ref, "relation")
        spoken = set().union(*(self._memories[each].evidence for each in gone))
        about = [
            i for i in self.memory_ids() if i not in gone and self._memories[i].entities & entities
        ]
        return self._reached(
            "relation",
            ",".join(sorted(entities)),
            self._positions(going, names=False),
            going,
            tuple(
                Dependent(
                    "relation", each, self._memories[each].text or "", "ends at who is erased"
                )
                for each in self._in_order(gone)
            ),
            [
                Remains(
                    "turns",
                    "they are the other person's own words",
                    sum(self._is_left(each) for each in spoken),
                ),
                Remains(
                    "memories",
                    "the other person's own, which speak of who is erased but are no relation",
                    len(about),
                ),
            ],
        )

    # What goes with what

    def _cluster(self, memory_id: str) -> set[str]:
        going = _Going(memories={memory_id: None})
        self._merged_with(going)
        return set(going.memories)

    def _merged_with(self, going: _Going) -> None:
        """Add what the memories that go were merged into, and what that was merged from."""
        todo = list(going.memories)
        while todo:
            this = todo.pop()
            memory = self._memories.get(this)
            if memory is None:
                continue
            near = set(memory.into) | (set() if memory.undone else set(memory.originals))
            for other in sorted(near - going.memories.keys()):
                going.memories[other] = "consolidated", f"was merged with {this[:_SHORT]}"
                todo.append(other)

    def _with_evidence(self, going: _Going) -> None:
        for memory_id in going.memories:
            if memory_id in self._memories:
                going.turns |= self._memories[memory_id].evidence

    def _carried(self, reach: str, of: str, going: _Going) -> Reached:
        """With what agents repeated, and the memories whose words are from the turns that go."""
        self._with_words(going)
        self._with_repeated(going)
        self._with_words(going)
        self._merged_with(going)
        return self._told(reach, of, going)

    def _with_words(self, going: _Going) -> None:
        """Add the memories whose words are from the turns that go."""
        for memory_id in self.memory_ids():
            from_there = self._memories[memory_id].words & going.turns
            if from_there and memory_id not in going.memories:
                why = f"its words are from turn {min(from_there)[:_SHORT]}"
                going.memories[memory_id] = "memory_goes", why

    def _with_repeated(self, going: _Going) -> None:
        """Add the turns in which an agent repeated what goes."""
        gone: dict[frozenset[str], int] = {}
        held: set[frozenset[str]] = set()
        for memory_id in self.memory_ids():
            memory = self._memories[memory_id]
            if memory_id in going.memories:
                said = [self._turns[each][0] for each in memory.words if each in self._turns]
                first = min((each.position for each in said), default=0)
                for value in memory.values:
                    gone[value] = min(first, gone.get(value, first))
            elif memory.revoked is None:
                held |= memory.values
        told = {value: first for value, first in gone.items() if value not in held}
        for turn_id, (first_event, *_) in self._turns.items() if told else ():
            turn = first_event.event
            if isinstance(turn, TurnRecorded) and turn.role in AGENTS:
                over = [value for value, first in told.items() if first < first_event.position]
                if any(telling_sentences(turn.content, over)):
                    going.turns.add(turn_id)

    def _told(self, reach: str, of: str | None, going: _Going) -> Reached:
        goes, loses = [], []
        for memory_id in self.memory_ids():
            memory = self._memories[memory_id]
            lost = memory.evidence & going.turns
            if memory_id in going.memories:
                how = going.memories[memory_id]
                if how is not None:
                    goes.append(Dependent(how[0], memory_id, memory.text or "", how[1]))
            elif lost:
                own = "its own words stay; " if memory.words & lost else ""
                why = f"{own}turn {min(lost)[:_SHORT]} said so"
                loses.append(Dependent("loses_evidence", memory_id, memory.text or "", why))
        positions = self._positions(going)
        gone = {each for each in going.memories if each in self._memories}
        evidence = set().union(*(self._memories[each].evidence for each in gone))
        again = sum(self._is_left(each) for each in evidence - going.turns)
        others = {e.position for e in self._recalls if e.facts["ranker"] != SHOWN}
        others = others & self._left.keys() - set(positions)
        stays = [
            Remains("turns", "they say it again, and were not asked for", again),
            Remains("searches", "they found nothing of this, whatever was asked", len(others)),
        ]
        return self._reached(reach, of, positions, going, (*goes, *loses), stays)

    def _reached(
        self,
        reach: str,
        of: str | None,
        positions: list[int],
        going: _Going,
        depends: tuple[Dependent, ...],
        stays: Iterable[Remains],
    ) -> Reached:
        if not positions:
            return Reached(self._subject_ref, reach, of)
        memories = self._in_order(going.memories)
        return Reached(
            self._subject_ref,
            reach,
            of,
            tuple(positions),
            self._counted(positions),
            self._turns_among(positions),
            tuple(memories),
            depends,
            stays=(
                _envelopes(len(positions)),
                *(each for each in stays if each.count),
            ),
            texts=self._texts(memories),
        )

    def _positions(self, going: _Going, *, names: bool = True) -> list[int]:
        """Of everything whose body goes, ascending; with the `names` that nothing else uses."""
        found = set(going.also)
        found |= set(self._showed(going.turns | going.memories.keys()))
        for turn_id in going.turns:
            found |= {each.position for each in self._turns.get(turn_id, ())}
        candidates: set[str] = set()
        for each in self._left.values():
            if each.type != CandidateProposed.NAME:
                continue  # whose body need not be opened
            if isinstance(each.event, CandidateProposed) and any(
                span.turn in going.turns for span in each.event.candidate.spans
            ):
                found.add(each.position)  # it quotes a turn that goes
            if each.position in found:
                candidates.add(each.event_id)
        for decision, (turn_id, _, candidate) in self._decided.items():
            if candidate in candidates:
                found |= {e.position for e in self._turns[turn_id] if e.event_id == decision}
        for memory_id, memory in self._memories.items():
            for each in memory.events:
                if memory_id in going.memories or (
                    isinstance(each.event, MemoryConfirmed)
                    and not going.turns.isdisjoint(
                        (each.event.turn, *(span.turn for span in each.event.spans))
                    )
                ):
                    found.add(each.position)
        found |= {each.position for each in self._resolved if self._settled(each, going)}
        found |= {each.position for each in self._unused(going)} if names else set()
        return sorted(found & self._left.keys())

    def _settled(self, resolution: Recorded, going: _Going) -> bool:
        """Whether a resolution (its note) is about something that goes."""
        facts = resolution.facts
        return not going.memories.keys().isdisjoint((*facts["memories"], *facts["closes"])) or any(
            self._decided[each][0] in going.turns
            for each in facts["settles"]
            if each in self._decided
        )

    def _unused(self, going: _Going) -> Iterator[Recorded]:
        """The names that what goes, or went, made known, and that no memory which stays uses or is
        about."""
        learnt = [each for each in self._naming if self._learnt_from(each, going)]
        if not learnt:
            return
        entities, names = self._used(going)
        gone = {
            _entity_of(each)
            for each in learnt
            if each.type == EntityRecognised.NAME and _entity_of(each) not in entities
        }
        aliases = {each.position for each in learnt if each.type == AliasAdded.NAME}
        unnamed: set[str] = set()
        for each in self._naming:
            own = _entity_of(each) in gone or each.position in aliases
            if own and names.isdisjoint(called := _names_in(each)):
                unnamed |= called
                yield each
        for each in self._naming:
            if each.type == EntitySplit.NAME and not unnamed.isdisjoint(_names_in(each)):
                yield each

    def _learnt_from(self, naming: Recorded, going: _Going) -> bool:
        """Whether what made a name known goes now, or went before."""
        if _names_in(naming) == {SELF.casefold()}:
            return False  # it names nobody
        decision = naming.facts.get("decision") or naming.causation or ""
        if decision not in self._decided:
            return False
        turn_id, memory_id, _ = self._decided[decision]
        return (
            turn_id in going.turns
            or memory_id in going.memories
            or not self._is_left(turn_id)
            or (memory_id is not None and self._memories[memory_id].text is None)
        )

    def _used(self, going: _Going) -> tuple[set[str], set[str]]:
        """The entities and canonical names that the memories which stay speak of."""
        entities: set[str] = set()
        names: set[str] = set()
        for memory_id, memory in self._memories.items():
            if memory_id in going.memories:
                continue
            entities |= memory.entities | memory.far_ends
            for each in memory.events:
                if not isinstance(each.event, Written):
                    continue
                said = each.event.memory
                names |= set(map(canonical_entity, (said.entity, *said.participants)))
                if said.resolved is not None and said.resolved.target is not None:
                    names |= {canonical_entity(said.value), said.resolved.target_name or ""}
        return entities, names


def _envelopes(count: int) -> Remains:
    why = "ids, times, kinds of events, digests and codes, by which history is proved and counted"
    return Remains("envelopes", why, count)


def _entity_of(naming: Recorded) -> str:
    """Whom an event gives a name. (Of the first version, the stream says it.)"""
    facts = naming.facts
    return str(facts.get("other_id") or facts.get("entity_id") or naming.stream)


def _names_in(naming: Recorded) -> set[str]:
    match naming.event:
        case EntityRecognised() | AliasAdded() as event:
            return {event.canonical}
        case EntitySplit() as event:
            return {canonical_entity(event.name), *event.canonicals}
        case _:
            return set()


def _picked_session(recall: MemoriesRecalled) -> str | None:
    """The session of which alone something was searched for."""
    where = None if recall.asked is None else recall.asked.where
    return None if where is None else where.session_tag
