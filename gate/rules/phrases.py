"""Tidy words: where a noun phrase ends, what may be a value, and "I" turned into "User"."""

from __future__ import annotations

import re

from beliefledger.gate.rules.lexicon import WORDS
from beliefledger.gate.rules.words import Token, after_title, is_phrasal
from beliefledger.ledger.late_patterns import compile_later

MAX_VALUE_WORDS = 12
_SLUG = compile_later(r"[^\w+#]+")
_ARTICLES = compile_later(r"^(?:an?|the|my|our|some|any|to)\s+", re.I)


def slug(value: str, limit: int = 60) -> str:
    """The words of a value as part of an attribute: "a Tesla Model 3" is tesla-model-3.

    All of them: two values that shared a slot by their first words would seem to contradict.
    """
    bare = _ARTICLES.sub("", value.lower().replace("’", "'").replace("'s ", " "))
    words = [word for word in _SLUG.split(bare.replace("'", "")) if word]
    return "-".join(words[:limit]) or "it"


_NAMES = compile_later(
    r",(?! .{0,60}\b(?:an?|some|my|our|one|two|three|four|five|six|\d{1,4})\b)| (?:called|named) ",
    re.I,
)


def before_names(slugged: str, value: str) -> str:
    """What a counted thing is as part of an attribute, without what each is called: "2 cats, Miso
    and Tofu", "two cats called Miso and Tofu"."""
    names = _NAMES.search(value)
    return slugged if names is None else slug(value[: names.start()])


def phrase_end(words: list[Token], start: int, stop: int, keep: frozenset[str]) -> int:
    """One past the noun phrase that begins at `start`: it ends before the next preposition.

    Prepositions in `keep` belong to the phrase ("of", or "to" of an infinitive).
    """
    at = start
    while at < stop:
        title = after_title(words, at)
        if title > at:
            at = title
            continue
        low = words[at].low
        if at > start and low in WORDS["prepositions"] and low not in keep:
            return at
        following = words[at + 1].low if at + 1 < stop else ""
        if at > start and following and (low == "not" or (low == "," and following == "not")):
            return at
        if at > start and (
            low == "yesterday"
            or (low in ("last", "next", "this") and following in WORDS["time_units"])
        ):
            return at
        ago = words[at + 2].low if at + 2 < stop else ""
        if at > start and ago in ("ago", "back") and following in _UNITS:
            return at
        at += 1
    return min(at, stop)


_UNITS = frozenset("day days week weeks month months year years while decade decades".split())


def trim(words: list[Token], start: int, stop: int) -> tuple[int, int]:
    """[start, stop) without filler and marks at its ends."""
    while start < stop and (
        words[start].low in WORDS["negligible"] or (not words[start].text[0].isalnum()
        and words[start].low not in "$€£#@\"'“‘")
    ):  # fmt: skip
        start += 1
    while (
        stop > start
        and not _closes(words, start, stop - 1)
        and (words[stop - 1].low in WORDS["trailing"] or words[stop - 1].low in "'\"*,-–—/%&@#$€£")
        and not is_phrasal(words, stop - 1)
    ):
        stop -= 1
    return start, stop


def _closes(words: list[Token], start: int, at: int) -> bool:
    """Whether the mark at `at` closes a title that opens after `start`."""
    return words[at].text in "\"”'’" and any(
        after_title(words, opening) == at + 1 for opening in range(max(start, at - 16), at)
    )


def city_end(words: list[Token], at: int) -> int:
    """One past a city's name at `at`; `at` where there is none."""
    if words[at].low in WORDS["places"]:
        return at + 1
    end = at
    while end < len(words) and words[end].text[0].isupper():
        end += 1
    return end


def named_place(words: list[Token], begin: int, end: int) -> bool:
    """Whether it is Berlin or New York, neither HR nor Product Design."""
    return all(
        token.text[0].isupper() and not token.text.isupper() and token.low not in WORDS["fields"]
        for token in words[begin:end]
    )


def names_in(words: list[Token], begin: int, end: int) -> tuple[str, ...]:
    """The name that the capitalised words of [begin, end) make, or nothing."""
    names = [t.text for t in words[begin:end] if t.text[:1].isupper()]
    return (" ".join(names),) if names else ()


def text_of(content: str, words: list[Token], start: int, stop: int) -> str:
    """The words [start, stop) as they stand in the turn."""
    return content[words[start].start : words[stop - 1].end] if start < stop else ""


_PERSON = {
    "first": {
        "my": "their", "me": "them", "myself": "themselves", "mine": "theirs", "our": "their",
        "us": "them", "ourselves": "themselves", "ours": "theirs", "i": "they", "i'm": "they are",
        "i've": "they have", "i'd": "they would", "i'll": "they will", "we": "they",
        "we're": "they are", "we've": "they have", "we'll": "they will",
    },
    "second": {
        "your": "their", "you": "them", "yourself": "themselves", "yours": "theirs",
        "you're": "they are", "you've": "they have",
    },
    "third": {},
    "third place": {},
}  # fmt: skip


def retell(content: str, words: list[Token], start: int, stop: int, person: str) -> str:
    """The words [start, stop) as said of the user: "my sister" is "their sister"."""
    if start >= stop:
        return ""
    table = _PERSON[person]
    parts: list[str] = []
    for at in range(start, stop):
        token = words[at]
        if start < at and token.low in ("i", "i'm", "i've") and token.start == token.end:
            continue  # "I sold the corsa, bought a polo" says it once
        if at > start:
            parts.append(content[words[at - 1].end : token.start] or _gap(words[at - 1], token))
        spoken = table.get(token.low)
        if token.low == "is" and token.text in _SHORT_IS:
            spoken = "is"
        if spoken is None and token.low == "am":
            spoken = "are" if at > start and words[at - 1].low == "i" else None
        parts.append(token.text if spoken is None else spoken)
    return " ".join("".join(parts).split())


