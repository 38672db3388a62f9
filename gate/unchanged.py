"""Which memories a sentence leaves as they are, whatever words it shares with them: of hours that
change on one day, of what somebody only plans, of two others who part. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from beliefledger.gate import first_days, homonyms, other_kin, records, taken_up, trade_places
from beliefledger.gate.belief import Held
from beliefledger.gate.bonds import VISIT, WORD, bonds, claim_of, is_of
from beliefledger.gate.calendar_names import DAYS
from beliefledger.gate.figure_units import counts_a_part
from beliefledger.gate.meant_memories import Standing, stems
from beliefledger.gate.pairs import Said, Told
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules.lexicon import GIVEN
from beliefledger.gate.spoken_of import are_of_two, told_of_whom
from beliefledger.ledger.candidate import SELF, Candidate
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem


def spare(standing: Standing, candidate: Candidate) -> None:
    """Have the memories spared to which the sentence of a candidate does nothing."""
    standing.spare(frozenset())
    standing.spare(_by_id(standing, candidate))


def _by_id(standing: Standing, candidate: Candidate) -> frozenset[str]:
    quote = candidate.spans[0].quote.replace("’", "'")
    kept = standing.kept.setdefault("unchanged", {})
    if quote not in kept:
        # All that it names, and not only what a rule takes to be over: "my sister's moving back".
        words = [each.lower().removesuffix("'s") for each in _WORDS.findall(quote)]
        there = [*_by(standing, quote.lower(), words), *bonds(standing, quote)]
        kept[quote] = frozenset(each.memory_id for each in there)
    found: frozenset[str] = kept[quote]
    return found


_WORDS = compile_later(r"[^\W_]+(?:['-][^\W_]+)*")


def _by(standing: Standing, text: str, words: Sequence[str]) -> Iterator[Held]:
    days = _days_in_part(text)
    if days:
        yield from (each for each in standing.of_user() if _is_of_more_days(each, days))
    who = _planning(text)
    if who is not None:
        yield from (each for each in standing.of(words) if is_of(each, who))
    began = _BEGUN_BY.search(text)
    if began is not None:
        yield from (each for each in standing.of(words) if is_of(each, began["who"]))
    if _AND.search(text) is not None and _TWO_OTHERS.match(text) is not None:
        yield from (each for each in standing.of_user() if _is_of_own_love(each))
    grown = _GROWN.search(text)
    if grown is not None:
        name = grown["name"]
        yield from (each for each in standing.of_user() if _is_called(each, name))
    if records.RECORD.search(text) is not None and any(map(str.isdigit, text)):
        yield from (each for each in standing.of_user() if _is_another_record(each, text))
    if _COUNTED.search(text) is not None:
        yield from (each for each in standing.of(words) if counts_a_part(text, claim_of(each)))
    desk = _DESK.search(text)
    if desk is not None:
        at_work = [each for each in standing.of(words) if _AT_WORK.search(claim_of(each))]
        yield from (each for each in at_work if are_of_two(text, desk.start(), each))
    if _OWN_HABIT.match(text) is not None and _OF_OTHERS.search(text) is None:
        yield from (each for each in standing.of(words) if _is_only_theirs(each, text))
    habit = _THEIR_HABIT.match(text)
    if habit is not None and _COMES.search(habit["what"]) is None:
        yield from (each for each in standing.of_user() if _only_shares(each, habit))
    whence = _INTRODUCED.match(text)
    if whence is not None and whence["who"] in GIVEN:
        yield from (each for each in standing.of_user() if _names_another(each, whence["who"]))
    how = _NOW_HOW.match(text)
    if how is not None:
        yield from (each for each in standing.of_user() if _is_done_otherwise(each, how))
    if _BACK_IN.match(text) is not None:
        yield from (each for each in standing.of_user() if _BUYING.search(claim_of(each)))
    done = _DONE.match(text)
    if done is not None:
        yield from (each for each in standing.of(words) if _is_more_than(done, each))
    if _OPINION.match(text) is not None:
        yield from (each for each in standing.of_user() if _SUPPORT.search(claim_of(each)))
    day = _HOW_A_DAY_GOES.match(text)
    if day is not None:
        there = [each for each in standing.of_user() if _TRIED.search(claim_of(each)) is None]
        yield from (each for each in there if _days(day["day"]) & _days(claim_of(each)))
    if other_kin.names_kin(text):
        yield from (each for each in standing.of_user() if other_kin.is_of_another(each, text))
    first = first_days.FIRST.search(text)
    if first is not None:
        yield from (each for each in standing.of_user() if first_days.is_there(first, each))
    begun = taken_up.takes_up(text)
    if begun is not None:
        yield from (each for each in standing.of(words) if taken_up.is_done_beside(begun, each))
    if trade_places.is_for_a_trade(text):
        yield from (each for each in standing.of_user() if trade_places.is_home(each))
    gone = homonyms.departed(text)
    if gone:
        mine = standing.of_user()
        yield from (e for e in mine if homonyms.only_bears_the_name(e.written.memory, gone))
    if " to " in text and _NEARBY.search(text) is not None:
        yield from (each for each in standing.of(words) if VISIT.search(claim_of(each)))


_NEARBY = compile_later(
    r"\b(?:went|gone|goes|going|got|is|popped|nipped|'s) (?:(?:straight|right|off|"
    r"out) )?(?:back )?to "
    r"(?:bed|sleep|work|school|class|it|reading|doing|watching|(?:the|his|her|their|my|"
    r"our) (?:\w+ )?"
    r"(?:kitchen|garden|sofa|couch|bathroom|toilet|loo|shops?|pub|gym|office|table|garage|bedroom|"
    r"room|car|fridge|telly|tv|desk|book|phone|game|laptop|park|beach|dentist|doctor|"
    r"supermarket))\b"
)
"""Who goes there is not gone for good."""
# --- hours that are others on some days
_DAY = r"(?:mon|tue|tues|wed|weds|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?s?"
_RANGE = compile_later(
    rf"\b(?P<first>{_DAY})(?: ?[-–—/] ?| (?:to|till?|until|through|thru) )(?P<last>{_DAY})\b"
)
_ONE = compile_later(rf"\b{_DAY}\b")
_SEVERAL = {
    "weekday": DAYS[:5],
    "weekend": DAYS[5:],
    "every day": DAYS,
    "daily": DAYS,
    "7 days": DAYS,
    "seven days": DAYS,
}
_TELLS_HOURS = compile_later(
    r"\b(?:open\w*|clos\w+|shut|hours?|shifts?|work\w*|start\w*|finish\w*|on duty|surgery|"
    r"til|till|until|off|late|in)\b"
)
_CLOCKED = compile_later(
    r"\d ?(?:[ap]\.?m\b|:\d\d|[-–—] ?\d| (?:to|till?|until) \d)|"
    r"\b(?:mon|tue|wed|thu|fri|sat|sun)\w*(?: ?[-–—] ?| (?:to|till?|until|through) )"
    r"(?:mon|tue|wed|thu|fri|sat|sun)|\b(?:weekdays?|weekends?|every day|daily)\b"
)
_IN_PART = compile_later(r"\b(?:clos\w+|shut|off|late|later|early|earlier|half|too|also|as well)\b")
_IN_WHOLE = compile_later(
    r"\b(?:only|just|new hours|hours are|instead|no longer open|closed down)\b"
)


def _days(text: str) -> frozenset[str]:
    """The days of the week that a text names."""
    found: set[str] = set()
    for each in _RANGE.finditer(text):
        first, last = (_day(each[name]) for name in ("first", "last"))
        found.update((DAYS + DAYS)[first : last + 1 + (7 if last < first else 0)])
    found.update(DAYS[_day(each[0])] for each in _ONE.finditer(text))
    for word, days in _SEVERAL.items():
        if word in text:
            found.update(days)
    return frozenset(found)


def _day(name: str) -> int:
    return next(at for at, day in enumerate(DAYS) if day[:3] == name[:3])


def _days_in_part(text: str) -> frozenset[str]:
    """The days of which a sentence tells other hours and nothing of the rest: "we close at 5 on
    Saturdays now"; none where it tells all hours anew."""
    if "day" not in text and _ONE.search(text) is None:
        return frozenset()
    if _TELLS_HOURS.search(text) is None or _IN_WHOLE.search(text) is not None:
        return frozenset()
    days = _days(text)
    if not days or (len(days) > 1 and _IN_PART.search(text) is None):
        return frozenset()
    return days


