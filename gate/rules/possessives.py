"""Statements whose subject is "my …": names, favourites, family, pets."""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.gate.dates import find_when
from beliefledger.gate.rules import belongings, choices, departures, occupations, owned_things
from beliefledger.gate.rules.findings import NEVER, Reading, RuleFinding, capped
from beliefledger.gate.rules.lexicon import BASES, MANY, ONE, PETS, WORDS, Form, load, verb_form
from beliefledger.gate.rules.names import is_no_name
from beliefledger.gate.rules.owned_things import between, owned
from beliefledger.gate.rules.patterns import KINDS
from beliefledger.gate.rules.people import WHICH
from beliefledger.gate.rules.phrases import (
    NOW,
    is_age,
    is_definite,
    is_list,
    is_turned,
    phrase_end,
    pointing,
    slug,
    text_of,
    tidy,
    trim,
    until_now,
)
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.rules.words import Token, clause_end, name_does
from beliefledger.ledger.candidate import Ends, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_PEOPLE = load("people.yaml")
_WORK = frozenset(_PEOPLE["work"].split())
_RELATIONS = {
    noun: f"relation.{relation}"
    for relation in ("reports-to", "works-with")
    for noun in _PEOPLE[relation].split()
}
TALK = 600
"""The longest turn, in characters, in which "we" is read as the user's: in longer ones it is mostly
a company's copy."""
_FORMER = frozenset(_PEOPLE["former"].split())
_QUALIFIERS = frozenset(_PEOPLE["qualifiers"].split())
_STATES = {
    "lives": "location", "live": "location", "works": "work", "work": "work", "is": "is",
    "are": "is", "has": "has", "loves": "likes", "likes": "likes", "hates": "likes",
}  # fmt: skip
_MONTH = compile_later(r"\b(?:march|may|august)\b")
"""Months that are also other words, as they are typed in lower case."""
_COUPLES = frozenset({"girlfriend", "boyfriend", "partner", "husband", "wife"})
_OF = frozenset({"of"})
_OWNER = {"first": "my", "second": "your"}
_PLURAL = frozenset(
    "friends colleagues kids children parents cousins neighbors neighbours coworkers team family "
    "grandparents sisters brothers sons daughters nieces nephews in-laws".split()
)


def findings(reading: Reading) -> Iterator[RuleFinding]:
    """What the sentence says of the user's name, favourites, people and pets."""
    owner = _OWNER[reading.person]
    words = reading.words
    together = owner == "my" and len(reading.content) <= TALK
    for at, token in enumerate(words[:-1]):
        if token.low == owner:
            yield from _belonging(reading, at)
        elif together and token.low == "our":
            yield from _shared(reading, at)


def _belonging(reading: Reading, my: int) -> Iterator[RuleFinding]:
    words = reading.words
    at = my + 1
    while at < len(words) and words[at].low in _QUALIFIERS:
        at += 1
    if at >= len(words):
        return
    if at > my + 1 and words[at - 1].low in _BY_AGE and not words[at].text.isalpha():
        yield from _of_person(reading, my, at - 1, words[at - 1].low)
        return
    low = words[at].low
    if low in ("name", "name's", "birthday", "favorite", "favourite", "fave"):
        if at == my + 1 or low.startswith("name"):
            yield from _of_self(reading, my, at)
        return
    if low == "preferred":
        yield from _preferred(reading, my, at)
        return
    noun = low.removesuffix("'s")
    yield from _who_or_what(reading, my, at, noun)


def _who_or_what(reading: Reading, my: int, at: int, noun: str) -> Iterator[RuleFinding]:
    """Who somebody near is, else what a thing is: "my boss is Karl now" tells of no thing."""
    near = any(noun in each for each in (ONE, MANY, PETS))
    persons = [*_of_person(reading, my, at, noun)] if near else []
    named = {each.value for each in persons if each.type == "relation"}
    yield from persons
    yield from (each for each in owned_things.findings(reading, my) if each.value not in named)
    yield from belongings.findings(reading, my)


_BY_AGE = frozenset({"eldest", "oldest", "youngest"})


