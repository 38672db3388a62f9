"""Repairs: words that put right or take back what the speaker said just before.

"Make that Tuesday" and "no wait, the blue one" name neither slot nor old value. What they mend is
the last statement, of this turn or of an earlier one of the session, that has a value of the same
kind. "Ignore what I said about vim" takes back whatever is remembered of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from beliefledger.gate.dates import find_when
from beliefledger.gate.rules.figures import under_slot
from beliefledger.gate.rules.findings import RuleFinding, to_candidate, topic_of
from beliefledger.gate.rules.lexicon import WORDS
from beliefledger.gate.rules.phrases import slug
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import SELF, Candidate, Ends, Span, Speech, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

Read = Callable[[str, int], Iterator[RuleFinding]]
"""Reads the findings of a text that was said at a time."""

_SORRY = (
    r"(?:(?:oh|ah|er|um|uh|hm+|no|nope|nah|oops|whoops|ups|sorry|sry|srry|soz|wait|actually|"
    r"well|correction|my bad|my mistake|"
    r"hang on|hold on|scratch that|strike that|i mean|typo|edit|ok|okay|rather|damn|argh|no "
    r"wait|and)\b[,.:;!—– -]*+)"
)
_VALUE = r"(?P<right>[$€£]?[\w'’&+#:/.-]{1,40}(?: [$€£]?[\w'’&+#:/.-]{1,40}){0,4}?)"
_STOP = (
    r"(?=\s*(?:[.,;!()…]|$)|\s+(?:lol|haha+|instead|sorry|sry|not|though|actually|please|of course|"
    r"with an?|incl|including|i mean|my bad|typo|auto-?correct|if|counting|cause|because)\b|"
    r"\s*[^\w\s'’.,:&$€£/+#-])"
)
_MENDS = tuple(
    compile_later(pattern, re.I)
    for pattern in (
        rf"^\W*+{_SORRY}{{0,4}}(?:please )?(?:make|change|switch|move) (?:that|it)(?: to| "
        rf"into)? (?:be )?{_VALUE}{_STOP}",
        rf"^\W*+{_SORRY}{{0,4}}(?:i )?(?:meant?|mean) (?:to say |to write |to type "
        rf")?{_VALUE}{_STOP}",
        rf"^\W*+{_SORRY}{{1,5}}(?:(?:it|that|this|he|she)(?:['’]?s| is| was| should be| should "
        rf"say)|its|should be|make it)? ?{_VALUE}{_STOP}",
        rf"^\*+ ?{_VALUE}{_STOP}",
        rf"^\W*+{_VALUE} ?\*+(?: ?(?:lol|sorry|sry|oops|haha+|ffs|ugh|typo|my bad))?\W*$",
        rf"^\W*+{_VALUE}[!.,]* ?(?:damn |bloody |stupid )?(?:auto-?correct|spell-?check(?:er)?)\b",
        r"^\W*+(?P<right>(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan(?:uary)?|feb(?:ruary)?|"
        r"march|april|may|june|july|august|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
        r"dec(?:ember)?|\d[\d.:,]{0,8}))!+(?=\W|$)",
        rf"^\W*+{_VALUE},? (?:sorry|sry|typo|i mean|i meant|my bad|my mistake|not\b|"
        rf"rather\b(?=\s*(?:[.,;!?]|$)))",
        rf"^\W*+(?:it|that)(?:['’]?s| is| was| should be) (?:actually |really )?{_VALUE},? "
        rf"(?:please,? )?(?:actually|sorry|not\b|my bad|i meant|rather)",
        rf"^\W*+{_SORRY}{{0,3}}i (?:said|wrote|typed|put|told you)\b[^,.;]{{1,60}}?(?:, ?| )(?:but "
        rf"|and )?(?:(?:it|that)(?:['’]?s| is| was| should be)|i meant?|should(?:['’]?ve| have)? "
        rf"(?:be|been|said)) (?:actually |really )?{_VALUE}{_STOP}",
        rf"^\W*+{_SORRY}{{0,3}}(?:(?:it|that|he|she)(?:['’]?s| is)? |(?:his|her|the|my) "
        rf"name is )?"
        rf"(?:spelled|spelt|written) {_VALUE}{_STOP}",
        rf"^\W*+{_SORRY}{{0,3}}with (?:one|an?|two|double|no|a single) [a-z]{{1,2}}, "
        rf"{_VALUE}{_STOP}",
    )
)
_TAKEN_BACK = re.compile(
    rf"^\W*+{_SORRY}{{0,3}}(?:please )?(?:scratch that|strike that|forget (?:that|it|i said "
    rf"(?:that|anything))|"
    r"ignore (?:that|it|my last (?:message|sentence|statement))|disregard that|never ?mind(?: "
    r"that)?|"
    r"(?:i )?take (?:that|it) back|that(?:['’]?s| is| was) (?:not true|wrong|not right|a lie|a "
    r"joke)|"
    r"i didn['’]?t mean that)\W*$",
    re.I,
)
_TAKEN_BACK_FOR = re.compile(
    rf"^\W*+{_SORRY}{{0,3}}(?:please )?(?:forget|ignore|disregard|scratch|strike|delete) "
    r"(?:that|it|i said (?:that|anything)|my last (?:message|sentence|statement))"
    r"(?:[,;.!(–—-]+| (?:please|because|lol|it was))",
    re.I,
)
"""With a reason after it; what names another value is no taking back."""
_RESTATED = re.compile(
    rf"^\W*+(?:{_SORRY}|(?:he|she)['’]s not\W+){{1,4}}(?:she|he|it|they|we|i|(?:my|our) [\w'’-]+)"
    rf"(?P<verb>['’]s|['’]m|['’]re| [\w'’]+)(?P<prep> (?:in|at|to|on|for|with|from|as))?"
    rf"(?: an?| the)? {_VALUE}{_STOP}",
    re.I,
)
"""The same statement with another value: "actually she lives in Bruges"."""
_ABOUT = re.compile(
    r"\b(?:ignore|forget|disregard|scratch|strike|drop|delete|never ?mind) (?:what|everything|"
    r"anything|all|the thing|the stuff|the bit|the part)"
    r"(?: that)?(?: (?:i|we))?(?:['’]ve| have)?(?: just)?(?: (?:said|told you|mentioned|wrote|"
    r"typed))?(?: (?:before|earlier|just now|yesterday))?"
    r" about (?:my |the |our |that |having |being )?(?P<topic>[\w'’&+-]+(?: "
    r"[\w'’&+-]+){0,3}?)(?=\s*(?:[.,;!?)]|$)| (?:please|thing|stuff|lol|for now|it)\b)",
    re.I,
)
_NO_VALUE = frozenset(
    "i i'm i've im you he she it we they that this there what who how why when if can could do "
    "does did "
    "is are was will would thanks thank please yes no nothing never tell show help let me my "
    "know think "
    "have has had don't dont not just so but because should i'd i'll id you'd he's she's we're "
    "they're we'd they'd".split()
)
_DONE = re.compile(
    r"(?:[a-z]+ed|got|went|left|bought|sold|quit|began|made|took|had|gave|lost|found|came|ran|met|"
    r"saw|ate|drove|flew|kept|swapped|getting|going|moving|having|being)"
    r" (?:to|in|into|on|up|out|off|over|from|with|at|for|by|back|away|a|an|the|my|our|his|her|"
    r"their|some|it|them|two|three)\b",
    re.I,
)
"""What was done is a statement of its own, as in "actually switched to day shifts"."""
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.I)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = re.compile(
    rf"\b(?:{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? "
    rf"{_MONTH}|"
    rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th))\b",
    re.I,
)
_JUST_MONTH = re.compile(rf"\b{_MONTH}\b", re.I)
_CLOCK = re.compile(
    r"\b\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|a\.m\.|p\.m\.|o['’]?clock)|\b\d{1,2}:\d\d\b", re.I
)
_HOUR = re.compile(r"(?<=\bat )\d{1,2}\b(?![:.]\d)")
_FIGURE = re.compile(
    r"[$€£]?\d[\d.,]*\d(?:k\b)?|[$€£]?\d(?:k\b)?|"
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"thirteen|fourteen|fifteen|twenty|thirty|forty|fifty)\b",
    re.I,
)
_CLASSES = tuple(
    compile_later(rf"\b(?:{'|'.join(words.split())})\b", re.I)
    for words in (
        "red blue green yellow black white gr[ae]y pink purple orange brown beige navy teal "
        "turquoise gold silver violet",
        "small medium large big tiny huge xs s m l xl",
        "morning afternoon evening night noon midday",
        "early late", "tea coffee", "left right", "north south east west", "cats? dogs?",
        "brother sister mother father mum mom dad son daughter husband wife aunt uncle cousin",
        "today tomorrow tonight yesterday", "aisle window middle",
    )
)  # fmt: skip
_KINDS = (_WEEKDAY, _DATE, _CLOCK, *_CLASSES, _JUST_MONTH, _FIGURE)


_PROPER = re.compile(r"(?<=\s)[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*")


class Mend(NamedTuple):
    """The value said to be right, and the offsets of the words that say so."""

    right: str
    start: int
    end: int
    wrong: str | None = None
    """The words said to be wrong, if they are named: "…, not walnuts"."""


def mended(turn: Speech, earlier: Sequence[Speech], read: Read, most: int) -> Iterator[Candidate]:
    """What a turn puts right or takes back of the statements before it."""
    text = turn.content
    bounds = list(sentences(text))
    for number, (start, end) in enumerate(bounds[:4]):
        if end - start > 240:
            continue
        sentence = text[start:end]
        topic = _ABOUT.search(sentence)
        if topic is not None:
            yield _ignored(turn, start + topic.start(), start + topic.end(), topic["topic"])
            continue
        back = _TAKEN_BACK.search(sentence)
        again = _RESTATED.search(sentence) if back is None else None
        mend = None if back is not None else _mend(sentence, start)
        if mend is None and back is None:
            back = _TAKEN_BACK_FOR.search(sentence)
        if back is None and mend is None and again is None:
            continue
        before: list[tuple[str | None, str, int]] = []
        if number:
            before.append((None, text[: bounds[number - 1][1]], turn.said_at))
        before += [
            (said.turn_id, said.content, said.said_at)
            for said in reversed(earlier[-most:])
            if said.role == turn.role
        ]
        following = text[end : end + 240] if back is not None else ""
        if following.strip() and _mend(following.lstrip(), 0) is not None:
            continue  # "Scratch that. Make it March 4": the next sentence says what is right
        for turn_id, content, said_at in before:
            old = [
                to_candidate(under_slot(each), said_at)
                for each in read(content, said_at)
                if each.entity == SELF
            ]
            if back is not None:
                if old:
                    yield _withdrawn(turn, start, end, turn_id, old)
                    break
                continue
            fixed = list(_said_anew(turn, again, start, turn_id, old)) if again else []
            if not fixed and mend is not None:
                fixed = list(_put_right(turn, mend, turn_id, old))
            if not fixed and mend is not None and not old:
                fixed = list(_noted_anew(turn, mend, turn_id, content))
            if fixed:
                yield from fixed
                break


def _mend(sentence: str, offset: int) -> Mend | None:
    for pattern in _MENDS:
        found = pattern.search(sentence)
        if found is None:
            continue
        right = _LOOSE.sub("", found["right"].strip(" .,:;-'’"))
        words = right.lower().split()
        if not words or _NO_VALUE.intersection(words) or _DONE.match(right):
            continue
        if len(sentence) > found.end() + 60:
            continue
        start = offset + sentence.index(right, found.start("right"))
        wrong = _WRONG.match(sentence, found.end("right"))
        return Mend(right, start, start + len(right), None if wrong is None else wrong["wrong"])
    return None


_LOOSE = re.compile(r"^(?:more of an?|more like|rather) ", re.I)
_OF_SELF = re.compile(r"(?:^|\W)(?:i|we)\b(?! mean\b)", re.I)
_REPAIRS = re.compile(
    r"\b(?:no|nope|nah|oops|whoops|sorry|wait|correction|my bad|my mistake|scratch that|"
    r"strike that|i mean|typo|edit)\b",
    re.I,
)


def _said_anew(
    turn: Speech, again: re.Match[str], offset: int, turn_id: str | None, old: Sequence[Candidate]
) -> Iterator[Candidate]:
    """The last statement with the same verb, with the value that it is said again with."""
    verb = {"'s": "is", "'m": "is", "'re": "is", "am": "is", "are": "is"}.get(
        again["verb"].strip().lower().replace("’", "'"), again["verb"].strip().lower()
    )
    phrase = re.compile(
        rf"\b{re.escape(verb)}(?:s|es)?{re.escape((again['prep'] or '').lower())}\b", re.I
    )
    right = again["right"].strip(" .,:;-'’")
    if _OF_SELF.search(again[0]) and not _REPAIRS.search(again[0]):
        return  # "Actually, I prefer text messages" may be new since
    if not right or _NO_VALUE.intersection(right.lower().split()):
        return
    begin = offset + again.start("right")
    mend = Mend(right, begin, begin + len(right))
    for each in reversed(old):
        found = phrase.search(each.claim)
        if found is None or each.value.lower() == right.lower():
            continue
        if each.value in each.claim[found.end() :] and len(each.value.split()) <= 4:
            yield _repaired(turn, mend, turn_id, each, each.value, right)
            return


_WRONG = re.compile(
    r"[\W_]{0,3}(?:(?:and |but )?not|instead of|rather than) (?:the |an? |my |in |on |at )?"
    r"(?P<wrong>[\w'’-]+(?: [\w'’-]+){0,2}?)(?=\W*$|[,.;!]| (?:sorry|lol|of course|i)\b)",
    re.I,
)


def _noted_anew(
    turn: Speech, mend: Mend, turn_id: str | None, content: str, most: int = 3
) -> Iterator[Candidate]:
    """The last sentence that has a value of the kind, as a note with the one that is right."""
    for start, end in list(sentences(content))[: -most - 1 : -1]:
        sentence = content[start:end].rstrip(" .!")
        if not 12 <= len(sentence) <= 240 or sentence.endswith("?"):
            continue
        span = Span(start=start, end=start + len(sentence), quote=sentence)
        said = Candidate(
            claim=sentence, spans=(span,), type="note", attribute="note.said", value=sentence,
            topic=topic_of(sentence), importance=300_000, confidence=500_000,
        )  # fmt: skip
        swapped = _named_wrong(said, mend) or _swap(said, mend.right)
        if swapped is None or (mend.wrong is None and not _SPEAKER.search(sentence)):
            continue
        if category_of(sentence) is None and category_of(mend.right) is None:
            yield _repaired(turn, mend, turn_id, said, *swapped)
        return


_SPEAKER = re.compile(r"\b(?:i|i['’]?m|my|our|we|me|us|[a-z]+ (?:is|are|comes?|starts?))\b", re.I)


def _named_wrong(said: Candidate, mend: Mend) -> tuple[str, str] | None:
    """What is wrong and what is right, where both are named."""
    if mend.wrong is None:
        return None
    there = re.search(rf"(?<!\w){re.escape(mend.wrong)}(?!\w)", said.claim, re.I)
    right = re.sub(r"^(?:the|a|an|my|our|on|at|in|to|it's|its) ", "", mend.right, flags=re.I)
    return None if there is None else (there[0], right)


def _put_right(
    turn: Speech, mend: Mend, turn_id: str | None, old: Sequence[Candidate]
) -> Iterator[Candidate]:
    """The last statements with the value that is right in place of the one of its kind."""
    best: tuple[float, Candidate, str, str] | None = None
    for said in old:
        swapped = _named_wrong(said, mend) or (
            _swap(said, mend.right) if mend.wrong is None else None
        )
        if swapped is None:
            continue
        wrong, right = swapped
        score = SequenceMatcher(None, wrong.lower(), right.lower()).ratio()
        if best is None or score >= best[0]:
            best = (score, said, wrong, right)
    if best is None:
        return
    _, said, wrong, right = best
    for each in old:
        fits = _named_wrong(each, mend) or _swap(each, mend.right)
        if each.spans[0].start == said.spans[0].start and fits == (wrong, right):
            yield _repaired(turn, mend, turn_id, each, wrong, right)


def _swap(said: Candidate, right: str) -> tuple[str, str] | None:
    """Which words of a statement give way to which: those of one kind; else a name to a name."""
    bare = re.sub(r"^(?:the|a|an|my|our|on|at|in|to|by|it's|its) ", "", right, flags=re.I)
    one = re.sub(r" ones?$", "", bare, flags=re.I)
    for kind in _KINDS:
        new = kind.search(one)
        if new is None:
            continue
        there = kind.search(said.claim)
        if there is None:
            hour = _HOUR.search(said.claim) if kind is _CLOCK else None
            if hour is not None:
                return hour[0], bare
            if kind is _DATE or kind is _CLOCK:
                continue
            return None
        if there[0].lower() == new[0].lower():
            return None
        if kind is _FIGURE and len(one.split()) > 1:
            noun = one[new.end() :].split()
            after = said.claim[there.end() :].split()
            if noun and after and noun[0].lower().rstrip("s") != after[0].lower().rstrip("s.,"):
                return None
        return there[0], new[0]
    if one != bare:  # "the striped one": a word before the thing
        first = said.value.split()
        articles = ("the", "a", "an", "my", "our")
        words = [word for word in first if word.lower() not in articles]
        return (words[0], one) if len(words) > 1 else None
    value = said.value
    if bare[:1].isupper():  # "I went to school in Lyon": the only name gives way to a name
        named = _PROPER.findall(said.claim.removeprefix(SELF))
        if len(named) == 1 and named[0].lower() != bare.lower():
            return named[0], bare
    if _OF_TIME.search(bare) and not _OF_TIME.search(said.claim):
        return None  # "sorry, the week before last" takes the place of no town
    if said.type in ("event", "commitment") or len(value.split()) > 3 or value not in said.claim:
        close = [
            word for word in said.claim.split()
            if SequenceMatcher(None, word.lower().strip(".,"), bare.lower()).ratio() >= 0.75
        ]  # fmt: skip
        return (close[0].strip(".,"), bare) if close and " " not in bare else None
    if value.lower() == bare.lower() or WORDS["pronouns"].intersection(bare.lower().split()):
        return None
    name = value[:1].isupper() or value.islower()
    return (value, bare) if name else None


_OF_TIME = re.compile(
    r"\b(?:days?|nights?|weeks?|weekends?|months?|years?|mornings?|afternoons?|evenings?|spring|"
    r"summer|autumn|winter|ago|yesterday|today|tonight|tomorrow|soon|later|earlier|recently)\b",
    re.I,
)


def _repaired(
    turn: Speech, mend: Mend, turn_id: str | None, old: Candidate, wrong: str, right: str
) -> Candidate:
    """The earlier statement with what is right; both places are its evidence."""
    here = Span(start=mend.start, end=mend.end, quote=turn.content[mend.start : mend.end])
    there = old.spans[0].model_copy(update={"turn": turn_id})
    value = _replaced(old.value, wrong, right)
    when = old.when
    dated = find_when(right, turn.said_at, future=True)
    if dated is not None:
        when = dated.when
    ends = Ends(attribute=old.attribute, value=old.value, denials=old.negated, never=True)
    return old.model_copy(
        update={
            "claim": _replaced(old.claim, wrong, right),
            "spans": (here, there),
            "value": value,
            "replaces": old.value if value != old.value else None,
            "act": SpeechAct.CORRECTION,
            "attribute": old.attribute.replace(slug(wrong), slug(right)),
            "when": when,
            "ends": (*old.ends, ends),
            "participants": tuple(right if name == wrong else name for name in old.participants),
        }
    )


def _replaced(text: str, wrong: str, right: str) -> str:
    """The text with these words in place of the first of those, and not within other words."""
    return re.sub(rf"(?<!\w){re.escape(wrong)}(?!\w)", lambda _: right, text, count=1)


def _withdrawn(
    turn: Speech, start: int, end: int, turn_id: str | None, old: Sequence[Candidate]
) -> Candidate:
    """Takes back what was said in one go."""
    ends = tuple(
        Ends(attribute=each.attribute, value=each.value, denials=each.negated, never=True)
        for each in old
    )
    there = [each.spans[0].model_copy(update={"turn": turn_id}) for each in old[:1]]
    return _retraction(turn, start, end, ends, there)


def _ignored(turn: Speech, start: int, end: int, topic: str) -> Candidate:
    """Takes back what was said about something, whenever that was."""
    ends = tuple(
        Ends(attribute="*", value=topic, denials=denied, never=True) for denied in (False, True)
    )
    return _retraction(turn, start, end, ends, [])


def _retraction(
    turn: Speech, start: int, end: int, ends: tuple[Ends, ...], there: list[Span]
) -> Candidate:
    quote = turn.content[start:end].rstrip(" .!,;")
    here = Span(start=start, end=start + len(quote), quote=quote)
    return Candidate(
        claim=f"{SELF}: {quote}", spans=(here, *there), type="event", attribute="event.retraction",
        value=quote, act=SpeechAct.CORRECTION, importance=300_000, confidence=900_000, ends=ends,
        retracts=True,
    )  # fmt: skip
