"""Statements about the user's things ("my …"): that they have one, what it is, where it came
from."""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.gate.dates import find_when
from beliefledger.gate.rules.clauses import clause_at
from beliefledger.gate.rules.findings import NEVER, Reading, RuleFinding, capped, verb_group
from beliefledger.gate.rules.lexicon import MANY, ONE, PETS, WORDS, Form, verb_form
from beliefledger.gate.rules.normalised import spelt
from beliefledger.gate.rules.phrases import pointing, retell, slug, text_of, tidy, trim
from beliefledger.gate.rules.words import Token, clause_end
from beliefledger.ledger.candidate import SpeechAct


def between(reading: Reading, start: int, end: int) -> str:
    return retell(reading.content, reading.words, start, end, reading.person)


def owned(
    reading: Reading,
    my: int,
    stop: int,
    claim: str,
    kind: str,
    attribute: str,
    value: str,
    importance: int,
) -> RuleFinding:
    """What is said from the "my" at token `my` up to `stop`; the caller replaces what differs."""
    words = reading.words
    return RuleFinding(
        reading.content, words[my].start, words[stop - 1].end, claim, kind, attribute, value,
        importance,
    )  # fmt: skip


def findings(reading: Reading, my: int) -> Iterator[RuleFinding]:
    """Statements about a thing by the words after the "my" at token `my`."""
    yield from _thing(reading, my)
    yield from _had(reading, my)
    yield from _which(reading, my)


def _thing(reading: Reading, my: int) -> Iterator[RuleFinding]:
    """ "My laptop is a Dell Inspiron": what a thing of the user is."""
    words = reading.words
    if my and words[my - 1].low not in WORDS["openers"]:
        return
    noun = spelt(words[my + 1].low)
    if noun in WORDS["people"]:
        return
    named = my + 2 + (my + 3 < len(words) and words[my + 2].low == "is")
    short = noun != text_of(reading.content, words, my + 1, my + 2).lower()
    if short and noun in _KIN and named < len(words) and words[named].text[0].isupper():
        return  # "my bf Tom is a chef" is told of Tom
    link = next(
        (i for i in range(my + 2, min(my + 5, len(words))) if words[i].low in ("is", "are")), 0
    )
    if (
        not link
        or link + 2 >= len(words)
        or words[link - 1].low in (WORDS["abstract"] | WORDS["conversation"])
    ):
        return
    if any(not w.text[0].isalnum() or w.low in WORDS["prepositions"] for w in words[my + 1 : link]):
        return
    begin, stop = trim(words, link + 1, clause_end(words, link + 1, "present"))
    named = words[begin].text[0].isupper() if begin < stop else False
    article = (
        begin < stop - 1
        and words[begin].low in ("a", "an")
        and words[begin + 1].low not in WORDS["abstract"]
    )
    if not (named or article) or not tidy(words, begin, stop, 10):
        return
    if not named and any(word.low in _KIN | WORDS["people"] for word in words[my + 1 : link]):
        return  # "my mum is a nurse" tells of her, as "my best friend Ewa is one" of Ewa
    if words[my + 1].low in WORDS["not_mine"]:
        return
    new = words[my + 1].low == "new" and link > my + 2  # "my new dentist" is the dentist
    noun = text_of(reading.content, words, my + 1 + new, link)
    end = stop
    while stop - 1 > begin and words[stop - 1].low in _NOW:
        stop -= 1
    now = new or stop < end or words[link + 1].low in _NOW
    yield owned(
        reading,
        my,
        stop,
        f"User's {between(reading, my + 1, stop)}",
        "fact",
        f"thing.{slug(noun, 4)}",
        text_of(reading.content, words, begin, stop),
        500,
    )._replace(confidence=800, act=SpeechAct.CHANGE if now else None)


_KIN = ONE | {each for each in MANY if each.endswith("-in-law")}
_SOMEBODY = ONE | MANY | {"mate", "gf", "bf", "hubby"}
_NOW = frozenset({"now", "nowadays", "currently"})


