"""What each line of the checklists looks at: a function for each, named as in `checklist.yaml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

from sqlalchemy import or_, select

from beliefledger.audit.calibration import NEEDED, Calibration
from beliefledger.audit.tally import TYPES, LogReading
from beliefledger.gate.belief import folded
from beliefledger.gate.consent import DEFAULT_GRANT, ORDINARY
from beliefledger.gate.replay import Verdict
from beliefledger.gate.rulebook import Rules
from beliefledger.ledger import envelope
from beliefledger.ledger.candidate import MILLION
from beliefledger.ledger.events.belief import Written
from beliefledger.ledger.events.ops import BACKUP
from beliefledger.ledger.events.turn import CandidateProposed, TurnRecorded
from beliefledger.ledger.redact import redact
from beliefledger.ledger.store import lag
from beliefledger.ledger.times import DAY, Micros, iso
from beliefledger.ledger.verify import verify
from beliefledger.opening.core import Core
from beliefledger.opening.place import KEY_FILE
from beliefledger.projections import questions, tables, turn_questions
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.projections.churn import ChurnView
from beliefledger.projections.decisions import DecisionsView
from beliefledger.projections.turns import TurnsView
from beliefledger.reading.conflicts import is_contested
from beliefledger.reading.queries import Queries
from beliefledger.reading.views import Views
from beliefledger.settings import Settings

T = TypeVar("T")

SAMPLE = 200
ECE_LIMIT = 0.1
_WEEK = 7 * DAY


class Finding(NamedTuple):
    """What a line came to; None is "not applicable"."""

    answer: bool | None
    evidence: str
    offending: str | None = None


def yes(evidence: str) -> Finding:
    return Finding(answer=True, evidence=evidence)


def no(evidence: str, offending: str | None = None) -> Finding:
    return Finding(answer=False, evidence=evidence, offending=offending)


class Checks:
    """The lines. `deep` looks at everything where else a sample has to do."""

    def __init__(self, core: Core, queries: Queries, views: Views, *, deep: bool) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._views = views
        self._place = core.place
        self.deep = deep

    # What the lines look at

    @cached_property
    def head(self) -> int:
        return self._log.head().position

    @cached_property
    def _now(self) -> Micros:
        return self._queries.now()

    @cached_property
    def _rules(self) -> Rules:
        return self._core.rulebook.refreshed()

    @cached_property
    def _seen(self) -> LogReading:
        seen = LogReading()
        for _, events in self._log.wanted(TYPES, 0, self.head):
            for each in events:
                seen.apply(each)
        return seen

    @cached_property
    def _standing(self) -> list[Version]:
        """What holds now, in quarantine too."""
        with self._queries.view(BeliefsView.name) as (connection, generation):
            return questions.held(
                connection,
                generation,
                None,
                valid_at=self._now,
                which=questions.MemoryFilter(quarantined=True),
            )

    def _some(self, items: Sequence[T]) -> Sequence[T]:
        """The last of them, or with `deep` all."""
        return items if self.deep else items[-SAMPLE:]

    def _of(self, looked_at: int, all_of_them: int) -> str:
        return f"{looked_at:,} of {all_of_them:,}" if looked_at < all_of_them else f"{looked_at:,}"

    # Write

    def recorded_first(self) -> Finding:
        turns = len(self._seen.turns)
        if self._seen.unrecorded:
            return no("something was made of a turn before it was recorded", self._seen.unrecorded)
        return Finding(turns > 0 or None, f"{turns:,} turns, each the first event of its stream")

    def recorded_once(self) -> Finding:
        turns = len(self._seen.turns)
        if self._seen.twice:
            return no("a turn was recorded twice", self._seen.twice)
        return Finding(turns > 0 or None, f"{turns:,} turns, each once under its key")

    def queue(self) -> Finding:
        with self._queries.view(TurnsView.name) as (connection, generation):
            oldest = turn_questions.pending(connection, generation, 1)
            count = turn_questions.pending_count(connection, generation)
        if not oldest:
            return Finding(bool(self._seen.turns) or None, "no turn waits")
        since = self._log.read_at([oldest[0].position])[oldest[0].position].recorded_at
        late = self._now - since > DAY
        evidence = f"{count:,} waiting, the oldest since {iso(since)}"
        return Finding(not late, evidence, oldest[0].turn_id if late else None)

    def failures(self) -> Finding:
        parked = len(self._seen.parked)
        evidence = f"{self._seen.failed:,} failed attempts on record, {parked:,} turns set aside"
        fine = None if not self._seen.turns else not parked
        return Finding(fine, evidence, next(iter(self._seen.parked), None))

    def decided(self) -> Finding:
        left = self._seen.undecided
        evidence = f"{self._seen.candidates:,} statements, {len(left):,} without a decision"
        return Finding(
            not left if self._seen.candidates else None, evidence, next(iter(left.values()), None)
        )

    def spans(self) -> Finding:
        with self._queries.view(DecisionsView.name) as (connection, generation):
            rows = [
                row
                for outcome in ("admit", "supersede", "confirm", "quarantine")
                for row in questions.decided(
                    connection, generation, questions.DecisionFilter(outcome=outcome)
                )
            ]
        rows.sort(key=lambda row: row.position)
        looked_at = 0
        for row in self._some(rows):
            stream = self._log.read_stream(row.turn_id, upto=row.candidate_version)
            said, proposed = stream[0].event, stream[-1].event
            if not isinstance(said, TurnRecorded) or not isinstance(proposed, CandidateProposed):
                continue  # erased
            looked_at += 1
            for span in proposed.candidate.spans:
                if span.turn is None and said.content[span.start : span.end] != span.quote:
                    return no("words that are not in the turn", row.decision_id)
        evidence = f"{self._of(looked_at, len(rows))} kept statements looked at, all verbatim"
        return Finding(looked_at > 0 or None, evidence)

    def secrets(self) -> Finding:
        with self._queries.view(TurnsView.name) as (connection, generation):
            c = tables.turns(generation).c
            positions = list(connection.scalars(select(c.position).order_by(c.position)))
        looked_at = 0
        chosen = self._some(positions)
        for start in range(0, len(chosen), SAMPLE):
            for event in self._log.read_at(chosen[start : start + SAMPLE]).values():
                if isinstance(event.event, TurnRecorded):
                    looked_at += 1
                    if redact(event.event.content).text != event.event.content:
                        return no("a secret is in a recorded turn", event.stream)
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(self._seen.redacted.items()))
        evidence = f"taken out: {kinds or 'none'}; {self._of(looked_at, len(positions))} turns"
        return Finding(looked_at > 0 or None, f"{evidence} looked at again, none left")

    def consent(self) -> Finding:
        seen = self._seen
        default = self._rules.policy.default_basis is not None
        for row in self._standing:
            if row.grant_id == DEFAULT_GRANT:
                if default and row.subject_ref not in seen.objectors:
                    continue
                return no("a memory stands on a basis that is over", row.memory_id)
            granted = seen.grants.get(row.grant_id)
            ends = granted[1] if granted else None
            if (
                granted
                and row.grant_id not in seen.withdrawn
                and (ends is None or ends > self._now)
            ):
                continue
            if granted or row.grant_id not in seen.approvals:
                why = "a basis that is over" if granted else "no basis on record"
                return no(f"a memory stands on {why}", row.memory_id)
        count = len(self._standing)
        return Finding(count > 0 or None, f"{count:,} memories, each on a basis in force")

    def special(self) -> Finding:
        found = 0
        rules = self._rules.policy.special_categories
        for start in range(0, len(chosen := self._some(self._standing)), SAMPLE):
            rows = chosen[start : start + SAMPLE]
            words = self._log.read_at([row.words_at for row in rows])
            for row in rows:
                written = words[row.words_at].event
                category = written.memory.category if isinstance(written, Written) else None
                if category in {None, ORDINARY}:
                    continue
                found += 1
                allowed, _ = self._seen.grants.get(row.grant_id, (frozenset(), None))
                if rules.get(category or "") == "prohibit":
                    return no(f"{category} is prohibited", row.memory_id)
                if category not in allowed and row.grant_id not in self._seen.approvals:
                    return no(f"{category} was allowed by nobody", row.memory_id)
        looked_at = self._of(len(chosen), len(self._standing))
        return Finding(found > 0 or None, f"{found:,} in {looked_at} memories looked at")

    def evidence(self) -> Finding:
        for decision, memory in self._seen.unfounded.items():
            return no(f"a memory names decision {decision}, which is none", memory)
        with self._queries.view(BeliefsView.name) as (connection, generation):
            ids = [row.memory_id for row in self._standing]
            found = questions.evidence_of(connection, generation, ids)
        without = next((memory for memory, places in found.items() if not places), None)
        if without:
            return no("a memory has no words", without)
        written = self._seen.written
        return Finding(written > 0 or None, f"{written:,} memories written, each by a decision")

    def threshold(self) -> Finding:
        policy, types = self._rules.policy, self._rules.registry.types
        apart = sum(row.quarantined for row in self._standing)
        believed = [row for row in self._standing if not row.quarantined]
        below = []
        for row in believed:
            own = types[row.type].threshold if row.type in types else None
            if row.confidence < (policy.thresholds.least if own is None else own) * MILLION:
                below.append(row.memory_id)
        evidence = f"{len(below):,} of {len(believed):,} believed lie below it, {apart:,} apart"
        return Finding(not below if self._standing else None, evidence, next(iter(below), None))

    # Manage

    def _ran(self, within: Micros, job: str) -> Finding:
        """Whether this job ended well lately."""
        last = self._seen.done.get(job)
        if last is None:
            return no("no run that ended well is on record")
        evidence = f"{last.facts['job']} at {iso(last.recorded_at)}, position {last.position}"
        late = self._now - last.recorded_at > within
        return Finding(not late, evidence, f"position {last.position}" if late else None)

    def decay(self) -> Finding:
        return self._ran(_WEEK, "decay")

    def expiry(self) -> Finding:
        return self._ran(2 * DAY, "expiry")

    def consolidation(self) -> Finding:
        return self._ran(31 * DAY, "consolidation")

    def audited(self) -> Finding:
        return self._ran(2 * DAY, "loops")

    def retained(self) -> Finding:
        return self._ran(2 * DAY, "retention")

    def backup(self) -> Finding:
        return self._ran(_WEEK, BACKUP)

    def expired(self) -> Finding:
        with self._queries.view(BeliefsView.name) as (connection, generation):
            c = tables.belief_versions(generation).c
            query = select(c.memory_id).where(
                c.closed.is_(None),
                c.expires_at <= self._now,
                or_(c.valid_to.is_(None), c.valid_to > c.expires_at),
            )
            over = list(connection.scalars(query.order_by(c.expires_at)))
        fine = not over if self._seen.written else None
        return Finding(fine, f"{len(over):,} past their time", next(iter(over), None))

    def loops(self) -> Finding:
        with self._queries.view(ChurnView.name) as (connection, generation):
            changes = questions.changes(connection, generation)
        by_belief: dict[str, list[questions.ChurnRow]] = {}
        for change in changes:
            by_belief.setdefault(change.belief, []).append(change)
        open_ones = [belief for belief, rows in by_belief.items() if is_contested(rows)]
        evidence = f"{len(by_belief):,} beliefs changed, {len(open_ones):,} contested"
        fine = not open_ones if self._seen.written else None
        return Finding(fine, evidence, next(iter(open_ones), None))

    def _waits(self, outcome: str) -> Finding:
        with self._queries.view(DecisionsView.name) as (connection, generation):
            rows = questions.decided(
                connection, generation, questions.DecisionFilter(outcome=outcome, waits=True)
            )
        if not rows:
            return Finding(bool(self._seen.decisions) or None, "nothing waits")
        late = self._now - rows[0].recorded_at > _WEEK
        evidence = f"{len(rows):,} waiting, the oldest since {iso(rows[0].recorded_at)}"
        return Finding(not late, evidence, rows[0].decision_id if late else None)

    def conflicts(self) -> Finding:
        return self._waits("escalate")

    def reviews(self) -> Finding:
        return self._waits("queue")

    def retention(self) -> Finding:
        ends = dict(self._rules.policy.ttl_days)
        for name, kind in self._rules.registry.types.items():
            if kind.ttl_days is not None:
                ends.setdefault(name, kind.ttl_days)
        told = ", ".join(f"{name} {days} days" for name, days in sorted(ends.items()))
        return Finding(bool(ends), told or "every type is kept for ever: see ttl_days")

    def calibration(self) -> Finding:
        answer = Calibration(self._log, self._core.rulebook).answer(draw=False)
        known = answer.right + answer.wrong
        if answer.ece is None or known < NEEDED:
            return Finding(None, f"the outcome of {known:,} memories is known, {NEEDED} are needed")
        evidence = f"expected calibration error {answer.ece:.3f} over {known:,} memories"
        return Finding(answer.ece < ECE_LIMIT, evidence)

    def jobs(self) -> Finding:
        jobs = self._seen.jobs
        failed = [run for run in jobs.values() if run.facts["outcome"] != "done"]
        if not failed:
            return Finding(bool(jobs) or None, f"{len(jobs):,} jobs on record, none failed last")
        first = failed[0]
        evidence = f"{first.facts['job']} failed: {first.facts['error']}"
        return no(evidence, f"position {first.position}")

    # End to end

    def verify(self) -> Finding:
        answer = verify(self._log, tree=self._core.signing.tree_to_verify())
        if answer.ok:
            return yes(f"{answer.events:,} events, {answer.bodies:,} with a body")
        return no(answer.problem or "", f"position {answer.position}")

    def views(self) -> Finding:
        self._core.projector.catch_up()
        with self._core.projector.reading() as connection:
            states = self._core.projector.states(connection)
        for name, state in states.items():
            if state.stopped_at is not None:
                return no(f"{name}: {state.reason}", f"position {state.stopped_at}")
            if state.position < self.head:
                return no(f"{name} is at {state.position:,}", name)
        return yes(f"{len(states)} views at position {self.head:,}")

    def rebuild(self) -> Finding:
        if not self.deep:
            return Finding(None, "takes a while: ask with --deep")
        answers = self._views.rebuild(None, verify=True, progress=None)
        for each in answers:
            if each.same is False:
                return no(f"{each.name}: {each.first_difference}", each.name)
        return yes(f"{len(answers)} views, each with the digest it had")

    def replay(self) -> Finding:
        with self._queries.view(DecisionsView.name) as (connection, generation):
            rows = questions.decided(
                connection,
                generation,
                questions.DecisionFilter(limit=None if self.deep else SAMPLE),
            )
            total = sum(questions.counts(connection, generation, "outcome").values())
        counts = Counter[Verdict]()
        for row in rows:
            recorded = self._log.find(row.decision_id)
            if recorded is None:
                return no("a decision is not in the log", row.decision_id)
            answer = self._core.replayer.replay(recorded)
            if answer.verdict is Verdict.DIFFERENT:
                return no(f"{', '.join(answer.differs)} differ", row.decision_id)
            counts[answer.verdict] += 1
        evidence = (
            f"{self._of(len(rows), total)} decisions made again: {counts[Verdict.SAME]:,} the same,"
            f" the inputs of {counts[Verdict.INPUTS_DESTROYED]:,} erased"
        )
        return Finding(len(rows) > 0 or None, evidence)

    def as_of(self) -> Finding:
        """The gate's own fold of a belief, at the head and half way, against the view's rows."""
        beliefs = list(dict.fromkeys(row.belief for row in self._standing))
        chosen = self._some(beliefs)
        with self._queries.view(BeliefsView.name) as (connection, generation):
            for belief in chosen:
                rows = questions.versions_of(connection, generation, belief)
                events = self._log.read_stream(belief)
                for at in {self.head, self.head // 2}:
                    told = {row.memory_id for row in rows if _stood(row, at)}
                    fold = folded(
                        (each for each in events if each.position <= at), self._rules.registry
                    )
                    must = {each.memory_id for each in (*fold.current, *fold.quarantined)}
                    may = must | {each.memory_id for each in fold.past}
                    wrong = sorted((must - told) | (told - may))
                    if wrong:
                        evidence = f"the view and the log differ at position {at:,}"
                        return no(evidence, wrong[0])
        looked_at = self._of(len(chosen), len(beliefs))
        evidence = f"{looked_at} beliefs, at positions {self.head // 2:,} and {self.head:,}"
        return Finding(len(chosen) > 0 or None, evidence)

    def erasure(self) -> Finding:
        erased = self._seen.erased
        if not erased:
            return Finding(None, "nobody was erased")
        for ref in erased:
            if self._log.keys(ref) is not None:
                return no("the key of an erased person is there", ref)
            if self._queries.standing(ref):
                return no("a view has rows of an erased person", ref)
        for position in self._bodies_of(erased):
            return no("a body of an erased person is there", f"position {position}")
        return yes(f"{len(erased):,} erased, no key, body or row of theirs is left")

    def _bodies_of(self, refs: Collection[str]) -> Iterator[int]:
        for row in self._log.raw(0, self.head):
            if row.body is not None:
                fields = envelope.read(row.envelope, row.position)
                if fields["subject_ref"] in refs:
                    yield row.position

    def named(self) -> Finding:
        evidence = f"{self._seen.settled:,} such acts on record"
        if self._seen.nameless:
            return no(f"{evidence}, one by nobody in particular", self._seen.nameless)
        return Finding(self._seen.settled > 0 or None, evidence)

    def key(self) -> Finding:
        settings = Settings.read()
        told = f"master key {self._core.master_key.id}"
        if settings.master_key:
            return yes(f"{told} is given by the environment")
        directory = self._place if isinstance(self._place, Path) else None
        file = settings.master_key_file or (directory / KEY_FILE if directory else None)
        if file is None:
            return no("where it lies is not known")
        if directory and file.resolve().is_relative_to(directory.resolve()):
            return no(f"{told} lies in the ledger's directory", str(file))
        if file.exists() and file.stat().st_mode & 0o077:
            return no(f"{told} can be read by others", str(file))
        return yes(f"{told} lies in {file}")

    def places(self) -> Finding:
        warnings = self._core.warnings
        return Finding(not warnings, "; ".join(warnings) or "no warnings")

    def consumers(self) -> Finding:
        known = self._log.consumers()
        idle = [each for each in known if not each.held and lag(each, self.head)]
        evidence = f"{len(known):,} consumers, {len(idle):,} behind and run by nobody"
        return Finding(not idle if known else None, evidence, idle[0].name if idle else None)


def _stood(row: Version, at: int) -> bool:
    return row.opened <= at and (row.closed is None or row.closed > at)
