"""Moving a tenant's ledger to another place, while it is used.

1. It is copied while writing goes on; the copy is marked as unfinished, so it is only read.
2. Its views are folded there, and what was written meanwhile is copied, too.
3. The fence goes up at the old place (`ledger.fence`). From here on nobody can write.
4. The rest is copied, and all is compared, to the root of the tree and the last checkpoint.
5. The table of tenants is switched. From here on there is no way back.
6. `tenant.moved.v1` is written at the new place, and the mark is taken off: there, one may write.

Killed at any step, it goes on when it is run again. No two steps leave two places that take events:
the old one is fenced before the mark goes off, and the fence comes down only while the table still
names the old place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from beliefledger.ledger.codec import New
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import CallerMistake, LogCorrupted, NotPermitted
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.ops import TenantMoved, TenantMoveGivenUp
from beliefledger.ledger.fence import Fence
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.proofs.merkle import Growing
from beliefledger.ledger.proofs.notes import Checkpoint
from beliefledger.ledger.proofs.tree_copy import bring_tree
from beliefledger.ledger.streams import ops_stream
from beliefledger.ledger.times import SECOND, system_clock
from beliefledger.ledger.unfinished import Unfinished
from beliefledger.opening.backends import exists, open_place
from beliefledger.opening.build import build
from beliefledger.opening.place import NoLedger, Opened, Place, place_of, shown
from beliefledger.operations.copy import (
    CopiedWhole,
    Moving,
    bring_vectors,
    close_with,
    copy_over,
    is_same,
    settings_beside,
)
from beliefledger.settings import Settings
from beliefledger.tenants import TenantTable
from beliefledger.times import Progress

Step = Callable[[str], None]
"""Told what is done from now on."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved where, without passwords."""

    tenant: str
    source: str
    destination: str
    events: int
    meanwhile: int
    """How many of them came while it was copied."""
    root: str
    """The root of the tree over them, in hex: the same here and there."""
    signed: int
    """The size of the last checkpoint; 0 without any."""
    pause_seconds: float | None
    """How long nothing could be written; None for a move that was killed on the way and went on."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A move that was given up: where the ledger is written again, and where a copy is left over,
    if one was begun."""

    tenant: str
    ledger: str
    left_over: str | None


@dataclass(frozen=True, slots=True)
class TenantShown:
    """Where a tenant's ledger is, without passwords, and in a sentence whether it takes events."""

    tenant: str
    ledger: str
    server: str | None
    events: int
    takes_events: bool
    state: str


def show(table: TenantTable, tenant: str) -> TenantShown:
    """Raises `NoLedger` where there is none."""
    known = table.get(tenant)
    place = table.place(tenant)
    with ExitStack() as opened:
        here = _opened(opened, place, settings_beside(place, Settings.read()))
        note, events = here.store.unfinished(), here.store.head().position
    fence = Fence.read(note)
    state = "It takes events."
    if fence is not None:
        state = f"{fence.told} Go on with the move, or give it up with --abort."
    elif note is not None:
        state = Unfinished.read(note).told(shown(place))
    return TenantShown(tenant, str(place), known.server, events, note is None, state)


def move(
    table: TenantTable,
    tenant: str,
    to: str,
    *,
    by: str,
    progress: Progress | None = None,
    step: Step = lambda _: None,
) -> Moved:
    """Move a tenant's ledger `to` a place where there is none, and let the table say so.

    Raises `CallerMistake` and `NotPermitted` for what cannot be moved so, before anything is
    written; on Postgres it needs the owner's rights at both places.
    """
    if not by.strip():
        raise NotPermitted("Name who moves it.")
    with table.locked():
        source, destination = table.place(tenant), _absolute(place_of(to))
        if is_same(source, destination):
            return _Move(table, tenant, to, by, step).complete(destination)
        return _Move(table, tenant, to, by, step).run(source, destination, progress)


