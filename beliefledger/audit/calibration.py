"""Stated confidence against what became of each memory: reliability, Brier score, ECE, and a map.

What a memory is compared by is the confidence that it was first written with, in quarantine too,
and the last word that was said about it since:

  right    confirmed    a later turn that counted said it again, or lifted it out of quarantine
           approved     a reviewer let it in
           chosen       a resolution chose its value while it held
  wrong    corrected    superseded by a correction: it was never so
           revoked      an actor took it back
           refused      a reviewer did not let it in (no memory then, but compared all the same)

A change says nothing: the old value may have been true until then, but nobody said so. Nor do an
expiry, a withdrawn consent, a retention period or an erasure: they end a memory whatever it is
worth. What nobody has said a word about is unknown, left out and counted. What a resolution wrote
is a person's word, not an estimate, and left out too. What was said of a merged memory was said of
each that went into it.

Confidences stand in bodies, so what is erased counts no more. (What an older version wrote has some
in envelopes; it is read the same.) Whether a resolution chose a memory compares words, too.
"""

# Heavy imports stand in the functions, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from beliefledger.gate.belief import folded
from beliefledger.gate.confidence import Knots, calibrated, score
from beliefledger.gate.policy import Policy, millionths
from beliefledger.gate.registry import Registry
from beliefledger.gate.rulebook import Rulebook
from beliefledger.gate.slots import canonical_value
from beliefledger.ledger.candidate import MILLION, Frozen
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import CallerMistake
from beliefledger.ledger.events.belief import (
    ConflictResolved,
    ConsolidationUndone,
    MemoriesConsolidated,
    MemoryAdmitted,
    MemoryConfirmed,
    MemoryQuarantined,
    MemoryRevoked,
    MemorySuperseded,
    Written,
)
from beliefledger.ledger.events.policy import PolicyAdopted
from beliefledger.ledger.events.turn import GateDecided, ReviewDecided
from beliefledger.ledger.log import Log
from beliefledger.ledger.vault import SYSTEM
from beliefledger.times import Progress

RIGHT = ("confirmed", "approved", "chosen")
WRONG = ("corrected", "revoked", "refused")
NEEDED = 30
"""With fewer known outcomes a map would follow noise."""
OF_EACH = 20
"""With fewer that turned out right, or wrong, a map would learn how the other one looks."""
KNOTS = 8
FOLDS = 5
BINS = 10
_Z = 1.959963984540054  # the normal quantile of .975
_WRITTEN = {MemoryAdmitted.NAME, MemorySuperseded.NAME, MemoryQuarantined.NAME}
_TYPES = frozenset(
    {
        kind.NAME
        for kind in (
            ConflictResolved,
            ConsolidationUndone,
            GateDecided,
            MemoriesConsolidated,
            MemoryConfirmed,
            MemoryRevoked,
            PolicyAdopted,
            ReviewDecided,
        )
    }
    | _WRITTEN
)
EXTRA = "Install the extra: pip install 'beliefledger[calibration]'."


class NotCalibrated(CallerMistake):
    """There is no map to adopt or to draw. See what `beliefledger audit calibrate` says."""


class Bin(Frozen):
    """The memories stated with a confidence in [low, high), in the last one up to 1 inclusive.

    `stated` is their mean confidence, `observed` how many of them were right, `at_least` and
    `at_most` its 95 % interval.
    """

    low: float
    high: float
    count: int
    stated: float
    observed: float
    at_least: float
    at_most: float


class CalibrationAnswer(Frozen):
    """How far stated confidence can be trusted, and the map that would make it better.

    `brier` and `ece` are of the confidences as they were stated. `score_brier` and `score_ece` are
    of the formula before any map, over the `scored` memories that it alone rates; `map_brier` and
    `map_ece` of the same under `map`, each memory by a map that was made without it. `map` holds
    pairs of (formula's confidence, observed frequency), None where `why` says why.
    """

    position: int
    memories: int
    unknown: int
    outcomes: dict[str, int]
    right: int
    wrong: int
    bins: tuple[Bin, ...]
    brier: float | None
    ece: float | None
    scored: int
    score_brier: float | None
    score_ece: float | None
    map: tuple[tuple[float, float], ...] | None
    map_brier: float | None
    map_ece: float | None
    why: str | None
    adopted: tuple[tuple[float, float], ...]
    """The calibration of the policy in force."""


@dataclass(slots=True)
class Stated:
    """What one memory was first written with, in millionths, and the last word about it.

    `score` is the formula's confidence before a policy's map, None where that is not what counted:
    a caller chose the confidence, or the cap did.
    """

    confidence: int
    capped: bool
    knots: Knots
    score: int | None = None
    outcome: str | None = None

    def rate(self, s: int, e: int, t: int) -> None:
        formula = score(s, e, t, 1).c
        if not self.capped and calibrated(formula, self.knots) == self.confidence:
            self.score = formula


