"""What somebody considers, tries or means to do: never told as done.

They are commitments of their own kinds: `commitment.considering`, `.trying` and `.meaning`. What
is only about the talk itself ("I'm trying to find out why") is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.gate.rules.clauses import Clause
from beliefledger.gate.rules.experiences import company
from beliefledger.gate.rules.findings import Reading, RuleFinding, claim_of, span_of
from beliefledger.gate.rules.lexicon import AS_BASE, WORDS, Form, verb_form
from beliefledger.gate.rules.phrases import of_what_is_unsaid, pointing, slug, text_of, trim
from beliefledger.ledger.candidate import SpeechAct

_KINDS = {
    "think": "considering", "consider": "considering", "debate": "considering",
    "contemplate": "considering", "toy": "considering", "lean": "considering",
    "try": "trying", "attempt": "trying", "work": "trying", "struggle": "trying",
    "mean": "meaning", "hope": "meaning", "look": "meaning", "aim": "meaning", "want": "meaning",
    "plan": "meaning", "save": "meaning", "intend": "meaning", "like": "meaning", "love": "meaning",
    "dream": "meaning", "prepare": "meaning", "apply": "meaning",
}  # fmt: skip
_ONGOING = frozenset({"continuous", "perfect-continuous"})
_INTENDED = AS_BASE | {Form.ING}
_WEIGHING = frozenset({"think", "consider", "debate", "contemplate", "toy", "lean"})
_WILL = frozenset(
    "get buy cancel sell start join take go email send sign book order switch visit donate adopt"
    " plant host apply move bring pick learn enroll register renew return stop quit".split()
)
_VAGUE = WORDS["pronouns"] | WORDS["no_value"] | {"maybe", "whether", "how"}
_FOR_A_THING = frozenset("save consider plan prepare aim apply".split())
_CUT = ((WORDS["which_one"] | WORDS["praise"]) - {"more", "other"}) | {
    "small",
    "big",
    "long",
    "short",
    "cozy",
    "time",
}
_KEEN = frozenset({"excited", "eager", "determined", "keen"})
_LEADS = {
    "think": ("of", "about"), "consider": (), "debate": ("whether", "about"), "contemplate": (),
    "toy": ("with",), "lean": ("towards", "toward"), "try": ("to",), "attempt": ("to",),
    "work": ("on", "towards", "toward"), "struggle": ("to",), "mean": ("to",), "hope": ("to",),
    "look": ("to", "into"), "aim": ("to", "for"), "want": ("to",), "plan": ("to", "on"),
    "save": ("for", "up"), "intend": ("to",), "like": ("to",), "love": ("to",), "dream": ("of",),
    "prepare": ("for",), "apply": ("for", "to"),
}  # fmt: skip
_TALK = frozenset(
    "find figure understand know see decide choose fix solve write create come think ask make"
    " ensure explain remember narrow compare determine get use try do be have go put keep give"
    " help wrap work show say tell talk mention look check read hear share describe learn-more"
    " list brainstorm research explore locate pick include incorporate add convert calculate"
    " compile draft edit pull format generate identify implement install parse print return run"
    " set sort test debug connect build design develop plan organize organise discuss focus stick"
    " balance follow avoid consider change replace remove increase maximize optimize visualize"
    " access call open clarify address stay let tie fit mix experiment".split()
)
"""Verbs of the task at hand: kept only where they name something of one's own and a time."""
_NEVER_KEPT = frozenset(
    "find figure understand know see decide choose fix solve write create come think ask ensure"
    " compare determine narrow remember explain".split()
)
_OF_LIFE = frozenset(
    "quit stop move relocate retire adopt marry propose divorce lose gain learn save buy sell"
    " start become apply enroll enrol run train join volunteer travel visit emigrate graduate"
    " study practise practice publish launch open found compete climb cycle swim eat drink sleep"
    " wake cook bake grow plant renovate rent lease invest pay switch cut reduce improve teach"
    " host conceive have go get take sign redecorate remodel repaint declutter book attend raise"
    " build".split()
)