def give_up(table: TenantTable, tenant: str, *, by: str) -> GivenUp:
    """Give a move up that has not switched the table yet: the old place takes events again.

    The copy stays where it is, unfinished, and is to be deleted: what is erased from now on is not
    erased there. Raises `NotPermitted` where there is nothing to be given up.
    """
    if not by.strip():
        raise NotPermitted("Name who gives it up.")
    with table.locked(), ExitStack() as opened:
        place = table.place(tenant)
        here = _opened(opened, place, settings_beside(place, Settings.read()))
        note = here.store.unfinished()
        fence = Fence.read(note)
        if fence is None:
            if note is not None and Unfinished.read(note).move is not None:
                raise NotPermitted(
                    f"{tenant} has been moved to {place} already, all but the last step: run the"
                    " same `beliefledger tenant move` again."
                )
            raise NotPermitted(
                f"{place} is not fenced, and takes events: there is nothing to give up. A copy that"
                " was begun elsewhere may be deleted."
            )
        here.store.take_down_fence()
        told = TenantMoveGivenUp(move=fence.move, destination=fence.to)
        _record(here, told, new_id(), by)
        return GivenUp(tenant, str(place), fence.to)


class _Move:
    def __init__(self, table: TenantTable, tenant: str, to: str, by: str, step: Step) -> None:
        self._table = table
        self._tenant = tenant
        self._to = to
        self._by = by
        self._step = step
        self._id = new_id()
        self._since: float | None = None
        """When the fence went up, if it was put up here."""
        self._pause: float | None = None
        self._signed = 0

    def run(self, source: Place, destination: Place, progress: Progress | None) -> Moved:
        if not exists(source):
            raise NoLedger(f"There is no ledger at {source}.")
        _refuse_shared(source)
        self._go_on(source, destination)
        self._step("copying, while writing goes on")
        moving = Moving(self._tenant, self._id, self._near, self._finish)
        done = copy_over(source, destination, progress=progress, moving=moving)
        return Moved(
            self._tenant, str(source), str(destination), done.events, done.meanwhile, done.root,
            self._signed, self._pause,
        )  # fmt: skip

    def _go_on(self, source: Place, destination: Place) -> None:
        """Take up the id of a move that was killed. Raises `NotPermitted` for one to elsewhere."""
        settings = Settings.read()
        with ExitStack() as opened:
            here = _opened(opened, source, settings_beside(source, settings))
            fence, key = Fence.read(here.store.unfinished()), here.master_key.key.hex()
        if fence is not None:
            if fence.to != shown(destination):
                raise NotPermitted(
                    f"{self._tenant} is being moved to {fence.to} already: go on with that, or give"
                    f" it up with `beliefledger tenant move {self._tenant} --abort`."
                )
            self._id = fence.move
        elif exists(destination):
            with ExitStack() as opened:
                there = _opened(opened, destination, replace(settings, master_key=key))
                note = there.store.unfinished()
            mark = None if note is None or Fence.read(note) else Unfinished.read(note)
            if mark is not None and mark.move and mark.tenant == self._tenant:
                self._id = mark.move

    def _near(
        self, read: Opened, written: Opened, to_there: Settings
    ) -> Sequence[Callable[[], None]]:
        def fold() -> None:
            self._step("folding the views at the new place, while writing goes on")
            if written.store.head().position:
                _fold_views(written, to_there)
            bring_vectors(read, written, None)

        def pause() -> None:
            fence = Fence(self._id, shown(written.place))
            self._step("pausing: nothing can be written from here on")
            if Fence.read(read.store.unfinished()) != fence:
                self._since = time.monotonic()
                read.store.put_up_fence(fence)

        return fold, pause

    def _finish(self, read: Opened, written: Opened, done: CopiedWhole) -> None:
        self._check(read, written, done)
        if Fence.read(read.store.unfinished()) != Fence(self._id, shown(written.place)):
            raise NotPermitted("The move was given up meanwhile. Nothing was switched.")
        self._step("switching the table")
        self._table.switch(self._tenant, self._to)
        self._stop_watch()
        self._tell(written, str(read.place), done.events, done.root)
        written.store.note_unfinished(None)
        self._stop_watch()

    def _stop_watch(self) -> None:
        if self._since is not None:
            self._pause = time.monotonic() - self._since

    def _check(self, read: Opened, written: Opened, done: CopiedWhole) -> None:
        """Raises `LogCorrupted` where the last checkpoint did not come along, or another history
        was signed than what was copied."""
        here, there = (_last_signed(side) for side in (read, written))
        if _size(there) != done.signed:
            raise self._not_the_last(read, written)
        # The fence lets whoever has the old place open sign what was written before it.
        while _size(there) < _size(here) <= done.events:
            there = bring_tree(read.signing.tiles, written.signing.tiles, done.events)
            here = _last_signed(read)
        if here != there and _size(here) <= done.events:
            raise self._not_the_last(read, written)
        if there is not None and there.size == done.events and there.root.hex() != done.root:
            raise LogCorrupted(f"{read.place}: its last checkpoint is of another history.")
        self._signed = _size(there)

    @staticmethod
    def _not_the_last(read: Opened, written: Opened) -> LogCorrupted:
        return LogCorrupted(
            f"{written.place}: the last checkpoint is not that of {read.place}. Nothing was"
            " switched."
        )

    def complete(self, place: Place) -> Moved:
        """What is left to be done where the table names the new place already."""
        settings = Settings.read()
        with ExitStack() as opened:
            there = _opened(opened, place, settings)
            note = there.store.unfinished()
            mark = None if note is None else Unfinished.read(note)
            if mark is None or mark.move is None:
                raise CallerMistake(
                    f"The ledger of {self._tenant} is at {place} already. Name another place."
                )
            self._id = mark.move
            told = there.store.find(_event_id(self._id))
            events = there.store.head().position - (told is not None)
            signed = _last_signed(there)
            if told is None:
                self._tell(there, mark.source, events, _root(there, events))
            there.store.note_unfinished(None)
            return Moved(
                self._tenant, mark.source, str(place), events, 0, _root(there, events),
                _size(signed), None,
            )  # fmt: skip

    def _tell(self, written: Opened, source: str, events: int, root: str) -> None:
        happened = TenantMoved(
            move=self._id,
            events=events,
            root=root,
            pause_micros=int((self._pause or 0) * SECOND),
            source=source,
            destination=str(written.place),
        )
        _record(written, happened, _event_id(self._id), self._by)


