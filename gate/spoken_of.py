"""Whether a sentence speaks of a memory, as far as its subject tells. Pure."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from beliefledger.gate.belief import Held
from beliefledger.gate.keys import KEYS, canonical
from beliefledger.gate.meant_memories import TO_COME, WORD, Standing, stems
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules import farewells, new_figures
from beliefledger.gate.rules.lexicon import GIVEN
from beliefledger.gate.rules.renewals import NOUNS, OTHERS, Sentence, named
from beliefledger.gate.rules.subjects import Subject, doer, left_out, left_out_across, subject_of
from beliefledger.gate.sentences import around
from beliefledger.ledger.candidate import SELF, Span
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

NOUNS_OF = {
    key.name: [named(each.rpartition(".")[2].replace("-", " ")) for each in (*key.nouns, *more)]
    for key in KEYS
    if (more := key.keys if key.relation else ()) or key.nouns
}
"""The nouns of each slot."""


def known_words(held: Held) -> set[str]:
    """What a memory may be called in a sentence: the words of its claim and of its slot."""
    memory = held.written.memory
    words = new_figures.words_of(f"{memory.claim} {memory.attribute.replace('.', ' ')}")
    nouns = NOUNS_OF.get(canonical(memory.attribute, held.type), ())
    slot = NOUNS.get(memory.attribute, ())
    names = {word for some in (*nouns, *slot) for word in some}
    if memory.attribute.startswith(TO_COME):
        names |= farewells.TRIPS
    return names | {each.lower().removesuffix("'s") for each in words}


def spoken_of(lead: str, said: str, there: list[Held], standing: Standing) -> list[Held]:
    """Those of the memories that words may speak of, by their subject, which may stand in what the
    sentence says before them."""
    doing: frozenset[str] = frozenset()
    if there and lead:
        doing = done_by(standing, Sentence(lead + said), len(lead))
    there = [each for each in there if not is_done_by_another(doing, each)]
    subject = subject_of(said)
    if subject is None:
        return there
    return [each for each in there if not is_of_another(subject, each)]


def done_by(standing: Standing, sentence: Sentence, at: int) -> frozenset[str]:
    """Who does what the clause at an offset of a sentence tells, where it leaves its subject out
    and that is not the speaker."""
    return standing.without_employer(left_out(sentence.clauses(at)))


def goes_on_of(text: str, span: Span) -> frozenset[str]:
    """Who else than the speaker does what the sentence of a span tells, which leaves its subject
    out: who was the subject of the sentence before."""
    return left_out_across(text, *around(text, span.start))


def is_done_by_another(doing: AbstractSet[str], held: Held) -> bool:
    """Whether what these people do is nothing of a memory of the user, which tells of none of
    them."""
    memory = held.written.memory
    if not doing or memory.entity != SELF:
        return False
    known = known_words(held).union(memory.claim.lower().split())
    return doing.isdisjoint(known) and not (doing <= _ANYBODY and OTHERS & known)


def are_of_two(text: str, at: int, held: Held) -> bool:
    """Whether the clause at an offset of a sentence tells of somebody of whom a memory does not
    tell: "my dad goes to the office every day", of a user or a sister who works from home. Who
    orders something does not do it."""
    begin = max((each.end() for each in _PAUSE.finditer(text, 0, at)), default=0)
    end = _PAUSE.search(text, at)
    clause = text[begin : len(text) if end is None else end.start()]
    who = frozenset() if _ORDERS.search(clause) else doer(clause)
    whose = told_of_whom(held)
    if not who or not whose:
        return who != whose
    return who.isdisjoint(whose) and not who <= _ANYBODY


def told_of_whom(held: Held) -> frozenset[str]:
    """Whom else than the user a memory tells of, in lower case."""
    memory = held.written.memory
    if memory.entity != SELF:
        return frozenset(memory.entity.lower().split())
    if memory.claim.startswith("User "):
        return frozenset()
    if memory.claim.startswith("User's "):
        return doer(memory.claim.replace("User's", "my", 1))
    return doer(memory.value if held.type == NOTE else memory.claim)


_PAUSE = compile_later(r"[,;:!?(–—]\s*|\.\s|\s(?:and|but|so|cos|because)\s", re.I)
_ORDERS = compile_later(
    r"\b(?:wants|want|expects?|says|insists?|needs?|requires?|makes?|made|ordered|decided|told|"
    r"asked|asks|calls?|called|forc\w+|everyone|everybody)\b",
    re.I,
)
_ANYBODY = frozenset({"he", "she", "they", "his", "her", "their"})


def is_of_another(subject: Subject, held: Held) -> bool:
    """Whether a sentence about this subject speaks of something else than a memory. Where somebody
    lives is told by who lives there, and of the home: "the gym moved to Kirkstall" is not."""
    known = known_words(held)
    memory = held.written.memory
    if memory.entity == SELF and memory.attribute.startswith(_HOME):
        return subject.is_none_of(known | _AT_HOME)
    return subject.is_apart(known)


def is_of_a_person(subject: Subject, held: Held) -> bool:
    """Whether a sentence speaks of somebody by name, and a memory of the user tells of nobody:
    "Ben got the new iPhone" is no news of the user's phone."""
    name = (*subject.before, subject.head)[0].removesuffix("'s")
    if subject.whose or name not in GIVEN or held.written.memory.entity != SELF:
        return False
    known = known_words(held) | set(held.written.memory.claim.lower().split())
    return name not in known and OTHERS.isdisjoint(known - {"team"})


_HOME = ("home.location", "home.near", "identity.name")
_AT_HOME = frozenset(
    "family household home kids place flat house apartment digs pad studio condo cottage bungalow "
    "town city neighbourhood neighborhood address life base commute lease tenancy name".split()
)
"""Who moves with somebody, and what the home is called."""


def did_for_user(claim: str, words: str) -> bool:
    """Whether a claim tells what the one whom these words name did for the user: "Dr Rees has put
    me on a tablet". That stays when they are gone."""
    named = {word.lower() for word in words.split()}
    return any(
        not named.isdisjoint(WORD.findall(found["who"].lower()))
        for found in _DID_FOR.finditer(claim)
    )


def outlasts(held: Held, text: str) -> bool:
    """Whether a memory tells what somebody did for the user, and a sentence names nothing else of
    it than them."""
    claim = held.written.memory.claim
    said = {stem(word) for word in WORD.findall(text.lower())}
    return any(
        not said.isdisjoint(map(stem, WORD.findall(found["who"].lower())))
        and said.isdisjoint(stems(claim[found.end() :]))
        for found in _DID_FOR.finditer(claim)
    )


_DID_FOR = compile_later(
    r"(?P<who>[\w’'-]{2,24}) (?:(?:has|have|had|also|just|first|once) ){0,2}(?:put|gave|given|"
    r"taught|prescribed|recommended|advised|showed|shown|introduced|referred|helped|lent|bought|made|"
    r"got|sent|started) (?:me|us|them|User)\b",
    re.I,
)
