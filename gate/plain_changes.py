"""Which memories plain news ends or gives another value: "we got a dog!!", "milan is home now".

Pure but for what a draft looks up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beliefledger.gate import pairs, records
from beliefledger.gate.belief import Held
from beliefledger.gate.meant_memories import LASTING, WORD, Standing, as_it_was, in_place, told_last
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules import distinctions
from beliefledger.gate.rules.endings import is_a_trade
from beliefledger.gate.rules.farewells import PLANNING, SHARED
from beliefledger.gate.rules.lexicon import GIVEN
from beliefledger.gate.rules.normalised import spelt
from beliefledger.gate.rules.plain_changes import Change, News, is_named, news
from beliefledger.gate.rules.renewals import KINDS, OTHERS, Sentence
from beliefledger.gate.rules.subjects import left_out
from beliefledger.gate.sentences import around, is_question
from beliefledger.gate.spoken_of import is_done_by_another
from beliefledger.gate.told_words import lived_in
from beliefledger.gate.ways_there import is_another_way
from beliefledger.ledger.candidate import SELF, Candidate, Ends, Span
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

MOST = 3
"""News that would end more claims of the user than this is about something else."""
_CARS = next(each for each in KINDS if each.name == "car")
_WHO = {
    "he": tuple(
        "husband boyfriend fiance dad father brother son grandpa grandad uncle nephew "
        "cousin".split()
    ),
    "she": tuple(
        "wife girlfriend fiancee mum mom mother sister daughter gran grandma nan aunt niece".split()
    ),
}
"""Whom a pronoun may mean."""


class Meant(NamedTuple):
    """What news does: the memories that are over, and candidates for the slots of others."""

    over: list[Held]
    anew: list[tuple[Held, list[Candidate]]]
    """Memories, each with candidates for its slot, of which the first that says no more than was
    said is meant."""
    quiet: bool
    """Whether the sentence is not worth remembering itself: it only asks for something."""
    stands: bool
    """Whether it tells more of memories that stay as they are."""


def meant(
    standing: Standing, candidate: Candidate, beside: Sequence[Candidate], before: str
) -> Meant:
    """The memories that a sentence ends, and those that it gives another value. What the turn says
    before it tells whom a pronoun may mean."""
    others = OTHERS.intersection(WORD.findall(before.lower()))
    text = candidate.spans[0].quote
    over: dict[str, Held] = {}
    anew: dict[str, tuple[Held, list[Candidate]]] = {}
    quiet = stands = False
    for told in news(text):
        says_so = bool(told.change.says.get("succeeds"))
        if told.change.says.get("first") and (before.strip() or _names_somebody(text, told)):
            continue
        doing = standing.without_employer(_doing(text, told))
        held = [
            each
            for each in _there(standing, told)
            if _fits(told, each)
            and not is_done_by_another(doing, each)
            and not (_may_point(told) and others.difference(each.written.memory.claim.split()))
            and (says_so or not _is_answered(text, told, each, beside))
            and (_is_of(told.change) or not distinctions.apart(text, each.written.memory.claim, ""))
        ]
        if told.change.says.get("last"):
            held = told_last(held, (*standing.of_user(), *held))
        if told.change.says.get("version"):
            held = _of_version(text, told, held)
        claims = {each.written.memory.claim for each in held if _is_users(each)}
        if len(claims) > (1 if says_so else MOST):
            continue
        if told.change.says.get("again"):
            anew |= {
                each.memory_id: (each, ways) for each, ways in _again(standing, candidate, held)
            }
            continue
        if told.change.says.get("stands"):
            stands = stands or bool(held)
            continue
        for each in held:
            new = _renewed(candidate, text, told, each, before)
            if told.change.says.get("there") and not new:
                continue
            if told.new is not None and not new and not _is_noted(told, each):
                continue
            if not new:
                over[each.memory_id] = each
                quiet = quiet or bool(told.change.says.get("answers"))
            else:
                anew[each.memory_id] = (each, new)
    return Meant(
        [each for key, each in over.items() if key not in anew], list(anew.values()), quiet, stands
    )


def _names_somebody(text: str, told: News) -> bool:
    """Whether the new value is what people are called."""
    new = "" if told.new is None else text[slice(*told.new)]
    return new.partition(" ")[0].lower() in GIVEN


def _is_noted(told: News, held: Held) -> bool:
    """Whether a memory is a note of a record: it has no slot for the new one, and is over."""
    return held.type == NOTE and bool(told.change.says.get("record"))


def _doing(text: str, told: News) -> frozenset[str]:
    """Who else than the speaker does what is news, where its clause leaves the subject out."""
    if _is_of(told.change):
        return frozenset()
    begin = told.at
    while begin < len(text) and not text[begin].isalnum():
        begin += 1  # the mark between the clauses
    joined = _AND.match(text, begin) if begin else None
    if joined is not None and _OURSELVES.search(text, 0, begin) is None:
        # "Tom sold his house and moved to Delft"
        return left_out([*Sentence(text[:begin]).clauses(begin), text[joined.end() :]])
    return left_out(Sentence(text).clauses(begin))


_OURSELVES = compile_later(r"\b(?:i|we|me|us|i['’]?(?:m|ve)|we['’]?(?:re|ve))\b", re.I)
_AND = compile_later(r"(?:and|then|&) (?:then |just |finally |now |also )?", re.I)


def _is_of(change: Change) -> bool:
    return bool(change.says.get("others"))


def _points(change: Change) -> bool:
    """Whether only a pronoun says whom news is about."""
    return any(change.says.get(each) for each in ("last", "pronoun")) or (
        change.says.get("who") in _WHO
    )


def _may_point(told: News) -> bool:
    """Whether somebody else who is spoken of before may be meant: by what only the speaker would
    say, nobody is."""
    return _points(told.change) and not told.change.says.get("behind")


def _is_users(held: Held) -> bool:
    return held.written.memory.entity == SELF


def _there(standing: Standing, told: News) -> Iterator[Held]:
    """The memories of whom news is about."""
    says = told.change.says
    who = says.get("who")
    if says.get("denied") and who == "named":
        yield from standing.denied_of([told.who or ""])
        return
    if says.get("denied"):
        standing.of_user()
        yield from standing.denied()
        return
    if says.get("again"):
        yield from _once_so(standing)
        return
    if who is None:
        yield from standing.of_user()
        return
    names = [told.who or ""] if who == "named" else list(_WHO[who])
    if who == "named":
        names = [names[0], *names[0].split()]
    names = list(dict.fromkeys(each for name in names for each in (name, spelt(name))))
    of = [f"{lead}{name}" for name in names for lead in ("", "user's ")]
    others = [each for each in standing.of(of) if not _is_users(each)]
    others = [each for each in others if told.change.of.match(each.written.memory.attribute)]
    if who == "named" or len({each.written.memory.entity for each in others}) == 1:
        yield from others


def _once_so(standing: Standing) -> Iterator[Held]:
    """What was so of the user once, and is not any more, nor anything else in its place."""
    there = standing.of_user()
    slots = {(each.type, each.written.memory.attribute) for each in there if each.type != NOTE}
    for each in standing.over():
        if each.was_so and (each.type, each.written.memory.attribute) not in slots:
            yield each


def _again(
    standing: Standing, candidate: Candidate, over: Sequence[Held]
) -> list[tuple[Held, list[Candidate]]]:
    """What ended last of some memories, as it is so again; and what tells of its end is over."""
    last = max((each.valid_to or 0 for each in over), default=0)
    ended = [each for each in over if each.valid_to == last]
    if len({each.written.memory.claim for each in ended}) != 1:
        return []
    news = [each for each in standing.of_user() if each.type == "event" and each.said_at == last]
    if any(_DEAD.search(each.written.memory.claim) for each in news):
        return []
    told = tuple(
        Ends(attribute=each.written.memory.attribute, value=each.written.memory.value)
        for each in news
    )
    return [(each, [as_it_was(candidate, each, told)]) for each in ended]


_DEAD = compile_later(r"\b(?:died|dead|passed away|put (?:down|to sleep)|funeral)\b", re.I)


def _fits(told: News, held: Held) -> bool:
    """Whether a memory is one of those that news is about."""
    change, memory = told.change, held.written.memory
    says = change.says
    if change.of.match(memory.attribute) is None:
        return False
    if says.get("trade") and memory.attribute == "work.role" and is_a_trade(memory.claim):
        return False
    placed = memory.context is not None and not says.get("context")
    if placed and not (says.get("version") and told.who):
        return False
    if memory.negated and not (says.get("denied") or says.get("answers")):
        return False
    claim = memory.claim.lower()
    holds = says.get("holds")
    if holds is not None:
        who = re.escape(told.who or "")
        pair = re.escape(told.pair)
        holds = holds.replace("{who}", who).replace("{pair}", pair)
        if re.search(holds.replace("{stem}", re.escape(stem(told.who or ""))), claim) is None:
            return False
    if says.get("record") and not records.is_beaten(told.text, memory.claim):
        return False
    if says.get("way") and not is_another_way(told.text, memory.claim):
        return False
    if says.get("shares") and not _names_the_plan(told.text, held):
        return False
    if not says.get("thing"):
        return True
    value = [each for each in WORD.findall(memory.value.lower()) if each not in _ARTICLES]
    while len(value) > 1 and value[-1].isdigit():
        del value[-1]  # "an iphone 15"
    named = (value[-1:] or [""])[0]
    slot = memory.attribute.rpartition(".")[2].replace("-", " ")
    if any(is_named(each, told.things) for each in (named, slot, slot.rpartition(" ")[2])):
        return True
    return says.get("denied") is True and _is_car(named) and any(map(_is_a_car, told.things))


_OF_A_CAR = compile_later(
    r"(?: (?:[a-z]{0,2}\d[\w.]{0,5}|gti|gtd|tdi|estate|hatchback|hybrid|suv|"
    r"convertible|diesel|electric|van|(?-i:(?:e-)?[A-Z][\w-]{1,15}))){0,2}",
    re.I,
)
"""Behind the name of a car: a "polo shirt" is none."""
_BEFORE_A_CAR = compile_later(
    r"(?:(?:electric|hybrid|white|black|red|blue|grey|gray|silver|green|used|second-hand|secondhand|"
    r"little|big|old|new|brand-new) ){0,2}",
    re.I,
)
_ARTICLES = frozenset("a an the any my our".split())


def _names_the_plan(text: str, held: Held) -> bool:
    """Whether a sentence has a word of those that tell a plan from others: "the Bruges plan"."""
    value = held.written.memory.value
    if held.type == NOTE and _TO_BE.search(value) is None:
        return False
    which = {stem(word) for word in _plain_words(value) if word not in PLANNING | SHARED}
    return not which.isdisjoint(map(stem, _plain_words(text)))


def _plain_words(text: str) -> list[str]:
    return [each.removesuffix("'s") for each in WORD.findall(text.lower().replace("’", "'"))]


_TO_BE = compile_later(
    r"\b(?:plan\w*|thinking (?:of|about)|considering|hop(?:e|ing) to|want to|going to|gonna|"
    r"looking (?:at|into)|idea|dream\w*|tempted)\b",
    re.I,
)


def _is_car(word: str) -> bool:
    return word in ("car", "vehicle", "cars", "wheels")


def _is_a_car(words: str) -> bool:
    return _CARS.names.match(words) is not None


def _is_answered(text: str, told: News, held: Held, beside: Sequence[Candidate]) -> bool:
    """Whether a rule has found what is in the slot of a memory now: another value than this. Notes
    have a slot for each."""
    memory = held.written.memory
    new = ""
    if told.new is not None and told.change.says.get("new"):
        new = text[slice(*told.new)].lower()
    return (
        not memory.negated
        and held.type != NOTE
        and any(
            (each.entity, each.attribute) == (memory.entity, memory.attribute)
            and not each.retracts
            and each.type == held.type
            and each.context is None
            and not (new and new in each.value.lower())
            for each in beside
        )
    )


def _of_version(text: str, told: News, held: list[Held]) -> list[Held]:
    """The one memory of which words may tell another version; of several, the one of which the
    first number is the same."""
    if len(held) > 1 and told.new is not None and told.who is None:
        first = text[slice(*told.new)].partition(".")[0]
        claims = [_VERSION.findall(one.written.memory.claim) for one in held]
        held = [
            one
            for one, versions in zip(held, claims, strict=True)
            if any(each.partition(".")[0] == first for each in versions)
        ]
    return held if len(held) == 1 else []


_VERSION = compile_later(r"\d{1,3}(?:\.\d{1,3}){1,2}")


def _renewed(
    candidate: Candidate, text: str, told: News, held: Held, before: str
) -> list[Candidate]:
    """The memory with its new value; none where the news has none, or none of its kind."""
    says, memory = told.change.says, held.written.memory
    if says.get("there"):
        return _named_before(candidate, f"{before}{text[: told.at]}", held)
    if "into" in says:
        return _of_the_same(candidate, text, told, held)
    if told.new is None:
        return []
    new = text[slice(*told.new)].strip(" .,!'’-")
    new = re.sub(says["strip"], "", new, flags=re.I) if "strip" in says else new
    old = memory.value
    if not new or re.search(rf"(?<!\w){re.escape(new)}(?!\w)", old, re.I):
        return []
    if says.get("record"):
        figure = records.old_figure(old)
        if figure is None or held.type == NOTE:
            return []
        new = old[: figure.start()] + new + old[figure.end() :]
    if says.get("part"):
        part = re.search(rf"(?<![\w.]){re.escape(told.who or '')}(?![\w.])", old, re.I)
        if part is None:
            return []
        if says.get("like") and not _is_like(new, part[0]):
            return []
        new = old[: part.start()] + new + old[part.end() :]
    if says.get("version"):
        there = _VERSION.search(memory.claim)
        if told.who is not None:  # "upgraded to node 22"
            which = rf"(?<=(?<!\w){re.escape(told.who)} )\d[\d.]*"
            there = re.search(which, memory.claim, re.I)
        if there is None or there[0] == new:
            return []
        claim = f"{memory.claim[: there.start()]}{new}{memory.claim[there.end() :]}"
        value = old.replace(there[0], new) if there[0] in old else f"{old} {new}"
        begin = memory.claim.find(old)
        if told.who is not None and there[0] not in old and 0 <= begin < there.start():
            value = claim[begin : there.start() + len(new)]  # "a laptop with Windows 11"
        context = memory.context
        beside = held.type == NOTE or context is not None  # each has a slot of its own
        over = (Ends(attribute=memory.attribute, value=old),) if beside else ()
        anew = in_place(candidate, held, claim, value, over)
        if context is not None:  # "with node 18"
            anew = anew.model_copy(update={"context": context.replace(there[0], new)})
        return [anew]
    about = old.split()[0].lower()
    if about in _ABOUT and new.split()[0].lower() not in _ABOUT:
        new = f"{about} {new}"
    rival = says.get("rival")
    if rival == "car":
        looks = _BEFORE_A_CAR.match(new)
        new = new[looks.end() :] if looks else new
        car = next(_CARS.found(new), None)
        if car is None or car.start or _OF_A_CAR.fullmatch(new, car.end) is None:
            return []
    elif rival is not None and not _is_rival(new, old):
        return []
    if "claim" in says:
        name = new[:1].upper() + new[1:]
        claim = says["claim"].format(new=new, New=name, said=text)
        value = name if "{New}" in says["claim"] else new
        return [in_place(candidate, held, claim, value, ())]
    # A relation may have several values, and an event has a slot of its own.
    several = held.type in ("relation", NOTE) or held.type not in LASTING
    ends = (Ends(attribute=memory.attribute, value=old),) if several else ()
    if old not in memory.claim:
        return []
    claim = lived_in(memory.claim, old, new) or memory.claim.replace(old, new, 1)
    if _SO_LONG.search(claim) is not None:  # that was so of the old one
        return [in_place(candidate, held, f"{SELF}: {text}", new, ())] if _is_users(held) else []
    claims = [articled(claim, new)]
    if memory.attribute == "home.location" and f"lives in {old}" in memory.claim:
        claims.append(memory.claim.replace(f"lives in {old}", f"moved to {new}"))
    if memory.attribute in _AS_TOLD and _is_users(held):
        # "I got a Tesla" does not say that they drive it.
        claims.append(_I_DID.sub("User ", text) if _I_DID.match(text) else f"{SELF}: {text}")
    return [in_place(candidate, held, claim, new, ends) for claim in claims]


def _named_before(candidate: Candidate, lead: str, held: Held) -> list[Candidate]:
    """The memory with the one name of its kind that is said before: "why is teams down? ever since
    the merger everything's in there", of who uses slack."""
    old, said = (
        pairs.rivals(tuple(WORD.findall(each.lower()))) for each in (held.value, lead[-_BACK:])
    )
    names = {name for kind in old.keys() & said.keys() for name in said[kind] - old[kind]}
    value = held.written.memory.value
    if len(names) != 1 or held.type == NOTE or value not in held.written.memory.claim:
        return []
    at = lead.lower().rfind(names.pop())
    if at < 0:
        return []
    name = lead[at:].split(maxsplit=1)[0].strip(".,!?;:'\"")
    cited = candidate
    if not is_question(lead[slice(*around(lead, at))]):  # else it is over, and no more is told
        told = Span(start=at, end=at + len(name), quote=name)
        cited = candidate.model_copy(update={"spans": (*candidate.spans, told)})
    return [in_place(cited, held, held.written.memory.claim.replace(value, name, 1), name, ())]