def _is_of_more_days(held: Held, days: frozenset[str]) -> bool:
    """Whether a memory tells hours of more days than these."""
    claim = claim_of(held)
    if _TELLS_HOURS.search(claim) is None or _CLOCKED.search(claim) is None:
        return False
    return not (_days(claim) or frozenset(DAYS)) <= days


_HOW_A_DAY_GOES = compile_later(
    rf"(?:\W*(?:so|and|but|well|ok|honestly|tbh|lol|ugh|on)\b){{0,2}}\W*(?P<day>{_DAY})"
    r"(?: (?:is|are|was|were|r|have been|has been)|'s|'re)"
    r"(?: (?:so|really|pretty|totally|absolutely|just|always|completely|quite|a bit|too)){0,3} "
    r"(?:dead|slow|quiet|busy|hell|crazy|mad|manic|empty|packed|rough|brutal|boring|hectic|murder)\b"
)
"""Says nothing of what is done on that day."""
_TRIED = compile_later(r"\b(?:try\w*|tri(?:al|es|ed)|test\w*)\b")


# --- what somebody else plans
_LEAD = r"\W*+(?:(?:so|and|but|well|also|oh|ok|btw|fyi|news|yay|apparently)\b\W{0,3}){0,3}+"
_NOT_SPEAKER = r"(?!(?:i|we|im|ive|i'm|we're|i'll|we'll|it|it's|its|this|that|there|who|what)\b)"
_PLANS = compile_later(
    rf"{_LEAD}(?:(?:my|our) )?{_NOT_SPEAKER}(?P<who>[^\W\d_][\w-]{{1,24}}"
    rf"(?: [^\W\d_][\w-]{{1,24}}){{0,2}}?)"
    r"(?:'s| is|'re| are|s)?(?: (?:all|both|just|now|finally|also|probably|maybe)){0,2} "
    r"(?:(?P<now>(?!(?:seeing|dating|being|doing|having|living|working|feeling)\b)[a-z]{2,14}ing)|"
    r"will|(?:plans|hopes|wants|means|due|about) to)\b"
)
_WILL = compile_later(
    rf"{_LEAD}(?:(?:my|our) )?{_NOT_SPEAKER}(?P<who>[^\W\d_][\w-]{{1,24}}"
    rf"(?: [^\W\d_][\w-]{{1,24}}){{0,2}}?)"
    r"'ll\b"
)
_MONTH = (
    r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*|spring|summer|autumn|fall|"
    r"winter"
)
_LATER = compile_later(
    rf"\b(?:will|'ll|going to|gonna|(?:plans|hopes|wants|means|due|about) to)\b|'ll\b|"
    rf"\b(?:in|from|next|this coming|by|until|come) (?:the )?(?:new year|{_MONTH}|20\d\d)\b|"
    r"\b(?:next|this coming) (?:week|weekend|month|year|term|mon|tues|wednes|thurs|fri|satur|sun)|"
    r"\bin (?:a (?:few|couple)|an?|two|three|four|five|six|\d{1,2}) "
    r"(?:of )?(?:days?|weeks?|months?|years?)(?: time|'s? time)?\b|"
    r"\b(?:tomorrow|soon|after (?:christmas|xmas|easter|new year|the summer))\b|"
    r"\b(?:on|from) (?:the )?\d{1,2}(?:st|nd|rd|th)\b|\bfrom (?:mon|tues|wednes|thurs|fri|satur|"
    r"sun)"
)