_SHORT_IS = frozenset({"'s", "’s", "s"})


def _gap(before: Token, token: Token) -> str:
    """What stands between two words that touch: a space beside a word that was not written."""
    unwritten = before.start == before.end or token.start == token.end
    return " " if token.low == "is" or unwritten else ""


_LATER = frozenset({"soon", "now", "someday", "eventually", "again", "today", "tomorrow", "next"})


def pointing(words: list[Token], start: int, stop: int) -> bool:
    """Whether the words [start, stop) point at something that was only said before."""
    at = start
    while at < stop:
        title = after_title(words, at)
        if title > at:
            at = title
            continue
        low = words[at].low
        if low in WORDS["pointers"]:
            return True
        if low in ("one", "ones") and at > start and words[at - 1].low in WORDS["which_one"]:
            return True
        following = words[at + 1].low if at + 1 < stop else ""
        if low == "this" and following not in WORDS["this_time"] and not _month(following):
            return True
        if low == "own" and (not following or following in WORDS["prepositions"]):
            return True
        if low == "one" and (
            at + 1 >= stop or following in WORDS["prepositions"] or following in _LATER
        ):
            return True
        if low in ("few", "couple", "some") and following == "more":
            after = words[at + 2].low if at + 2 < stop else ""
            if not after or after in WORDS["prepositions"]:
                return True
        at += 1
    return False


def _month(low: str) -> bool:
    return len(low) > 2 and low[:3] in "jan feb mar apr may jun jul aug sep oct nov dec".split()


def of_what_is_unsaid(words: list[Token], start: int, stop: int) -> bool:
    """Whether [start, stop) is an amount of something that only words before it name: "a few". Of
    "a few more" `pointing` tells."""
    return tuple(token.low for token in words[start:stop]) in _AMOUNTS


_AMOUNTS = {("a", "few"), ("a", "couple"), ("more",)}


def vague(words: list[Token], start: int, stop: int) -> bool:
    """Whether [start, stop) is only "the schedule" or "some great results": nothing to keep."""
    low = [token.low for token in words[start:stop]]
    if low[0] in ("some", "a") and len(low) > 1 and low[1] in WORDS["praise"] | {"lot", "few"}:
        return len(low) < 6 and not any(token.text[0].isupper() for token in words[start:stop])
    if low[0].isdigit() and (len(low) == 1 or low[1] in WORDS["prepositions"]):
        return True
    while low and (low[0] in WORDS["prepositions"] or low[0] in ("up", "out", "back")):
        del low[0]
    named = any(token.text[0].isupper() or token.text[0].isdigit() for token in words[start:stop])
    return low[:1] == ["the"] and len(low) <= 3 and not named


def tidy(words: list[Token], start: int, stop: int, limit: int = MAX_VALUE_WORDS) -> bool:
    """Whether [start, stop) can be a value: short, and not a pronoun or an unresolved pointer."""
    if start >= stop or stop - start > limit:
        return False
    first = words[start].low
    if first in ("and", "or", "but"):
        return False
    if first in WORDS["pronouns"] or first in WORDS["prepositions"] or first in WORDS["no_value"]:
        return False
    if first in WORDS["adverbs"] or (first.endswith("ly") and first not in WORDS["in_ly"]):
        return False
    if stop - start == 1 and first in WORDS["determiner_words"]:
        return False
    if pointing(words, start, stop):
        return False
    return any(token.text[0].isalnum() for token in words[start:stop])


def singular(word: str) -> str:
    """A noun in the singular, by its ending alone."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def is_definite(words: list[Token], begin: int, stop: int) -> bool:
    """Whether a phrase begins with a name or an article."""
    return begin < stop and (words[begin].text[0].isupper() or words[begin].low in ("a", "an"))


def is_turned(words: list[Token], verb: str, begin: int, stop: int) -> bool:
    """Whether words tell an age that somebody has now: "turned 61", and not "turns 90 in March"."""
    if not words[begin].low.isdigit():
        return False
    return verb == "turned" or stop == begin + 1 or words[begin + 1].low in ("today", "now")


def is_age(words: list[Token], begin: int, stop: int) -> bool:
    """Whether a figure is an age in years: "5", "5 years old", and not "5 months gone"."""
    rest = [word.low for word in words[begin + 1 : stop]]
    return not rest or (len(rest) == 2 and rest[0] in ("years", "yrs", "year"))


NOW = frozenset({"these days", "nowadays", "now", "currently", "at the moment", "at present"})


def until_now(words: list[Token], begin: int, end: int) -> int:
    """One past the words [begin, end) without a "now" or "these days" at their end."""
    for length in (1, 2, 3):
        if end - length > begin and " ".join(w.low for w in words[end - length : end]) in NOW:
            return end - length
    return end


def is_list(words: list[Token], at: int) -> bool:
    """ "my sister, Tom and I": more names follow, so this is no apposition."""
    near = [w.low for w in words[at : at + 4]]
    return any(
        low in ("and", "&") and _NO_LIST.isdisjoint(near[i + 1 : i + 2])
        for i, low in enumerate(near[:3])
    )


_NO_LIST = WORDS["subject_words"] | {"is", "works", "lives", "likes", "loves", "my", "our", "hes"}
