"""Experiences, habits and plans: clauses that no other rule fits, kept as they were said."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from beliefledger.gate.rules.clauses import Clause
from beliefledger.gate.rules.findings import Reading, RuleFinding, claim_of, span_of
from beliefledger.gate.rules.lexicon import WORDS
from beliefledger.gate.rules.phrases import pointing, slug, text_of, trim, vague
from beliefledger.gate.rules.words import Token
from beliefledger.ledger.candidate import Precision, When

_MOST_WORDS = 24
_MEALS = frozenset("lunch dinner breakfast brunch coffee drinks tea".split())
_REPEATED = frozenset(
    "every daily weekly monthly mondays tuesdays wednesdays thursdays fridays saturdays sundays "
    "weekends weekdays twice".split()
)


# Words that elsewhere point at something unsaid, but may begin what was done: "one of the temples".
_STARTERS = frozenset("up back out my one two some all both off over".split())


def experience(reading: Reading, clause: Clause) -> Iterator[RuleFinding]:
    """A statement of an event for what was done once, of a habit for what is done again and
    again."""
    if clause.hedged or clause.tense in ("future", "modal", "past-continuous"):
        return
    words = clause.tokens
    begin, stop = clause.verb + 1, clause.stop
    if stop - begin > _MOST_WORDS:
        stop = _shorter(clause, begin + _MOST_WORDS)
    first, stop = trim(words, begin, stop)
    if (
        stop - 2 > first
        and words[stop - 2].low == "to"
        and words[stop - 1].low in WORDS["unfinished"]
    ):
        stop -= 2
    if first >= stop or not _stands_alone(clause, first, stop) or vague(words, first, stop):
        return
    if clause.tense in ("past", "perfect", "used"):
        yield from _event(reading, clause, stop)
    elif clause.tense == "perfect-continuous":
        thin = stop - first < 2 and clause.lemma not in WORDS["thin_verbs"]
        rest = {token.low for token in words[first:stop]}
        often = bool(_REPEATED & rest) or "times" in rest
        if (
            clause.lemma not in WORDS["going_verbs"] or (often and clause.lemma == "do")
        ) and not thin:
            yield _habit(reading, clause, stop, 500, 800)
    elif clause.tense == "continuous":
        if clause.lemma == "plan" and words[first].low == "to" and stop - first > 3:
            if not _definite(reading, clause, first, stop):
                return
            yield _plan(reading, clause, stop)
        elif clause.lemma in WORDS["doing_verbs"] and stop - first > 1:
            yield _habit(reading, clause, stop, 450, 800)
    elif clause.tense == "present" and _habitual(clause, first, stop):
        yield _habit(reading, clause, stop, 500, 900)


def _shorter(clause: Clause, limit: int) -> int:
    """The last comma or preposition before `limit` where the clause can be cut."""
    for at in range(min(limit, clause.stop) - 1, clause.verb + 4, -1):
        if clause.tokens[at].low == "," or clause.tokens[at].low in ("for", "with", "to", "as"):
            return at
    return clause.verb + 1


def _stands_alone(clause: Clause, begin: int, stop: int) -> bool:
    """Whether the rest is understood without the sentences before it."""
    words = clause.tokens
    going = words[begin].low == "going" and clause.lemma in ("start", "stop")
    pointer = words[begin].low in WORDS["pronouns"] | WORDS["no_value"]
    if pointer and not going and words[begin].low not in _STARTERS:
        return False
    if words[begin].low in ("one", "some", "all", "both") and (
        stop - begin < 2 or words[begin + 1].low in WORDS["prepositions"]
    ):
        return False
    if pointing(words, begin, stop):
        return False
    if words[begin].low in WORDS["clause_words"] & WORDS["finite"] or (
        clause.lemma == "try" and words[begin].low.endswith("ing")
    ):
        return False
    if clause.tense == "continuous" and clause.lemma == "plan":
        return True
    if words[begin].low == "to" and clause.lemma not in WORDS["to_verbs"]:
        return False
    if words[begin].low == "that" and stop - begin > 2:
        return True
    return not any(t.low in ("this", "that") for t in words[begin : begin + 2])


def _event(reading: Reading, clause: Clause, stop: int) -> Iterator[RuleFinding]:
    words = clause.tokens
    copula = clause.lemma in ("be", "become")
    start, end, when = span_of(reading, clause, stop)
    been_to = (
        clause.lemma == "be" and clause.tense == "perfect" and words[clause.verb + 1].low == "to"
    )
    if clause.lemma == "have" and clause.tense == "past":
        if not _had_something(clause, when.start is not None):
            return
    elif clause.lemma in ("talk", "speak"):
        if words[clause.verb + 1].low not in ("to", "with"):
            return
    elif clause.lemma == "go":
        if words[clause.verb + 1].low == "with" and when.start is None:
            return
    elif clause.lemma == "see":
        named = any(
            t.text[0].isupper() or t.text[0].isdigit() for t in words[clause.verb + 1 : stop]
        )
        if not named and when.start is None:
            return
    elif clause.lemma == "do":
        if words[clause.verb + 1].low not in ("a", "an", "the", "my", '"', "'", "two", "three"):
            return
    elif clause.lemma == "come":
        if words[clause.verb + 1].low not in ("back", "from", "home"):
            return
    elif clause.lemma == "manage":
        if words[clause.verb + 1].low != "to" or stop - clause.verb < 4:
            return
    elif clause.lemma in WORDS["mental_verbs"] and not (copula or clause.tense == "used"):
        return
    if clause.lemma == "be" and not (
        been_to
        or clause.tense == "used"
        or _was_something(clause, stop)
        or (when.start is not None and words[clause.verb + 1].low in ("at", "in"))
    ):
        return
    if clause.tense == "perfect" and clause.negated:
        return
    if copula and clause.subject and words[clause.subject - 1].low in ("since", "when"):
        return  # "something I've wanted since I was a kid"
    on_what = words[clause.verb + 1].low
    if on_what in ("on", "in", "at", "from") and clause.lemma in WORDS["need_object"]:
        return
    if clause.lemma == "start" and when.start is not None and _bare_start(clause, stop):
        return
    if stop - clause.verb < 2 or (
        stop - clause.verb < 4
        and when.start is None
        and not any(
            t.text[0].isupper() or t.low == "my" or t.low.isdigit()
            for t in words[clause.verb + 1 : stop]
        )
        and clause.tense != "used"
        and clause.lemma not in WORDS["telling"]
    ):
        return
    if clause.tense == "used" and (far := _with_what_is_now(words, stop)) != stop:
        stop, end = far, words[far - 1].end
    over = clause.tense == "used" or clause.modal == "had" or (copula and clause.tense == "past")
    if over and when.start is None:
        # Nobody said when, only that it is over by now.
        when = When(end=reading.said_at, precision=Precision.APPROXIMATE)
    value_begin = clause.verb if clause.lemma != "be" else clause.verb + 1
    value = text_of(reading.content, words, value_begin, stop)
    yield RuleFinding(
        reading.content, start, end, claim_of(reading, clause, stop), "event",
        f"event.{slug(clause.lemma, 1)}", value, 500 if when.start is not None else 450,
        confidence=900 if when.start is not None else 850, negated=clause.negated, when=when,
        participants=company(words, clause.verb + 1, stop, clause.lemma),
    )  # fmt: skip


def _with_what_is_now(words: list[Token], stop: int) -> int:
    """Where a sentence stops that says of what used to be so what is left of it: "I used to run
    four times a week, now only once"."""
    now = stop
    while now < len(words) and words[now].low in (",", "but", "and", "-", "–"):
        now += 1
    if now >= len(words) or words[now].low != "now":
        return stop
    if not any(word.low in _LESS for word in words[now + 1 : now + 4]):
        return stop
    end = now
    while end < len(words) and words[end].low not in _MARKS:
        end += 1
    return end if end - now <= _MOST_NOW else stop


