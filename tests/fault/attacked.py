"""What must be so after the attacker's mix was killed over and over: see `attackers`."""

from __future__ import annotations

from collections import Counter
from typing import Any

from attackers import CANARY, PEOPLE
from failed import Failed
from sqlalchemy import select

from beliefledger import MemoryLedger
from beliefledger.ledger.errors import NotPermitted, UnknownMemory
from beliefledger.ledger.events.turn import ExtractionCompleted, TurnRecorded
from beliefledger.projections.tables import vectors
from beliefledger.projections.vectors import text_tag


class Told:
    """What the processes noted down."""

    def __init__(self, processes: list[Any]) -> None:
        self.turns: dict[str, tuple[int, str, str, str]] = {}  # position, key, person, words
        self.decisions: set[str] = set()
        self.erased: list[tuple[str, str, str, float]] = []  # kind, what, person, time
        self.searches: list[tuple[float, str, list[str]]] = []  # time, person, canaries
        self.delivered: dict[str, list[int]] = {}
        for process in processes:
            for kind, *words in process.lines():
                self._take(process.name, kind, words)

    def _take(self, name: str, kind: str, words: list[str]) -> None:
        if kind == "turn":
            position, turn, key, person, said = words
            self.turns[turn] = (int(position), key, person, said.replace("_", " "))
        elif kind == "decision":
            self.decisions.add(words[0])
        elif kind == "erased":
            self.erased.append((words[0], words[1], words[2], float(words[3])))
        elif kind == "searched":
            self.searches.append((float(words[0]), words[1], words[2:]))
        elif kind == "event":
            self.delivered.setdefault(name, []).append(int(words[0]))


def check_attacked(memory: MemoryLedger, processes: list[Any]) -> str:
    told = Told(processes)
    swept = memory.operations.jobs.run("vectors").counts
    verified = memory.proofs.verify(decisions=True)
    if not verified.ok:
        raise Failed(f"verify: position {verified.position}: {verified.problem}")
    replayed = memory.audit.replay_all()
    if replayed.different:
        raise Failed(f"a decision made again is another: {replayed.differing[0]}")
    gone = _check_log(memory, told)
    _check_erased(memory, told, gone)
    _check_found(memory, told, gone)
    _check_consumers(memory, told)
    _check_views(memory)
    erased = Counter(kind for kind, *_ in told.erased)
    return (
        f"{verified.events} events, {len(told.turns)} turns acknowledged, {len(gone)} of them"
        f" erased by {dict(sorted(erased.items()))}, {len(told.searches)} searches,"
        f" {swept.get('swept', 0)} vectors swept at last, {replayed.same} decisions the same"
    )


def _check_log(memory: MemoryLedger, told: Told) -> set[str]:
    """What was acknowledged is there, once; returns the turns whose words are gone."""
    ids: set[str] = set()
    recorded: dict[str, int] = {}
    extracted: Counter[str] = Counter()
    gone: set[str] = set()
    for position, event in enumerate(memory.subscribe(follow=False), 1):
        if event.position != position:
            raise Failed(f"there is a gap before position {event.position}")
        if event.event_id in ids:
            raise Failed(f"event {event.event_id} is there twice")
        ids.add(event.event_id)
        if event.type == TurnRecorded.NAME:
            if event.stream in recorded:
                raise Failed(f"the turn {event.stream} was recorded twice")
            recorded[event.stream] = position
            if event.event is None:
                gone.add(event.stream)
        elif event.type == ExtractionCompleted.NAME:
            extracted[event.stream] += 1
    if extracted.total() != len(extracted) or set(extracted) - set(recorded):
        raise Failed("a turn was decided twice")
    if left := set(recorded) - set(extracted) - gone:
        raise Failed(f"a turn that is not erased was not decided: {min(left)}")
    for turn, (position, *_) in told.turns.items():
        if recorded.get(turn) != position:
            raise Failed(f"the acknowledged turn {turn} is not at position {position}")
    if lost := told.decisions - ids:
        raise Failed(f"the acknowledged decision {min(lost)} is lost")
    keys = Counter(key for _, key, *_ in told.turns.values())
    if keys and max(keys.values()) > 1:
        raise Failed("two turns have one key")
    return gone


