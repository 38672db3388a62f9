"""Certificates of erasures, and what consumers say of them.

A certificate is built from the log and its tree whenever it is asked for: nothing of it is kept
anywhere else. docs/erasure.md says what each of its fields means.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from beliefledger.erasure import residue
from beliefledger.ledger import envelope
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.erasures import Erasure, spread
from beliefledger.ledger.errors import CallerMistake, LogCorrupted, NotPermitted, UnknownMemory
from beliefledger.ledger.events.ops import (
    ConsumerAcknowledged,
    ConsumerWrittenOff,
    MasterKeyRotated,
)
from beliefledger.ledger.log import new_id
from beliefledger.ledger.proofs.notes import Checkpoint
from beliefledger.ledger.proofs.tree import Tree
from beliefledger.ledger.store import Cursor, OwnConsumer, Row
from beliefledger.ledger.streams import consumers_stream, ops_stream
from beliefledger.ledger.times import Micros, iso, to_datetime
from beliefledger.ledger.upcast import TOLD_MORE
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.opening.place import is_server
from beliefledger.proofs.checkpoints import as_base64, handovers, shown

FORMAT = "beliefledger.certificate.v2"
INTERNAL: frozenset[str] = frozenset(OwnConsumer)
"""Consumers of the ledger's own, which keep nothing beside it."""

Certificate = dict[str, Any]


class Acknowledgement(Frozen):
    """What a consumer said of an erasure. `already` is True when it had said so before; `open` has
    the consumers that have not."""

    consumer: str
    erasure: str
    at: datetime
    already: bool
    open: tuple[str, ...]


class WrittenOff(Frozen):
    """A consumer that is not waited for any more. `already` is True when that was so before."""

    consumer: str
    at: datetime
    already: bool


def text_of(certificate: Certificate) -> str:
    """The certificate as a file: these bytes and no others are one."""
    return json.dumps(certificate, indent=2, sort_keys=True, ensure_ascii=True) + "\n"


def signed_text(certificate: Mapping[str, Any]) -> str:
    """What its signature is over: all the rest on one line, keys sorted, in ASCII."""
    rest = {name: value for name, value in certificate.items() if name != "signature"}
    return json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