_LESS = frozenset({"only", "just", "barely", "hardly", "rarely"})
_MARKS = frozenset(".;!?,:()")
_MOST_NOW = 9


def company(words: list[Token], begin: int, stop: int, lemma: str) -> tuple[str, ...]:
    """Who took part, by name: "lunch with Tom and Ana", "met Carla"."""
    at = begin
    if lemma not in _MEETING:
        at = next((i + 1 for i in range(begin, stop) if words[i].low == "with"), stop)
    found: list[str] = []
    while at < stop:
        end = at
        while end < stop and words[end].text[0].isupper() and words[end].text.isalpha():
            end += 1
        if end == at or end - at > 2:
            break
        found.append(" ".join(token.text for token in words[at:end]))
        at = end
        while at < stop and words[at].low in ("and", ",", "&"):
            at += 1
    return tuple(found)


_MEETING = frozenset({"meet"})


def _bare_start(clause: Clause, stop: int) -> bool:
    """Whether "started collecting three months ago" leaves out what."""
    after = clause.tokens[clause.verb + 2].low if clause.verb + 2 < stop else ""
    return (
        clause.tokens[clause.verb + 1].low.endswith("ing")
        and (after.isdigit() or after in ("two", "three", "four", "last", "a", "on", "in", "about"))
        and any(t.low == "ago" for t in clause.tokens[clause.verb + 2 : clause.verb + 7])
    )


