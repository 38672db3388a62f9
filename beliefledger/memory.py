"""The front door: the verbs of every day, and the parts that hold the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from beliefledger.answers import (
    BeliefAnswer,
    DecisionAnswer,
    ErasureAnswer,
    Explanation,
    ProcessAnswer,
    StatusAnswer,
    TurnReceipt,
)
from beliefledger.audit.audit import Audit
from beliefledger.audit.replay import DecisionReplays
from beliefledger.curation.conflicts import Conflicts
from beliefledger.curation.consent import Consent
from beliefledger.curation.consolidation import Consolidation
from beliefledger.curation.entities import Entities
from beliefledger.curation.extraction import Extractions
from beliefledger.curation.policy import PolicyInForce
from beliefledger.curation.storing import PLAIN, Details, Fields, stored_memory
from beliefledger.curation.types import Types
from beliefledger.erasure.erasure import Erasures
from beliefledger.gate.intake import TurnInput
from beliefledger.gate.policy import millionths
from beliefledger.gate.turns import Receipt
from beliefledger.gate.typed_memories import Typed
from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.closeable import Closeable
from beliefledger.ledger.consumer import LEASE_SECONDS, Consumer
from beliefledger.ledger.errors import InvalidTurn, LedgerError, NotPermitted
from beliefledger.ledger.subscription import Subscription
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.operations.ageing import Ageing
from beliefledger.operations.jobs import Counts, Work
from beliefledger.operations.operations import Jobs, Operations
from beliefledger.proofs.notary import Notary
from beliefledger.proofs.proofs import Proofs
from beliefledger.reading.candidates import MOST, CandidateQueries, WhyNotAnswer
from beliefledger.reading.changes import ChangeQueries, DiffAnswer
from beliefledger.reading.queries import Queries, Snapshot
from beliefledger.reading.relations import PathAnswer, RelationQueries, window_of
from beliefledger.reading.turns import TurnAnswer, TurnQueries
from beliefledger.reading.typed import TypedQueries
from beliefledger.reading.views import Views
from beliefledger.search.answers import SearchAnswer
from beliefledger.search.context import ContextAnswer
from beliefledger.search.context_text import Format, Tokenizer
from beliefledger.search.contexts import ESTIMATE, ContextCall, Contexts
from beliefledger.search.models import Embedders
from beliefledger.search.on_demand import IndexesOnDemand
from beliefledger.search.recall_replay import RecallReplays
from beliefledger.search.recalls import Recalls
from beliefledger.search.search import DEFAULT, Search, SearchCall, SearchOptions
from beliefledger.search.vectors import Vectors
from beliefledger.times import Moment, Progress, micros


class MemoryLedger(Closeable):
    """A ledger that is open. Use it as a context manager, or close it.

    What is done every day is a method here; the rest are parts: `consent`, `conflicts`, `entities`,
    `types`, `policy`, `recalls`, `vectors`, `erasure`, `proofs`, `audit`, `operations`.

    Safe to use from several threads; several processes may have the same ledger open.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._log = core.log
        self._gate = core.gate
        self.place = core.place
        """The directory, or the URL (without its password when printed)."""
        self.made_key_file = core.made_key_file
        """The master key's file, if it was made just now. Keep it apart from backups."""
        self._queries = queries = Queries(core)
        self._views = views = Views(core)
        self._embedders = embedders = Embedders(core.log, core.settings)
        self._indexes = indexes = IndexesOnDemand(core, queries, embedders)
        self._notary = Notary(core.log, core.signing, core.witness)
        self._relations = RelationQueries(core, queries)
        self._typed = TypedQueries(core, queries)
        self._turns = TurnQueries(core, queries)
        self._changes = ChangeQueries(core, queries)
        self._candidates = CandidateQueries(core, queries)
        self._search = Search(core, queries, indexes)
        self._contexts = Contexts(core, queries, indexes, self._search)
        self._extraction = Extractions(core, queries)
        decisions = DecisionReplays(core, queries)

        self.erasure = Erasures(core, queries, views, indexes, self._notary)
        """What would be erased, legal holds, certificates, and who was erased."""
        self.consent = Consent(core, queries, self.erasure.erase_withdrawn)
        """The lawful bases that memories stand on."""
        self.conflicts = Conflicts(core, queries)
        """What contradicts itself or waits for a person, and settling it."""
        self.entities = Entities(core, queries)
        """Whom and what a subject speaks of."""
        self.types = Types(core, queries)
        """The types of memory."""
        self.policy = PolicyInForce(core)
        """What is decided by."""
        self.recalls = Recalls(core, queries)
        """What was searched for and shown."""
        self.vectors = Vectors(core, queries, indexes, embedders)
        """What search compares meanings with."""
        self.proofs = Proofs(core, decisions.all)
        """Checkpoints, proofs and verification of the log."""
        replays = RecallReplays(core, queries, indexes, embedders, self.recalls)
        self.audit = Audit(core, queries, views, decisions, replays)
        """What an auditor asks: replay, counts, calibration, checklists."""
        ageing, consolidation = Ageing(core, queries), Consolidation(core, queries)
        self.operations = Operations(
            core,
            queries,
            views,
            indexes,
            ageing=ageing,
            consolidation=consolidation,
            extraction=self._extraction,
            jobs=Jobs(core, queries, self._work(ageing, consolidation)),
        )
        """What an operator does: rebuild, jobs, ageing, consolidation, extraction."""
        if core.log.interrupted:
            self.erasure.finish()

    def _work(self, ageing: Ageing, consolidation: Consolidation) -> Work:
        """What the jobs of the schedule do."""

        def count_loops() -> Counts:
            found = self.conflicts.loops()
            return {"loops": len(found), "contested": sum(each.contested for each in found)}

        return {
            "decay": lambda: {"memories": ageing.refresh()},
            "expiry": lambda: {"expired": len(ageing.expire())},
            "retention": lambda: {"revoked": len(ageing.revoke_outdated())},
            "forgetting": self.erasure.erase_due,
            "checkpoints": lambda: self.operations.tidy(),  # noqa: PLW0108  it is made after this
            "loops": count_loops,
            "consolidation": consolidation.everyone,
            "vectors": self.vectors.complete,
        }

    def close(self) -> None:
        """Let go of files and connections."""
        self._extraction.let_go_of_model()
        try:
            self._core.recorder.close()
        finally:
            self._notary.close()
            self._let_go()

    def _let_go(self) -> None:
        self._indexes.close()
        if self._core.witness is not None:
            self._core.witness.close()
        self._core.projector.close()
        self._log.close()

    # Saying

    def record_turn(
        self,
        subject: str,
        content: str,
        *,
        role: str = "user",
        speaker: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        said_at: Moment | None = None,
        ordinal: int | None = None,
        idempotency_key: str | None = None,
    ) -> TurnReceipt:
        """Record what was said; when this returns it is durable. Nothing is believed yet.

        Secrets are taken out first. The turn is known again by its `idempotency_key`, else by
        session, `ordinal` (or `said_at`), role and words; with none of these each call is another
        turn. Raises `InvalidTurn`, and `NotPermitted` for an erased subject.
        """
        turn = TurnInput(
            subject=subject,
            content=content,
            role=role,
            speaker=speaker,
            session=session,
            agent=agent,
            said_at=micros(said_at, "said_at"),
            ordinal=ordinal,
            idempotency_key=idempotency_key,
        )
        return self._recorded([turn])[0]

    def record_turns(self, turns: Iterable[TurnInput]) -> list[TurnReceipt]:
        """Record many turns in one durable append: all of them or none."""
        return self._recorded(list(turns))

    def _recorded(self, turns: Sequence[TurnInput]) -> list[TurnReceipt]:
        # A turn that repeats what was shown comes after that in the log.
        self._core.recorder.flush()
        return [_receipt(receipt) for receipt in self._gate.record(turns)]

    def process(
        self,
        *,
        subject: str | None = None,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> ProcessAnswer:
        """Extract and decide the turns that wait (of one subject, or of all), oldest first.

        Each is tried once. What was decided is durable when this returns. Several processes may do
        this at once.
        """
        return self._extraction.process(subject=subject, limit=limit, progress=progress)

    def remember(
        self,
        subject: str,
        text: str,
        *,
        consent: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        said_at: Moment | None = None,
        idempotency_key: str | None = None,
    ) -> tuple[TurnReceipt, list[DecisionAnswer]]:
        """Record one turn of the subject and decide about it at once.

        `consent` names a lawful basis that is recorded first. Returns receipt and decisions.
        """
        turn = TurnInput(
            subject=subject,
            content=text,
            session=session,
            agent=agent,
            said_at=micros(said_at, "said_at"),
            idempotency_key=idempotency_key,
        )  # which may be refused, before anything is written
        self._gate.check([turn])
        if consent is not None:
            self.consent.grant(subject, consent)
        self._core.recorder.flush()
        receipt = self._gate.record([turn])[0]
        self.process(subject=subject)
        if receipt.withheld:
            return _receipt(receipt), self._queries.rehearsed(
                receipt, self._gate.rehearse(receipt, turn)
            )
        return _receipt(receipt), self._queries.of_turn(receipt.turn_id)

    def store(
        self,
        subject: str,
        value: str,
        *,
        attribute: str,
        type: str = "fact",
        text: str | None = None,
        confidence: float | None = None,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        said_at: Moment | None = None,
        idempotency_key: str | None = None,
        by: str = SYSTEM,
        details: Details = PLAIN,
    ) -> DecisionAnswer:
        """Write a memory with chosen fields: for seeding, migration and tests.

        Nothing is extracted and words are not examined, but consent, scope and contradiction are
        decided like any other. `details` are the rarer fields. Returns the decision; for a repeated
        `idempotency_key`, the first.
        """
        fields = Fields(
            subject=subject,
            attribute=attribute,
            value=value,
            type=type,
            text=text,
            confidence=confidence,
            valid_from=valid_from,
            valid_to=valid_to,
            said_at=said_at,
            idempotency_key=idempotency_key,
        )
        limit = self.policy.current.max_turn_bytes
        stored = stored_memory(fields, details, limit, self._core.clock())
        receipt, decision = self._gate.store(
            stored.turn, stored.candidate, stored.choices, self._core.actor(by)
        )
        if decision is not None:
            return self._queries.decision(decision, fates=False)
        if receipt.withheld and self._gate.is_stored(receipt):
            would = self._gate.rehearse(receipt, stored.turn, stored.candidate, stored.choices)
            made = self._queries.rehearsed(receipt, would)
        else:
            made = self._queries.of_turn(receipt.turn_id)
        if not made:
            raise InvalidTurn("This idempotency_key belongs to another turn.")
        return made[0]

    # Asking

    def beliefs(
        self,
        subject: str | None = None,
        *,
        as_of: Moment | Snapshot | None = None,
        valid_at: Moment | None = None,
        type: str | None = None,
        topic: str | None = None,
        min_confidence: float | None = None,
        min_importance: float = 0.0,
        quarantined: bool = False,
    ) -> list[BeliefAnswer]:
        """What is believed about a subject (or about everybody).

        `as_of` asks what was believed then: a position (an int below 10^12), or a time. `valid_at`
        asks what of it was true then; by default the time of `as_of`, else now. `min_confidence`
        is by default the `recall_floor` of the policy in force. A subject nobody knows, or who was
        erased, has no beliefs.
        """
        return self._queries.beliefs(
            subject,
            self._queries.snapshot(as_of),
            micros(valid_at, "valid_at"),
            type_=type,
            topic=topic,
            min_confidence=self._core.rulebook.refreshed().floor(min_confidence),
            min_importance=millionths(min_importance),
            quarantined=quarantined,
        )

    def as_of(self, moment: Moment | Snapshot) -> Snapshot:
        """The ledger as it was: the last position recorded at or before a time, or a position."""
        snapshot = self._queries.snapshot(moment)
        if snapshot is None:
            raise InvalidTurn("as_of needs a time or a position.")
        return snapshot

    def history(
        self, belief_or_memory: str, *, as_of: Moment | Snapshot | None = None
    ) -> list[BeliefAnswer]:
        """Every version of a belief, oldest first; with `as_of`, those that were known then. Takes
        the id of a belief or of a memory in it, or the first characters of one. Raises
        `UnknownMemory`."""
        return self._queries.history(belief_or_memory, snapshot=self._queries.snapshot(as_of))

    def decisions(
        self,
        subject: str | None = None,
        *,
        outcome: str | None = None,
        reason: str | None = None,
        turn_id: str | None = None,
        waits: bool | None = None,
        limit: int | None = None,
        as_of: Moment | Snapshot | None = None,
    ) -> list[DecisionAnswer]:
        """What the gate decided, in order; with `limit`, the last so many. `waits` picks those that
        a person still has to settle (or has not to), `as_of` those that were made by then, and
        whether they waited then."""
        return self._queries.decisions(
            subject,
            outcome=outcome,
            reason=reason,
            turn_id=turn_id,
            waits=waits,
            limit=limit,
            snapshot=self._queries.snapshot(as_of),
        )

    def decision(self, decision_id: str) -> DecisionAnswer:
        """One decision, by its id or the first characters of it. Raises `UnknownMemory`."""
        return self._queries.decision(self._queries.decision_id(decision_id))

    def explain(self, memory_id: str, *, proof: bool = False) -> Explanation:
        """Why a memory is there: the decision, the candidate, the words. With `proof`, also proofs
        that its turn, decision and admission are in the log. Raises `UnknownMemory`."""
        answer = self._queries.explain(memory_id)
        if not proof:
            return answer
        proofs = {name: self.proofs.inclusion(at) for name, at in answer.positions.items()}
        return answer.model_copy(update={"proofs": proofs})

    def turn(self, turn_id: str) -> TurnAnswer:
        """What was said, with the words marked that the gate decided about, and what it did with
        each. Takes the first characters of an id. Raises `UnknownMemory`."""
        return self._turns.turn(turn_id)

    def diff(
        self, subject: str, start: Moment | Snapshot, end: Moment | Snapshot | None = None
    ) -> DiffAnswer:
        """What changed in belief after one moment, up to another (by default now), and the event
        that changed it. Moments are positions or times, as `as_of` takes them. What is erased shows
        as gone, without words. Raises `InvalidTurn` where the end comes first, `UnknownMemory`.
        """
        return self._changes.diff(subject, self.as_of(start), self._queries.snapshot(end))

    def why_not(self, subject: str, claim: str, *, limit: int = MOST) -> WhyNotAnswer:
        """Why something is not believed: the statements like it and what stopped each, those that
        got in and what became of them, turns that nobody has read yet. Where nothing like it was
        noticed, the nearest turns. `limit` is the most of each.

        Raises `UnknownMemory` for somebody nobody knows, `NotPermitted` for who was erased.
        """
        return self._candidates.why_not(subject, claim, limit)

    def related(
        self,
        subject: str,
        entity: str = SELF,
        relation: str | Sequence[str] | None = None,
        *,
        attribute: str | None = None,
        hops: int | None = None,
        as_of: Moment | Snapshot | None = None,
        valid_at: Moment | None = None,
        min_confidence: float | None = None,
    ) -> list[PathAnswer]:
        """Who and what an entity is related to, as paths of one to three memories each, the
        shortest first, every memory with its evidence.

        All memories of a path but the last are relations, the last may be a fact about whom the
        path reached. `relation` names the relation of every hop, or, as a sequence, of each; it is
        also found where the far end's memory says it the other way round (`manages` for
        `reports-to`). With `attribute`, only paths that end in such a fact. `hops` is the most
        memories of a path: if not given, one for each relation named and one for the attribute.

        "Who does Ana work for, and what is that manager's role" is
        `related("ana", relation="reports-to", attribute="role")`.
        """
        return self._relations.related(
            subject,
            entity,
            relation,
            attribute,
            hops,
            self._queries.snapshot(as_of),
            micros(valid_at, "valid_at"),
            min_confidence=self._core.rulebook.refreshed().floor(min_confidence),
        )

    def events(
        self,
        subject: str,
        *,
        start: Moment | None = None,
        end: Moment | None = None,
        on: str | None = None,
        participant: str | None = None,
        as_of: Moment | Snapshot | None = None,
        min_confidence: float | None = None,
    ) -> list[BeliefAnswer]:
        """What happened: memories of type `event`, in order of time, and no others.

        With `start` or `end`, those that may have happened in [start, end): the whole day, week or
        month counts that their words mean, an approximate time a day more on either side, and an
        unknown one never. `on` says the window in words, such as "last tuesday" (as of now, or of
        `as_of`). `participant` is somebody who took part, or whom it is about, under any name.
        """
        if on is not None and (start is not None or end is not None):
            raise InvalidTurn("on: say either on or start and end.")
        snapshot = self._queries.snapshot(as_of)
        window = micros(start, "start"), micros(end, "end")
        if on is not None:
            now = self._queries.now() if snapshot is None else snapshot.at
            window = window_of(on, now)
        elif window[0] is not None and window[1] is not None and window[0] >= window[1]:
            raise InvalidTurn("end must come after start.")
        return self._relations.events(
            subject,
            snapshot,
            window=window,
            participant=participant,
            min_confidence=self._core.rulebook.refreshed().floor(min_confidence),
        )

    def typed(
        self,
        subject: str | None = None,
        *,
        type: str | None = None,
        memory_id: str | None = None,
        quarantined: bool = False,
    ) -> list[Typed]:
        """What is believed now, each memory in the shape of its type (`gate.typed`): of a subject,
        of a type, or one memory by its id."""
        return self._typed.typed(subject, type=type, memory_id=memory_id, quarantined=quarantined)

    def search(
        self,
        subject: str,
        query: str,
        k: int = 10,
        *,
        as_of: Moment | Snapshot | None = None,
        valid_at: Moment | None = None,
        types: Sequence[str] = (),
        session: str | None = None,
        purpose: str | None = None,
        max_tokens: int | None = None,
        record: bool = True,
        by: str = SYSTEM,
        options: SearchOptions = DEFAULT,
    ) -> SearchAnswer:
        """Find what a subject's memories and turns say about a query: the best `k`, best first.

        `as_of` searches what was known then, `valid_at` what of it was true then (both as for
        `beliefs`). `types` are of memories. What is visible in one session is found with its
        `session`. `max_tokens` bounds the results' texts together. Unless `record` is False, what
        was found is recorded as shown to whoever asks (`by`), which keeps memories fresh and can
        be replayed. `options` are the rarer wishes: scope, topics, floors and weights.

        Raises `InvalidTurn` for what cannot be asked. A subject nobody knows, or who was erased,
        has nothing to find.
        """
        return self._search.search(
            SearchCall(
                subject=subject,
                query=query,
                k=k,
                as_of=as_of,
                valid_at=valid_at,
                types=types,
                session=session,
                purpose=purpose,
                max_tokens=max_tokens,
                record=record,
                by=by,
                options=options,
            )
        )

    def context(
        self,
        subject: str,
        query: str,
        *,
        max_tokens: int = 1_000,
        purpose: str | None = None,
        as_of: Moment | Snapshot | None = None,
        session: str | None = None,
        format: Format = "markdown",
        tokenizer: str | Tokenizer = ESTIMATE,
        k: int = 20,
        record: bool = True,
        by: str = SYSTEM,
    ) -> ContextAnswer:
        """What an agent puts before a model: `content` is the block, `lines` what it is made of.

        Standing constraints and a short profile come always, then what a search for the query finds
        (the best `k`), memories before episodes, no line twice. What is contested is told as
        contested, what is outdated as past. Each line has a citation, which `explain` takes for a
        memory, its date and how sure it is. `format` is text, markdown, xml or messages.

        The block has at most `max_tokens`, as `tokenizer` counts: a function of a text, "estimate"
        (a quarter of the characters), "bytes" (never too few), or one that a package registers.
        Unless `record` is False it is recorded as one recall. Raises `InvalidTurn` as `search`
        does, and for a budget in which not even the empty block fits.
        """
        return self._contexts.context(
            ContextCall(
                subject=subject,
                query=query,
                max_tokens=max_tokens,
                purpose=purpose,
                as_of=as_of,
                session=session,
                format=format,
                tokenizer=tokenizer,
                k=k,
                record=record,
                by=by,
            )
        )

    # Taking back

    def revoke(self, memory_id: str, *, by: str, note: str | None = None) -> BeliefAnswer:
        """Take a memory back; it stays in the history. Raises `UnknownMemory`."""
        memory = self._queries.memory_id(memory_id)
        last = self._queries.history(memory, only_memory=True)[-1]
        ref = self._core.known_subject(last.subject or "")
        self._core.steward.revoke(
            ref, memory, last.belief_id, note=note, actor=self._core.actor(by)
        )
        return self._queries.history(memory, only_memory=True)[-1]

    def erase(
        self,
        subject: str,
        *,
        by: str,
        memory: str | None = None,
        turn: str | None = None,
        session: str | None = None,
        retention: bool = False,
        revoked: bool = False,
        withdrawals: Sequence[str] | None = None,
        known_as: Sequence[str] = (),
        legal_basis: str | None = None,
    ) -> ErasureAnswer:
        """Forget a subject for good, or less of them: one `memory`, `turn` or `session`, what is
        older than its `retention`, what was `revoked` long enough ago, what `withdrawals` ended.
        `erasure.erase` says more, `erasure.preview` what would go."""
        return self.erasure.erase(
            subject,
            memory=memory,
            turn=turn,
            session=session,
            retention=retention,
            revoked=revoked,
            withdrawals=withdrawals,
            known_as=known_as,
            by=by,
            legal_basis=legal_basis,
        )

    # Following

    def subscribe(
        self,
        after: int = 0,
        *,
        types: Sequence[str] | None = None,
        subjects: Sequence[str] | None = None,
        follow: bool = True,
    ) -> Subscription:
        """Decoded events past a position: first those that are there, then those that come.

        An iterator and a context manager; `position` on it is where to go on from. `types` are
        names in the log (`memory.admitted.v2`), `subjects` are people. Close it to stop following.
        """
        people = None if subjects is None else lambda: self._refs_of(subjects)
        return self._log.subscribe(after, types, people, follow=follow)

    def consumer(
        self,
        name: str,
        types: Sequence[str] | None = None,
        subjects: Sequence[str] | None = None,
        *,
        lease_seconds: float = LEASE_SECONDS,
        follow: bool = True,
    ) -> Consumer:
        """As `subscribe`, from a cursor that is kept under a name: each event is delivered at least
        once, until it is acknowledged with `ack`.

        Several processes may run a consumer of one name: one is delivered to, and another takes
        over when it is closed or, after `lease_seconds`, when it died.
        """
        people = None if subjects is None else lambda: self._refs_of(subjects)
        return self._log.consumer(name, types, people, lease_seconds=lease_seconds, follow=follow)

    def _refs_of(self, subjects: Sequence[str]) -> list[str]:
        """The references of those who are known by now and not erased."""
        refs = []
        for subject in subjects:
            with suppress(NotPermitted):
                ref = self._log.subject(subject)
                if ref is not None:
                    refs.append(ref)
        return refs

    def status(self, *, digests: bool = True) -> StatusAnswer:
        """How the ledger is: positions, the queue, what waits for a person, the views."""
        with suppress(LedgerError):  # a log that takes nothing is to be asked how it is
            self._core.recorder.flush()
        answer = self._views.status(digests=digests)
        return answer.model_copy(
            update={
                "ledger": str(self.place),
                "extractor": self._gate.reader.extractor.name,
                "warnings": (
                    *answer.warnings,
                    *(self._notary.warnings() or self._core.signing.warnings()),
                    *self.erasure.unfinished(),
                ),
            }
        )

    def name_of(self, subject_ref: str | None) -> str | None:
        """The person behind a reference in an event; None for nobody, or once erased."""
        return None if subject_ref is None else self._log.vault.real_id(subject_ref)

    def actor_name(self, actor: str) -> str:
        """The name under which somebody acted, of the `actor` of an event."""
        return self._log.vault.principal_name(actor)


def _receipt(receipt: Receipt) -> TurnReceipt:
    return TurnReceipt(turn_id=receipt.turn_id, position=receipt.position, already=receipt.already)
