"""What calls somebody by what they are to the user, once they are so no more: "my boss Rob likes
short emails" is over when there is a new boss. Pure but for what a draft looks up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from beliefledger.gate.belief import Held
from beliefledger.gate.keys import canonical
from beliefledger.gate.meant_memories import LASTING, Standing, ends_by_entity, in_place
from beliefledger.gate.persons import Known, Person, known, memories_of, titled
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules.people import HOW, KIN
from beliefledger.ledger.candidate import SELF, Candidate, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_SAID_SO = frozenset({SpeechAct.STATEMENT, SpeechAct.CHANGE, SpeechAct.REMOVAL})
_ENDED = {
    "relation.partner*": "partner", "relation.spouse*": "spouse",
    "relation.reports-to": "boss", "relation.flatmate*": "flatmate",
    "relation.roommate*": "roommate", "relation.housemate*": "housemate",
}  # fmt: skip
_ONE_AT_A_TIME = {
    "relation.partner.name": "partner", "relation.spouse.name": "spouse",
    "relation.reports-to": "boss",
}  # fmt: skip
"""Of whom there is one at a time: another one takes their place."""


def with_what_calls(standing: Standing, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, and before each after which somebody is a partner or boss no more, the ends
    of what calls them so."""
    found: list[Candidate] = []
    for said in candidates:
        candidate = _without_the_boss(standing, said)
        if _may_part(candidate):
            people = known(standing)
            held = {
                each.memory_id: each
                for who in _no_more(candidate, people)
                for each in calling(standing, who, people)
            }
            if any(each.attribute.startswith("relation.fianc") for each in candidate.ends):
                held |= {each.memory_id: each for each in _of_the_engaged(standing)}
            held |= {each.memory_id: each for each in _once_called(standing, candidate)}
            # Before it, since "boss" is another one's name afterwards.
            found += ending(standing, candidate, list(held.values()))
            if _is_wed(candidate):
                found += _called_anew(standing, candidate)
        found.append(candidate)
    return found


def _without_the_boss(standing: Standing, candidate: Candidate) -> Candidate:
    """A candidate that ends no boss where it is another place that was left: "I left Berlin"."""
    left = [each.value.lower() for each in candidate.ends if each.attribute == "work.employer"]
    if not left or not all(left):
        return candidate
    employers = " ".join(
        held.written.memory.value.lower()
        for held in standing.of_user()
        if held.written.memory.attribute == "work.employer"
    )
    if not employers or any(each in employers for each in left):
        return candidate
    ends = tuple(each for each in candidate.ends if each.attribute != "relation.reports-to")
    return candidate.model_copy(update={"ends": ends})


def _may_part(candidate: Candidate) -> bool:
    if candidate.negated or candidate.context is not None or candidate.act not in _SAID_SO:
        return False
    return candidate.entity == SELF and bool(candidate.ends or candidate.type == "relation")


def _no_more(candidate: Candidate, people: Known) -> Iterator[Person]:
    """Who is no more what they were to the user."""
    for ends in candidate.ends:
        title = _ENDED.get(ends.attribute) or _ONE_AT_A_TIME.get(
            canonical(ends.attribute, "relation")
        )
        if title is None or ends.denials or ends.never:
            continue
        name = ends.value.split()[0].lower() if ends.value else None
        if name is None or name in people.names.get(title, ()):
            yield Person(title, name)
    title = _ONE_AT_A_TIME.get(canonical(candidate.attribute, candidate.type))
    if candidate.type != "relation" or title is None or candidate.retracts:
        return
    new = candidate.value.split()[0].lower()
    names = people.names.get(title, frozenset())
    if not names and _NEW.search(candidate.spans[0].quote) is not None:
        yield Person(title, None)
    for name in names:
        if not (new.startswith(name) or name.startswith(new)):  # "Rob" is Robert
            yield Person(title, name)


_NEW = compile_later(
    r"\bnew (?:\w+ )?(?:boss|manager|supervisor|partner|girlfriend|boyfriend)\b", re.I
)


def calling(standing: Standing, who: Person, people: Known) -> Iterator[Held]:
    """What calls somebody by what they are to the user."""
    for held, told in memories_of(standing, who, people):
        if told.who.title is not None and held.type in LASTING and held.type != "relation":
            yield held
    names = people.names.get(who.title or "", frozenset())
    for held in standing.of_user():
        memory = held.written.memory
        if held.type == NOTE:
            text, so = memory.value, _SO_CALLED
        elif memory.attribute.startswith(_DONE_TOGETHER):
            text, so = memory.claim, _WITH_THEM
        else:
            continue
        if any(
            titled(each["kin"].lower()) == who.title
            and (len(names) < 2 or (each["name"] or "").lower() == who.name)
            for each in so.finditer(text)
        ):
            yield held


