"""Whether words are meant as true of who says them, beyond the first cues of `speech`. Pure.

Denials, doubts, guesses, hedges, figures of speech, boasts taken back, drafts for somebody, what a
test said, games. The cues are data (`rules/sincerity.yaml`, and `rules/jests.yaml` for jests).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from beliefledger.gate.cues import Cues
from beliefledger.gate.literals import Guarded, Table, lowered
from beliefledger.ledger.candidate import SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_CUES = Cues("rules/sincerity.yaml")
_JESTS = Cues("rules/jests.yaml").lines("jests")
_ORDERED = _CUES.guarded("ordered")
_DOUBTED = _CUES.pattern("before_doubted")
_DENIED = _CUES.pattern("span_denied")
_ENDED = _CUES.pattern("ended")
_EXAMPLE = _CUES.guarded("example")
_FIGURES = tuple(" ".join(each.split()) for each in _CUES["figures"].split(","))
_NEXT = _CUES.pattern("next_retracted")
_TAKEN_BACK = _CUES.pattern("next_taken_back")
_JOKED = _CUES.pattern("before_joked")
_NEGATED = _CUES.pattern("span_negated")
_HEADING = _CUES.pattern("heading")
_UNTRUE = _CUES.pattern("untrue")


class _Cue(NamedTuple):
    """A line of cues, and the act that it tells of."""

    pattern: Guarded
    act: SpeechAct


def _cues(acts: Mapping[str, SpeechAct]) -> Table[_Cue]:
    """The lines of some blocks, in their order."""
    return Table(_Cue(line, act) for block, act in acts.items() for line in _CUES.lines(block))


_SENTENCE = _cues(
    {
        "mock": SpeechAct.SARCASTIC,
        "figure": SpeechAct.SARCASTIC,
        "played": SpeechAct.ROLE_PLAY,
        "hedged": SpeechAct.HYPOTHETICAL,
        "guessed": SpeechAct.HYPOTHETICAL,
    }
)
_JEST = Table(_Cue(line, SpeechAct.SARCASTIC) for line in (*_CUES.lines("jest"), *_JESTS))
_BEFORE = _cues(
    {
        "before_denied": SpeechAct.QUOTED,
        "before_handed": SpeechAct.QUOTED,
        "before_reported": SpeechAct.QUOTED,
        "before_supposed": SpeechAct.HYPOTHETICAL,
        "before_guessed": SpeechAct.HYPOTHETICAL,
        "before_played": SpeechAct.HYPOTHETICAL,
        "before_doubted": SpeechAct.HYPOTHETICAL,
    }
)
_AFTER = (
    (_CUES.guarded("after_retracted"), SpeechAct.SARCASTIC),
    (_CUES.guarded("after_guessed"), SpeechAct.HYPOTHETICAL),
)


_GOES_ON = compile_later(r"\b(?:and|or|also)\s*$|&\s*$", re.I)
_SPEAKER = compile_later(r"\b(?:i|my|we|our)\b", re.I)
_COLON = compile_later(r":(?=\s)")
_MARKED_OFF = compile_later(r"\s?(?:\"[^\"\n]{1,600}\"|“[^”\n]{1,600}”)")
_MOST = 4
_CLAUSE = compile_later(r"[,;:!?()]|\s[–—-]\s|\b(?:and|but|so|because|while|though)\b", re.I)
_NEAR = 40
"""How far behind the words what takes them back may begin, in characters."""


class Place(NamedTuple):
    """Words in their sentence: what stands before, they themselves, what stands behind them, and
    the sentence after theirs."""

    before: str
    span: str
    after: str
    following: str

    @property
    def clause(self) -> str:
        """The words with what stands around them up to the next clause on each side."""
        begins = max((found.end() for found in _CLAUSE.finditer(self.before)), default=0)
        ends = _CLAUSE.search(self.after)
        after = self.after if ends is None else self.after[: ends.start()]
        return self.before[begins:] + self.span + after


def insincere(place: Place) -> SpeechAct | None:
    """The act of words that are not meant as true of the speaker; None where they may be."""
    whole = place.before + place.span + place.after
    low = lowered(whole)
    before = _BEFORE.possible(low)
    for lead in _leads(place) if before else ():
        for cue in before:
            if cue.pattern.pattern.search(lead) and not _says_what_is_so(lead, place.span):
                return cue.act
    quoted = [cue.pattern.pattern for cue in before if cue.act is SpeechAct.QUOTED]
    for lead in _within(place) if quoted else ():
        if any(line.search(lead) for line in quoted):
            return SpeechAct.QUOTED
    if _DENIED.match(place.span):
        return SpeechAct.QUOTED
    if any(cue.pattern.pattern.search(whole) for cue in _JEST.possible(low)) or _joked(place):
        return SpeechAct.SARCASTIC
    said = place.span + place.after
    for behind, act in _AFTER:
        found = behind.search(said, low)
        if found is not None and not _parted(place, found.start()):
            return act
    following = place.following
    if following and (_NEXT.fullmatch(following) or _TAKEN_BACK.match(following)):
        return SpeechAct.SARCASTIC
    clause = place.clause
    if any(map(clause.lower().replace("’", "'").__contains__, _FIGURES)):
        return SpeechAct.SARCASTIC
    for cue in _SENTENCE.possible(low):
        if cue.pattern.pattern.search(clause):
            return cue.act
    return None


def _says_what_is_so(lead: str, span: str) -> bool:
    """Whether words only deny once more what is not true: "that's not true, I don't live there"."""
    return _UNTRUE.match(lead) is not None and _NEGATED.search(span) is not None


def _joked(place: Place) -> bool:
    """Whether it was a joke, as is told now: "just kidding, I don't have six wives"."""
    told = _JOKED.search(place.before + place.span)
    if told is None:
        return False
    return _NEGATED.search((place.before + place.span)[told.end() :]) is not None


def is_heading(sentence: str) -> bool:
    """Whether a paragraph that begins like this is a story: "Chapter 1."."""
    return _HEADING.match(sentence) is not None


def _parted(place: Place, at: int) -> bool:
    """Whether what begins at `at` of the words and what follows them is of another clause."""
    between = place.after[: max(0, at - len(place.span))]
    return len(between) > _NEAR or _CLAUSE.search(between) is not None


def _leads(place: Place) -> list[str]:
    """What stands before the words, and what stands before the clauses that they go on: in "the
    quiz says I'm shy and I like tea" the quiz says both. A span that only comes to its speaker
    later ("that says I live here") is led by its own beginning, too. What stands before a colon
    leads all that follows, unless quotation marks tell where that ends."""
    before = place.before
    found = [before] if before.strip() else []
    if found and _GOES_ON.search(before):
        found += [before[: each.start()] for each in islice(_SPEAKER.finditer(before, 1), _MOST)]
    found += [
        before[: each.end()]
        for each in islice(_COLON.finditer(before), 1)
        if _MARKED_OFF.match(before, each.end()) is None
    ]
    speaker = _SPEAKER.search(place.span)
    if speaker is not None and speaker.start():
        found.append(before + place.span[: speaker.start()])
    return found


def _within(place: Place) -> list[str]:
    """The beginnings of the words themselves after which somebody else may speak: a whole sentence
    may be "Write a tweet: I moved"."""
    ends = [found.start() for found in islice(_SPEAKER.finditer(place.span, 1), _MOST)]
    ends += [found.end() for found in islice(_COLON.finditer(place.span), 1)]
    return [place.before + place.span[:end] for end in ends]


def ordered(text: str) -> bool:
    """Whether the machine is told to remember what it would have to grant."""
    return _ORDERED.search(text, lowered(text)) is not None


def as_example(before: str) -> bool:
    """Whether words after these may be only an example."""
    return _EXAMPLE.search(before, lowered(before)) is not None


def doubted_end(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The words that make text[start:end] the end of something, with what they begin and end with:
    "I don't think I live in Basel anymore"."""
    lead = _DOUBTED.search(text, max(0, start - _NEAR), start)
    if lead is None:
        return None
    begins = lead.start()
    if "no longer" in lead[0].lower():
        return begins, end
    over = _ENDED.search(text, start, min(len(text), end + len(" any longer")))
    return None if over is None else (begins, max(end, over.end()))
