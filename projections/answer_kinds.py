"""What kind of answer a question asks for, and which kinds a text has. Pure.

"When do we open?" is answered by a text that names a time, and "who does the books?" by one that
names somebody. It is a hint and no condition: what is asked for is often told in other ways.
"""

from __future__ import annotations

import re

TIME, DAY, DATE, NUMBER, MONEY, NAME, PLACE = (1 << bit for bit in range(7))

SURE = TIME | DAY | DATE | NUMBER | MONEY
"""Those that hardly any text has without being noticed: names and places are written in many ways."""

_DAYS = r"(?:mon|tues?|wednes|thurs?|fri|satur|sun)days?|weekdays?|weekends?"
_MONTHS = (
    r"january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_NUMBERS = (
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a dozen|twenty|thirty|forty"
    r"|fifty|sixty|hundred|thousand"
)
_KIN = (
    r"brother|sister|mother|mom|mum|father|dad|son|daughter|wife|husband|partner|girlfriend"
    r"|boyfriend|cousin|uncle|aunt|nephew|niece|friend|boss|manager|colleague|coworker|teacher"
    r"|neighbou?r|landlord|landlady|flatmate|roommate|doctor|dentist|coach|supervisor"
)
_IN_TEXT: tuple[tuple[int, re.Pattern[str]], ...] = (
    (
        TIME,
        re.compile(
            r"\b\d{1,2}[:.h]\d\d\b|\b\d{1,2} ?(?:am|pm|a\.m|p\.m|o['’]?clock)\b|\bnoon\b|\bmidnight\b"
            rf"|\b(?:at|from|till|until|by|around|to|past|before|after) (?:half past |quarter (?:past|to) )?"
            rf"(?:\d{{1,2}}|{_NUMBERS})\b(?! ?(?:%|k\b|euros?|dollars?|pounds?))",
            re.I,
        ),
    ),
    (DAY, re.compile(rf"\b(?:{_DAYS})\b", re.I)),
    (
        DATE,
        re.compile(
            rf"\b(?:{_MONTHS})\b(?! (?:i|we|be|have|not)\b)|\b\d{{1,2}}(?:st|nd|rd|th)\b|\b(?:19|20)\d\d\b"
            r"|\b(?:today|tomorrow|yesterday|next (?:week|month|year))\b",
            re.I,
        ),
    ),
    (NUMBER, re.compile(rf"\d|\b(?:{_NUMBERS})\b", re.I)),
    (
        MONEY,
        re.compile(
            r"[$€£¥₹]|\b\d[\d.,]*(?: ?k)?\b ?(?:euros?|eur|dollars?|usd|bucks|pounds?|quid|gbp|rupees|yen"
            r"|shillings|zloty|pesos?|reais|francs?|a month|a week|a year|an hour|per|each)\b"
            r"|\b\d+(?:[.,]\d+)?k\b",
            re.I,
        ),
    ),
    (
        NAME,
        re.compile(
            r"(?<![.!?\n] )(?<!^)\b[A-Z][a-z]+"
            rf"|\b(?i:(?:{_KIN})s? (?:is |are |called |named )?)(?!(?i:and|or|is|are|has|have|had|who|to|in|at|on|with|said|for|of|the|a|lives?|does|got)\b)[a-z]{{3,}}\b"
            r"|\b(?i:called|named|names?(?: is|'s| are)) [a-z]{2,}",
        ),
    ),
    (
        PLACE,
        re.compile(
            r"\b(?:in|at|to|into|near|from|on|around|outside) (?!(?:it|me|my own|be|do|go|get|have|the way|time|all|least|first|last|once|this|that|a|an|about|\d)\b)"
            r"(?:the |my |our |his |her |their )?[^\W\d_]{3,}",
            re.I,
        ),
    ),
)
_ASKED: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern, re.I), kinds)
    for pattern, kinds in (
        (r"\b(?:what|which) (?:day|days|evening|weekday)\b|\bwhich day\b", DAY | DATE),
        (r"\bwhat time\b|\bwhat hour\b|\bhow early\b|\bhow late\b", TIME),
        (r"\b(?:what|which) (?:date|month|year)\b", DATE),
        (r"\bhow much\b|\bwhat (?:price|rent|salary|budget)\b|\bpay (?:a|per|for)\b", MONEY | NUMBER),
        (r"\bhow (?:many|old|long|tall|big|far|often|heavy)\b|\bwhat age\b", NUMBER),
        (r"\bwhen\b|\bby when\b|\buntil when\b", TIME | DAY | DATE),
        (r"^\W*(?:and |so |hey |ok )*(?:who|whom|whose|who['’]?s)\b", NAME),
        (r"^\W*(?:and |so |hey |ok )*(?:where|where['’]?s)\b|\bwhat (?:city|town|country)\b|\bwhich (?:city|town|country|place|neighbou?rhood)\b", PLACE),
    )
)


def kinds_in(text: str) -> int:
    """The kinds of answers that a text has, as bits."""
    return sum(kind for kind, pattern in _IN_TEXT if pattern.search(text))


def kinds_asked(question: str) -> int:
    """The kinds of answers that a question asks for, as bits; 0 where it shows none."""
    for pattern, kinds in _ASKED:
        if pattern.search(question):
            return kinds
    return 0
