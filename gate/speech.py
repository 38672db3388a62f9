"""What a speaker does with words: states, asks, quotes, imagines, jokes, or gives orders.

Pure functions over text. The gate calls them on every candidate, whoever proposed it, so they
accept any text and any span inside it. Cues are surface cues of English. When in doubt they
answer with the act that makes the gate more careful.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from beliefledger.gate import asking_tails, scorers, sincerity
from beliefledger.gate.cues import HELP_ASKED, READING, TASKS_SET
from beliefledger.gate.frames import frames
from beliefledger.gate.literals import Guarded, lowered
from beliefledger.gate.orders import CUES, instruction_like
from beliefledger.gate.pasted_text import pasted
from beliefledger.gate.sentences import sentences, wonders
from beliefledger.gate.set_tasks import Task, tasks
from beliefledger.ledger.candidate import SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_PRETEND = CUES.pattern("pretend")
_IMAGINE = CUES.pattern("imagine")
_SCENE = CUES.pattern("scene")
_FICTION = CUES.guarded("fiction")
_GAME = CUES.pattern("game")
_JOKE = CUES.pattern("joke")
_DEMAND = CUES.pattern("demand")
_SARCASM = CUES.pattern("sarcasm")
_CHANGING = CUES.guarded("changing")
_REMOVING = CUES.guarded("removing")
_SARCASM_WORDS = tuple(CUES["sarcasm_words"])


class _Layout(NamedTuple):
    sentences: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]
    foreign: tuple[tuple[int, int], ...]
    """In order, and apart from each other."""
    framed: tuple[tuple[int, int], ...]
    """The same with frames of other speakers, which the first edition does not know."""
    scene: tuple[SpeechAct | None, ...]
    """For each sentence, the scene that an earlier one of its paragraph has set."""
    told: tuple[bool, ...]
    """For each sentence, whether the first of its paragraph is the heading of a story. The first
    edition does not know them."""
    tasks: tuple[Task, ...]
    """What is only set as a task, as of `TASKS_SET`."""


@lru_cache(maxsize=4)
def _layout(text: str) -> _Layout:
    spans, foreign = tuple(sentences(text)), pasted(text)
    return _Layout(
        spans,
        tuple(start for start, _ in spans),
        _apart(foreign),
        _apart([*foreign, *frames(text)]),
        _scenes(text, spans),
        _told(text, spans),
        tuple(tasks(text)),
    )


def _apart(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The ranges in order, overlapping ones joined."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


_PARAGRAPH = compile_later(r"\n\s*\n")
_OUT_OF_IT = compile_later(
    r"\W*(?:(?:ok(?:ay)?|but|and|so|now)\W+){0,2}(?:out of character|ooc\b|in real life|irl\b|for "
    r"real\b|seriously(?: though| now)?,|(?:all )?jok(?:es|ing) aside|end (?:of )?(?:scene|game|"
    r"role-?play)|back to reality|in all seriousness)",
    re.I,
)
"""Where somebody steps out of a scene."""


def _scenes(text: str, spans: tuple[tuple[int, int], ...]) -> tuple[SpeechAct | None, ...]:
    """A scene ("Let's pretend.") holds for what follows it up to the end of its paragraph."""
    found: list[SpeechAct | None] = []
    scene: SpeechAct | None = None
    ended = 0
    for start, end in spans:
        if scene is not None and (
            _PARAGRAPH.search(text, ended, start) or _OUT_OF_IT.match(text, start)
        ):
            scene = None
        found.append(scene)
        sentence = text[start : min(end, start + _NEAR)]
        if scene is None and not sentence.endswith("?") and _SCENE.match(sentence):
            imagined = _IMAGINE.search(sentence) is not None
            scene = SpeechAct.HYPOTHETICAL if imagined else SpeechAct.ROLE_PLAY
        ended = end
    return tuple(found)


def _told(text: str, spans: tuple[tuple[int, int], ...]) -> tuple[bool, ...]:
    found: list[bool] = []
    ended = 0
    for start, end in spans:
        if not found or _PARAGRAPH.search(text, ended, start):
            found.append(sincerity.is_heading(text[start : min(end, start + _NEAR)]))
        else:
            found.append(found[-1])
        ended = end
    return tuple(found)


def is_foreign(text: str, start: int, reading: int = READING) -> bool:
    """Whether `start` is in words that are quoted or pasted, and so not the speaker's.

    A quotation that opens later is a title, or words that the speaker says of themselves.
    """
    foreign = _layout(text).framed if reading else _layout(text).foreign
    at = bisect_right(foreign, (start, len(text))) - 1
    return at >= 0 and start < foreign[at][1]


_REPORTED = Guarded(
    r"\b(?:(?:[Mm]y|[Oo]ur|[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Yy]our|[Aa]|[Oo]ne|[Ss]ome)\s++"
    r"(?:[\w-]+\s++){1,3}|[Hh]e|[Ss]he|[Tt]hey|[Pp]eople|[Ee]veryone|[Ss]omeone|somebody|"
    r"[A-Z][a-z]+)\s*(?:always |once |just |still |also |often |has |had )?"
    r"(?:says?|said|told (?:me|us|everyone|him|her|them)|tells me|claims?|claimed|thinks?|thought|"
    r"believes?|insists?|insisted|wrote|writes|keeps saying|joked|swears|swore)\b"
    r"(?:\s+(?:that|how))?[\s:,]*(?:[\"“'‘][^\"”]{0,600})?$"
)
_IF = compile_later(
    r"\b(?:if|unless|in case|assuming|provided(?: that)?|whether|even if|as long as|"
    r"were i|had i|should i)\b",
    re.I,
)
_WOULD_IF = compile_later(r"\b(?:i'd|i would|i could|i might)\b", re.I)
_AUTHORITY = Guarded(
    r"\b(?:i(?:['’]?m| am)|as|being)\s+(?:actually |really |in fact |also )?(?:an?|the|your)\s+"
    rf"(?:[\w-]+\s+){{0,3}}{CUES['parts']['authority']}\b",
    re.I,
)
_SO = compile_later(
    r"[^.!?]{0,60}?(?:,|;|\s-|\s—|\band\b|\.)?\s*+\b(?:so|therefore|which means|that means|"
    r"hence)\b\s*+(?:,\s*+)?(?:you (?:can|should|may|must|need)|(?:please |just )?(?:walk|tell|"
    r"give|explain|show|skip|drop|don'?t|do not|let|help|be|go|answer|share|speak|talk|provide|"
    r"unlock|grant|trust)\b|it'?s (?:ok|okay|fine|safe))",
    re.I,
)
_AS_DEMANDED = Guarded(
    r"\bas an?\s+(?:[\w-]+\s+){0,3}[\w-]+\s*,\s*i (?:need|require|demand|order|expect) you\b|"
    rf"\bas an?\s+(?:[\w-]+\s+){{0,2}}{CUES['parts']['authority']}"
    r"\s*,\s*i (?:need|want|require|demand|must|am (?:allowed|entitled|authori[sz]ed))\b",
    re.I,
)
_SELF = compile_later(r"\bi(?:['’]?m| am| live| work)\b", re.I)
_SAY = compile_later(r"^(?:ok(?:ay)?,? |so,? |now,? |and )?say,?\s+(?:that\s+)?$", re.I)
_CORRECTING = compile_later(
    r"^(?:(?:oh|hm+|well|wait|ah|um+|uh)[,.!\s]+)*(?:no|nope|nah|correction|i meant|i mean|"
    r"that'?s (?:not right|wrong|incorrect|not correct)|(?:you'?re|that is) wrong|not quite|"
    r"sorry|my mistake|i misspoke|let me correct|scratch that)\b"
    r"(?![\s,]+(?:problem|worries|one|need|idea|more|longer|matter|doubt|way|"
    r"to hear|about|for|if|but|i (?:don'?t|haven'?t|didn'?t)))",
    re.I,
)
_NOT_THAT = Guarded(
    r",\s*(?:and )?not\s+(?!(?:just|only|even|really|sure|to mention|yet|as)\b)\w", re.I
)
_MEANT = Guarded(r"\bi (?:meant|misspoke)\b|\brather than what i said\b|\bcorrection:", re.I)
_ASKING = compile_later(
    r"^(?:(?:so|and|but|also|well|oh|hey|hi|hello|ok|okay|anyway|then|actually|sorry|thanks|"
    r"thank you|by the way|btw)[,!\s]+)*"
    r"(?:do|does|did|can|could|would|will|should|is|are|am|was|were|"
    r"have|has|had|what|what's|who|who's|where|when|why|how|how's|which|whose|may|might|shall|"
    r"any|isn't|aren't|don't|doesn't|didn't|can't|won't|wouldn't)\b",
    re.I,
)
_ASK_LATER = compile_later(
    r"(?:^|[,;:—–(-]|\b(?:so|and|but|or|then))\s*(?:so |and |but |please |then |also ){0,6}"
    r"(?:do|does|did|can|could|would|will|should|is|are|was|were|have you|has|what|what's|who|"
    r"where|why|how|which|any|may|might|got any|know any|right|correct|maybe|what about|"
    r"how about)\b",
    re.I,
)
_WONDER_LATER = compile_later(
    r"(?:^|[,;:—–(-]|\b(?:so|and|but|or|then))\s*(?:so |and |but |please |then |also ){0,6}"
    r"(?:i(?:['’]?m| am| was|['’]ve been) (?:just |also |really )?(?:wondering|curious)|"
    r"i wonder|if you|let me know)\b",
    re.I,
)
"""As of the second edition: "…, and I was wondering …?"."""
_PRESUPPOSED = compile_later(
    r"(?:my|our)(?:\s++(?!(?:an?|the|is|are|was|were|has|have|had|will|be|do|does|did|can|"
    r"good)\b)[\w.’'-]++){2,6}$|(?:my|our)\s++(?:dog|cat|puppy|kitten|rabbit|parrot|horse)s?$|"
    r"(?:the|that|those|these|my|our|an?)\s++(?:[\w’'-]++\s++){1,7}?(?:that |which )?(?:i|"
    r"we)(?:['’]ve)?\s++(?:(?:just|also|recently)\s++)?[a-z]++",
    re.I,
)
"""What a question takes for granted: "for my 2016 Polo", "the necklace I got in May"."""
_BECAUSE = compile_later(
    r"(?:\b(?:since|because|as|given that|considering(?: that)?|now that|seeing as|that)\s*|"
    r"[,(—–-]\s*(?:and |but |by the way,? |btw,? )?)$",
    re.I,
)
_NEAR = 600
"""How many characters on each side of a span are looked at: keeps the work bounded."""
_SHORT = 120
"""The longest sentence that takes back the one before, in characters."""
_COMMA = compile_later(r"[,;:—–]")


def speech_act(text: str, start: int, end: int, reading: int = READING) -> SpeechAct:
    """What the speaker does with the words `text[start:end]`, by an edition of the cues.

    Looks at their sentence, and at the sentences beside it where a scene is set ("Let's role-play.
    I am a knight."). A span over several sentences is judged by its first.
    """
    return _act(text, start, end, reading)


# The gate asks again what the extractor has asked about the same words just before.
@lru_cache(maxsize=64)
def _act(text: str, start: int, end: int, reading: int) -> SpeechAct:
    layout = _layout(text)
    if is_foreign(text, start, reading):
        return SpeechAct.QUOTED
    known = layout.tasks if reading >= TASKS_SET else ()
    set_as = next((each.act for each in known if each.start <= start < each.end), None)
    if set_as is not None:
        return set_as
    index = max(0, bisect_right(layout.starts, start) - 1)
    if not layout.sentences:
        return SpeechAct.STATEMENT
    low, high = layout.sentences[index]
    low, high = max(low, start - _NEAR), max(min(high, end + _NEAR), end)
    sentence, before = text[low:high], text[low:start]
    span, after = text[start:end], text[end:high]
    if instruction_like(sentence, reading):
        return SpeechAct.INSTRUCTION
    following = _following(text, layout, index) if reading else ""
    place = sincerity.Place(before, span, after, following)
    lower = lowered(sentence)
    return (
        _not_meant(sentence, before, span, after, lower)
        or layout.scene[index]
        or (SpeechAct.ROLE_PLAY if reading and layout.told[index] else None)
        or _asked(sentence, before, span, after, reading)
        or _sarcastic_or_leverage(text, layout, index, sentence, span + after)
        or (sincerity.insincere(place) if reading else None)
        or _revision(sentence, span, lower)
    )


def _following(text: str, layout: _Layout, index: int) -> str:
    """The sentence after one, if it is short."""
    if index + 1 >= len(layout.sentences):
        return ""
    low, high = layout.sentences[index + 1]
    return text[low:high] if high - low <= _SHORT else ""


def as_example(text: str, start: int) -> bool:
    """Whether the words from `start` may be only an example, by what stands before them."""
    layout = _layout(text)
    index = max(0, bisect_right(layout.starts, start) - 1)
    low = layout.sentences[index][0] if layout.sentences else 0
    return sincerity.as_example(text[max(low, start - _NEAR) : start])


def _not_meant(sentence: str, before: str, span: str, after: str, low: str) -> SpeechAct | None:
    """Quoted, pretended, imagined or conditional speech."""
    if _REPORTED.search(before, low):
        return SpeechAct.QUOTED
    if _PRETEND.search(before) or _PRETEND.match(span):
        return SpeechAct.ROLE_PLAY
    if _IMAGINE.search(before) or _IMAGINE.match(span) or _SAY.match(before):
        return SpeechAct.HYPOTHETICAL
    scene = _SCENE.match(sentence)
    if scene is not None and scene.end() <= len(before):
        return SpeechAct.ROLE_PLAY
    if _FICTION.search(sentence, low) or (
        _SELF.match(span) and _GAME.search(before + span + after)
    ):
        return SpeechAct.HYPOTHETICAL
    openings = [each for each in _IF.finditer(before) if not _is_question(each, sentence)]
    if openings and not _COMMA.search(before, openings[-1].end()):
        return SpeechAct.CONDITIONAL
    if _IF.match(span) or (_WOULD_IF.search(span) and _IF.search(sentence)):
        return SpeechAct.CONDITIONAL
    return None


def _is_question(opening: re.Match[str], sentence: str) -> bool:
    """Whether "should I" asks: "what should I get my wife?", and not "should I be late, …"."""
    if opening[0].lower() not in _ASKS_TOO:
        return False
    asked = sentence.rstrip("\"'”’)* ").endswith("?")
    return asked or _ASKED_WHAT.search(opening.string, 0, opening.start()) is not None


_ASKS_TOO = frozenset({"should i", "had i", "were i"})
_ASKED_WHAT = compile_later(
    r"\b(?:what|how|where|when|which|who|why)(?: (?!i\b)[\w'’-]++){0,3} $", re.I
)


def _asked(sentence: str, before: str, span: str, after: str, reading: int) -> SpeechAct | None:
    """A question, unless the words are a statement beside the question ("I live here, is …?")."""
    if not sentence.rstrip("\"'”’)* ").endswith("?") or wonders(sentence):
        return None
    if reading and _PRESUPPOSED.match(span):
        return None
    if _ASKING.match(before) or (not before and _ASKING.match(sentence)):
        return None if _BECAUSE.search(before) else SpeechAct.QUESTION
    if _ASK_LATER.search(before):
        return None if _BECAUSE.search(before) else SpeechAct.QUESTION
    if _ASK_LATER.search(after) or (reading and _WONDER_LATER.search(after)):
        return None
    for_help = reading >= HELP_ASKED and asking_tails.for_help(after)
    return None if for_help else SpeechAct.QUESTION


def _sarcastic_or_leverage(
    text: str, layout: _Layout, index: int, sentence: str, from_here: str
) -> SpeechAct | None:
    if _sarcastic(sentence) or _JOKE.search(from_here):
        return SpeechAct.SARCASTIC
    if index:
        low, high = layout.sentences[index - 1]
        opening = _SARCASM.match(text, low, high)
        if opening is not None:
            return SpeechAct.SARCASTIC
    if index + 1 < len(layout.sentences):
        low, high = layout.sentences[index + 1]
        following = text[low:high]
        if following.startswith("/s") or following.lower().startswith(
            ("yeah right", "yeah, right")
        ):
            return SpeechAct.SARCASTIC
        joke = _JOKE.search(following)
        if joke is not None and joke.start() < 8:
            return SpeechAct.SARCASTIC
        demanded = _DEMAND.match(following)
        if following[:3].lower() == "so " or demanded is not None:
            sentence = f"{sentence} {following}"
    return SpeechAct.LEVERAGE if _leverage(sentence) else None


def _leverage(sentence: str) -> bool:
    """Whether the speaker's standing is given as the reason to be told or allowed something."""
    low = lowered(sentence)
    if _AS_DEMANDED.search(sentence, low):
        return True
    standing = _AUTHORITY.search(sentence, low)
    return standing is not None and (
        _DEMAND.search(sentence) is not None or _SO.match(sentence, standing.end()) is not None
    )


def _sarcastic(sentence: str) -> bool:
    may = any(map(sentence.lower().__contains__, _SARCASM_WORDS))
    return may and _SARCASM.search(sentence) is not None


def _revision(sentence: str, span: str, low: str) -> SpeechAct:
    """Whether a sincere statement corrects, changes or ends something said before."""
    if _NOT_THAT.search(span, low) or _MEANT.search(sentence, low) or _CORRECTING.match(sentence):
        return SpeechAct.CORRECTION
    if _REMOVING.search(span, low):
        return SpeechAct.REMOVAL
    if _CHANGING.search(span, low):
        return SpeechAct.CHANGE
    return SpeechAct.STATEMENT


def forget() -> None:
    """Empty the cache, which may hold words of an erased subject."""
    _layout.cache_clear()
    _act.cache_clear()
    scorers.forget()
