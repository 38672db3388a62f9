"""The rule extractor: statements of the user about themselves, noticed by patterns kept as data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from beliefledger.gate import deadline
from beliefledger.gate.asking_tails import told_until
from beliefledger.gate.pasted_text import pasted
from beliefledger.gate.rules import (
    NAME,
    ages,
    aliases,
    bare_denials,
    bare_nouns,
    birthdays,
    denials,
    doubts,
    drafts,
    farewells,
    greetings,
    idioms,
    in_passing,
    inline_repairs,
    introductions,
    languages,
    lapses,
    life_news,
    listed_people,
    named_roles,
    new_figures,
    other_statements,
    others_health,
    passing_states,
    plain_changes,
    possessives,
    pronouns,
    rates,
    relative_clauses,
    renewals,
    repairs,
    replies,
    retorts,
    rewordings,
    self_descriptions,
    shorthand,
    subjects,
    successions,
    their_names,
    third_parties,
    whole_sentences,
    yes_no,
)
from beliefledger.gate.rules.changes import changes, may_change
from beliefledger.gate.rules.clauses import Clause, clauses
from beliefledger.gate.rules.findings import Reading, RuleFinding, to_candidate
from beliefledger.gate.rules.normalised import SUBJECTLESS, words_of
from beliefledger.gate.rules.possessives import TALK
from beliefledger.gate.rules.statements import from_clause
from beliefledger.gate.rules.words import Token
from beliefledger.gate.said_once import in_one_slot
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import Candidate, Source, Span, Speech, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

if TYPE_CHECKING:
    from beliefledger.gate.custom_types import Noticing

_PERSONAL = compile_later(
    r"\b(?:i|i['’]?m|i['’]?ve|my|our|me|we|weve)\b|\bnot\b|\bhome is\b|"
    r"(?:[,;–-]|\band|\bso) ?new \w+ (?:is|called|named)\b",
    re.I,
)
_NAMING = compile_later(r"\b(?:called|named|(?:his|her|its) name|name is|name['’]?s)\b", re.I)
_YES = compile_later(
    r"^\W*(?:yes|yeah|yep|yup|right|exactly|correct|indeed|"
    r"that(?:'s|’s| is) (?:right|correct|true))\b",
    re.I,
)
EARLIER = 6
"""How many earlier turns a correction may look back to."""
SHORT = 240
"""The longest turn that may correct an earlier one without speaking of the user."""
LONGEST = 1_200
"""The longest sentence that is read, in characters."""


class RuleExtractor:
    """Notices first-person statements of the user, offline and deterministically.

    Assistant turns are never evidence by themselves; the last one counts when the user's turn
    begins by confirming it.
    """

    name = NAME

    def __init__(self, own: Noticing | None = None) -> None:
        self._own = own
        """Finds statements of user-defined types."""

    def extract(self, turn: Speech, earlier: Sequence[Speech] = ()) -> list[Candidate]:
        """The candidates of a turn, in the order of their first span."""
        if turn.role != "user":
            return []
        text = turn.content
        found: dict[tuple[str, str, str, bool], Candidate] = {}
        answered = list(yes_no.findings(turn, earlier, findings))
        for candidate in answered or self._confirmed(turn, earlier):
            found.setdefault(_key(candidate), candidate)
        personal = _PERSONAL.search(text) is not None and not answered
        if personal or (
            len(text) <= TALK
            and not answered
            and (
                _told_of_others(text)
                or _HERE.match(text)
                or may_change(text, 0, len(text))
                or shorthand.may_be_in(text)
                or rates.may_be(text, 0, len(text))
                or _may_introduce(text)
                or others_health.may_be_in(text)
                or life_news.may_be_in(text)
                or passing_states.may_be_in(text)
                or bare_denials.may_be_in(text)
            )
        ):
            for finding in findings(text, turn.said_at):
                deadline.check()
                candidate = to_candidate(finding, turn.said_at)
                found.setdefault(_key(candidate), candidate)
        if not answered and len(text) <= TALK:
            for candidate in pronouns.told_of(turn, earlier, findings):
                found.setdefault(_key(candidate), candidate)
        if personal or len(text) <= SHORT:
            for candidate in self._corrected(turn, earlier):
                told = found.setdefault(_key(candidate), candidate)
                if told is not candidate:  # "no, my dog is called Max" says all of it anew
                    puts_right = {each: getattr(candidate, each) for each in ("act", "replaces")}
                    ends = tuple(dict.fromkeys((*told.ends, *candidate.ends)))
                    found[_key(told)] = told.model_copy(update={**puts_right, "ends": ends})
        if not found:
            for candidate in replies.findings(turn, earlier):
                found.setdefault(_key(candidate), candidate)
        ordered = sorted(found.values(), key=lambda c: (c.spans[0].start, c.spans[0].end))
        ordered = list(doubts.weighed(in_one_slot(ordered), text, earlier))
        if self._own is not None:
            ordered = self._own.beside(ordered, text, turn.said_at)
            if self._own.keeps_notes():
                ordered = in_passing.with_notes(ordered, turn, earlier)
        ordered = list(drafts.quoted(idioms.without(ordered, text), text)) if ordered else ordered
        return [*denials.beside(ordered, turn, earlier), *retorts.findings(turn, earlier)]

    def unplaced(self, turn: Speech) -> list[Candidate]:
        """What a turn takes leave of or gives a new figure of, in whatever slot it is kept: see
        `beliefledger.gate.farewells`."""
        text = turn.content
        if turn.role != "user" or len(text) > TALK or drafts.begins(text) is not None:
            return []
        parting, figured = farewells.may_be_in(text), new_figures.may_be_in(text)
        renewing = renewals.may_be_in(text)
        found: list[RuleFinding] = []
        whole = [
            (start, _so_far(text, start, end))
            for start, end in sentences(text)
            if not bare_nouns.is_of_another(text, start, end)
        ]
        # "Sold the car, can I cancel the tax?" ends the car.
        told = [(start, told_until(text, start, end) or end) for start, end in whole]
        if parting or figured or renewing:
            before = 0
            for start, end in told:
                deadline.check()
                if parting:
                    found += farewells.findings(text, start, end, turn.said_at)
                if figured:
                    found += new_figures.findings(text, start, end, before)
                if renewing:
                    found += renewals.findings(text, start, end)
                before = start
        if plain_changes.may_be_in(text):
            for start, end in told:
                found += plain_changes.findings(text, start, end)
        if lapses.may_be_in(text):
            for start, end in told:
                found += lapses.findings(text, start, end)
        for start, end in told:  # as the scorer has learned it
            found += successions.findings(text, start, end)
        taken_back = denials.named(text, turn.said_at, _stated)
        return [*taken_back, *(to_candidate(each, turn.said_at) for each in found)]

    def not_read(self, turn: Speech) -> str | None:
        """`language` for a turn in another language than English; asked where nothing was found."""
        return "language" if languages.is_foreign(turn.content) else None

    def _confirmed(self, turn: Speech, earlier: Sequence[Speech]) -> Iterator[Candidate]:
        """Statements of the assistant about the user that the user confirms: "yes, that's
        right"."""
        yes = _YES.match(turn.content)  # first, since looking back costs more
        if yes is None or not earlier or earlier[-1].role != "assistant":
            return
        said = earlier[-1]
        begin = yes.end() - len(yes.group().lstrip())
        while begin < yes.end() and not turn.content[begin].isalnum():
            begin += 1
        answer = Span(start=begin, end=yes.end(), quote=turn.content[begin : yes.end()])
        for start, end in sentences(said.content)[-2:]:
            if end - start > LONGEST:
                continue
            deadline.check()
            for finding in _sentence_findings(
                said.content, words_of(said.content, start, end), said.said_at, "second"
            ):
                candidate = to_candidate(finding, turn.said_at)
                there = candidate.spans[0].model_copy(update={"turn": said.turn_id})
                yield candidate.model_copy(
                    update={
                        "spans": (answer, there),
                        "source": Source.CONFIRMED,
                        "act": finding.act_of_confirmed(),
                    }
                )

    def _corrected(self, turn: Speech, earlier: Sequence[Speech]) -> Iterator[Candidate]:
        """ "Actually it's Lisbon, not Porto": the slot is the one in which Porto was said."""
        repair = other_statements.repair(turn.content)
        if repair is not None:
            for said in reversed(earlier[-EARLIER:]):
                if said.role != "user":
                    continue
                for finding in findings(said.content, said.said_at):
                    old = to_candidate(finding, said.said_at)
                    if old.value.lower() == repair.wrong.lower():
                        yield other_statements.repaired(old, said.turn_id, turn.content, repair)
                        return
        yield from filter(_is_of_its_slot, repairs.mended(turn, earlier, findings, EARLIER))
        yield from self._set_right(turn, earlier)

    def _set_right(self, turn: Speech, earlier: Sequence[Speech]) -> Iterator[Candidate]:
        """What the user says instead of a guess of the assistant: "no, Aalborg"."""
        begin = inline_repairs.denied(turn.content) if earlier else None
        if begin is None or earlier[-1].role != "assistant" or len(turn.content) > SHORT:
            return
        said = earlier[-1]
        for start, end in sentences(said.content)[-2:]:
            if end - start <= LONGEST:
                words = words_of(said.content, start, end)
                guessed = _sentence_findings(said.content, words, said.said_at, "second")
                old = [to_candidate(each, said.said_at) for each in guessed]
                yield from repairs.set_right(turn, begin, said.turn_id, old)