def _planning(text: str) -> str | None:
    """Who else than the speaker has something before them: "Karen's coming home for good in
    June". Until it is there, nothing is over."""
    if _LATER.search(text) is None:
        return None
    found = _PLANS.match(text) or _WILL.match(text)
    return None if found is None else found["who"].split()[-1]


_BEGUN_BY = compile_later(
    r"\b(?P<who>[^\W\d_][\w-]{1,20}) (?:(?:has|have|just|also|finally) ){0,2}"
    r"(?:got|gotten|introduced|turned|roped|talked) (?:me|us) (?:back )?"
    r"(?:into|onto|to|on to|on|hooked on|obsessed with|playing|doing|watching|reading)\b"
)
"""Who got the user to begin something, which ends nothing: "Jonno got me into chess"."""


# --- two others who part
_PARTS = (
    r"(?:split(?:ting)?(?: up)?|broke(?:n)? up|breaking up|separated|separating|(?:got |getting )?"
    r"divorced|divorcing|called it quits|parted ways|called off (?:the|their) (?:wedding|"
    r"engagement)|"
    r"over|finished|done|history|no longer together|not together(?: any ?more)?)"
)
_WHO = r"(?:(?:my|our|his|her|their|the) )?(?:[\w'-]{2,20} ){0,2}?[\w-]{2,24}"
_AND = compile_later(r" (?:and|n|&) ")
_TWO_OTHERS = compile_later(
    rf"{_LEAD}(?!(?:i|me|we|both)\b){_WHO} (?:and|n|&) (?!(?:i|me|we)\b){_WHO}"
    r"(?: (?:have|are|were|just|finally|sadly|both|got|recently|now)|'ve|'re){0,3} "
    rf"{_PARTS}(?! (?:with|from) (?:me|us)\b)(?=\W|$)"
)
_OF_LOVE = compile_later(
    r"relation\.(?:partner|spouse|wife|husband|girlfriend|boyfriend|gf|bf|fianc|marital)|"
    r"has\.(?:girlfriend|boyfriend|partner|wife|husband|gf|bf|fianc)|home\."
)