class Outcomes:
    """The fold over the log. `stated` has each memory, and each refused decision, by its id."""

    def __init__(self, log: Log, registry: Registry) -> None:
        self._log = log
        self._registry = registry
        self.stated: dict[str, Stated] = {}
        self._knots: Knots = ()
        self._scores: dict[str, tuple[int, int, int, int]] = {}
        """s, e, t and c of the decisions that will write something, or wait for a person."""
        self._resolutions: set[str] = set()
        self._merged: dict[str, tuple[str, ...]] = {}

    def apply(self, recorded: Recorded) -> None:
        facts = recorded.facts
        match recorded.type:
            case PolicyAdopted.NAME:
                if isinstance(recorded.event, PolicyAdopted):
                    self._knots = Policy.model_validate(recorded.event.policy).knots
            case GateDecided.NAME if facts["outcome"] in {
                "admit", "supersede", "quarantine", "queue",
            }:  # fmt: skip
                decided = recorded.event
                if isinstance(decided, GateDecided):  # scores are erased with the words
                    rated = (decided.s, decided.e, decided.t, decided.c)
                    self._scores[recorded.event_id] = rated
            case MemoryConfirmed.NAME if facts["counted"]:
                self._said(facts["memory_id"], "confirmed")
            case MemoryRevoked.NAME if facts["cause"] == "actor":
                self._said(facts["memory_id"], "revoked")
            case ReviewDecided.NAME if recorded.actor != SYSTEM:  # else the person took it back
                self._reviewed(facts)
            case ConflictResolved.NAME:
                self._resolutions.add(recorded.event_id)
                for memory in self._chosen(recorded):
                    self._said(memory, "chosen")
            case MemoriesConsolidated.NAME:
                self._merged[facts["memory_id"]] = tuple(facts["originals"])
            case ConsolidationUndone.NAME:
                self._merged.pop(facts["memory_id"], None)
            case name if name in _WRITTEN:
                self._written(recorded)

    def _written(self, recorded: Recorded) -> None:
        facts = recorded.facts
        memory, decision = facts["memory_id"], facts["decision"]
        if recorded.type == MemorySuperseded.NAME and facts["kind"] == "correction":
            self._said(facts["supersedes"], "corrected")
        rated = self._scores.pop(decision, None)
        if facts.get("promotes") is not None:
            self._said(facts["promotes"], "confirmed")
        elif decision not in self._resolutions and memory not in self.stated:
            if not isinstance(recorded.event, Written):
                return  # what it stated is erased
            capped = facts.get("capped", False)
            stated = Stated(recorded.event.confidence, capped, self._knots)
            if rated is not None:
                stated.rate(*rated[:3])
            self.stated[memory] = stated

    def _reviewed(self, facts: dict[str, Any]) -> None:
        rated = self._scores.pop(facts["decision"], None)
        memory = facts["memory"]
        if not facts["approved"]:
            if rated is not None:
                refused = self.stated[facts["decision"]] = Stated(
                    rated[3], capped=False, knots=self._knots
                )
                refused.rate(*rated[:3])
                refused.outcome = "refused"
        elif memory in self.stated:
            if rated is not None and self.stated[memory].outcome is None:
                self.stated[memory].rate(*rated[:3])
            self._said(memory, "approved")

    def _said(self, memory: str, outcome: str) -> None:
        for each in self._merged.get(memory, ()):
            self._said(each, outcome)
        if memory in self.stated:
            self.stated[memory].outcome = outcome

    def _chosen(self, recorded: Recorded) -> list[str]:
        """The memories whose value a resolution chose, as far as words are left."""
        new = recorded.facts["memories"]
        events = self._log.read_stream(recorded.stream, upto=recorded.version + len(new))
        values = {
            canonical_value(
                written.memory.value,
                negated=written.memory.negated,
                kind=self._registry.types.get(written.type),
            )
            for each in events[recorded.version :]
            if isinstance(written := each.event, Written) and written.memory_id in new
        }
        before = folded(events[: recorded.version - 1], self._registry)
        return [
            held.memory_id
            for held in (*before.current, *before.quarantined)
            if held.value in values
        ]


Pair = tuple[int, bool]
"""A confidence in millionths, and whether it was right."""


