"""Where somebody works who planned to start there and tells that they did: "first day went ok".

Only a plan that names its employer tells where that is. Pure but for what a draft looks up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beliefledger.gate.belief import Held
from beliefledger.gate.carried_out import (
    is_sincere,
    quoted,
    span_of,
    spans_of,
    told_in,
    within,
    without_notes,
)
from beliefledger.gate.claims import CHECK
from beliefledger.gate.decision import TurnView
from beliefledger.gate.draft import Draft
from beliefledger.gate.lapses import is_of_the_post
from beliefledger.gate.meant_memories import Standing, in_place
from beliefledger.gate.rules.lexicon import WORDS
from beliefledger.gate.rules.patterns import is_job
from beliefledger.ledger.candidate import SELF, Candidate, Ends, Source, SpeechAct, When
from beliefledger.ledger.late_patterns import compile_later

EMPLOYER, ROLE = "work.employer", "work.role"
_LEAD = (
    r"(?:^\W*|[,;.!] |\b(?:and|so|but) )"
    r"(?:(?:ok|okay|so|well|update|yay|omg|phew|wow|oh|hey|hi|my|the)\b\W{0,3}){0,3}+"
)
_NAMED = r"[^\W\d_][\w'’&.-]*(?: (?:& )?(?-i:[A-Z])[\w'’&.-]*)"
_NAME = rf"{_NAMED}{{0,3}}"
_FIRST = r"first (?:day|week|month|shift|morning|few days)"
_ADVERBS = r"(?:(?:just|finally|officially|now|actually|already) ){0,2}"
_END = (
    r"(?=\W*$|\s?[,.!;:(]|\s(?:now|today|yesterday|this|last|on|as|and|but|it|so|lol|there|with)\b)"
)
_NEW = r"(?:new|new job|new role|new place|new company|new position|job)"
_WENT = (
    r"(?:(?:['’]s| is| was| went| has been| all)? (?:(?:all|so|pretty|really|quite|very) )?"
    r"(?:well|fine|ok|okay|alright|good|great|amazing|lovely|nice|done|over|down|tough|hard|"
    r"exhausting|hectic|chaotic|intense|brilliant|in the bag|behind me|complete|finished|today|"
    r"yesterday)\b|(?=\W*$|[,.!;]))"
)
_DONE = compile_later(
    rf"{_LEAD}(?:"
    rf"(?:(?:had|survived|finished|did|completed|done with) (?:my )?)?{_FIRST}"
    rf"(?: (?:(?:at|with|in|on) (?:my |the )?(?:{_NEW}(?: job| role)?|(?P<at>{_NAME}))|"
    rf"there|as \w+(?: \w+)?))?{_WENT}|"
    rf"(?:i |ive |i['’]ve |i have )?{_ADVERBS}started "
    rf"(?:(?:at|with|work at|working at|working for) "
    rf"(?:my |the )?(?:{_NEW}(?: job| role)?|(?P<with>{_NAME}))|"
    rf"(?:the|my) new (?:job|role|position))\b{_END}|"
    rf"(?:i['’]?m|i am) {_ADVERBS}(?:settling in(?:to)?|settled in)(?: nicely| well| ok)?"
    rf"(?: at (?:the |my )?(?:new job|(?P<in>{_NAME}))| (?:the|my) new (?:job|role))\b|"
    r"(?:the |my )?new (?:job|role) (?:is|has been)(?: going)? (?:well|fine|ok|okay|good|great|"
    r"amazing|lovely|brilliant|intense|hectic|tough|so far)\b)",
    re.I,
)
_NEEDED = ("first ", "started", "settl", "new job", "new role")
"""One of these is in whatever tells that a job has begun."""
_NOT_DONE = compile_later(
    r"\b(?:if|when|once|until|before|will|would|tomorrow|next|not|n['’]t|almost|nearly|wish|"
    r"imagine|pretend|dream(?:t|ed)?|could|should|might|he|she|they|his|her|their|said|says|"
    r"school|uni|university|college|nursery|course|class|holiday|gym|diet|period|festival|"
    r"glasto\w*|cent(?:er|re) parcs|butlins|disney\w*|trip|conference|retreat|tour|cruise|camp|"
    r"nervous|dreading|is on|starts on)\b",
    re.I,
)
_PLAN = compile_later(
    r"\bstart(?:ing)?(?: (?:on )?(?:the )?[\w-]{2,12}(?: \w{3,9})?)? as (?:an? |the |their )?"
    rf"(?P<post>[\w-]+(?: [\w-]+){{0,3}}?) (?:at|with|for) (?P<there>{_NAMED}{{0,2}})|"
    r"(?:\b(?:start(?:ing)?|begin(?:ning)?|join(?:ing)?)"
    r"(?: (?:work|working|a new job|my new job|a job|a new role))?(?P<prep> (?:at|with|for))?|"
    r"\b(?:accepted|took|signed|got)(?: up)? (?:an?|the|my|their) "
    r"(?:(?:job|new job|job offer|offer|role|position|contract|place|gig)) (?:at|from|with)) "
    rf"(?P<org>(?:the )?{_NAMED}{{0,3}})"
    r"(?:(?: (?:in|on|from) (?:the )?\w+(?: \w+)?)?,? "
    r"as (?:an? |the |their |its )?(?:new )?(?P<role>[\w-]+(?: [\w-]+){0,3}))?|"
    rf"\b(?:got|accepted|took|landed) the (?P<offer>{_NAMED}{{0,2}}) "
    r"(?:offer|job|gig|role|position)\b",
    re.I,
)
_UNSURE = compile_later(
    r"\b(?:might|(?<!in )(?<!of )(?<!\d )may|maybe|perhaps|thinking|think|consider\w*|would|"
    r"could|dream\w*|one day|not|never|n['’]t|no longer|if|wants?|hopes?|hoping|wish\w*|"
    r"turned|declined|rejected|interview|school|uni|university|college|nursery|gym|choir|"
    r"club|class|course|team|band|league)\b",
    re.I,
)
_ENDS_ROLE = frozenset(
    "on in at next this by from before after when because so and but to until monday tuesday"
    " wednesday thursday friday tomorrow today january february march april may june july august"
    " september october november december soon now for with".split()
)
_NO_EMPLOYER = _ENDS_ROLE | frozenset(
    "the a an my our his her their it work home new job yoga pilates running therapy lessons"
    " classes early late them us him her you me uni school college small again over office shop"
    " factory site hospital clinic restaurant cafe bar store warehouse studio lab camp training"
    " reception nursery gym company firm agency place".split()
)
_DATES = (
    r"(?:on (?:the )?(?:\d{1,2}(?:st|nd|rd|th)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|"
    r"(?:in|next|from) (?:january|february|march|april|may|june|july|august|september|october|"
    r"november|december|spring|summer|autumn|winter|two|three|a few|\d{1,4})|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|next (?:week|month|year)|tomorrow|soon)"
)
_TO_COME = compile_later(
    rf"(?<!new )\b(?:start(?:ing|s)?|join(?:ing)?)\b[^.!?]{{0,60}}?\b{_DATES}\b|"
    r"\b(?:my|in|gave|given|handed) (?:notice|resignation)\b[^.!?]{0,80}?(?:\bstart|$)",
    re.I,
)
_AT_WORK = compile_later(
    r"\b(?:manager|boss|team|colleagues?|co-?workers?|onboarding|induction|laptop|desk|office|"
    r"shifts?|clients?|customers|payroll|probation)\b",
    re.I,
)
_KNOWN = compile_later(
    r"\b(?:offer|interview\w*|job|role|applied|position|hired|recruiter|start)\b"
)
"""What is told of a place where somebody may come to work, in lower case."""
_PLANS = ("event.", "commitment.", "decision.", "plan.", "note.", EMPLOYER)
_OF_USER = compile_later(
    r"(?:^|[,;.!] |\b(?:and|so|but) )\W*(?:(?:user|i|im|i['’]?ll|i['’]ve|ive|i['’]m|is|am|will|"
    r"be|have|has|"
    r"just|finally|now|also|so|and|then|ok|well|yay|officially|actually)[\s:,]+){0,6}$",
    re.I,
)
"""Stands before a plan of the speaker's own."""


