"""Statements about the lives of people called by name: trade, field, employer, schooling.

Of each somebody has one that is spoken of without "also", so that another contradicts it.
"""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.gate.dates import find_when
from beliefledger.gate.rules.clauses import Clause
from beliefledger.gate.rules.findings import Reading, RuleFinding
from beliefledger.gate.rules.lexicon import BASES, WORDS, Form, verb_form
from beliefledger.gate.rules.names import DATA, Subject, name_end
from beliefledger.gate.rules.phrases import phrase_end, pointing, slug, text_of, trim
from beliefledger.gate.rules.words import Token
from beliefledger.ledger.late_patterns import compile_later

YEAR = compile_later(r"(?:19|20)\d\d$")
_ENDS = frozenset(", ; ! ? ( which while who though but where whereas - – —".split())
_NONE: frozenset[str] = frozenset()
_MOST_WORDS = 14


_CONTRARY = {("instead", "of"), ("rather", "than")}


def object_end(words: list[Token], begin: int) -> int:
    """One past the words that say what was made, held or won."""
    for at in range(begin, len(words)):
        low, before = words[at].low, words[at - 1].low if at else ""
        following = words[at + 1].low if at + 1 < len(words) else ""
        if (low, following) in _CONTRARY:
            return at
        stops = low in _ENDS or (low == "." and before not in DATA["honorifics"])
        if stops or [token.low for token in words[at : at + 2]] == ["as", "part"]:
            return at
    return len(words)


def bare(words: list[Token], begin: int, stop: int) -> int:
    """Where [begin, stop) says something, past article and praise: "a renowned violinist"."""
    start = begin
    while begin < stop - 1 and (
        words[begin].low == "@own"
        or (words[begin].low in DATA["praise"] and words[begin].text.islower())
        or (begin == start and words[begin].low in ("a", "an", "the"))
    ):
        begin += 1
    return begin