def _is_of_own_love(held: Held) -> bool:
    """Whether a memory tells with whom the user is or lives."""
    memory = held.written.memory
    return memory.entity == SELF and _OF_LOVE.match(memory.attribute) is not None


def _is_another_record(held: Held, text: str) -> bool:
    claim = claim_of(held)
    if records.RECORD.search(claim) is None:
        return False
    return _OTHERS_RECORD.search(text) is not None or records.is_of_another(text, claim)


_OTHERS_RECORD = compile_later(
    r"\b(?:for (?:my|our|his|her|the) [a-z]|(?:he|she|they)(?:'s|'ve)? (?:got|ran|set|hit|beat|"
    r"smashed|has)|"
    r"(?:my|our) (?:[\w-]+ )?(?:brother|sister|son|daughter|husband|wife|partner|friend|mate|dad|"
    r"mum|mom|"
    r"girlfriend|boyfriend|niece|nephew|cousin|boss)(?:'s)? )"
)


_COUNTED = compile_later(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|"
    r"fifty)\b"
)


# --- where somebody works, which others need not
_DESK = compile_later(
    r"\b(?:office|wfh|(?:work\w*|study\w*) (?:from|at) home|home office|remote(?:ly)?|hybrid)\b"
)
_AT_WORK = compile_later(
    r"\b(?:wfh|work(?:ing|s)? from home|remote(?:ly)?|home office|hybrid|office (?:full[- ]time|"
    r"all week|every day|\w+ days)|days (?:a week )?in (?:the )?office)\b"
)


# --- what somebody does no more, which others still do
_OWN_HABIT = compile_later(
    rf"{_LEAD}(?:(?:i|i'm|im|i am|i've|ive) (?:(?:really|just|also|now|sadly|have|finally) ){{0,2}}"
    r"(?:don't|dont|do not|no longer|can't|cant|cannot|stopped|quit|gave up|given up|off|not) |"
    r"no more [a-z][\w' -]{1,40}? for me\b)"
)
_OF_OTHERS = compile_later(
    r"\b(?:he|she|they|him|her|his|hers|them|their|we|us|our|there|that|it|my|with)\b"
)
_WITH_ME = compile_later(r"\b(?:i|me|my|mine|we|us|our|user|user's)\b")


def _is_only_theirs(held: Held, text: str) -> bool:
    """Whether a memory tells of somebody else alone, whom a sentence about the user does not name:
    "My wife drinks wine", and then "no more wine for me"."""
    whose = told_of_whom(held)
    said = WORD.findall(text)
    if not whose or not whose.isdisjoint({form for each in said for form in (each, each[:-1])}):
        return False
    claim = claim_of(held) if held.type != NOTE else held.written.memory.value.lower()
    _, *rest = claim.split()
    return _WITH_ME.search(" ".join(rest)) is None


# --- what somebody does no more, which says nothing of the rest of their life
_THEIR_HABIT = compile_later(
    rf"{_LEAD}{_NOT_SPEAKER}(?P<who>[^\W\d_][\w-]{{1,24}}) (?:doesn't|doesnt|does not|no longer|"
    r"isn't|isnt|is not|is no longer|has stopped|stopped|has given up|gave up|says? no more|"
    r"says? (?:he|she)'s (?:done with|off)|is off) (?P<what>[\w' -]{2,40})"
)
_COMES = compile_later(
    r"\b(?:com(?:e|ing)|go(?:ing|es)?|able|there|here|around|about|interested|starting|joining|"
    r"available|happening|need\w*|want\w*|doing (?:it|that)|do (?:it|that)|with (?:us|me)|work\w*|"
    r"liv\w*|stay\w*|speak\w*|talk\w*|my|our|us|me)\b"
)