def _shared(reading: Reading, our: int) -> Iterator[RuleFinding]:
    """ "Our cat Felix is 12": what is theirs together."""
    if (noun := reading.words[our + 1].low) in _BY_AGE:
        yield from _of_person(reading, our, our + 1, noun)
    yield from _who_or_what(reading, our, our + 1, noun)


def _of_self(reading: Reading, my: int, at: int) -> Iterator[RuleFinding]:
    words, content, low = reading.words, reading.content, reading.words[at].low
    following = at + 1 if low == "name's" else at + 2
    linked = low == "name's" or (at + 1 < len(words) and words[at + 1].low == "is")
    if low.startswith("name") and linked and words[min(following, len(words) - 1)].low != "not":
        end = name_end(words, following)
        if end == following < len(words) and len(words) - following <= 3:
            # "my name is bob", typed without capitals.
            while (
                end < len(words)
                and words[end].text.isalpha()
                and words[end].low not in WORDS["not_names"]
            ):
                end += 1
        if end > following:
            name = text_of(content, words, following, end)
            yield owned(
                reading, my, end, f"User's name is {name}", "fact", "identity.name", name, 900
            )._replace(topic="identity")
    elif low == "birthday" and linked:
        said = _MONTH.sub(lambda month: month[0].title(), content[words[at].start : words[-1].end])
        found = find_when(said, reading.said_at, future=True)
        if found is not None:
            begin = words[at].start + found.start
            value = content[begin : words[at].start + found.end]
            end = next(i for i, w in enumerate(words) if w.end >= begin + len(value)) + 1
            told = capped(between(reading, at + 2, end))
            yield owned(
                reading,
                my,
                end,
                f"User's birthday is {told}",
                "fact",
                "identity.birthday",
                value,
                900,
            )._replace(topic="identity")
    elif low.startswith("fav") and my > 1 and words[my - 1].low in ("is", "are"):
        yield from _is_favourite(reading, my, at)
    elif low.startswith("fav"):
        yield from _favourite(reading, my, at)


def _is_favourite(reading: Reading, my: int, at: int) -> Iterator[RuleFinding]:
    """ "Pizza is my favourite", "Lapsang is my favourite tea by miles"."""
    words = reading.words
    begin = my - 2
    while (
        begin > 0
        and words[begin - 1].text[0].isalnum()
        and my - begin < 6
        and (words[begin - 1].low not in WORDS["subject_words"] | WORDS["clause_words"])
    ):
        begin -= 1
    if begin < 0 or not tidy(words, begin, my - 1, 5):
        return
    end = at + 1
    if (
        end < len(words)
        and words[end].text.isalpha()
        and (words[end].low not in WORDS["prepositions"] | WORDS["clause_words"] | {"and", "too"})
    ):
        end += 1
    thing = slug(words[end - 1].low) if end > at + 1 else ""
    value = text_of(reading.content, words, begin, my - 1)
    claim = f"User's {between(reading, my + 1, end)} is {value}"
    yield RuleFinding(
        reading.content, words[begin].start, words[end - 1].end, claim, "preference",
        f"favorite.{thing}" if thing else f"likes.{slug(value)}", value, 650,
    )  # fmt: skip


def _favourite(reading: Reading, my: int, at: int) -> Iterator[RuleFinding]:
    words = reading.words
    is_at = next(
        (i for i in range(at + 1, min(at + 7, len(words))) if words[i].low in ("is", "are")), None
    )
    if (
        is_at is None
        or is_at == at + 1
        or any(w.low in (",", "that", "which") for w in words[at:is_at])
    ):
        return
    begin, end = trim(words, is_at + 1, clause_end(words, is_at + 1, "present"))
    stop = until_now(words, begin, end)
    if not tidy(words, begin, stop) or words[begin].low in ("to", "when", "how", "not"):
        return
    act = SpeechAct.CHANGE if stop < end else None
    end = stop
    thing = slug(text_of(reading.content, words, at + 1, is_at), 3)
    value = text_of(reading.content, words, begin, end)
    favourite = "favorite" if words[at].text.lower() in _SPELLED else words[at].text
    one_of = my > 1 and words[my - 1].low == "of" and words[my - 2].low == "one"
    subject = f"{'One of User' if one_of else 'User'}'s {favourite}"
    perhaps = " probably" if words[is_at + 1].low == "probably" else ""
    rest = f"{between(reading, at + 1, is_at)} {words[is_at].low}{perhaps}"
    yield owned(
        reading,
        my - 2 if one_of else my,
        end,
        f"{subject} {rest} {between(reading, begin, end)}",
        "preference",
        f"favorite.{thing}.{slug(value)}" if one_of else f"favorite.{thing}",
        value,
        650,
    )._replace(act=act)


