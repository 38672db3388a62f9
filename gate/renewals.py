"""Which memory a sentence gives a new value of, though it names no slot: "first day at Initech went
well". Asked from the side of what is believed: words that meet nothing leave no trace. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beliefledger.gate.belief import Held
from beliefledger.gate.calendar_names import NAMES
from beliefledger.gate.dependents import SAID_SO, homes_elsewhere
from beliefledger.gate.keys import canonical
from beliefledger.gate.meant_memories import (
    LASTING,
    PLANNED,
    TO_COME,
    Standing,
    in_place,
    says_one_of,
    stems,
)
from beliefledger.gate.medicines import medicines_before
from beliefledger.gate.registry import NOTE
from beliefledger.gate.remainders import in_part, with_what_it_has
from beliefledger.gate.rules import distinctions, new_figures
from beliefledger.gate.rules.renewals import NOUNS, TOLD, Kind, New, Sentence, named, spelt_out
from beliefledger.gate.rules.subjects import subject_of
from beliefledger.gate.spoken_of import (
    NOUNS_OF,
    done_by,
    is_done_by_another,
    is_of_a_person,
    is_of_another,
)
from beliefledger.gate.told_words import lived_in
from beliefledger.ledger.candidate import SELF, Candidate, When
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

_STAYING = ("identity.birth", "record.", "language.native", "language.speaks")
_USED = tuple(
    "tool. uses. device. vehicle. drives. habit. diet. day. schedule. work. plays. eats. drink. "
    "thing. commute. travel. has. does. likes. fitness. prefers. wears. is. commitment. "
    "relation.uses.".split()
)
"""Attributes that may have a value of any kind."""


class Renewal(NamedTuple):
    """A memory that a sentence gives a new value of; the value is None where only the whole
    sentence says it."""

    held: Held
    new: New | None


def renewals(standing: Standing, candidate: Candidate) -> list[Renewal]:
    """The memories of which a sentence gives a new value; none where it may be several."""
    sentence = Sentence(candidate.spans[0].quote, standing.said)
    if not sentence.may_renew():
        return []
    words = [ends.value for ends in candidate.ends if ends.among]
    there = [
        held
        for held in standing.of(words)
        if held.type in PLANNED
        and not held.written.memory.attribute.startswith(_STAYING)
        and not _is_past(held)
    ]
    lasting = [
        held for held in there if held.type in LASTING and held.written.memory.context is None
    ]
    denied = standing.denied() if sentence.likes else []
    subject = subject_of(sentence.text)
    for ask in (_framed, _of_a_kind, _by_noun, _by_head, _by_taste):
        found = [
            each
            for each in ask(sentence, there if ask is _of_a_kind else [*lasting, *denied])
            if _is_of_subject(sentence, each, standing)
            and not (
                subject is not None
                and not (each.new and each.new.leads)
                and (is_of_another(subject, each.held) or is_of_a_person(subject, each.held))
            )
        ]
        if found:
            return _with_same_claim(found, lasting, sentence.text)
    return []


def _with_same_claim(found: list[Renewal], there: Sequence[Held], said: str) -> list[Renewal]:
    """These and what was told in the same words: "a barista at Costa" is in two slots. A nurse who
    is promoted to senior nurse is where she was."""
    claims = {
        each.held.written.memory.claim for each in found if not _is_raised_to(each, said.lower())
    }
    ids = {each.held.memory_id for each in found}
    return found + [
        Renewal(held, None)
        for held in there
        if held.memory_id not in ids and says_one_of(held, claims)
    ]


def _is_raised_to(renewal: Renewal, said: str) -> bool:
    """Whether a new role is the old one, higher up."""
    old, new = renewal.held.written.memory, renewal.new
    if new is None or old.attribute != "work.role":
        return False
    role = said[new.start : new.end].split()
    return len(role) > 1 and set(old.value.lower().split()) <= set(role)


def older_of_slot(standing: Standing, candidate: Candidate) -> list[Held]:
    """What tells an older value of a candidate's slot without being in it: notes ("my manager is
    Dana", where the user reports to Olek), who was a partner before, the flat in another town, the
    medicine that another one takes the place of."""
    return (
        _notes_of_slot(standing, candidate)
        or _partners_before(standing, candidate)
        or homes_elsewhere(standing, candidate)
        or medicines_before(standing, candidate)
    )


def _notes_of_slot(standing: Standing, candidate: Candidate) -> list[Held]:
    """The notes that tell another value of a candidate's slot by its noun."""
    attribute = canonical(candidate.attribute, candidate.type)
    nouns = NOUNS_OF.get(attribute)
    if (
        not nouns
        or candidate.entity != SELF
        or candidate.negated
        or candidate.context is not None
        or candidate.act not in SAID_SO
    ):
        return []
    said = candidate.value.lower()
    found = []
    for held in standing.of_user():
        if held.type == NOTE and said not in held.written.memory.value.lower():
            noun, _value = _noun_of(held)
            if any(one == other for one in noun for other in nouns):
                found.append(held)
    return found


