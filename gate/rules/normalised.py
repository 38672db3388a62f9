"""The words of a sentence as if typed with care: spellings mended, fillers left out.

People chat in lower case, without apostrophes or full stops, with fillers and emoji. Each word here
keeps the offsets of what was typed, so spans always point into the original. A mark that stands
where none was typed is empty: it begins and ends at the same offset.
"""

from __future__ import annotations

from typing import Any

from beliefledger.gate.rules import (
    bare_nouns,
    lasting_states,
    leading_clauses,
    other_subjects,
    self_descriptions,
    unmarked,
)
from beliefledger.gate.rules.lexicon import BASES, GIVEN, NEAR, WORDS, Form, load, verb_form
from beliefledger.gate.rules.set_phrases import PHRASES, phrase
from beliefledger.gate.rules.words import Token, tokens, without_there

_DATA: dict[str, Any] = load("normalised.yaml")
_SPELLINGS: dict[str, tuple[str, ...]] = {
    typed: tuple(meant.split()) for typed, meant in _DATA["spellings"].items()
}
_FILLERS = frozenset(_DATA["fillers"].split())
_PAUSED = frozenset(_DATA["paused"].split())
_LAUGHS = frozenset(_DATA["laughs"].split())
_OPENINGS = frozenset(_DATA["openings"].split())
_MARKS = frozenset(_DATA["marks"].split())
_ODD = _SPELLINGS.keys() | _FILLERS | _LAUGHS | _MARKS | {"id", "ill", "w"}
"""Words of which one is in every sentence that has to be mended."""
_ADDRESSED = frozenset(_DATA["addressed"].split())
_LeftOut = dict[str, list[tuple[frozenset[str], tuple[str, ...]]]]
"""By a clause's first word: the words that may follow, and what is left out before it."""


def _left_out_before(*tables: dict[str, dict[str, str]]) -> _LeftOut:
    found: _LeftOut = {}
    for table in tables:
        for subject, verbs in table.items():
            for verb, after in verbs.items():
                told = frozenset(after.split()), tuple(subject.split())
                found.setdefault(verb, []).append(told)
    return found


_SUBJECTLESS = _left_out_before(_DATA["subjectless"])
_GOING_ON = _left_out_before(_DATA["subjectless"], _DATA["going_on"])
_UNSURE = frozenset(_DATA["unsure"].split())
_KIN = frozenset(_DATA["kin"].split())
_OURS = frozenset(_DATA["ours"].split())
SUBJECTLESS = frozenset(
    {*_SUBJECTLESS, *_KIN, *bare_nouns.BARE, *unmarked.FIRST, "dont", "cant", "new"}
)
"""What a sentence about the speaker may begin with that leaves "I" out."""
_SYMBOL = "\u2190"
"""Marks from here on are arrows, pictures and emoji."""

_IS_AFTER = frozenset(
    "a an the called named from in at on not now also always still due really only just currently"
    " about nearly almost".split()
)
_OWNERS = frozenset({"my", "our", "his", "her", "their"})
_NAMED = frozenset({"called", "named"})


def spelt(word: str) -> str:
    """What a word typed in lower case stands for, where that is one word: hubby is husband."""
    meant = _SPELLINGS.get(word, ())
    return meant[0] if len(meant) == 1 else word