def _record(opened: Opened, happened: Event, event_id: str, by: str) -> None:
    """Append an event of the operation of a ledger."""
    log = Log(opened.store, opened.vault, clock=system_clock, tenant=opened.tenant, finish=False)
    stream = ops_stream(log.tenant)
    event = New(happened, event_id, stream, None, log.principal(by))
    log.decide_again(lambda: log.append([event], {stream: log.version(stream)}))


def _event_id(move: str) -> str:
    """The id of the event that tells of a move is the move's: it is told once."""
    return move


def _last_signed(opened: Opened) -> Checkpoint | None:
    note = opened.signing.tiles.checkpoint()
    return None if note is None else Checkpoint.parse(note)


def _size(signed: Checkpoint | None) -> int:
    return 0 if signed is None else signed.size


def _root(opened: Opened, events: int) -> str:
    tree = Growing()
    for after in range(0, events, 5_000):
        for leaf in opened.store.leaf_hashes(after, min(after + 5_000, events)):
            tree.add(leaf)
    return tree.root.hex()


def _opened(stack: ExitStack, place: Place, settings: Settings) -> Opened:
    """A place as it is, finished or not, until the stack is left."""
    opened = open_place(place, settings, create=False, unfinished="complete")
    close_with(stack, opened)
    return opened


def _fold_views(written: Opened, settings: Settings) -> None:
    """So that nobody who asks at the new place has to wait for that."""
    core = build(
        written.place, policy=None, extractor=None, clock=system_clock, settings=settings,
        create=False, witnessed=False,
    )  # fmt: skip
    try:
        core.projector.catch_up()
    finally:
        core.recorder.close()
        core.projector.close()
        core.log.close()


def _refuse_shared(place: Place) -> None:
    """Raises `NotPermitted` where a fence would stop others, too."""
    if isinstance(place, Path):
        return
    from beliefledger.opening import postgres  # noqa: PLC0415  only where one is meant

    if postgres.has_other_tenants(place):
        raise NotPermitted(
            f"{place} shares its log with other tenants, whom a move would stop: only a log that is"
            " one tenant's alone can be moved."
        )


def _absolute(place: Place) -> Place:
    return place.resolve() if isinstance(place, Path) else place
