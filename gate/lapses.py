"""Which memories are over by what a sentence tells of somebody near to the user, or of what the
user pauses: "my sister Ana quit", "Portuguese is on hold". Pure but for what a draft looks up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from beliefledger.gate.belief import Held
from beliefledger.gate.callings import calling
from beliefledger.gate.dates import find_when
from beliefledger.gate.decision import TurnView
from beliefledger.gate.lapse_kinds import OF_OTHERS, OF_USER
from beliefledger.gate.meant_memories import LASTING, WORD, Standing, in_place, stems
from beliefledger.gate.persons import (
    Known,
    Person,
    called_in,
    known,
    memories_of,
    person_of_relation,
    spoken_before,
    titled,
)
from beliefledger.gate.registry import NOTE
from beliefledger.gate.remainders import APPOSED, Left, fewer, is_list, is_of_one, without
from beliefledger.gate.rules.lapses import Lapse, lapses
from beliefledger.gate.rules.lexicon import PETS
from beliefledger.gate.rules.renewals import Sentence
from beliefledger.gate.spoken_of import done_by, is_done_by_another
from beliefledger.ledger.candidate import SELF, Candidate, Ends
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import DAY
from beliefledger.networks.stems import stem

MOST = 4
"""Words that fit more claims of the user than this say too little to end any."""
_LONG_AGO = 400 * DAY


def over(standing: Standing, candidate: Candidate, turn: TurnView) -> list[Held]:
    """The memories that a sentence ends."""
    span = candidate.spans[0]
    people = known(standing)
    found: dict[str, Held] = {}
    for lapse in lapses(span.quote):
        if lapse.ends in _OF_SEVERAL:
            continue
        if lapse.user:
            doing = done_by(standing, Sentence(span.quote), lapse.stop)
            there = list(_of_user(standing, lapse))
            ended = [each for each in there if not is_done_by_another(doing, each)]
            held = _with_the_role(standing, ended)
            if len({each.written.memory.claim for each in held}) > MOST:
                continue
        else:
            if lapse.ends != "dead" and _was_long_ago(span.quote[lapse.at :], turn):
                continue
            before = turn.content[: span.start] + span.quote[: lapse.at]
            held = [
                each
                for who in _whose(lapse, before, people)
                for each in _with_their_role(standing, who, people, lapse)
            ]
        found |= {each.memory_id: each for each in held}
    return list(found.values())


def was_so(candidate: Candidate) -> bool:
    """Whether a candidate says of somebody else only what was so until then."""
    return candidate.entity != SELF and _LEFT.search(candidate.claim) is not None


_LEFT = compile_later(r"\b(?:left|quit|resigned|retired)\b", re.I)
_OF_SEVERAL = frozenset({"one", "one of several"})


def of_several(
    standing: Standing, candidate: Candidate, turn: TurnView
) -> Iterator[tuple[Held, list[Candidate]]]:
    """The memories that list several things of which a sentence ends one, each with candidates for
    what is left, the fullest first."""
    span = candidate.spans[0]
    people = known(standing)
    seen: set[str] = set()
    for lapse in lapses(span.quote):
        there: list[Held] = []
        if lapse.ends in _OF_SEVERAL or (lapse.user and lapse.ends in ("place", "begun")):
            there = list(standing.of_user())
        elif not lapse.user and lapse.ends in ("owned", "habit"):
            before = turn.content[: span.start] + span.quote[: lapse.at]
            there = [
                held
                for who in _whose(lapse, before, people)
                for held, _ in memories_of(standing, who, people)
            ]
        found = [(held, left) for held in there if (left := list(_left(held, lapse)))]
        if len({held.written.memory.claim for held, _ in found}) == 1:
            for held, left in found:
                if held.memory_id in seen:
                    continue
                seen.add(held.memory_id)
                memory = held.written.memory
                # A relation and a note are in slots by their values, and have to be ended.
                old = Ends(attribute=memory.attribute, value=memory.value)
                ends = (old,) if held.type in ("relation", NOTE) else ()
                yield held, [in_place(candidate, held, *each, ends) for each in left]


def bereft(standing: Standing, candidate: Candidate) -> Iterator[tuple[Held, Candidate]]:
    """What the user has or does somewhere with somebody of whom a sentence tells that they died or
    left, each with a candidate for it without them: who lived in Leeds with a cat lives there."""
    gone = [each for each in lapses(candidate.spans[0].quote) if not each.points]
    gone = [each for each in gone if each.ends in _PARTS]
    if any(each.ends in ("work", "home", "retired") for each in gone):
        gone = [each for each in gone if each.ends != "one"]  # which "quit" is, and "moved out"
    for held in standing.of_user() if gone else ():
        memory = held.written.memory
        if held.type not in LASTING or memory.negated or memory.context or memory.category:
            continue
        told = _COMPANY.fullmatch(memory.claim)
        if told is None or _STANDS_ALONE.match(told["alone"]) is None:
            continue
        if not any(_is_company(lapse, told["whom"], told["alone"]) for lapse in gone):
            continue
        value = memory.value
        if value.endswith(told["whom"].split()[-1]):
            value = value.rpartition(" with ")[0] or value
        alone = told["alone"] + told["end"]
        if held.type == NOTE:
            value = alone
        old = Ends(attribute=memory.attribute, value=memory.value)
        ends = (old,) if held.type in ("relation", NOTE) else ()
        yield held, in_place(candidate, held, alone, value, ends)


def _is_company(lapse: Lapse, whom: str, alone: str) -> bool:
    """Whether what is over is that these are there, with whom a claim says that something is so."""
    need = _PARTS[lapse.ends]
    if need is not None and need.search(alone) is None:
        return False
    words = whom.lower().split()
    nouns = {titled(each) for each in words}
    if lapse.ends == "one":
        if lapse.things[-1:] not in (tuple(words[-1:]), tuple(words[-2:-1])):
            return False  # Rex, or the dog
        return len(words) == 1 or set(lapse.things) <= set(words)
    if lapse.kin is not None:
        return titled(lapse.kin) in nouns and lapse.name in (None, words[-1])
    return lapse.name == words[-1]


_COMPANY = compile_later(
    r"(?P<alone>(?:User|I|We|i|we) .{1,120}) with "
    r"(?P<whom>(?:(?:their|my|our|his|her) (?:[\w-]{1,20} ){0,2})?[\w-]{2,24})(?P<end>\W*)"
)
_STANDS_ALONE = compile_later(
    r"(?!\w+ (?:still |now |also )?(?:shares?|sharing|splits?)\b)\w+ (?:.{0,80} "
    r"(?:in|at|from|to|near|on|outside|by|around|along) \w|(?:runs?|owns?|manages?) an? \w)",
    re.I,
)
"""What tells something without those who were there, too: not "I share a flat"."""
_AT_WORK = compile_later(r"\b(?:works?|working|runs?|owns?|manages?|teach(?:es)?)\b", re.I)
_PARTS = {
    "dead": None,
    "one": None,
    "home": compile_later(r"\b(?:lives?|living|moved|stay(?:s|ing)?|rents?)\b", re.I),
    "work": _AT_WORK,
    "retired": _AT_WORK,
}
"""What somebody is no company for any more of whom each kind of lapse is told; None for all."""


def _left(held: Held, lapse: Lapse) -> Iterator[Left]:
    """What is left of what a memory lists."""
    memory = held.written.memory
    if held.type not in LASTING or memory.negated or memory.context:
        return
    listed = memory.attribute.startswith(_LISTED) and not memory.attribute.startswith(_KIN_OF)
    listed = listed or (held.type == NOTE and _PLAIN_LIST.match(memory.value) is not None)
    if lapse.gone:
        things = {stem(each) for each in lapse.things}
        if listed and (things <= stems(memory.value)) and (things or _is_pet(held)):
            yield from fewer(memory.claim, memory.value, lapse.gone)
    elif APPOSED.match(memory.value) is not None or is_of_one(memory.claim):
        return
    elif listed or (memory.attribute == "work.employer" and " and at " in memory.claim):
        value = memory.value
        if not is_list(value) and value in memory.claim:
            value = memory.claim[memory.claim.find(value) :]
        yield from without(memory.claim, value, lapse.things)


def _is_pet(held: Held) -> bool:
    return any(each.removesuffix("s") in PETS for each in WORD.findall(held.written.memory.value))


_LISTED = (
    "has.", "relation.owns", "pets.", "plays.", "habit.", "uses.", "learns.", "studies.", "tool.",
    "teaches.", "drives.", "vehicle.", "volunteers.", "device.", "thing.", "relation.member-of",
    "home.household", "home.location", "home.type", "relation.dog", "relation.cat", "fitness.",
    "collects.", "does.", "eats.", "health.medication",
)  # fmt: skip
_PLAIN_LIST = compile_later(
    r"(?:i|we|im|i'm|i’m) (?:have|use|watch|read|take|play|do|pay for|subscribed? to|subscribe to|"
    r"got|ve got|'ve got|’ve got|love|like|eat|drink|grow|keep|own) [\w'’&+-]+"
    r"(?: [\w'’&+-]+){0,3},? and [\w'’&+-]+(?: [\w'’&+-]+){0,3}[.!]?",
    re.I,
)
"""A note that says nothing else: "I have Netflix and Hulu"."""
_KIN_OF = ("has.brother", "has.sister", "has.kid", "has.child", "has.son", "has.daughter")


def without_only_theirs(some: Sequence[Held], candidate: Candidate, people: Known) -> list[Held]:
    """Memories that words of a candidate name, without what is told of somebody of whom these words
    say nothing but how they are called: "Omar is off sugar". Who quits smoking is a boss still."""
    stays = is_of_their_own(candidate.spans[0].quote)
    said = [{stem(word) for word in ends.value.split()} for ends in candidate.ends if ends.among]
    kept = []
    for held in some:
        called = called_in(held, people) if held.type not in _WHO_THEY_ARE or stays else set()
        if not any(words and words <= called for words in said):
            kept.append(held)
    return kept


def is_of_their_own(text: str) -> bool:
    """Whether a sentence tells what is over for somebody and nothing of what they are to the
    user."""
    return any(each.ends in _OF_THEIR_OWN for each in lapses(text))


_OF_THEIR_OWN = frozenset({"habit", "owned", "study", "love"})
_WHO_THEY_ARE = frozenset({"relation", "entity"})


def _was_long_ago(text: str, turn: TurnView) -> bool:
    """Whether it happened so long ago that what is believed was told since."""
    dated = find_when(text, turn.said_at, past=True)
    start = None if dated is None else dated.when.start
    return start is not None and start < turn.said_at - _LONG_AGO


def _whose(lapse: Lapse, before: str, people: Known) -> Iterator[Person]:
    """Of whom a sentence tells it."""
    names = people.every_name()
    if lapse.points:
        spoken = spoken_before(before, names)
        if spoken and len({(each.title, each.name) for each in spoken}) == 1:
            yield spoken[-1]
        return
    title = None if lapse.kin is None else titled(lapse.kin)
    yield Person(title, lapse.name)
    other = lapse.other.split()
    if other:
        yield from spoken_before(lapse.other, names) or [Person(None, other[-1])]


def _of_person(standing: Standing, who: Person, people: Known, lapse: Lapse) -> Iterator[Held]:
    who = people.titled(who)
    if who.title in _SO_FOR_THAT.get(lapse.ends, ()):
        yield from _as_such(standing, who, people)
    for held, told in memories_of(standing, who, people):
        if held.type not in LASTING or (held.written.memory.negated and lapse.ends != "dead"):
            continue
        if OF_OTHERS[lapse.ends](held, told, lapse):
            yield held


def _with_their_role(
    standing: Standing, who: Person, people: Known, lapse: Lapse
) -> Iterator[Held]:
    """What is over of somebody, with what they worked as where that was. Who "is a nurse" is one
    elsewhere, too."""
    ended = list(_of_person(standing, who, people, lapse))
    yield from ended
    if any(each.written.memory.attribute == "work.employer" for each in ended):
        for held, _ in memories_of(standing, who, people):
            memory = held.written.memory
            if memory.attribute == "work.role" and _WORKS_AS.search(memory.claim) is not None:
                yield held


_WORKS_AS = compile_later(r"\bworks as\b")
_SO_FOR_THAT: dict[str, frozenset[str]] = {
    "work": frozenset({"boss", "colleague", "teammate", "assistant"}),
    "retired": frozenset({"boss", "colleague", "teammate", "assistant"}),
    "home": frozenset({"flatmate", "roommate", "housemate", "neighbour", "neighbor", "lodger"}),
    "dead": frozenset(
        "boss colleague flatmate roommate housemate neighbour wife husband partner spouse"
        " girlfriend boyfriend".split()
    ),
}
"""Who is what they are to the user as long as they work or live there."""


def _as_such(standing: Standing, who: Person, people: Known) -> Iterator[Held]:
    """That somebody is what they are to the user, and what calls them so."""
    for held in standing.of_user():
        memory = held.written.memory
        named = person_of_relation(memory.attribute, memory.value)
        if held.type == "relation" and named is not None and people.are_one(who, named):
            yield held
    yield from calling(standing, who, people)


def _of_user(standing: Standing, lapse: Lapse) -> Iterator[Held]:
    """What is over of the user's."""
    for held in standing.of_user():
        memory = held.written.memory
        if memory.context is not None or memory.category is not None:
            continue
        if OF_USER[lapse.ends](held, lapse):
            yield held


def _with_the_role(standing: Standing, some: list[Held]) -> list[Held]:
    """Memories that are over, with the role, the team and the boss that somebody had only there."""
    if not any(each.written.memory.attribute == "work.employer" for each in some):
        return some
    ids = {each.memory_id for each in some}
    there = [held for held in standing.of_user() if held.memory_id not in ids]
    return some + [held for held in there if is_of_the_post(held)]


def is_of_the_post(held: Held) -> bool:
    """Whether somebody has it only as long as they work there."""
    memory = held.written.memory
    if memory.attribute == "work.role":
        return _POST.match(memory.claim) is not None
    return memory.attribute.startswith(
        ("work.location", "work.team", "work.project", "relation.reports-to")
    )


_POST = compile_later(
    r"User['’]s (?:current )?(?:job title|job|role|title|position|post) (?:is|at)\b"
)
"""A role that one has at a place, and not by trade: who is a nurse is one elsewhere, too."""
