"""The front door: the verbs of every day, and the parts that hold the rest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import JsonValue

from beliefledger import arguments
from beliefledger.answers import (
    BeliefAnswer,
    DecisionAnswer,
    ErasureAnswer,
    Explanation,
    ProcessAnswer,
    ReadState,
    StatusAnswer,
    TurnReceipt,
)
from beliefledger.erasure.named import UNNAMED, Named
from beliefledger.filters import Where
from beliefledger.gate.policy import millionths
from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.consumer import LEASE_SECONDS, Consumer
from beliefledger.ledger.errors import (
    BackendUnavailable,
    InvalidQuery,
    InvalidTurn,
    LedgerError,
    NotPermitted,
)
from beliefledger.ledger.names import check_text, shown
from beliefledger.ledger.spans import COUNT, DELETE, RECORD, traced
from beliefledger.ledger.subscription import Subscription, check_reached
from beliefledger.ledger.vault import SYSTEM
from beliefledger.pages import Cut, Page
from beliefledger.parts import Parts
from beliefledger.projections.questions import MemoryFilter
from beliefledger.reading.queries import Snapshot
from beliefledger.reading.replicas import replicated
from beliefledger.search.options import DEFAULT, SearchOptions
from beliefledger.times import Moment, Progress, micros

NOTHING: Mapping[str, JsonValue] = MappingProxyType({})

# ruff: noqa: PLC0415  what answers rare questions is imported when one is asked
if TYPE_CHECKING:
    from beliefledger.curation.storing import Details, MemoryInput
    from beliefledger.exports.exports import PersonExport
    from beliefledger.gate.intake import TurnInput
    from beliefledger.gate.turns import Receipt
    from beliefledger.gate.typed_memories import Typed
    from beliefledger.reading.candidates import WhyNotAnswer
    from beliefledger.reading.changes import DiffAnswer
    from beliefledger.reading.relations import PathAnswer
    from beliefledger.reading.subjects import SubjectsPage
    from beliefledger.reading.turns import TurnAnswer
    from beliefledger.search.answers import SearchAnswer
    from beliefledger.search.context import ContextAnswer
    from beliefledger.search.context_text import Format, Tokenizer


class MemoryLedger(Parts):
    """A ledger that is open. Use it as a context manager, or close it.

    What is done every day is a method here; the rest are parts: `consent`, `conflicts`, `entities`,
    `teams`, `types`, `policy`, `recalls`, `vectors`, `erasure`, `exports`, `proofs`, `audit`,
    `operations`, `tokens`, `webhooks`, `tasks`.

    Safe to use from several threads; several processes may have the same ledger open.
    """

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
        metadata: Mapping[str, JsonValue] = NOTHING,
        ask: bool = False,
    ) -> TurnReceipt:
        """Record what was said; when this returns it is durable. Nothing is believed yet.

        Secrets are taken out first. The turn is known again by its `idempotency_key`, else by
        session, `ordinal` (or `said_at`), role and words; with none of these each call is another
        turn. A `speaker` of the role `user` who is not the subject is an entity of their own.
        `metadata` is a JSON object of at most 4,096 bytes, kept beside the turn and what comes of
        it. With `ask`, a statement that contradicts a belief waits for a person, unless it is a
        change or a correction in so many words. Raises `InvalidTurn`, and `NotPermitted` for an
        erased subject.
        """
        from beliefledger.gate.intake import TurnInput

        turn = TurnInput(
            subject=subject,
            content=content,
            role=role,
            speaker=speaker,
            session=session,
            agent=agent,
            said_at=micros(said_at, "said_at", InvalidTurn),
            ordinal=ordinal,
            idempotency_key=idempotency_key,
            metadata=metadata,
            ask=ask,
        )
        return self._recorded([turn])[0]

    def record_turns(self, turns: Iterable[TurnInput]) -> list[TurnReceipt]:
        """Record many turns in one durable append: all of them or none."""
        told = list(turns)
        for each in told:
            micros(getattr(each, "said_at", None), "said_at", InvalidTurn)
        return self._recorded(told)

    def _recorded(self, turns: Sequence[TurnInput]) -> list[TurnReceipt]:
        from beliefledger.gate.intake import TurnInput

        for each in turns:
            if not isinstance(each, TurnInput):
                raise InvalidTurn(f"A turn is a TurnInput, not {shown(each)}.")
        # A turn that repeats what was shown comes after that in the log.
        self._core.recorder.flush()
        return [
            _receipt(
                each,
                self._extraction.state_of(each.turn_id)
                if each.already
                else ReadState(pending=True),
            )
            for each in self._gate.record(turns)
        ]

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
        metadata: Mapping[str, JsonValue] = NOTHING,
    ) -> tuple[TurnReceipt, list[DecisionAnswer]]:
        """Record one turn of the subject and decide about it at once.

        `consent` names a lawful basis that is recorded first, `metadata` is as of `record_turn`.
        Returns receipt and decisions. Where
        the turn could not be read, there are none: the receipt is `pending`, with the `problem`.
        """
        from beliefledger.gate.intake import TurnInput

        turn = TurnInput(
            subject=subject,
            content=text,
            session=session,
            agent=agent,
            said_at=micros(said_at, "said_at", InvalidTurn),
            idempotency_key=idempotency_key,
            metadata=metadata,
        )  # which may be refused, before anything is written
        self._gate.check([turn])
        if consent is not None:
            self.consent.grant(subject, consent)
        return self._remembered(turn)

    def _remembered(
        self, turn: TurnInput, actor: str = SYSTEM
    ) -> tuple[TurnReceipt, list[DecisionAnswer]]:
        """Record a turn, and decide about what waits of its subject."""
        from beliefledger.curation.extraction import read_state

        self._core.recorder.flush()
        receipt = self._gate.record([turn], actor)[0]
        tried, told = self._gate.new_turns.decide(receipt)
        state = read_state(told, tried.problem)
        if receipt.withheld:
            return _receipt(receipt, state), self._queries.rehearsed(
                receipt, self._gate.rehearse(receipt, turn)
            )
        return _receipt(receipt, state), self._queries.just_decided(
            told, tried, {receipt.subject_ref: turn.subject}
        )

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
        details: Details | None = None,
    ) -> DecisionAnswer:
        """Write a memory with chosen fields: what a program knows, and nobody has to extract.

        `text` is the claim as people read it, by default "attribute is value". Whether it is meant
        is not examined; consent, special categories, scope and contradiction are as for any other.
        What holds from a `valid_from` before the present value's is past, up to the next value.
        `details` are the rarer fields. Returns the decision; for a repeated `idempotency_key`, the
        first.
        """
        from beliefledger.curation.storing import PLAIN, MemoryInput

        fields = MemoryInput(
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
            details=details or PLAIN,
        )
        return self.store_many([fields], by=by)[0]

    def store_many(
        self, memories: Iterable[MemoryInput], *, by: str = SYSTEM
    ) -> list[DecisionAnswer]:
        """Write many memories with chosen fields, as `store` does each; one decision for each.

        All are checked before any is written; 500 at a time are one durable append. With an
        `idempotency_key` each, the same list can be stored again after an interruption.

        >>> import tempfile
        >>> from beliefledger import MemoryInput, open_memory
        >>> with open_memory(tempfile.mkdtemp(), consent="consent") as memory:
        ...     facts = {"favourite colour": "red", "shoe size": "39"}
        ...     made = memory.store_many(MemoryInput("ana", v, k) for k, v in facts.items())
        ...     [decision.claim for decision in made]
        ['favourite colour is red', 'shoe size is 39']
        """
        return self._stored.store(memories, self._core.actor(by))

    # Changing

    def update(
        self,
        memory_id: str,
        *,
        value: str | None = None,
        text: str | None = None,
        topic: str | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        valid_from: Moment | None = None,
        expires_at: Moment | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
        by: str,
    ) -> DecisionAnswer:
        """Change a memory that holds, as a named person; what is None stays as it is.

        Another `value` holds from now on, or from `valid_from`; the rest of the memory is as if it
        had always been so. A new memory takes the place of the old one, with a turn that says who
        made the change; the gate decides about it as about any. `correct` is for what was never
        true. Raises `UnknownMemory` for what does not hold, `InvalidTurn`, `NotPermitted`.
        """
        from beliefledger.curation.edits import Changed

        marks = (topic, importance, confidence, valid_from, expires_at, metadata)
        changed = Changed(value, text, *marks)
        return self._edits.update(memory_id, changed, by=by)

    def correct(
        self,
        memory_id: str,
        words: str,
        *,
        value: str | None = None,
        text: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        said_at: Moment | None = None,
        idempotency_key: str | None = None,
        by: str = SYSTEM,
    ) -> tuple[TurnReceipt, list[DecisionAnswer]]:
        """Record that a person says a memory about them is wrong: it was never so.

        Their `words` are a turn like any other and the evidence. What they say of the same thing
        ("No, I live in Porto") takes the memory's place; where they say nothing of it ("That's
        wrong"), the memory ends. `value` is the right value, for words that nobody has to read.
        Returns receipt and decisions, as `remember`. Raises as `update` does.
        """
        from beliefledger.curation.edits import Changed
        from beliefledger.gate.intake import TurnInput

        turn = TurnInput(
            subject="",
            content=words,
            session=session,
            agent=agent,
            said_at=micros(said_at, "said_at"),
            idempotency_key=idempotency_key,
        )
        actor = self._core.actor(by)
        meant = self._edits.correction(memory_id, turn, Changed(value=value, text=text))
        if isinstance(meant, TurnInput):
            return self._remembered(meant, actor)
        [(receipt, answer)] = self._stored.decide([meant], actor)
        return _receipt(receipt, ReadState(pending=False)), [answer]

    # Asking

    @replicated
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
        where: Where | Mapping[str, object] | None = None,
        limit: int | None = None,
        after: str | None = None,
        reader: str | None = None,
    ) -> Page[BeliefAnswer]:
        """What is believed about a subject (or about everybody), in the order of writing.

        `as_of` asks what was believed then: a position (an int below 10^12), or a time. `valid_at`
        asks what of it was true then; by default the time of `as_of`, else now. A time without a
        zone is UTC, here and wherever one is given. `min_confidence`
        is by default the `recall_floor` of the policy in force. A subject nobody knows, or who was
        erased, has no beliefs. `where` picks by session, agent, topic, type and metadata.
        `reader` is a person who asks, by default the subject. Of others they see what is visible to
        the team if they share one with them now, else what is visible to more.

        With `limit` it is a page, whose `next` is given as `after` for the one behind it; all pages
        tell what the first one saw. Raises `InvalidQuery`.
        """
        where = _where(where, type, topic)
        floor = self._core.rulebook.refreshed().floor(min_confidence)
        arguments.share("min_importance", min_importance)
        least = millionths(min_importance)
        asked = (subject, as_of, valid_at, where, min_confidence, least, quarantined, reader)
        return self._lists.beliefs(
            subject,
            self._queries.snapshot(as_of),
            micros(valid_at, "valid_at"),
            MemoryFilter(min_confidence=floor, min_importance=least, quarantined=quarantined),
            (where, self._readers.sight(reader)),
            Cut.of("beliefs", asked, limit, after),
        )

    def as_of(self, moment: Moment | Snapshot) -> Snapshot:
        """The ledger as it was: the last position recorded at or before a time, or a position. A
        time without a zone is UTC."""
        snapshot = self._queries.snapshot(moment)
        if snapshot is None:
            raise InvalidQuery("as_of needs a time or a position.")
        return snapshot

    @replicated
    def history(
        self,
        belief_or_memory: str,
        *,
        as_of: Moment | Snapshot | None = None,
        where: Where | Mapping[str, object] | None = None,
        limit: int | None = None,
        after: str | None = None,
        reader: str | None = None,
    ) -> Page[BeliefAnswer]:
        """Every version of a belief, oldest first; with `as_of`, those that were known then. Takes
        the id of a belief or of a memory in it, or the first characters of one. `where`, `limit`,
        `after` and `reader` are as for `beliefs`. Raises `UnknownMemory`, `InvalidQuery`."""
        where, sight = Where.of(where), self._readers.sight(reader)
        cut = Cut.of("history", (belief_or_memory, as_of, where, reader), limit, after)
        snapshot = self._queries.snapshot(as_of)
        return self._lists.history(belief_or_memory, snapshot, (where, sight), cut)

    @replicated
    def decisions(
        self,
        subject: str | None = None,
        *,
        outcome: str | None = None,
        reason: str | None = None,
        turn_id: str | None = None,
        waits: bool | None = None,
        as_of: Moment | Snapshot | None = None,
        where: Where | Mapping[str, object] | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page[DecisionAnswer]:
        """What the gate decided, in order. With `limit` the last so many: their `next`, given as
        `after`, leads to those before them. `waits` picks those that a person still has to settle
        (or has not to), `as_of` those that were made by then, and whether they waited then; `where`
        is as for `beliefs`. Raises `InvalidQuery`."""
        from beliefledger.reading.lists import WhichDecisions

        where = Where.of(where)
        if turn_id is not None:
            check_text("turn_id", turn_id)
        which = WhichDecisions(outcome, reason, turn_id, waits)
        cut = Cut.of("decisions", (subject, which, as_of, where), limit, after)
        snapshot = self._queries.snapshot(as_of)
        return self._lists.decisions(subject, snapshot, which, where, cut)

    @replicated
    def decision(self, decision_id: str) -> DecisionAnswer:
        """One decision, by its id or the first characters of it. Raises `UnknownMemory`."""
        return self._queries.decision(self._queries.decision_id(decision_id))

    @replicated
    def explain(
        self, memory_id: str, *, proof: bool = False, as_of: Moment | Snapshot | None = None
    ) -> Explanation:
        """Why a memory is there: the decision, the candidate, the words. With `as_of`, as it was
        known then, and what became of it since. With `proof`, also proofs that its turn, decision
        and admission are in the log. Raises `UnknownMemory`, for one that came later too."""
        answer = self._queries.explain(memory_id, self._queries.snapshot(as_of))
        if not proof:
            return answer
        proofs = {name: self.proofs.inclusion(at) for name, at in answer.positions.items()}
        return answer.model_copy(update={"proofs": proofs})

    def turn(self, turn_id: str) -> TurnAnswer:
        """What was said, with the words marked that the gate decided about, and what it did with
        each. Takes the first characters of an id. Raises `UnknownMemory`."""
        from beliefledger.reading.turns import TurnQueries

        return TurnQueries(self._core, self._queries).turn(turn_id)

    def diff(
        self, subject: str, start: Moment | Snapshot, end: Moment | Snapshot | None = None
    ) -> DiffAnswer:
        """What changed in belief after one moment, up to another (by default now), and the event
        that changed it. Moments are positions or times, as `as_of` takes them. What is erased shows
        as gone, without words. Raises `InvalidQuery` where the end comes first, `UnknownMemory`.
        """
        from beliefledger.reading.changes import ChangeQueries

        return ChangeQueries(self._core, self._queries).diff(subject, start, end)

    def why_not(
        self,
        subject: str,
        claim: str,
        *,
        limit: int = 10,
        only: Callable[[Sequence[DecisionAnswer]], Collection[str]] | None = None,
        said: Callable[[Sequence[str]], Mapping[str, str]] | None = None,
    ) -> WhyNotAnswer:
        """Why something is not believed: the statements like it and what stopped each, those that
        got in and what became of them, turns that nobody has read yet. Where nothing like it was
        noticed, the nearest turns. `limit` is the most of each. `only` tells which of some
        decisions may be matched, by their ids: the answer is as if there were no others. `said`
        tells what turns say as far as it may be told, by their ids: no other words are matched.

        Raises `UnknownMemory` for somebody nobody knows, `NotPermitted` for who was erased.
        """
        from beliefledger.reading.candidates import CandidateQueries

        return CandidateQueries(self._core, self._queries).why_not(
            subject, claim, limit, only, said
        )

    def subjects(self, *, limit: int | None = None, after: str | None = None) -> SubjectsPage:
        """Who is known and not erased, a page at a time (100, or `limit`): how much there is of
        each, and when something last happened. `after` is the `next` of the page before. Raises
        `InvalidQuery`."""
        from beliefledger.reading.subjects import SubjectQueries

        return SubjectQueries(self._core, self._queries).page(limit, after)

    def export(
        self,
        subject: str,
        *,
        by: str,
        note: str | None = None,
        withholding: Sequence[str] = (),
    ) -> PersonExport:
        """Everything held about a person, to answer their request for access: as JSON, as a page,
        or to a file with `write`. It goes on record first, under the name of who asks.
        `exports.person` says more."""
        return self.exports.person(subject, by=by, note=note, withholding=withholding)

    @replicated
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
        reader: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page[PathAnswer]:
        """Who and what an entity is related to, as paths of one to three memories each, the
        shortest first, every memory with its evidence.

        All memories of a path but the last are relations, the last may be a fact about whom the
        path reached. `relation` names the relation of every hop, or, as a sequence, of each; it is
        also found where the far end's memory says it the other way round (`manages` for
        `reports-to`). With `attribute`, only paths that end in such a fact. `hops` is the most
        memories of a path: if not given, one for each relation named and one for the attribute.
        `reader` is as for `beliefs`: who may not see one memory of a path is not shown the path.
        `limit` and `after` are as for `beliefs`.

        "Who does Ana work for, and what is that manager's role" is
        `related("ana", relation="reports-to", attribute="role")`.
        """
        named = relation if relation is None or isinstance(relation, str) else tuple(relation)
        asked = (subject, entity, named, attribute, hops, as_of, valid_at, min_confidence, reader)
        cut = Cut.of("related", asked, limit, after)
        snapshot, at = self._lists.seen_at(self._queries.snapshot(as_of), valid_at, cut)
        found = self._relations.related(
            subject,
            entity,
            named,
            attribute,
            hops,
            snapshot,
            at,
            min_confidence=self._core.rulebook.refreshed().floor(min_confidence),
            sight=self._readers.sight(reader),
        )
        seen = None if snapshot is None else snapshot.position
        return cut.of_all(found, self._relations.key, seen, at)

    @replicated
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
        where: Where | Mapping[str, object] | None = None,
        limit: int | None = None,
        after: str | None = None,
        reader: str | None = None,
    ) -> Page[BeliefAnswer]:
        """What happened: memories of type `event`, in order of time, and no others.

        With `start` or `end`, those that may have happened in [start, end): the whole day, week or
        month counts that their words mean, an approximate time a day more on either side, and an
        unknown one never. `on` says the window in words, such as "last tuesday" (as of now, or of
        `as_of`). `participant` is somebody who took part, or whom it is about, under any name.
        `where`, `limit`, `after` and `reader` are as for `beliefs`.
        """
        where, sight = Where.of(where), self._readers.sight(reader)
        self._lists.check(where)
        asked = (subject, start, end, on, participant, as_of, min_confidence, where, reader)
        cut = Cut.of("events", asked, limit, after)
        if on is not None and (start is not None or end is not None):
            raise InvalidQuery("on: say either on or start and end.")
        snapshot = self._lists.seen(self._queries.snapshot(as_of), cut)
        window = micros(start, "start"), micros(end, "end")
        if on is not None:
            now = self._queries.now() if snapshot is None else snapshot.at
            from beliefledger.reading.relations import window_of

            window = window_of(on, now)
        elif window[0] is not None and window[1] is not None and window[0] >= window[1]:
            raise InvalidQuery("end must come after start.")
        found = self._relations.events(
            subject,
            snapshot,
            window=window,
            participant=participant,
            min_confidence=self._core.rulebook.refreshed().floor(min_confidence),
            sight=sight,
        )
        return self._lists.page(found, where, snapshot, cut)

    @replicated
    def typed(
        self,
        subject: str | None = None,
        *,
        type: str | None = None,
        memory_id: str | None = None,
        quarantined: bool = False,
        where: Where | Mapping[str, object] | None = None,
        limit: int | None = None,
        after: str | None = None,
        reader: str | None = None,
    ) -> Page[Typed]:
        """What is believed now, each memory in the shape of its type (`gate.typed`): of a subject,
        of a type, or one memory by its id. `where`, `limit`, `after` and `reader` are as for
        `beliefs`, but each page tells what is believed when it is asked for."""
        from beliefledger.reading.typed import TypedQueries

        where = _where(where, type, None)
        self._lists.check(where)
        sight = self._readers.sight(reader)
        cut = Cut.of("typed", (subject, where, memory_id, quarantined, reader), limit, after)
        found = TypedQueries(self._core, self._queries).typed(
            subject, where=where, memory_id=memory_id, quarantined=quarantined, sight=sight
        )
        return cut.of_all(found, attrgetter("memory_id"))

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
        be replayed. `options` are the rarer wishes: `where`, who asks (`reader`), topics, weights.

        Raises `InvalidQuery` for what cannot be asked. A subject nobody knows, or who was erased,
        has nothing to find.
        """
        from beliefledger.search.request import SearchCall

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
        tokenizer: str | Tokenizer | None = None,
        k: int = 20,
        record: bool = True,
        by: str = SYSTEM,
        options: SearchOptions = DEFAULT,
    ) -> ContextAnswer:
        """What an agent puts before a model: `content` is the block, `lines` what it is made of.

        Standing constraints and a short profile come always, then what a search for the query finds
        (the best `k`), memories before episodes, no line twice. What is contested is told as
        contested, what is outdated as past. Each line has a citation, which `explain` takes for a
        memory, its date and how sure it is. `format` is text, markdown, xml or messages.

        The block has at most `max_tokens`, as `tokenizer` counts: a function of a text, "estimate"
        (a quarter of the characters), "bytes" (never too few), or one that a package registers; by
        default the one that the ledger was opened with.
        Unless `record` is False it is recorded as one recall. `options` are as for `search`: what
        `where` and `reader` leave out is in no part of the block. Raises `InvalidQuery` as `search`
        does, and for a budget in which not even the empty block fits.
        """
        from beliefledger.search.contexts import ContextCall

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
                options=options,
            )
        )

    # Taking back

    @traced(DELETE, lambda answer: {COUNT: 1, RECORD: answer.memory_id})
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
        memory: Named = UNNAMED,
        turn: Named = UNNAMED,
        session: Named = UNNAMED,
        retention: bool = False,
        revoked: bool = False,
        withdrawals: Sequence[str] | None = None,
        known_as: Sequence[str] = (),
        legal_basis: str | None = None,
    ) -> ErasureAnswer:
        """Forget a subject for good, or less of them: one `memory`, `turn` or `session`, what is
        older than its `retention`, what was `revoked` long enough ago, what `withdrawals` ended.
        `erasure.erase` says more, `erasure.preview` what would go. Raises `InvalidQuery` for one
        that is named and is None: it would mean all there is."""
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
        names in the log (`memory.admitted.v2`) or patterns (`memory.*`), `subjects` are people.
        Close it to stop following. Raises `InvalidQuery` for a type that no event has and for a
        position that the log has not reached, past which nothing would be told until it is, and
        where it does not follow, `UnknownMemory` for somebody nobody knows.
        """
        if after > 0:
            with suppress(BackendUnavailable):  # it is followed once the store answers
                check_reached(after, self._log.head().position)
        for each in () if follow or subjects is None else subjects:
            with suppress(NotPermitted):  # erased: what there is of them has no name
                self._core.known_subject(each)
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

    def wait(self, position: int, seconds: float) -> bool:
        """Wait until something is recorded past a position; False when the time is over first."""
        return self._log.wait(position, seconds)

    def _refs_of(self, subjects: Sequence[str]) -> list[str]:
        """The references of those who are known by now and not erased."""
        if isinstance(subjects, str) or not isinstance(subjects, Collection):
            raise InvalidQuery("subjects: give a list of names, or None for everybody.")
        refs = []
        for subject in subjects:
            with suppress(NotPermitted):
                ref = self._log.subject(subject)
                if ref is not None:
                    refs.append(ref)
        return refs

    def status(self, *, digests: bool = False) -> StatusAnswer:
        """How the ledger is: positions, the queue, what waits for a person, the views.

        `digests` computes those of the views, which reads all of the log; without it there are
        those that were computed before, if nothing has happened since.
        """
        with suppress(LedgerError):  # a log that takes nothing is to be asked how it is
            self._core.recorder.flush()
        answer = self._views.status(digests=digests)
        return answer.model_copy(
            update={
                "ledger": str(self.place),
                "extractor": self._core.current_extractor.name,
                "consumers": answer.consumers and self.webhooks.with_problems(answer.consumers),
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


def _where(
    given: Where | Mapping[str, object] | None, type: str | None, topic: str | None
) -> Where:
    """The filter, with what is also asked for by a keyword of its own. Raises `InvalidQuery` where
    the two say different things."""
    where = Where.of(given)
    for name, said in (("type", type), ("topic", topic)):
        if said is not None and getattr(where, name) not in {None, said}:
            raise InvalidQuery(f"where: it says another {name} than {name} does.")
    return replace(where, type=type or where.type, topic=topic or where.topic)


def _receipt(receipt: Receipt, state: ReadState) -> TurnReceipt:
    return TurnReceipt(
        turn_id=receipt.turn_id,
        position=receipt.position,
        already=receipt.already,
        pending=state.pending,
        problem=state.problem,
    )
