"""The second slot that one statement fills: "a nurse at St Mary's", "born in Leeds in 1990"."""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.gate.rules import choices
from beliefledger.gate.rules.clauses import Clause
from beliefledger.gate.rules.findings import RuleFinding
from beliefledger.gate.rules.patterns import Slots, is_year
from beliefledger.gate.rules.phrases import city_end, phrase_end, slug, text_of, tidy, trim
from beliefledger.ledger.candidate import SELF

_CALLED = frozenset({"called", "named"})


def other_half(clause: Clause, slots: Slots, finding: RuleFinding) -> Iterator[RuleFinding]:
    """The other half of "a nurse at St Mary's", or of "at Acme as a nurse"."""
    words, (start, at) = clause.tokens, slots["value"]
    if finding.attribute == "work.role":
        called = next((i for i in range(start, at - 1) if words[i].low in _CALLED), None)
        if called is not None and words[called + 1].text[0].isupper():
            value = text_of(finding.content, words, called + 1, at)  # "CTO of a startup called X"
            yield finding._replace(attribute="work.employer", value=value, replaces=None)
            return
    if at + 1 >= clause.stop:
        return
    low, following = words[at].low, words[at + 1]
    begin = end = at
    if finding.attribute == "work.role" and low in ("at", "for") and following.text[0].isupper():
        begin, end = trim(words, at + 1, phrase_end(words, at + 1, clause.stop, frozenset({"of"})))
        other = "work.employer"
    elif (
        finding.attribute == "work.employer" and low == "as" and following.low in ("a", "an", "the")
    ):
        begin, end = trim(words, at + 2, phrase_end(words, at + 2, clause.stop, frozenset({"of"})))
        other = "work.role"
    elif finding.attribute == "home.household" and low == "in":
        begin, end = at + 1, city_end(words, at + 1)
        other = "home.location"
    elif finding.attribute in ("identity.birth-year", "identity.birthday") and low == "in":
        begin, end = at + 1, city_end(words, at + 1)
        other = "identity.birthplace"
    elif finding.attribute == "identity.birthplace" and low in ("in", "on"):
        begin, end = at + 1, at + 2
        other = "identity.birth-year"
        if not is_year(following.low):
            return
    else:
        return
    if tidy(words, begin, end, 6):
        value = text_of(finding.content, words, begin, end)
        claim = finding.claim
        if other == "home.location" and claim.startswith(_LIVES):
            claim = f"{_LIVES} in {value}"  # so it stays once nobody lives with them
        yield finding._replace(attribute=other, value=value, claim=claim, replaces=None)


_LIVES = f"{SELF} lives"


def tool_by_tool(clause: Clause, slots: Slots, finding: RuleFinding) -> list[RuleFinding]:
    """Each of "uses Linear for tickets and Notion for docs" in its own slot."""
    words, at = clause.tokens, slots["value"][1]
    stop = clause.stop
    if not finding.attribute.startswith("tool.") or at >= stop or words[at].low != "for":
        return [finding]
    both = next((i for i in range(at + 1, stop) if words[i].low in ("and", "but")), None)
    if both is None or both + 2 >= stop:
        return [finding]
    end = next((i for i in range(both + 1, stop) if words[i].low == "for"), None)
    if end is None or end + 1 >= stop or not 0 < end - both - 1 <= _MOST_WORDS:
        return [finding]
    value = text_of(finding.content, words, both + 1, end)
    chosen = choices.lookup(words, both + 1, end)
    claim, joined = finding.claim, finding.content[words[both].start : words[end].start]
    cut = claim.find(joined)
    attribute = chosen[0].attribute if chosen else f"uses.{slug(value)}"
    if cut < 0 or attribute == finding.attribute:
        return [finding]
    verb = claim[: claim.find(text_of(finding.content, words, *slots["value"]))]
    second = verb + claim[cut + len(words[both].text) + 1 :]
    uses = (text_of(finding.content, words, at + 1, both), second.rpartition(" for ")[2])
    first, other = (finding._replace(context=use if finding.context else None) for use in uses)
    return [first, other._replace(attribute=attribute, value=value, claim=second, replaces=None)]


_MOST_WORDS = 3


def role_alone(clause: Clause, found: list[RuleFinding]) -> Iterator[RuleFinding]:
    """The findings of a statement, the claim of a role without the employer that is told beside it:
    a nurse who leaves St Mary's is a nurse still."""
    told = {each.attribute: each for each in found}
    employer = told.get("work.employer")
    apart = len(found) == len(_WORK) and told.keys() == _WORK
    for each in found:
        if not apart or employer is None or each is employer or clause.negated or clause.ended:
            yield each
            continue
        claim = each.claim
        for link in ("at", "for", "with"):
            claim = claim.replace(f" {link} {employer.value}", "", 1)
        yield each._replace(claim=claim)


_WORK = {"work.employer", "work.role"}