def _partners_before(standing: Standing, candidate: Candidate) -> list[Held]:
    """Who was a partner or spouse until a candidate names another: mostly one has one at a time."""
    key = canonical(candidate.attribute, candidate.type)
    if key not in _ONE_AT_A_TIME or candidate.entity != SELF or candidate.negated:
        return []
    if candidate.type != "relation" or candidate.act not in SAID_SO or candidate.retracts:
        return []
    named = set(candidate.value.lower().split())
    return [
        held
        for held in standing.of_user()
        if held.type == "relation"
        and canonical(held.written.memory.attribute, held.type) == key
        and named.isdisjoint(held.written.memory.value.lower().split())
    ]


_ONE_AT_A_TIME = frozenset({"relation.partner.name", "relation.spouse.name"})


def _is_past(held: Held) -> bool:
    """Whether a memory tells of what has happened already."""
    memory = held.written.memory
    return held.type == "event" and not memory.attribute.startswith(TO_COME)


def _framed(sentence: Sentence, there: Sequence[Held]) -> Iterator[Renewal]:
    """Of slots whose frame the sentence has."""
    for held in there:
        for slot in _slots(held):
            new = sentence.framed(slot)
            if new is not None and _is_other(sentence, new, held):
                yield Renewal(held, new)
                break


def _slots(held: Held) -> Iterator[str]:
    """The slots that a memory tells a value of: a note has none of its own."""
    memory = held.written.memory
    if held.type != NOTE:
        yield memory.attribute
        return
    yield from (slot for slot, say in TOLD.items() if say.search(memory.value))
    found = _IS.match(memory.value)
    noun = named(found["noun"]) if found else None
    yield from (slot for slot, nouns in NOUNS_OF.items() if noun in nouns)


def _is_other(sentence: Sentence, new: New, held: Held) -> bool:
    said = sentence.text[new.start : new.end].lower()
    return said not in held.written.memory.value.lower() and not sentence.doubted(new.begin)


def _is_of_subject(sentence: Sentence, renewal: Renewal, standing: Standing) -> bool:
    """Whether the sentence speaks of whom and what the memory is about."""
    memory = renewal.held.written.memory
    if distinctions.apart(sentence.text, memory.claim, memory.attribute):
        return False
    new = renewal.new
    said = "" if new is None else sentence.text[new.start : new.end]
    if said and _SEVERAL.search(memory.value) and not _SEVERAL.search(said):
        return False  # one of two housemates moved out, and somebody took that room
    begin = 0 if new is None else new.begin
    told = memory.claim.replace(memory.value, " ")
    if distinctions.owned_by_another(sentence.text[:begin], told):
        return False
    if distinctions.name_others(sentence.text[: _start(renewal)], told):
        return False  # "my brother Max", and it is Sam that one knows of
    others = sentence.others(0 if renewal.new is None else renewal.new.begin)
    if memory.entity != SELF or memory.attribute.startswith(_OF_ANOTHER):
        leads = new is not None and new.leads
        before = stems(spelt_out(sentence.text[: None if leads else _start(renewal)]))
        who = {stem(word) for word in memory.entity.lower().split()} - {SELF.lower()}
        who |= {stem(word.lower()) for word in _PROPER.findall(memory.claim)}
        who |= {stem(word) for word in others} & stems(memory.claim)
        return not who.isdisjoint(before)
    doing = done_by(standing, sentence, begin)
    if is_done_by_another(doing, renewal.held):
        return False
    if others == {"they"} and _OF_US.search(sentence.lead(_start(renewal))):
        return True  # "they put me on days"
    about = stems(memory.claim)
    return all(stem(each) in about for each in others)


