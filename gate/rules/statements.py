"""Statements of one clause: the rules of `statements.yaml` first, then experiences and habits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from beliefledger.gate.dates import find_when
from beliefledger.gate.rules import choices, slot_values
from beliefledger.gate.rules.clauses import Clause
from beliefledger.gate.rules.experiences import experience
from beliefledger.gate.rules.findings import NEVER, Reading, RuleFinding, claim_of, span_of
from beliefledger.gate.rules.intentions import habit, intention, never
from beliefledger.gate.rules.introductions import introduction
from beliefledger.gate.rules.lasting_states import is_of_a_day, lasting, retold
from beliefledger.gate.rules.lexicon import WORDS
from beliefledger.gate.rules.listed import items, list_end
from beliefledger.gate.rules.other_halves import other_half, role_alone, tool_by_tool
from beliefledger.gate.rules.patterns import (
    KINDS,
    PERSONS,
    Range,
    Rule,
    Slots,
    load_rules,
    match,
    slots_of,
)
from beliefledger.gate.rules.phrases import (
    named_place,
    names_in,
    phrase_end,
    pointing,
    slug,
    text_of,
    tidy,
    trim,
)
from beliefledger.gate.rules.words import clause_end
from beliefledger.ledger.candidate import Durability, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

RULES = load_rules()
_LONG_CLAUSE = 18
_WHO_DOES = 2
_DAY = 86_400_000_000
_LATER = frozenset("for when in at during on while with after before because since if".split())


def from_clause(reading: Reading, clause: Clause) -> Iterator[RuleFinding]:
    """The findings of one clause, from the first rule that fits it."""
    if clause.stop <= clause.verb + 1:
        yield from habit(reading, clause)
        return
    if _open_ended(clause):
        return
    introduced = introduction(reading, clause)
    if introduced:
        yield from introduced
        return
    if clause.tense == "used" and not clause.negated:
        found = list(_given_up(reading, clause))
        if found:
            yield from found
            return
    if is_of_a_day(clause):
        return
    for told in lasting(reading, clause):
        now = list(_by_rules(reading, told.clause)) or list(intention(reading, told.clause))
        if not now and told.clause.tense == "continuous":
            now = list(experience(reading, told.clause))
        if now:
            yield from (retold(reading, clause, told, each) for each in now)
            return
    found = list(_by_rules(reading, clause))
    if found:
        yield from found
    elif not clause.imagined and not (clause.lemma == "do" and "research" in _low(clause)):
        meant = list(intention(reading, clause)) or list(never(reading, clause))
        yield from meant or experience(reading, clause)


def _low(clause: Clause) -> set[str]:
    """The words behind the verb, in lower case."""
    return {word.low for word in clause.tokens[clause.verb + 1 : clause.stop]}


def _by_rules(reading: Reading, clause: Clause) -> Iterator[RuleFinding]:
    """The findings of the first rule that fits."""
    low = _low(clause)
    for rule in RULES.get(clause.lemma) or RULES["*"]:
        tense = f"modal:{clause.modal}" if clause.tense == "modal" else clause.tense
        if tense not in rule.tenses:
            continue
        if rule.says.get("person", "") not in reading.person:
            continue
        slots = match(rule, clause, low)
        if slots is None or not _allowed(reading, clause, rule.says, slots):
            continue
        found = list(_drafts(reading, clause, rule, slots))
        if found:
            yield from found
            return


def _given_up(reading: Reading, clause: Clause) -> Iterator[RuleFinding]:
    """What somebody "used to love" or "used to use" they do no longer: that is over."""
    now = clause._replace(tense="present", negated=True, ended=True)
    low = _low(clause)
    for rule in RULES.get(clause.lemma, ()):
        says = rule.says
        taste = says["type"] == "preference" or says["attribute"] == "@choice"
        if not taste or says.get("flip") or now.tense not in rule.tenses:
            continue
        slots = match(rule, now, low)
        if slots is None or not _allowed(reading, now, says, slots):
            continue
        for finding in _drafts(reading, now, rule, slots):
            claim = claim_of(reading, clause, clause.tail)
            yield finding._replace(claim=claim, act=SpeechAct.REMOVAL)
        return


def _open_ended(clause: Clause) -> bool:
    """Whether the clause is followed by an "if" that its own words do not show."""
    words = clause.tokens
    return (
        clause.tail < len(words)
        and words[clause.tail].low in ("if", "unless", "?", "whether")
        and words[clause.tail].low != "?"
    )


_EXCEPT = frozenset("except excluding excepting bar minus".split())
_EXCEPT_OF = (["apart", "from"], ["other", "than"], ["aside", "from"], ["save", "for"])
_COUNTED = frozenset("day night week time thing one word person year penny minute".split())


def _allowed(reading: Reading, clause: Clause, says: Mapping[str, Any], slots: Slots) -> bool:
    words = clause.tokens
    begin, end = slots["value"]
    low = [token.low for token in words[begin:end]]
    if says.get("uncut") and end < len(words) and words[end].low in WORDS["relative"]:
        return False
    beyond = end + (end < len(words) and words[end].low == ",")
    after = [token.low for token in words[beyond : beyond + 2]]
    if after[:1] and (after[0] in _EXCEPT or after in _EXCEPT_OF):
        return False  # "all fruit except bananas" is not all fruit
    if low == ["single"] and after[:1] and after[0] in _COUNTED:
        return False
    if "none_of" in says and set(says["none_of"]).intersection(low):
        return False
    if says.get("only_negated") and not clause.negated:
        return False
    if says.get("dwelling") and slot_values.is_for_a_time(words, end):
        return False
    if says.get("not_the") and low[0] in ("the", "a", "an", "this", "my"):
        return False
    if says.get("proper") and not named_place(words, begin, end):
        return False
    if says.get("concrete") and not _concrete(words, begin, end):
        return False
    if says.get("concrete") is True and low[-1].isdigit() and end - begin == 1:
        return False
    if says.get("concrete") is True and low[0] in ("the", "my", "our", "their"):
        return False
    if says.get("only") == "adverb":
        if "only" not in clause.adverbs:
            return False
    elif "only" in says and " ".join(low) not in says["only"]:
        return False
    if says.get("definite") and not (low[0] in ("the", "our") or words[begin].text[0].isupper()):
        return False
    if says.get("undated") and span_of(reading, clause, clause.stop)[2].start is not None:
        return False
    if "heads" in says:
        a, b = slots.get("object", (begin, end))
        joined = f" {' '.join(token.low for token in words[a:b])} "
        if not any(f" {head} " in joined for head in says["heads"]):
            return False
    if "any_of" in says and not WORDS[says["any_of"]].intersection(low):
        return False
    if "heads_in" in says and not set(says["heads_in"]).intersection(low[:8]):
        return False
    if says["attribute"] == "work.role" and clause.negated and not clause.ended:
        goes_on = clause.tail < len(words) and words[clause.tail].text not in ".!"
        if clause.tense != "present" or goes_on:
            return False
    if says.get("known") and choices.lookup(words, begin, end) is None:
        return False
    if "ends" in says and words[clause.stop - 1].low not in says["ends"]:
        return False
    if says.get("ever") and {"never", "always"}.isdisjoint(clause.adverbs):
        return False
    if says.get("only_plain") and (clause.negated or "than" not in low):
        return False
    if says.get("rather") and ("rather" not in clause.adverbs or clause.lemma == "die"):
        return False
    if not slot_values.fits(words, clause, says, begin, end):
        return False
    if says.get("introduced") and not _introduced(words, clause.subject, low):
        return False
    if says.get("alone") and end != clause.stop:
        return False
    of_self, several = says["attribute"], words[clause.subject].low.startswith("we")
    if of_self == "identity.age" and (clause.negated or several):
        return False  # "we're 5" is how many
    if of_self == "identity.name" and several:
        return False  # a band is called so
    if says.get("short") and end - begin > 4:
        return False
    if end - begin < says.get("min", 1):
        return False
    if says.get("dated") or says.get("timed"):
        when = span_of(reading, clause, clause.stop)[2]
        timed = says.get("timed") and any(
            t.isdigit() or t in WORDS["clock"] or (t in _HOURS and low[i - 1] in _BY)
            for i, t in enumerate(low)
        )
        if when.start is None and not timed:
            return False
        if says.get("dated") == "coming" and (when.start or 0) < reading.said_at - _DAY:
            return False
    if says["type"] == "preference" and not _own_taste(words, begin, end):
        return False
    whole = any(slot.name == "value" and slot.kind in ("whole", "trip") for slot in slots_of(says))
    if says.get("with_verb"):
        return end - begin <= 20 and not _POINTING_ON.intersection(low) and low[0] != "with"
    return tidy(words, begin, end, 20 if whole else 9)


_HOURS = frozenset("one two three four five six seven eight nine ten eleven twelve".split())
_BY = frozenset("by before until after at past".split())
_POINTING_ON = frozenset("it that this them those these there".split())


def _introduced(words: list[Any], subject: int, low: list[str]) -> bool:
    """ "Hi, I'm Anna", or "I'm Anna" and nothing more: not "I'm Catholic", "I'm American"."""
    if KINDS.keys() & set(low) or WORDS["not_names"].intersection(low) or len(low) > 3:
        return False
    return subject == 0 or words[0].low in _OPENERS


def _concrete(words: list[Any], begin: int, end: int) -> bool:
    """Whether one can have it for long: a fern, two cats; not a question or a good time."""
    last = next((i for i in range(begin + 1, end) if words[i].low in ("of", ",", "and")), end) - 1
    return words[last].low not in WORDS["abstract"] and not (
        begin + 1 < end
        and words[begin + 1].low
        in ("few", "lot", "bit", "couple", "good", "great", "hard", "solid", "tab", "tabs")
    )


def _own_taste(words: list[Any], begin: int, end: int) -> bool:
    """Whether a liking lasts: not "the idea" or "the tips" of the conversation."""
    if choices.lookup(words, begin, end) is not None:
        return True
    low = [token.low for token in words[begin:end]]
    if WORDS["conversation"].intersection(low):
        return False
    if low[0] == "the" and "of" in low[2:]:
        return True
    return low[0] not in ("the", "this", "that", "how") or any(
        t.text[0].isupper() for t in words[begin + 1 : end]
    )


def _drafts(reading: Reading, clause: Clause, rule: Rule, slots: Slots) -> Iterator[RuleFinding]:
    words, says = clause.tokens, rule.says
    begin, end = slots["value"]
    listed = items(words, begin, end) if says.get("split") else [(begin, end)]
    if len(listed) > 1 and says["attribute"].startswith("@"):
        chosen = [one[0].attribute for each in listed if (one := choices.lookup(words, *each))]
        if len(set(chosen)) < len(chosen):
            listed = [(begin, end)]  # "Python and Rust" are both of one slot, which has one value
    for item in listed:
        if len(listed) > 1 and all(word.text.isdigit() for word in words[slice(*item)]):
            continue  # "two monitors, 27 and 32"
        finding = _finding(reading, clause, says, slots, item, len(listed) > 1)
        if finding is not None:
            found = [
                *tool_by_tool(clause, slots, finding), *other_half(clause, slots, finding)
            ]  # fmt: skip
            yield from role_alone(clause, found)


_FOR_A_DAY = compile_later(r"\ball (?:day|night|morning|afternoon|evening|weekend)\Z", re.I)


def _finding(
    reading: Reading,
    clause: Clause,
    says: Mapping[str, Any],
    slots: Slots,
    item: Range,
    one_of_many: bool,
) -> RuleFinding | None:
    words, content = clause.tokens, reading.content
    begin, end = item
    replaces = _contrast(reading, clause, slots)
    attribute, topic, category = says["attribute"], says.get("topic", ""), says.get("category")
    importance = says.get("importance", 500)
    durability = Durability.TRANSIENT if says.get("transient") else Durability.LASTING
    type_ = says["type"]
    if attribute == "kind":
        name = words[begin].low
        if name not in KINDS or (name == "lactose"):
            return None
        entry = KINDS[name][1]
        attribute, topic = entry["attribute"], entry["topic"]
        category, importance = entry.get("category"), entry["importance"]
        durability = Durability(entry.get("durability", "lasting"))
    chosen = choices.lookup(words, begin, end)
    if attribute in ("@choice", "@liked") or "@" in attribute or says.get("choice"):
        use = chosen is not None and (attribute != "@liked" or chosen[0].liked)
        if chosen is not None and use:
            choice, begin, end = chosen
            topic = choice.topic
            # To use one of these at all is to prefer it: a theme, a seat, a unit.
            if choice.liked and type_ == "fact":
                type_ = "preference"
        if attribute == "decision.@":
            kind = chosen[0].attribute.split(".")[1] if chosen is not None else "choice"
            attribute = f"decision.{kind}"
        elif attribute.startswith("@"):
            attribute = chosen[0].attribute if chosen is not None and use else says["otherwise"]
    if says.get("with_verb"):
        begin = clause.verb
    value = text_of(content, words, begin, end)
    if _FOR_A_DAY.search(value):
        durability = Durability.TRANSIENT
    if _one_more(clause, attribute):
        attribute = "role.{value}" if attribute == "work.role" else "uses.{value}"
    attribute = attribute.replace("{value}", slug(value))
    if "object" in slots:
        attribute = attribute.replace("{object}", slug(text_of(content, words, *slots["object"])))
    stop = _claim_stop(clause, item, slots, one_of_many)
    claim_begin = None
    if one_of_many:
        claim = claim_of(reading, clause, slots["value"][0]) + " " + value
    else:
        claim = claim_of(reading, clause, stop, claim_begin)
    start, finish, when = span_of(reading, clause, max(stop, slots["value"][1]))
    context = _context(reading, clause, says, slots, stop, one_of_many)
    if context is None and _open_ended_slot(says):
        front = _front(clause)
        if front is not None:
            context = text_of(content, words, *front)
            start = min(start, words[front[0] - 1].start)
    if context is not None and chosen is not None and choices.names_only(chosen[0], context):
        context = None
    if says.get("already") and (when.start or 0) > reading.said_at:
        when = NEVER
    if clause.ended or replaces:
        finish = max(finish, words[_span_stop(clause) - 1].end)
    return RuleFinding(
        content, start, finish, claim, type_, attribute, value, importance,
        confidence=_confidence(clause, says),
        topic=topic, category=category,
        negated=clause.negated != bool(says.get("flip")),
        context=context,
        replaces=replaces, durability=durability,
        when=when, act=_act(clause, says, slots),
        participants=names_in(words, begin, end) if attribute.startswith(_WITH) else (),
    )  # fmt: skip


def _one_more(clause: Clause, attribute: str) -> bool:
    """ "I also use vitest", "I'm a student too": one beside others, which it does not replace."""
    if not attribute.startswith(("tool.", "work.role")) or clause.negated:
        return False
    after = [word.low for word in clause.tokens[clause.stop : clause.stop + 2]]
    return "also" in clause.adverbs or after[:1] == ["too"] or after == ["as", "well"]


def _act(clause: Clause, says: Mapping[str, Any], slots: Slots) -> SpeechAct | None:
    """The act that a rule names, or a change for what is so "now"."""
    if "act" in says:
        return SpeechAct(says["act"])
    after = [word.low for word in clause.tokens[slots["value"][1] : clause.stop + 1]]
    present = clause.tense in ("present", "continuous") and not clause.negated
    return SpeechAct.CHANGE if present and after[:1] == ["now"] else None


def _confidence(clause: Clause, says: Mapping[str, Any]) -> int:
    return 650 if clause.hedged else int(says.get("confidence", 900))


def _claim_stop(clause: Clause, item: Range, slots: Slots, one_of_many: bool) -> int:
    """Where the claim ends: the clause's end if that is near, else the last slot's."""
    last = max(end for _, end in slots.values())
    if one_of_many:
        return last
    stop = clause.stop
    who = clause.tokens[stop : stop + 3]
    if len(who) > _WHO_DOES and who[0].low == "who" and clause.tokens[stop - 1].low in PERSONS:
        return min(clause_end(clause.tokens, stop + 2, "present"), stop + _LONG_CLAUSE)
    for at in range(item[1], clause.stop - 1):
        low, following = clause.tokens[at].low, clause.tokens[at + 1].low
        if (low == "," and following == "not") or (low == "not" and at == item[1]):
            stop = at
            break
    if stop - clause.verb > _LONG_CLAUSE:
        stop = max(last, clause.verb + 2)
    if pointing(clause.tokens, last, stop):
        stop = last
    if stop < len(clause.tokens) and clause.tokens[stop].text == "(":
        listed = list_end(clause.tokens, stop)
        if listed > stop:
            return listed
        # A list is not cut after the first of it.
        stop = next((at for at in range(last, stop) if clause.tokens[at].text == ","), stop)
    _, stop = trim(clause.tokens, clause.verb + 1, stop)
    return max(stop, last)


def _span_stop(clause: Clause) -> int:
    return max(clause.tail, clause.stop)


def _contrast(reading: Reading, clause: Clause, slots: Slots) -> str | None:
    """The value that is said to be wrong or over: "…, not unittest", "from unittest"."""
    words = clause.tokens
    if "replaces" in slots:
        begin, end = slots["replaces"]
        return text_of(reading.content, words, begin, end)
    for at in range(clause.verb + 1, clause.stop - 1):
        if (
            words[at].low == "not"
            and (words[at - 1].low in (",", "and") or at == slots["value"][1])
            and at > clause.verb + 1
        ):
            begin, end = trim(
                words, at + 1, phrase_end(words, at + 1, clause.stop, frozenset({"of"}))
            )
            if words[begin].low in ("at", "in", "for", "to") if begin < end else False:
                begin += 1
            return text_of(reading.content, words, begin, end) or None
    return None


def _context(
    reading: Reading,
    clause: Clause,
    says: Mapping[str, Any],
    slots: Slots,
    stop: int,
    one_of_many: bool,
) -> str | None:
    words = clause.tokens
    if "context" in slots:
        begin, end = slots["context"]
        end = min(end, stop)
        if tidy(words, begin, end, 10) and "work.employer" not in says["attribute"]:
            return text_of(reading.content, words, begin, end)
        return None
    if one_of_many or not _open_ended_slot(says):
        return None
    last = max(end for _, end in slots.values())
    if last < stop - 1 and words[last].low in _LATER and stop - last <= 8:
        begin, end = trim(words, last + (words[last].low == "for"), stop)
        # "for a while now", "for three years" say how long, not in which circumstance.
        if WORDS["durations"].intersection(token.low for token in words[begin:end]):
            return None
        return text_of(reading.content, words, begin, end) or None
    return None


def _open_ended_slot(says: Mapping[str, Any]) -> bool:
    """Whether what the rule says may hold in some circumstance only."""
    open_ended = says["type"] == "preference" or says["attribute"].startswith("@")
    return open_ended and not says.get("no_context")


_WITH = ("relation.reports-to", "relation.works-with", "relation.manages", "relation.spouse")
_FRONT = frozenset("on for at during in when while".split())


def _front(clause: Clause) -> Range | None:
    """The circumstance that opens the sentence: "On Fridays I prefer …", "For backend work I …"."""
    words, stop = clause.tokens, clause.subject
    if stop < 2 or words[0].low not in _FRONT:
        return None
    begin, stop = trim(words, 1, stop)
    low = {token.low for token in words[begin:stop]}
    said_when = find_when(" ".join(t.text for t in words[0:stop]), 0) is not None
    lasting = low & (WORDS["durations"] | WORDS["pronouns"] | WORDS["pointers"] | {"i", "my", ","})
    if not 0 < stop - begin <= 5 or said_when or lasting:
        return None
    return begin, stop


_OPENERS = frozenset(
    "hi hello hey hiya heya hallo yes by bonjour hola ola salut ciao servus moin namaste".split()
)
"""Words that a statement may begin with, before who speaks."""
