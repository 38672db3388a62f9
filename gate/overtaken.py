"""Which memories a sentence overtakes that nothing else has connected with it.

The scorer of `successions` is asked about each memory that has a word or a topic in common with the
sentence. Only what it is sure of ends. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from beliefledger.gate import lapses, successions
from beliefledger.gate.absences import is_back
from beliefledger.gate.belief import Held
from beliefledger.gate.common_ground import (
    have_a_subject,
    is_of_a_part,
    only_pays,
    only_share_names,
)
from beliefledger.gate.homonyms import only_share_a_stem
from beliefledger.gate.meant_memories import LASTING, TO_COME, Standing, stems, told_last
from beliefledger.gate.pairs import Said, Told, linked_best, ranks, told_by, topics
from beliefledger.gate.persons import Known, called_in, known
from beliefledger.gate.planned_jobs import is_not_yet
from beliefledger.gate.registry import NOTE
from beliefledger.gate.restatements import counts_anew, points, restates, tells_anew
from beliefledger.gate.rules import distinctions
from beliefledger.gate.rules.lexicon import GIVEN
from beliefledger.gate.rules.renewals import OTHERS, Sentence
from beliefledger.gate.rules.subjects import acting, subject_of, tells_a_state
from beliefledger.gate.spoken_of import is_done_by_another, is_of_another
from beliefledger.gate.successions import CHANGES, is_over, least, stands
from beliefledger.gate.switches import goes_to, left_for
from beliefledger.gate.unchanged import did_it_once
from beliefledger.ledger.candidate import SELF, Candidate
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

BRIEF = 120
"""Up to so many characters have 95 in 100 of the turns that the scorer learned endings from. Of
what it ended by longer ones, in real talk, hardly anything was over."""
_UNLINKED = 0.75
"""How sure the scorer has to be of what was told last, where nothing links the two."""
_IN_LONG = 0.85
"""How sure it has to be of a sentence of a longer turn."""
MOST = 3
"""A sentence that would overtake more claims than this is about something else."""
_MOST_LINKED = 100
"""Of somebody with thousands of memories, so many are asked about at each sentence."""
_PLANNED = LASTING | {"event", "commitment", "decision"}
_OWN_WORDS = {NOTE, "commitment"}
"""What is kept as it was said, in no slot that another value could take."""
_STAYING = (
    "identity.", "record.", "language.", "speaks.", "event.end", "event.change", "health.",
    "answers.",
)  # fmt: skip


def overtaken(
    standing: Standing, candidate: Candidate, beside: Sequence[Candidate], *, brief: bool
) -> list[Held]:
    """The memories that a sentence puts an end to or another value in the place of; none where it
    is not clear. Unless it is of a `brief` turn, the scorer is asked about counts alone: it knows
    how people tell news, and who says much goes on about the same thing."""
    if any(each.entity != SELF and _are_of_one(each, candidate) for each in beside):
        return []  # it tells of somebody by name, and of that it says all there is
    said = Said(candidate.spans[0].quote)
    subject = subject_of(said.text)
    in_doubt = not successions.may_overtake(said.text)
    doing = standing.without_employer(acting(Sentence(said.text).clauses(len(said.text))))
    named, same = frozenset(said.words), stems(said.text)
    words = [ends.value for ends in candidate.ends if ends.among]
    latest = _told_last(standing)
    last = latest if points(said) else frozenset()
    anew = last or tells_anew(said)
    hours = _SHIFTS.search(said.low) is not None or any(
        each.attribute == "work.hours" and _are_of_one(each, candidate) for each in beside
    )
    there = []
    for held in (all_ := standing.of(words)):
        if not _may_be(held, said) or (hours and held.written.memory.attribute in POSTS):
            continue
        memory = held.written.memory
        of = told_by(held.type, memory.attribute, memory.claim, memory.value)
        if said.may_be_of(of) or held.memory_id in latest:
            there.append((held, of))
    there = [there[at] for at in linked_best(said, [of for _, of in there], _MOST_LINKED)]
    people = known(standing) if there else Known({})
    told: dict[str, list[Held]] = {}
    for (held, of), rank in zip(there, ranks(said, [of for _, of in there]), strict=True):
        moved = anew and held.type == "event" and _is_moved(said, of)
        if not moved and (_is_answered(held, beside) or _tells_of_another(said, held)):
            continue
        if _stays_in_town(said, of) or is_of_a_part(said, of) or same == stems(of.claim):
            continue  # the last: the same again
        if is_kin_still(held, said.text) or tells_a_state(said.text, of.claim):
            continue
        if _only_names_the_person(said, of, held, people) or _leaves_the_desk(said, of):
            continue
        if held.type == NOTE and _only_shares_a_name(said, of):
            continue
        if _is_owned(held) and _PARTED.isdisjoint(said.cues):
            continue  # "we changed the practice software", of who runs a practice
        if _is_rid_of_another(said, held) or _only_says_when(said, of) or only_pays(said, of):
            continue
        if is_back(said, held) or did_it_once(said, of) or only_share_a_stem(said.low, of.claim):
            continue
        if distinctions.is_one_of_several(named, of.attribute, of.claim):
            continue
        if is_done_by_another(doing, held) or is_not_yet(said.text, of.attribute):
            continue
        if subject is not None and is_of_another(subject, held):
            continue
        pointed = held.memory_id in last
        again = moved or (anew and held.type in LASTING and restates(said, of, pointed=pointed))
        if not again and _adds_to(said, held, of):
            continue
        own_words = held.type in _OWN_WORDS and not have_a_subject(said, of)
        asked = said.may_be_of(of) and not (own_words and only_share_names(said, of))
        from_ = least(len(all_), said, of, rank)
        if in_doubt or own_words:
            from_ = max(from_, successions.threshold("over in doubt"))
        if not asked and brief and held.memory_id in latest:
            asked, from_ = not CHANGES.isdisjoint(said.cues), _UNLINKED
        if not (brief or counts_anew(said, of)):
            asked, from_ = asked and _is_plain(said, of), max(from_, _IN_LONG)
        if again or (asked and is_over(said, of, rank, from_)):
            told.setdefault(of.claim, []).append(held)
    if not told and not said.others and (went := goes_to(said.text)) is not None:
        told = left_for(went, standing)
    if told:
        told |= _in_fewer_words(told, standing.of(words))
    if len(told) > MOST:
        return []
    return [held for some in told.values() for held in some]


_CLAIM, _SENTENCE = 70, 100
"""The longest of a claim and of a sentence, in characters, that a longer turn may end."""
_ENDED = frozenset(("now", "over", "disposed", "dead", "left", "instead"))


def _is_plain(said: Said, of: Told) -> bool:
    """Whether a sentence says in few words that something has changed, of what is told in few."""
    short = len(of.claim) <= _CLAIM and len(said.text) <= _SENTENCE
    return short and not _ENDED.isdisjoint(said.cues) and "now that" not in said.low


def _is_moved(said: Said, of: Told) -> bool:
    """Whether a sentence tells another time of an appointment that it names by two words."""
    named = {each for each in said.stems & stems(of.value) if each.isalpha()}
    return len(named) > 1 and restates(said, of, pointed=False)


def _told_last(standing: Standing) -> frozenset[str]:
    """The memory of the user that was told last, by its id: what "it" means. None where what was
    told last is several things."""
    there = [each for each in standing.of_user() if each.type in LASTING]
    return frozenset(each.memory_id for each in told_last(there, there))


_NO_CHANGE = frozenset({"praise", "usual", "laugh", "nuisance", "beside", "still", "taken up"})
_SEVERAL = 2
_FAMILY = compile_later(
    r"\b(?:twins|triplets|kids|children|sons|daughters|boys|girls|brothers|sisters|cats|dogs)\b",
    re.I,
)


def _adds_to(said: Said, held: Held, of: Told) -> bool:
    """Whether a note names several of a family, and a sentence none and no change of any."""
    if held.type != NOTE or len(of.named) < _SEVERAL or not _NO_CHANGE.issuperset(said.cues):
        return False
    if _FAMILY.search(of.claim) is None:
        return False
    return of.named.isdisjoint(stem(each) for each in said.words)


def without_sure_to_stand(text: str, some: Sequence[Held]) -> list[Held]:
    """Memories that rules take to be over, without those that the scorer is sure to stand: "no
    bridge this week"."""
    said = Said(text)
    # By the canonical value, with which the threshold was measured.
    there = [
        told_by(held.type, held.written.memory.attribute, held.written.memory.claim, held.value)
        for held in some
    ]
    return [
        held
        for held, of, rank in zip(some, there, ranks(said, there), strict=True)
        if not (said.may_be_of(of) and stands(said, of, rank))
    ]