_MADE_UP = compile_later(
    r"(?:^|[.!?,:\n] *|\b(?:please|you|to|and|me|help|let's)\s+)(?:write|tell me|generate|continue|"
    r"draft|compose|make up|invent|translate|rewrite|rephrase|paraphrase|proof-?read|correct|"
    r"summari[sz]e|imagine|pretend|suppose|role-?play)\b|"
    r"\b(?:the|my|our|this|a|short) (?:\w+ )?(?:story|tale|novel|fiction|plot|protagonist|scene|"
    r"screenplay|script|poem|campaign|riddle|puzzle|scenario|dialogue|essay|exercise)\b|"
    r"\bcharacters?\b",
    re.I,
)
"""Turns that ask for stories and the like: their people may be made up."""
_HERE = compile_later(r"\W{0,3}[\w+#'’-]{1,30}(?: [\w+#'’-]{1,30}){0,3} here\b", re.I)
""" "Freelance illustrator here"."""
_OPENING = compile_later(r"(?:^|[.!?\n])[^\S\n]*+([^\W\d_][\w'’-]*)")


_NAMERS = (
    whole_sentences.BEGINS.keys()
    | {"everyone", "everybody", "people", "they", "friends"}
    | SUBJECTLESS
)


_AGE = compile_later(
    r"\d|\b(?:t(?:en|welve|hir)|eleven|\w+teen|(?:twen|for|fif|six|seven|eigh|nine)ty)", re.I
)