_SEVERAL = compile_later(r"\A[A-ZÀ-Þ]\w+(?:, [A-ZÀ-Þ]\w+)*,? (?:and|&) [A-ZÀ-Þ]\w+\Z")
"""Names, one after the other: "Callum and Sam"."""


_OF_ANOTHER = tuple(
    f"{kind}.{each}"
    for kind in ("relation", "thing")
    for each in ("daughter", "son", "child", "kid")
)
_PROPER = compile_later(r"\b(?!User\b)[A-ZÀ-Þ][\w-]{1,30}")
_OF_US = compile_later(r"\b(?:me|us)\b", re.I)


def _start(renewal: Renewal) -> int:
    return 0 if renewal.new is None else renewal.new.start


def _of_a_kind(sentence: Sentence, there: Sequence[Held]) -> list[Renewal]:
    """Of values of a kind: of the only one, or of that which is told in the same words."""
    for kind in sentence.kinds:
        names = sentence.of_kind(kind)
        if not names:
            continue
        scored: list[tuple[int, Renewal]] = []
        for held in there:
            if held.type not in LASTING and not kind.planned:
                continue
            if held.written.memory.context is not None and not kind.alone:
                continue
            fit = _kind_fits(sentence, kind, names, held)
            if fit is not None:
                scored.append(fit)
        if not scored:
            continue
        best = max(score for score, _ in scored)
        found = [each for score, each in scored if score == best]
        typed = [each for each in found if each.held.type != NOTE] or found
        if len({each.held.written.memory.claim for each in typed}) == 1:
            return found
    return []


def _kind_fits(
    sentence: Sentence, kind: Kind, names: dict[str, New], held: Held
) -> tuple[int, Renewal] | None:
    memory = held.written.memory
    of = kind.of is not None and kind.of.match(memory.attribute) is not None
    if (
        held.type != NOTE
        and not of
        and (kind.only or not memory.attribute.startswith((*_USED, *TO_COME)))
    ):
        return None
    if not of and not kind.only and memory.attribute.startswith(_PLACES):
        return None  # who works at Spotify may listen to Tidal
    if held.type == NOTE and memory.value.count(" ") >= _SHORT:
        return None  # what else it tells may stand
    old = {memory.claim[each.start : each.end].lower() for each in kind.found(memory.claim)}
    if not old and (kind.only or not of):
        return None
    if memory.attribute == "work.role" and memory.value.lower() not in old:
        return None  # a night shift nurse who does days is a nurse
    if held.type != NOTE and not of and not any(each in memory.value.lower() for each in old):
        return None  # "User's car is a Corsa": a car is how somebody travels, a Corsa is not
    new = [each for name, each in names.items() if name not in old]
    if len(new) != 1 or (not old.isdisjoint(names) and not sentence.is_moving):
        return None
    if not _is_other(sentence, new[0], held):
        return None
    apart = {stem(word) for name in {*old, *names} for word in name.split()}
    shared = (_told(memory.claim) & _told(sentence.text)) - apart
    both = sentence.is_moving and any(name in sentence.low for name in old)
    both = both or sentence.goes_to(new[0])
    if not (shared or both or kind.planned or (kind.alone and (of or held.type != NOTE))):
        return None
    return len(shared), Renewal(held, _whole(sentence, new[0]))


