"""Backfill: moves what stands already, and says what a type is about, to that type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from time import perf_counter_ns

from beliefledger.gate.belief import Belief, Held, folded
from beliefledger.gate.custom_types import Custom
from beliefledger.gate.draft import Draft
from beliefledger.gate.moves import Move, move
from beliefledger.gate.registry import MemoryType, SlotRule
from beliefledger.ledger import streams
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import LedgerError, NotPermitted, TypeInvalid
from beliefledger.ledger.events.belief import Written
from beliefledger.ledger.events.ops import JobRan
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.secret_filter import refuse
from beliefledger.ledger.times import Micros
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.projections import standing_memories
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.standing_memories import StandingMemory
from beliefledger.reading.queries import Queries
from beliefledger.times import Progress

LOOKED_AT = 2_000
"""Memories that are looked at in one go."""
MOVED = 400
"""Memories that are moved in one append."""
SHOWN = 200
"""Moves that an answer shows; it counts all."""


class MoveAnswer(Frozen):
    """One memory that moves: from which slot to which, and what it then says."""

    memory_id: str
    subject: str | None
    text: str
    from_type: str
    from_attribute: str
    attribute: str
    value: str
    fields: dict[str, str]


class IncompleteAnswer(Frozen):
    """A memory that fits but does not say all that the type requires; it stays as it is."""

    memory_id: str
    text: str
    missing: tuple[str, ...]


class BackfillAnswer(Frozen):
    """What a backfill did, or would do.

    Of `looked_at` memories some `matched`; of those `moved` did (or would) move, and the others are
    `incomplete`, `not_permitted` (no lawful basis for the type's category) or `gone` since they
    were looked at. All others are untouched. `moves` shows the first ones.
    """

    type: str
    applied: bool
    looked_at: int
    matched: int
    moved: int
    untouched: int
    gone: int
    not_permitted: tuple[str, ...]
    incomplete: tuple[IncompleteAnswer, ...]
    moves: tuple[MoveAnswer, ...]


@dataclass(frozen=True, slots=True)
class _Fitting:
    """A memory that one of the patterns fits."""

    row: StandingMemory
    written: Recorded
    memory: Memory
    """What it says from now on."""


@dataclass(slots=True)
class _Report:
    """What was found so far."""

    looked_at: int = 0
    matched: int = 0
    moved: int = 0
    gone: int = 0
    not_permitted: list[str] = field(default_factory=list)
    incomplete: list[IncompleteAnswer] = field(default_factory=list)
    moves: list[MoveAnswer] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        return {
            "looked_at": self.looked_at,
            "matched": self.matched,
            "moved": self.moved,
            "gone": self.gone,
            "not_permitted": len(self.not_permitted),
            "incomplete": len(self.incomplete),
        }


class Backfill:
    """Call it to move memories of other types to a type, by its patterns."""

    def __init__(self, core: Core, queries: Queries, find_type: Callable[[str], object]) -> None:
        """`find_type` raises `TypeInvalid` for a type that there is none of."""
        self._core = core
        self._log = core.log
        self._queries = queries
        self._find_type = find_type

    def __call__(
        self,
        type: str,
        *,
        apply: bool,
        patterns: Sequence[str] | None = None,
        attribute: str | None = None,
        from_type: str | None = None,
        subject: str | None = None,
        by: str = SYSTEM,
        progress: Progress | None = None,
    ) -> BackfillAnswer:
        """Move what stands already and says what a type is about to that type.

        Every memory of another type (or of `from_type`) is looked at: one whose claim a pattern
        fits moves, with its id, evidence, mentions and times; past and quarantined ones too. All
        others stay untouched, and old events never change. `patterns` and `attribute` take the
        place of the type's own. Without `apply` nothing is written.

        A backfill that was broken off goes on where it was when it is run again. Raises
        `TypeInvalid` for a type that is not in force, or without patterns.
        """
        for each in (*(patterns or ()), *([] if attribute is None else [attribute])):
            refuse(each, "The pattern or attribute")
        kind, custom = self._custom(type, patterns, attribute)
        if from_type is not None:
            self._find_type(from_type)
        actor = self._core.actor(by)
        moved_by = self._core.rulebook.registered_by(kind.name)
        ref = None if subject is None else (self._queries.known_or_none(subject) or "")
        report = _Report()
        begun, due = perf_counter_ns(), self._core.clock()
        try:
            for fitting in self._fitting(custom, report, from_type, ref, progress):
                for start in range(0, len(fitting), MOVED):
                    batch = fitting[start : start + MOVED]
                    if apply:
                        self._move(batch, kind, moved_by, actor, report)
                    else:
                        report.moved += len(batch)
        except LedgerError as problem:
            if apply:
                self._ran(kind.name, due, report, begun, problem)
            raise
        if apply:
            self._ran(kind.name, due, report, begun, None)
        return BackfillAnswer(
            type=kind.name,
            applied=apply,
            looked_at=report.looked_at,
            matched=report.matched,
            moved=report.moved,
            untouched=report.looked_at - report.moved,
            gone=report.gone,
            not_permitted=tuple(report.not_permitted),
            incomplete=tuple(report.incomplete),
            moves=tuple(report.moves),
        )

    def _custom(
        self, name: str, patterns: Sequence[str] | None, attribute: str | None
    ) -> tuple[MemoryType, Custom]:
        """The type and its patterns, or those given instead, compiled."""
        registry = self._core.rulebook.refreshed().registry
        kind = registry.types.get(name)
        if kind is None:
            gone = "is retired" if name in registry.retired else "is not registered"
            raise TypeInvalid(f"The type {name!r} {gone}: add it first.")
        if kind.slot is SlotRule.RELATION:
            raise TypeInvalid("A relation's far end is resolved when it is said: say it anew.")
        shape = kind if attribute is None else kind.model_copy(update={"attribute": attribute})
        chosen = kind.patterns if patterns is None else tuple(patterns)
        if not chosen:
            raise TypeInvalid(f"The type {name!r} has no patterns: give one with --pattern.")
        try:
            for each in chosen:
                shape.check_pattern(each)
        except ValueError as problem:
            raise TypeInvalid(f"{problem}.") from problem
        return kind, Custom(shape, chosen)

    def _fitting(
        self,
        custom: Custom,
        report: _Report,
        from_type: str | None,
        ref: str | None,
        progress: Progress | None,
    ) -> Iterator[list[_Fitting]]:
        """What fits and is complete, page by page."""
        name = custom.kind.name
        with self._queries.view(BeliefsView.name) as (connection, generation):
            total = standing_memories.count(
                connection, generation, besides=name, type_=from_type, subject_ref=ref
            )
        after, names = 0, _Names(self._log)
        while True:
            # Not caught up again: what came since then was decided with the type in force.
            projector = self._core.projector
            with projector.reading() as connection:
                generation = projector.states(connection)[BeliefsView.name].generation
                rows = standing_memories.page(
                    connection,
                    generation,
                    after,
                    LOOKED_AT,
                    besides=name,
                    type_=from_type,
                    subject_ref=ref,
                )
            if not rows:
                return
            after = rows[-1].row_id
            yield list(self._matching(rows, custom, report, names))
            report.looked_at += len(rows)
            if progress:
                progress(report.looked_at, total)

    def _matching(
        self, rows: Sequence[StandingMemory], custom: Custom, report: _Report, names: _Names
    ) -> Iterator[_Fitting]:
        words = self._log.read_at([row.words_at for row in rows])
        for row in rows:
            written = words[row.words_at].event
            if not isinstance(written, Written):
                continue  # erased
            memory = written.memory
            found = custom.in_claim(memory.claim)
            if found is None:
                continue
            report.matched += 1
            shaped = custom.reshaped({**memory.fields, **found}, memory.attribute, memory.value)
            if shaped.missing:
                report.incomplete.append(
                    IncompleteAnswer(
                        memory_id=row.memory_id, text=memory.claim, missing=shaped.missing
                    )
                )
                continue
            if len(report.moves) < SHOWN:
                report.moves.append(
                    MoveAnswer(
                        memory_id=row.memory_id,
                        subject=names(row.subject_ref),
                        text=memory.claim,
                        from_type=row.type,
                        from_attribute=memory.attribute,
                        attribute=shaped.attribute,
                        value=shaped.value,
                        fields=dict(shaped.fields),
                    )
                )
            update = {
                "attribute": shaped.attribute,
                "value": shaped.value,
                "fields": dict(shaped.fields),
                "category": custom.kind.category or memory.category,
            }
            yield _Fitting(row, words[row.words_at], memory.model_copy(update=update))

    def _move(
        self,
        batch: Sequence[_Fitting],
        kind: MemoryType,
        moved_by: str,
        actor: str,
        report: _Report,
    ) -> None:
        """Move these in one append."""

        def attempt() -> tuple[int, list[str]]:
            draft = self._core.gate.draft()
            if kind.name not in draft.rules.registry.types:
                raise TypeInvalid(f"The type {kind.name!r} was retired meanwhile.")
            self._prime(draft, batch, kind)
            moved, refused = 0, []
            for each in batch:
                row = each.row
                try:
                    draft.consent(row.subject_ref)
                    held = draft.belief(row.belief).find(row.memory_id)
                except NotPermitted:
                    continue  # erased meanwhile
                if held is None or held.type == kind.name:
                    continue
                carried = _carried(draft, row, held, kind)
                if carried is None:
                    refused.append(row.memory_id)
                    continue
                move(
                    draft,
                    carried,
                    row.belief,
                    each.memory,
                    Move(row.subject_ref, "backfilled", moved_by, actor),
                    type_=kind.name,
                )
                moved += 1
            self._core.gate.commit(draft)
            return moved, refused

        moved, refused = self._core.gate.again(attempt)
        report.moved += moved
        report.not_permitted += refused
        report.gone += len(batch) - moved - len(refused)

    def _prime(self, draft: Draft, batch: Sequence[_Fitting], kind: MemoryType) -> None:
        """Spare reading a stream for each: most beliefs have one event, which was read already,
        and most slots that are moved to are new. The append finds out if that is old by then."""
        targets = []
        for each in batch:
            keys = self._log.keys(each.row.subject_ref)
            if keys is not None:
                targets.append(draft.slot(keys, kind.name, each.memory))
        versions = self._log.versions([*(each.row.belief for each in batch), *targets])
        known = {target: Belief() for target in targets if versions[target] == 0}
        for each in batch:
            consent = self._core.gate.memo.consent(each.row.subject_ref)
            if consent.is_going(each.written.position):
                continue
            if versions[each.row.belief] == each.written.version == 1:
                known[each.row.belief] = folded([each.written], draft.rules.registry)
        self._core.gate.memo.keep(known, {})

    def _ran(
        self,
        name: str,
        due: Micros,
        report: _Report,
        begun: int,
        problem: LedgerError | None,
    ) -> None:
        """Put on record that the job ran."""
        event = JobRan(
            job=f"backfill:{name}",
            due=due,
            outcome="failed" if problem else "done",
            counts=report.counts(),
            duration_micros=(perf_counter_ns() - begun) // 1_000,
            error=type(problem).__name__ if problem else None,
        )
        stream = streams.ops_stream(self._log.tenant)
        new = New(event, new_id(), stream, None)

        def attempt() -> None:
            self._log.append([new], {stream: self._log.version(stream)})

        self._log.decide_again(attempt)


def _carried(draft: Draft, row: StandingMemory, held: Held, kind: MemoryType) -> Held | None:
    """The memory on the basis that it has or, where the type is of a special category that it was
    not of, on one for that. None where there is no such basis."""
    if kind.category is None or kind.category == held.written.memory.category:
        return held
    policy = draft.rules.policy
    grant = draft.consent(row.subject_ref).covering(
        kind.category, policy.purpose, draft.now, policy
    )
    if grant is None:
        return None
    written = held.written.model_copy(update={"basis": grant.basis, "grant": grant.id})
    return replace(held, basis=grant.basis, grant=grant.id, written=written)


class _Names:
    """Who the subjects are, each asked for once."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._known: dict[str, str | None] = {}

    def __call__(self, subject_ref: str) -> str | None:
        if subject_ref not in self._known:
            self._known[subject_ref] = self._log.vault.real_id(subject_ref)
        return self._known[subject_ref]