_BACK = 200
"""How far back a name may be said, in characters."""
_ABOUT = frozenset({"on", "about"})
"""Before the topic of what somebody writes."""


def _of_the_same(candidate: Candidate, text: str, told: News, held: Held) -> list[Candidate]:
    """The same value in another slot: who was a fiance is a spouse. None where the news names
    another."""
    says, memory = told.change.says, held.written.memory
    named = "" if told.new is None else text[slice(*told.new)].lower()
    if named and named not in memory.value.lower().split():
        return []
    claim = says["claim"].format(New=memory.value)
    ends = (Ends(attribute=memory.attribute, value=memory.value),)
    ways = (claim, f"{SELF}: {text}") if _is_users(held) else (claim,)
    anew = (in_place(candidate, held, each, memory.value, ends) for each in ways)
    return [each.model_copy(update={"attribute": says["into"]}) for each in anew]


_I_DID = compile_later(r"\A(?:I|we) (?=[a-z]{1,8}(?:ed|ght|ot) )", re.I)
_AS_TOLD = frozenset({"home.location", "vehicle.car"})
"""Slots whose value may be told by what happened."""
_SO_LONG = compile_later(
    r"\bhas been\b.{0,60}\b(?:for (?:[\w-]{1,12} ){0,3}"
    r"(?:years?|months?|weeks?|ages|decades?|ever)|since)\b"
)
"""How long something has been so."""


def _is_rival(new: str, old: str) -> bool:
    """Whether both are of a kind of which somebody has one at a time."""
    one, other = (pairs.rivals(tuple(each.lower().split())) for each in (new, old))
    return any(one[kind].isdisjoint(other[kind]) for kind in one.keys() & other.keys())


def _is_like(new: str, old: str) -> bool:
    """Whether one of two values may stand in the place of the other: both are figures, names, or
    things of which somebody has one at a time."""
    figured = [any(map(str.isdigit, each)) for each in (new, old)]
    if any(figured):
        return all(figured)
    return _is_rival(new, old) or new[:1].isupper() == old[:1].isupper()


def articled(claim: str, new: str) -> str:
    """A claim with the article that goes with a new word: a Tesla, an e-Niro."""
    article = "an" if new[:1].lower() in "aeio" else "a"
    return re.sub(rf"\ban? (?={re.escape(new)})", f"{article} ", claim)