_AND = compile_later(" and ")


def _in_fewer_words(told: dict[str, list[Held]], there: Sequence[Held]) -> dict[str, list[Held]]:
    """What says a part of what is over: "two dogs called Rex", of "… called Rex and Milo"."""
    parts = {each[: found.start()] for each in told for found in _AND.finditer(each)} - told.keys()
    fewer: dict[str, list[Held]] = {}
    for held in there if parts else ():
        claim = held.written.memory.claim
        if claim in parts and held.type != NOTE and _may_be(held):
            fewer.setdefault(claim, []).append(held)
    return fewer


_KIN = compile_later(
    r"relation\.(?:(?:step)?(?:mother|father|mom|mum|dad|brother|sister|son|daughter|child|kid)|"
    r"wife|husband|hubby|spouse|partner|girlfriend|boyfriend|gf|bf|fianc\w*|cousin|aunt|uncle|"
    r"niece|nephew|grand\w+|gran\w*|(?:best-)?friend|mate|buddy|pal|bestie|twin)\."
)
_PARTS = compile_later(
    r"\b(?:broke|broken|break|split|separat\w+|divorc\w+|dump\w+|ex|exes|single|"
    r"left (?:me|us|him|her)|friends?|talk\w*|speak\w*|died|dead|dies|passed|lost|gone|rip|buried|"
    r"funeral|together|engaged|married|fell out)\b",
    re.I,
)
"""What parts people from each other."""
_BLOOD = compile_later(
    r"relation\.(?:mother|father|mom|mum|dad|brother|sister|son|daughter|child|kid|cousin|aunt|uncle|"
    r"niece|nephew|grand\w+|gran\w*|twin)\."
)
"""Who is so for good, alive or dead."""
_LOVE = compile_later(
    r"relation\.(?:wife|husband|hubby|spouse|partner|girlfriend|boyfriend|gf|bf|fianc)"
)
_MOVED_IN_WITH = compile_later(r"\bmov(?:ed|ing|es) in (?:with (?:me|us)\b|together\b)", re.I)
_OWNS = compile_later(
    r"(?<!\w)(?P<owner>[\w-]{1,30})['’]s (?!(?:\w+(?:ed|ing)|gone|left|dead|been|broken|split|an?|"
    r"the|my|our|in|at|with|out|over|off|not|no|now|so|just|finally|really|only|single|quit|away)\b)\w"
)
"""Somebody has something, and is or does nothing: "Mia's dog", not "Mia's left"."""
_OF_LOVE = compile_later(
    r"\b(?:and (?:i|me)|i and|we|our|me|seeing|dating|moved out|walked out|(?<!left )over|yes|i do|"
    r"propos\w+|wed\w*|ring)\b",
    re.I,
)
"""What else may tell that somebody is no partner any more, or more than that."""


