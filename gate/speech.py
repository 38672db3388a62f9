"""What a speaker does with words: states, asks, quotes, imagines, jokes, or gives orders.

Pure functions over text. The gate calls them on every candidate, whoever proposed it, so they
accept any text and any span inside it. Cues are surface cues of English. When in doubt they
answer with the act that makes the gate more careful.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from gate.pasted import pasted
from ledger.candidate import SpeechAct

_BREAK = re.compile(r"[.!?…]+[\"'”’)\]*]*(?=\s)|\n+")
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs e.g i.e etc approx dept est inc ltd co no vol fig mt ft".split()
)
_LAST_WORD = re.compile(r"[\w.]+$")


class _Layout(NamedTuple):
    sentences: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]
    foreign: tuple[tuple[int, int], ...]


def sentences(text: str) -> list[tuple[int, int]]:
    """The sentences of `text` as code point offsets [start, end), without outer white space."""
    found: list[tuple[int, int]] = []
    start = 0
    for match in _BREAK.finditer(text):
        if text[match.start()] == "." and _keeps_going(text, match.start(), match.end()):
            continue
        _add_trimmed(found, text, start, match.end())
        start = match.end()
    _add_trimmed(found, text, start, len(text))
    return found


def _keeps_going(text: str, dot: int, end: int) -> bool:
    """Whether the full stop at `dot` belongs to an abbreviation, an initial or an ellipsis."""
    word_match = _LAST_WORD.search(text, max(0, dot - 24), dot)
    following = text[end : end + 2].strip()
    if word_match is None:
        return False
    word = word_match.group().lower()
    if word in _ABBREVIATIONS:
        # "etc." and "no." also end sentences, so they only go on before lower case or a digit.
        return word not in ("etc", "no", "co", "inc") or not following[:1].isupper()
    if "." in word or len(word) == 1:
        return not following[:1].isupper() or (len(word) == 1 and word not in "i0123456789")
    return end - dot > 1 and following[:1].islower()


def _add_trimmed(found: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        found.append((start, end))


# One turn is asked about many times in a row, so its layout is kept for a moment.
@lru_cache(maxsize=4)
def _layout(text: str) -> _Layout:
    spans = tuple(sentences(text))
    return _Layout(spans, tuple(start for start, _ in spans), tuple(pasted(text)))


def is_foreign(text: str, start: int, end: int) -> bool:
    """Whether [start, end) begins in words that are quoted or pasted, and so not the speaker's.

    A quotation inside it is a title, or words that the speaker says of themselves.
    """
    return any(a <= start < b for a, b in _layout(text).foreign)


_REPORTED = re.compile(
    r"\b(?:(?:[Mm]y|[Oo]ur|[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Yy]our|[Aa]|[Oo]ne|[Ss]ome)\s+(?:[\w-]+\s+){1,3}|[Hh]e|[Ss]he|[Tt]hey|[Pp]eople|"
    r"[Ee]veryone|[Ss]omeone|somebody|[A-Z][a-z]+)\s*(?:always |once |just |still |also |often |has |had )?"
    r"(?:says?|said|told (?:me|us|everyone|him|her|them)|tells me|claims?|claimed|thinks?|thought|"
    r"believes?|insists?|insisted|wrote|writes|keeps saying|joked|swears|swore)\b"
    r"(?:\s+(?:that|how))?[\s:,]*(?:[\"“'‘][^\"”]*)?$"
)
_PRETEND = re.compile(
    r"\b(?:pretend(?:ing)?|role-?\s?play(?:ing)?|act(?:ing)? as|play(?:ing)? the (?:role|part)|"
    r"in character|you are (?:now )?(?:a|an|the|my)\b(?! (?:life|great|lot|star|real|true))|"
    r"you're (?:now )?playing|write (?:a|an|me a) (?:story|poem|scene|dialogue|monologue|song)|"
    r"from the (?:perspective|point of view) of)",
    re.I,
)
_IMAGINE = re.compile(
    r"\b(?:imagine|imagining|suppose|supposing|what if|hypothetically|let'?s say|say i\b|"
    r"in a (?:world|universe|scenario) where|as if|as though|i wish|if only|thought experiment|"
    r"for the sake of argument)",
    re.I,
)
_IF = re.compile(
    r"\b(?:if|unless|in case|assuming|provided(?: that)?|whether|even if|as long as|"
    r"were i|had i|should i)\b",
    re.I,
)
_WOULD_IF = re.compile(r"\b(?:i'd|i would|i could|i might)\b", re.I)
_SARCASM = re.compile(
    r"\boh,? (?:great|joy|wonderful|fantastic|brilliant|lovely|perfect|goody|how (?:nice|lovely))\b|"
    r"\byeah,? right\b|\bjust what i (?:always )?(?:needed|wanted)\b|(?:^|\s)/s\b|#(?:sarcasm|not)\b|"
    r"\bsaid no ?(?:one|body) ever\b|\bi (?:just |absolutely |really |simply )?(?:love|adore|enjoy) "
    r"(?:it |that |how )?when (?:people|my|the|they|someone|you|professors|men|women|it)\b|"
    r"\bgotta love\b|\blucky me\b|\bhow (?:original|convenient|thoughtful)\b|🙄|"
    r"\bbecause (?:of course|that(?:'s| is) (?:exactly|just) what)\b|\bthanks a lot,? \w+|"
    r"\bwhat a (?:surprise|shock|treat)\b|\bclearly,? i(?:'m| am) (?:the|a) (?:genius|expert)|"
    r"\bi(?:'m| am) (?:so|sooo+) (?:thrilled|lucky|blessed) (?:to|that) (?:have to|be stuck)|"
    r"\b(?:totally|so) not\b|\bwell,? isn'?t that\b|\bcan'?t wait to (?:be|spend|sit|do) \w+ (?:more|all)",
    re.I,
)
_SARCASM_WORDS = (
    "oh ", "oh,", "yeah", "just what", "/s", "#", " ever", " when ", "gotta", "lucky me", "how orig",
    "how conv", "how thou", "🙄", "because", "thanks a lot", "what a", "clearly", "i'm so", "i am so",
    "ly not", "so not", "isn't that", "isnt that", "wait to",
)  # fmt: skip
_AUTHORITY = (
    r"(?:doctor|physician|nurse|surgeon|pharmacist|paramedic|lawyer|attorney|judge|police|cop|"
    r"officer|detective|agent|professional|expert|scientist|chemist|researcher|pentester|"
    r"admin(?:istrator)?|developer|engineer|owner|creator|ceo|founder|moderator|employee|"
    r"teacher|professor|parent|veteran|toxicologist|adult|security \w+)"
)
_LEVERAGE = re.compile(
    r"\b(?:i(?:'m|’m| am)|as)\s+(?P<sure>actually |really |in fact )?(?:an?|the|your)\s+(?:[\w-]+\s+){0,3}"
    + _AUTHORITY
    + r"\b[^.!?]{0,60}?(?:,|;|\s-|\s—|\band\b|\.)?\s*(?:so|therefore|which means|that means|hence)\b"
    r"\s*,?\s*(?:you (?:can|should|may|must|need)|(?:please |just )?(?:walk|tell|give|explain|show|"
    r"skip|drop|don'?t|do not|let|help|be|go|answer|share|speak|talk|provide|unlock|grant|trust)\b|"
    r"it'?s (?:ok|okay|fine|safe))",
    re.I,
)
_CORRECTING = re.compile(
    r"^(?:(?:oh|hm+|well|wait|ah|um+|uh)[,.!\s]+)*(?:no|nope|nah|correction|i meant|i mean|"
    r"that'?s (?:not right|wrong|incorrect|not correct)|(?:you'?re|that is) wrong|not quite|"
    r"sorry|my mistake|i misspoke|let me correct|scratch that)\b(?![\s,]+(?:problem|worries|one|need|"
    r"idea|more|longer|matter|doubt|way|to hear|about|for|if|but|i (?:don'?t|haven'?t|didn'?t)))",
    re.I,
)
_NOT_THAT = re.compile(r",\s*(?:and )?not\s+(?!(?:just|only|even|really|sure|to mention|yet|as)\b)\w", re.I)
_MEANT = re.compile(r"\bi (?:meant|misspoke)\b|\brather than what i said\b|\bcorrection:", re.I)
_REMOVING = re.compile(
    r"\b(?:no longer|any ?more|(?:have |'ve |has )?(?:stopped|quit|given up|ditched|abandoned|"
    r"cancelled|canceled)|gave up|not .{1,60}? any ?more|got rid of|broke up|got divorced)\b",
    re.I,
)
_CHANGING = re.compile(
    r"\b(?:switched|(?:have|'ve|just|recently|we|i) (?:\w+ )?moved (?:to|in|from|out|back|into)|"
    r"migrated|changed (?:my|to|from|over)|(?:i|'m|’m|am|'ve|have) now\b|now (?:i|use|work|live|prefer)\b|"
    r"these days|nowadays|replaced|became|went (?:vegan|vegetarian|back to)|"
    r"converted to|upgraded (?:to|from)|got promoted|(?:just |recently )?(?:joined|started (?:using|working|a new))|"
    r"transferred to|started at|instead of)\b",
    re.I,
)
_ASKING = re.compile(
    r"^(?:(?:so|and|but|also|well|oh|hey|hi|hello|ok|okay|anyway|then|actually|sorry|thanks|"
    r"thank you|by the way|btw)[,!\s]+)*(?:do|does|did|can|could|would|will|should|is|are|am|was|were|"
    r"have|has|had|what|what's|who|who's|where|when|why|how|how's|which|whose|may|might|shall|"
    r"any|isn't|aren't|don't|doesn't|didn't|can't|won't|wouldn't)\b",
    re.I,
)
_ASK_LATER = re.compile(
    r"(?:^|[,;:—–(-]|\b(?:so|and|but|or|then))\s*(?:so |and |but |please |then |also )*"
    r"(?:do|does|did|can|could|would|will|should|is|are|was|were|have you|has|what|what's|who|where|"
    r"why|how|which|any|may|might|got any|know any|right|correct|maybe|what about|how about)\b",
    re.I,
)
_BECAUSE = re.compile(
    r"(?:\b(?:since|because|as|given that|considering(?: that)?|now that|seeing as|that)\s*|[,(—–-]\s*"
    r"(?:and |but |by the way,? |btw,? )?)$",
    re.I,
)
_COMMA = re.compile(r"[,;:—–]")


def speech_act(text: str, start: int, end: int) -> SpeechAct:
    """What the speaker does with the words `text[start:end]`.

    Looks at their sentence, and at the sentences beside it where a scene is set ("Let's role-play.
    I am a knight."). A span over several sentences is judged by its first.
    """
    layout = _layout(text)
    if is_foreign(text, start, end):
        return SpeechAct.QUOTED
    index = max(0, bisect_right(layout.starts, start) - 1)
    if not layout.sentences:
        return SpeechAct.STATEMENT
    low, high = layout.sentences[index]
    high = max(high, end)
    sentence, before = text[low:high], text[low:start]
    span, after = text[start:end], text[end:high]
    if instruction_like(sentence):
        return SpeechAct.INSTRUCTION
    earlier = text[layout.sentences[index - 1][0] : low] if index else ""
    return (
        _not_meant(sentence, before, span, earlier)
        or _asked(sentence, before, after)
        or _sarcastic_or_leverage(text, layout, index, sentence)
        or _revision(sentence, span)
    )


def _not_meant(sentence: str, before: str, span: str, earlier: str) -> SpeechAct | None:
    """Quoted, pretended, imagined or conditional speech."""
    if _REPORTED.search(before):
        return SpeechAct.QUOTED
    if _PRETEND.search(before) or _PRETEND.match(span) or _sets_scene(_PRETEND, earlier):
        return SpeechAct.ROLE_PLAY
    if _IMAGINE.search(before) or _IMAGINE.match(span) or _sets_scene(_IMAGINE, earlier):
        return SpeechAct.HYPOTHETICAL
    opening = None
    for opening in _IF.finditer(before):
        pass
    if opening is not None and not _COMMA.search(before, opening.end()):
        return SpeechAct.CONDITIONAL
    if _IF.match(span) or (_WOULD_IF.search(span) and _IF.search(sentence)):
        return SpeechAct.CONDITIONAL
    return None


def _sets_scene(cue: re.Pattern[str], earlier: str) -> bool:
    """A neighbour sets a scene only when it opens with the cue, or proposes it."""
    found = cue.search(earlier)
    return found is not None and (
        found.start() < 12 and not earlier.rstrip().endswith("?") or "let's" in earlier.lower()
    )


def _asked(sentence: str, before: str, after: str) -> SpeechAct | None:
    """A question, unless the words are a statement beside the question ("I live here, is …?")."""
    if not sentence.rstrip("\"'”’)* ").endswith("?"):
        return None
    if _ASKING.match(before) or (not before and _ASKING.match(sentence)):
        return None if _BECAUSE.search(before) else SpeechAct.QUESTION
    if _ASK_LATER.search(before):
        return None if _BECAUSE.search(before) else SpeechAct.QUESTION
    return None if _ASK_LATER.search(after) else SpeechAct.QUESTION


def _sarcastic_or_leverage(
    text: str, layout: _Layout, index: int, sentence: str
) -> SpeechAct | None:
    if _sarcastic(sentence):
        return SpeechAct.SARCASTIC
    if index:
        low, high = layout.sentences[index - 1]
        opening = _SARCASM.match(text, low, high)
        if opening is not None:
            return SpeechAct.SARCASTIC
    if index + 1 < len(layout.sentences):
        low, high = layout.sentences[index + 1]
        following = text[low:high]
        if following.startswith("/s") or following.lower().startswith(("yeah right", "yeah, right")):
            return SpeechAct.SARCASTIC
        if following[:3].lower() == "so ":
            sentence = f"{sentence} {following}"
    return SpeechAct.LEVERAGE if _LEVERAGE.search(sentence) else None


def _sarcastic(sentence: str) -> bool:
    lowered = sentence.lower()
    return any(word in lowered for word in _SARCASM_WORDS) and bool(_SARCASM.search(sentence))


def _revision(sentence: str, span: str) -> SpeechAct:
    """Whether a sincere statement corrects, changes or ends something said before."""
    if _NOT_THAT.search(span) or _MEANT.search(sentence) or _CORRECTING.match(sentence):
        return SpeechAct.CORRECTION
    if _REMOVING.search(span):
        return SpeechAct.REMOVAL
    if _CHANGING.search(span):
        return SpeechAct.CHANGE
    return SpeechAct.STATEMENT


_INSTRUCTION_WORDS = (
    "ignore", "disregard", "forget", "override", "overrid", "bypass", "system", "prompt",
    "instruction", "from now on", "you must", "remember that", "jailbreak", "developer mode",
    " dan", "[inst", "<|", "assistant:", "respond only", "no longer bound", "restrict", "guideline",
    "unfiltered", "uncensored", "you are now", "you will now", "new rule", "memory", "pretend you",
    "act as", "stay in character", "your rules", "your response", "your answer", "stop everything",
    "without any filter", "do anything now", "store the fact", "programming", "your reply", "your output", "your message", "code snippet", "code block", "code section", "code excerpt",
    "rules you", "not limited", "do not listen", "don't listen",
)  # fmt: skip
_EARLIER = r"(?:previous|prior|above|earlier|preceding|past|former|foregoing|all|any|your|these|the|every|existing|other|original)"
_ORDERS = r"(?:instruct\w*|prompts?|rules?|directions?|guidelines?|orders?|commands?|directives?|programming|training|polic(?:y|ies)|restrictions?|safeguards?|filters?|constraints?|guardrails?|(?<=previous )(?:messages?|context|information|text)|(?<=prior )(?:messages?|context))"
_INSTRUCTION = re.compile(
    rf"\b(?:ignore|disregard|forget|override|bypass|neglect|drop|discard|skip|stop following|do not follow|don'?t follow)\b"
    rf"[^.!?\n]{{0,40}}?\b{_EARLIER}\b[^.!?\n]{{0,30}}?\b{_ORDERS}\b|"
    r"\b(?:ignore|disregard|forget) (?:everything|all (?:of )?(?:the |that |this )?(?:above|before|previous|prior)|"
    r"(?:everything|anything|all|what) (?:that )?(?:you|i|we) (?:\w+ )?(?:told|said|know|knew|were|have|learned|been))|"
    r"\b(?:reveal|show|print|repeat|output|leak|display|tell me|give me|what (?:is|are|was))\b[^.!?\n]{0,40}?"
    r"\b(?:system|initial|hidden|original|secret|your) (?:system )?(?:prompt|instructions)\b|"
    r"\bsystem prompt\b|\b(?:new|updated) (?:system )?instructions?:|"
    r"(?:^|\n|[\[<#])\s*/?(?:system|assistant|developer)\s*(?:\]|>|:|\||#)|\[/?inst\]|<\|[a-z_]+\|>|"
    r"\bfrom now on,? (?:you|your|please|always|never|act|respond|answer|speak|i(?:'m| am| want you))|"
    r"\byou (?:are|will|shall|must|should) (?:now|henceforth) (?:be |act |become |respond |behave |go |an? |in |the |dan\b|called|free|operating)|"
    r"\byou (?:must|have to|need to|shall) (?:always |now |never )*(?:remember|obey|comply|ignore|act as|pretend|respond|answer|store|save|believe)\b|"
    r"\b(?:jailbreak (?:mode|prompt|yourself)|you are (?:now )?jailbroken|developer mode (?:enabled|on|is)|enable developer mode|do anything now|dan mode)\b|"
    r"\byou (?:are|have been) (?:no longer|not) (?:bound|restricted|limited|constrained|subject)|"
    r"\b(?:free|freed|liberated) (?:from|of) (?:all |any |the |your )*(?:restrictions?|rules|limit\w+|guidelines|constraints)|"
    r"\bwithout (?:any )?(?:restrictions?|filters?|censorship|limitations|moral\w*|ethic\w*)(?: or \w+)?\b[^.!?\n]{0,30}\b(?:respond|answer|you)\b|"
    r"\bstay in character\b|(?<!not to )\bdisregard (?:any |all )?(?:ethic|moral|safety)|"
    r"\b(?:update|overwrite|edit|delete|erase|wipe|change|add to|write to|insert into|save to|store in) (?:your |the )(?:long-?term )?memor(?:y|ies)\b|"
    r"\b(?:store|record|save|memori[sz]e) (?:the fact|as (?:a )?fact|in (?:your )?memory) that\b|"
    r"\bremember (?:that )?(?:i am|i'm|the user is|user is) (?:an? |the |your )?(?:\w+ )?(?:admin|administrator|root|superuser|developer|owner|creator)\b|"
    r"\b(?:add|include|append|insert|integrate|incorporate|introduce|inject|embed|place) [^.!?\n]{0,80}?\b(?:to|in|into|within|at the end of) your (?:response|reply|answer|output)|"
    r"\b(?:modify|alter|adjust|rearrange|structure) your (?:response|reply|answer|output)\b|"
    r"\b(?:print|repeat|output|recite|echo|list|write out|print out|spell out|dump)\b[^.!?\n]{0,30}?\b"
    r"(?:your|the|all|previous|above|these|those|initial) (?:\w+ )?(?:instructions|prompt|rules|directives)\b|"
    r"\b(?:do not|don'?t) (?:listen to|obey|follow) (?:any|your|the|all|previous|prior)\b[^.!?\n]{0,30}"
    r"\b(?:information|instruct\w+|rules|orders|guidelines)|"
    r"\bforg(?:et|otten)\b[^.!?\n]{0,20}\b(?:all|any|your|the|these|those)\b[^.!?\n]{0,12}"
    r"\b(?:rules|instructions|guidelines|training)\b|"
    r"\b(?:DAN|AI|model|assistant|you)\b[^.!?\n]{0,40}\bnot (?:limited|bound|restricted|constrained) by\b|"
    r"\b(?:in|of|from|within|into|to) your (?:\w+ )?(?:response|answer|reply|output|elucidation)\b|"
    r"\b(?:provide|write|give|translate|display|encode|start|begin|end|finish|enhance|format|deliver|present|"
    r"conclude) your (?:\w+ )?(?:response|answer|reply|output|message)\b|"
    r"\b(?:the|this) (?:following|subsequent|below|provided|ensuing|next) code (?:snippet|block|section|excerpt|"
    r"segment|fragment)\b[^.!?\n]{0,60}\b(?:your|the) (?:code|codebase|implementation|solution|algorithm|elucidation|"
    r"answer|response|program)|\byour (?:code|codebase|implementation|algorithm|elucidation)\b[^.!?\n]{0,60}"
    r"\b(?:following|subsequent|below) code\b|"
    r"\bstop everything\b[^.!?\n]{0,40}\b(?:instead|and|just)\b|"
    r"\b(?:respond|reply|answer) only (?:with|in|by)\b[^.!?\n]{0,60}\b(?:regardless|no matter|nothing else)\b",
    re.I,
)


def instruction_like(text: str) -> bool:
    """Whether `text` addresses the machine's own rules, memory or role instead of stating facts."""
    lowered = text.lower()
    if not any(word in lowered for word in _INSTRUCTION_WORDS):
        return False
    return _INSTRUCTION.search(text) is not None
