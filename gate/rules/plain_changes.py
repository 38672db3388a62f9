"""Plain news after which something believed is over or otherwise: "we got a dog!!".

What such words may end is found here; which memories are meant is looked up by
`beliefledger.gate.plain_changes`. The patterns are in `plain_changes.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from beliefledger.gate.literals import Guarded, Table, plain
from beliefledger.gate.rules.findings import RuleFinding, looked_up
from beliefledger.gate.rules.lexicon import GIVEN, expanded, load
from beliefledger.gate.rules.patterns import is_job
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.rules.successions import without_reason
from beliefledger.gate.sentences import is_question
from beliefledger.ledger.late_patterns import compile_later

ATTRIBUTE = "event.plain-change"
LONGEST = 160
"""The longest sentence that is looked at, in characters."""
_DATA: dict[str, Any] = load("plain_changes.yaml")
_NEVER = compile_later(_DATA["never"])
_BESIDE = compile_later(_DATA["beside"])
_STOP = frozenset(_DATA["stop"].split())
_ADJECTIVES = frozenset(_DATA["adjectives"].split())
_KINDS = {kind: frozenset(names.split()) for kind, names in _DATA["kinds"].items()}

_WORD = compile_later(r"[^\W_]+(?:['-][^\W_]+)*")
_FOR_ANOTHER = compile_later(
    r" for (?:(?:you|him|her|them|someone|somebody)\b|"
    r"(?:my|his|her|their|our|the) (?!(?:first|birthday|new|own)\b))"
)


class Change(NamedTuple):
    """A pattern, and what it says of the memories that are meant."""

    pattern: Guarded
    of: re.Pattern[str]
    says: dict[str, Any]
    needs: re.Pattern[str] | None
    never: re.Pattern[str] | None


class News(NamedTuple):
    """What a sentence says by one of the patterns."""

    change: Change
    things: frozenset[str]
    """The words that name what there is now, or is no more."""
    who: str | None
    new: tuple[int, int] | None
    """The offsets of the new value."""
    at: int
    """Where the words begin that say so."""
    text: str
    """The sentence."""
    pair: str
    """Whom it says besides `who`: of two who part."""


def _change(says: dict[str, Any]) -> Change:
    parts = (re.escape(one).replace(r"\*", r"[\w.-]{0,60}") for one in says["of"].split())
    expand = ("holds", "needs", "never")
    says = says | {each: expanded(says[each], _DATA["parts"]) for each in expand if each in says}
    say = expanded(says["say"], _DATA["parts"])
    for group in ("new", "who"):
        say = _numbered(say, group)
    return Change(
        Guarded(say),
        compile_later(rf"(?:{'|'.join(parts)})\Z"),
        says,
        compile_later(says["needs"]) if "needs" in says else None,
        compile_later(says["never"]) if "never" in says else None,
    )


def _numbered(say: str, group: str) -> str:
    """A pattern whose groups of one name are told apart: `new`, `new_2`, `new_3`."""
    first, *more = say.split(f"(?P<{group}>")
    return first + "".join(
        f"(?P<{group}{f'_{number}' if number > 1 else ''}>{part}"
        for number, part in enumerate(more, 1)
    )


_CHANGES = Table([_change(says) for says in _DATA["changes"]])


def findings(content: str, start: int, end: int) -> Iterator[RuleFinding]:
    """The sentence content[start:end], where it may tell such news."""
    while end > start and content[end - 1] in ".!,; ":
        end -= 1
    text = content[start:end]
    if next(news(text), None) is not None:
        if category_of(text) is not None:
            begin, stop = without_reason(content, start, end)
            if next(news(content[begin:stop]), None) is not None:
                start, end, text = begin, stop, content[begin:stop]
        words = " ".join(dict.fromkeys(_WORD.findall(plain(text))))
        yield looked_up(content, start, end, ATTRIBUTE, words)


def may_be_in(text: str) -> bool:
    """Whether a text may have any such news."""
    return bool(_CHANGES.possible(plain(text)))


_POLITE = compile_later(
    r"\W*(?:(?:please|hey|so|and|but|oh|actually|ok)[,:]? ){0,3}(?:can|could|would|will) you "
)
"""Asks for something, and no question."""


def news(text: str) -> Iterator[News]:
    """What a sentence says by the patterns."""
    if not 0 < len(text) <= LONGEST:
        return
    low = plain(text)
    if is_question(text) and _POLITE.match(low) is None:
        return
    possible = _CHANGES.possible(low)
    if not possible:
        return
    never = _NEVER.search(low) is not None
    beside = _BESIDE.search(low) is not None
    for change in possible:
        says = change.says
        if beside and not (says.get("beside") or says.get("answers")):
            continue
        if change.needs is not None and change.needs.search(low) is None:
            continue
        if change.never is not None and change.never.search(low) is not None:
            continue
        if never and not says.get("own"):
            continue
        found = change.pattern.search(low, low)
        if found is None:
            continue
        behind = "" if says.get("behind") else low[found.end() :]
        if never and _NEVER.search(f"{low[: found.start()]} {behind}") is not None:
            continue
        groups = found.groupdict()
        things: frozenset[str] = frozenset()
        if "thing" in groups:
            things = _things(groups["thing"] or "")
            if says.get("job") and not any(map(is_job, things)):
                continue
            if not things or _FOR_ANOTHER.search(low, found.start("thing")):
                continue
        named = next((each for each in groups if each.startswith("new") and groups[each]), None)
        who = next(
            (groups[each] for each in groups if each.startswith("who") and groups[each]), None
        )
        pair = groups.get("pair") or ""
        if named is None:
            yield News(change, things, who, None, found.start(), text, pair)
            continue
        if says.get("rival") and _FOR_ANOTHER.search(low, found.start(named)):
            continue
        if says.get("job") and not is_job(found[named].split()[-1]):
            continue
        if says.get("named") and not _is_name(text, *found.span(named)):
            continue
        yield News(change, things, who, found.span(named), found.start(), text, pair)


def _is_name(text: str, start: int, end: int) -> bool:
    """Whether a word is a name: a given name, or with a capital behind other words."""
    return text[start:end].lower() in GIVEN or (
        text[start].isupper() and text[:start].strip() != ""
    )


def _things(words: str) -> frozenset[str]:
    """What words name: the last of them, the first, and together."""
    kept: list[str] = []
    for word in words.split():
        if word in _STOP:
            break
        kept.append(word)
    while len(kept) > 1 and kept[0] in _ADJECTIVES:
        del kept[0]
    return frozenset((kept[-1], " ".join(kept))) if kept else frozenset()


def is_named(word: str, things: frozenset[str]) -> bool:
    """Whether something is what words name: a dog for who has no pets."""
    kind = singular(word)
    names = _KINDS.get(kind, frozenset()) | _KINDS.get(word, frozenset())
    names = names.union(*(_KINDS.get(each, ()) for each in names))
    return any(singular(each) in {kind, *map(singular, names)} for each in things)


def singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