class Calibration:
    """Compares, and draws the map."""

    def __init__(self, log: Log, rulebook: Rulebook) -> None:
        self._log = log
        self._rulebook = rulebook

    def answer(self, progress: Progress | None = None, *, draw: bool = True) -> CalibrationAnswer:
        """Without the extra `calibration`, or without `draw`, there is no map; `why` says so."""
        rules = self._rulebook.refreshed()
        head = self._log.head().position
        fold = Outcomes(self._log, rules.registry)
        for reached, events in self._log.wanted(_TYPES, 0, head):
            for each in events:
                fold.apply(each)
            if progress:
                progress(reached, head)
        known = [each for each in fold.stated.values() if each.outcome is not None]
        counts = {name: sum(each.outcome == name for each in known) for name in (*RIGHT, *WRONG)}
        pairs = [(each.confidence, each.outcome in RIGHT) for each in known]
        scored = [(each.score, each.outcome in RIGHT) for each in known if each.score is not None]
        knots, why = _map(scored) if draw else (None, "It was not asked for.")
        mapped = _cross_validated(scored) if knots else []
        return CalibrationAnswer(
            position=head,
            memories=len(fold.stated),
            unknown=len(fold.stated) - len(known),
            outcomes=counts,
            right=sum(counts[name] for name in RIGHT),
            wrong=sum(counts[name] for name in WRONG),
            bins=reliability(pairs),
            brier=brier(pairs),
            ece=ece(pairs),
            scored=len(scored),
            score_brier=brier(scored),
            score_ece=ece(scored),
            map=None if knots is None else _floats(knots),
            map_brier=brier(mapped),
            map_ece=ece(mapped),
            why=why,
            adopted=_floats(rules.policy.knots),
        )

    def policy(self, answer: CalibrationAnswer) -> Policy:
        """The policy in force with the answer's map. Raises `NotCalibrated` where there is none.

        The map takes the place of one that is there: it is made from the formula's confidence, not
        from what the map before made of that, so that nothing is mapped twice.
        """
        if answer.map is None:
            raise NotCalibrated(answer.why or "")
        fields = self._rulebook.refreshed().policy.model_dump(mode="json")
        return Policy.model_validate({**fields, "calibration": answer.map})