_SPELLED = frozenset({"favourite", "favorite"})


def _preferred(reading: Reading, my: int, at: int) -> Iterator[RuleFinding]:
    """ "My preferred editor is vim", "my preferred meeting time is afternoon"."""
    words = reading.words
    link = next((i for i in range(at + 2, min(at + 5, len(words))) if words[i].low == "is"), None)
    if link is None:
        return
    begin, end = trim(words, link + 1, clause_end(words, link + 1, "present"))
    if not tidy(words, begin, end, 4):
        return
    thing = [word.low for word in words[at + 1 : link]]
    chosen = choices.lookup(words, begin, end)
    attribute, topic = f"prefers.{slug(' '.join(thing), 3)}", ""
    if thing[0] in ("meeting", "call") and thing[-1] in ("time", "times", "slot"):
        attribute, topic = "meeting.time", "schedule"
    elif chosen is not None:
        attribute, topic = chosen[0].attribute, chosen[0].topic
        begin, end = chosen[1:]
    claim = f"User's {between(reading, at, end)}"
    value = text_of(reading.content, words, begin, end)
    yield owned(reading, my, end, claim, "preference", attribute, value, 700)._replace(topic=topic)


def name_end(words: list[Token], start: int) -> int:
    end = start
    while end < min(len(words), start + 3) and _is_name(words[end]):
        end += 1
        if words[end - 1].low.endswith("'s"):
            break
    return end


def _is_name(token: Token) -> bool:
    return (
        token.text[0].isupper()
        and token.low not in ("me", "us", "him", "her", "them", "it")
        and token.text.isascii() is not None
        and (
            token.low not in WORDS["not_names"] and token.text[0].isalpha() and len(token.text) > 1
        )
    )


def _of_person(reading: Reading, my: int, at: int, noun: str) -> Iterator[RuleFinding]:
    words, content = reading.words, reading.content
    who = f"User's {between(reading, my + 1, at + 1)}".removesuffix("'s").removesuffix("’s")
    next_low = words[at + 1].low if at + 1 < len(words) else ""
    name_at = at + 1
    first = at + 2 + (next_low == "is" and at + 2 < len(words) and words[at + 2].low in NOW)
    if words[at].low.endswith("'s"):
        if next_low in ("name", "names") and at + 2 < len(words) and words[at + 2].low == "is":
            name_at = at + 3
        elif next_low in ("called", "named"):
            name_at = at + 2
        else:
            return
    elif (
        next_low in ("is", "was")
        and at + 2 < len(words)
        and words[at + 2].low in ("called", "named")
    ):
        name_at = at + 3
    elif (
        next_low in ("called", "named")
        or (next_low == "," and not is_list(words, at + 2))
        or (
            next_low == "is"
            and first < len(words)
            and (
                name_end(words, first)
                in {until_now(words, first, end) for end in (len(words), len(words) - 1)}
                or _breaks_off(words, first, name_end(words, first))
            )
            and words[first].low not in KINDS
            and not is_no_name(words[first].low)
            and category_of(words[first].text) is None
        )
    ):
        name_at = first
    subject_end, key_of = at + 1, noun
    end = name_end(words, name_at)
    wrong = None if next_low != "is" else _said_wrong(words, name_end(words, first))
    if wrong is not None:
        name_at, end = first, name_end(words, first)
    if end > name_at and noun not in _PLURAL and not is_list(words, name_at):
        name = text_of(content, words, name_at, end).removesuffix("'s").removesuffix("’s")
        new = at > my + 1 and words[my + 1].low == "new"
        kind = text_of(content, words, my + 1 + new, at + 1)
        key = slug(kind.removesuffix("'s").removesuffix("’s"), 3)
        many = noun in MANY
        called = any(w.low in ("called", "named") for w in words[at:name_at])
        key_of = f"{noun}.{slug(name)}" if many else noun
        last = words[end - 1].start + len(words[end - 1].text.removesuffix("'s").removesuffix("’s"))
        now = (
            new
            or first > at + 2
            or any(
                " ".join(w.low for w in words[end : end + length]) in NOW for length in (1, 2, 3)
            )
        )
        finding = owned(
            reading,
            my,
            end,
            f"{who} is {'called ' if called else ''}{name}",
            "relation",
            relation_key(noun, [word.low for word in words[my + 1 : at]], name)
            or (f"relation.{key}.{slug(name)}" if many else f"relation.{key}.name"),
            name,
            700,
        )._replace(topic=topic_of_noun(noun), participants=(name,))
        finding = finding._replace(end=last, act=SpeechAct.CHANGE if now else finding.act)
        if now and noun in _COUPLES:  # who lived with another one does no more
            with_them = Ends(attribute="home.household", value=noun, sparing=name)
            finding = finding._replace(ends=(*finding.ends, with_them))
        if wrong is not None:
            finding = finding._replace(
                end=words[wrong - 1].end, act=SpeechAct.CORRECTION,
                replaces=text_of(content, words, end + 2, wrong),
            )  # fmt: skip
        if not departures.are_gone(noun, words, end):
            yield finding
        if words[end - 1].low.endswith("'s"):
            return
        subject_end = end + (end < len(words) and words[end].low == "," and name_at == at + 2)
    yield from _happening(reading, my, subject_end, noun, key_of, named=subject_end > at + 1)


