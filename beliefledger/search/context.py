"""A context for a prompt: which lines it has, and what of them fits into a budget. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime

from beliefledger.answers import BeliefAnswer
from beliefledger.gate.sentences import sentences
from beliefledger.gate.slots import canonical_text
from beliefledger.gate.taken_back import AGENTS
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidQuery
from beliefledger.projections.aboutness import ABOUT
from beliefledger.projections.routing import asks_agent
from beliefledger.projections.search_terms import terms
from beliefledger.projections.showing import Run, says_nothing
from beliefledger.projections.slot_routing import asked_for, with_same
from beliefledger.search.answers import FoundAnswer, StandingAnswer
from beliefledger.search.context_text import (
    Block,
    ContextLine,
    Format,
    Section,
    Tokenizer,
)
from beliefledger.search.told_turns import shares_a_term
from beliefledger.search.turn_words import TurnWords

SHORT = 10
"""The characters of a citation, unless two lines begin alike."""
LEAST, SHARE = 5.0, 0.4
"""The least score of what is told, and the least share of the best one's. A text with every term of
a question has 15 and more, one with a common term of several about 3."""
ANSWERED = 0.95
"""How much a memory is about the slot that is asked for where it answers the question. A turn then
needs more to be told beside it: a word of the question, to be about the slot (`ABOUT`), a score
that is `AS_GOOD` a share of the best, or a place among the first `FEW` by its words."""
AS_GOOD, FEW = 0.8, 3
_ABOUT_TALK = re.compile(
    r"\b(?:i|we) (?:just |ever |already )?(?:ask|say|said|mention|tell|told|talk|discuss)", re.I
)
"""What a question has that asks for what was said, questions and pleasantries included."""
_AHEAD = frozenset({"event", "commitment", "note"})
"""Types of what may be planned."""
_OF_A_DAY = frozenset({"event", "note"})
"""Types of what happened or was said on a day, and does not hold from then on."""
_SAYS_MORE = 3
"""A turn says more than the memory that came of it if it has so many words that this has not."""


class ContextAnswer(Frozen):
    """What an agent puts before a model."""

    recall_id: str | None
    """Of the record of this context, for `recalls`; None where it has no line or is not
    recorded."""
    subject: str
    query: str
    purpose: str
    position: int
    """The log as it was read."""
    valid_at: datetime
    format: Format
    content: str
    """The block, to be put before a model; of `messages` that of the one message."""
    messages: tuple[dict[str, str], ...]
    """The block as a list of messages, whatever the format."""
    lines: tuple[ContextLine, ...]
    """In the order of the block."""
    tokens: int
    max_tokens: int
    counted_by: str
    """The name of the tokenizer."""
    estimated: bool
    """Whether the count is an estimate; the model may count more."""
    left_out: int
    """Lines for which the budget had no room."""
    pending: int
    """Turns that are not decided yet: nothing of them is shown."""
    notes: tuple[str, ...]


Runs = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line that may go in. `spans` are the words that a memory came of, by turn."""

    line: ContextLine
    claim: str
    spans: Mapping[str, Runs] = field(default_factory=dict)
    said: TurnWords | None = None
    """Of a turn: its words."""


def of_memory(
    belief: BeliefAnswer, section: Section, standing: StandingAnswer, now: datetime
) -> Candidate:
    """A memory as a line: as past where it is outdated, or was planned for a time that is over by
    now, else as contested where it is, else in its section."""
    planned, over = _planned(belief), plan_is_over(belief, now)
    outdated = standing.state == "outdated" or over
    contested = standing.state == "contested" or belief.contested or bool(belief.contradicts)
    happened = belief.event_from if belief.type == "event" or planned else None
    line = ContextLine(
        citation=belief.memory_id,
        id=belief.memory_id,
        kind="memory",
        section="past" if outdated else "contested" if contested else section,
        text=belief.text,
        since=belief.valid_from if happened is None else happened,
        until=belief.valid_to or (standing.since if outdated else None),
        at=belief.type in _OF_A_DAY,
        precision="day" if happened is None else belief.event_precision,
        planned=planned and (over or standing.state != "outdated"),
        confidence=belief.confidence,
        superseded_by=standing.superseded_by if outdated else None,
    )
    spans: dict[str, Runs] = {}
    for each in belief.evidence:
        spans[each.turn_id] = (*spans.get(each.turn_id, ()), (each.start, each.end))
    return Candidate(line, canonical_text(belief.text), spans)


