"""What a rule found: a candidate before its act is looked up; and its claim in third person."""

from __future__ import annotations

import re
from typing import NamedTuple

from beliefledger.gate.dates import find_when
from beliefledger.gate.keys import canonical
from beliefledger.gate.rules.clauses import Clause
from beliefledger.gate.rules.lexicon import WORDS, load, third_person
from beliefledger.gate.rules.phrases import retell
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.rules.words import Token
from beliefledger.gate.sincerity import doubted_end
from beliefledger.gate.speech import speech_act
from beliefledger.ledger.candidate import (
    SELF,
    Candidate,
    Durability,
    Ends,
    Source,
    Span,
    SpeechAct,
    When,
)
from beliefledger.ledger.late_patterns import compile_later

NEVER = When()
_ADVERB_NEGATES = frozenset({"never", "no longer", "rarely", "seldom", "hardly"})


_SINCERE = frozenset(
    {SpeechAct.STATEMENT, SpeechAct.CHANGE, SpeechAct.REMOVAL, SpeechAct.CORRECTION}
)


class Reading(NamedTuple):
    """One sentence being read: its words, and in which person it speaks: first or second of the
    user, third of somebody named, "third place" of an office."""

    content: str
    words: list[Token]
    said_at: int
    person: str


class RuleFinding(NamedTuple):
    """A statement found in [start, end) of `content`; scores are thousandths."""

    content: str
    start: int
    end: int
    claim: str
    type: str
    attribute: str
    value: str
    importance: int
    confidence: int = 900
    topic: str = ""
    category: str | None = None
    negated: bool = False
    context: str | None = None
    replaces: str | None = None
    entity: str = SELF
    durability: Durability = Durability.LASTING
    when: When = NEVER
    participants: tuple[str, ...] = ()
    act: SpeechAct | None = None
    """The act that the rule itself recognises; it only counts for sincere words."""
    ends: tuple[Ends, ...] = ()
    """What else is over by it."""
    retracts: bool = False
    said_at: int = 0
    """When it was said, where a rule needs that afterwards."""

    def act_of_confirmed(self) -> SpeechAct:
        """The act when the user confirmed these words of the assistant."""
        return SpeechAct.STATEMENT


def looked_up(content: str, start: int, end: int, attribute: str, words: str) -> RuleFinding:
    """The sentence content[start:end], for which it is looked up, when it is decided, what of all
    that is believed these words mean."""
    text = content[start:end]
    return RuleFinding(
        content, start, end, text, "event", attribute, text, 500, confidence=850,
        act=SpeechAct.CHANGE, retracts=True,
        ends=(Ends(attribute="*", value=words, among=True),),
    )  # fmt: skip


def to_candidate(finding: RuleFinding, said_at: int) -> Candidate:
    """The candidate of a finding: its act from the words around it, its topic from the claim."""
    del said_at
    act = speech_act(finding.content, finding.start, finding.end)
    if finding.act is not None and act in _SINCERE:
        act = finding.act
    over = None if finding.negated else doubted_end(finding.content, finding.start, finding.end)
    if over is not None:
        finding = _ended(finding, *over)
        act = SpeechAct.REMOVAL
    quote = finding.content[finding.start : finding.end]
    own = finding.entity == SELF or finding.type != "relation"
    return Candidate(
        claim=finding.claim,
        spans=(Span(start=finding.start, end=finding.end, quote=quote),),
        type=finding.type,
        entity=finding.entity,
        attribute=canonical(finding.attribute, finding.type) if own else finding.attribute,
        value=finding.value,
        negated=finding.negated,
        context=finding.context,
        replaces=finding.replaces,
        act=act,
        inferred=over is not None,
        source=Source.STATED,
        durability=finding.durability,
        topic=finding.topic or topic_of(finding.claim),
        category=finding.category or category_of(finding.claim),
        importance=finding.importance * 1000,
        confidence=finding.confidence * 1000,
        when=finding.when,
        participants=finding.participants,
        ends=finding.ends,
        retracts=finding.retracts,
    )


def _ended(finding: RuleFinding, start: int, end: int) -> RuleFinding:
    """ "I don't think I live in Basel anymore": that is over, as far as they know."""
    lead = finding.content[start : finding.start].lower()
    verb = next((each for each in ("think", "believe") if each in lead), "think")
    more = (
        "any longer" if "longer" in finding.content[finding.end - 1 : end].lower() else "any more"
    )
    doubts = f"no longer {verb}s" if "no longer" in lead else f"does not {verb} {more}"
    claim = f"{SELF} {doubts} that {finding.claim}"
    return finding._replace(start=start, end=end, claim=claim, negated=True, replaces=None)


_TOPICS: dict[str, str] = {
    word: topic for topic, words in load("topics.yaml").items() for word in words.split()
}


def topic_of(claim: str) -> str:
    """The topic of the first word that has one."""
    for word in claim.lower().replace(",", " ").replace(".", " ").split():
        topic = _TOPICS.get(word) or _TOPICS.get(word.removesuffix("s"))
        if topic is not None:
            return topic
    return "general"