def words_of(text: str, start: int, end: int) -> list[Token]:
    """The words and marks of text[start:end] as the rules read them."""
    words = tokens(text, start, end)
    if words[0].low in _OPENINGS or not _ODD.isdisjoint([word.low for word in words]):
        words = _mended(words)
    said = text[start:end]
    if "'s" in said or "’s" in said:
        words = _uncontracted(words)
    words = unmarked.apart(words)
    if not said.isascii():
        words = _without_symbols(words)
    if len(words) > 5:
        words = leading_clauses.parted(_separated(words))
    if len(words) > 3 and "new " in said.lower():
        words = _with_owner(words)
    if len(words) > 3 and words[0].low in ("me", "my", "our"):
        words = _together(words)
    if start < self_descriptions.EARLY or words[0].text[0].isdigit():
        words = self_descriptions.with_speaker(words)
    if " there " in said:
        words = without_there(words)
    bare = len(words) > 2 and words[0].low in bare_nouns.BARE and words[1].low in bare_nouns.VERBS
    if words[0].low in _SUBJECTLESS and not bare:
        words = _with_subject(words)
    elif (bare and not bare_nouns.is_of_another(text, start, end)) or (
        len(words) > 2
        and (
            (
                words[0].low.removesuffix("'s") in _KIN
                and words[1].text.isalpha()
                and words[1].low != "here"
            )
            or (words[0].low in OF_SOMEBODY and words[2].low == "is")
        )
    ):
        words = [Token("my", "my", words[0].start, words[0].start), *_near(words)]
    elif words[0].low == "the" and len(words) > 3 and words[1].low in _OURS:
        words = [words[0]._replace(low="my"), *words[1:]]
    if " since " in said or " for " in said:
        words = lasting_states.of_others(words)
    if words[0].low in _SPEAKERS and "," in said:
        words = _with_subjects(words)
    elif words[0].low in _OURS_ALL and len(words) > 5 and " and " in said:
        words = _with_whose(words)
    return _named(words)


def _near(words: list[Token]) -> list[Token]:
    """ "Hubby's called Dermot" as "husband is called Dermot"."""
    first = words[0]
    noun = first.low.removesuffix("'s")
    if noun == first.low or words[1].low not in _NAMED:
        return words
    cut = first.end - 2
    kin = Token(first.text[:-2], spelt(noun), first.start, cut)
    return [kin, Token(first.text[-2:], "is", cut, first.end), *words[1:]]


_SPEAKERS = frozenset({"i", "i'm", "i've", "we", "we're", "we've"})
_JOINING = frozenset({"and", "then", "now", "so", "but", "also"})


def _with_subjects(words: list[Token]) -> list[Token]:
    """ "I quit Siemens, started at Bosch" with the "I" that its second clause leaves out."""
    found: list[Token] = []
    for at, word in enumerate(words):
        if at > 1 and (subject := _left_out(words, at)):
            found += [Token(each, each, word.start, word.start) for each in subject]
        found.append(word)
    return found


def _with_whose(words: list[Token]) -> list[Token]:
    """ "My gran is 92 and lives in Split" as if it said "my gran" twice."""
    who = next((at for at in (1, 2) if words[at].low in NEAR), 0)
    if not who or not _is_finite(words[who + 1].low):
        return words
    for at in range(who + 3, len(words) - 2):
        if words[at].low == "and":
            verb = at + 1 + (words[at + 1].low in WORDS["adverbs"])
            if verb + 1 < len(words) and words[verb].low in _DOES:
                again = words[: who + 1]
                mark = Token(";", ";", words[at].start, words[at].start)
                return [*words[:at], mark, *again, *words[verb:]]
    return words


def _is_finite(low: str) -> bool:
    return low in ("is", "was", "has") or low in BASES


_DOES = frozenset("lives works studies plays has drives loves hates likes".split())
_OURS_ALL = frozenset({"my", "our"})


def _left_out(words: list[Token], at: int) -> tuple[str, ...]:
    """The subject that a clause leaves out which goes on behind a comma; none where what was said
    before it is of others, of what may be, or goes on with what one wants to do."""
    low = words[at].low
    if low not in _GOING_ON or at + 1 >= len(words):
        return ()
    comma = at - 1
    while comma and words[comma].low in _JOINING:
        comma -= 1
    if words[comma].low != ",":
        return ()
    before = {word.low for word in words[:comma]}
    if words[-1].low == "?" or not _UNSURE.isdisjoint(before):
        return ()
    if low == "moved" and "worked" in before:
        return ()  # "worked at Shell for years, moved to BP"
    if "to" in before and verb_form(low)[1] is Form.BASE:
        return ()
    return _subject_of(words, at, _GOING_ON)