_SHORT = 12
_PLACES = ("work.employer", "work.role", "work.location", "work.project")


def _told(text: str) -> set[str]:
    """What a text is about, as far as its words tell."""
    return {stem(word) for word in new_figures.words_of(text)}


_MORE = compile_later(r"(?: (?:\d[\w.]{0,5}|pro|max|plus|mini|ultra|se|[A-Z][\w-]{1,20}))+")


def _whole(sentence: Sentence, new: New) -> New:
    """A name with what belongs to it: "iPhone 16 Pro"."""
    more = _MORE.match(sentence.text, new.end)
    return new if more is None else New(new.start, more.end(), new.begin)


def _by_noun(sentence: Sentence, there: Sequence[Held]) -> Iterator[Renewal]:
    """Of what the sentence calls new, or says is otherwise now, by its noun."""
    for nouns, new, changed in sentence.nouns:
        for held in there:
            noun, value = _noun_of(held)
            if not any(_alike(nouns, each) for each in noun):
                continue
            favorite = held.written.memory.attribute.startswith("favorite.")
            if not favorite and sentence.is_favorite:
                continue  # "my favourite city is Rome" is not where one lives
            if new is None:
                if changed and favorite:
                    yield Renewal(held, None)
                continue
            if not _is_other(sentence, new, held):
                continue
            said = sentence.text[new.start : new.end]
            if not distinctions.fits_kind(value, said, sentence.text):
                continue  # "my manager is based in Berlin now"
            old, shape = _shape(value), _shape(said)
            restated = old == shape and (held.type == NOTE or sentence.is_changed)
            if restated or (changed and old & _TIMES <= _shape(sentence.text)):
                yield Renewal(held, new)


_TIMES = frozenset({"date", "clock", "weekday"})


def _by_head(sentence: Sentence, there: Sequence[Held]) -> Iterator[Renewal]:
    """Of the same noun in another manner: "the ads team", who was on the search team."""
    if not sentence.is_moving and not sentence.is_raised:
        return
    for held in there:
        memory = held.written.memory
        value = _HEADED.search(memory.value if held.type != NOTE else memory.claim)
        if value is None:
            continue
        manner, head = value["manner"].lower(), value["head"].lower()
        for new in sentence.headed(head):
            said = sentence.text[new.start : new.end]
            if said.split()[0].lower() != manner and _is_other(sentence, new, held):
                yield Renewal(held, new)
                break


_HEADED = compile_later(
    r"\b(?P<manner>(?!the\b|an?\b|my\b|our\b|is\b|on\b|in\b)[^\W\d_][\w-]{1,24}) "
    r"(?P<head>team|squad|department|dept|plan|tier|shift|shifts|league|division|branch|accountant|"
    r"manager|engineer|developer|designer|nurse|teacher)\b",
    re.I,
)


def _by_taste(sentence: Sentence, there: Sequence[Held]) -> Iterator[Renewal]:
    """Of likes and dislikes that have turned."""
    likes, dislikes = sentence.likes, sentence.dislikes
    if likes == dislikes:
        return
    said = _told(sentence.text)
    for held in there:
        memory = held.written.memory
        if held.type != "preference":
            continue
        disliked = memory.negated or _DISLIKES.search(memory.claim) is not None
        if disliked == likes and (what := _told(memory.value)) and what <= said:
            yield Renewal(held, None)


_DISLIKES = compile_later(
    r"\b(?:dislikes|hates|detests|loathes|not|cannot|can['’]t|avoids)\b", re.I
)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    one, other = frozenset(map(stem, one)), frozenset(map(stem, other))
    return bool(one and other) and (one <= other or other <= one)


def _shape(text: str) -> frozenset[str]:
    """The kinds of figures that a text has."""
    return frozenset(each.kind for each in new_figures.figures(text))


_IS = compile_later(
    r"^\W*(?:(?:so|and|but|btw|also|oh)[,:]? ){0,2}(?:user['’]s |my |our |the )?(?:favou?rite )?"
    r"(?P<noun>[^\W\d_][\w'’-]{1,24}(?: [^\W\d_][\w'’-]{0,24}){0,3}?)(?:['’]s| is| are) "
    r"(?:always |called |usually |just )?(?P<value>.{1,80})",
    re.I,
)


