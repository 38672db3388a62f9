"""Other names of somebody, when the user states them: "by S. Chen I mean Sarah"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.rules.drafts import Draft
from gate.rules.lexicon import WORDS
from gate.rules.named import NO_NAMES

_HINT = re.compile(
    r"\bknown as\b|\baka\b|a\.k\.a|\bmean\b|\bmeans\b|\bcalls?\b|\bname is\b|\bgoes by\b|"
    r"\bshort for\b|\bnickname\b|\brefers? to\b|\b[A-Z][\w.'’-]* is (?:the same (?:person )?as )?[A-Z]|"
    r"\([A-Z]",
    re.I,
)
_PART = r"[A-Z](?:[^\W_]+(?:['’-][^\W_]+)*\b|\.)"
_NAME = rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?{_PART}(?: ?{_PART}){{0,3}}"
_ANY = r"[\"“'‘]?(?P<alias>[^\W_][^\n,;:!?\"”]{0,40}?)[\"”'’]?"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^(?:[Bb]y|[Ww]hen(?:ever)? I (?:say|write|mention)|[Ii]f I (?:say|write|mention)),? {_ANY},? "
        rf"I(?:'m| am)? (?:always )?(?:mean|talking about|refer to|referring to) (?P<name>{_NAME})",
        rf"^(?:[Ee]verybody|[Ee]veryone|[Pp]eople|[Ww]e(?: all)?|[Tt]hey|[Ff]riends|I|[Tt]he team) "
        rf"(?:always |usually |just |all )?calls? (?P<name>{_NAME}?) [\"“']?(?P<alias>{_NAME})",
        rf"^(?P<alias>{_NAME}?)['’]s (?:full|real|actual|legal|complete) name is (?P<name>{_NAME})",
        rf"^(?P<name>{_NAME}?)['’]s (?:nickname|short name|alias|handle) is [\"“']?(?P<alias>{_NAME})",
        rf"^(?P<name>{_NAME}) (?:also )?goes by [\"“']?(?P<alias>{_NAME})",
        rf"(?:^|\b)(?P<name>{_NAME}),? (?:is )?(?:also|better|otherwise) known as [\"“']?(?P<alias>{_NAME})",
        rf"(?:^|\b)(?P<name>{_NAME}),? (?:is )?(?:aka|a\.k\.a\.?) [\"“']?(?P<alias>{_NAME})",
        rf"^(?P<name>{_NAME}) \((?:(?:also known as|aka|a\.k\.a\.|or|called) )?[\"“']?"
        rf"(?P<alias>{_NAME})[\"”']?(?: (?:in|on|for|to|as) [^()]{{2,40}})?\)",
        rf"^(?P<alias>{_NAME}) is (?:short|a nickname|the nickname|another name) for (?P<name>{_NAME})",
        rf"^[\"“']?(?P<alias>{_NAME})[\"”']? (?:refers to|means) (?P<name>{_NAME})\.?$",
        rf"^(?P<alias>{_NAME}) (?:and (?P<name>{_NAME}) are|is) the same person"
        rf"(?: as (?P<other>{_NAME}))?",
    )
)
_IS = re.compile(rf"^(?:So )?(?P<a>{_NAME}) is (?:really |actually |just )?(?P<b>{_NAME})\.?$")


def drafts(text: str, start: int, end: int) -> Iterator[Draft]:
    """The other name that the sentence text[start:end] gives somebody."""
    if end - start > 200 or not _HINT.search(text, start, end):
        return
    while start < end and text[start].isspace():
        start += 1
    said = text[start:end].rstrip()
    for pattern in _PATTERNS:
        found = pattern.search(said)
        if found is None:
            continue
        groups = found.groupdict()
        name, alias = groups.get("name") or groups.get("other"), groups["alias"]
        if name is None or not (_fits(name) and _fits(alias)) or name == alias:
            continue
        yield _draft(text, start + found.start(), start + found.end(), said, name, alias.strip())
        return
    bare = _IS.match(said)
    if bare is not None and _same(bare["a"], bare["b"]):
        name, alias = sorted((bare["a"], bare["b"]), key=_fullness, reverse=True)
        yield _draft(text, start, start + bare.end("b"), said, name, alias)


def _draft(text: str, start: int, end: int, said: str, name: str, alias: str) -> Draft:
    del said
    return Draft(text, start, end, " ".join(text[start:end].rstrip(".").split()), "entity", "alias",
                 alias, 700, entity=name)  # fmt: skip


def _fits(name: str) -> bool:
    low = name.lower().rstrip(".")
    first = low.split()[0]
    return low not in ("i", "me", "myself") and not (
        " " not in low and name[0].isupper() and (first in NO_NAMES or first in WORDS["not_names"])
    )


def _fullness(name: str) -> tuple[int, int]:
    """How much of a name is written out."""
    whole = [part for part in name.replace(".", " ").split() if len(part) > 1]
    return len(whole), len(name)


def _same(a: str, b: str) -> bool:
    """Whether "A is B" can give one person's two names: they share a word or an initial, or one is
    a whole name."""
    if not (_fits(a) and _fits(b)) or a == b:
        return False
    one, other = a.lower().replace(".", " ").split(), b.lower().replace(".", " ").split()
    if set(one) & set(other):
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) == 1 and len(longer) > 1:
        return shorter[0][0] == longer[0][0]
    return len(shorter) == len(longer) == 1 and (
        shorter[0] in longer[0] or longer[0] in shorter[0] or shorter[0][:2] == longer[0][:2]
    )
