"""News of somebody's life told in a plain sentence: "started seeing a lady called Doreen".

The slot is not named, only what happened. The patterns are in `life_news.yaml`. What such a
sentence says takes the place of what looser rules find in the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from beliefledger.gate.literals import Guarded, Table, lowered
from beliefledger.gate.rules.figures import asked, claim_to
from beliefledger.gate.rules.findings import Reading, RuleFinding
from beliefledger.gate.rules.lexicon import GIVEN, WORDS, expanded, load
from beliefledger.gate.rules.names import NO_NAMES
from beliefledger.gate.rules.normalised import spelt
from beliefledger.gate.rules.patterns import KINDS, is_job, is_pastime
from beliefledger.gate.rules.people import WHICH
from beliefledger.gate.rules.phrases import slug
from beliefledger.ledger.candidate import SELF, Ends, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

LONGEST = 240
"""The longest sentence that is looked at, in characters."""
_DATA: dict[str, Any] = load("life_news.yaml")
_DOUBTS = compile_later(_DATA["doubts"].strip(), re.I)
_NAME_IS = compile_later(r"\bname(?:['’]?s| is)\b", re.I)
_CLAUSE = compile_later(r"[,;:]|\bbut\b")
_SINCE = compile_later(r"(?:since|from when|now that) ", re.I)
"""Before news that is told only to say since when something else is so."""


class _News(NamedTuple):
    """A pattern, and what it says."""

    pattern: Guarded
    says: dict[str, Any]
    needs: re.Pattern[str] | None
    never: re.Pattern[str] | None


def _load(says: dict[str, Any]) -> _News:
    return _News(
        Guarded(expanded(says["say"], _DATA["parts"]), re.I),
        says,
        _also(says, "needs"),
        _also(says, "never"),
    )


def _also(says: dict[str, Any], key: str) -> re.Pattern[str] | None:
    return compile_later(expanded(says[key], _DATA["parts"]), re.I) if key in says else None


_NEWS = Table([_load(says) for says in _DATA["news"]])


def may_be_in(text: str) -> bool:
    """Whether a text may have any such news: cheap, before its words are read."""
    return bool(_NEWS.possible(lowered(text)))


def beside(reading: Reading, found: list[RuleFinding]) -> list[RuleFinding]:
    """What was found in a sentence, its news in place of what other rules say in their words."""
    words = reading.words
    if reading.person != "first" or not words:
        return found
    start, end = words[0].start, words[-1].end
    if not 0 < end - start <= LONGEST:
        return found
    for news, told in list(_findings(reading, start, end)):
        over = tuple(news.says.get("over", "").split())
        beaten = [
            each
            for each in found
            if each.start < told.end
            and told.start < each.end
            and each.attribute.startswith(over)
            and ("of" not in news.says or _is_same(each, told))
        ]
        same = any(
            each not in beaten
            and each.attribute == told.attribute
            and each.start < told.end
            and told.start < each.end
            for each in found
        )
        if same:
            continue
        over_too = (one for each in beaten for one in each.ends if one.at is None)
        ends = tuple(dict.fromkeys((*told.ends, *over_too)))
        found = [*(each for each in found if each not in beaten), told._replace(ends=ends)]
    return found


def _is_same(other: RuleFinding, told: RuleFinding) -> bool:
    """Whether another rule took the name of who speaks for something else: a trade, "Dev, 24"."""
    return other.attribute != "work.role" or other.value.startswith(told.value)


def _findings(reading: Reading, start: int, end: int) -> Iterator[tuple[_News, RuleFinding]]:
    text = reading.content[start:end]
    possible = _NEWS.possible(lowered(text))
    taken: list[tuple[int, int]] = []
    for news in possible:
        if news.needs is not None and news.needs.search(text) is None:
            continue
        if news.never is not None and news.never.search(text) is not None:
            continue
        said = news.pattern.pattern.search(text)
        if (
            said is None
            or asked(text, said)
            or (
                not news.says.get("beside")
                and any(a < said.end() and said.start() < b for a, b in taken)
            )
        ):
            continue
        finding = _told(reading, start, news, said)
        if finding is not None:
            taken.append(said.span())
            yield news, finding


def _told(reading: Reading, offset: int, news: _News, said: re.Match[str]) -> RuleFinding | None:
    says, text = news.says, said.string
    lead = _CLAUSE.split(text[: said.start()])[-1]
    if _DOUBTS.search(lead) or _DOUBTS.search(said[0]):
        return None
    groups = said.groupdict()
    group = next(each for each in groups if each.startswith("value") and groups[each])
    begin, stop = said.start(), said.end(group)
    if "from" in says and _NAME_IS.search(said[0]) is not None:
        begin = said.start(says["from"])  # "my name is Ana, 34" says that the user is Ana
    while not text[begin].isalnum():
        begin += 1
    since = _SINCE.match(text, begin)
    begin = begin if since is None else since.end()
    value = said[group].rstrip(" .,-'’&")
    stop -= len(said[group]) - len(value)
    if not _fits(says, value, text):
        return None
    if says.get("of_post") and not _is_post(groups["as"] or ""):
        return None
    if "of" in says and not _is_speaker(said, says["of"]):
        return None
    which = next((each for each in ("kin", "kin_2") if groups.get(each)), None)
    kin = "" if which is None else said[which].lower()
    ends = tuple(
        Ends(attribute=each, sparing=value if says.get("others") else "")
        for each in says.get("ends", ())
    )
    quote = text[begin : max(stop, said.end())].rstrip(" ,.;:")
    fills = {key: each or "" for key, each in groups.items()}
    fills |= {"value": value, "kin": kin, "quote": quote, "a": "an" if value[0] in _AN else "a"}
    link = fills.get("link", "")
    fills["with"] = "with" if link == "for" else link  # who is a rider for a firm is with it
    claim = claim_to(reading, offset + begin, offset + begin + len(quote))
    if which is not None:
        first = "which" if groups.get("which") else which
        claim = f"{SELF}'s {text[said.start(first) : begin + len(quote)]}"
    if "claim" in says:
        claim = says["claim"].format_map(fills)
    slots = {
        key: slug(_CHILDREN.get(each.lower(), spelt(each.lower())))
        for key, each in fills.items()
        if key != "quote"
    }
    if kin in _PARENTS or _BOTH.search(kin):
        slots["kin"] = "parents"
    elif (groups.get("which") or "").lower() in WHICH:
        slots["kin"] = f"{WHICH[fills['which'].lower()]}-{slots['kin']}"
    elif kin.rpartition(" ")[2] in _FRIENDS:
        called = groups.get("called")
        if not called and not kin.startswith("best"):
            return None  # of friends, somebody has several
        slots["kin"] = f"friend.{slots['called']}" if called else "friend"
    attribute = says["attribute"].format_map(slots)
    return RuleFinding(
        reading.content, offset + begin, offset + begin + len(quote), claim, says["type"],
        attribute, value, says["importance"], confidence=says.get("confidence", 850),
        topic=says.get("topic", ""),
        participants=(value,) if says["type"] == "relation" else (),
        act=SpeechAct.CHANGE if says.get("change") else None,
        ends=ends, said_at=reading.said_at,
    )  # fmt: skip


def _is_speaker(said: re.Match[str], group: str) -> bool:
    """Whether a word is the name of who speaks, and no trade or nation: "im dev, 24" may be one."""
    word, low = said[group], said[group].lower()
    if low in NO_NAMES or low in WORDS["not_names"] or low in KINDS:
        return False
    if low in GIVEN:
        return word[0].isupper() or not is_job(low)
    return word[0].isupper() and said.string[: said.start(group)].strip(" ,.!") != ""


def _fits(says: dict[str, Any], value: str, text: str) -> bool:
    """Whether a value is of the kind that the news is of."""
    low = value.lower()
    first, last = low.split()[0], low.split()[-1]
    if says.get("named"):
        if low in NO_NAMES or low in WORDS["not_names"] or low in WORDS["negligible"]:
            return False
        return low in GIVEN or value[0].isupper()
    if says.get("job"):
        if not _BESIDE_A_JOB.isdisjoint(low.replace("-", " ").split()):
            return False
        head = low.partition(" of ")[0].split()[-1]
        return head in _POSTS or is_job(head) or is_job(last)
    if says.get("place"):
        return value[0].isupper() or first in WORDS["places"]
    if says.get("post"):
        return _is_post(value)
    if says.get("org"):
        if first in WORDS["not_employers"] or first in _NO_EMPLOYER or low in GIVEN:
            return False
        typed_low = not any(char.isupper() for char in _I.sub("", text))
        return value[0].isupper() or value[0].isdigit() or typed_low
    return True


def _is_post(words: str) -> bool:
    """Whether words say what somebody does at a firm that is named: a "product owner", and no
    client of it."""
    low = words.lower().split()
    head = low[-1].removesuffix("s")
    if not _BESIDE_A_JOB.isdisjoint(low) or head in _NO_POST:
        return False
    if len(low) == 1 and head in WORDS["not_roles"]:
        return False
    return head not in WORDS["no_jobs"] and not is_pastime(head)


_NO_POST = frozenset(
    "patient client guest tenant lodger resident pensioner shareholder visitor stranger applicant "
    "question problem issue account meeting appointment interview job offer order booking fan "
    "volunteer contract subscription policy mortgage loan flight stay room week day month year "
    "minute hour student pupil undergrad candidate party event concert course class lesson "
    "walk look beginner loss crossroads".split()
)
_AN = frozenset("aeiouAEIOU")
_CHILDREN = {"lad": "son", "boy": "son", "lass": "daughter", "girl": "daughter"}
_FRIENDS = frozenset({"friend", "mate", "buddy", "pal", "bestie"})
_PARENTS = frozenset({"parents", "folks"})
_BOTH = compile_later(r" (?:and|&|n) ")
""" "mum and dad"."""
_I = compile_later(r"\bI\b")
_POSTS = frozenset(
    "head lead leader deputy partner matron sister dean vp cfo trainee sous-chef ta senco postdoc "
    "headteacher".split()
)
_BESIDE_A_JOB = frozenset(
    "captain chair chairman chairwoman chairperson treasurer governor governors rep president "
    "godparent godmother godfather bridesmaid club committee society pta secretary prefect".split()
)
"""What somebody may be beside their job: captain of the hockey team, best man."""
_NO_EMPLOYER = frozenset(
    "work home school uni university college new job town him her us me them it night nights days "
    "reception year a an my our his their bed peace day part full a&e hospital".split()
)
