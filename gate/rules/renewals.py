"""Words that give a new value of something, as only who knows the old one can tell.

"First day at Initech went well" names an employer for whoever knows that there is one. What such
words may mean is found here; which memory they meet is asked by `beliefledger.gate.renewals`. The
words, frames and kinds of values are in `renewals.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from beliefledger.gate.literals import Guarded, lowered
from beliefledger.gate.rules.findings import RuleFinding, looked_up
from beliefledger.gate.rules.lexicon import WORDS, expanded, load
from beliefledger.gate.rules.normalised import spelt
from beliefledger.gate.rules.patterns import is_job, is_pastime
from beliefledger.gate.rules.slot_values import NO_PLACES
from beliefledger.gate.sentences import is_question
from beliefledger.ledger.late_patterns import compile_later

ATTRIBUTE = "event.renewal"
LONGEST = 240
_DATA: dict[str, Any] = load("renewals.yaml")
_CUE = Guarded(_DATA["cues"])
_STRONG = compile_later(_DATA["strong"])
_RAISED = compile_later(
    r"\b(?:transferred|moved|promoted|joined|reassigned|upgraded|downgraded|changed|put on|now|"
    r"as of|switched|bumped)\b"
)
_LIKED = compile_later(_DATA["liked"])
_DISLIKED = compile_later(_DATA["disliked"])
_PAIR = compile_later(
    r"\b(?=(?P<manner>(?!(?:the|an?|my|our|this|that|new|old|whole|another|of|for|in|to|with|from|"
    r"and|or|as|is|by)\b)[^\W\d_][\w-]{1,24}) (?P<head>[^\W\d_][\w-]{1,24})\b)",
    re.I,
)
_FAVORITE = compile_later(r"\bfav(?:ou?rite|e|s)?\b")
_DOES = compile_later(
    r" (?:got|gets|has|had|lost|released|launched|announced|added|crashed|updated|supports|shipped|"
    r"needs|wants|died)\b",
    re.I,
)
"""After the name of what does something itself: "the day shift got a new lead"."""
_GOES_TO = compile_later(
    r"\W*(?:(?:so|and|but|ok|then|finally|just|now|i|we|ive|weve|i['’]ve|we['’]ve|have|all|both|recently|"
    r"lately|yesterday|fully|completely)\W+){0,5}"
    r"(?:switched|swapped|changed|converted|gone|went|moved) (?:over )?to $",
    re.I,
)
_ALONE = compile_later(r"\W*(?:the|that|this|another|their|his|her) ?$", re.I)
_MOVING = compile_later(_DATA["moving"])
_BESIDE = compile_later(_DATA["beside"])
_PASSING = compile_later(_DATA["passing"])
_DOUBTS = compile_later(_DATA["doubts"])
OTHERS = frozenset(_DATA["others"].split())
_NO_NAMES = frozenset(_DATA["no_names"].split())
_MANY = frozenset(_DATA["many"].split())
_VAGUE = frozenset(_DATA["vague"].split())
_WORD = compile_later(r"[^\W_]+(?:[.'’&+-][^\W_]+)*[+#]*")
_SPACED = compile_later(r"[^\w+#-]+")
"""Between the words of a text that may have names: c++, gluten-free."""
_CLAUSE = compile_later(
    r"guess who(?:['’]?s)?|[;:.!?,()]|\b(?:and|but|so|because|since|cause|cuz|while)\b", re.I
)
_OVER = compile_later(
    r"\b(?:from|instead of|rather than|not|no|left|quit|dropped|ditched|without|than|old|ex|former|"
    r"out of|off|goodbye|bye|long|more|replaced|swapped|traded|gave up|given up|binned|sold)"
    r"(?: (?:an?|the|my|our|all))?\W*$",
    re.I,
)
"""Before the name of what is over."""


_MODEL = compile_later(
    r"(?: (?:[a-z]{1,4}[.-]?\d{1,3}[a-z]{0,2}|\d{3}[a-z]?|[235]008|model [3sxy])(?![\w/:.-]*\w)"
    r"(?! (?:miles|km|quid|euros|pounds|years|days|weeks|months)\b))?",
    re.I,
)
"""The model behind the name of a car: "ev6", "a3", "208"."""


class Frame(NamedTuple):
    """Words that say the value of a slot to whoever knows that there is one."""

    of: re.Pattern[str]
    says: tuple[Guarded, ...]
    never: re.Pattern[str] | None
    needs: re.Pattern[str] | None
    """What the turn says where the words have this sense: whoever "joined Acme" may work there."""
    any: bool
    """Whether the value is any words, and not a name."""
    jobs: bool
    """Whether the value says what somebody does for a living: "I'm a nurse now", and not "a vegan
    now"."""


