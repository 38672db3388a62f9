"""What an erasure reaches: the bodies that go, what depends on them, and what stays.

The rules are in `tools.closure`, which knows one subject's events alone and is pure; here they are
given what they need of the log, the policy in force and, for other people's relations to somebody,
the views.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypedDict

from beliefledger.erasure.affected import Dependent, Reached, Remains
from beliefledger.erasure.named import Named, named
from beliefledger.erasure.rules import Closure
from beliefledger.gate.policy import Policy
from beliefledger.ledger import envelope, secret_filter
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.erasures import SUBJECT
from beliefledger.ledger.errors import NotPermitted, UnknownMemory
from beliefledger.ledger.gc_pause import gc_paused
from beliefledger.ledger.log import PAGE
from beliefledger.ledger.streams import session_tag
from beliefledger.ledger.times import Micros
from beliefledger.ledger.upcast import current_name
from beliefledger.ledger.vault import ERASED
from beliefledger.opening.core import Core
from beliefledger.projections import graph
from beliefledger.reading.entities import EntityQueries
from beliefledger.reading.queries import Queries
from beliefledger.reading.subject_record import Envelope, may_be_due

_FIRST = 50
"""So many envelopes are read at first."""

__all__ = ["AskedErasure", "Dependent", "Due", "Reached", "Remains", "Scope"]


class Due(TypedDict, total=False):
    """What `erase` is asked for by policy."""

    withdrawals: Sequence[str]
    retention: bool
    revoked: bool


@dataclass(frozen=True, slots=True)
class AskedErasure:
    """What of a subject is to be forgotten: all that there is, or one of these.

    Raises `NotPermitted` for more than one.
    """

    memory: str | None = None
    turn: str | None = None
    session: str | None = None
    retention: bool = False
    revoked: bool = False
    withdrawals: Sequence[str] | None = None
    """Those that consent was withdrawn by: event ids."""
    known_as: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        memory: Named,
        turn: Named,
        session: Named,
        retention: bool,
        revoked: bool,
        withdrawals: Sequence[str] | None,
        known_as: Sequence[str],
    ) -> AskedErasure:
        """From the arguments of `erase`. Raises `InvalidQuery` for one that is named and None."""
        return cls(
            named("memory", memory),
            named("turn", turn),
            named("session", session),
            retention,
            revoked,
            withdrawals,
            known_as,
        )

    def __post_init__(self) -> None:
        if len(self._less()) > 1:
            raise NotPermitted("Erase one thing at a time: a memory, a turn, a session, or more.")

    @property
    def reach(self) -> str:
        return next(iter(self._less()), SUBJECT)

    def _less(self) -> list[str]:
        """The reaches of what is asked for that is less than a subject."""
        asked = {
            "memory": self.memory is not None,
            "turn": self.turn is not None,
            "session": self.session is not None,
            "retention": self.retention,
            "revoked": self.revoked,
            "withdrawn": self.withdrawals is not None,
        }
        return [name for name, given in asked.items() if given]


class Scope:
    """Tells what would go, as of now. Nothing is written."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._read: dict[str, Closure] = {}

    def trail(self, subject_ref: str) -> Closure:
        """All that the log has of a subject, and which of its bodies were erased before."""
        register = self._log.vault.register_of_erased(subject_ref)
        erased = frozenset[str]().union(*(ids for _, ids in register.values()))
        made = Closure(subject_ref, self._log.of_subject(subject_ref), erased)
        self._read[subject_ref] = made
        return made

    def streams(self, subject_ref: str, positions: Collection[int]) -> dict[str, int]:
        """Where the events at these positions were found, and at which versions: whoever writes
        there may have changed what is reached."""
        read = self._read.get(subject_ref)
        return {} if read is None else read.streams(positions)

    def asked(self, subject_ref: str, asked: AskedErasure, now: Micros) -> Reached:
        """What is asked for. Raises `UnknownMemory` for what there is not."""
        if asked.memory is not None:
            return self.memory(subject_ref, self._queries.memory_id(asked.memory))
        if asked.turn is not None:
            return self.turn(subject_ref, asked.turn)
        if asked.session is not None:
            return self.session(subject_ref, asked.session)
        if asked.withdrawals is not None:
            return self.withdrawn(subject_ref, asked.withdrawals)
        if asked.retention:
            return self.retention(subject_ref, now)
        if asked.revoked:
            return self.revoked(subject_ref, now)
        return self.subject(subject_ref, asked.known_as)

    # Of somebody who goes

    @gc_paused()
    def subject(self, subject_ref: str, known_as: Sequence[str] = ()) -> Reached:
        """All of a subject, and in others' records the relations that end at them.

        Others speak of somebody by names. Theirs are compared with the subject's id and the names
        that they are `known_as`; who is called otherwise is not found.
        """
        real_id = self._log.vault.real_id(subject_ref)
        names = [name for name in (real_id, *known_as) if name and name.strip()]
        others = tuple(self._relations(subject_ref, names)) if names else ()
        return replace(self.trail(subject_ref).whole(), others=others)

    def _relations(self, subject_ref: str, names: Sequence[str]) -> Iterator[Reached]:
        """What is reached in each other living subject's record, by who has the names there."""
        for other, entities in self._called(subject_ref, names).items():
            reached = self.trail(other).relation(entities)
            if reached.positions:
                yield reached

    def others(self, subject_ref: str, names: Sequence[str]) -> list[Reached]:
        """In others' records the relations that end at somebody, also once they are erased."""
        return list(self._relations(subject_ref, [name for name in names if name.strip()]))

    def named_since(self, position: int) -> bool:
        """Whether anybody was named after a position, in anybody's record."""
        with EntityQueries(self._core, self._queries).views() as (connection, at):
            return graph.named_since(connection, at, position)

    def _called(self, subject_ref: str, names: Sequence[str]) -> dict[str, set[str]]:
        """By other subject, the entities at the far end of their relations that have one of these
        names, and those that became part of them."""
        found: dict[str, set[str]] = {}
        wanted: dict[str, set[str | None]] = {}
        with EntityQueries(self._core, self._queries).views() as (connection, at):
            for other, entity_id, name_tag in graph.far_ends(connection, at):
                if other == subject_ref:
                    continue
                if other not in wanted:
                    wanted[other] = {self._core.tagger(other, "entity", name) for name in names}
                if name_tag in wanted[other] - {None}:
                    found.setdefault(other, set()).add(entity_id)
            for other, entities in found.items():
                known = graph.directory(connection, at, other).entities
                entities |= {row.entity_id for row in known.values() if row.merged_into in entities}
        return found

    # Of somebody who stays

    @gc_paused()
    def memory(self, subject_ref: str, memory_id: str) -> Reached:
        """A memory, by its id or the first characters of it. Raises `UnknownMemory`."""
        trail = self.trail(subject_ref)
        return trail.memory(_only(trail.memory_ids(), "memory", memory_id))

    @gc_paused()
    def turn(self, subject_ref: str, turn_id: str) -> Reached:
        """A turn, by its id or the first characters of it. Raises `UnknownMemory`."""
        trail = self.trail(subject_ref)
        return trail.turn(_only(trail.turn_ids(), "turn", turn_id))

    @gc_paused()
    def session(self, subject_ref: str, session_name: str) -> Reached:
        """A session, by its name; "" for what was said in none. Raises `UnknownMemory`."""
        keys = self._log.keys(subject_ref)
        if keys is None:
            raise NotPermitted(ERASED)
        trail = self.trail(subject_ref)
        # As it is kept, or as it was given before names were cleaned.
        either = secret_filter.session_name(keys.ids, session_name), session_name
        tags = [session_tag(keys.ids, each) for each in either]
        tag = next((each for each in tags if each in trail.sessions()), None)
        if tag is None:
            raise UnknownMemory(
                f"This subject has no session {session_name!r} any words of which are left."
            )
        return trail.session(tag)

    @gc_paused()
    def retention(self, subject_ref: str, now: Micros) -> Reached:
        """What is older than the policy in force keeps what is of its category."""
        return self.trail(subject_ref).retention(self._policy.retention, now)

    @gc_paused()
    def revoked(self, subject_ref: str, now: Micros) -> Reached:
        """Memories revoked longer ago than the policy's grace; those that consent was withdrawn
        for at once, where the policy says so."""
        policy = self._policy
        return self.trail(subject_ref).revoked(
            policy.revoked_grace, now, at_once=policy.erase_on_withdrawal
        )

    @gc_paused()
    def withdrawn(self, subject_ref: str, withdrawals: Collection[str]) -> Reached:
        """The memories that these withdrawals of consent (event ids) revoked."""
        return self.trail(subject_ref).withdrawn(withdrawals)

    @gc_paused()
    def due(self, subject_ref: str, now: Micros) -> list[Due]:
        """What is to be erased of a subject by now under the policy in force: arguments of
        `erase`."""
        policy, due = self._policy, list[Due]()
        if not self._may_be_due(subject_ref, now):
            return due
        trail = self.trail(subject_ref)
        withdrawals = trail.withdrawals() if policy.erase_on_withdrawal else []
        if withdrawals:
            due.append({"withdrawals": withdrawals})
        if trail.retention(policy.retention, now).positions:
            due.append({"retention": True})
        if trail.revoked(policy.revoked_grace, now, at_once=False).positions:
            due.append({"revoked": True})
        return due

    def _may_be_due(self, subject_ref: str, now: Micros) -> bool:
        """Whether a subject's envelopes leave open that anything is due: no key is opened, and
        mostly the first ones tell."""
        policy = self._policy
        shortest = min(policy.retention.values(), default=None)
        return may_be_due(
            self._envelopes(subject_ref),
            aged=None if shortest is None else now - shortest,
            revoked=None if policy.revoked_grace is None else now - policy.revoked_grace,
            withdrawn=policy.erase_on_withdrawal,
        )

    def _envelopes(self, subject_ref: str) -> Iterator[Envelope]:
        """Of a subject's events, a few at first: what is said of them without their bodies."""
        after, size = 0, _FIRST
        while rows := self._log.store.read_subject(subject_ref, after, size):
            for row in rows:
                fields = envelope.read(row.envelope, row.position)
                yield Envelope(
                    current_name(fields["type"]),
                    fields["recorded_at"],
                    fields["facts"],
                    row.body is not None,
                )
            after, size = rows[-1].position, PAGE

    def derived(self, subject_ref: str, positions: Collection[int], after: int) -> list[int]:
        """Where there are bodies past a position that were made from what was at these."""
        if not self._has_bodies(subject_ref, after):
            return []
        return self.trail(subject_ref).derived(positions, after)

    def _has_bodies(self, subject_ref: str, after: int) -> bool:
        """Whether anything that a subject has past a position has a body. An erasure's own events
        have none."""
        while rows := self._log.store.read_subject(subject_ref, after, PAGE):
            if any(row.body is not None for row in rows):
                return True
            after = rows[-1].position
        return False

    def said_since(self, subject_ref: str, session: str, upto: int) -> list[int]:
        """What there is of a session, by its tag, up to a position."""
        return [each for each in self.trail(subject_ref).session(session).positions if each < upto]

    @property
    def _policy(self) -> Policy:
        return self._core.rulebook.refreshed().policy


def _only(ids: Collection[str], what: str, given: str) -> str:
    found = [each for each in ids if each.startswith(given)] if given.strip() else []
    if given in found:
        return given
    if not found:
        raise UnknownMemory(f"This subject has no {what} {given!r} any words of which are left.")
    if len(found) > 1:
        raise UnknownMemory(f"More than one {what} begins with {given!r}; write more of it.")
    return found[0]
