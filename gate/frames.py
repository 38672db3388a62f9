"""Finds frames that hold somebody else's words: mail with headers, tags, labelled lines, results
of tools. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.ledger.late_patterns import compile_later

_HEADER = compile_later(
    r"^[ \t>]*+(?:from|to|cc|bcc|subject|sent|date|reply-to|betreff|von)[ \t]*:"
    r"[ \t]*\S[^\n]{0,300}\n",
    re.I | re.M,
)
_FORWARDED = compile_later(
    r"^[ \t>]*+(?:-{2,20}[ \t]*(?:forwarded message|original message|forwarded by|begin forwarded)"
    r"[^\n]{0,80}|begin forwarded message:?|(?:fwd?|aw|wg)[ \t]*:[^\n]{0,200}|"
    r"(?:on|am) [^\n]{3,120}(?:wrote|schrieb)[^\n]{0,60}:)[ \t]*$",
    re.I | re.M,
)
_TAG = compile_later(
    r"<(email|e-mail|mail|message|msg|document|doc|docs|file|page|article|context|source|sources|"
    r"quote|blockquote|tool_result|tool|result|results|search_results?|function_results?|output|"
    r"input|data|text|content|transcript|conversation|chat|history|memory|memories|user|assistant|"
    r"system|human|review|comment|example|examples|passage|snippet|web_?page|attachment|note|letter)"
    r"\b[^<>\n]{0,200}>",
    re.I,
)
_LABELS = (
    r"assistant|ai|bot|chatbot|chatgpt|gpt(?:-?\d)?|claude|gemini|model|human|user|system|agent|"
    r"customer|client|caller|interviewer|interviewee|candidate|applicant|patient|doctor|tenant|"
    r"landlord|operator|support|host|guest|narrator|speaker(?: \w{1,2})?|person [ab12]|"
    r"search results?|results?|quote|quotation|comment|review|chat ?log|log|transcript|output|"
    r"response|tool(?: output| results?| response)?|api response|subject(?: line)?|caption|tagline|"
    r"headline|passage|excerpt|snippet|lyrics|testimonial|voicemail|tweet|q|a"
)
_LABELLED = compile_later(
    rf"(?:^|(?<=[.!?…\"”] )|(?<=\n))[ \t>*_-]*+(?:the |my |his |her |from )?(?:{_LABELS})[*_]*"
    r"[ \t]*:[ \t*_]*(?=\S)[^\n]{0,3000}",
    re.I | re.M,
)
_STAMPED = compile_later(
    r"^[ \t]*+(?:\[[^\]\n]{1,40}\][ \t]*(?:[\w .'’-]{1,30})?:|"
    r"\(?\d{1,2}[:.]\d{2}(?::\d{2})?(?: ?[ap]m)?\)?"
    r"[ \t,–-]*[A-Z][\w .'’-]{0,29}:)[ \t]+\S[^\n]{0,3000}$",
    re.M,
)
_RETURNED = compile_later(
    r"\b(?:tool|search|api|query|function|command|script|site|page|search engine|google|wikipedia)"
    r"[ \t]+(?:result |call )?(?:returned|returns|says|said|gave|found|shows)[ \t]*:[^\n]{0,3000}",
    re.I,
)
_UNQUOTED = compile_later(r"\bquote\b[^\n]{1,600}?\bunquote\b", re.I)


def frames(text: str) -> Iterator[tuple[int, int]]:
    """The ranges [start, end) in which others speak, in no order; they may overlap."""
    if "\n" in text:
        yield from _mail(text)
    if "<" in text:
        yield from _tagged(text)
    if ":" in text:
        for pattern in (_LABELLED, _STAMPED, _RETURNED):
            for found in pattern.finditer(text):
                yield found.span()
    if "nquote" in text.lower():
        for found in _UNQUOTED.finditer(text):
            yield found.span()


def _mail(text: str) -> Iterator[tuple[int, int]]:
    """From the first header of a mail, or the line that says it is one, to the end."""
    for pattern in (_HEADER, _FORWARDED):
        found = pattern.search(text)
        if found is not None:
            yield found.start(), len(text)


def _tagged(text: str) -> Iterator[tuple[int, int]]:
    """What stands between a tag and the one that closes it, or the end."""
    at = 0
    while found := _TAG.search(text, at):
        close = text.find(f"</{found[1]}", found.end())
        at = len(text) if close < 0 else close
        yield found.start(), at
