"""Notes: sentences that a person would want remembered and that no rule can type. Pure.

A note is one sentence as it was said. Whether it is worth keeping is scored by `scorers`; what is
never one is in notes.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from beliefledger.gate import deadline, scorers
from beliefledger.gate.antecedents import FILLERS, FIRST_PERSON, hangs, name_before
from beliefledger.gate.asking_tails import asks_behind, told_until
from beliefledger.gate.coming_days import coming
from beliefledger.gate.literals import Guarded, Line, Table, lowered
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules import bare_nouns, hyperboles, idioms, replies
from beliefledger.gate.rules.findings import topic_of
from beliefledger.gate.rules.languages import is_foreign as is_foreign_language
from beliefledger.gate.rules.lexicon import BASES, PETS, Form, verb_form
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.rules.subjects import left_out_across
from beliefledger.gate.sentences import preceding, sentences
from beliefledger.gate.speech import is_foreign, speech_act
from beliefledger.ledger.candidate import Candidate, Span, Speech, SpeechAct
from beliefledger.ledger.data_files import data
from beliefledger.ledger.late_patterns import compile_later

ATTRIBUTE = "note.said"
SHORTEST, LONGEST = 10, 400
"""Of a sentence, in characters."""
FEWEST_WORDS = 3
FEWEST_IN_CLAUSE = 4
LONGEST_TURN = 4_000
"""In characters: what is longer is a document, not talk."""
CHAT = 200
"""The longest turn, in characters, that is more like chat than like talk with an assistant."""
_WORTH_IN_TALK = 0.75
_PLANNED = compile_later(r"\b(?:going to|gonna)\b", re.IGNORECASE)
IMPORTANCE = 300_000
USUAL, USUAL_WORDS = 16, 4
"""A sentence of fewer characters or words tells little of how it is meant."""
FRAGMENT = 0.75
"""From what score on a sentence without subject and verb counts as one about the speaker."""
CLAUSE = 0.7
"""From what score on a clause is kept where another one of its sentence was typed, or asks."""
LEAST_SURE, SURE = 350_000, 250_000
"""e of a note is the first, and this much of the second as its score is: at most .6, where a typed
statement has .9."""
_SINCERE = frozenset(
    {SpeechAct.STATEMENT, SpeechAct.CHANGE, SpeechAct.CORRECTION, SpeechAct.REMOVAL}
)


@cache
def _data() -> dict[str, Any]:
    read: dict[str, Any] = data("beliefledger.gate", "notes.yaml")
    return read


@cache
def _about_speaker() -> Table[Line]:
    """How people speak of themselves without "I" or "my"."""
    return _table("about the speaker", re.IGNORECASE)


@cache
def _never() -> Table[Line]:
    """What a note never has, in lower case: special categories, secrets, code, orders, where
    somebody is just now, long quotations."""
    return _table("never")


@cache
def _seldom() -> Table[Line]:
    """What a note seldom has, in lower case: requests, hearsay, errors, people in general."""
    return _table("seldom")


@cache
def _secrets() -> Table[Line]:
    """What lets somebody in or pay, in lower case."""
    return _table("secrets")


def tells_secret(sentence: str) -> bool:
    """Whether a sentence has what lets somebody in or pay, beyond what redaction takes out."""
    return _has(_secrets(), sentence)


def _has(table: Table[Line], sentence: str) -> bool:
    lower = sentence.lower()
    return any(each.pattern.pattern.search(lower) for each in table.possible(lowered(lower)))


def _table(name: str, flags: int = 0) -> Table[Line]:
    return Table(Line(Guarded(scorers.filled(each), flags)) for each in _data()[name].values())


def beside(found: list[Candidate], turn: Speech, earlier: Sequence[Speech] = ()) -> list[Candidate]:
    """These candidates and the notes of the turn, in the order of their first spans. No note is
    made of a sentence of which something was found but how somebody is called."""
    called = [
        span
        for each in found
        for span in each.spans
        if is_called(each, span) and _TOGETHER.match(turn.content, span.end) is None
    ]
    taken = [
        (span.start, span.end)
        for each in found
        for span in each.spans
        if not span.turn and span not in called
    ]
    reads = readable(turn, earlier, taken)
    noted = [_note(turn, *read) for read in reads if _is_so_unnamed(turn, read, called)]
    kept = [_answering(each, turn, earlier) for each in noted if each is not None]
    if not kept:
        return found
    if len(kept) > 1:
        kept = _widest(kept)
    return sorted([*found, *kept], key=lambda c: (c.spans[0].start, c.spans[0].end))


def is_called(found: Candidate, span: Span) -> bool:
    """Whether a candidate took of its sentence nothing but how somebody near or a pet is called,
    "my brother Tom": the rest may be worth a note."""
    if span.turn or _NEAR.match(found.attribute) is None:
        return False
    words = span.quote.lower().split()
    named = found.claim.endswith(f" is {found.value}") and span.quote.endswith(found.value)
    return named and words[0] in ("my", "our") and _SAYING_SO.isdisjoint(words)


def _is_so_unnamed(turn: Speech, read: _Read, called: Sequence[Span]) -> bool:
    """Whether a sentence in which somebody is called by their name is worth a note without it, too:
    a name makes much of "my sister Ana just called"."""
    claim, spans = read
    for each in called:
        if spans[-1].start <= each.start and each.end <= spans[-1].end:
            unnamed = each.quote.rpartition(" ")[0]
            claim = claim.replace(each.quote, unnamed)
    return claim == read[0] or _note(turn, claim, spans) is not None


def _answering(note: Candidate, turn: Speech, earlier: Sequence[Speech]) -> Candidate:
    """A note with the question before it: "Which nights do you work? mon, tue and thurs"."""
    own = note.spans[-1]
    if not earlier or earlier[-1].role != "assistant" or turn.content[: own.start].strip():
        return note
    if len(turn.content) > _LONGEST_ANSWER or "?" in turn.content:
        return note
    asked = replies.last_question(earlier[-1])
    if asked is None or (_ANSWERS.match(own.quote) is None and not _is_fragment(own.quote)):
        return note
    claim = f"{asked.quote} {note.claim}"
    if category_of(claim) is not None:
        return note
    return note.model_copy(update={"claim": claim, "spans": (asked, *note.spans)})


_LONGEST_ANSWER = 120
_ANSWERS = compile_later(
    r"\W*(?:yes|yeah|yep|no|nope|not (?:yet|really|any ?more|at)|only|just|about|around|usually|"
    r"mostly|mainly|sometimes|every|twice|once|both|neither|mon|tue|wed|thu|fri|sat|sun)\b",
    re.I,
)
_TOGETHER = compile_later(r" and (?:i|me)\b", re.I)
"""Behind a name, where the rest is of both: "my fiance Oisin and i live above a chipper"."""
_NEAR = compile_later(
    r"relation\.(?:(?:step)?(?:mother|father|brother|sister|son|daughter|child)|cousin|aunt|uncle|"
    r"niece|nephew|grand\w+|(?:best-)?friend|partner|spouse|reports-to|works-with|boss|manager|"
    r"girlfriend|boyfriend|wife|husband|fianc\w+|colleague|flatmate|roommate|housemate|"
    r"neighbou?r|landlord|" + "|".join(sorted(PETS)) + r")\b"
)
_SAYING_SO = frozenset("is isn't isnt it's its are was were used called named name name's".split())


def _widest(notes: list[Candidate]) -> list[Candidate]:
    """Without the notes whose sentence another note has, too."""
    spans = [each.spans[-1] for each in notes]
    return [
        note
        for note, own in zip(notes, spans, strict=True)
        if not any(each.start <= own.start < own.end < each.end for each in spans)
    ]


def _note(turn: Speech, claim: str, spans: tuple[Span, ...]) -> Candidate | None:
    """The note of a sentence; None where it is not worth one, or not for a note."""
    sure = _sure(turn.content, claim)
    if sure < scorers.threshold("note"):  # no kind of note takes less: which, need not be known
        return None
    if sure < scorers.threshold(_kind(turn.content, claim)) or is_foreign_language(turn.content):
        return None
    act = sincere_act(turn.content, claim, spans[-1])
    if act is None:
        return None
    return Candidate(
        claim=claim,
        spans=spans,
        type=NOTE,
        attribute=ATTRIBUTE,
        value=spans[-1].quote,
        act=act,
        topic=topic_of(claim),
        importance=IMPORTANCE,
        confidence=LEAST_SURE + round(SURE * sure),
        when=coming(claim, turn.said_at),
    )


def _kind(text: str, claim: str) -> str:
    """Which threshold a sentence has to reach."""
    if _POINTING.match(claim) or _has(_seldom(), claim):
        return "note with words of none"
    if _PLANNED.search(claim) is not None:
        return "note of a plan"
    if scorers.may_not_be_so(claim):
        return "note of what may not be so"
    if len(text) > CHAT:
        return "note in talk"
    few = len(claim) < USUAL or claim.count(" ") < USUAL_WORDS - 1
    return "note in few words" if few and not _is_spoken(claim) else "note"


def _sure(text: str, sentence: str) -> float:
    """How surely a sentence of a turn is to be kept. In chat, where what is said is more often not
    meant, only the scorer of that counts; in longer turns it is more often of no worth."""
    sentence = hyperboles.without(sentence)
    earnest = scorers.earnest(sentence)
    if len(text) <= CHAT:
        return earnest
    return _WORTH_IN_TALK * scorers.worth(sentence) + (1 - _WORTH_IN_TALK) * earnest


def sincere_act(text: str, claim: str, said: Span) -> SpeechAct | None:
    """What the speaker does with a sentence; None where it is never a note, whatever it scores."""
    if is_foreign(text, said.end - 1) or _is_never(said.quote) or category_of(claim) is not None:
        return None
    act = speech_act(text, said.start, said.end)
    return act if act in _SINCERE else None


def _is_none(sentence: str) -> bool:
    """Whether a sentence has words that a note has never or seldom."""
    return _is_never(sentence) or _has(_seldom(), sentence)


def _is_never(sentence: str) -> bool:
    sentence = hyperboles.without(sentence)
    if _has(_never(), sentence) or tells_secret(sentence) or idioms.is_jest(sentence):
        return True
    if category_of(sentence) is not None:
        return True
    return scorers.sensitive(sentence) >= scorers.threshold("sensitive")


_POINTING = compile_later(
    rf"^\W*+(?:(?:{FILLERS})\b[\s,]*+){{0,3}}"
    r"(?P<who>he|she|his|her|him|they|their|theirs|it|its|that|this|these|those|"
    r"(?:both|neither)(?! (?:of )?(?:our|my|us)\b)|"
    r"such|the (?:former|latter|same)|one of (?:them|these|those))\b"
    r"(?! (?:said|being said|week|weekend|month|year|summer|winter|spring|fall|autumn|morning|"
    r"afternoon|evening|time|past|last|coming|days?)\b)",
    re.IGNORECASE,
)
_ONE_PERSON = frozenset({"he", "she", "his", "her"})
_OWN = frozenset({"his", "her"})
_WITH_NOUN = compile_later(
    r"\W*+(?:\w+\W++){0,3}?(?:this|that|these|those) "
    r"(?!(?:is|was|are|were|be|has|had|have|will|would|can|could|should|may|might|must|does|did|do|"
    r"way|kind|sort|one|ones|said|looks?|sounds?|works?|worked|makes?|made|helps?|helped)\b)\w+",
    re.IGNORECASE,
)
""" "this january we get the kitchen done": what is pointed at is named."""


_PARTING = compile_later(
    r"[,;:.!?(–—]\s|\s[–—-]\s|"
    r"\s(?=(?:and|but|so|because|now that|though|although|even though|whereas)\s)"
)
_JOINING = compile_later(
    r"\W*+(?:(?:and|but|so|because|also|then|since|as|considering|given|now that|that|even though|"
    r"though|although|while|whereas|seeing as)\s++){1,3}",
    re.IGNORECASE,
)
"""What joins a clause to the one before it."""
_ITEM = (
    r"(?!(?:and|but|so|my|our|i|i['’]\w+|we|he|she|it|they|who|which|that|because|then|now|not|is|"
    r"was|also|please|just)\b)[\w'’&+#-]{1,24}(?: (?!and\b|or\b)[\w'’&+#-]{1,24}){0,2}"
)
_LIST_TAIL = compile_later(
    rf"(?:, {_ITEM}){{1,6}},? (?:and|or) {_ITEM}(?=\W*$|[.!;])", re.IGNORECASE
)
"""The rest of a list, behind its first thing."""
_LEAD = compile_later(r"\W*+(?:by the way|btw|fyi|of course|for example)\b\W*+", re.IGNORECASE)


_Read = tuple[str, tuple[Span, ...]]


def readable(
    turn: Speech, earlier: Sequence[Speech] = (), taken: Sequence[tuple[int, int]] = ()
) -> Iterator[_Read]:
    """The sentences of a turn that may be notes if they score well, without those of which some
    words are `taken`: each as a claim, with its spans, its own last."""
    text = turn.content
    if len(text) > LONGEST_TURN:
        return
    for start, end in _eligible(text, taken):
        read = resolved(turn, earlier, start, end)
        if read is not None:
            yield read


def is_of_length(text: str, start: int, end: int) -> bool:
    """Whether the sentence text[start:end] is neither too short nor too long for a note."""
    return SHORTEST <= end - start <= LONGEST and text.count(" ", start, end) >= FEWEST_WORDS - 1


def _eligible(text: str, taken: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for start, end in sentences(text):
        deadline.check()
        if not is_of_length(text, start, end) or text[end - 1] == ":":
            continue
        if left_out_across(text, start, end) or bare_nouns.is_of_another(text, start, end):
            continue  # by itself it would be the speaker's
        marked = text[end - 1] == "?"
        until = told_until(text, start, end)
        asks = marked or until is not None
        if until is not None and _is_worth_a_note(text, start, until, taken):
            yield start, until
        if not asks and not any(begin < end and start < stop for begin, stop in taken):
            chat = len(text) <= CHAT and not asks_behind(text, start, end)
            if (chat and not _CODE.search(text, start, end)) or _is_spoken(text[start:end]):
                yield start, end
            continue
        rest = [
            (begin, stop)
            for begin, stop in _left_over(text, start, end - marked, taken)
            # Of a question only what is told behind it, as its reason.
            if not (asks and begin == start)
            and (until is None or begin >= until)
            and _is_worth_a_note(text, begin, stop, ())
        ]
        said = text[start:end]
        # In a question each clause is looked at by itself, whether it is told beside the question.
        if asks or (rest and speech_act(text, start, end) in _SINCERE and not _is_none(said)):
            yield from rest


def _is_worth_a_note(text: str, start: int, end: int, taken: Sequence[tuple[int, int]]) -> bool:
    """Whether a clause of which nothing was found may stand for itself, and is probably meant."""
    if any(low < end and start < high for low, high in taken):
        return False
    return _is_statement(text, start, end) and scorers.earnest(text[start:end]) >= CLAUSE


_CODE = compile_later(r"\b(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{6,}\b|\d(?:[ -]?\d){6}", re.IGNORECASE)
""" "C4J7KLM22", "12 34 56 7": what lets somebody in or names a document, as likely as not."""


@lru_cache(maxsize=64)
def _is_spoken(sentence: str) -> bool:
    """Whether the words of a sentence show that it is about the speaker. In chat, where they do
    not, its score may."""
    return FIRST_PERSON.search(sentence) is not None or _is_of_speaker(sentence)


def _is_statement(text: str, start: int, end: int) -> bool:
    """Whether a clause may stand for itself: four words or more that begin with their subject."""
    lead = _LEAD.match(text, start, end)
    begin = start if lead is None else lead.end()
    if not is_of_length(text, begin, end) or text.count(" ", begin, end) < FEWEST_IN_CLAUSE - 1:
        return False
    spoken = FIRST_PERSON.match(text, begin, end) is not None
    return spoken or _is_of_speaker(text[begin:end], fragments=False)


def _left_over(
    text: str, start: int, end: int, taken: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """The clauses of a sentence of which nothing was found, where something was found of others:
    a second fact is not lost."""
    begin = start
    for parting in (*_PARTING.finditer(text, start, end), None):
        stop = end if parting is None else parting.start()
        if stop < begin:
            continue
        tail = _LIST_TAIL.match(text, stop, end)  # "Netflix, Spotify and HBO" is one
        stop = stop if tail is None else tail.end()
        if begin < stop and not any(low < stop and begin < high for low, high in taken):
            lead = _JOINING.match(text, begin, stop)
            yield (begin if lead is None else lead.end()), stop
        begin = stop if parting is None or tail is not None else parting.end()


_THERE = compile_later(
    r"\bthere\b(?!['’]s| (?:is|are|was|were|will|has|have|had)\b)", re.IGNORECASE
)


def _is_of_speaker(sentence: str, *, fragments: bool = True) -> bool:
    """Whether a sentence without "I" or "my" speaks of the speaker all the same, or may."""
    if _POINTING.match(sentence):
        return True
    if _THERE.search(sentence):
        return False  # it says something of a place that another sentence names
    about = _about_speaker().possible(lowered(sentence))
    if any(each.pattern.pattern.search(sentence) for each in about):
        return True
    return fragments and _is_fragment(sentence) and scorers.worth(sentence) >= FRAGMENT


def _is_fragment(sentence: str) -> bool:
    """Whether a sentence has neither subject nor verb, so that the speaker is left out: "huge fan
    since 98". A whole sentence without "I" may be about anything."""
    words = scorers.WORD.findall(sentence.lower())
    if len(words) < FEWEST_IN_CLAUSE or ":" in sentence or is_foreign_language(sentence):
        return False
    if _WERE.match(sentence) is not None:
        return True
    first, *rest = words
    many = first.endswith("s")
    return verb_form(first)[1] is Form.NONE and not any(
        word in _FINITE or word in BASES or _has_subject(verb_form(word)[1], many=many)
        for word in rest
    )