def _had(reading: Reading, my: int) -> Iterator[RuleFinding]:
    """ "My vintage camera": the user has one."""
    words = reading.words
    end = my + 1
    while end < min(my + 7, len(words)) and (words[end].text[0].isalnum() or words[end].low == "-"):
        end += 1
        if words[end - 1].low in WORDS["lasting_things"] | {"and", "or", "my"}:
            break
    branded = _branded(words, my + 1)
    if branded:
        end = branded
    elif end == my + 1 or words[end - 1].low not in WORDS["lasting_things"]:
        return
    if any(word.low in WORDS["parting"] for word in words):
        return
    if my and words[my].low == "our" and words[my - 1].low == "at":
        return  # a place of others too: "at our plant"
    if end < len(words) and words[end].text[0].isalnum() and not _ends_noun(words[end].low):
        return
    past = end < len(words) and words[end].low in ("was", "were")
    if past and any(word.low in _ONCE for word in words[my + 1 : end]):
        return  # "my first car was a Fiesta"
    if end > my + 2 and words[my + 1].low[:-1] in _KIN and words[my + 1].low.endswith("s"):
        return  # "my mums car"
    begin = my + 1
    while begin < end - 1 and words[begin].low in WORDS["passing"]:
        begin += 1
    if not _plain(words, begin, end):
        return
    if words[begin].low in _SOMEBODY and end > begin + 2:
        return  # "my mum got rid of her cats", "my mate Sam plays drums"
    value = text_of(reading.content, words, begin, end)
    plural = not branded and words[end - 1].low.endswith("s") and words[end - 1].low != "cactus"
    vowel = value[0].lower() in "aeio" or value.lower().startswith(("um", "un", "ur"))
    article = "" if plural else "an " if vowel else "a "
    yield owned(
        reading, my, end, f"User has {article}{value}", "fact", f"has.{slug(value)}", value, 450
    )._replace(confidence=750, topic="pets" if words[end - 1].low.removesuffix("s") in PETS else "")


_ONCE = frozenset("first last old previous former childhood earlier".split())


def _plain(words: list[Token], begin: int, end: int) -> bool:
    """Whether [begin, end) is a noun with adjectives and nothing else."""
    for at in range(begin, end):
        low = words[at].low
        if low in WORDS["auxiliaries"] or low in ("is", "has", "a", "an"):
            return False
        if low.endswith("'s") or low in WORDS["prepositions"] | WORDS["passing"]:
            return False
        verb = verb_form(low)[1] in (Form.BASE, Form.BASE_OR_PAST)
        if verb and at < end - 1 and low not in ("mountain", "road", "work"):
            return False
    return True


def _branded(words: list[Token], at: int) -> int:
    """One past a brand's name with its model ("Sony A7R IV"), or 0."""
    while at < len(words) and words[at].low in WORDS["passing"]:
        at += 1
    if at >= len(words) or words[at].low not in WORDS["brands"] or not words[at].text[0].isupper():
        return 0
    end = at + 1
    while end < min(len(words), at + 5) and (
        (words[end].text[0].isupper() and words[end].text[0].isalnum()) or words[end].low.isdigit()
    ):
        end += 1
    return end if end > at + 1 else 0


def _which(reading: Reading, my: int) -> Iterator[RuleFinding]:
    """ "My plant, which I got from my aunt": the user got it from her."""
    words = reading.words
    which = next(
        (i for i in range(my + 2, min(my + 9, len(words) - 2)) if words[i].low == "which"), 0
    )
    if not which or words[which - 1].low != "," or words[which + 1].low != "i":
        return
    thing = words[my + 1 : which - 1]
    if any(
        w.low in WORDS["prepositions"] or w.low.endswith("'s") or not w.text[0].isalnum()
        for w in thing
    ):
        return
    clause = clause_at(words, which + 1)
    if clause is None or clause.tense != "past" or clause.negated or clause.stop <= clause.verb + 1:
        return
    begin, stop = trim(words, clause.verb + 1, clause.stop)
    dated = find_when(
        reading.content[words[clause.verb].end : words[stop - 1].end], reading.said_at
    )
    first = words[begin].low
    if first not in ("from", "at", "in", "on", "for", "with") and (
        dated is None or dated.start > 1
    ):
        return
    if clause.lemma in WORDS["mental_verbs"] or stop - begin > 14 or pointing(words, begin, stop):
        return
    rest = capped(between(reading, begin, stop))
    claim = f"User {verb_group(clause)} {between(reading, my, which - 1)} {rest}"
    yield owned(
        reading,
        my,
        stop,
        claim,
        "event",
        f"event.{slug(clause.lemma, 1)}",
        text_of(reading.content, words, my + 1, which - 1),
        450,
    )._replace(confidence=850, when=NEVER if dated is None else dated.when)


def _ends_noun(low: str) -> bool:
    """Whether a word cannot go on with a noun phrase: "my car and", not "my car insurance"."""
    return (
        low
        in WORDS["prepositions"] | WORDS["subject_words"] | WORDS["cutters"] | WORDS["clause_words"]
        or low in WORDS["adverbs"] | WORDS["auxiliaries"] | WORDS["negations"].keys()
        or low in ("and", "or", "today", "yesterday", "tomorrow", "last", "next", "this")
    )