def intention(reading: Reading, clause: Clause) -> Iterator[RuleFinding]:
    """What the clause says that the user considers, tries or means to do."""
    if clause.negated or clause.imagined:
        return
    if clause.tense == "future" and clause.lemma in _WILL:
        yield from _will(reading, clause)
        return
    if clause.lemma == "be" and clause.tense == "present":
        yield from _keen(reading, clause)
        return
    kind = _KINDS.get(clause.lemma)
    if kind is None:
        return
    words = clause.tokens
    wish = clause.lemma in ("like", "love", "want")
    if wish:
        if clause.lemma == "want" and clause.tense == "perfect-continuous":
            pass
        elif clause.tense not in ("present", "perfect", "modal") or (
            clause.lemma != "want" and clause.modal != "would"
        ):
            return
        if clause.lemma == "want" and clause.tense == "modal":
            return
    elif clause.lemma in _WEIGHING and clause.tense == "past-continuous":
        pass
    elif clause.tense not in _ONGOING and not (clause.lemma in ("hope", "plan", "intend", "aim")
                                               and clause.tense == "present"):  # fmt: skip
        return
    first, stop = trim(words, clause.verb + 1, clause.stop)
    leads = _LEADS[clause.lemma]
    while first < stop and words[first].low in ("up", "really", "seriously", "also"):
        first += 1
    if first >= stop:
        return
    at = first
    if leads:
        another = clause.lemma == "plan" and words[first].low in WORDS["determiners"] | {"another"}
        if words[first].low not in leads and clause.lemma != "save" and not another:
            return
        at += words[first].low in (*leads, "for")
    elif words[first].low == "to":  # "considering to buy"
        at += 1
    while at < stop and words[at].low in WORDS["negligible"]:
        at += 1
    if not 1 <= stop - at <= 16 or pointing(words, at, stop) or words[stop - 1].low in _CUT:
        return
    if of_what_is_unsaid(words, at, stop) or (words[at].low != "going" and words[at].low in _VAGUE):
        return
    if not _lasting(reading, clause, at, stop, wish=wish):
        return
    start, end, when = span_of(reading, clause, stop)
    value = text_of(reading.content, words, at, stop)
    yield RuleFinding(
        reading.content, start, end, claim_of(reading, clause, stop), "commitment",
        f"commitment.{kind}", value, 400, confidence=750, when=when, act=SpeechAct.STATEMENT,
        participants=company(words, at, stop, clause.lemma),
    )  # fmt: skip


def _lasting(reading: Reading, clause: Clause, at: int, stop: int, *, wish: bool) -> bool:
    """Whether it is about the user's life, not about the talk."""
    words = clause.tokens
    lemma, form = verb_form(words[at].low)
    inner = words[at + 1 : stop]
    low = {token.low for token in inner}
    if WORDS["conversation"].intersection(low):
        return False
    weighed = clause.lemma in _WEIGHING and form in _INTENDED
    if weighed:
        return len(inner) >= 2 and lemma not in ("ask", "see", "come", "say", "tell", "be")
    if lemma in _NEVER_KEPT:
        return False
    if lemma == "learn" and words[at + 1 : at + 2] and words[at + 1].low == "more":
        return False
    dated = span_of(reading, clause, stop)[2].start is not None
    named = any(t.text[0].isupper() and t.low not in ("i", "i'm", "i've") for t in inner)
    own = "my" in low or "our" in low
    if form in _INTENDED and lemma in _TALK | _OF_LIFE:
        if lemma in _OF_LIFE and len(inner) >= 1:
            return lemma not in _TALK or dated or own or named
        return dated and (own or named)
    if form is Form.NONE and words[at].low in WORDS["determiners"] | {"another"}:
        long = stop - at >= 2 + (clause.lemma != "plan")
        return long and not wish and clause.lemma in _FOR_A_THING
    return dated or named