def _with_subject(words: list[Token]) -> list[Token]:
    """ "Love hiking!" as "I love hiking!"; orders and questions stay as they are."""
    if len(words) < 2 or words[-1].low == "?":
        return words
    subject = _subject_of(words, 0, _SUBJECTLESS)
    if not subject:
        return words
    begin = words[0].start
    first = words[0]._replace(text=words[0].text.lower())
    return [*(Token(each, each, begin, begin) for each in subject), first, *words[1:]]


def _subject_of(words: list[Token], at: int, openings: _LeftOut) -> tuple[str, ...]:
    """What is left out before a clause that begins with the word at `at`."""
    low, following = words[at].low, words[at + 1].low
    then = words[at + 2] if at + 2 < len(words) else None
    if other_subjects.is_of_another(words, at):
        return ()
    for after, subject in openings[low]:
        if (
            following in after
            or ("*" in after and following not in _ADDRESSED)
            or ("+" in after and _object(words[at + 1]))
            or ("^" in after and words[at + 1].text[0].isupper())
            or (then is not None and _and_then(following, then, after))
            or (low in ("got", "have") and following.isdigit() and "two" in after)
            or (low == "just" and verb_form(following)[1] is Form.PAST)
        ):
            return subject
    return ()


def _and_then(following: str, then: Token, after: frozenset[str]) -> bool:
    """Whether two words may follow: "at^" is "at" and a name."""
    named = f"{following}^" in after and then.text[0].isupper()
    return named or f"{following}-{then.low}" in after


def _together(words: list[Token]) -> list[Token]:
    """ "Me and my husband bought a house" as "we bought a house", and "my gf and I" alike."""
    low = [word.low for word in words[:6]]
    if low[:2] == ["me", "and"]:
        end = 3 + (low[2] in ("my", "our"))
    elif low[2:3] == ["and"] and low[3] in ("i", "me"):
        end = 4
    else:
        return words
    while end < len(words) and words[end].text[0].isupper() and words[end].low != "i":
        end += 1  # "me and my brother Max"
    if end >= len(words) or not words[end].text[0].isalpha():
        return words
    return [Token("we", "we", words[0].start, words[end - 1].end), *words[end:]]


def _with_owner(words: list[Token]) -> list[Token]:
    """ "Callum moved out, new housemate is Freya" as if it said "my new housemate"."""
    for at, word in enumerate(words[:-3]):
        opens = at == 0 or words[at - 1].low in _BEFORE_OWNED
        owned = word.low == "new" and words[at + 1].low in NEAR
        if opens and owned and words[at + 2].low in ("is", "called", "named"):
            return [*words[:at], Token("my", "my", word.start, word.start), *words[at:]]
    return words


_BEFORE_OWNED = frozenset({",", ";", "-", "–", "and", "so", "but"})
_BEGINS_OBJECT = frozenset("a an my our the to from in on with some for".split())


def _object(word: Token) -> bool:
    """Whether something that was done may go on with this word."""
    return word.low in _BEGINS_OBJECT or word.text[0].isupper() or word.text[0].isdigit()


def _mended(words: list[Token]) -> list[Token]:
    """Spellings put right, fillers and chatty openings left out."""
    found: list[Token] = []
    at, count = 0, len(words)
    while at < count:
        word = words[at]
        low = word.low
        following = words[at + 1].low if at + 1 < count else ""
        if (low, following) in PHRASES:
            length, meant = phrase(words, at)
            if length:
                last = words[at + length - 1]
                if meant:
                    typed = " ".join(each.text for each in words[at : at + length])
                    found.append(Token(typed, meant, word.start, last.end))
                at += length
                if not meant and found and found[-1].low == "," and at < count:
                    at += words[at].low == ","
                continue
        before = found[-1].low if found else ""
        if low in _FILLERS or (low in _PAUSED and before == "," and following == ","):
            if (before in (",", "") or not found) and following == ",":
                at += 1
        elif low in _LAUGHS:
            if found and before not in (";", ".", ",", "!", "?"):
                found.append(Token(word.text, ";", word.start, word.end))
        elif (
            not found
            and low in _OPENINGS
            and following not in ("", "that", "far", "are", "is")
            and not (low == "now" and leading_clauses.is_of_a_post(words, at + 1))
        ):
            if following in (",", "!", "-", "…"):
                at += 1
        elif low == "like" and before in _ABOUT and following[:1].isdigit():
            pass
        elif low == "id" and before not in _NO_I and _rather(following):
            found.append(Token(word.text, "i'd", word.start, word.end))
        elif low == "ill" and before in ("", ",", ";", "and", "so", "but") and _base(following):
            found.append(Token(word.text, "i'll", word.start, word.end))
        elif low == "w" and following == "/" and at + 2 < count:
            found.append(Token("w/", "with", word.start, words[at + 1].end))
            at += 1
        elif low == "w" and following in _WITH:
            found.append(Token(word.text, "with", word.start, word.end))
        elif low in _SPELLINGS and (len(low) > 1 or word.text == low):
            found += _spelled(word, _SPELLINGS[low])
        else:
            found.append(word)
        at += 1
    return found or words