def reliability(pairs: Sequence[Pair]) -> tuple[Bin, ...]:
    """Ten bins of equal width, those without a memory left out."""
    held: list[list[Pair]] = [[] for _ in range(BINS)]
    for stated, right in pairs:
        held[min(stated * BINS // MILLION, BINS - 1)].append((stated, right))
    bins = []
    for index, each in enumerate(held):
        if each:
            count = sum(was for _, was in each)
            low, high = wilson(count, len(each))
            bins.append(
                Bin(
                    low=index / BINS,
                    high=(index + 1) / BINS,
                    count=len(each),
                    stated=round(sum(stated for stated, _ in each) / len(each) / MILLION, 4),
                    observed=round(count / len(each), 4),
                    at_least=round(low, 4),
                    at_most=round(high, 4),
                )
            )
    return tuple(bins)


def wilson(right: int, of: int) -> tuple[float, float]:
    """The 95 % score interval of a frequency (Wilson, J. Am. Stat. Assoc. 22, 1927):
    (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)."""
    p, z2 = right / of, _Z * _Z
    middle = p + z2 / (2 * of)
    half = _Z * math.sqrt(p * (1 - p) / of + z2 / (4 * of * of))
    whole = 1 + z2 / of
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


def brier(pairs: Sequence[Pair]) -> float | None:
    """The mean of (confidence − outcome)², outcome 1 or 0 (Brier, Mon. Weather Rev. 78, 1950): 0 is
    best, .25 is what always saying .5 gets."""
    if not pairs:
        return None
    return round(sum((c / MILLION - right) ** 2 for c, right in pairs) / len(pairs), 4)


def ece(pairs: Sequence[Pair]) -> float | None:
    """Expected calibration error: Σ over the bins of n/N · |observed − stated| (Naeini, Cooper and
    Hauskrecht, AAAI 2015), with ten bins of equal width."""
    if not pairs:
        return None
    gaps = (each.count * abs(each.observed - each.stated) for each in reliability(pairs))
    return round(sum(gaps) / len(pairs), 4)


def _map(pairs: Sequence[Pair]) -> tuple[Knots | None, str | None]:
    """The knots, or why there are none."""
    if len(pairs) < NEEDED:
        return None, (
            f"The outcome of {len(pairs)} memories that the formula rated is known; with fewer than"
            f" {NEEDED}, a map would follow noise, so there is none."
        )
    right = sum(was for _, was in pairs)
    wrong = len(pairs) - right
    if min(right, wrong) < OF_EACH:
        return None, (
            f"Of the memories that the formula rated, {right} turned out right and {wrong} wrong;"
            f" with fewer than {OF_EACH} of either, a map would follow noise, so there is none."
        )
    if len({stated for stated, _ in pairs}) < 2:
        return None, "All were rated the same, so there is nothing to draw a map between."
    try:
        return isotonic(pairs), None
    except NotCalibrated as missing:
        return None, missing.detail


def isotonic(pairs: Sequence[Pair]) -> Knots:
    """The rising step map of least squared error (Zadrozny and Elkan, KDD 2002), as a few knots in
    millionths.

    It never says quite 0 or 1: no more than the rule of succession would after so many outcomes.
    Raises `NotCalibrated` without scikit-learn.
    """
    try:
        from sklearn.isotonic import IsotonicRegression
    except ImportError:
        raise NotCalibrated(f"A map needs scikit-learn. {EXTRA}") from None
    edge = 1 / (len(pairs) + 2)
    fitted = IsotonicRegression(y_min=edge, y_max=1 - edge, out_of_bounds="clip").fit(
        [stated / MILLION for stated, _ in pairs], [float(right) for _, right in pairs]
    )
    knots = [
        (millionths(float(x)), millionths(float(y)))
        for x, y in zip(fitted.X_thresholds_, fitted.y_thresholds_, strict=True)
    ]
    return simplified(knots, [stated for stated, _ in pairs])


def simplified(knots: Knots, stated: Sequence[int], most: int = KNOTS) -> Knots:
    """The map with at most so many knots: each time, the inner one goes without which the map is
    least changed at the confidences that were stated."""
    left = list(knots)
    while len(left) > most:
        changes = [
            sum(
                abs(calibrated(c, left) - calibrated(c, left[:at] + left[at + 1 :]))
                for c in stated
                if left[at - 1][0] < c < left[at + 1][0]
            )
            for at in range(1, len(left) - 1)
        ]
        del left[1 + changes.index(min(changes))]
    return tuple(left)


def _cross_validated(pairs: Sequence[Pair]) -> list[Pair]:
    """Each confidence under a map that was made from the other four fifths."""
    mapped: list[Pair] = []
    for fold in range(FOLDS):
        others = [pair for at, pair in enumerate(pairs) if at % FOLDS != fold]
        if len({stated for stated, _ in others}) < 2:
            return []
        knots = isotonic(others)
        mapped += [(calibrated(c, knots), right) for c, right in pairs[fold::FOLDS]]
    return mapped


def _floats(knots: Knots) -> tuple[tuple[float, float], ...]:
    return tuple((x / MILLION, y / MILLION) for x, y in knots)


def plot(answer: CalibrationAnswer, file: Path) -> None:
    """The reliability diagram, as PNG or SVG by the file's name. Raises `NotCalibrated` without
    outcomes or matplotlib, `CallerMistake` for another kind of file."""
    if file.suffix.lower() not in {".png", ".svg"}:
        raise CallerMistake(f"{file.name}: a plot is a .png or an .svg.")
    if not answer.bins:
        raise NotCalibrated("No memory's outcome is known, so there is nothing to draw.")
    try:
        from matplotlib.figure import Figure  # draws with Agg, never on a screen
    except ImportError:
        raise NotCalibrated(f"A plot needs matplotlib. {EXTRA}") from None
    figure = Figure(figsize=(6, 6), layout="constrained")
    whole, below = figure.subplots(2, height_ratios=(4, 1), sharex=True)
    stated = [each.stated for each in answer.bins]
    observed = [each.observed for each in answer.bins]
    errors = [
        [max(0.0, each.observed - each.at_least) for each in answer.bins],
        [max(0.0, each.at_most - each.observed) for each in answer.bins],
    ]
    whole.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="perfect")
    whole.errorbar(stated, observed, yerr=errors, fmt="o-", capsize=3, label="as stated")
    if answer.map:
        xs, ys = zip(*answer.map, strict=True)
        least = min(xs[0], ys[0])  # what is weaker than all that was judged is not lifted
        whole.plot([0, least, *xs, 1], [0, least, *ys, ys[-1]], label="map of the formula")
    whole.set(ylabel="observed frequency", xlim=(0, 1), ylim=(0, 1))
    known = answer.right + answer.wrong
    whole.set_title(f"{known:,} memories, Brier {answer.brier:.3f}, ECE {answer.ece:.3f}")
    whole.legend(loc="upper left")
    below.bar(
        [each.low for each in answer.bins],
        [each.count for each in answer.bins],
        width=1 / BINS,
        align="edge",
        edgecolor="white",
    )
    below.set(xlabel="stated confidence", ylabel="memories")
    figure.savefig(file, dpi=150)