def _will(reading: Reading, clause: Clause) -> Iterator[RuleFinding]:
    """ "I think I'll get a spider plant"."""
    words = clause.tokens
    first, stop = trim(words, clause.verb + 1, clause.stop)
    if not 1 <= stop - first <= 14 or pointing(words, first, stop):
        return
    rest = words[first:stop]
    low = {token.low for token in rest}
    if WORDS["conversation"].intersection(low) or rest[0].low in WORDS["pronouns"] | {"by", "with"}:
        return
    named = any(t.text[0].isupper() for t in rest)
    thing = rest[0].low in ("a", "an") and len(rest) >= 3 and "look" not in low
    if not (named or thing or "my" in low):
        return
    start, end, when = span_of(reading, clause, stop)
    value = text_of(reading.content, words, clause.verb, stop)
    yield RuleFinding(
        reading.content, start, end, claim_of(reading, clause, stop), "commitment",
        "commitment.meaning", value, 400, confidence=700, when=when, act=SpeechAct.STATEMENT,
        participants=company(words, first, stop, clause.lemma),
    )  # fmt: skip


def _keen(reading: Reading, clause: Clause) -> Iterator[RuleFinding]:
    """ "I'm excited to start watching “Dark”"."""
    words = clause.tokens
    first, stop = trim(words, clause.verb + 1, clause.stop)
    if not 4 <= stop - first <= 16 or words[first].low not in _KEEN or words[first + 1].low != "to":
        return
    if pointing(words, first, stop) or verb_form(words[first + 2].low)[0] in _NEVER_KEPT:
        return
    rest = words[first + 3 : stop]
    if WORDS["conversation"].intersection(token.low for token in rest):
        return
    if not any(t.text[0].isupper() or t.low == "my" for t in rest):
        return
    start, end, when = span_of(reading, clause, stop)
    value = text_of(reading.content, words, first + 2, stop)
    yield RuleFinding(
        reading.content, start, end, claim_of(reading, clause, stop), "commitment",
        "commitment.meaning", value, 400, confidence=750, when=when, act=SpeechAct.STATEMENT,
    )  # fmt: skip


_HABITS = frozenset("drive smoke drink swim vape gamble cook meditate ski snore".split())


def habit(reading: Reading, clause: Clause) -> Iterator[RuleFinding]:
    """ "I don't drive": a verb with nothing after it."""
    if clause.tense != "present" or clause.lemma not in _HABITS or clause.imagined or clause.hedged:
        return
    words = clause.tokens
    after = words[clause.verb + 1].low if clause.verb + 1 < len(words) else ""
    if after.isalpha() and after not in ("and", "but", "so", "at", "anymore", "any"):
        return
    if not clause.negated and clause.lemma in ("drink", "drive", "cook"):
        return
    start, end, _ = span_of(reading, clause, clause.verb + 1)
    yield RuleFinding(
        reading.content, start, end, claim_of(reading, clause, clause.verb + 1), "fact",
        f"habit.{clause.lemma}", words[clause.verb].text, 600, negated=clause.negated,
    )  # fmt: skip


_PLACED = frozenset("to in on above below outside abroad beyond past without".split())
_NEVER_DONE = frozenset(
    "be have eat try visit play ride fly drive own smoke drink travel live use learn ski swim"
    " watch read go work take touch cook bake climb sail surf camp".split()
)


def never(reading: Reading, clause: Clause) -> Iterator[RuleFinding]:
    """ "I've never been to Japan": so far."""
    if clause.tense != "perfect" or "never" not in clause.adverbs:
        return
    words = clause.tokens
    if clause.lemma not in _NEVER_DONE:
        return
    first, stop = trim(words, clause.verb + 1, clause.stop)
    if not 1 <= stop - first <= 8 or pointing(words, first, stop):
        return
    low = words[first].low
    if clause.lemma == "be" and low not in _PLACED:
        return
    if clause.lemma == "have" and low not in WORDS["determiners"]:
        return
    if low in WORDS["pronouns"] | {"such", "so"} or words[stop - 1].low in WORDS["abstract"]:
        return
    start, end, _ = span_of(reading, clause, stop)
    value = text_of(reading.content, words, clause.verb + (clause.lemma == "be"), stop)
    yield RuleFinding(
        reading.content, start, end, claim_of(reading, clause, stop), "fact",
        f"experience.{slug(value)}", value, 500, confidence=800, negated=True,
    )  # fmt: skip