def _breaks_off(words: list[Token], first: int, end: int) -> bool:
    """Whether another clause begins behind a name: "my boss is Greta but everyone says Gigi"."""
    if end == first or end + 1 >= len(words) or words[first].low in WORDS["not_names"]:
        return False
    low, following = words[end].low, words[end + 1].low
    if low in ("but", "because", "although", "though"):
        return True
    begins = following in WORDS["subject_words"] or name_does(words, end + 1)
    return low in (",", "and", "so") and begins


def _said_wrong(words: list[Token], end: int) -> int | None:
    """One past the name of who is not meant: "…, not Tom"."""
    low = [word.low for word in words[end : end + 2]]
    stop = name_end(words, end + 2) if low == [",", "not"] else end
    return stop if stop > end + 2 else None


def relation_key(noun: str, qualifiers: list[str], name: str) -> str | None:
    """The key of a relation of the vocabulary: one slot for all ways to say it."""
    stem = _RELATIONS.get(noun)
    if stem is None or _FORMER.intersection(qualifiers):
        return None
    return stem if stem == "relation.reports-to" else f"{stem}.{slug(name)}"


def topic_of_noun(noun: str) -> str:
    if noun in _WORK:
        return "work"
    return "pets" if noun in PETS else "family" if noun in ONE else ""


