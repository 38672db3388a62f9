"""Why something is not believed: the candidates like a claim, and what stopped each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime

from beliefledger.answers import DecisionAnswer
from beliefledger.gate.decision import TurnView
from beliefledger.gate.outcomes import Outcome, Reason
from beliefledger.gate.reasons import meanings
from beliefledger.gate.registry import SlotRule
from beliefledger.gate.rules.extractor import RuleExtractor
from beliefledger.gate.rules.languages import is_foreign
from beliefledger.gate.rules.lexicon import BASES
from beliefledger.gate.sentences import sentences
from beliefledger.gate.slots import canonical_attribute, canonical_entity, canonical_text
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.codec import Raw
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidQuery
from beliefledger.ledger.events.turn import CandidateProposed, ExtractionCompleted, TurnRecorded
from beliefledger.ledger.names import check_text
from beliefledger.ledger.times import to_datetime
from beliefledger.opening.core import Core
from beliefledger.projections import digests, questions, turn_questions
from beliefledger.projections.decisions import DecisionsView
from beliefledger.projections.questions import DecisionRow
from beliefledger.projections.showing import BLANK
from beliefledger.projections.turns import TurnRow, TurnsView
from beliefledger.reading.likeness import ALIKE, Claim
from beliefledger.reading.queries import Queries

_STOPPED = frozenset({Outcome.REJECT, Outcome.QUEUE, Outcome.ESCALATE, Outcome.QUARANTINE})
_LET_IN = frozenset({"approved", "promoted"})
"""What may become of a candidate that was stopped at first."""
_STATES = {
    "pending": "It waits for its extraction: run `beliefledger process`.",
    "parked": "It was set aside, since reading it failed: see `beliefledger ops retry`.",
    "extracted": "It was read, and nothing like the claim was noticed.",
}
_UNREAD = "It was not read: it is in a language that its extractor does not read."

Slot = tuple[str, str]
Only = Callable[[Sequence[DecisionAnswer]], Collection[str]]
"""Which of some decisions may be matched, by their ids."""
Said = Callable[[Sequence[str]], Mapping[str, str]]
"""What turns say as far as it may be told, by their ids; without those of which nothing may be."""


class LikeCandidate(Frozen):
    """A candidate that is like a claim, or is about the same slot."""

    decision: DecisionAnswer
    same_slot: bool
    likeness: float
    """The share of the claim's words that it uses, too."""
    speaker: str | None
    said_at: datetime | None
    sentence: str | None
    """Where it was said; None once the turn is erased."""
    advice: str | None
    """What the reader can do, where there is something; `decision.hint` has the commands."""


class NearTurn(Frozen):
    """A turn that waits, or whose words come near a claim."""

    turn_id: str
    position: int
    speaker: str
    said_at: datetime
    state: str
    likeness: float
    sentence: str
    """Its most alike sentence."""
    why: str
    """Why no candidate came of it."""


class WhyNotAnswer(Frozen):
    """Why something is not believed. Each list has the most alike first."""

    subject: str
    claim: str
    text: str
    """The answer in a sentence."""
    stopped: tuple[LikeCandidate, ...]
    got_in: tuple[LikeCandidate, ...]
    """What is believed, or was: `decision.became` says what became of it."""
    waiting: tuple[NearTurn, ...]
    """Turns that nobody has read yet, or that could not be read."""
    nearest: tuple[NearTurn, ...]
    """Where nothing like it was noticed: the turns that come near it."""
    left_out: int
    """How many more there are of all these."""
    erased: int
    """Decisions of the subject whose words are erased: nobody knows whether one was like it."""


@dataclass(frozen=True, slots=True)
class _Noticed:
    row: DecisionRow
    likeness: float
    slot: Slot
    value: str = ""