def _only_shares(held: Held, habit: re.Match[str]) -> bool:
    """Whether a note begins with the name of somebody and has nothing else of what they do no more:
    "Tom starts at Lidl on Monday", and then "Tom doesn't drink any more"."""
    if held.type != NOTE:
        return False
    first, _, rest = held.written.memory.value.lower().partition(" ")
    return first == habit["who"] and stems(rest).isdisjoint(stems(habit["what"]) - _SAID_ONLY)


_SAID_ONLY = stems("a an the any more longer is not no for him her of in at on to and")


# --- others who are told apart by their names
_INTRODUCED = compile_later(
    rf"{_LEAD}(?P<who>[^\W\d_]{{2,20}}) (?:(?:is|'s) )?(?:from|at|in) (?!now\b)[\w' ]{{2,30}},"
)


def _names_another(held: Held, who: str) -> bool:
    """Whether a memory names somebody and not the one who is told of: "climbing with Priya", and
    then "tom from climbing, he's from plymouth"."""
    named = GIVEN.intersection(WORD.findall(claim_of(held)))
    return bool(named) and who not in named


# --- how or where something is done, which says not what
_NOW_HOW = compile_later(
    rf"{_LEAD}(?:(?:now(?:adays)?|these days),? (?:i|we)|(?:i|we) now) "
    r"(?P<verb>(?!(?:work|live|sleep|stay|go|get|drive|commute)\b)[^\W\d_]{2,14}) "
    r"(?P<how>(?:online|alone|remotely|by (?:myself|ourselves|hand)|on my own|outside|inside|"
    r"(?:in|at|on|with|from|by|through|via) (?:(?:the |an? |my |our |some |home\b|night\b)"
    r"[\w' -]{0,60}|[\w'-]{2,20}))(?=\W|$))"
)
_OBJECT = compile_later(
    r"(?:user|i|we) (?P<verb>[^\W\d_]{2,14}) (?!(?:in|at|on|with|from|by|to|for|every|alone|online|"
    r"remotely|once|twice)\b)(?P<what>\w.*)"
)
_PLACED = compile_later(r" (?:at|in) ")
_COMMON_PLACE = compile_later(r"(?:in|at|on|from) (?:the|an?|my|our|some|home|night)\b")


def _is_done_otherwise(held: Held, how: re.Match[str]) -> bool:
    """Whether a memory says what somebody does of which a sentence tells only how or where they do
    it now: "I study English", and then "now I study by myself"."""
    told = _OBJECT.match(claim_of(held))
    if told is None or stem(told["verb"]) != stem(how["verb"]):
        return False
    where = how["how"].startswith(("in ", "at ", "on ", "from "))
    if not where or _COMMON_PLACE.match(how["how"]) is not None:
        return True
    return _PLACED.search(told["what"]) is None


# --- where somebody is back, which says nothing of what they buy
_BACK_IN = compile_later(rf"{_LEAD}(?:(?:i'm|im|we're|i am|we are) )?(?:now )?back in \w")
_BUYING = compile_later(
    r"\b(?:buying|bought|selling|viewing|looking at|building|renovating|renting out|own|owns) "
)


# --- what is done once, or in part
_DONE = compile_later(
    rf"{_LEAD}(?:(?:i|we|i've|we've|ive) )?(?:(?:just|finally|have) ){{0,2}}"
    r"(?:(?P<verb>finished|completed|done (?:with )?)(?:the |my |our )|(?:the |my |our )?)"
    r"(?P<part>(?:(?:first|second|third|fourth|fifth|last|final|one|week|day|part|module|chapter|"
    r"year|term|level|stage|phase|semester|draft|round|half|most|\d{1,3}) ){1,3}of (?:the |my |"
    r"our |an? )?)?(?P<what>[^\W\d_][\w-]{0,24}(?: [\w-]{1,24}){0,3}?)"
    r"(?(verb)(?=\W*$|[,.!;]| (?:today|yesterday|this|last|in|at)\b)|"
    r" (?:(?:is|was|are|were|all|now|finally|has|been|half|nearly) ){0,3}"
    r"(?P<how>done|finished|completed?|sorted|over)(?=\W*$|[,.!;]| (?:for (?:today|tonight|the "
    r"day)|today|this morning|tonight|now|yesterday|already|at last)\b))"
)
_TASKS = frozenset(
    stem(each)
    for each in "migration move upgrade update setup install installation rollout deployment "
    "deploy rewrite refactor refactoring backup trip visit exam exams test tests homework "
    "assignment essay report presentation review service mot repair renovation release launch "
    "walk session workout interview party shopping revision paperwork inspection cleanup "
    "integration import export tutorial".split()
)
"""What is done to something or at some place, which is there all the same."""
_COMES_ROUND = compile_later(
    r"\b(?:every|each|daily|weekly|(?:once|twice|times) an? (?:day|week|month)|on (?:mon|tues|"
    r"wednes|thurs|fri|satur|sun)days?)\b"
)
_HAS_AN_END = compile_later(
    r"\b(?:course|class|classes|lessons?|term|season|degree|treatment|contract|project|training|"
    r"programme|program|therapy|chemo|physio|league|tournament|job|placement|internship)\b"
)