_WITH = frozenset("us me my our him her them the a an his".split())
_ABOUT = frozenset("i'm am is are was costs cost for about paid pay be".split())
_NO_I = frozenset("my the an your his her their our this that user student photo new valid".split())


def _rather(low: str) -> bool:
    return low in ("rather", "love", "like", "prefer", "say", "never", "been", "had", "always")


def _base(low: str) -> bool:
    return low in ("be", "have", "do") or verb_form(low)[1] in (Form.BASE, Form.BASE_OR_PAST)


def _spelled(word: Token, meant: tuple[str, ...]) -> list[Token]:
    """The words that one typed word stands for; those after the first are empty at its end. A
    noun is told in full: a "bff friend" is none."""
    text = meant[0] if meant[1:] and meant[-1] in NEAR else word.text
    first = Token(text, meant[0], word.start, word.end)
    return [first, *(Token(each, each, word.end, word.end) for each in meant[1:])]


def _uncontracted(words: list[Token]) -> list[Token]:
    """ "My boss's called Petra" as "my boss is called Petra"; possessives stay as they are."""
    found: list[Token] = []
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else None
        if (
            following is not None
            and word.low.endswith("'s")
            and any(each.low in _OWNERS for each in words[max(0, at - 3) : at])
            and _is_after(
                word,
                following,
                words[at + 2].low if at + 2 < len(words) else "",
                favoured=words[at - 1].low in ("favourite", "favorite"),
            )
        ):
            cut = word.end - 2
            found.append(Token(word.text[:-2], word.low[:-2], word.start, cut))
            found.append(Token(word.text[-2:], "is", cut, word.end))
        else:
            found.append(word)
    return found


def _is_after(word: Token, following: Token, then: str, *, favoured: bool) -> bool:
    low = following.low
    if low in _IS_AFTER:
        return True
    if low.isdigit():
        # "my son's 7", not "my son's 7 toys"
        return not then.isalpha() or then in ("and", "years", "now", "next", "tomorrow", "today",
                                              "months", "in", "on", "so", "but", "old")  # fmt: skip
    if word.low == "name's" or favoured:
        return low[0].isalpha()
    return low.endswith("ing") and verb_form(low)[1] is Form.ING and low != "wedding"


def _without_symbols(words: list[Token]) -> list[Token]:
    """Emoji end what was said; several are one."""
    found: list[Token] = []
    for word in words:
        if word.text >= _SYMBOL and not word.text[0].isalnum():
            if word.low in "…“”‘’" or not found or found[-1].low == ";":
                continue
            found.append(Token(word.text, ";", word.start, word.end))
        else:
            found.append(word)
    return found or words


_STARTS = frozenset({"i", "i'm", "i've", "we", "my", "our", "his", "her", "he", "she", "it's"})
_STATES = frozenset({
    "live", "work", "study", "play", "speak", "drive", "have", "own", "love", "like", "hate",
    "prefer", "use", "moved", "got", "bought", "started", "teach", "don't", "can't", "never",
    "also", "am", "was", "used",
})  # fmt: skip
_OPEN = frozenset(
    "and but so or because since that if when while as than what where how why who which whether"
    " before after until though although think know say said hope wish guess believe feel sure"
    " told tell like to of in on at with for from by about into is are was were am be the a an"
    " imagine pretend suppose let glad happy sorry mean means once every time all only do does did"
    " can could should would will may might".split()
) | {",", ";", ":", ".", "!", "?", "(", "-", "–", "—", '"', "“", "‘", "'", "*"}  # fmt: skip
_RELATIVE = frozenset(
    "the this these those any every some something anything everything thing way day place first"
    " last best one ones".split()
)


