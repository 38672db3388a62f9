"""Denials that leave out their subject or are led up to: "not vegetarian any more", "turns out I'm
not allergic to penicillin after all".

They are read as "I'm not vegetarian any more" and "I'm not allergic to penicillin". Spans keep
pointing at what was typed.
"""

from __future__ import annotations

from beliefledger.gate.literals import Guarded, lowered
from beliefledger.gate.rules.lexicon import GIVEN, NEAR
from beliefledger.gate.rules.words import Token

_MAY_BE = Guarded(
    r"\b(?:no longer|any ?more|any longer|turns out|turned out|apparently|after all)\b"
)
_JOINING = frozenset("and so but then also".split())
_MARKS = frozenset(",;.!:-–—")
_STOPS = frozenset(",;.!:-–—(")
_ENDS = (("anymore",), ("any", "more"), ("any", "longer"))
_MOST = 8
"""So many words a bare denial may have."""
_FIRST = frozenset("i i'm i've i'd we we're we've we'd me".split())
_OTHERS = frozenset(
    "he he's she she's they they're it it's you you're who which that that's this there is are was "
    "were isn't aren't wasn't weren't has if unless when would could might".split()
)
_NO_STATE = frozenset(
    "a an the my our your his her their this that any one if only just sure surprised even because "
    "as when so too very much many all yet now here there what who is are was were be been to you "
    "fun true good bad great possible available valid relevant needed necessary supported required "
    "working".split()
)
"""Words after which a denial without a subject is of a thing, or of nothing that lasts."""
_LEADS = (
    ("it", "turns", "out", "that"), ("it", "turns", "out"), ("it", "turned", "out", "that"),
    ("it", "turned", "out"), ("turns", "out", "that"), ("turned", "out", "that"),
    ("turns", "out"), ("turned", "out"), ("apparently", ","), ("apparently",),
)  # fmt: skip
_DENIED = (("i'm", "not"), ("i", "am", "not"), ("i", "don't"), ("i", "do", "not"))


def may_be_in(text: str) -> bool:
    """Whether a text has the words of one."""
    return _MAY_BE.search(text, lowered(text)) is not None


def plainly(words: list[Token]) -> list[Token]:
    """The words of a sentence, its denials with their subject and without what leads up to them."""
    low = [word.low for word in words]
    if low[-1] == "?":
        return words
    found: list[Token] = []
    at = 0
    while at < len(words):
        if _opens(low, at):
            at += _led_up_to(low, at)
            if _is_bare(words, low, at):
                begin = words[at].start
                found.append(Token("i'm", "i'm", begin, begin))
        elif low[at : at + 2] == ["after", "all"] and _closes(low, at):
            at += 2
            continue
        found.append(words[at])
        at += 1
    return found


def _opens(low: list[str], at: int) -> bool:
    """Whether a clause may begin there: first, or behind a mark and words that join."""
    while at and low[at - 1] in _JOINING:
        at -= 1
        if low[at] in ("and", "so", "but"):
            return True
    return at == 0 or low[at - 1] in _MARKS


def _led_up_to(low: list[str], at: int) -> int:
    """How many words lead up to a denial of the speaker's; none where it is none."""
    for lead in _LEADS:
        end = at + len(lead)
        if tuple(low[at:end]) == lead:
            denied = any(tuple(low[end : end + len(each)]) == each for each in _DENIED)
            return len(lead) if denied else 0
    return 0


def _closes(low: list[str], at: int) -> bool:
    """Whether "after all" ends a clause that denies something of the speaker."""
    if at + 2 < len(low) and low[at + 2] not in _STOPS:
        return False
    begin = max((i + 1 for i in range(at) if low[i] in _STOPS), default=0)
    said = low[begin:at]
    return any(tuple(said[i : i + len(each)]) == each for each in _DENIED for i in range(len(said)))


def _is_bare(words: list[Token], low: list[str], at: int) -> bool:
    """Whether a denial begins there that is of the speaker: "not vegan any more"."""
    longer = low[at : at + 2] == ["no", "longer"]
    begin = at + 2 if longer else at + 1
    if not (longer or low[at] == "not") or begin >= len(words):
        return False
    end = next((i for i in range(begin, len(low)) if low[i] in _STOPS), len(low))
    said = low[begin:end]
    article = said[:1] in (["a"], ["an"])
    rest = said[article:]
    if not rest or len(said) > _MOST or rest[0] in _NO_STATE or not rest[0][0].isalpha():
        return False
    if "but" in said or (len(rest) == 1 and rest[0] in GIVEN):
        return False  # "no longer Anna but Marek" is of whoever was told of
    if not longer and not any(
        tuple(said[i : i + len(each)]) == each for each in _ENDS for i in range(1, len(said))
    ):
        return False
    if not _OTHERS.isdisjoint(said):
        return False  # "not vegan any more is what she said"
    if low[end + 1 : end + 2] in (["they"], ["it's"]):
        return False  # "not junior any more, they made me a lead" gives a new value
    return _is_of_speaker(low, at)


def _is_of_speaker(low: list[str], at: int) -> bool:
    """Whether what stands before is nothing, or of the speaker too."""
    before = low[:at]
    if any(each in _FIRST for each in before[:1]) and _OTHERS.isdisjoint(before):
        return True
    if not _OTHERS.isdisjoint(before) or not NEAR.isdisjoint(before):
        return False
    first = next((i for i in range(at) if low[i].isalpha() and low[i] not in _JOINING), None)
    if first is None:
        return True
    return low[first] in _DID and not any(each in ("the", "my", "our") for each in before[:1])


_DID = frozenset(
    "had ate eaten got hurt broke quit left sold moved started stopped gave tried went took bought "
    "decided switched changed finished drank cooked made lost found met saw did been back eating "
    "having".split()
)
"""What a clause begins with that leaves "I" out, before such a denial."""