def _had_something(clause: Clause, dated: bool) -> bool:
    first, second = clause.tokens[clause.verb + 1], clause.tokens[clause.verb + 2 :][:1]
    if (
        first.low in ("the", "an")
        and second
        and second[0].low in ("chance", "opportunity", "pleasure")
    ):
        return True
    return dated and first.low in _MEALS | {
        "a",
        "an",
        "my",
        "two",
        "to",
        "three",
        "some",
        "surgery",
    }


def _was_something(clause: Clause, stop: int) -> bool:
    """ "I was a teacher", "I was in Rome": not "I was able to", "I was happy"."""
    words = clause.tokens
    first = words[clause.verb + 1]
    if first.low in ("a", "an"):
        return stop - clause.verb <= 10 and words[clause.verb + 2].low not in WORDS["abstract"]
    return first.low in ("born", "diagnosed", "promoted", "hired", "laid") or (
        first.low in ("in", "at")
        and stop - clause.verb > 2
        and words[clause.verb + 2].text[0].isupper()
    )


def _habitual(clause: Clause, begin: int, stop: int) -> bool:
    if clause.lemma in WORDS["mental_verbs"] and clause.lemma not in (
        "try",
        "have",
        "find",
        "come",
    ):
        return False
    if clause.lemma in ("have", "be", "find", "try", "come"):
        return False
    if clause.lemma in WORDS["usual_verbs"] and stop - begin > 1:
        return True
    rest = {token.low for token in clause.tokens[begin:stop]}
    if WORDS["habit_adverbs"].intersection(clause.adverbs) or _REPEATED & rest:
        return True
    low = [token.low for token in clause.tokens[begin:stop]]  # "three times a week"
    return any(a == "times" and b in ("a", "per") for a, b in pairwise(low))


def _definite(reading: Reading, clause: Clause, first: int, stop: int) -> bool:
    """Whether a plan names a time, a name or something of the user's, so that it can be kept."""
    words = clause.tokens[first:stop]
    return span_of(reading, clause, stop)[2].start is not None or any(
        token.text[0].isupper() or token.low == "my" for token in words
    )


def _plan(reading: Reading, clause: Clause, stop: int) -> RuleFinding:
    """ "I'm planning to …": less than a commitment."""
    start, end, when = span_of(reading, clause, stop)
    value = text_of(reading.content, clause.tokens, clause.verb + 2, stop)
    return RuleFinding(
        reading.content, start, end, claim_of(reading, clause, stop), "event", "event.plan", value,
        400, confidence=750, negated=clause.negated, when=when,
        participants=company(clause.tokens, clause.verb + 1, stop, clause.lemma),
    )  # fmt: skip


def _habit(
    reading: Reading, clause: Clause, stop: int, importance: int, confidence: int
) -> RuleFinding:
    start, end, when = span_of(reading, clause, stop)
    value = text_of(reading.content, clause.tokens, clause.verb, stop)
    return RuleFinding(
        reading.content, start, end, claim_of(reading, clause, stop), "fact",
        f"habit.{slug(value)}", value, importance, confidence=confidence,
        negated=clause.negated, when=when,
    )  # fmt: skip