def _noun_of(held: Held) -> tuple[list[frozenset[str]], str]:
    """The nouns under which a memory tells its value, and the value."""
    memory = held.written.memory
    found = _IS.match(memory.claim)
    nouns = list(NOUNS_OF.get(memory.attribute, ())) if memory.entity == SELF else []
    for begins, called in NOUNS.items():
        if memory.attribute.startswith(begins) and memory.entity == SELF:
            nouns += called
    if found is None:
        return nouns, memory.value
    return [*nouns, named(found["noun"])], found["value"]


_TITLE = compile_later(r"mrs?|ms|miss|dr|prof(?:essor)?|sister|father|rev", re.I)
_NAME = compile_later(r"\.? [\w'’-]{2,30}")


def renewed(candidate: Candidate, renewal: Renewal, standing: Standing) -> Candidate | None:
    """The memory with its new value; None where the new one does not fit its claim."""
    held, new = renewal
    memory = held.written.memory
    if new is None or held.type == NOTE:
        return None
    quote = candidate.spans[0].quote
    said = quote[new.start : new.end]
    if _TITLE.fullmatch(said) and (name := _NAME.match(quote, new.end)):
        said += name[0]
    at = memory.claim.lower().find(memory.value.lower())
    several = sum(each.written.memory.claim == memory.claim for each in standing.of_user()) > 1
    if several and not _OF_ONE_SLOT.fullmatch(memory.claim[: max(at, 0)]):
        return None  # "a barista at Costa": what is new of one slot is not of the other
    if at < 0 or len(memory.value.split()) > _LONGEST or memory.attribute.endswith(".name"):
        return None
    if memory.attribute == "work.employer" and not _EMPLOYED.fullmatch(memory.claim[:at]):
        return None  # "a part-time job at a bike shop": what else it says is of the old one
    said = in_part(memory.value, quote, said) or with_what_it_has(memory.value, said) or said
    before = _ARTICLE.sub(lambda found: _article(found[0], said), memory.claim[:at])
    claim = lived_in(memory.claim, memory.value, said)
    claim = claim or before + _article(memory.value, said) + said
    if held.type == "relation" and memory.attribute != "relation.reports-to":
        return None  # another slot: it does not end this one
    if memory.value.isdigit() and not said.isdigit():
        return None
    if _is_time(said) and not _is_time(memory.value):
        return None  # "we shall go in March instead" names no other place than Madeira
    made = in_place(candidate, held, claim, said, ())
    named_by = re.sub(r"\W+", "-", memory.value.lower()).strip("-")
    if named_by in memory.attribute:
        return None  # the slot is of the old value alone: `plays.guitar`
    return made.model_copy(update={"when": When()})


_LONGEST = 5
_EMPLOYED = compile_later(r"User:? (?:[a-z]+ ){1,3}(?:at|for|with|by) (?:an? |the )?")
_OF_ONE_SLOT = compile_later(r"User (?:works|worked) (?:at|for|with) |User (?:lives|lived) in ")
"""What a claim says of its slot before the value, and of no other: "User works at Costa as …"."""


_ARTICLE = compile_later(r"\ban? $", re.I)
_TIMES = NAMES | frozenset(
    "spring summer autumn fall winter next this last the of week weekend month year tomorrow today"
    " jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat"
    " sun early late mid end".split()
)


def _is_time(words: str) -> bool:
    """Whether words name a day, a month or another time, and nothing else."""
    said = words.lower().split()
    return bool(said) and all(each.strip(".,") in _TIMES or each[0].isdigit() for each in said)


def _article(old: str, new: str) -> str:
    first = old.split(maxsplit=1)[0].lower()
    if first not in ("a", "an") or new[:1].isdigit():
        return ""
    return "an " if new[:1].lower() in "aeiou" else "a "