def is_kin(attribute: str, value: str) -> bool:
    """Whether what is believed in a slot is who a relative or friend is."""
    named = value[:1].isupper() or value in GIVEN or attribute.endswith(".name")
    return _KIN.match(attribute) is not None and named


def is_kin_still(held: Held, text: str) -> bool:
    """Whether a memory tells of a relative or friend, and a sentence says nothing of a parting: who
    left a job is a brother still."""
    memory = held.written.memory
    if not is_kin(memory.attribute, memory.value):
        return False
    if not _owners(text).isdisjoint(memory.value.lower().split()):
        return True  # "Mia's dog died"
    if _BLOOD.match(memory.attribute) is not None:
        return True
    if _MOVED_IN_WITH.search(text) is not None:
        return True
    of_love = _LOVE.match(memory.attribute) is not None
    return _PARTS.search(text) is None and not (of_love and _OF_LOVE.search(text))


_RID = compile_later(
    r"\bno more (?!discussions?\b|excuses\b|questions\b|arguments?\b|doubts?\b|drama\b|nonsense\b)"
    r"(?P<of>[\w'’-]+(?: (?!(?:for|at|in|on|of|from|with|to|under|over|and|but|so|when|"
    r"because|since|now|please|these|this|that)\b)[\w'’-]+)*)",
    re.I,
)


def _is_rid_of_another(said: Said, held: Held) -> bool:
    """Whether a sentence tells of nothing but that there is no more of something, and a memory does
    not name it: "no more red wine" is not of a red van."""
    rid = _RID.search(said.low)
    if rid is None or set(said.cues) - {"over", "denied", "instead"}:
        return False
    memory = held.written.memory
    return stem(rid["of"].split()[-1]) not in stems(f"{memory.claim} {memory.attribute}")