def capped(text: str) -> str:
    """The text without white space and marks at its end."""
    bare = text.rstrip(" ,;:-–—")
    if (
        bare.endswith(('"', "'", "”", "’"))
        and bare.count(bare[-1]) < 2
        and "“" not in bare
        and "‘" not in bare
    ):
        bare = bare[:-1].rstrip(" ,;:-–—")
    return bare


def verb_group(clause: Clause) -> str:
    """The clause's verb as said of the user: "does not use", "has been using", "used to live"."""
    adverbs = [a for a in clause.adverbs if a == "probably" or a not in WORDS["negligible"]]
    word = clause.tokens[clause.verb].low
    negative = clause.negated and not _ADVERB_NEGATES.intersection(clause.adverbs)
    no = ["not"] if negative else []
    copula = clause.lemma == "be"
    match clause.tense:
        case "present" if copula:
            parts = ["is", *no, *adverbs]
        case "present":
            parts = (
                ["does", "not", *adverbs, clause.lemma]
                if negative
                else [*adverbs, third_person(clause.lemma)]
            )
        case "continuous":
            parts = ["is", *no, *adverbs, word]
        case "perfect" if copula:
            parts = ["has", *no, *adverbs, "been"]
        case "perfect":
            parts = ["has", *no, *adverbs, word]
        case "perfect-continuous":
            parts = ["has", *no, *adverbs, "been", word]
        case "past" if clause.modal == "had":
            parts = ["had", *no, *adverbs, "been" if copula else word]
        case "past" if copula:
            parts = ["was", *no, *adverbs]
        case "past" if clause.modal == "did" and not negative:
            parts = ["did", *adverbs, word]
        case "past":
            parts = ["did", "not", *adverbs, clause.lemma] if negative else [*adverbs, word]
        case "past-continuous":
            parts = ["was", *no, *adverbs, word]
        case "used":
            parts = ["used", "to", *no, *adverbs, clause.lemma]
        case _:
            modal = clause.modal or "will"
            parts = [modal, *no, *adverbs, clause.lemma]
    return " ".join(parts).replace("can not", "cannot")


def claim_of(reading: Reading, clause: Clause, stop: int, begin: int | None = None) -> str:
    """ "User …": the clause up to token `stop`, leaving out what is before `begin`."""
    rest = retell(
        reading.content,
        reading.words,
        clause.verb + 1 if begin is None else begin,
        stop,
        reading.person,
    )
    said = f"{SELF} {verb_group(clause)} {capped(rest)}".rstrip()
    if clause.ended and "no longer" not in clause.adverbs:
        said += " any more"
    return said


def span_of(reading: Reading, clause: Clause, stop: int) -> tuple[int, int, When]:
    """The offsets of a clause up to token `stop`, and the time it names.

    A time that opens the sentence ("Last month, I …") belongs to the span.
    """
    words = reading.words
    start, end = words[clause.subject].start, words[max(stop, clause.verb + 1) - 1].end
    future = clause.tense in ("future", "continuous", "present") or clause.modal == "must"
    # A second verb shares the subject, not the time before it.
    shared = any(w.low in ("and", "then") for w in words[clause.subject + 1 : clause.verb])
    said_from = words[clause.verb].start if shared else start
    past = clause.tense in ("past", "past-continuous", "used") and all(
        word.low != "to"
        for word in words[clause.verb : stop]  # "I agreed to stay until May"
    )
    found = find_when(reading.content[said_from:end], reading.said_at, future, past=past)
    if found is None and 0 < clause.subject <= 8:
        lead = words[0].start
        found = find_when(reading.content[lead:start], reading.said_at, future)
        if found is not None and reading.content[lead + found.end : start].strip(" ,-") in (
            "", "and", "so", "when", "though",
        ):  # fmt: skip
            start = lead + found.start
        else:
            found = None
    if found is not None and clause.tense == "present" and clause.lemma in _WEEKLY:
        ahead = reading.content[start:end]
        if _ON_A_DAY.search(ahead) is not None and _ONE_OFF.search(ahead) is None:
            return start, end, NEVER  # "on tuesday I play badminton" is so every week, and now
    return start, end, NEVER if found is None else found.when


_WEEKLY = frozenset(
    "play teach coach train practise practice run swim row dance sing climb cycle skate box paint "
    "volunteer work study babysit ride".split()
)
_ON_A_DAY = compile_later(r"\bon (?:mon|tues|wednes|thurs|fri|satur|sun)day\b(?! \d)", re.I)
_ONE_OFF = compile_later(
    r"\b(?:an? (?!(?:class|course|group|choir|band|team|club|league|bit|few|couple|lot|little)\b)|"
    r"match|game|gig|final|finals|semi|semi-final|exam|against|tournament|race|marathon|10k|5k|"
    r"concert|show|wedding|this|next|coming|derby|cup|for (?:the|an?) (?:day|last))\b",
    re.I,
)
"""What is played or done once on that day."""
