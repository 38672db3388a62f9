"""Folds of subjects, beliefs and directories, kept between drafts."""

from __future__ import annotations

from collections.abc import Iterable

from beliefledger.gate import consent as consents
from beliefledger.gate import entities
from beliefledger.gate.belief import Belief, folded
from beliefledger.gate.consent import Consent, Runs
from beliefledger.gate.entities import Directory
from beliefledger.gate.lanes import Lanes
from beliefledger.gate.rulebook import Rules
from beliefledger.gate.shown_memories import Shown
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.log import Log
from beliefledger.ledger.streams import recall_stream


class Memo:
    """Folds kept between drafts. They may be stale: an append that relied on a stale one conflicts,
    and the memo is cleared. Code that may refuse without appending calls `forget` first.

    What is being erased is left out of every fold, though its bodies may still be there. A draft
    reads the subject's consent before their beliefs, so that it relies on what is going.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._erasures = 0
        self._going: dict[str, tuple[tuple[str, Runs], ...]] = {}
        """What was being erased of each subject when their beliefs were read."""
        self._consents: dict[str, Consent] = {}
        self._beliefs: dict[str, Belief] = {}
        self._directories: dict[str, Directory] = {}
        self._shown: dict[str, Shown] = {}
        self.lanes = Lanes(log)

    LIMIT = 50_000

    def consent(self, subject_ref: str) -> Consent:
        if subject_ref not in self._consents:
            consent = consents.folded(self._log.read_stream(subject_ref))
            self._consents[subject_ref] = consent
            if consent.going != self._going.get(subject_ref, ()):
                self._going[subject_ref] = consent.going
                self._beliefs.clear()
                self._directories.clear()
        return self._consents[subject_ref]

    def read(self, stream: str) -> list[Recorded]:
        """The events of a stream, with those that are being erased shown as erased."""
        return self._left(self._log.read_stream(stream))

    def _left(self, recorded: list[Recorded]) -> list[Recorded]:
        whose = next((each.subject_ref for each in recorded), None)
        return recorded if whose is None else self.consent(whose).left(recorded)

    def read_ahead(self, streams: Iterable[str], rules: Rules) -> None:
        """Read the beliefs that will be asked for, all at once."""
        unknown = [each for each in dict.fromkeys(streams) if each not in self._beliefs]
        if len(unknown) > 1:  # one alone is read when it is asked for
            for stream, recorded in self._log.read_streams(unknown).items():
                self._beliefs[stream] = folded(self._left(recorded), rules.registry)

    def belief(self, stream: str, rules: Rules) -> Belief:
        if stream not in self._beliefs:
            self._beliefs[stream] = folded(self.read(stream), rules.registry)
        return self._beliefs[stream]

    def directory(self, stream: str) -> Directory:
        if stream not in self._directories:
            self._directories[stream] = entities.folded(self.read(stream))
        return self._directories[stream]

    def shown(self, subject_ref: str) -> Shown:
        """What the subject was shown, up to now. No decision depends on its version, so it is only
        read on."""
        stream = recall_stream(subject_ref)
        known = self._shown.get(subject_ref, Shown())
        self._shown[subject_ref] = known.then(self._log.read_stream(stream, known.version))
        return self._shown[subject_ref]

    def keep(self, beliefs: dict[str, Belief], directories: dict[str, Directory]) -> None:
        if len(self._beliefs) > self.LIMIT:
            self._beliefs.clear()
        self._beliefs.update(beliefs)
        if len(self._directories) > self.LIMIT:
            self._directories.clear()
        self._directories.update(directories)
        if len(self._shown) > self.LIMIT:
            self._shown.clear()

    def forget(self, *streams: str) -> None:
        """Read these subjects, beliefs and directories anew."""
        for stream in streams:
            self._consents.pop(stream, None)
            self._beliefs.pop(stream, None)
            self._directories.pop(stream, None)

    def refresh(self) -> bool:
        """Drop all folds if anything was erased since they were made, and tell whether it was."""
        erasures = self._log.erasures
        if erasures == self._erasures:
            return False
        self._erasures = erasures
        self.clear()
        return True

    def clear(self) -> None:
        self._consents.clear()
        self._beliefs.clear()
        self._directories.clear()
        self._shown.clear()
        self.lanes.clear()