class Certificates:
    """Issues certificates of erasures, and records what consumers say of them."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._log = core.log

    def issue(self, erasure: str) -> Certificate:
        """The certificate of a completed erasure, by its id or the first characters of that:
        request, receipts, proofs, what remains, and what nobody can prove. Signed, and fit for
        `text_of`. With a witness, under a checkpoint that it cosigned, if need be now.

        Raises `UnknownMemory` when there is no such erasure, `NotPermitted` while it is not
        finished, saying what is still to be done, `KeyMissing` without the signing key.
        """
        found = self._erasure(erasure)
        if found.done is None:
            raise NotPermitted(self._unfinished(found))
        self._core.recorder.flush()
        tree = self._core.signing.tree()
        before, after = self._checkpoints(tree, found)
        told = found.done
        receipts = _receipts(told)
        consumers = self._consumers(found)
        certificate: Certificate = {
            "format": FORMAT,
            "origin": tree.origin,
            "erasure": found.id,
            "subject_ref": found.subject_ref,
            "reach": found.reach,
            "of": found.of,
            "basis": found.legal_basis,
            "because": found.because,
            "requested_by": found.actor,
            "requested_at": iso(found.requested_at),
            "completed_at": iso(told.recorded_at),
            "request": self._included(tree, found.position, after.size),
            "completion": self._included(tree, told.position, after.size),
            "before": None if before is None else before.text,
            "after": after.text,
            "consistency": None
            if before is None
            else {"hashes": list(as_base64(tree.consistency(before.size, after.size)))},
            "bodies": told.facts["bodies"],
            **receipts,
            "key_fingerprints": _fingerprints(found),
            "backup_horizon": self._horizon(found),
            "consumers": consumers,
            "state": "open" if consumers["open"] else "closed",
            "remains": self._remains(found, told),
            "cannot_prove": residue.cannot_prove(
                whole=found.whole, receipts=receipts["views"] is not None, before=before is not None
            ),
            "verifier_keys": [each.vkey for each in tree.verifiers()],
            "handovers": [each.model_dump(mode="json") for each in handovers(tree, after.size)],
            "issued_at": iso(self._core.clock()),
        }
        certificate["signature"] = tree.sign(signed_text(certificate))
        return certificate

    def acknowledge(self, consumer: str, erasure: str, *, by: str = SYSTEM) -> Acknowledgement:
        """Record that a named consumer has deleted what it had of an erasure's content. Once is
        enough; said again, nothing is written.

        Raises `UnknownMemory` when there is no such erasure, `CallerMistake` when there is no such
        consumer, `NotPermitted` while the erasure is not finished: until then what goes may still
        be delivered.
        """
        found = self._erasure(erasure)
        self._cursor(consumer)
        if found.done is None:
            raise NotPermitted(self._unfinished(found))
        actor, stream = self._core.actor(by), ops_stream(self._log.tenant)

        def attempt() -> tuple[Recorded | None, bool]:
            version = self._log.version(stream)
            there = self._acknowledged(found).get(consumer)
            if there is not None:
                return there, True
            event = ConsumerAcknowledged(consumer=consumer, erasure=found.id)
            self._log.append([New(event, new_id(), stream, None, actor)], {stream: version})
            return self._acknowledged(found).get(consumer), False

        recorded, already = self._log.decide_again(attempt)
        if recorded is None:
            raise LogCorrupted(f"The acknowledgement of {consumer} is not in the log.")
        return Acknowledgement(
            consumer=consumer,
            erasure=found.id,
            at=to_datetime(recorded.recorded_at),
            already=already,
            open=tuple(self._consumers(found)["open"]),
        )

    def write_off(self, consumer: str, *, by: str) -> WrittenOff:
        """Record that a consumer is not run any more, so that no certificate waits for it. Run
        again, it is waited for again, in the certificates of later erasures.

        Raises `NotPermitted` without a named principal and while it is running, `CallerMistake`
        when there is no such consumer.
        """
        if by == SYSTEM:
            raise NotPermitted("To write off a consumer needs a named principal.")
        cursor = self._cursor(consumer)
        if cursor.held:
            raise NotPermitted(f"Consumer {consumer} is running: stop it before it is written off.")
        actor, stream = self._core.actor(by), consumers_stream(self._log.tenant)

        def attempt() -> WrittenOff:
            told = self._log.read_stream(stream)
            event = ConsumerWrittenOff(consumer=consumer, epoch=cursor.epoch)
            there = next((each for each in told if each.event == event), None)
            if there is not None:
                at, already = there.recorded_at, True
            else:
                version = told[-1].version if told else 0
                new = New(event, new_id(), stream, None, actor)
                appended = self._log.append([new], {stream: version})
                at, already = appended.recorded_at, False
            return WrittenOff(consumer=consumer, at=to_datetime(at), already=already)

        return self._log.decide_again(attempt)

    def _cursor(self, consumer: str) -> Cursor:
        """Of one of the consumers that others run."""
        known = {each.name: each for each in self._log.consumers() if each.name not in INTERNAL}
        if consumer not in known:
            raise CallerMistake(
                f"There is no consumer {consumer!r}; there are:"
                f" {', '.join(sorted(known)) or 'none'}."
            )
        return known[consumer]

    def _erasure(self, given: str) -> Erasure:
        """By its id or the first characters of it."""
        if not given:
            raise UnknownMemory("Name an erasure. List them: beliefledger erasure list.")
        found = [each for each in self._log.eraser.told() if each.id.startswith(given.lower())]
        if not found:
            raise UnknownMemory(
                f"There is no erasure {given}. List what there is: beliefledger erasure list."
            )
        if len(found) > 1:
            raise UnknownMemory(
                f"{len(found)} erasures begin with {given}: give more characters, of"
                " beliefledger erasure list."
            )
        return found[0]

    def _unfinished(self, erasure: Erasure) -> str:
        """What is still to be done."""
        log = self._log
        left = []
        if erasure.whole:
            if not log.vault.is_erased(erasure.subject_ref):
                left.append("the key is to be destroyed")
        elif erasure.id not in log.vault.register_of_erased():
            left.append("the vault is to register it")
        gone = log.eraser.destroyed(erasure).positions
        pages = (gone[start : start + 5_000] for start in range(0, len(gone), 5_000))
        bodies = sum(row.body is not None for page in pages for row in log.store.read_at(page))
        if bodies:
            left.append(f"{bodies:,} bodies are to be deleted")
        left.append("views are to be emptied and looked through, and the completion recorded")
        return (
            f"The erasure {erasure.id} is not finished, so nothing can be certified:"
            f" {'; '.join(left)}. Open the ledger again, or erase again, and it goes on."
        )

    # Proofs

    def _checkpoints(self, tree: Tree, erasure: Erasure) -> tuple[Checkpoint | None, Checkpoint]:
        """The last checkpoint before the request that was kept, if there was one, and one that has
        the completion: that a witness cosigned, or the first that was kept; it is made where there
        is none."""
        completed = erasure.done.position if erasure.done is not None else erasure.position
        kept = sorted(tree.checkpoints(), key=lambda each: each.size)
        before = [each for each in kept if 0 < each.size < erasure.position]
        after = [each for each in kept if each.size >= completed]
        found = shown(tree, self._core.witness, completed)
        if found is None:
            found = after[0] if after else tree.extend(keep=True)
        return before[-1] if before else None, found

    def _included(self, tree: Tree, position: int, size: int) -> dict[str, Any]:
        [row] = self._log.store.read_at([position])
        return {
            "position": position,
            "envelope": row.envelope.decode(),
            "hashes": list(as_base64(tree.inclusion(position, size))),
        }

    # Backups

    def _horizon(self, erasure: Erasure) -> dict[str, Any]:
        """Since when, and until when, a backup of the vault opened with the master key that the
        destroyed key was wrapped under. That key may have come back: it is out of use only from
        the last time that it was replaced on, and not at all if that was before the key that it
        wrapped was destroyed, which went on to its successor."""
        log = self._log
        done = erasure.done.position if erasure.done is not None else erasure.position
        told = erasure.done.recorded_at if erasure.done is not None else erasure.requested_at
        rotations = log.of_types((MasterKeyRotated.NAME,))
        in_force = self._core.master_key.id
        key = erasure.master_key if erasure.whole else ""
        if not key:  # of the living: the one in force then
            key = next(
                (each.facts["key"] for each in reversed(rotations) if each.position < done),
                rotations[0].facts["previous"] if rotations else in_force,
            )
        its = [each for each in rotations if key in (each.facts["key"], each.facts["previous"])]
        since = its[0].recorded_at if its and its[0].facts["key"] == key else self._beginning()
        last = its[-1] if its else None
        replaced = last is not None and last.facts["previous"] == key and last.position > done
        ended = last.recorded_at if last is not None and replaced and key != in_force else None
        return {
            "master_key": key,
            "in_force_since": _iso(since),
            "rotated_since": ended is not None,
            "rotated_at": _iso(ended),
            "text": residue.horizon(
                whole=erasure.whole,
                key=key,
                completed=iso(told),
                rotated=_iso(ended),
                in_force=key == in_force,
            ),
        }

    def _beginning(self) -> Micros | None:
        first = self._log.store.read(0, 1)
        if not first:
            return None
        return int(envelope.read(first[0].envelope, first[0].position)["recorded_at"])

    # Consumers

    def _acknowledged(self, erasure: Erasure) -> dict[str, Recorded]:
        """What each consumer said first. What was said before the erasure was complete does not
        count: until then the words may have been delivered again."""
        done = erasure.done.position if erasure.done is not None else erasure.position
        found: dict[str, Recorded] = {}
        for each in self._log.of_types((ConsumerAcknowledged.NAME,)):
            if each.facts["erasure"] == erasure.id and each.position > done:
                found.setdefault(each.facts["consumer"], each)
        return found

    def _written_off(self, erasure: Erasure, cursors: Mapping[str, Cursor]) -> dict[str, Recorded]:
        """The consumers that were given up after an erasure; or before it, and never claimed
        since."""
        done = erasure.done.position if erasure.done is not None else erasure.position
        found: dict[str, Recorded] = {}
        for each in self._log.read_stream(consumers_stream(self._log.tenant)):
            name = each.facts["consumer"]
            cursor = cursors.get(name)
            still = cursor is not None and cursor.epoch == each.facts["epoch"]
            if each.position > done or still:
                found.setdefault(name, each)
        return found

    def _consumers(self, erasure: Erasure) -> dict[str, Any]:
        """Who has acknowledged; who is written off without that; and who may have been given the
        words, which are there to be read until the erasure is complete, and has said nothing."""
        done = erasure.done.position if erasure.done is not None else erasure.position
        cursors = {each.name: each for each in self._log.consumers() if each.name not in INTERNAL}
        asked = {name for name, each in cursors.items() if each.since < done}
        said = self._acknowledged(erasure)
        off = self._written_off(erasure, cursors)
        given_up = {name: off[name] for name in (asked & off.keys()) - said.keys()}
        return {
            "acknowledged": _told(said),
            "written_off": _told(given_up),
            "open": sorted(asked - said.keys() - given_up.keys()),
        }

    # What remains

    def _remains(self, erasure: Erasure, told: Recorded) -> list[dict[str, Any]]:
        log = self._log
        counts: Counter[str] = Counter()
        for each in self._reached(erasure, told):
            counts["envelopes"] += 1
            counts[each.type] += 1
        older = sum(row.type in TOLD_MORE for row in self._rows(erasure, told))
        others = [each for each in log.eraser.told() if each.because == erasure.id]
        return residue.remains(
            whole=erasure.whole,
            envelopes=counts,
            relations=sum(each.reach == "relation" for each in others),
            older=older,
            holds=0 if erasure.whole else len(log.eraser.holds(erasure.subject_ref)),
            server=is_server(self._core.place),
        )

    def _rows(self, erasure: Erasure, told: Recorded) -> Iterator[Row]:
        """As `_reached`, as they are stored."""
        store, after = self._log.store, 0
        if not erasure.whole:
            for start in range(0, len(wanted := spread(erasure.positions)), 5_000):
                yield from store.read_at(wanted[start : start + 5_000])
            return
        while rows := store.read_subject(erasure.subject_ref, after, 5_000, told.position):
            yield from rows
            after = rows[-1].position

    def _reached(self, erasure: Erasure, told: Recorded) -> Iterator[Recorded]:
        """The events that it reached: what there was of the subject, or some positions."""
        if erasure.whole:
            yield from self._log.of_subject(erasure.subject_ref, told.position)
            return
        for first, last in erasure.positions:
            positions = range(first, last + 1)
            for start in range(0, len(positions), 5_000):
                yield from self._log.read_at(positions[start : start + 5_000]).values()


def _told(said: Mapping[str, Recorded]) -> list[dict[str, Any]]:
    """By consumer, what was recorded, when and by whom."""
    return [
        {"consumer": name, "position": each.position, "at": iso(each.recorded_at), "by": each.actor}
        for name, each in sorted(said.items())
    ]


def _receipts(told: Recorded) -> dict[str, Any]:
    """What the completion says of itself; the first versions did not."""
    facts = told.facts
    known = bool(facts["request"])
    return {
        name: facts[name] if known else None for name in ("counts", "commitment", "views", "probes")
    }


def _fingerprints(erasure: Erasure) -> list[str]:
    if not erasure.whole or erasure.done is None:
        return []
    told = erasure.done.facts["key_fingerprint"]
    return [told] if told else []


def _iso(moment: Micros | None) -> str | None:
    return None if moment is None else iso(moment)