class _Plan(NamedTuple):
    held: Held | None
    """What plans it; None where nothing did."""
    employer: str
    role: str | None


def begun(
    draft: Draft, subject_ref: str, turn: TurnView, candidates: Sequence[Candidate]
) -> tuple[TurnView, Sequence[Candidate]]:
    """The candidates and, where the turn tells that a job has begun which was planned, the employer
    and the role that the plan names; and the turn with what they cite."""
    jobs = [each.value.lower() for each in candidates if _is_job(each)]
    span = _done(turn)
    if span is None and not jobs:
        return turn, candidates
    standing = Standing(draft, subject_ref, turn)
    if span is None or (jobs and set(jobs) != {span[2]}):
        return turn, _without_the_post(standing, candidates)
    start, end, named = span
    plans = [plan for held in standing.of_user() if (plan := _planned(held)) is not None]
    if jobs:  # the plan tells more of it
        if not any(each.employer.lower() == named and each.role for each in plans):
            return turn, _without_the_post(standing, candidates)
        candidates = [each for each in candidates if not _is_job(each)]
    if named is not None:
        plans = [each for each in plans if each.employer.lower() == named]
        there = None if plans else _where_it_is(turn, span, standing)
        if there is not None:
            found = [*without_notes(candidates, start, end), there]
            return turn, _without_the_post(standing, found)
    if len({each.employer.lower() for each in plans}) != 1:
        return turn, candidates
    plan = next((each for each in reversed(plans) if each.role), plans[-1])
    made: list[Candidate] = []
    cites: dict[str, str] = {}
    planned = [each.held for each in plans if each.held is not None]
    for candidate in _told(turn, (start, end), plan, planned):
        cites |= draft.cited(subject_ref, [candidate])
        spans = quoted(candidate, cites, _PLAN)
        said = candidate.model_copy(update={"spans": spans, "check": CHECK})
        told = within(said, _claims(said))
        if len(spans) > 1 and told is not None:
            made.append(told)
    if not made or made[0].attribute != EMPLOYER:
        return turn, candidates
    found = [*without_notes(candidates, start, end), *made]
    return turn.citing(cites), _without_the_post(standing, found)


