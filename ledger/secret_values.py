"""Whether what follows a label is a secret: how much of a value is one.

"My password is weak" says something about a password, "my password is hunter2" tells it. Each judge
answers how many characters of the value, from its beginning, are the secret; 0 for none.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.secret_patterns import ANGLED

# Words that say something about a secret instead of being one, or that end what was said of it.
_PROSE = frozenset(
    """
    a an the this that these those it its it's i i'm i'll i've we we're you you're he she they my
    your his her our their one ones someone anyone everyone me us him them
    and or but nor so then than as if when while whenever because since until unless before after
    once though although which who whose what where why how whether
    for to from of on in at by with without via per about into onto over under between across
    through up out off down back again away here there
    is are was were be been being am has have had having do does did don't doesn't didn't isn't
    wasn't aren't won't can can't cannot could should would will may might must shall let let's
    not no never none nothing something anything everything always often usually still already
    also too very really quite just only even almost nearly pretty rather somewhat extremely now
    currently soon later today tomorrow yesterday tonight recently maybe perhaps probably
    apparently actually basically literally simply likely possibly automatically manually
    please thanks thank ok okay yes yeah lol btw
    weak weaker strong stronger short shorter long longer good better best bad worse simple complex
    complicated easy easier hard harder difficult secure insecure safe unsafe old older outdated
    new newer unique different same similar identical random common predictable guessable
    wrong incorrect correct right invalid valid fine okay great working broken blank empty
    expired expiring lost forgotten missing gone known unknown required needed necessary optional
    mandatory important essential critical crucial enough sufficient available unavailable
    stored saved kept hidden written encrypted hashed salted protected shared reused used set
    reset changed updated changing locked unlocked disabled enabled compromised leaked stolen
    hacked exposed breached cracked guessed public private confidential sensitive secret personal
    case-sensitive case default temporary permanent visible autofilled remembered managed
    generated sent emailed asked entered typed accepted rejected denied supposed considered made
    going getting causing showing stuck due ready based called named mentioned given part key
    such like similarly example e.g e.g. i.e etc first second last next least most more less many
    much some any all each every both several few half
    use using make making choose choosing ensure create creating enter entering keep keeping avoid
    consider change update check enable add set try remember recover regain gain get access prevent
    protect login log sign continue unlock verify confirm provide store save write share ask
    string str text varchar char bytes int none null nil undefined true false
    """.split()
)
# "Changed my password to …": what begins a purpose, not a passphrase.
_PURPOSES = frozenset(
    """
    regain gain get fix stop help avoid match meet satisfy comply improve strengthen secure protect
    prevent restore resolve solve remove reduce test see be make keep let allow log sign unlock
    increase follow reflect include contain use have find open block deal
    """.split()
)
_UNITS = frozenset(
    "characters chars letters digits words numbers symbols bits bytes times days weeks months "
    "years hours minutes seconds attempts things percent".split()
)
# Values that name where the secret is, or that blank it out already.
_STAND_IN = compile_later(
    r"<[\w .-]*>|\$\{[^}]*\}|\$\([^)]*\)|\$[A-Z_]+|\{+[\w .]*\}+|[0-9]+%|"
    r"(?:os|process|self|args|config|settings|env|request|req|form|user|ctx|params|options|this)"
    r"[.\[(].*|(?:get|load|read|prompt|fetch|hash|input)[A-Za-z_.]*\(.*|"
    r"none|null|nil|undefined|true|false|str|string|x{3,}|your[-_]\w+"
)
_STOPS = ".,;:"
_CLOSERS = ")]}>\"'`*"
_ANGLED_ALL = compile_later(ANGLED)


def _bare(value: str) -> str:
    """Strip the punctuation of the sentence around the value."""
    return value.rstrip(_STOPS + _CLOSERS)


def _spelled(value: str) -> bool:
    """Whether it is written like a word, in letters only."""
    return value.replace("'", "").replace("-", "").isalpha()


def _whole(value: str) -> int:
    """Take all of the value, less the sentence's punctuation; nothing if it only stands in."""
    if _quoted(value):
        return len(value) if _has_content(value[1:-1]) else 0
    bare = _bare(value)
    return len(bare) if _has_content(value) and _has_content(bare) else 0


def _quoted(value: str) -> bool:
    return len(value) > 1 and value[0] in "\"'`" and value[-1] == value[0]


def _has_content(value: str) -> bool:
    """Whether there is anything to hide: not dots or stars, nor a name for where it is kept."""
    stands_in = _STAND_IN.fullmatch(value) or _STAND_IN.fullmatch(value.lower())
    return not stands_in and any(c.isalnum() for c in value)