def _only_names_the_person(said: Said, of: Told, held: Held, people: Known) -> bool:
    """Whether nothing links a sentence with what is believed of somebody but how they are called,
    and it says more than that they are gone: who is off pork has a job still."""
    memory = held.written.memory
    shared = said.stems & of.stems
    of_work = memory.attribute.startswith(("work.", "relation.owns"))
    if shared and of_work and shared <= {stem(each) for each in people.every_name()}:
        return True  # "Pieter does the early shift now", of a bakery that is run with him
    if is_kin(memory.attribute, memory.value) and _PARTS.search(said.text):
        return False
    theirs = lapses.is_of_their_own(said.text)
    if held.type == "relation" and not theirs and not is_kin(memory.attribute, memory.value):
        return False  # "Graham's moved to Leicester, we've Shelley now", of a tutor
    called = called_in(held, people)
    if not called or len(said.stems - called) < (1 if theirs else 2):
        return False
    about = topics(tuple(word for word in said.words if stem(word) not in called))
    if not about.isdisjoint(of.topics):
        return False
    return shared <= called and not said.is_rival_of(of)


_PARTED = frozenset(
    ("disposed", "over", "left", "dead", "done", "instead", "taken up", "new", "passing")
)
"""What is said where somebody parts with what is theirs."""


def _is_owned(held: Held) -> bool:
    """Whether a memory says that something is the user's own, or that they run it."""
    memory = held.written.memory
    return memory.attribute.startswith("relation.owns") or _RUNS.match(memory.claim) is not None


_RUNS = compile_later(r"User runs an? ")


POSTS = ("work.role", "work.employer")
"""What somebody is still whose hours are others."""
_SHIFTS = compile_later(
    r"\b(?:(?:do|doing|on|work|working|to|back on) (?:the )?(?:days|nights|earlies|lates|mornings|"
    r"weekends)|work(?:ing)?(?: on)? \w{3,6}days?|(?:day|night|early|late) shifts?)\b(?! off)",
    re.I,
)
_SURE = CHANGES - {"since", "back"} | {"passing"}


def _only_shares_a_name(said: Said, of: Told) -> bool:
    """Whether a sentence has nothing of a note but a name, and the clause with the name nothing
    that says that anything changed: "no running since Isla" leaves "Isla, born on 9 March"."""
    shared = said.stems & of.stems
    if not shared:
        return False
    given = {stem(word) for word in said.words if word in GIVEN}
    if not shared <= given | {each for each in of.named if each.isalpha()} or given - shared:
        return False
    if shared <= {stem(each) for each in _owners(said.text)}:
        return True  # "Leo's bike got stolen"
    where = {clause for word, _, clause in said.placed if word in shared}
    if sum(clause in where for _, _, clause in said.placed) <= len(shared) + 1:
        where |= {clause + 1 for clause in where}  # "Roche and I parted ways"
    beside = tuple(
        word
        for word, (_, _, clause) in zip(said.words, said.placed, strict=True)
        if clause in where
    )
    if not topics(beside).isdisjoint(of.topics):
        return False
    return not any(name in _SURE and said.clause(at) in where for name, at, _ in said.cued)


_AT_HOME = compile_later(
    r"\b(?:work\w*|stud\w+) (?:\w+ )?(?:from|at) home\b|\bwfh\b|\bhome office", re.I
)
_DESK = compile_later(r"\b(?:work\w*|office|remote\w*|wfh|job|boss|hybrid|desk|stud\w+)\b", re.I)


def _leaves_the_desk(said: Said, of: Told) -> bool:
    """Whether a memory tells of work at home and a sentence of none: who moves still works so."""
    return _AT_HOME.search(of.claim) is not None and _DESK.search(said.text) is None


_LAST_TIME = compile_later(r"\w\W+(?:the )?(?<!s the )last time (?:i|we)\b")
"""Before what says when something happened, and not that it was the last time."""


def _only_says_when(said: Said, of: Told) -> bool:
    """Whether a sentence names what is believed only to tell when something happened: "one escaped
    me last time i fished", of somebody with fish."""
    found = _LAST_TIME.search(said.low)
    if found is None:
        return False
    shared = said.stems & of.stems
    return all(at > found.end() for word, at, _ in said.placed if word in shared)


def _are_of_one(first: Candidate, second: Candidate) -> bool:
    """Whether two candidates came of the same words."""
    return any(
        one.start < other.end and other.start < one.end
        for one in first.spans
        for other in second.spans
    )


def _may_be(held: Held, said: Said | None = None) -> bool:
    """Whether a memory may be over by words that do not name its slot; one with a circumstance only
    where they name its value: "compliance killed slack", of Slack at work."""
    memory = held.written.memory
    if held.type not in _PLANNED or memory.attribute.startswith(_STAYING):
        return False
    if held.type == "event" and not memory.attribute.startswith(TO_COME):
        return False
    if memory.category is not None:
        return False
    return memory.context is None or (
        said is not None and not said.stems.isdisjoint(stems(memory.value))
    )