_NO_VALUES = frozenset({"anymore", "any more", "any longer"})


_NOT_YET = compile_later(
    r"(?<=\w),? (?:(?:un)?till?|before|once) (?:i['’]?m|i am|we['’]?re|we are) ", re.I
)


def _so_far(text: str, start: int, end: int) -> int:
    """Where what a sentence tells ends, without what is not so yet: "no bowling til I'm back on
    days" ends no nights."""
    waited_for = _NOT_YET.search(text, start, end)
    return end if waited_for is None else waited_for.start()


def _is_of_its_slot(mended: Candidate) -> bool:
    """Whether a value that was put right may be one of its slot: an age is no trade, and "not vegan
    anymore" gives none."""
    if mended.value.lower() in _NO_VALUES:
        return False
    return mended.attribute != "identity.age" or _AGE.search(mended.value) is not None


_LED = compile_later(
    r"\s*(?:(?:so|and|but|oh|well|ok|okay|no|wait|sorry|actually|btw|update|correction|also|yeah|"
    r"anyway|news|mixed that up|i mixed that up|that['’]?s wrong|got (?:that|it) wrong|i mean)\b"
    r"[\s,.!:–-]+){1,4}",
    re.I,
)
"""What a sentence about somebody with a name may begin with."""


def _told_of_others(text: str) -> bool:
    """Whether a sentence without "I" may state something: it begins with a name, or as steps do."""
    led = _LED.match(text)
    if led is not None and text[led.end() : led.end() + 1].isupper():
        return True
    for found in _OPENING.finditer(text):
        low = found[1].lower()
        if low in _NAMERS or (found[1][0].isupper() and third_parties.may_be_name(low)):
            return True
    return False


def _may_introduce(text: str) -> bool:
    """Whether a turn may begin with who speaks, without "I'm"."""
    return self_descriptions.may_begin(text) or ages.may_begin(text) or greetings.may_begin(text)


def _subjectless(text: str, start: int, end: int) -> bool:
    """Whether a sentence may be one about the speaker that leaves "I" out."""
    first = _FIRST.match(text, start, end)
    if first is None:
        return text[start].isdigit() and text.find(" here", start, end) > 0
    return first[0].lower() in SUBJECTLESS or text.find(" here", start, end) > 0


_FIRST = compile_later(r"[^\W\d_]++(?:['’]t)?")


def _stated(text: str, said_at: int) -> list[Candidate]:
    """The candidates of a statement that is taken back."""
    return [to_candidate(each, said_at) for each in findings(text, said_at)]


def _key(candidate: Candidate) -> tuple[str, str, str, bool]:
    return candidate.entity, candidate.attribute, candidate.value.lower(), candidate.negated