class Kind(NamedTuple):
    """A kind of values: a pattern of its names or of the words around them (`new`), and the
    attributes that have such a value."""

    name: str
    names: re.Pattern[str]
    of: re.Pattern[str] | None
    only: bool
    """Whether only memories of these attributes have such values."""
    alone: bool
    """Whether somebody has one such value at a time."""
    cue: re.Pattern[str]
    """What a sentence says that gives a new one."""
    planned: bool
    """Whether it may be a value of what is to come."""

    first: frozenset[str]
    """The words that its names begin with; none where it has no names."""

    def may_be_in(self, low: str, words: frozenset[str]) -> bool:
        """Whether a text in lower case with these words may have a value of the kind."""
        return (
            self.cue.search(low) is not None if not self.first else not self.first.isdisjoint(words)
        )

    def found(self, text: str) -> Iterator[New]:
        """The values of the kind that a text has."""
        last: New | None = None
        for match in self.names.finditer(text):
            group = match.lastgroup or 0
            new = New(*match.span(group), match.start())
            if self.name == "car":
                model = _MODEL.match(text, new.end)
                new = new._replace(end=new.end if model is None else model.end())
            if last is not None and self.first and text[last.end : new.start] == " ":
                new = New(last.start, new.end, last.begin)  # "skoda octavia" is one name
            elif last is not None:
                yield last
            last = new
        if last is not None:
            yield last


class New(NamedTuple):
    """A new value: its offsets in the sentence, and where the words begin that say it."""

    start: int
    end: int
    begin: int
    leads: bool = False
    """Whether it stands before what it is of: "Ana is my tutor now"."""


def _last_word(said: str) -> str:
    return said.lower().split()[-1]


def _attributes(says: str) -> re.Pattern[str]:
    each = (re.escape(one).replace(r"\*", r"[\w.-]{1,60}") for one in says.split())
    return compile_later(rf"(?:{'|'.join(each)})$")


def _frames() -> tuple[Frame, ...]:
    parts = _DATA["parts"] | {
        "firm": "|".join(sorted(WORDS["companies"] - WORDS["joined_by_customers"]))
    }
    return tuple(
        Frame(
            _attributes(each["of"]),
            tuple(Guarded(expanded(say, parts), re.I) for say in each["says"]),
            compile_later(each["never"], re.I) if "never" in each else None,
            compile_later(each["needs"], re.I) if "needs" in each else None,
            bool(each.get("any") or each.get("jobs")),
            bool(each.get("jobs")),
        )
        for each in _DATA["frames"]
    )


def _kind(name: str, says: dict[str, Any]) -> Kind:
    first: frozenset[str] = frozenset()
    if "frame" in says:
        pattern = expanded(says["frame"], _DATA["parts"])
    else:
        listed = sorted((each.strip() for each in says["names"].split(",")), key=len, reverse=True)
        first = frozenset(word for each in listed for word in _SPACED.split(each)[:1])
        pattern = rf"(?<![\w.-])(?:{'|'.join(map(re.escape, listed))})(?![\w+#-])"
    of = says.get("attribute")
    return Kind(
        name,
        compile_later(pattern, re.I),
        compile_later(of) if of else _attributes(says["of"]) if "of" in says else None,
        of is not None,
        bool(says.get("alone")),
        compile_later(says["cue"]) if "cue" in says else _STRONG,
        bool(says.get("planned")),
        first,
    )


TOLD = {slot: compile_later(say, re.I) for slot, say in _DATA["told"].items()}
"""Which slot a note tells a value of, by its words."""
NOUNS = {
    slot: tuple(frozenset(each.split()) for each in says.split(", "))
    for slot, says in _DATA["nouns"].items()
}
"""What slots are called, by how their attributes begin."""
FRAMES = _frames()
KINDS = tuple(_kind(name, says) for name, says in _DATA["kinds"].items())


_TELLS = compile_later(r"\b(?:is|are)\b.{0,24}\d|\w['’]s .{0,16}\d", re.I)
"""A figure of something may be another than before, whatever else the sentence says."""


def may_be_in(text: str) -> bool:
    """Whether a text has any word after which something may be otherwise."""
    low = lowered(text)
    return _CUE.search(low, low) is not None or _TELLS.search(text) is not None