def _is_more_than(done: re.Match[str], held: Held) -> bool:
    """Whether a memory tells of more than what a sentence says to be done: "Postgres migration
    finished", of who uses Postgres; "yoga done", of each Monday; a year of a degree."""
    claim, what = claim_of(held), done["what"].split()
    if done["part"]:
        return done["what"].split()[-1] in claim
    if stem(what[-1]) in _TASKS:
        return what[-1][:5] not in claim and len(what) > 1
    if done["how"] not in ("done", "sorted") or _HAS_AN_END.search(f"{claim} {done['what']}"):
        return False
    return _COMES_ROUND.search(claim) is not None


# --- animals, of which something is told
_CALLED = compile_later(
    r"(?:\b(?:called|named)|'s (?:[\w-]+ )?(?:dog|cat|puppy|kitten|rabbit|hamster|parrot|horse|"
    r"pony|"
    r"tortoise|bird|pet)(?: is|'s)?(?: called| named)?) (?P<name>[^\W\d_][\w-]{1,20})\W*$"
)
_OF_ANIMALS = ("has.", "pets.", "relation.")
_GROWN = compile_later(
    r"\b(?P<name>[^\W\d_][\w-]{1,20})(?:'s| is| was| turns?| turned| just turned| will be)"
    r"(?: (?:now|just|already|nearly|almost|about|getting|so|really|very|a bit|quite|doing|"
    r"turning)){0,3} "
    r"(?:old(?:er)?|on a bit|big(?:ger)?|fat(?:ter)?|huge|slow(?:er)?|deaf|blind|grumpy|grey|"
    r"better|"
    r"well|fine|ok|okay|great|good|poorly|cute|naughty|clever|asleep|\d{1,2})\b"
)


def _is_called(held: Held, name: str) -> bool:
    """Whether a memory says that there is an animal of a name: "Mochi is getting old, 13 now" tells
    more of it, and ends nothing."""
    if not held.written.memory.attribute.startswith(_OF_ANIMALS):
        return False
    found = _CALLED.search(claim_of(held))
    return found is not None and found["name"] == name


# --- what one thinks of a team
_OPINION = compile_later(
    rf"{_LEAD}(?:the )?(?!(?:i|we|i'm|we're)\b)[\w'-]{{2,20}}(?: [\w'-]{{2,20}}){{0,2}}?"
    r"(?: (?:are|is|were|have been|has been|look|r|play(?:ing|ed)?)|'re|'s)"
    r"(?: (?:so|really|absolutely|just|such|utter(?:ly)?|total(?:ly)?|complete(?:ly)?|a|bit|pretty|"
    r"back to|like|still|all|bloody|fucking|well|proper)){0,3} "
    r"(?!(?:my|our|not my|dead to)\b)[a-z'-]{2,16}\b"
)
_SUPPORT = compile_later(
    r"\b(?:supports?|roots? for|(?:big |huge |massive |lifelong )?fan of|season ticket|"
    r"barracks? for)\b"
)


# --- what the scorer of successions is not asked about
_RULE = compile_later(r"\b(?:never|always|don['’]?t|do not|no \w+ing|must|should)\b", re.I)
_ONCE = compile_later(
    r"\b(?:did|had to|broke|made an exception)\b.{0,60}\b(?:once|just this|"
    r"last (?:\w+day|week|time|month|year)|yesterday|today|this (?:once|time|week)|"
    r"emergency|exception)\b"
)


def did_it_once(said: Said, of: Told) -> bool:
    """Whether a sentence tells that a rule was broken once, which leaves the rule; or what is told
    happened once."""
    if of.type == NOTE and first_days.is_what_happened(of.claim):
        return True
    return _ONCE.search(said.low) is not None and _RULE.search(of.claim) is not None