def _said(value: str) -> int:
    """Take what was said as a password, unless it only describes one.

    A spelled word may begin a passphrase, which lasts until a word that ends it.
    """
    if _quoted(value) or _ANGLED_ALL.fullmatch(value):
        return _whole(value)
    words = list(re.finditer(r"\S+", value))
    first = words[0].group()
    bare = _bare(first)
    if not _has_content(bare):
        return 0
    if not _spelled(bare):
        unit = words[1].group().lower() if len(words) > 1 else ""
        return 0 if bare.rstrip("+").isdigit() and unit in _UNITS else len(bare)
    run = 0 if first[-1] in _STOPS else _spelled_run(words[1:])
    # "correct horse battery staple" begins with a word of prose, "wrong again" only looks like it.
    if bare.lower() in _PROSE and run < 3:
        return 0
    return words[run].end() if run else len(bare)


def _said_to(value: str) -> int:
    """As `_said`, after "changed my password to", where a verb may follow: "to regain entry"."""
    taken = _said(value) or _said_before_time(value)
    words = value[:taken].split()
    count = len(words)
    return 0 if 1 < count < 4 and words[0].lower() in _PURPOSES else taken


def _said_before_time(value: str) -> int:
    """Take "correct horse battery" before "yesterday", though it begins with a word of prose."""
    words = list(re.finditer(r"\S+", value))
    for n, word in enumerate(words[:7]):
        low = _bare(word.group()).lower()
        if low in ("yesterday", "today", "tonight", "recently"):
            return words[n - 1].end() if n > 1 else 0
        if n and (low in _PROSE or not _spelled(low)):
            return 0
    return 0


def _spelled_run(words: list[re.Match[str]]) -> int:
    """How many of the words go on as a passphrase would."""
    for n, word in enumerate(words):
        if word.group().lower() in _PROSE or not _spelled(word.group()):
            return n
    return len(words)


def _strong(value: str) -> int:
    """Take one token that looks made to be secret: letters with digits, or a long number."""
    taken = _whole(value)
    token = value[:taken].strip("\"'`")
    digits = sum(c.isdigit() for c in token)
    letters = sum(c.isalpha() for c in token)
    measured = re.fullmatch(r"[0-9]+(?:[-/.,:][0-9]+)*[-/]?[A-Za-z%°]*", token) and letters
    if not digits or measured or "://" in token:
        return 0
    return taken if len(token) >= 5 and (letters or digits >= 5) else 0


def _random(value: str) -> int:
    """Take one token that looks drawn at random: long, and mixed in its characters."""
    taken = _whole(value)
    token = value[:taken].strip("\"'`")
    if len(token) < 8 or re.search(r"[\s(]|://", token):
        return 0
    digits = sum(c.isdigit() for c in token)
    cased = token != token.upper() and token[1:] != token[1:].lower()
    if re.fullmatch(r"[0-9/.]+(?:-[A-Za-z]+)+", token):  # "30-minute", "1/2-cup"
        return 0
    return (
        taken
        if (digits and len(token) > digits) or digits >= 8 or (len(token) >= 16 and cased)
        else 0
    )


def _pair(value: str) -> int:
    """Take `name:password` and `name/password`."""
    taken = _whole(value)
    token = value[:taken]
    name, mark, secret = re.sub("[/:]", "\n", token, count=1).partition("\n")
    return taken if name and mark and _strong(secret or " ") and "://" not in token else 0


def _argument(value: str) -> int:
    """Take the argument of a program; not another option, and no address or path."""
    return 0 if value.startswith(("-", "/", "//")) or "://" in value else _whole(value)


def _cell(value: str) -> int:
    """Take what stands in a cell, unless it is a rule, a heading or a word about the secret."""
    if set(value) <= set(":-=*"):
        return 0
    return 0 if _bare(value).lower() in _PROSE | _HEADINGS else _whole(value)


_HEADINGS = frozenset(
    "password passwd user username login email name value url host notes strength length"
    " required type description field role expiry default example status hash policy rules".split()
)


def reversed_secret(before: str, *, quoted: bool) -> int:
    """How many characters at the end of `before` are the secret that goes before "is my password":
    the last word, or what is in quotation marks."""
    if quoted:
        begin = max(before.rfind(mark, 0, len(before)) for mark in "\"'`“‘")
        value = before[begin + 1 :]
        return len(value) if 0 < len(value) <= 100 and "\n" not in value else 0
    value = before[before.rfind(" ") + 1 :].rpartition("\n")[2]
    if _strong(value):
        return len(value)
    if value.isdigit() and len(value) >= 4:
        return len(value)
    lead = before[: len(before) - len(value)].rstrip(" ")
    begins = not lead or lead[-1] in ".!?\n:;,"
    word = _spelled(value) and value.lower() not in _PROSE | _TOPICS
    return len(value) if begins and word and len(value) > 3 else 0


_TOPICS = frozenset(
    "problem issue question thing reason fear concern answer security point trouble worry catch"
    " trick hint clue length name email username birthday account google facebook apple".split()
)

JUDGES: dict[str, Callable[[str], int]] = {
    "all": len,
    "whole": _whole,
    "said": _said,
    "said_to": _said_to,
    "strong": _strong,
    "random": _random,
    "pair": _pair,
    "argument": _argument,
    "cell": _cell,
}
"""By the names that the table of patterns has for them."""
