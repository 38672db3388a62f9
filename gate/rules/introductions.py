"""Several facts in one breath: "I'm Ana, 34, a nurse from Porto living in Lyon".

Also what is said of oneself in passing: "as a left-hander, …", "being a night nurse, …", "retired
teacher here". Each item becomes a finding of its own; one that is not understood ends the list.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from beliefledger.gate.rules.clauses import Clause
from beliefledger.gate.rules.findings import Reading, RuleFinding, capped
from beliefledger.gate.rules.lexicon import GIVEN, PETS, WORDS, verb_form
from beliefledger.gate.rules.patterns import KINDS, is_job, is_role
from beliefledger.gate.rules.phrases import phrase_end, retell, slug, text_of, tidy
from beliefledger.gate.rules.words import Token, clause_end
from beliefledger.ledger.candidate import Durability

MARKS = frozenset({"as", "being", "here"})
"""Words of which one is in every sentence that says in passing what the user is."""
_OF = frozenset({"of"})
_NONE: frozenset[str] = frozenset()
_PARENTS = frozenset("mom mum mother dad father parent mama papa".split())
_CHILDREN = frozenset(
    "kids kid children child sons daughters son daughter twins boys girls".split()
)
_PLACE_BEGINS = frozenset(
    "new san los las st hong cape rio el la north south east west kuala tel buenos sao"
    " santa port".split()
)
_LISTED = frozenset({",", "and", "&", "-", "–"})
_SELF = frozenset(
    "left-hander lefty southpaw right-hander redhead beginner newbie novice amateur vegan"
    " vegetarian diabetic celiac asthmatic expat immigrant foreigner refugee veteran introvert"
    " extrovert parent homeowner renter gardener runner cyclist commuter traveller traveler"
    " minimalist smoker non-smoker insomniac teetotaler teetotaller only-child grandparent twin"
    " freelancer night-owl widow widower newlywed backpacker climber swimmer hiker gamer".split()
)


class _Item(NamedTuple):
    """One fact: its key, the tokens of its value, and where its words end."""

    attribute: str
    topic: str
    begin: int
    stop: int
    end: int
    claim_from: int
    verb: str = "is"
    category: str | None = None
    importance: int = 800
    lasting: bool = True


def introduction(reading: Reading, clause: Clause) -> list[RuleFinding]:
    """The facts of "I'm …" where there are two or more; else none, and the rules read it."""
    if clause.lemma != "be" or clause.tense != "present" or clause.negated or clause.imagined:
        return []
    words = clause.tokens
    items = _items(words, clause.verb + 1)
    if len(items) < 2 or [each.attribute for each in items] == ["work.role", "work.employer"]:
        return []
    return [_finding(reading, clause.subject, item) for item in items]


def _finding(reading: Reading, subject: int, item: _Item) -> RuleFinding:
    words, content = reading.words, reading.content
    said = retell(content, words, item.claim_from, item.end, reading.person)
    attribute, value = item.attribute, text_of(content, words, item.begin, item.stop)
    if "{value}" in attribute:
        attribute = attribute.replace("{value}", slug(value))
    claim = capped(f"User {item.verb} {said}" if item.verb else f"User: {said}")
    return RuleFinding(
        content, words[subject].start, words[item.end - 1].end,
        claim, "fact", attribute, value, item.importance, 850, item.topic, item.category,
        durability=Durability.LASTING if item.lasting else Durability.TRANSIENT,
    )  # fmt: skip


def _items(words: list[Token], at: int) -> list[_Item]:
    found: list[_Item] = []
    first = True
    while at < len(words):
        while at < len(words) and words[at].low in WORDS["negligible"]:
            at += 1
        item = _item(words, at, first=first)
        if item is not None and item.attribute == "work.role" and _aged(words[at - 1].low):
            item = item._replace(verb="is an" if words[at].low[0] in "aeiou" else "is a")
        if item is None:
            item = None if first else _modifier(words, at, after_role=False)
            if item is None:
                break
        found.append(item)
        at, first = item.end, False
        more = _modifier(words, at, after_role=item.attribute == "work.role")
        while more is not None:
            found.append(more)
            at = more.end
            more = _modifier(words, at, after_role=False)
        if item.attribute == "identity.age" and at < len(words) and _aged(words[at - 1].low):
            continue  # "a 34-year-old designer"
        if at >= len(words) or words[at].low not in _LISTED:
            break
        while at < len(words) and words[at].low in _LISTED:
            at += 1
    return found


def _item(words: list[Token], at: int, *, first: bool) -> _Item | None:
    if at >= len(words):
        return None
    word = words[at]
    if word.low.isdigit() and len(word.low) == 2 and int(word.low) >= 10:
        end = at + 1
        while end < len(words) and words[end].low in ("years", "year", "old", "yrs", "m", "f"):
            end += 1
        if end < len(words) and words[end].low not in _LISTED and not _goes_on(words, end):
            return None
        return _Item("identity.age", "identity", at, at + 1, end, at, importance=900)
    if at + 1 < len(words) and (word.low.isdigit() or word.low in _COUNTS):
        owned = words[at + 1].low
        if owned in _CHILDREN:
            return _Item("family.children", "family", at, at + 1, at + 2, at, "")
        if owned.removesuffix("s") in PETS:
            key = f"has.{owned.removesuffix('s')}"
            return _Item(key, "pets", at, at + 2, at + 2, at, "", importance=500)
    if first and word.text[0].isupper() and word.low not in WORDS["not_names"]:
        end = at
        while end < min(at + 3, len(words)) and words[end].text[0].isupper():
            end += 1
        follows = words[end].low if end < len(words) else ""
        known = word.low in KINDS or is_role(words[end - 1].low)
        if not known and (follows in (",", "from", "-", "–") or follows == "and"):
            return _Item("identity.name", "identity", at, end, end, at, importance=900)
        return None
    article = word.low in ("a", "an")
    begin = at + article
    if begin < len(words) and _aged(words[begin].low) and article:
        return _Item("identity.age", "identity", begin, begin + 1, begin + 1, at, importance=900)
    if begin >= len(words):
        return None
    kind = KINDS.get(words[begin].low)
    if kind is not None and (begin + 1 >= len(words) or _goes_on(words, begin + 1)):
        entry = kind[1]
        lasting = entry.get("durability") != "transient"
        return _Item(
            entry["attribute"], entry["topic"], begin, begin + 1, begin + 1, at, "is",
            entry.get("category"), entry["importance"], lasting,
        )  # fmt: skip
    return _role(words, at, begin)


def _role(words: list[Token], at: int, begin: int) -> _Item | None:
    if words[begin].low in _PARENTS and begin + 2 < len(words) and words[begin + 1].low == "of":
        return _Item("family.children", "family", begin + 2, begin + 3, begin + 3, at)
    end = begin
    while end < min(begin + 6, len(words)) and (
        words[end].text[0].isalnum()
        and words[end].low not in WORDS["prepositions"]
        and words[end].low not in ("and", "or", "living", "working", "based", "who", "that")
    ):
        end += 1
    if end == begin or not is_job(words[end - 1].low) or words[begin].low in _NOT_ROLE:
        return None
    return _Item("work.role", "work", begin, end, end, at)


_COUNTS = frozenset("one two three four five six seven eight nine ten".split())
_NOT_ROLE = frozenset("bit big huge great good happy not the my your".split())


def _aged(low: str) -> bool:
    """Whether a word says how old somebody is: "34-year-old", "29yo"."""
    return low.endswith(("-year-old", "-yr-old", "yo")) and low[:2].isdigit()


def _goes_on(words: list[Token], at: int) -> bool:
    """Whether another item or the end comes at `at`."""
    low = words[at].low
    return low in _LISTED or low in ".;!?()" or low in _MODIFIERS or low in WORDS["cutters"]


_FEW = 4
_MODIFIERS = frozenset(
    "from living based working with originally at who in currently studying".split()
)


def _modifier(words: list[Token], at: int, *, after_role: bool) -> _Item | None:
    """What follows an item: "from Porto", "living in Lyon", "at Bosch", "with two kids"."""
    begins = at
    while at < len(words) and words[at].low in ("originally", "currently", "now", "who", "is"):
        at += 1
    if at + 1 >= len(words):
        return None
    low, following = words[at].low, words[at + 1].low
    if low == "from":
        end = _place_end(words, at + 1)
        if following.endswith("ing") and words[at + 1].text.islower():
            return None  # "retired from teaching"
        if end > at + 1:
            return _Item("identity.origin", "identity", at + 1, end, end, begins, importance=900)
    elif (
        low in ("living", "lives", "live", "based")
        and following in ("in", "near")
        and at + 2 < len(words)
    ):
        end = _place_end(words, at + 2)
        if end > at + 2:
            key = "home.location" if following == "in" else "home.near"
            if low in ("live", "lives"):
                return _Item(key, "home", at + 2, end, end, at + 1, "lives")
            return _Item(key, "home", at + 2, end, end, at, "is")
    elif low in ("working", "works", "employed") and at + 2 < len(words):
        if following in ("at", "for", "by"):
            end = _place_end(words, at + 2)
            if end > at + 2:
                return _Item("work.employer", "work", at + 2, end, end, at, "is")
        elif following == "as":
            begin = at + 2 + (words[at + 2].low in ("a", "an"))
            if begin < len(words):
                role = _role(words, at + 2, begin)
                return role and role._replace(claim_from=at)
    elif low == "at" and after_role and words[at + 1].text[0].isupper():
        end = _place_end(words, at + 1)
        return _Item("work.employer", "work", at + 1, end, end, at, "is")
    elif low == "studying":
        end = clause_end(words, at + 1, "present")
        if end - at <= _FEW:
            return _Item("studies.{value}", "learning", at + 1, end, end, at, "is")
    elif low == "with" and at + 2 < len(words) and words[at + 2].low in _CHILDREN:
        return _Item("family.children", "family", at + 1, at + 2, at + 3, at + 1, "has")
    elif low == "with" and following == "my" and at + 2 < len(words) and _tells_home(words, at):
        end = clause_end(words, at + 2, "present")
        return _Item("home.household", "home", at + 2, end, end, at, "lives")
    return None


def _tells_home(words: list[Token], at: int) -> bool:
    """Whether it has just said where somebody lives: "living in Berlin with my wife"."""
    return any(word.low in ("living", "lives", "based") for word in words[max(0, at - 5) : at])


def _place_end(words: list[Token], at: int) -> int:
    """One past a name of a place or an organisation at `at`; `at` where there is none."""
    end = at
    if at < len(words) and words[at].low == "the":
        end += 1
    begin = end
    while end < min(len(words), at + 5) and (
        words[end].text[0].isupper() or (words[end].low in ("of", "and", "&") and end > begin)
    ):
        end += 1
    while end > begin and words[end - 1].low in ("of", "and", "&"):
        end -= 1
    if end > begin:
        return end
    if any(word.text[0].isupper() for word in words[:at] if word.low not in _I | GIVEN):
        return at
    if at >= len(words) or not words[at].text.isalpha() or verb_form(words[at].low)[0] in _NONE:
        return at
    if words[at].low in WORDS["determiners"] | WORDS["pronouns"] | WORDS["determiner_words"]:
        return at
    return at + 1 + (words[at].low in _PLACE_BEGINS and at + 1 < len(words))


_I = frozenset({"i", "i'm", "i've"})


def findings(reading: Reading) -> Iterator[RuleFinding]:
    """What is said in passing: "as a left-hander", "being a nurse", "retired teacher here"."""
    words = reading.words
    for at, word in enumerate(words[:-1]):
        if word.low in ("as", "being") and words[at + 1].low in ("a", "an"):
            yield from _as_one(reading, at)
        elif word.low == "being" and at + 3 < len(words):
            yield from _being(reading, at)
    yield from _here(reading)


def _being(reading: Reading, at: int) -> Iterator[RuleFinding]:
    """ "Being left-handed, I …", "being vegan i …"."""
    words = reading.words
    if at and words[at - 1].low not in WORDS["openers"]:
        return
    handed = words[at + 1].low in ("left", "right") and words[at + 2].low == "handed"
    stop = at + 2 + handed
    goes_on = stop + (words[stop].low == ",") if stop < len(words) else stop
    if goes_on >= len(words) or words[goes_on].low not in _I | {"my"}:
        return
    kind = KINDS.get(words[at + 1].low)
    if kind is None and not handed:
        return
    key, topic, category = "identity.handedness", "identity", None
    if kind is not None and not handed:
        key, topic, category = kind[1]["attribute"], kind[1]["topic"], kind[1].get("category")
        if kind[1].get("durability") == "transient":
            return
    content = reading.content
    value = text_of(content, words, at + 1, stop)
    yield RuleFinding(
        content, words[at].start, words[stop - 1].end, f"User is {value}", "fact",
        key.replace("{value}", slug(value)), value, 600, 850, topic, category,
    )  # fmt: skip


def _as_one(reading: Reading, at: int) -> Iterator[RuleFinding]:
    words = reading.words
    if at and words[at - 1].low not in WORDS["openers"] | {"that", "living", "life"}:
        return
    begin = at + 2
    stop = phrase_end(words, begin, min(len(words), begin + 9), _OF)
    ends = WORDS["subject_words"] | {"my", "who", "that", "and"}
    stop = next(
        (i for i in range(begin, stop) if not words[i].text[0].isalnum() or words[i].low in ends),
        stop,
    )
    if not begin < stop <= begin + 6 or not tidy(words, begin, stop, 6):
        return
    goes_on = words[stop].low if stop < len(words) else ""
    own = any(w.low in ("i", "i'm", "i've", "i'd", "my", "me") for w in words[stop : stop + 6])
    before = any(w.low in _I for w in words[:at])
    if not (own or before) or (goes_on.isalpha() and goes_on in ("you", "they")):
        return
    yield from _self(reading, at + 1, begin, stop, words[at].start)


def _self(
    reading: Reading, article: int, begin: int, stop: int, start: int
) -> Iterator[RuleFinding]:
    """A finding that the user is what [begin, stop) says, if that says what somebody is."""
    words, content = reading.words, reading.content
    head = words[stop - 1].low
    of = next((i for i in range(begin, stop) if words[i].low == "of"), 0)
    claim = f"User is {capped(retell(content, words, article, stop, 'first'))}"
    value = text_of(content, words, begin, stop)
    if of and words[of - 1].low in _PARENTS and of + 1 < stop:
        value = text_of(content, words, of + 1, of + 2)
        yield RuleFinding(content, start, words[stop - 1].end, claim, "fact", "family.children",
                          value, 800, 800, "family")  # fmt: skip
    elif head in KINDS and stop - begin <= 3:
        entry = KINDS[head][1]
        if entry.get("durability") == "transient":
            return
        key = entry["attribute"].replace("{value}", slug(value))
        yield RuleFinding(content, start, words[stop - 1].end, claim, "fact", key,
                          words[stop - 1].text, entry["importance"], 850, entry["topic"],
                          entry.get("category"))  # fmt: skip
    elif head in _SELF and not (of or words[begin].low in ("fellow", "good", "true")):
        key = "identity.handedness" if head in _HANDS else f"identity.self.{slug(head)}"
        yield RuleFinding(content, start, words[stop - 1].end, claim, "fact", key, value, 600, 850,
                          "identity")  # fmt: skip
    elif is_job(head) and words[begin].low not in _NOT_ROLE | {"professional", "language"}:
        yield RuleFinding(content, start, words[stop - 1].end, claim, "fact", "work.role", value,
                          800, 850, "work")  # fmt: skip


_HANDS = frozenset({"left-hander", "lefty", "southpaw", "right-hander"})


def _here(reading: Reading) -> Iterator[RuleFinding]:
    """ "Retired teacher here", "Dad of 3 here, …"."""
    words = reading.words
    for at in range(1, min(7, len(words))):
        if words[at].low == "here":
            begin = words[0].low in ("a", "an")
            bare = all(w.text[0].isalnum() and w.low not in WORDS["subject_words"]
                       and w.low not in WORDS["auxiliaries"] for w in words[:at])  # fmt: skip
            if bare and at > begin and (at + 1 == len(words) or not words[at + 1].text.isalpha()):
                yield from _self(reading, 0, int(begin), at, words[0].start)
            return
        if not words[at].text[0].isalnum():
            return