_DONE_TOGETHER = ("habit.", "plays.", "does.", "trains-for.")
_WITH_THEM = compile_later(
    rf"\bwith (?:my|our|their|User['’]s) (?:(?:{HOW}) ){{0,2}}(?P<kin>{KIN})(?![\w-])"
    r"(?: (?P<name>[A-Z][\w-]{1,30}))?",
    re.I,
)


_SO_CALLED = compile_later(
    rf"\b(?:my|our) (?:(?:{HOW}) ){{0,2}}(?P<kin>{KIN})(?![\w-])(?: (?P<name>[A-Z][\w-]{{1,30}}))?",
    re.I,
)


def _of_the_engaged(standing: Standing) -> Iterator[Held]:
    """What calls somebody the fiancé or fiancée of the user."""
    for held in standing.of([f"user's {each}" for each in _FIANCES] + _FIANCES):
        memory = held.written.memory
        text = memory.value if held.type == NOTE else memory.claim
        if held.type in LASTING and held.type != "relation" and _FIANCE.match(text) is not None:
            yield held


_FIANCES = ["fiance", "fiancé", "fiancee", "fiancée", "partner"]
_FIANCE = compile_later(
    r"\W*+(?:(?:so|and|but|also|oh|nah|yeah)\W++)?(?:my|User['’]s) fianc[eé]", re.I
)


def _once_called(standing: Standing, candidate: Candidate) -> Iterator[Held]:
    """What calls the same person by what they were before: a girlfriend who is a fiancée now."""
    now = _closeness(candidate.claim) if candidate.type == "relation" else 0
    if now < _ENGAGED or candidate.retracts:
        return
    for held in standing.of_user():
        same = held.type == "relation" and held.written.memory.value == candidate.value
        if same and 0 < _closeness(held.written.memory.claim) < now:
            yield held


def _is_wed(candidate: Candidate) -> bool:
    """Whether somebody who was a partner is the spouse now."""
    key = canonical(candidate.attribute, candidate.type)
    return key == "relation.spouse.name" and candidate.type == "relation" and not candidate.retracts


def _called_anew(standing: Standing, candidate: Candidate) -> Iterator[Candidate]:
    """What calls the spouse a girlfriend or fiancé still, said of the spouse: she likes tea yet."""
    name = candidate.value.split()[0].lower()
    people = known(standing)
    if name not in people.names.get("partner", ()):
        return
    for held, _told in memories_of(standing, Person("partner", name), people):
        memory = held.written.memory
        label = _LABEL.match(memory.claim)
        if label is None or held.type not in _KEPT or memory.entity == SELF:
            continue
        spouse = _SPOUSES.get(label["label"].lower(), "spouse")
        claim = memory.claim[: label.start("label")] + spouse + memory.claim[label.end("label") :]
        anew = in_place(candidate, held, claim, memory.value, ())
        yield anew.model_copy(
            update={"entity": spouse, "replaces": None, "negated": memory.negated}
        )


_KEPT = frozenset({"fact", "preference"})
_LABEL = compile_later(
    r"User['’]s (?:new |dear |lovely )?(?P<label>girlfriend|boyfriend|gf|bf|partner|fianc[eé]e?)"
    r"(?![\w-])",
    re.I,
)
_SPOUSES = {
    each: spouse
    for spouse, labels in (
        ("wife", ("girlfriend", "gf", "fiancee", "fiancée")),
        ("husband", ("boyfriend", "bf", "fiance", "fiancé")),
    )
    for each in labels
}


def _closeness(claim: str) -> int:
    """How far a couple has come: 1 together, 2 engaged, 3 married, 4 parted; 0 of others."""
    found = _COUPLE.search(claim)
    return 0 if found is None else found.lastindex or 0


_ENGAGED = 2
_COUPLE = compile_later(
    r"User['’]s (?:new |dear |lovely )?(?:(girlfriend|boyfriend|gf|bf|partner)|(fianc[eé]e?)|"
    r"(wife|husband|hubby|spouse)|(ex(?:[ -](?:wife|husband|girlfriend|boyfriend|"
    r"partner))?))(?![\w-])",
    re.I,
)


def ending(standing: Standing, candidate: Candidate, some: Sequence[Held]) -> Iterator[Candidate]:
    """Candidates that end these memories and say nothing else, one for each of whom they are."""
    quote = candidate.spans[0].quote
    for entity, ends in ends_by_entity(standing, some):
        yield candidate.model_copy(
            update={
                "entity": entity, "claim": quote, "value": quote, "type": "event",
                "attribute": "event.change", "act": SpeechAct.CHANGE, "replaces": None,
                "participants": (), "retracts": True, "ends": ends,
            }
        )  # fmt: skip
