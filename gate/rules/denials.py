"""How somebody takes back what they said or asks to have it forgotten: "I was lying when I said I
live in Porto", "forget that I live in Porto", "don't remember that".

Which memories are meant is looked up when it is decided, by `beliefledger.gate.denials`. What a
turn says that is not to be kept at all is refused by the gate (`unrecorded`). The patterns are in
`denials.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from beliefledger.gate.literals import Guarded, Table, plain
from beliefledger.gate.rules.lexicon import expanded, load
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.sentences import is_question, sentences
from beliefledger.ledger.candidate import SELF, Candidate, Ends, Span, Speech, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

ATTRIBUTE = "event.denial"
"""What takes words back, before and after it is known which memories are meant."""
RETRACTION = "event.retraction"
"""The attribute of what takes back the statement before."""
ALL = "*"
"""The words of an end that means all memories of some slots."""
JUST_BEFORE = "*last"
"""The attribute of an end that means all that came of the turn before."""
LONGEST = 240
"""The longest sentence that is looked at, in characters."""
MOST = 600
"""The longest turn of which nothing is kept where it asks for that, in characters."""
_BARE = 24
"""How much of the words that lead to a statement is quoted where they tell too much."""
_DATA: dict[str, Any] = load("denials.yaml")
_PLAIN = frozenset(_DATA["plain"].split())
_CUT = compile_later(rf" (?:{'|'.join(_DATA['cut'].split())})\b")
_POLITE = compile_later(
    r"\W*+(?:(?:please|pls|and|so|ok|hey),? )?(?:can|could|would|will) (?:you|u)\b", re.I
)
_NOT_MEANT = compile_later(
    r"[^\w]{0,8}(?:(?:lol|lmao|haha+|hehe|nah|no|but|well|oh)\W{1,4}){0,3}"
    r"(?:(?:i['’]?m|i am|i was|just|only|obviously|totally) ){0,3}(?:kidding|joking|jk|j/k)\b"
    r"(?! (?:around|about|with)\b)",
    re.I,
)
"""Behind what is taken back: then it is not."""
_WORD = compile_later(r"[^\W_]+(?:['+#&-][^\W_]+)*[+#]*")


Read = Callable[[str, int], Iterable[Candidate]]


class _Entry(NamedTuple):
    pattern: Guarded
    says: dict[str, Any]


_DENIALS = Table(
    [_Entry(Guarded(expanded(says["say"], _DATA["parts"])), says) for says in _DATA["denials"]]
)
_FORGET = compile_later(
    expanded(
        r"<lead>(?:<forget>|(?:remove|wipe|clear|drop|scrub|take) [^,;:.!?\n]{1,60} (?:from|off|"
        r"out of) (?:your|the) (?:memory|memories|records?|notes?|storage|database|files?))\b",
        _DATA["parts"],
    )
)
_UNRECORDED = Table([_Entry(Guarded(each), {}) for each in _DATA["unrecorded"].splitlines()])


class Denial(NamedTuple):
    """What is taken back: where its words are in a text, and those of the statement, if it names
    one; the words of its topic; and whether it was never so."""

    start: int
    end: int
    said: tuple[int, int] | None
    topic: str
    never: bool
    of: str = ""
    """The attributes of what may be meant, as a pattern; none: any."""
    kept: bool = False
    """Whether what else the words say is kept beside."""
    new: tuple[int, int] | None = None
    """Where what is so instead stands."""


def unrecorded(text: str) -> bool:
    """Whether a turn asks that nothing of it is kept: "off the record: …"."""
    if len(text) > MOST:
        return False
    low = plain(text)
    return any(each.pattern.pattern.search(low) for each in _UNRECORDED.possible(low))


def denials(text: str) -> Iterator[Denial]:
    """What a turn takes back, sentence by sentence."""
    if not _DENIALS.possible(plain(text)):
        return
    said = sentences(text)
    for number, (start, end) in enumerate(said):
        asks = is_question(text[start:end])
        if end - start > LONGEST or (asks and not _POLITE.match(text, start, end)):
            continue
        # "Earlier I said I live in Porto. That was wrong."
        both = said[number + 1][1] if number + 1 < len(said) else end
        found = _denial(text[start:end], start)
        if found is None and both - start <= LONGEST:
            found = _denial(text[start:both], start, shut=True)
        if found is not None and _NOT_MEANT.match(text, found.end) is None:
            yield found


def _denial(sentence: str, offset: int, *, shut: bool = False) -> Denial | None:
    low = plain(sentence)
    for entry in _DENIALS.possible(low):
        if shut and not entry.says.get("shut"):
            continue
        found = entry.pattern.pattern.search(low)
        if found is None:
            continue
        never = bool(entry.says.get("never"))
        groups = found.groupdict()
        end = found.end()
        if groups.get("said"):
            begin, stop = found.span("said")
            cut = _CUT.search(low, begin, stop)
            if cut is not None:
                stop = cut.start()
                end = stop if end == found.end("said") else end
            words = _telling(low[begin:stop])
            return Denial(offset, offset + end, (offset + begin, offset + stop), words, never)
        topic = entry.says.get("names") or _telling(groups.get("topic") or "")
        if groups.get("topic") and not topic:
            continue
        of, kept = entry.says.get("of", ""), bool(entry.says.get("kept"))
        of = _slots_of(topic) if entry.says.get("slot") else of
        new = None
        if groups.get("new"):
            new = (offset + found.start("new"), offset + found.end("new"))
        return Denial(offset, offset + end, None, topic, never, of, kept, new)
    return None


def asks_to_forget(words: str) -> bool:
    """Whether words that take something back ask to have it forgotten: "please forget where I
    live"."""
    return _FORGET.match(plain(words)) is not None


