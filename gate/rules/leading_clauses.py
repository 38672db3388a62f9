"""Where a clause that leads in ends without a comma: "since I left Lidl my feet hurt less".

Without a mark the object of the one would run on into the other. Pure.
"""

from __future__ import annotations

from beliefledger.gate.rules.lexicon import AS_BASE, BASES, Form, verb_form
from beliefledger.gate.rules.words import Token

_LEADING = frozenset({"since", "after", "because", "cos", "cuz", "now"})
_SPEAKERS = frozenset({"i", "i'm", "i've", "we", "we're", "we've", "my", "our"})
_SUBJECTS = frozenset(
    "i i'm i've i'd i'll we we're we've we'd we'll it's there's there he she they everything"
    " everybody everyone nothing life".split()
)
_OWNERS = frozenset({"my", "our", "the", "his", "her", "their"})
_NO_END = frozenset(
    "and or but of to in at on for from with by as that which who than because since when where"
    " while if the a an my our his her their this so".split()
)
"""Behind one of these no clause ends …"""
_SAYING = frozenset(
    "think thought hope hoped wish wished know knew say said hear heard guess guessed feel felt"
    " believe believed suppose reckon wonder see saw bet doubt fear assume mean meant pretend"
    " imagine dream dreamt noticed realised realized found decided told him her me us them".split()
)
"""… nor behind these, of what is only thought or told: "because I really hope my son gets it"."""
_GOES_ON = _NO_END | _SAYING
_FINITE = AS_BASE | {Form.PAST}
_IS = frozenset("is are was were has have had can will would feels seems".split())
_OWNED = 4
"""So many words at most stand between an owner and the verb: "my two older kids sleep"."""
_POST = 6
"""In so many words a post is named, with what stands before its employer."""
_NO_POST = _OWNERS - {"the"} | frozenset(
    "am is are was were work live study play shop stay volunteer bank have has got get need want"
    " eat train swim".split()
)
_DONE = {
    "moving": "moved", "leaving": "left", "joining": "joined", "quitting": "quit",
    "starting": "started", "selling": "sold", "buying": "bought", "retiring": "retired",
    "switching": "switched", "changing": "changed", "becoming": "became", "adopting": "adopted",
    "getting": "got", "losing": "lost", "giving": "gave", "graduating": "graduated",
}  # fmt: skip
"""What the speaker did who says "since moving to York I cycle"."""


def parted(words: list[Token]) -> list[Token]:
    """The words of a sentence, with an empty ";" where its main clause begins, and "since I moved"
    for "since moving"."""
    at = int(words[0].low in {"ever", "and", "but", "so"})
    if words[at].low not in _LEADING:
        return words
    at += 1 + (words[at].low == "now" and words[at + 1].low == "that")
    did = _DONE.get(words[at].low) if words[at - 1].low in {"since", "after"} else None
    if did is None and words[at].low not in _SPEAKERS:
        return words
    for place in range(at + (2 if did else 3), len(words) - 1):
        low = words[place].low
        mark = low in ",;.:!?"
        if mark and did is None:
            return words
        before = words[place - 1].low
        if mark or (before not in _GOES_ON and _begins(words, place)):
            end = words[place - 1].end
            leading = words[:place]
            if did is not None:
                if words[place + mark].low not in _SPEAKERS:
                    return words
                first = words[at]
                speaker = Token("i", "i", first.start, first.start)
                leading[at : at + 1] = speaker, first._replace(low=did)
            return [*leading, *([] if mark else [Token(";", ";", end, end)]), *words[place:]]
    return words


def is_of_a_post(words: list[Token], at: int) -> bool:
    """Whether the words from `at` on only say as what and at whose somebody works: of "now store
    manager at Aldi" the "now" is no mere opening."""
    for place in range(at, min(at + _POST, len(words) - 1)):
        low = words[place].low
        if low in {"at", "with", "for"} and place > at:
            return words[place + 1].text[0].isupper()
        if not low.isalpha() or low in _NO_POST or low.endswith("ing") or low in _SUBJECTS:
            return False
    return False


def _begins(words: list[Token], place: int) -> bool:
    """Whether a main clause begins with a word: a subject, and its verb."""
    low, following = words[place].low, words[place + 1].low
    if low in _SUBJECTS:
        return "'" in low or low == "there" or following in _IS or _is_finite(following)
    if low not in _OWNERS:
        return False
    ahead = [word.low for word in words[place + 2 : place + 2 + _OWNED]]
    for word in ahead:
        if word in _IS:
            return True
        if word in _NO_END or not word.isalpha():
            return False
        if _is_finite(word):
            return True
    return False


def _is_finite(word: str) -> bool:
    return word in BASES or verb_form(word)[1] in _FINITE