def _is_job(candidate: Candidate) -> bool:
    return candidate.attribute == EMPLOYER and candidate.entity == SELF and not candidate.negated


def _without_the_post(standing: Standing, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, of which one that changes the employer ends what somebody had only at the one
    before: the boss, the team, the place, and where a role was told to be."""
    found: list[Candidate] = []
    for each in candidates:
        if not (_is_job(each) and each.act is SpeechAct.CHANGE):
            found.append(each)
            continue
        ends = (*each.ends, *_of_the_post(standing, each, candidates))
        role = None
        if not any(other.attribute == ROLE for other in candidates):
            role = next(_elsewhere(standing, each), None)
        if role is None:
            found.append(each.model_copy(update={"ends": ends}))
            continue
        ends = (*ends, Ends(attribute=ROLE, value=role.replaces or ""))
        found += (each.model_copy(update={"ends": ends}), role)
    return found


def _elsewhere(standing: Standing, job: Candidate) -> Iterator[Candidate]:
    """The role without the place where it was: "works as a nurse in Leeds"."""
    there = standing.of_user()
    if any(each.written.memory.attribute == EMPLOYER for each in there):
        return  # then the place of the role goes with the employer
    for held in there:
        memory = held.written.memory
        placed = _PLACED.fullmatch(memory.claim) if memory.attribute == ROLE else None
        if placed is None or placed["place"].lower() in job.claim.lower():
            continue
        value = memory.value.removesuffix(placed["where"])
        role = in_place(job, held, placed["role"], value, ())
        yield role.model_copy(update={"when": When()})


_PLACED = compile_later(
    r"(?P<role>User (?:works as|is|is employed as) (?:an? )?[^,]{2,40}?)"
    r"(?P<where> (?:at|in) (?:an? |the )?(?P<place>[^,]{2,40}))"
)


def _of_the_post(
    standing: Standing, job: Candidate, candidates: Sequence[Candidate]
) -> Iterator[Ends]:
    there = standing.of_user()
    was = [each for each in there if each.written.memory.attribute == EMPLOYER]
    if not was or any(each.written.memory.value.lower() == job.value.lower() for each in was):
        return
    told = {(each.attribute, each.value) for each in candidates}
    for held in there:
        memory = held.written.memory
        told_before = any(held.said_at >= each.said_at for each in was)
        if is_of_the_post(held) and told_before and (memory.attribute, memory.value) not in told:
            yield Ends(attribute=memory.attribute, value=memory.value)


def is_not_yet(text: str, attribute: str) -> bool:
    """Whether a sentence tells of a job that only begins later or of notice that was given, and an
    attribute is of the job that somebody has: that lasts until then."""
    return attribute.startswith("work.") and _TO_COME.search(text) is not None


def _where_it_is(
    turn: TurnView, span: tuple[int, int, str | None], standing: Standing
) -> Candidate | None:
    """The employer that the sentence names itself, where it or what is known tells that it is one:
    "first week at Stripe, my manager is Anand"."""
    start, end, named = span
    said = turn.content[start:end]
    if named is None or named.split()[0] in _NO_EMPLOYER:
        return None
    claims = (held.written.memory.claim.lower() for held in standing.of_user())
    known = any(_KNOWN.search(each) and _says(named, each) for each in claims)
    if not known and _AT_WORK.search(turn.content) is None:
        return None
    at = said.lower().find(named)
    value = said[at : at + len(named)]
    made = next(_told(turn, (start, end), _Plan(None, value, None), ()))
    return within(made.model_copy(update={"check": CHECK}), _claims(made))


def _says(name: str, claim: str) -> bool:
    """Whether a claim has a name as a word; both are in lower case."""
    at = claim.find(name)
    behind = claim[at + len(name) :]
    return at >= 0 and not claim[max(0, at - 1) : at].isalnum() and not behind[:1].isalnum()


def _done(turn: TurnView) -> tuple[int, int, str | None] | None:
    """The sentence that tells that a job has begun, and the employer that it names, if any."""
    for start, end, said in told_in(turn, _NEEDED):
        found = _DONE.search(said)
        if found is None or _NOT_DONE.search(said[: found.end() + 12]):
            continue
        if is_sincere(turn, start, end):
            at = found["at"] or found["with"] or found["in"]
            return start, end, None if at is None else at.lower().strip(" .,")
    return None


def _planned(held: Held) -> _Plan | None:
    """The employer at whom a memory plans to start, and as what."""
    memory = held.written.memory
    if not memory.attribute.startswith(_PLANS) or memory.negated:
        return None
    found = _PLAN.search(memory.claim)
    if found is None or _UNSURE.search(memory.claim):
        return None
    if _OF_USER.search(memory.claim[: found.start()]) is None:
        return None
    employer = (found["org"] or found["offer"] or found["there"]).rstrip(" .,!'’")
    first = employer.split()[0].lower()
    if first in _NO_EMPLOYER or first in WORDS["not_employers"]:
        return None
    if found["org"] and not found["prep"] and not employer[0].isupper():
        joins = (
            memory.claim[found.start() :].lower().startswith(("join", "accepted", "took", "got"))
        )
        if not joins:
            return None
    return _Plan(held, employer, _role(found["role"] or found["post"]))


def _role(told: str | None) -> str | None:
    """What somebody is to be, of the words behind "as"."""
    words: list[str] = []
    for word in (told or "").split():
        if word.lower() in _ENDS_ROLE:
            break
        words.append(word)
    return " ".join(words) if words and is_job(words[-1].lower()) else None


def _told(
    turn: TurnView, span: tuple[int, int], plan: _Plan, plans: Sequence[Held]
) -> Iterator[Candidate]:
    """The employer and the role of a plan, as said by these words and those of the plan."""
    mine = span_of(turn, *span)
    theirs = [] if plan.held is None else spans_of(plan.held)
    over = tuple(
        Ends(attribute=each.written.memory.attribute, value=each.written.memory.value)
        for each in plans
        if each.type != "fact"
    )
    told = [(EMPLOYER, plan.employer, over)]
    if plan.role is not None:
        told.append((ROLE, plan.role, ()))
    for attribute, value, ends in told:
        yield Candidate(
            claim=f"{SELF}: {mine.quote}",
            spans=(mine, *theirs),
            type="fact",
            attribute=attribute,
            value=value,
            act=SpeechAct.CHANGE,
            source=Source.STATED,
            topic="work",
            importance=800_000,
            confidence=800_000,
            ends=ends,
        )


def _claims(candidate: Candidate) -> list[str]:
    """What may be said of it; the first that says no more than the words do is."""
    value = candidate.value
    if candidate.attribute == ROLE:
        return [f"{SELF} started as {value}", f"{SELF} is {value} now", f"{SELF} is {value}"]
    verbs = ("started at", "joined", "works at", "is at", "took a job at")
    return [f"{SELF} {verb} {value}" for verb in verbs]