def _separated(words: list[Token]) -> list[Token]:
    """Run-ons with an empty ";" between their statements: "I'm 25 i live in rome i study law"."""
    marks: list[int] = []
    begun = 0
    for at in range(2, len(words) - 2):
        low = words[at].low
        if low in _STARTS and at - begun > 1 and _begins(words, begun, at):
            marks.append(at)
            begun = at
        elif low in ";.:!?":
            begun = at + 1
    if not marks:
        return words
    found: list[Token] = []
    for at, word in enumerate(words):
        if at in marks:
            end = words[at - 1].end
            found.append(Token(";", ";", end, end))
        found.append(word)
    return found


def _begins(words: list[Token], begun: int, at: int) -> bool:
    """Whether a statement ends before the word at `at` and another begins with it."""
    before = words[at - 1].low
    if before in _OPEN or before in WORDS["openers"]:
        return False
    if words[begun].low not in _STARTS:
        return False
    low, following = words[at].low, words[at + 1].low
    if low in ("my", "our", "his", "her"):
        if verb_form(before)[1] is not Form.NONE:
            return False
        ahead = [word.low for word in words[at + 2 : at + 5]]
        return bool({"is", "lives", "works", "called", "has"}.intersection(ahead))
    if low in ("i'm", "it's"):
        ends_open = not _RELATIVE.isdisjoint(word.low for word in words[max(begun, at - 4) : at])
        return not ends_open
    if low in ("he", "she"):
        return following in ("is", "has", "works", "lives") and before != "and"
    if following not in _STATES or verb_form(before)[1] in (Form.BASE, Form.ING):
        return False
    after = words[at + 2].low
    if after in WORDS["prepositions"] and at + 3 >= len(words):
        return False
    near = {word.low for word in words[max(begun, at - 4) : at]}
    return _RELATIVE.isdisjoint(near)


def _named(words: list[Token]) -> list[Token]:
    """Given names that were typed in lower case get their capital, where a name may stand."""
    for at in range(1, len(words)):
        before = words[at - 1].low
        listed = before == "and" and at > 1 and words[at - 2].low in GIVEN
        if before not in _BEFORE_NAMES and not listed:
            if words[at].low in _NAMED:
                words = _apart(words, at)
            continue
        word = words[at]
        if not word.text.isalpha() or not word.text.islower():
            continue
        named = before in _NAMED or (before == "is" and at > 1 and words[at - 2].low == "name")
        if word.low in GIVEN or (named and word.low not in _NO_NAMES | _CALLED):
            words[at] = word._replace(text=word.text.capitalize())
    return words


_CALLED = frozenset("off out in up on by for me back it him her them us time round".split())
"""After "called", no name: "called off the wedding"."""


def _apart(words: list[Token], called: int) -> list[Token]:
    """ "My cats called Biscuit" as "my cat is called Biscuit"."""
    before = words[called - 1]
    owned = called > 1 and words[called - 2].low in _OWNERS
    if not owned or not before.low.endswith("s") or before.low[:-1] not in NEAR:
        return words
    cut = before.end - 1
    noun = Token(before.text[:-1], before.low[:-1], before.start, cut)
    return [*words[: called - 1], noun, Token("s", "is", cut, before.end), *words[called:]]


OF_SOMEBODY = frozenset(f"{person}'s" for person in NEAR)
"""What a sentence of somebody near begins with that leaves "my" out: "son's teacher is …"."""
_NO_NAMES = (
    WORDS["not_names"]
    | WORDS["negligible"]
    | WORDS["determiner_words"]
    | {"not", "no", "always", "usually", "something", "after", "by", "like"}
)
_BEFORE_NAMES = NEAR | _NAMED | {"is", "are", "i'm", "am", "me", ",", ";"}