class CandidateQueries:
    """Reads candidates and turns like a claim."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries

    def why_not(
        self,
        subject: str,
        text: str,
        most: int,
        only: Only | None = None,
        said: Said | None = None,
    ) -> WhyNotAnswer:
        """Raises `InvalidQuery` for a claim without words, `UnknownMemory` and `NotPermitted` for
        somebody nobody knows, or who was erased."""
        ref = self._core.known_subject(subject)
        claim = Claim.of(check_text("claim", text), without=[subject])
        if not claim.words and not claim.numbers:
            raise InvalidQuery(f"claim: {text!r} has no word to look for; say it in a sentence.")
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise InvalidQuery("limit: at least 1.")
        with self._queries.view(DecisionsView.name) as (connection, generation):
            rows = questions.decided(
                connection, generation, questions.DecisionFilter(subject_ref=ref)
            )
        noticed = list(self._noticed(rows, claim))
        read_as = self._slots(text, subject)
        matched = noticed if only is None else self._allowed(noticed, read_as, only)
        alike, slots = self._alike(matched, read_as)
        answers = self._ended(self._queries.told([each.row for each in alike]))
        if only is not None:  # of a belief that was matched there may be others
            allowed = only(answers)
            told = [pair for pair in zip(alike, answers, strict=True) if _is_in(pair[1], allowed)]
            alike, answers = [each for each, _ in told], [each for _, each in told]
        stopped: list[tuple[_Noticed, DecisionAnswer]] = []
        got_in: list[tuple[_Noticed, DecisionAnswer]] = []
        for pair in zip(alike, answers, strict=True):
            (stopped if _is_stopped(pair[1]) else got_in).append(pair)
        waiting, read = self._turns(ref)
        unread = self._unread(read)
        waiting += [row for row in read if row.turn_id in unread]
        read = [row for row in read if row.turn_id not in unread]
        near = [
            each.model_copy(update={"why": _UNREAD}) if each.turn_id in unread else each
            for each in self._near(waiting, claim, said)
        ]
        nearest = [] if alike else [each for each in self._near(read, claim) if each.likeness]
        if said is not None and nearest:  # which one is near must not depend on withheld words
            ids = {each.turn_id for each in nearest}
            rows_near = [row for row in read if row.turn_id in ids]
            nearest = [each for each in self._near(rows_near, claim, said) if each.likeness]
        return WhyNotAnswer(
            subject=subject,
            claim=text,
            text=_summary(
                [each for _, each in stopped],
                [each for _, each in got_in],
                waiting,
                nearest,
                another=bool(got_in) and all(_is_another(each, read_as) for each, _ in got_in),
            ),
            stopped=tuple(self._like(*pair, slots) for pair in stopped[:most]),
            got_in=tuple(self._like(*pair, slots) for pair in got_in[:most]),
            waiting=tuple(near[:most]),
            nearest=tuple(nearest[:most]),
            left_out=sum(max(0, len(found) - most) for found in (stopped, got_in, near, nearest)),
            erased=len(rows) - len(noticed),
        )

    def _ended(self, answers: Sequence[DecisionAnswer]) -> list[DecisionAnswer]:
        """These decisions; of a memory that was recorded as past, how it ended. No decision tells
        that, since nothing became of it afterwards."""
        quiet = [each.memory_id for each in answers if each.became is None and each.memory_id]
        over = self._queries.over(list(dict.fromkeys(quiet)))
        return [
            each.model_copy(update={"became": over[each.memory_id]})
            if each.became is None and each.memory_id in over
            else each
            for each in answers
        ]

    def _noticed(self, rows: Sequence[DecisionRow], claim: Claim) -> Iterator[_Noticed]:
        """The candidates whose words are there, each with how like the claim it is."""
        words = {raw.position: raw for raw in self._log.raw_at([row.position - 1 for row in rows])}
        elsewhere = []
        for row in rows:  # a candidate stands right before its decision, but for odd ones
            raw = words.get(row.position - 1)
            if raw is None or raw.type != CandidateProposed.NAME:
                elsewhere.append(row)
            elif raw.body is not None:
                yield _compared(row, raw.body["candidate"], claim)
        found = digests.candidates_of(elsewhere, self._log) if elsewhere else {}
        for row in elsewhere:
            proposed = found.get((row.turn_id, row.candidate_version))
            if proposed is not None:
                yield _compared(row, proposed.candidate.model_dump(mode="json"), claim)

    def _allowed(
        self, noticed: Sequence[_Noticed], slots: Collection[Slot], only: Only
    ) -> list[_Noticed]:
        """Those that may be matched, with all that cannot be."""
        near = [each for each in noticed if each.likeness or each.slot in slots]
        answers = self._queries.told([each.row for each in near])
        allowed = only(answers)
        kept = {
            each.row.position
            for each, answer in zip(near, answers, strict=True)
            if _is_in(answer, allowed)
        }
        return [
            each
            for each in noticed
            if each.row.position in kept or not (each.likeness or each.slot in slots)
        ]

    def _slots(self, text: str, subject: str) -> dict[Slot, set[str]]:
        """The slots that the claim is about and the values that it gives them, as the rules read it
        and as the subject would say it."""
        read = [
            self._core.gate.reader.within_deadline(turn, (), RuleExtractor().extract)
            for said in dict.fromkeys((text, _as_said(text, subject)))
            for turn in (TurnView("", "user", said, self._queries.now()),)
        ]
        types = self._core.rulebook.refreshed().registry.types
        slots: dict[Slot, set[str]] = {}
        for each in (each for found in read for each in found.candidates):
            if each.type in types and types[each.type].slot is not SlotRule.CONTENT:
                of = slots.setdefault(_slot(each.entity, each.attribute), set())
                of.add(canonical_text(each.value))
        return slots

    def _alike(
        self, noticed: Sequence[_Noticed], slots: Collection[Slot]
    ) -> tuple[list[_Noticed], set[str]]:
        """Those like the claim or of its slot, that slot first, then by likeness, the newest first;
        and the beliefs that are its slot."""
        beliefs = {each.row.belief for each in noticed if each.slot in slots}
        best = max((each.likeness for each in noticed), default=0.0)
        if not beliefs and best >= ALIKE:
            beliefs = {each.row.belief for each in noticed if each.likeness == best}
        found = [each for each in noticed if each.row.belief in beliefs or each.likeness >= ALIKE]
        found.sort(key=lambda x: (x.row.belief in beliefs, x.likeness, x.row.position))
        return found[::-1], beliefs

    def _like(self, noticed: _Noticed, decision: DecisionAnswer, slots: set[str]) -> LikeCandidate:
        recorded = self._log.read_stream(noticed.row.turn_id, upto=1)[0]
        said = recorded.event if isinstance(recorded.event, TurnRecorded) else None
        at = None
        if said is not None:
            at = to_datetime(recorded.recorded_at if said.said_at is None else said.said_at)
        meaning = meanings()[Reason(decision.reason)]
        return LikeCandidate(
            decision=decision,
            same_slot=noticed.row.belief in slots,
            likeness=round(noticed.likeness, 4),
            speaker=said.said_by if said else None,
            said_at=at,
            sentence=_sentence(said.content, decision) if said else None,
            advice=meaning.advice if _is_stopped(decision) and not decision.settled_at else None,
        )

    def _turns(self, ref: str) -> tuple[list[TurnRow], list[TurnRow]]:
        """The turns that wait or are parked, and the others."""
        with self._queries.view(TurnsView.name) as (connection, generation):
            rows = turn_questions.turns_of(connection, generation, ref)
        waiting = [row for row in rows if row.state != "extracted"]
        return waiting, [row for row in rows if row.state == "extracted"]

    def _unread(self, rows: Sequence[TurnRow]) -> set[str]:
        """Those of the turns whose language the extractor does not read."""
        quiet = {row.position: row for row in rows if row.role == "user" and not row.candidates}
        return {
            quiet[raw.position].turn_id
            for raw in self._log.raw_at(list(quiet))
            if raw.body is not None
            and is_foreign(raw.body["content"])
            and any(
                isinstance(each.event, ExtractionCompleted) and each.event.not_read
                for each in self._log.read_stream(quiet[raw.position].turn_id)
            )
        }

    def _near(
        self, rows: Sequence[TurnRow], claim: Claim, said: Said | None = None
    ) -> list[NearTurn]:
        """These turns by how near the claim their words are, the newest of equals first. Those
        whose words are erased are left out. With `said`, a turn has the words that may be told."""
        by_position = {row.position: row for row in rows}
        told = None if said is None else said([row.turn_id for row in rows])
        found = []
        for raw in self._log.raw_at(list(by_position)):
            if raw.body is not None and raw.body["content"]:
                row, content = by_position[raw.position], raw.body["content"]
                if told is not None:
                    content = told.get(row.turn_id, BLANK)
                found.append(_near_turn(row, raw, claim, content))
        return sorted(found, key=lambda each: (-each.likeness, -each.position))


def _is_in(answer: DecisionAnswer, allowed: Collection[str]) -> bool:
    return answer.decision_id in allowed


def _as_said(text: str, subject: str) -> str:
    """A claim in the third person as the subject says it: "User lives in Porto", "lives in Porto"
    are "I live in Porto". Any other stays as it is."""
    words = text.split()
    named = words[0].casefold() in {"user", "he", "she", "they", subject.casefold()}
    verb = words[named] if len(words) > named else ""
    base = "am" if verb in {"is", "are"} else BASES.get(verb)
    if base is None and not named:
        return text
    return " ".join(("I", base or verb, *words[named + 1 :]))


def _slot(entity: str, attribute: str) -> Slot:
    return canonical_entity(entity), canonical_attribute(attribute)


def _compared(row: DecisionRow, candidate: dict[str, str], claim: Claim) -> _Noticed:
    said, value = candidate["claim"], candidate["value"]
    text = said if value in said else f"{said} ({value})"
    return _Noticed(
        row,
        claim.likeness(text),
        _slot(candidate.get("entity", "User"), candidate["attribute"]),
        canonical_text(value),
    )


def _is_another(noticed: _Noticed, slots: Mapping[Slot, Collection[str]]) -> bool:
    """Whether it gives a slot that a claim is about a value that is none of the claim's."""
    values = slots.get(noticed.slot, ())
    return bool(values) and not any(
        each in noticed.value or noticed.value in each for each in values
    )