def findings(content: str, start: int, end: int) -> Iterator[RuleFinding]:
    """The sentence content[start:end], where it may give a new value of something."""
    while end > start and content[end - 1] in ".!,; ":
        end -= 1
    text = content[start:end]
    if not 0 < len(text) <= LONGEST or is_question(text):
        return
    low = lowered(text)
    if (
        (_CUE.search(low, low) is None and _TELLS.search(text) is None)
        or _BESIDE.search(low)
        or _PASSING.search(low)
        or _ONLY_OVER.match(low)
    ):
        return
    words = " ".join(dict.fromkeys(spelt_out(text).split()))
    if words:
        yield looked_up(content, start, end, ATTRIBUTE, words)


_ONLY_OVER = compile_later(
    r"\W*+(?:(?:so|and|but|well|also|oh|ok|just|sadly|actually)\b\W*+){0,2}(?:i|we|i['’]m|im|we['’]re)"
    r" (?:no longer [^,;:.!?–—-]{1,60}|"
    r"(?:don['’]?t|do not) [^,;:.!?–—-]{1,60} any ?(?:more|longer))\Z"
)
"""What tells only that something is over: "I no longer use vim or emacs"."""


def spelt_out(text: str) -> str:
    """The words of a text in lower case, without "'s", and people as they are called in full; of
    what is typed without the mark ("mums back home") the person, too."""
    said = [each.lower().replace("’", "'").removesuffix("'s") for each in _WORD.findall(text)]
    people = (each[:-1] for each in said if each[-1:] == "s" and each[:-1] in OTHERS)
    return " ".join(map(spelt, (*said, *people)))