def profile(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    """The clause's statements about each person named."""
    if clause.tense in ("modal", "future") or clause.lemma not in _READERS:
        return
    if "also" in clause.adverbs and len(subject.names) == 1:
        return
    yield from _READERS[clause.lemma](reading, clause, subject)


# One attribute, one value


def _says(
    reading: Reading, clause: Clause, subject: Subject, key: str, begin: int, stop: int
) -> Iterator[RuleFinding]:
    """A statement of `key` with these words as its value, for each person; "not …" behind them
    names the wrong value."""
    words, content = clause.tokens, reading.content
    begin, stop = trim(words, begin, stop)
    if not 0 < stop - begin <= _MOST_WORDS or pointing(words, begin, stop):
        return
    value = text_of(content, words, begin, stop)
    wrong = subject.wrong or _instead(reading, words, stop)[0]
    for name in subject.names:
        yield RuleFinding(
            content, words[clause.subject].start, words[stop - 1].end, "", "fact", key, value, 600,
            entity=name, negated=clause.negated, replaces=wrong, topic=_topic(key),
        )  # fmt: skip


def _topic(key: str) -> str:
    return "work" if key.startswith("work.") else ""


def _instead(reading: Reading, words: list[Token], at: int) -> tuple[str | None, int]:
    """What ", not …" or "instead of …" right after a value says it is not; and its end."""
    begin = at + (at < len(words) and words[at].low == ",")
    low = [token.low for token in words[begin : begin + 2]]
    if low[:1] == ["not"]:
        begin += 1
    elif low in (["instead", "of"], ["rather", "than"]):
        begin += 2
    else:
        return None, at
    begin = bare(words, begin + (begin < len(words) and words[begin].low in _AT), len(words))
    stop = value_end(words, begin)
    return text_of(reading.content, words, begin, stop) or None, stop


_AT = frozenset({"at", "in", "for", "with", "on", "of", "from"})


def value_end(words: list[Token], begin: int) -> int:
    """One past a value: it ends where the next thing is said, or the contrary."""
    stop = object_end(words, begin)
    for at in range(begin + 1, stop):
        low = words[at].low
        following = words[at + 1].low if at + 1 < stop else ""
        if low == "not" or (low, following) in _CONTRARY:
            return at
        if low in ("and", "but") and (
            # As it was said: what follows "and" may have been put in the form for "I".
            following in _GOES_ON or _finite(words[at + 1].text.lower() if following else "")
        ):
            return at
    return stop


_GOES_ON = frozenset(
    "instead is are was has have had does often frequently once also he she they".split()
)


def _finite(low: str) -> bool:
    return low in BASES or verb_form(low)[1] is Form.PAST


def field(words: list[Token], at: int) -> tuple[str, int] | None:
    """The key of a field of work and where its value begins."""
    low = [token.low for token in words[at : at + 2]]
    if low in (["specializing", "in"], ["specialising", "in"]):
        return "work.specialty", at + 2
    if low[:1] == ["best"]:
        at += 1
        low = [token.low for token in words[at : at + 2]]
    if low[:1] == ["with"]:
        begin = bare(words, at + 1, len(words))
        return _versed(words, begin)
    if low[:1] and low[0] in DATA["known"] and low[1:] == ["for"]:
        return _known_for(words, at + 2)
    return None


def _versed(words: list[Token], at: int) -> tuple[str, int] | None:
    if at + 1 < len(words) and words[at + 1].low in ("in", "on"):
        if words[at].low in ("expertise", "work"):
            return "work.specialty", at + 2
        if words[at].low == "background":
            return "work.background", at + 2
    return None


def _known_for(words: list[Token], at: int) -> tuple[str, int] | None:
    """ "… for her work in X" is a field, "… for her novels" or "for painting" one's work; what else
    one is known for is told by its head."""
    begin = bare(words, at, len(words))
    stop = value_end(words, begin)
    if stop <= begin:
        return None
    versed = _versed(words, begin)
    if versed is not None:
        return versed
    gerund = words[begin].low if stop - begin > 1 else ""
    if gerund == "advocating":
        after = begin + 1 + (words[begin + 1].low == "for")
        return None if words[after].low == "and" else ("public.cause", after)
    head = phrase_end(words, begin, stop, _NONE) - 1
    if gerund in DATA["making"] or words[head].low in DATA["oeuvre"]:
        return "known-for.work", begin
    if verb_form(gerund)[1] is Form.ING:
        return f"known-for.{slug(gerund)}", begin + 1
    return f"known-for.{slug(words[head].low)}", begin


# By verb


def _being(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    words = clause.tokens
    at = clause.verb + 1
    while at < len(words) and words[at].low in WORDS["negligible"] | {"both", "all"}:
        at += 1
    if at < len(words) and words[at].low == "not":
        clause, at = clause._replace(negated=True), at + 1
        at += at < len(words) and words[at].low in ("both", "all")
    low = [token.low for token in words[at : at + 3]]
    if low[:1] == ["fluent"] and "in" in low[1:]:
        begin = at + 1 + low[1:].index("in") + 1
        yield from _says(reading, clause, subject, "languages.spoken", begin,
                         _list_end(words, begin))  # fmt: skip
        return
    if low[:1] in (["a"], ["an"]) and low[1:] in (["expert", "in"], ["specialist", "in"]):
        yield from _says(reading, clause, subject, "work.specialty", at + 3,
                         value_end(words, at + 3))  # fmt: skip
        return
    if low[:1] == ["to"] and clause.tense == "perfect":
        yield from _travelling(reading, clause._replace(verb=at - 1), subject)
        return
    found = None if clause.negated else field(words, at)
    if found is not None and "primarily" in {w.text for w in words[clause.subject : at]}:
        # What one is chiefly known for leaves room for something else.
        yield from _says(reading, clause, subject, "known-for.primarily", found[1],
                         value_end(words, found[1]))  # fmt: skip
    elif found is not None:
        yield from _says(reading, clause, subject, *found, value_end(words, found[1]))
    if found is not None:
        return
    at += low[:1] in (["a"], ["an"])
    at += at < len(words) and words[at].low in ("proud", "active", "founding")
    low = [token.low for token in words[at : at + 2]]
    if low[:1] and low[0] in ("alumna", "alumnus", "graduate", "alumni") and low[1:] == ["of"]:
        begin = at + 2 + (words[at + 2 : at + 3] != [] and words[at + 2].low == "the")
        stop = phrase_end(words, begin, value_end(words, begin), _OF)
        yield from _says(reading, clause, subject, "education.university", begin, stop)
    if low in (["member", "of"], ["members", "of"]):
        yield from _each(reading, clause, subject, "relation", "relation.member-of", at + 2)


def _each(
    reading: Reading, clause: Clause, subject: Subject, kind: str, stem: str, begin: int
) -> Iterator[RuleFinding]:
    """A statement of something one may have several of, for each person; with a denial of what is
    said not to be so."""
    words, content = clause.tokens, reading.content
    stop = phrase_end(words, begin, value_end(words, begin), _OF)
    first, stop = trim(words, begin, stop)
    if not 0 < stop - first <= _MOST_WORDS or pointing(words, first, stop):
        return
    if stop > first + 1 and words[first + 1].low == "same":
        return
    value = text_of(content, words, first, stop)
    wrong, end = _instead(reading, words, stop)
    start = words[clause.subject].start
    for name in subject.names:
        yield RuleFinding(content, start, words[stop - 1].end, "", kind, f"{stem}.{slug(value)}",
                          value, 600, entity=name, negated=clause.negated)  # fmt: skip
        if wrong and not clause.negated:
            yield RuleFinding(content, start, words[end - 1].end, "", kind, f"{stem}.{slug(wrong)}",
                              wrong, 600, entity=name, negated=True)  # fmt: skip


_OF = frozenset({"of"})


def _opposing(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    words, at = clause.tokens, clause.verb
    if clause.tense == "present" and not clause.negated and at + 1 < len(words):
        yield from _says(reading, clause, subject, "public.cause", at,
                         value_end(words, at + 1))  # fmt: skip


def _having(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    words = clause.tokens
    begin = bare(words, clause.verb + 1, len(words))
    if [token.low for token in words[begin : begin + 3]] == ["no", "interest", "in"]:
        denied = clause._replace(negated=True)
        yield from _each(reading, denied, subject, "preference", "likes", begin + 3)
        return
    found = None if clause.tense not in ("present", "past") else _versed(words, begin)
    if found is not None:
        begin = found[1]
        begin += begin < len(words) and words[begin].low == "exclusively"
        yield from _says(reading, clause, subject, found[0], begin, value_end(words, begin))
    else:
        yield from _schooling(reading, clause, subject)


def _specializing(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    words, at = clause.tokens, clause.verb + 1
    if at < len(words) and words[at].low == "in":
        yield from _says(reading, clause, subject, "work.specialty", at + 1,
                         value_end(words, at + 1))  # fmt: skip


def _advocating(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    words, at = clause.tokens, clause.verb + 1
    if at < len(words) and words[at].low == "for" and clause.tense == "present":
        yield from _says(reading, clause, subject, "public.cause", at + 1,
                         value_end(words, at + 1))  # fmt: skip


def _volunteering(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    words, at = clause.tokens, clause.verb + 1
    if at < len(words) and words[at].low in ("at", "with", "for") and clause.tense == "present":
        begin = bare(words, at + 1, len(words))
        begin += begin < len(words) - 1 and words[begin].low == "local"
        stop = phrase_end(words, begin, value_end(words, begin), _OF)
        yield from _says(reading, clause, subject, "volunteering.place", begin, stop)


def _working(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    words, at = clause.tokens, clause.verb + 1
    if clause.tense == "continuous" and at + 1 < len(words) and words[at].low == "on":
        begin = bare(words, at + 1, len(words))
        if words[begin - 1].low in ("a", "an", "the"):
            yield from _says(reading, clause, subject, "work.project", begin,
                             value_end(words, begin))  # fmt: skip


def _liking(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    """Likings that the rules for "I" would read too far: "enjoys hiking and often bakes"."""
    words, at = clause.tokens, clause.verb + 1
    stop = value_end(words, at) if at < len(words) else at
    goes_on = stop < len(words) and words[stop].low in ("and", "but")
    wrong = _instead(reading, words, stop)[0]
    if clause.tense == "present" and (goes_on or wrong) and at < stop:
        unloved = clause.lemma in ("dislike", "hate")
        clause = clause._replace(negated=clause.negated != unloved)
        yield from _each(reading, clause, subject, "preference", "likes", at)


def _attending(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    """ "attended the University of Leeds", "studied at Delft University": which says
    nothing of where one graduated."""
    words, at = clause.tokens, clause.verb + 1
    if clause.tense not in ("past", "perfect") or clause.negated or at >= len(words):
        return
    at += clause.lemma == "study" and words[at].low == "at"
    begin = at + (at < len(words) and words[at].low == "the")
    stop = phrase_end(words, begin, value_end(words, begin), _OF)
    low = {token.low for token in words[begin:stop]}
    named = begin < stop and words[begin].text[0].isupper()
    if named and low & DATA["schools"] and not find_when(_said(reading, words, stop), 0):
        yield from _says(reading, clause, subject, "education.attended", begin, stop)


def _said(reading: Reading, words: list[Token], begin: int) -> str:
    return text_of(reading.content, words, begin, object_end(words, begin))


def _speaking(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    words, at = clause.tokens, clause.verb + 1
    several = "languages" in {token.low for token in words[at : at + 5]}
    if not clause.negated and ("only" in clause.adverbs or several):
        yield from _says(reading, clause, subject, "languages.spoken", at, _list_end(words, at))


def _travelling(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    words, at = clause.tokens, clause.verb + 1
    rest = [token.low for token in words[at : at + 6]]
    if clause.tense != "perfect":
        return
    stop = object_end(words, at)
    if clause.negated:
        if not {"outside", "home"} & set(rest):
            return
        at = next((i for i in range(clause.subject, clause.verb) if words[i].low == "never"), at)
        clause = clause._replace(negated=False)
    elif "countries" not in rest:
        return
    else:
        at += rest[0] == "to"
    yield from _says(reading, clause, subject, "travel.countries", at, stop)


def _graduating(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    words, begin = clause.tokens, clause.verb + 2
    if clause.negated or begin >= len(words) or words[begin - 1].low != "from":
        return
    if words[begin].low in ("a", "an"):
        return
    stop = next((i for i in range(begin, len(words)) if words[i].low in _AFTER_SCHOOL), len(words))
    if stop + 1 < len(words) and YEAR.match(words[stop + 1].low):
        for name in subject.names:
            yield RuleFinding(reading.content, words[clause.subject].start, words[stop + 1].end, "",
                              "fact", "education.graduated", words[stop + 1].text, 500,
                              entity=name)  # fmt: skip
    yield from _says(reading, clause, subject, "education.university", begin, stop)


_AFTER_SCHOOL = frozenset("with in and ; . , not while (".split())


def _schooling(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    """ "holds a PhD in biology from Delft": where one took a degree."""
    words = clause.tokens
    begin = bare(words, clause.verb + 1, len(words))
    degree = words[begin].low.replace("'s", "").replace("’s", "") if begin < len(words) else ""
    if clause.negated or degree not in DATA["academic"]:
        return
    stop = value_end(words, begin)
    at = next((i for i in range(begin, stop) if words[i].low in ("from", "at")), 0)
    if at:
        key = "university" if degree == "degree" else degree
        at += words[at + 1].low == "the" if at + 1 < stop else 0
        yield from _says(reading, clause, subject, f"education.{key}", at + 1, stop)


def _meeting(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    """Where and when two people came to know each other, which happens once."""
    words, content, at = clause.tokens, reading.content, clause.verb + 1
    if len(subject.names) != 2 or clause.tense != "past" or clause.negated or at >= len(words):
        return
    if words[at].low not in ("at", "during", "in", "on", "while", "through"):
        return
    stop = object_end(words, at + 1)
    year = words[stop - 1]
    dated = find_when(content[words[at].start : words[stop - 1].end], reading.said_at)
    if not YEAR.match(year.low) and dated is not None:
        return  # one meeting of many: "met at the office on Monday"
    name, other = sorted(subject.names)
    common = (content, words[clause.subject].start)
    key = f"first-met.{slug(other)}"
    begin = bare(words, at + 1, stop)
    end = phrase_end(words, begin, stop, _OF)
    if begin < end <= begin + 6 and words[at].low != "while" and not YEAR.match(words[begin].low):
        yield RuleFinding(*common, words[end - 1].end, "", "fact", f"{key}.occasion",
                          text_of(content, words, begin, end), 500, entity=name,
                          participants=subject.names)  # fmt: skip
    if YEAR.match(year.low):
        yield RuleFinding(*common, year.end, "", "fact", f"{key}.year", year.text, 500, entity=name,
                          participants=subject.names)  # fmt: skip


_READERS = {
    "be": _being, "have": _having, "specialize": _specializing, "specialise": _specializing,
    "advocate": _advocating, "volunteer": _volunteering, "speak": _speaking,
    "travel": _travelling, "leave": _travelling, "graduate": _graduating, "meet": _meeting,
    "hold": _schooling, "earn": _schooling, "receive": _schooling, "complete": _schooling,
    "get": _schooling, "finish": _schooling, "work": _working, "enjoy": _liking, "love": _liking,
    "like": _liking, "dislike": _liking, "hate": _liking, "oppose": _opposing,
    "attend": _attending, "study": _attending, "visit": _travelling,
}  # fmt: skip


_AFTER_LIST = frozenset("who which while but is are has does not including".split())


def _list_end(words: list[Token], begin: int) -> int:
    """One past a list of languages."""
    at = begin
    while at < len(words) and words[at].low not in (".", ";", "!", "(", "which", "who", "while"):
        following = words[at + 1].low if at + 1 < len(words) else ""
        if words[at].low in ("and", ",", "but"):
            nearer = at + 1 + (following == "and")
            after = name_end(words, nearer)
            verb = words[after].low if nearer < after < len(words) else ""
            if following in _AFTER_LIST or _finite(following) or verb in _AFTER_LIST:
                break
        at += 1
    return at


# A trade and what is told beside it


def beside_trade(
    reading: Reading, clause: Clause, subject: Subject, at: int, role: str
) -> Iterator[RuleFinding]:
    """Statements that follow "Nora is a biologist": her field, what she is known for, where she
    works."""
    words = clause.tokens
    found = field(words, at)
    if found is not None:
        yield from _says(reading, clause, subject, *found, value_end(words, found[1]))
        return
    if [token.low for token in words[at : at + 2]] == ["based", "in"]:
        stop = name_end(words, at + 2)
        for finding in _says(reading, clause, subject, "relation.located-at", at + 2, stop):
            yield finding._replace(type="relation")
    elif at + 1 < len(words) and words[at].low in ("at", "for") and role not in DATA["no_trades"]:
        begin = at + 1 + (words[at + 1].low == "the")
        stop = name_end(words, begin)
        while stop + 1 < len(words) and words[stop].low in ("of", "for"):
            more = name_end(words, stop + 1)
            if more == stop + 1:
                break
            stop = more
        if stop > begin:
            yield from _says(reading, clause, subject, "work.employer", begin, stop)