def _slots_of(thing: str) -> str:
    """The attributes of what somebody has: of a brother, a dog, kids."""
    one = re.escape(thing.replace(" ", "-"))
    return rf"(?:relation|has|pets)\.{one}(?:s|es)?(?:\.|\Z)"


def _telling(words: str) -> str:
    found = (each.removesuffix("'s") for each in _WORD.findall(words))
    return " ".join(dict.fromkeys(each for each in found if each not in _PLAIN))


def beside(
    candidates: Sequence[Candidate], turn: Speech, earlier: Sequence[Speech]
) -> list[Candidate]:
    """The candidates of a turn without those of what it takes back; and one that takes back what
    was said just before, where it asks for that."""
    text = turn.content
    if KIDDING.fullmatch(text) is not None:
        return _joked(candidates, turn, earlier)
    found = list(denials(text))
    if not found:
        return list(candidates)
    over = [each for each in found if not each.kept]
    kept = [each for each in candidates if not any(_of(each, denial) for denial in over)]
    before = next((each for each in reversed(earlier) if each.role == turn.role), None)
    if found[0].topic or before is None or len(sentences(text)) > 1:
        return kept  # "I live in Porto. Don't remember that." is refused by the gate
    there = Span(start=0, end=0, quote="", turn=before.turn_id)
    return [*kept, _candidate(text, found[0], (), there)]


KIDDING = compile_later(
    r"\W*(?:(?:lol|lmao|haha+|hehe|nah|no|ok|okay|oh|sorry|but|well)\W{1,4}){0,3}"
    r"(?:(?:(?:i['’]?m|i am|i was|just|only|obviously|totally) ){0,3}"
    r"(?:kidding|joking|jk|j/k|teasing|messing with (?:you|u)|pulling your leg)|"
    r"(?:that|it) was (?:(?:just|only) )?(?:a|my) (?:bad |little |stupid )?joke|april fools?)"
    r"(?:\W{1,4}(?:lol|lmao|haha+|hehe|of course|obviously|mate|sorry|though|xd)){0,2}\W*",
    re.I,
)
"""A turn that says of the one before that it was no more than a joke."""


def _joked(
    candidates: Sequence[Candidate], turn: Speech, earlier: Sequence[Speech]
) -> list[Candidate]:
    """What takes back all that came of the turn before, and names what that ended."""
    kept = [each for each in candidates if each.attribute != RETRACTION]
    before = next((each for each in reversed(earlier) if each.role == turn.role), None)
    if before is None:
        return kept
    words = [each.topic for each in denials(before.content) if each.topic]
    ended = [Ends(attribute="*", value=each, among=True) for each in words]
    whole = Denial(0, len(turn.content), None, "", never=True)
    there = Span(start=0, end=0, quote="", turn=before.turn_id)
    said = _candidate(turn.content, whole, ended, there)
    *others, last = said.ends
    last = last.model_copy(update={"at": before.said_at})
    return [*kept, said.model_copy(update={"ends": (*others, last)})]


def named(text: str, said_at: int, read: Read) -> Iterator[Candidate]:
    """A candidate of each thing that a turn takes back by its name, whose memories are looked up
    when it is decided. `read` finds what a statement says."""
    for denial in denials(text):
        if not denial.topic:
            continue
        stated = () if denial.said is None else read(text[slice(*denial.said)], said_at)
        ends = [
            Ends(
                attribute=each.attribute,
                value=each.value,
                denials=each.negated,
                never=denial.never,
            )
            for each in stated
            if each.entity == SELF
        ]
        yield _candidate(text, denial, ends)


def _of(candidate: Candidate, denial: Denial) -> bool:
    span = candidate.spans[0]
    return span.turn is None and span.start < denial.end and denial.start < span.end


def _candidate(text: str, denial: Denial, ends: Sequence[Ends], *there: Span) -> Candidate:
    begin, end = denial.start, denial.end
    if denial.new is not None:  # of "it was Lagos" only Lagos is so now
        begin = denial.new[0]
    while begin < end and not text[begin].isalnum():
        begin += 1
    if denial.said is not None and category_of(text[begin:end]) is not None:
        end = denial.said[0]  # it is over, and nobody's business
        if category_of(text[begin:end]) is not None:
            begin += max(0, text[begin:end].rstrip().rfind(" ") - _BARE)  # "confession: …"
            begin = text.find(" ", begin, end) + 1
    quote = text[begin:end].rstrip(" .!,;")
    attribute = f"*{denial.of}" if denial.topic else JUST_BEFORE
    new = None if denial.new is None else text[slice(*denial.new)]
    looked_up = [
        Ends(attribute=attribute, value=each, never=denial.never, among=True)
        for each in denial.topic.split("|")
    ]
    return Candidate(
        claim=f"{SELF}: {quote}",
        spans=(Span(start=begin, end=begin + len(quote), quote=quote), *there),
        type="event",
        attribute=ATTRIBUTE,
        value=new or quote,
        replaces=None if new is None else denial.topic.rpartition(" ")[2],
        act=SpeechAct.CORRECTION,
        importance=300_000,
        confidence=900_000,
        ends=(*ends, *looked_up),
        retracts=True,
    )