def plan_is_over(belief: BeliefAnswer, now: datetime) -> bool:
    """Whether what was planned was for a time that is over by now."""
    return _planned(belief) and belief.event_to is not None and belief.event_to <= now


def _planned(belief: BeliefAnswer) -> bool:
    """Whether it was said before it was to happen."""
    if belief.type not in _AHEAD or belief.event_from is None or not belief.evidence:
        return False
    return max(each.said_at for each in belief.evidence) < belief.event_from


def telling(results: Sequence[FoundAnswer], query: str) -> list[FoundAnswer]:
    """The results that have enough to do with the query for a place before a model: memories of the
    slot that is asked for, and what comes near the best. A search shows more. The question itself
    is none, nor is the same question of another day."""
    asked = canonical_text(query)
    others = [each for each in results if each.memory or canonical_text(each.text) != asked]
    best = max((each.score for each in others), default=0.0)
    asked_words = asked_for(query).terms
    near = [
        each
        for each in others
        if each.score >= max(LEAST, SHARE * best)
        or (each.memory and "slot" in each.arms)
        or _of_slot(each) >= ANSWERED
        or (each.score >= SHARE * best and _answers(each, asked_words))
    ]
    if not any(each.memory and _of_slot(each) >= ANSWERED for each in near):
        return near
    return [each for each in near if each.memory or _goes_with(each, query, best)]


def _of_slot(found: FoundAnswer) -> float:
    arm = found.arms.get("slot")
    return 0.0 if arm is None else arm.score


def _answers(found: FoundAnswer, asked: Sequence[str]) -> bool:
    """Whether a result is about what is asked, or has all that is asked about. Where little was
    said its score is low even so: a word that most texts have counts for next to nothing."""
    if _of_slot(found) >= ABOUT:
        return True
    own = frozenset(terms(found.text))
    return bool(asked) and all(not with_same(each).isdisjoint(own) for each in asked)


def _goes_with(turn: FoundAnswer, query: str, best: float) -> bool:
    """Whether a turn has its own part in what is asked, where a memory answers it already."""
    words = turn.arms.get("words")
    return (
        shares_a_term(query, turn.text)
        or _of_slot(turn) >= ABOUT
        or turn.score >= AS_GOOD * best
        or (words is not None and 0 < words.rank <= FEW)
    )


def of_found(
    found: FoundAnswer, turns: Mapping[str, TurnWords], query: str, now: datetime
) -> Candidate | None:
    """A result of a search as a line. None for a turn whose words are no longer there, or that
    tells nothing: one that only asks, and what an agent said of something else."""
    standing = found.standing
    if found.memory is not None:
        return of_memory(found.memory, "memories", standing, now)
    words = turns.get(found.id)
    if words is None or found.episode is None or not _tells(words, found.episode.role, query):
        return None
    outdated = standing.state == "outdated"
    line = ContextLine(
        citation=found.id,
        id=found.id,
        kind="episode",
        section="past" if outdated else "contested" if _disputed(standing) else "episodes",
        text=words.told(marked=not outdated or words.is_of_several),
        since=found.episode.said_at,
        until=standing.since if outdated else None,
        at=True,
        speaker=found.episode.speaker,
        role=found.episode.role,
        superseded_by=standing.superseded_by if outdated else None,
    )
    return Candidate(line, canonical_text(line.text), said=words)


def _tells(words: TurnWords, role: str, query: str) -> bool:
    """Whether a turn tells anything that may have to do with a question."""
    shown = words.told(marked=False)
    if says_nothing(shown):
        return False
    if asks_agent(query) or _ABOUT_TALK.search(query) is not None:
        return True
    return shares_a_term(query, _stated(shown)) if role in AGENTS else words.stating


def _stated(text: str) -> str:
    """A text without its questions: "And you work at Red Bull?" may have been answered with no."""
    said = (text[start:end] for start, end in sentences(text))
    return " ".join(each for each in said if not each.rstrip("\"'”’) ").endswith("?"))


def _disputed(standing: StandingAnswer) -> bool:
    return standing.state == "contested"