class Sentence:
    """A sentence that may give a new value of something."""

    def __init__(self, text: str, turn: str = "") -> None:
        """`turn`: all that was said with it."""
        self.text = text
        self.turn = turn or text
        self.low = lowered(text)

    @cached_property
    def is_changed(self) -> bool:
        """Whether it has a word after which something may be otherwise."""
        return _CUE.search(self.low, self.low) is not None

    @cached_property
    def is_moving(self) -> bool:
        """Whether it goes from one thing to another, and may name both."""
        return _MOVING.search(self.low) is not None

    @cached_property
    def is_raised(self) -> bool:
        """Whether somebody has another place in what goes on."""
        return _RAISED.search(self.low) is not None

    @cached_property
    def likes(self) -> bool:
        """Whether it says that something is liked, as it was not before."""
        return _LIKED.search(self.low) is not None and self.is_changed

    @cached_property
    def dislikes(self) -> bool:
        """Whether it says that something is liked no longer."""
        return _DISLIKED.search(self.low) is not None and self.is_changed

    @cached_property
    def is_favorite(self) -> bool:
        """Whether it speaks of what is liked best."""
        return _FAVORITE.search(self.low) is not None

    def goes_to(self, new: New) -> bool:
        """Whether it says that the speaker went over to a value: "switched to padel"."""
        return _GOES_TO.match(self.lead(new.begin)) is not None

    def headed(self, head: str) -> Iterator[New]:
        """The phrases of two words with a noun: "ads team". What the team itself does is not where
        the speaker is."""
        for match in _PAIR.finditer(self.text):
            if match["head"].lower() == head and not _ALONE.match(self.lead(match.start("manner"))):
                yield New(match.start("manner"), match.end("head"), match.start("manner"))

    def doubted(self, at: int) -> bool:
        """Whether what is said at an offset is wished, planned, denied or somebody's word."""
        return _DOUBTS.search(lowered(self.lead(at))) is not None

    def lead(self, at: int) -> str:
        """The clause that an offset is in, up to there. One that leaves its subject out has that of
        the clause before: "my brother quit his job, moved to Oslo"."""
        *before, begin = self._begins(at)
        return self.text[begin if self.text[begin:at].strip() or not before else before[-1] : at]

    def clauses(self, at: int) -> list[str]:
        """The clauses up to the one that an offset is in; of that one all there is."""
        begins = self._begins(at)
        ends = [*begins[1:], len(self.text)]
        return [self.text[begin:end] for begin, end in zip(begins, ends, strict=True)]

    def _begins(self, at: int) -> list[int]:
        """Where the clauses up to an offset begin; those without words left out."""
        begins = [0]
        for parting in _CLAUSE.finditer(self.text, 0, at):
            if self.text[begins[-1] : parting.start()].strip():
                begins.append(parting.end())
            else:
                begins[-1] = parting.end()
        return begins

    def others(self, at: int) -> set[str]:
        """Who else than the speaker is the subject of the clause that an offset is in."""
        said = _WORD.findall(self.lead(at).lower().replace("’", "'"))
        forms = ((each, each.removesuffix("'s"), each.removesuffix("s")) for each in said)
        return {next(form for form in each if form in OTHERS) for each in forms if OTHERS & {*each}}

    @cached_property
    def _typed_low(self) -> bool:
        return not any(char.isupper() for char in re.sub(r"\bI\b", "", self.text))

    def framed(self, attribute: str) -> New | None:
        """The value that it says of a slot, if its words are those of such a slot."""
        return next((new for frame, new in self.frames if frame.of.match(attribute)), None)

    @cached_property
    def frames(self) -> tuple[tuple[Frame, New], ...]:
        """The frames that it has, each with its value."""
        found = ((frame, self._in(frame)) for frame in FRAMES)
        return tuple((frame, new) for frame, new in found if new is not None)

    def _in(self, frame: Frame) -> New | None:
        if frame.needs is not None and frame.needs.search(self.turn) is None:
            return None
        for say in frame.says:
            if not say.may_match(self.low):
                continue
            for found in say.pattern.finditer(self.text):
                others = NO_PLACES if frame.of.match("home.location") else frozenset()
                new = self._name(found, named=not frame.any, others=others)
                last = "" if new is None else _last_word(found["new"])
                if (frame.jobs and not is_job(last)) or is_pastime(last):
                    continue
                if new is not None:
                    never = frame.never is not None and frame.never.search(self.text)
                    return None if never else new
        return None

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of which it may have a value."""
        return tuple(kind for kind in KINDS if kind.may_be_in(self.low, self._words))

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_SPACED.split(self.low))

    def may_renew(self) -> bool:
        """Whether it has anything that may be a new value of something: asked first, since to read
        what is believed costs more."""
        return bool(
            self.frames
            or any(self.of_kind(kind) for kind in self.kinds)
            or self.nouns
            or self.likes
            or self.dislikes
            or ((self.is_moving or self.is_raised) and _PAIR.search(self.text))
        )

    def _name(self, found: re.Match[str], *, named: bool, others: frozenset[str]) -> New | None:
        start, end = found.span("new")
        said = self.text[start:end]
        first = said.split()[0].lower()
        if first in _NO_NAMES or said.lower() in others:
            return None
        if first in OTHERS and (named or not is_job(first)):
            return None
        low = said[:1].islower() and not said.startswith(("dr", "mr", "ms"))
        if named and low and not self._typed_low:
            return None
        while end > start and self.text[end - 1] in ".'’-&":
            end -= 1
        return New(start, end, found.start())

    def of_kind(self, kind: Kind) -> dict[str, New]:
        """The names of a kind that it has, each at its first place; without those said to be
        over."""
        if kind.cue.search(self.low) is None:
            return {}
        found: dict[str, New] = {}
        for new in kind.found(self.text):
            over = _OVER.search(self.text, max(0, new.begin - 24), new.begin)
            if not over and not _DOES.match(self.text, new.end):
                found.setdefault(self.text[new.start : new.end].lower(), new)
        return found

    @cached_property
    def nouns(self) -> tuple[tuple[frozenset[str], New | None, bool], ...]:
        """What it says is new or otherwise: the words of each noun, the new value, and whether it
        says that it has changed."""
        found: list[tuple[frozenset[str], New | None, bool]] = []
        for pattern in _NOUNS:
            for match in pattern.finditer(self.text):
                noun = [each.lower().removesuffix("'s") for each in _WORD.findall(match["noun"])]
                value = match.groupdict().get("value")
                if not noun or (len(noun) == 1 and noun[0] in _VAGUE):
                    continue
                if match["new"] == "new" and any(each in _MANY for each in noun):
                    continue
                at = _trimmed(self.text, *match.span("value")) if value else None
                noun_at = match.start("noun")
                new = None
                if at is not None:
                    new = New(*at, min(noun_at, at[0]), leads=at[0] < noun_at)
                found.append((frozenset(noun), new, match["new"] is not None))
        return tuple(found)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while end > start and not (text[end - 1].isalnum() or text[end - 1] in ")%+#€$£"):
        end -= 1
    return start, end


def named(noun: str) -> frozenset[str]:
    """The words of a noun, as those of `Sentence.nouns` are."""
    said = (each.lower().removesuffix("'s") for each in _WORD.findall(noun))
    return frozenset(each for each in said if each not in _SMALL)


_SMALL = frozenset("for a an of the my our on in at with to".split())


_NOUNS = tuple(compile_later(expanded(each, _DATA["parts"]), re.I) for each in _DATA["otherwise"])