def _happening(
    reading: Reading, my: int, at: int, noun: str, key: str, *, named: bool = False
) -> Iterator[RuleFinding]:
    """ "My sister got married last June", "my brother lives in Leeds"."""
    words, content = reading.words, reading.content
    boss = _RELATIONS.get(noun) == "relation.reports-to"
    if my == 0 and boss and not named and len(content) <= TALK:
        return  # read as said of "my manager", who is somebody with a name
    if (
        my
        and words[my - 1].low not in WORDS["openers"]
        and words[my - 1].low not in ("that", "and")
    ):
        return
    which = next((WHICH[word.low] for word in words[my + 1 : at] if word.low in WHICH), None)
    if which is not None and key == noun:
        key = f"{which}-{noun}"  # an older brother and a younger one are two people
    while at < len(words) and words[at].low in WORDS["negligible"] | {"recently"}:
        at += 1
    while at < len(words) and words[at].low == "just":
        at += 1
    if at + 1 >= len(words):
        return
    verb = words[at].low
    stop = clause_end(words, at + 1, "past")
    begin, stop = trim(words, at + 1, stop)
    if not 1 <= stop - begin <= 18 or pointing(words, begin, stop):
        return
    if words[begin].low in WORDS["pronouns"]:
        return
    subject = f"User's {between(reading, my + 1, at)}".rstrip(", ")
    claim = f"{subject} {capped(between(reading, at, stop))}"
    value = text_of(content, words, at, stop)
    state = _STATES.get(verb)
    if (
        verb in ("is", "are")
        and words[begin].low in ("staying", "living", "studying", "working", "based")
        and begin + 2 < stop
        and words[begin + 1].low in ("in", "at", "for", "near")
    ):
        state = "work" if words[begin].low == "working" else "location"
        verb, begin = "lives", begin + 1
    if verb in ("is", "are", "was") and words[begin].low == "from":
        value = text_of(content, words, begin + 1, phrase_end(words, begin + 1, stop, _OF))
        kind, slot = "fact", f"relation.{key}.origin"
    elif (
        verb in ("goes", "go") and words[begin].low == "to" and is_definite(words, begin + 1, stop)
    ):
        value = text_of(content, words, begin + 1, phrase_end(words, begin + 1, stop, _OF))
        kind, slot = "fact", f"relation.{key}.school"
    elif verb in ("turned", "turns") and is_turned(words, verb, begin, stop):
        value, stop = words[begin].text, begin + 1
        claim, kind, slot = f"{subject} {verb} {value}", "fact", f"relation.{key}.age"
    elif verb in ("is", "are") and words[begin].low == "due":
        kind, slot = "event", "event.due"
    elif occupations.starts(verb, words[begin:stop]):
        kind, slot = "event", "event.plan"
    elif state in ("is", "work") and (job := occupations.job(words, verb, begin, stop)):
        for part, value, said in occupations.told(content, words, job, claim):
            yield owned(
                reading, my, stop, said, "fact", f"relation.{key}.{part}", value, 500
            )._replace(confidence=850, topic=topic_of_noun(noun))
        return
    elif (verb in _DOES or occupations.is_trade(words, at, stop)) and tidy(words, begin, stop, 8):
        value = text_of(content, words, begin, occupations.object_end(words, begin, stop))
        kind, slot = "fact", f"relation.{key}.{BASES[verb]}"
    elif state in ("location", "work") and words[begin].low in ("in", "at", "for", "as", "near"):
        value = text_of(content, words, begin + 1, phrase_end(words, begin + 1, stop, _OF))
        kind, slot = "fact", f"relation.{key}.{state}"
    elif verb == "is" and words[begin].low.isdigit() and is_age(words, begin, stop):
        value, stop = words[begin].text, begin + 1
        claim, kind, slot = f"{subject} is {value}", "fact", f"relation.{key}.age"
    elif state in ("is", "has") and (
        words[begin].low in ("a", "an", "allergic")
        or (stop - begin <= 6 and _personal(words[begin].low, claim))
    ):
        value = text_of(content, words, begin, stop)
        kind, slot = "fact", f"relation.{key}.{state}.{slug(value)}"
    elif state == "likes" and tidy(words, begin, stop):
        value = text_of(content, words, begin, stop)
        kind, slot = "preference", f"relation.{key}.likes.{slug(value)}"
    elif verb_form(verb)[1] in (Form.PAST, Form.PARTICIPLE) and _tells(verb):
        kind, slot = "event", f"event.{slug(verb_form(verb)[0], 1)}"
    else:
        return
    if not value:
        return
    said, plan = content[words[my].start : words[stop - 1].end], slot == "event.plan"
    found = find_when(said, reading.said_at, future=plan)
    yield owned(reading, my, stop, claim, kind, slot, value, 500)._replace(
        confidence=850,
        negated=verb == "hates",
        topic=topic_of_noun(noun),
        when=NEVER if found is None or kind != "event" else found.when,
    )


_DOES = frozenset("plays studies speaks teaches runs owns drives collects attends".split())


def _personal(low: str, claim: str) -> bool:
    """Whether "is Catholic" or "has cancer" says what somebody is, not how they feel today."""
    entry = KINDS.get(low)
    if entry is not None:
        return entry[1].get("durability") != "transient"
    return category_of(claim) is not None


def _tells(verb: str) -> bool:
    return verb_form(verb)[0] not in WORDS["mental_verbs"] and verb not in ("told", "said", "asked")
