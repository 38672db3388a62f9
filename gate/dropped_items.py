"""One of several things that somebody has listed is gone: "binned netflix", of "netflix, disney
plus and now tv". Pure but for what a draft looks up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate.belief import Held
from beliefledger.gate.claim_wordings import number_of
from beliefledger.gate.meant_memories import LASTING, Standing, in_place, stems
from beliefledger.gate.registry import NOTE
from beliefledger.gate.remainders import (
    APPOSED,
    day_stem,
    fewer,
    is_list,
    is_of_one,
    items,
    without,
)
from beliefledger.ledger.candidate import SELF, Candidate, Ends
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

_CLAUSE = compile_later(
    r"[,;:!?(–—]\s*|\.(?!\d)\s*|\s(?:so|but|cos|coz|cuz|because|bc|since|although|and(?= (?:i|we|"
    r"they|he|she|it|the|my|our)\b))\s",
    re.I,
)
_DOUBT = compile_later(
    r"\b(?:if|might|may|maybe|almost|nearly|never|not|no longer want|thinking|considering|wish|"
    r"hope|hoping|could|would|should|want|wants|planning|going to|gonna|will|about to|yet|used to|"
    r"when i|years ago|today only|this week|for now|early)\b|n['’]?t\b|\?",
    re.I,
)
_REST = (
    r"(?=\W*$|\W*(?:today|yesterday|tonight|last|this|for good|altogether|too|as well|club|shop|"
    r"contract|sub|subscription|account|membership|class|classes|lessons?|team|from|in the end|"
    r"after|again|now|at last|finally|lol|yay|since|tbh|btw|over|on|in(?! (?:with|at|to|by)\b)|out|"
    r"off(?! (?:at|with|to|by)\b)|"
    r"any ?(?:more|longer)|completely|entirely)\b)"
)
_LET_GO = compile_later(
    r"\b(?:(?<!has )(?<!had )(?<!have )no more|"
    r"binned|cancell?ed|dropped|quit|ditched|axed|scrapped|given up|gave up|got rid of|let go "
    r"of|unsubscribed from|packed in|jacked in|removed|deleted|uninstalled|done with|finished with|"
    r"(?:the )?(?:fox|cat|dog|hawk|rat) (?:got|took|killed|ate)|retired|stopped|sold|closed|lost|"
    r"ripped|chucked|tossed|canned|replaced|got shot of|moved off|migrated off|"
    r"pulled out of|dropped out of|knocked|remove|drop|take|(?:don['’]?t|do not|no longer) "
    r"(?P<base>[a-z]{2,20}))(?P<ing> [a-z]{2,20}ing)?(?: (?:at|in|on|to|for|with|about))?"
    r"(?: (?:any|the|my|our|his|her|their|an?))? ",
    re.I,
)
_IS_GONE = compile_later(
    r"(?:['’]?s)?(?: (?:club|shop|contract|team|class|classes|people|office|branch|site|gig|job|"
    r"mum|dad|lessons?|account|guys?))?(?:['’]s)? (?:(?:has|have|is|are|was|were|got|just|finally|"
    r"now|also|just got) ){0,3}(?:folded|shut down|closed (?:down|for good)|rejected|ended (?:the|"
    r"our|their|his|her|my|it)|over\b(?! for (?:today|the (?:day|week)|this|now))|finished(?=\W*$)|"
    r"done(?=\W*$)|gone(?! (?:to|by|up|down|on|out|well))|stopped(?=\W*$)|died(?! down)|passed "
    r"away|ran away|left(?=\W*$| (?:the (?:team|company|band|group|firm|club)|us|and|last|this|for "
    r"good|yesterday)\b)|quit|dropped out|cancell?ed for good|"
    r"moved (?:out|away)(?! (?:of the way|from)\b)|"
    r"retired(?! (?:to bed|hurt|for the night)\b)|fell through|axed|scrapped|"
    r"pulled out(?! (?:an?|the|his|her|their|my|some)\b)|bailed(?! on\b)|discontinued|"
    r"decommissioned|sacked|fired(?! up)|let go(?! of)|"
    r"cut(?! (?:an?|the|his|her|their|my|our|down|back|off|up|short|it|me|us)\b))\b",
    re.I,
)


def dropped(standing: Standing, candidate: Candidate) -> Iterator[tuple[Held, list[Candidate]]]:
    """The memory that lists several things of which a sentence lets one go, with candidates for
    what is left, the fullest first. None where it may be of two memories."""
    quote = candidate.spans[0].quote
    gone = [
        each for each in _CLAUSE.split(quote) if _NO_MORE.search(each) or not _DOUBT.search(each)
    ]
    if not any(_LET_GO.search(each) or _IS_GONE.search(each) for each in gone):
        return
    found: list[tuple[Held, list[Candidate]]] = []
    for held in standing.of_user():
        memory = held.written.memory
        if held.type not in LASTING | {"commitment"} or memory.negated or memory.entity != SELF:
            continue
        if memory.category is not None or not is_list(memory.claim):
            continue
        if _OF_KIN.match(memory.attribute):
            continue  # who moved out is a son still
        if APPOSED.match(memory.value) or is_of_one(memory.claim):
            continue
        if _ALL_OF_THEM.search(memory.claim):
            continue
        if _SELLS.search(memory.claim) and _SOLD.search(quote):
            continue
        value = memory.value if is_list(memory.value) else memory.claim
        listed = items(value, does=value not in memory.claim)
        if any(each and each[0] in _CLAUSES for each in listed):
            continue
        does = _does(memory.attribute, memory.claim)
        named = [
            (word, each) for each in listed if (word := _named_by(each, gone, does)) is not None
        ]
        if len(named) != 1:
            continue
        [(words, item)] = named
        short = len(item) <= _ITEM and item is not listed[0]
        if short and (item is not listed[-1] or len(item) == len(listed[1])):
            words = item  # "pottery thurs", of "gym mon, choir tues, pottery thurs"
        ends = (Ends(attribute=memory.attribute, value=memory.value),)
        ways = [
            in_place(
                candidate, held, left.claim, left.value, ends if held.type in _BY_VALUE else ()
            )
            for left in without(memory.claim, _told(memory.claim, memory.value), words)
        ]
        if ways:
            found.append((held, ways))
    if len({held.written.memory.claim for held, _ in found}) == 1:
        yield from found
    elif not found:
        yield from _counted(standing, candidate, gone)


def _told(claim: str, value: str) -> str:
    """The words of a claim that list something, from its value on: "Leeds with Ana and Bob"."""
    if is_list(value):
        return value
    rest = claim[claim.find(value) :] if value in claim else claim
    return rest if is_list(rest) else claim


def _counted(
    standing: Standing, candidate: Candidate, gone: list[str]
) -> Iterator[tuple[Held, list[Candidate]]]:
    """How many there are of those that are known by name, of whom a sentence lets one go: of three
    cats, Miso, Tofu and Nori, "Nori died" leaves two."""
    named: dict[str, set[str]] = {}
    for held in standing.of_user():
        kind = _BY_NAME.fullmatch(held.written.memory.attribute)
        if kind is not None:
            named.setdefault(kind["of"], set()).add(held.written.memory.value)
    for held in standing.of_user():
        memory = held.written.memory
        names = named.get(memory.attribute.removeprefix("has."), set())
        over = [each for each in names if _named_by([each.lower()], gone) is not None]
        if len(over) != 1 or not memory.attribute.startswith("has.") or memory.context is not None:
            continue
        if _OF_KIN.match(memory.attribute):
            continue
        counted = number_of(memory.value.partition(" ")[0].lower() or "-")
        if counted != str(len(names)):
            continue
        ways = [
            in_place(candidate, held, left.claim, left.value, ())
            for left in fewer(memory.claim, memory.value, 1)
        ]
        if ways:
            yield held, ways
            return


_CLAUSES = frozenset("he she it they who which".split())
"""How a clause begins, which is nothing in a list: "Mrs Cole does, she feeds the foxes"."""
_OF_KIN = compile_later(
    r"family\.|(?:has|count|thing|relation)\.(?:step|grand|half-|god)?(?:sons?|daughters?|child|children|"
    r"kids?|brothers?|sisters?|siblings?|twins?|boys?|girls?|babies|baby)\b"
)
_BY_NAME = compile_later(r"relation\.(?P<of>[a-z-]+)\.name")


_ALL_OF_THEM = compile_later(
    r"^(?:my|our|User['’]s) (?:parents|grandparents|kids|children|sons|daughters|twins|siblings|"
    r"brothers|sisters|in-laws) are\b|"
    r"\band [\w'’-]+ (?:are|were|both|get|love|hate|fight|share)\b",
    re.I,
)
"""What is said of all of them: "my cats Pixel and Toast are siblings"."""
_ITEM = 3
"""So many words has an item of a list that goes as a whole."""
_NO_MORE = compile_later(
    r"\b(?:don['’]?t|do not|doesn['’]?t|no longer|not) \w+ .{1,40}\bany ?(?:more|longer)\b|\bno "
    r"longer \w+ \w|\b(?:remove|drop|take) .{1,40}\b(?:from|off) (?:my|the|our) (?:list|"
    r"favou?rites?)\b",
    re.I,
)
"""Says that something is over, in words that deny."""
_BY_VALUE = {NOTE, "relation", "commitment", "event"}
"""What is in slots by its value, and has to be ended."""
_SELLS = compile_later(r"\b(?:sells?|selling|shop|store)\b", re.I)
_SOLD = compile_later(r"\bsold\b", re.I)


_DOING = compile_later(r"habit\.|note\.|work\.|does\.|collects\.")
_DONE_WITH = frozenset(map(stem, "do use have go take attend visit get see like love want".split()))
"""What says of anything that it is done."""


def _does(attribute: str, claim: str) -> set[str] | None:
    """The stems of the words of a memory, if it tells what somebody does."""
    return stems(claim) if _DOING.match(attribute) is not None else None


def _is_it_let_go(let_go: re.Match[str], does: set[str] | None) -> bool:
    """Whether words that let something go say of it what a memory says: who "stopped making soap"
    may sell it still."""
    verb = let_go["ing"] or let_go["base"]
    if verb is None or does is None:
        return True
    said = stem(verb.strip().lower())
    return said in _DONE_WITH or said in does


def _named_by(
    item: list[str], clauses: list[str], does: set[str] | None = None
) -> list[str] | None:
    """The words of an item that a clause lets go of; None where none does."""
    for clause in clauses:
        words = [
            (day_stem(each[0].lower()), each.start(), each.end()) for each in _WORD.finditer(clause)
        ]
        of = {day_stem(word) for word in item if len(word) > 2 or not word.isdigit()}
        at = [each for each in words if each[0] in of and len(each[0]) > 1]
        if not at:
            continue
        start, end = at[0][1], at[-1][2]
        let_go = next((each for each in _LET_GO.finditer(clause) if each.end() == start), None)
        let_go = let_go if let_go is None or _is_it_let_go(let_go, does) else None
        if (let_go is not None and _ENDS.match(clause, end)) or (
            _BEFORE.fullmatch(clause, 0, start) and _IS_GONE.match(clause, end)
        ):
            return [word for word in item if day_stem(word) in {each[0] for each in at}]
    return None


_WORD = compile_later(r"[^\W_]+(?:['’+#-][^\W_]+)*[+#]*")
_ENDS = compile_later(_REST, re.I)
_BEFORE = compile_later(
    r"\W*(?:(?:ok|so|and|well|oh|sadly|ugh|update|also|then|the|my|our|turns out|today|yesterday|"
    r"poor|old)\W+){0,4}",
    re.I,
)
