"""What is told beside a thing: "the necklace I got from my aunt in May".

The thing is named for another reason, often a question; that the user bought or made it is said
all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.gate.dates import find_when
from beliefledger.gate.rules.clauses import clause_at
from beliefledger.gate.rules.findings import NEVER, Reading, RuleFinding, capped, verb_group
from beliefledger.gate.rules.lexicon import MANY, ONE, WORDS, Form, verb_form
from beliefledger.gate.rules.phrases import pointing, retell, slug, text_of, trim
from beliefledger.gate.rules.words import Token

SUBJECTS = frozenset({"i", "i've", "we", "we've"})
_BEFORE = frozenset("the that this those these my our a an".split())
_TELLING = frozenset(
    "get buy order adopt make build bake cook sew knit paint attend visit watch read wear finish"
    " run inherit receive purchase plant grow volunteer join start take rent lease sell see pick"
    " hang win write publish record host organize organise complete install assemble book climb"
    " ride return donate lend borrow lose find thrift restore refinish cancel sign download"
    " subscribe bring eat try meet give send hire move spend do participate"
    " catch earn raise".split()
)
_SINGLE = frozenset(
    "first last only best worst thing way time one day things reason stuff guy girl man woman"
    " person people someone somebody".split()
)


def findings(reading: Reading) -> Iterator[RuleFinding]:
    """Events told in relative clauses whose subject is the user."""
    words = reading.words
    for at in range(2, len(words) - 2):
        if words[at].low in SUBJECTS and words[at - 1].text[0].isalnum():
            yield from _told(reading, at)


def _told(reading: Reading, subject: int) -> Iterator[RuleFinding]:
    words = reading.words
    end = subject - (words[subject - 1].low in ("that", "which"))
    begin = _thing(words, end)
    if begin is None:
        return
    clause = clause_at(words, subject)
    if (
        clause is None
        or clause.tense not in ("past", "perfect")
        or clause.negated
        or clause.lemma not in _TELLING
        or (
            clause.lemma == "move"
            and not (ONE | MANY).isdisjoint(word.low for word in words[begin:end])
        )
        or clause.stop <= clause.verb + 1
    ):
        return
    stop = next(
        (i for i in range(clause.verb + 1, clause.stop) if words[i].low in _STOP), clause.stop
    )
    first, stop = trim(words, clause.verb + 1, stop)
    if stop - first > 12 or first >= stop or pointing(words, first, stop):
        return
    if words[first].low in WORDS["determiners"] and not _time(words, first):
        return  # an object of its own: no relative clause
    rest = reading.content[words[clause.verb].end : words[stop - 1].end]
    when = find_when(rest, reading.said_at, past=True)
    detail = when is not None or any(
        t.text[0].isupper() or t.text[0].isdigit() or t.low == "my" for t in words[first:stop]
    )
    if not detail or (when is not None and when.when.start is None):
        return
    thing = retell(reading.content, words, begin, end, "first")
    verb = verb_group(clause)
    if words[first].low in WORDS["prepositions"] and _is_time(words, first + 1):
        # "the walk I took part in last month"
        verb, first = f"{verb} {words[first].low}", first + 1
    tail = capped(retell(reading.content, words, first, stop, "first"))
    yield RuleFinding(
        reading.content, words[begin].start, words[stop - 1].end,
        f"User {verb} {thing} {tail}", "event", f"event.{slug(clause.lemma, 1)}",
        text_of(reading.content, words, begin, end), 450, 800,
        when=NEVER if when is None else when.when,
    )  # fmt: skip


def _is_time(words: list[Token], at: int) -> bool:
    """Whether a time begins at `at`, so that the preposition before it is of the thing."""
    low = [word.low for word in words[at : at + 2]]
    few = low[:1] == ["a"] and (low[1:] in (["few"], ["couple"]) or _time(words[: at + 2], at))
    return few or low[:1] in (["last"], ["yesterday"], ["today"], ["on"], ["this"])


def _time(words: list[Token], at: int) -> bool:
    return any(w.low in WORDS["time_units"] or w.low in ("ago", "while", "day", "years", "weeks",
               "months", "days") for w in words[at : at + 4])  # fmt: skip


def _thing(words: list[Token], end: int) -> int | None:
    """Where the noun phrase that ends at `end` begins, with its article; None without one."""
    for at in range(end - 1, max(-1, end - 8), -1):
        low = words[at].low
        if low in _BEFORE:
            inner = [word.low for word in words[at + 1 : end]]
            if not inner or inner[-1] in _SINGLE or inner[0] in _SINGLE:
                return None
            if not WORDS["conversation"].isdisjoint(inner):
                return None
            return at
        if not words[at].text[0].isalnum() and words[at].low not in "-'\"“”$€£":
            return None
        if low in WORDS["subject_words"] or low in WORDS["cutters"] or low in _STOP:
            return None
        if verb_form(low)[1] is Form.PAST and at == end - 1:
            return None
    return None


_STOP = frozenset(
    "has had is are was were am be been that and or but because when if so than".split()
)