def _is_stopped(decision: DecisionAnswer) -> bool:
    if decision.became is not None and decision.became.what in _LET_IN:
        return False
    again = decision.outcome == Outcome.CONFIRM and decision.reason != Reason.REPEATED
    return again or decision.outcome in _STOPPED


def _sentence(content: str, decision: DecisionAnswer) -> str:
    """The sentences of a turn in which a candidate was noticed."""
    span = decision.span
    if span is None or span.turn_id != decision.turn_id:
        return content
    found = [
        (start, end) for start, end in sentences(content) if start < span.end and span.start < end
    ]
    return content[found[0][0] : found[-1][1]] if found else span.text


def _near_turn(row: TurnRow, raw: Raw, claim: Claim, content: str) -> NearTurn:
    body = raw.body or {}
    best = max(
        ((claim.likeness(content[start:end]), -start, end) for start, end in sentences(content)),
        default=(0.0, 0, len(content)),
    )
    said_at = body.get("said_at")
    why = _STATES.get(row.state, "")
    if row.state == "extracted" and row.role != "user":
        why = f"It was not read: role {row.role}, which says nothing of the subject."
    elif row.state == "extracted" and not row.candidates:
        why = "It was read, and nothing was noticed in it."
    return NearTurn(
        turn_id=row.turn_id,
        position=row.position,
        speaker=body.get("speaker") or row.role,
        said_at=to_datetime(raw.recorded_at if said_at is None else said_at),
        state=row.state,
        likeness=round(best[0], 4),
        sentence=content[-best[1] : best[2]],
        why=why,
    )