def _check_erased(memory: MemoryLedger, told: Told, gone: set[str]) -> None:
    """Every erasure is complete, and nothing of it can be read or is kept."""
    for each in memory.erasure.list():
        if each.completed_at is None:
            raise Failed(f"the erasure {each.erasure} is not complete")
    people = {person for _, _, person, _ in told.turns.values()}
    erased = {person for person in people if memory.erasure.was_erased(person)}
    if late := {what for kind, what, *_ in told.erased if kind == "subject"} - erased - {""}:
        late = {each for each in late if not memory.erasure.was_erased(each)}
        if late:
            raise Failed(f"{min(late)} was erased and is not")
    for kind, what, person, _ in told.erased:
        if kind == "turn" and what in told.turns and what not in gone:
            raise Failed(f"the turn {what} was erased and can be read")
        if kind == "memory" and person not in erased and _is_known(memory, what):
            raise Failed(f"the memory {what} was erased and is known")
    for turn, (_, _, person, _) in told.turns.items():
        if person in erased and turn not in gone:
            raise Failed(f"{person} is erased, and the turn {turn} can be read")
    positions = [told.turns[turn][0] for turn in gone if turn in told.turns]
    for row in memory._log._store.read_at(positions):
        if row.body is not None:
            raise Failed(f"the body at position {row.position} is erased and still there")
    _check_vectors(memory, told, gone, erased)


def _is_known(memory: MemoryLedger, memory_id: str) -> bool:
    try:
        return bool(memory.history(memory_id))
    except (UnknownMemory, NotPermitted):
        return False


def _check_vectors(memory: MemoryLedger, told: Told, gone: set[str], erased: set[str]) -> None:
    model = memory.vectors.status().model
    with memory._indexes().store._home.reading() as connection:
        kept = connection.execute(select(vectors.c.subject_ref, vectors.c.tag)).all()
    tags = {tag for _, tag in kept}
    living = set()
    for turn, (_, _, person, words) in told.turns.items():
        ref = None if person in erased else memory._log.subject(person)
        keys = None if ref is None else memory._log.keys(ref)
        if keys is None:
            continue
        living.add(keys.subject_ref)
        if turn in gone and text_tag(keys, model, words) in tags:
            raise Failed(f"there is a vector of the erased turn {turn}")
    if strangers := {ref for ref, _ in kept} - living:
        raise Failed(f"there are vectors of {min(strangers)}, who is erased")


def _check_found(memory: MemoryLedger, told: Told, gone: set[str]) -> None:
    """No search finds what is erased, nor did one that began after an erasure was acknowledged."""
    canaries = {turn: CANARY.findall(words)[0] for turn, (*_, words) in told.turns.items()}
    when: dict[str, float] = {}
    for kind, what, person, at in told.erased:
        those = [what] if kind == "turn" else []
        if kind == "subject":
            those = [turn for turn, (_, _, whose, _) in told.turns.items() if whose == person]
        for turn in those:
            if turn in canaries:
                when[canaries[turn]] = min(at, when.get(canaries[turn], at))
    for began, person, found in told.searches:
        for each in found:
            if began > when.get(each, began):
                raise Failed(f"a search of {person} found {each}, which was erased before")
    hidden = {canaries[turn] for turn in gone if turn in canaries}
    for person in sorted({person for _, _, person, _ in told.turns.values()})[-2 * PEOPLE :]:
        theirs = [
            canaries[turn]
            for turn, (_, _, whose, _) in told.turns.items()
            if whose == person and turn in gone
        ]
        for asked in ["Where do I live and work?", *theirs[:5]]:
            text = " ".join(
                each.text for each in memory.search(person, asked, 20, record=False).results
            )
            if found := hidden & set(CANARY.findall(text)):
                raise Failed(f"a search of {person} finds {min(found)}, which is erased")


def _check_consumers(memory: MemoryLedger, told: Told) -> None:
    """At least once, in order: never past what was not delivered."""
    for name, positions in told.delivered.items():
        furthest = 0
        for position in positions:
            if position > furthest + 1:
                raise Failed(f"{name} was at {furthest} and was given {position}")
            furthest = max(furthest, position)
        cursor = memory._log.consumer(name, follow=False).position
        if cursor > furthest:
            raise Failed(f"the cursor of {name} is at {cursor}, and it was given only {furthest}")


def _check_views(memory: MemoryLedger) -> None:
    live = {
        view.name: (view.digest, view.content_digest) for view in memory.status(digests=True).views
    }
    for view in memory.status(digests=True).views:
        if view.lag or view.stopped_at is not None:
            raise Failed(f"the view {view.name} stopped: {view.reason}")
    for view in memory.operations.rebuild(verify=True):
        if not view.same or live[view.name] != (view.digest, view.content_digest):
            raise Failed(f"the view {view.name} is not as rebuilt: {view.first_difference}")
