"""A clause that says what a memory says, but for one thing: "I work 30 hours a week", and then "as
of this month I work 37.5 hours a week". Pure but for what a draft looks up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from beliefledger.gate.belief import Held
from beliefledger.gate.meant_memories import LASTING, Standing, in_place
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules import distinctions, new_figures
from beliefledger.gate.rules.renewals import Sentence
from beliefledger.gate.rules.subjects import acting, subject_of
from beliefledger.gate.sentences import parted
from beliefledger.gate.spoken_of import is_done_by_another, is_of_another
from beliefledger.ledger.candidate import SELF, Candidate, Ends
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

_WORD = compile_later(r"[$€£]?[^\W_]+(?:['’.,:/&+-][^\W_]+)*[+#%€$£]*")
_CLAUSE = compile_later(
    r"[,;:!?()–—…]\s+|\.(?!\d)\s*|[^\w\s'’\".,:;!?&$€£/+#@%()*-]+|"
    r"\s(?:so|but|cos|cause|because|since|although|and(?= (?:i|we|my|our|the|it)\b))\s"
)
_PART = compile_later(r"[,;:!?()–—…]\s+|\sand(?= (?:i|we|my|our|the|it)\b)")
"""Between two facts of one memory."""
_LATER = compile_later(
    r"\b(?:(?:from|as of|since|starting|beginning|effective)(?: (?:now|today|here|tomorrow|this|"
    r"next|last|the|mon\w*|tues\w*|wednes\w*|thurs\w*|fri\w*|satur\w*|sun\w*|jan\w*|feb\w*|march|"
    r"april|may|june|july|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|week|month|year|term|on)\b){1,3}|"
    r"now(?:adays)?|these days|instead|onwards?|again)\b"
)
"""That it is so from now on, and was otherwise."""
_NEWS = compile_later(
    r"\b(?:turns out|changed|moved|switched|renamed|misread|extended|squeezed|put up|new policy|"
    r"wrong|sorry|mistake)\b"
)
_DOUBT = compile_later(
    r"\b(?:also|too|as well|another|second|additional|both|still|besides|if|might|maybe|would|"
    r"could|should|want|wants|wish|hope|hoping|was|were|used|not|never|almost|nearly|once|today|"
    r"tonight|yesterday|tomorrow|thinking|for now|this (?:week|time|once)|just this|more|when|"
    r"unless|sometimes|usually)\b|n['’]?t\b"
)
_SKIPPED = frozenset(
    "user user's users i im i'm ive i've my our we we're weve we've me us the a an is are am be "
    "its it's it so ok okay well and but actually just only currently please pls that this has "
    "have got do does".split()
)
_LINKS = frozenset(
    "in at on with from about for to of by as into onto until till up down per each every".split()
)
_WEAK = _LINKS | frozenset("week month year day time thing people always new".split())
_RATE = compile_later(r"\b(?:for|to) (?:every|each)\b|\bper\b")
_TELLING = 3
"""So many words have to tell what a rate is of."""
_STAYS = ("language.", "likes.", "has.", "pets.", "relation.", "speaks.", "learns.", "identity.")
"""Of what somebody may have, like or know several."""
_MOST_OLD, _MOST_NEW = 5, 4
"""So many words, at most, give way and take their place."""


_HAPPENS = frozenset("changed moved switched swapped renamed became become gone went been".split())


class _Token(NamedTuple):
    stem: str
    start: int
    end: int


def otherwise(standing: Standing, candidate: Candidate) -> Iterator[tuple[Held, list[Candidate]]]:
    """The memory that a clause of a sentence says again with another value, and how it is told
    with that; none where several are meant."""
    said = candidate.spans[0].quote
    low = said.lower()
    news = _LATER.search(low) is not None or _NEWS.search(low) is not None
    if not news and _RATE.search(low) is None:
        return  # "band practice fridays" may be beside Thursdays; and most sentences tell no news
    clauses = [
        (each, _tokens(said, *each))
        for each in parted(said, _CLAUSE)
        if not _DOUBT.search(said[slice(*each)].lower())
    ]
    if not news:
        clauses = [each for each in clauses if _is_rate(said[slice(*each[0])], each[1])]
    doing = standing.without_employer(acting(Sentence(said).clauses(len(said))))
    subject = subject_of(said)
    found: dict[str, list[tuple[Held, list[Candidate]]]] = {}
    for held in standing.of_user() if clauses else ():
        memory = held.written.memory
        if held.type not in LASTING or memory.negated or memory.entity != SELF:
            continue
        if memory.attribute.startswith(_STAYS) or memory.category is not None:
            continue
        swap = (_swap if news else _other_rate)(memory.claim, said, clauses)
        if swap is None or distinctions.apart(said, memory.claim, memory.attribute):
            continue
        if is_done_by_another(doing, held) or (subject and is_of_another(subject, held)):
            continue
        anew = _anew(candidate, held, swap)
        if anew is not None:
            found.setdefault(memory.claim, []).append((held, [anew]))
    if len(found) == 1:
        yield from next(iter(found.values()))


class _Swap(NamedTuple):
    """Where in a claim the words stand that give way, those that take their place, and the clause
    of a sentence that says so."""

    begin: int
    stop: int
    words: str
    clause: tuple[int, int]


def _anew(candidate: Candidate, held: Held, swap: _Swap) -> Candidate | None:
    """A memory with other words, as the clause says them; None where they are not of its value."""
    memory = held.written.memory
    was = memory.claim[swap.begin : swap.stop]
    claim = f"{memory.claim[: swap.begin]}{swap.words}{memory.claim[swap.stop :]}"
    ends: tuple[Ends, ...] = ()
    if held.type == NOTE:
        value, ends = claim, (Ends(attribute=memory.attribute, value=memory.value),)
    elif was in memory.value:
        value = memory.value.replace(was, swap.words, 1)
    else:
        return None
    here = candidate.spans[0]
    quote = here.quote[slice(*swap.clause)]
    start = here.start + swap.clause[0]
    span = here.model_copy(update={"start": start, "end": start + len(quote), "quote": quote})
    return in_place(candidate.model_copy(update={"spans": (span,)}), held, claim, value, ends)


def _swap(
    claim: str, said: str, clauses: Sequence[tuple[tuple[int, int], Sequence[_Token]]]
) -> _Swap | None:
    for part in dict.fromkeys([(0, len(claim)), *parted(claim, _PART)]):
        old = _tokens(claim, *part)
        for clause, new in clauses:
            found = _swapped(old, new, claim, said)
            if found is not None:
                (begin, stop), words = found
                return _Swap(begin, stop, words, clause)
    return None


def _is_rate(clause: str, tokens: Sequence[_Token]) -> bool:
    """Whether a clause says at some length how much there is for how much."""
    telling = [each.stem for each in tokens if each.stem not in _WEAK and each.stem.isalpha()]
    return _RATE.search(clause.lower()) is not None and len(telling) >= _TELLING


def _other_rate(
    claim: str, said: str, clauses: Sequence[tuple[tuple[int, int], Sequence[_Token]]]
) -> _Swap | None:
    """The figure that gives way in a claim of which a clause says a run of words again, all of them
    but for this figure. Nobody has two rates of the same, so that it needs no word of news."""
    old = _tokens(claim)
    for clause, new in clauses:
        for start in range(len(old) - len(new) + 1):
            there = old[start : start + len(new)]
            other = [at for at, (a, b) in enumerate(zip(there, new, strict=True)) if a[0] != b[0]]
            if len(other) == 1:
                was, now = there[other[0]], new[other[0]]
                if was.stem[:1].isdigit() and now.stem[:1].isdigit():
                    return _Swap(was.start, was.end, said[now.start : now.end], clause)
    return None


def _tokens(text: str, start: int = 0, end: int | None = None) -> list[_Token]:
    """The words of a text that tell something."""
    end = len(text) if end is None else end
    low = text.lower().replace("’", "'")
    for later in _LATER.finditer(low, start, end):
        low = low[: later.start()] + " " * (later.end() - later.start()) + low[later.end() :]
    return [
        _Token(stem(each[0]), each.start(), each.end())
        for each in _WORD.finditer(low, start, end)
        if each[0] not in _SKIPPED
    ]


def _swapped(
    old: Sequence[_Token], new: Sequence[_Token], claim: str, said: str
) -> tuple[tuple[int, int], str] | None:
    """Where in a claim the words stand that give way, and those that take their place; None where
    a clause does not say the same but for these."""
    if len(old) < 2 or len(new) < 2:
        return None
    was, now = ([each.stem for each in some] for some in (old, new))
    match = SequenceMatcher(None, was, now, autojunk=False)
    changes = [each for each in match.get_opcodes() if each[0] != "equal"]
    if len(changes) != 1:
        return None
    [(kind, i, j, k, m)] = changes
    if kind != "replace" or i == 0 or j - i > _MOST_OLD or m - k > _MOST_NEW:
        return None
    if {each.stem for each in old[i:j]} & _LINKS and j < len(old):
        return None
    same = [each.stem for each in (*old[:i], *old[j:])]
    telling = [each for each in same if each not in _WEAK and not each.isdigit()]
    begin, stop = old[i].start, old[j - 1].end
    if not {each.stem for each in old[i:j]} & _LINKS:  # "6", of "year 6 at Oakfield"
        m = next((at for at in range(k + 1, m) if new[at].stem in _LINKS - {"of"}), m)
    words = said[new[k].start : new[m - 1].end]
    one, other = _kinds(claim[begin:stop]), _kinds(words)
    if one != other and one ^ other != {"often"}:
        return None
    gone, come = ({each.stem for each in some} for some in (old[i:j], new[k:m]))
    if gone & _LINKS and not (come & _LINKS or other):
        return None  # "the group has moved", which meets in the canteen
    linked = old[i - 1].stem in _LINKS - {"with"}
    if not telling or not (len(telling) > 1 or linked or one):
        return None
    if words.lower().startswith(("for ", "since ", "ever ")):
        return None  # how long it has been so
    if not _HAPPENS.isdisjoint(words.lower().split()):
        return None  # "has changed to mondays"
    return (begin, stop), words


def _kinds(text: str) -> set[str]:
    return {each.kind for each in new_figures.figures(text)}