def findings(text: str, said_at: int) -> Iterator[RuleFinding]:
    """What a turn of the user says of them, sentence by sentence."""
    together = len(text) <= TALK
    told: bool | None = None
    last = (0, 0)
    for start, end in sentences(text):
        before, last = last, (start, end)
        deadline.check()
        if end - start > LONGEST or subjects.left_out_across(text, start, end):
            continue
        reworded = rewordings.findings(text, start, end, said_at, findings) if together else None
        if reworded is not None:
            yield from reworded
            continue
        found: list[RuleFinding] = []
        words: list[Token] = []
        if _PERSONAL.search(text, start, end) or (
            together
            and (
                _subjectless(text, start, end)
                or may_change(text, start, end)
                or shorthand.may_be(text, start, end)
                or rates.may_be(text, start, end)
                or passing_states.may_be_in(text[start:end])
                or bare_denials.may_be_in(text[start:end])
                or (start < self_descriptions.EARLY and _may_introduce(text[start:]))
            )
        ):
            words = words_of(text, start, end)
            if together and bare_denials.may_be_in(text[start:end]):
                words = bare_denials.plainly(words)
            found = list(_sentence_findings(text, words, said_at, "first"))
            found = self_descriptions.without_verb(words, found)
            reading = Reading(text, words, said_at, "first")
            found = rates.beside(reading, changes(reading, found))
            found = life_news.beside(reading, found)
            if start < self_descriptions.EARLY:
                found = greetings.beside(reading, found)
            found = listed_people.beside(reading, named_roles.beside(reading, found))
            found = ages.beside(reading, found, first=start < self_descriptions.EARLY)
            if together:
                found = passing_states.beside(reading, shorthand.beside(reading, found))
        elif together and life_news.may_be_in(text[start:end]):
            words = words_of(text, start, end)
            found = life_news.beside(Reading(text, words, said_at, "first"), found)
        if not together:
            yield from found
            continue
        if before[1] and _NAMING.search(text, start, end):
            reading = Reading(text, words or words_of(text, start, end), said_at, "first")
            found += their_names.of_the_last(reading, words_of(text, *before))
        shaped = next(whole_sentences.findings(text, start, end, said_at), None)
        yield from found if shaped is None else _beside(found, shaped)
        yield from aliases.findings(text, start, end)
        for each in others_health.findings(text, start, end, found):
            told = _MADE_UP.search(text) is None if told is None else told
            if told:
                yield each
        led = _LED.match(text, start, end)
        begin = start if led is None else led.end()
        if told is not False and third_parties.may_be_named(text, begin, end):
            if told is None:
                told = _MADE_UP.search(text) is None
            if not told:
                continue
            words = words if words and begin == start else words_of(text, begin, end)
            yield from third_parties.findings(Reading(text, words, said_at, "third"))


def _beside(found: list[RuleFinding], shaped: RuleFinding) -> list[RuleFinding]:
    """The findings of a sentence whose whole shape says something: it says so once."""
    if any(finding.type == shaped.type for finding in found):
        return found
    loose = ("habit.", "event.", "has.", "decision.", "commitment.")
    return [finding for finding in found if not finding.attribute.startswith(loose)] + [shaped]


def _contrasted(found: list[RuleFinding]) -> list[RuleFinding]:
    """ "I don't use unittest, I use pytest": the second corrects the first, of the same slot."""
    kept: list[RuleFinding] = []
    for finding in found:
        wrong = kept[-1] if kept else None
        if (
            wrong is not None
            and wrong.attribute == finding.attribute
            and wrong.negated
            and not finding.negated
            and finding.replaces is None
            and {wrong.type, finding.type} <= {"fact", "preference"}
            and finding.content[wrong.end : finding.start].strip(" ,;-–—.").lower() in ("", "but")
        ):
            over = wrong.act is SpeechAct.REMOVAL or any(
                words in wrong.claim for words in ("no longer", "any more", "stopped", "quit")
            )
            act = SpeechAct.CHANGE if over else SpeechAct.CORRECTION
            kept[-1] = finding._replace(replaces=wrong.value, act=act, start=wrong.start)
        else:
            kept.append(finding)
    return kept


def _sentence_findings(
    text: str, words: list[Token], said_at: int, person: str
) -> Iterator[RuleFinding]:
    reading = Reading(text, words, said_at, person)
    procedure = other_statements.procedure(reading)
    if procedure is not None:
        yield procedure
        return
    together = len(text) <= TALK
    found: list[RuleFinding] = []
    for clause in clauses(words, person):
        deadline.check()
        if not together and words[clause.subject].low.startswith("we"):
            continue
        found += from_clause(reading, clause)
    yield from _contrasted(found)
    yield from possessives.findings(reading)
    if person == "first":
        yield from other_statements.findings(reading)
        low = {word.low for word in words}
        if birthdays.MARK in low:
            yield from birthdays.findings(reading)
        if not their_names.MARKS.isdisjoint(low):
            yield from their_names.findings(reading)
        if not introductions.MARKS.isdisjoint(low):
            yield from introductions.findings(reading)
        if not relative_clauses.SUBJECTS.isdisjoint(low):
            yield from relative_clauses.findings(reading)


__all__ = ["Clause", "RuleExtractor", "Token", "pasted"]
