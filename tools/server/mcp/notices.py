"""Tells whoever asked for it that a resource changed: one follower of the log for all of them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from beliefledger.access.principal import Principal
from beliefledger.ledger.errors import LedgerError
from beliefledger.memory import MemoryLedger

logger = logging.getLogger("beliefledger.server")
MOST, MOST_OF_TOKEN, MOST_ADDRESSES = 1_000, 20, 200
"""Watchers at once, those of one token, and addresses of one watcher."""
LOOK_SECONDS = 0.5
"""So soon after a token was revoked its watchers end."""
_BATCH = 500
_EVERYTHING = ("beliefs", "history", "decisions")
_BELIEF = ("beliefs", "history")
CHANGES: Mapping[str, tuple[str, ...]] = {
    "memory.*": _BELIEF,
    "memories.consolidated.*": _BELIEF,
    "consolidation.undone.*": _BELIEF,
    "belief.contested.*": _BELIEF,
    "entity.*": _BELIEF,
    "conflict.*": _EVERYTHING,
    "gate.decided.*": ("decisions",),
    "review.decided.*": _EVERYTHING,
    "consent.*": _EVERYTHING,
    "content.erased.*": _EVERYTHING,
    "subject.erased.*": _EVERYTHING,
    "subject.imported.*": _EVERYTHING,
}
"""Which kinds of resource an event of a person may change."""
Watched = tuple[str, str]
"""The reference of a person, and a kind of resource."""


class TooMany(Exception):
    """Nothing more can be watched for now."""


@dataclass(eq=False, slots=True)
class Watcher:
    """Who watches, what, and how it is told. Both functions are called in its event loop."""

    principal: Principal
    addresses: dict[Watched, set[str]]
    tell: Callable[[str], None]
    end: Callable[[], None]
    """Called once its token is not in force any more."""
    loop: asyncio.AbstractEventLoop


class Notices:
    """The watchers of a server, and the thread that follows the log while there are any."""

    def __init__(self, memory: MemoryLedger) -> None:
        self._memory = memory
        self._lock = threading.Lock()
        self._watchers: set[Watcher] = set()
        self._thread: threading.Thread | None = None
        self._closed = False

    def room(self, principal: Principal) -> None:
        """Raises `TooMany` where a token may not watch more."""
        with self._lock:
            same = sum(each.principal.token == principal.token for each in self._watchers)
            if same >= MOST_OF_TOKEN or len(self._watchers) >= MOST:
                raise TooMany

    def add(self, watcher: Watcher) -> None:
        """Tell a watcher what changes from now on."""
        with self._lock:
            self._watchers.add(watcher)
            if self._thread is None and not self._closed:
                after = self._memory.status().position
                self._thread = threading.Thread(
                    target=self._follow, args=(after,), name="beliefledger-notices"
                )
                self._thread.start()

    def remove(self, watcher: Watcher) -> None:
        with self._lock:
            self._watchers.discard(watcher)

    def close(self) -> None:
        """End all watchers; returns once the thread has ended, which takes half a second."""
        with self._lock:
            self._closed = True
            watchers, thread = list(self._watchers), self._thread
            self._watchers.clear()
        for each in watchers:
            _in_its_loop(each, each.end)
        if thread is not None:
            thread.join()

    def _follow(self, after: int) -> None:
        with self._memory.subscribe(after, types=list(CHANGES)) as events:
            while self._wanted():
                try:
                    changed: set[Watched] = set()
                    while len(changed) < _BATCH and (event := events.look()) is not None:
                        changed |= {(event.subject_ref or "", kind) for kind in _kinds(event.type)}
                    self._tell(changed)
                    self._end_those_without_token()
                    if not changed:
                        self._memory.wait(events.position, LOOK_SECONDS)
                except LedgerError as problem:  # the next look tries again
                    logger.warning("changes cannot be followed now: %s", problem)
                    threading.Event().wait(LOOK_SECONDS)

    def _wanted(self) -> bool:
        with self._lock:
            if self._watchers and not self._closed:
                return True
            self._thread = None
            return False

    def _all(self) -> list[Watcher]:
        with self._lock:
            return list(self._watchers)

    def _tell(self, changed: set[Watched]) -> None:
        for watcher in self._all() if changed else ():
            wanted = changed & watcher.addresses.keys()
            if wanted and self._memory.tokens.in_force(watcher.principal):
                for uri in sorted({uri for each in wanted for uri in watcher.addresses[each]}):
                    _in_its_loop(watcher, lambda tell=watcher.tell, uri=uri: tell(uri))  # type: ignore[misc]

    def _end_those_without_token(self) -> None:
        for watcher in self._all():
            if not self._memory.tokens.in_force(watcher.principal):
                self.remove(watcher)
                _in_its_loop(watcher, watcher.end)


def _in_its_loop(watcher: Watcher, call: Callable[[], None]) -> None:
    try:
        watcher.loop.call_soon_threadsafe(call)
    except RuntimeError:  # the loop is closed: there is nobody left to tell
        logger.debug("a watcher is gone")


def _kinds(type_: str) -> tuple[str, ...]:
    """What an event of a type changes, by the longest pattern that fits."""
    name = type_.rsplit(".", 1)[0]
    return CHANGES.get(f"{name}.*") or CHANGES[f"{name.split('.', 1)[0]}.*"]