def _stays_in_town(said: Said, of: Told) -> bool:
    """Whether a sentence moves nobody to another town: "moved in with my gf", "moved desks"."""
    if of.attribute not in ("home.location", "home.household"):
        return False
    if _MOVED_ELSEWHERE.search(said.low) is not None:
        return True
    if of.attribute == "home.household":
        return False
    return _MOVED_IN.search(said.low) is not None and not said.names


_MOVED_ELSEWHERE = compile_later(
    r"\bmov(?:ed|ing|es?) (?:on\b|(?:up|down|over|across)? ?(?:to|into|in to|onto) "
    r"(?:the |an? |another |his |her |their |my )?(?:[\w-]+ ){0,2}(?:team|desk|seat|table|"
    r"department|role|position|squad|project|class|league|shift|office|group|grade|year|level|"
    r"workshop|classroom|lab|laboratory|premises|warehouse|branch|headquarters|hq|cubicle)\b)"
)
_MOVED_IN = compile_later(
    r"\bmov(?:ed|ing|es?) in\b(?! (?:to|at)\b)|\bnew (?:flat|house|place|room|home)\b(?! in\b)"
)


def _is_answered(held: Held, beside: Sequence[Candidate]) -> bool:
    """Whether a candidate is in the slot of a memory already, or ends it."""
    memory = held.written.memory
    for each in beside:
        same = (each.entity, each.attribute) == (memory.entity, memory.attribute)
        if same and held.type != NOTE:  # notes have a slot for each, by their words
            return True
        if any((one.attribute, one.value) == (memory.attribute, memory.value) for one in each.ends):
            return True
    return False


_TURNS = CHANGES - {"back", "dead"}
"""What has to be said, for another name to take the place of one."""
_ANOTHER_GOT = compile_later(
    r"(?!(?:I|We|My|Our|The|It|He|She|They|This|That|Who|Just|Also|Then|Now|Finally|Today|Recently|"
    r"Already|Never|Still|So|And|But|Got|Sold|Left|Moved|Yesterday|Actually|Only)\b)"
    r"(?P<name>[A-ZÀ-Þ][\w’-]{1,20}) (?:(?:from|in|at|of) [\w'’-]{1,20} )?(?:just |has |also )?"
    r"(?:got|gets|bought|moved|started|works|lives|drives|quit|left|switched|joined|sold|went|took|"
    r"became|adopted|had|plays|uses|is (?:staying|away|at|with)|stays|stayed)\b"
)
"""Somebody with a name does something: "Henrik from sales got a Dell"."""


def _owners(text: str) -> set[str]:
    """Who has something, in lower case."""
    return {found["owner"].lower() for found in _OWNS.finditer(text)}


def _tells_of_another(said: Said, held: Held) -> bool:
    memory = held.written.memory
    told = memory.claim.replace(memory.value, " ")
    another = _ANOTHER_GOT.match(said.text)
    # Who lives there, too, may be elsewhere: "Balder is staying with my parents".
    theirs = memory.value if memory.attribute == "home.location" else memory.claim
    if another is not None and another["name"] not in theirs:
        return True
    if memory.attribute.startswith("relation.") and not _owners(said.text).isdisjoint(
        distinctions.names(memory.claim)
    ):
        return True  # "Dan's bikes", of "User's brother Dan fixes bikes"
    if distinctions.apart(said.text, memory.claim, memory.attribute):
        return True
    if distinctions.name_others(said.text, memory.claim) and (
        said.others or _TURNS.isdisjoint(said.cues)
    ):
        return True
    given = _GIVEN.search(said.low)
    if given is not None and given["who"] in _GIVEN_TO and given["who"] not in memory.claim.lower():
        return True
    return any(
        distinctions.owned_by_another(before, told) for before in _before(said, memory.claim)
    )


_GIVEN = compile_later(
    r"\b(?:bought|got|ordered|made|knitted|found|picked up)(?: (?:my|our|his|her|the))? "
    r"(?:(?:little|big|older|younger|new) )?(?P<who>[a-z]+)(?: [a-z]+)? "
    r"(?:an? |the |some |new |her |his |their )*[a-z]"
)
"""Got for somebody: "bought my nephew shoes"."""
_GIVEN_TO = OTHERS - {"dog", "cat"}


def _before(said: Said, claim: str) -> Iterator[str]:
    """What stands before each word of a sentence that a claim has."""
    low = claim.lower()
    for word, at, _ in said.placed:
        if word in said.stems and word in low:
            yield said.text[:at]