def _summary(
    stopped: Sequence[DecisionAnswer],
    got_in: Sequence[DecisionAnswer],
    waiting: Sequence[TurnRow],
    nearest: Sequence[NearTurn],
    *,
    another: bool = False,
) -> str:
    """The answer in a sentence; `another` if what got in gives what it is about another value."""
    holds = [each for each in got_in if each.became is None or each.became.what in _LET_IN]
    parts = []
    if stopped:
        parts.append(f"{_statements(len(stopped))} about it {_was(len(stopped))} stopped")
    if got_in:
        over = len(got_in) - len(holds)
        said = f"{len(got_in)}" if parts else f"{_statements(len(got_in))} about it"
        gone = f", of which {over} {'does' if over == 1 else 'do'} not hold any more"
        value = " with another value" if another else ""
        parts.append(f"{said} got in{value}" + (gone if over else ""))
    if not parts:
        near = ", though some turns come near" if nearest else " in any turn"
        parts.append(f"Nothing like it was noticed{near}")
    if waiting:
        turns = "1 turn is" if len(waiting) == 1 else f"{len(waiting)} turns are"
        ever = "" if all(row.state == "extracted" for row in waiting) else " yet"
        parts.append(f"{turns} not read{ever}")
    return "; ".join(parts) + "."


def _statements(number: int) -> str:
    return "1 statement" if number == 1 else f"{number} statements"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"