def _has_subject(form: Form, *, many: bool) -> bool:
    """Whether a verb of this form has a subject before it. A base is a noun as often ("shift"),
    unless several are spoken of."""
    return form is Form.PAST or (many and form in (Form.BASE, Form.BASE_OR_PAST))


_FINITE = frozenset(
    "is are was were be am isn't aren't wasn't isnt arent wasnt has have had hasn't hasnt "
    "can can't cant could will won't wont would should must may might do does did don't "
    "dont doesn't doesnt it's its that's thats there's theres they you he she it they're "
    "theyre you're youre here's what how why who hows whats wheres ".split()
)
_WERE = compile_later(
    r"\W*+(?:so |but |and )?were (?!(?:you|they|there|the|these|those|it|people|all)\b)\w"
)
""" "were in a caravan": "we're"."""


def resolved(turn: Speech, earlier: Sequence[Speech], start: int, end: int) -> _Read | None:
    """A sentence as its claim and its spans. Where its subject is "he" or "she", the name for it
    takes its place, with the words that have that name; None where nobody can tell who is meant."""
    text = turn.content
    sentence = text[start:end]
    said = Span(start=start, end=end, quote=sentence)
    pointing = _POINTING.match(sentence)
    if pointing is None:
        if _GOING_ON.match(sentence) is not None:
            said = _with_one_before(text, start, end) or said
        elif hangs(sentence):
            both = _with_one_before(text, start, end)
            if both is None:
                return None
            said = both
        return said.quote, (said,)
    who = pointing["who"].lower()
    name = name_before(turn, earlier, start, who) if who in _ONE_PERSON else None
    if name is None:  # what it tells of the speaker may be enough
        tells = _WITH_NOUN.match(sentence) and FIRST_PERSON.search(sentence)
        return (sentence, (said,)) if tells else None
    own = "'s" if who in _OWN else ""
    at = pointing.start("who")
    claim = f"{sentence[:at]}{name.quote}{own}{sentence[pointing.end('who') :]}"
    return claim, (name, said)


_GOING_ON = compile_later(
    r"\W*+(?:(?:and|but|so|then|also|plus|still|only|just|finally|apparently|luckily|sadly)\s++){0,2}"
    r"(?:is|isn['’]?t|has|hasn['’]?t|does|doesn['’]?t|due|begins|ends|finishes|"
    r"starts|lives|works|goes|comes|gets|needs|wants|likes|loves|hates|moves|leaves|plays|studies|"
    r"turns|opens|closes|costs|takes|speaks|sleeps|eats|drives|keeps|makes|teaches|wears|stays|"
    r"arrives|flies|hopes|thinks|says|knows|lasts|runs out|used to be)\b",
    re.IGNORECASE,
)
"""Begins a sentence that says something of whom the one before it named: "starts in March"."""


def _with_one_before(text: str, start: int, end: int) -> Span | None:
    """The sentence with the one before it; None where there is none, or both are too long."""
    before = preceding(text, start)
    if before is None or end - before[0] > LONGEST:
        return None
    return Span(start=before[0], end=end, quote=text[before[0] : end])