def merged(
    candidates: Sequence[Candidate], taken_up: Mapping[str, str] | None = None
) -> list[ContextLine]:
    """The lines in the order in which they are wanted, none twice: memories before episodes, the
    same claim once, and a memory and the turns that it came of as one, with the sentence where that
    says more. Citations are as short as may be. `taken_up` are the later turns by which something
    is perhaps outdated, by its id."""
    memories: list[Candidate] = []
    claims: set[tuple[str, bool]] = set()
    for each in candidates:
        # What was once so and is so again is told as both.
        key = each.claim, each.line.section == "past"
        if each.line.kind == "memory" and key not in claims:
            claims.add(key)
            memories.append(each)
    of_turn: dict[str, int] = {}
    for number, each in enumerate(memories):
        for turn_id in each.spans:
            of_turn.setdefault(turn_id, number)
    lines = [each.line for each in memories]
    episodes: list[ContextLine] = []
    for each in candidates:
        if each.line.kind == "memory":
            continue
        of = of_turn.get(each.line.id)
        if of is not None:
            if lines[of].words is None and each.line.role not in AGENTS:
                spans = memories[of].spans[each.line.id]
                words = "" if each.said is None else each.said.around(spans)
                if _says_more(canonical_text(words), memories[of].claim):
                    lines[of] = lines[of].model_copy(update={"words": words})
            episodes += _past(each, memories)
        elif (key := (each.claim, each.line.section == "past")) not in claims:
            claims.add(key)
            episodes.append(each.line)
    told = [*lines, *episodes]
    if taken_up:
        by_turn = {turn_id: lines[number].id for turn_id, number in of_turn.items()}
        told = [_doubted(line, taken_up, by_turn) for line in told]
    return _cited(told)


def _doubted(
    line: ContextLine, taken_up: Mapping[str, str], by_turn: Mapping[str, str]
) -> ContextLine:
    """A line with what says of it later that something changed: the turn, or the line of the memory
    that came of it."""
    later = taken_up.get(line.id)
    if later is None or line.section == "past":
        return line
    by = by_turn.get(later, later)
    return line if by == line.id else line.model_copy(update={"taken_up_by": by})


def _past(turn: Candidate, memories: Sequence[Candidate]) -> list[ContextLine]:
    """What else was said in a turn of which a memory has a line, and is no longer so."""
    if turn.said is None or turn.line.section == "past":
        return []
    told = [run for each in memories for run in each.spans.get(turn.line.id, ())]
    return [
        turn.line.model_copy(
            update={
                "section": "past",
                "text": text,
                "until": over.since,
                "superseded_by": over.by,
            }
        )
        for text, over in turn.said.past(told)
    ]


def _says_more(words: str, claim: str) -> bool:
    return len(set(words.split()) - set(claim.split())) > _SAYS_MORE


def _cited(lines: Sequence[ContextLine]) -> list[ContextLine]:
    """Each line with a citation that no other line has, and what took its place by its own."""
    ids = {line.id for line in lines}
    ids |= {line.superseded_by for line in lines if line.superseded_by is not None}
    ids |= {line.taken_up_by for line in lines if line.taken_up_by is not None}
    length = SHORT
    while len({each[:length] for each in ids}) < len(ids):
        length += 1
    return [
        line.model_copy(
            update={
                "citation": line.id[:length],
                "superseded_by": line.superseded_by and line.superseded_by[:length],
                "taken_up_by": line.taken_up_by and line.taken_up_by[:length],
            }
        )
        for line in lines
    ]


@dataclass(frozen=True, slots=True)
class Fitted:
    """The lines that fit, in the order of the block, and the block."""

    lines: tuple[ContextLine, ...]
    content: str
    tokens: int
    left_out: int


def fitted(
    lines: Sequence[ContextLine],
    subject: str,
    format_: Format,
    budget: int,
    count: Tokenizer,
) -> Fitted:
    """As many lines as the budget has room for, in the order in which they are wanted. A line that
    is too long is left out, and shorter ones after it may go in.

    Raises `InvalidQuery` where there is not even room for the block without lines.
    """
    spent = count(Block(subject, format_).text())
    if spent > budget:
        raise InvalidQuery(
            f"max_tokens is {budget}, and the block alone takes {spent}: give at least that."
        )
    block = Block(subject, format_)
    kept: list[ContextLine] = []
    for line in lines:
        more = count(block.added(line))
        if spent + more > budget + len(kept) + 1:
            continue
        block.add(line)
        if spent + more > budget:  # pieces count a little more than the whole
            whole = count(block.text())
            if whole > budget:
                block.remove(line)
                continue
            more = whole - spent
        kept.append(line)
        spent += more
    # What is counted piece by piece may be a little off: the block itself is what counts.
    content = block.text()
    while (spent := count(content)) > budget:
        block.remove(kept.pop())
        content = block.text()
    return Fitted(tuple(block.lines()), content, spent, len(lines) - len(kept))


def as_messages(content: str) -> tuple[dict[str, str], ...]:
    """The block as messages: the user's, so that nothing remembered speaks as the system."""
    return ({"role": "user", "content": content},)
