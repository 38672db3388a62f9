"""What the user says to what the assistant took for so: "Is it still the Vodafone router?" – "nah,
Hyperoptic since two weeks"; "How is Noodle?" – "gave him to my cousin in June".

Which memory the assistant's words rest on is asked by `beliefledger.gate.retorts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from beliefledger.gate.rules.findings import looked_up, to_candidate
from beliefledger.gate.rules.renewals import spelt_out
from beliefledger.gate.sentences import is_question, sentences
from beliefledger.ledger.candidate import Candidate, Span, Speech
from beliefledger.ledger.late_patterns import compile_later

ATTRIBUTE = "event.retort"
_LONGEST, _LONGEST_SENTENCE, _FIRST = 180, 90, 3
"""The longest turn and sentence that is one, in characters, and among how many sentences."""
_OF_THE_ASSISTANT, _LONGEST_ASKED = 2, 200
"""So many of the assistant's last sentences, of so many characters, are what one answers to."""

_NUMBERS = r"\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_LEAD = (
    r"^\W*(?:(?:and|also|but|nah|nope|no|no need|not any ?more|well|actually|oh|lol|erm|um|ah|"
    r"sadly|sorry|afraid|unfortunately|oh no|hm+)\b[\s,.!:;–—-]*){0,3}"
)
_SUBJECT = (
    r"(?:(?:i|we|he|she|they|it|that|this|that one|those)"
    r"(?:['’]?(?:ve|s|d|re|m))? )?"
    r"(?:(?:have|has|had|had to|just|already|finally|actually|recently|since|were|was|got|is|are|"
    r"been|both|all) ){0,3}"
)
_IT = r"(?:it|him|her|them|that|those|this|both|all of (?:them|it)|the other one|the (?:lot|thing))"
_WHEN = (
    r"(?=\W*$|[,.!;]| (?:in|on|last|ago|since|this|by|for|to|when|after|before|because|cos|years?|"
    r"months?|weeks?|ages|a|back|early|late|off|up|away|out|over|there|then|sadly|love|mate|lol|now|"
    r"yesterday|today|two|three|four|five|\d))"
)
_LONG_AGO = (
    r" (?:(?:in|back in) (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|(?:the )?(?:spring|"
    r"summer|autumn|winter|new year)|\d{4})|last (?:year|month|week|spring|summer|autumn|winter|"
    r"\w+day)|(?:\w+ ){1,3}(?:months?|weeks?|years?) ago|ages ago|since\b|for good|"
    r"the (?:job|firm|company|team))"
)
_OVER = compile_later(
    rf"{_LEAD}{_SUBJECT}(?:"
    rf"(?:sold|sell|rehomed|ditched|binned|dropped|quit|stopped|cancell?ed|returned|scrapped|"
    rf"donated|dumped|chucked|deleted|uninstalled|traded|replaced|gave up|given up|"
    rf"got rid of|packed in|called off|sent back|crashed|wrecked|totall?ed|drowned|broke|"
    rf"cut out|let go of) "
    rf"{_IT}\b(?! (?:on|off the lead|early|today|tonight|for (?:now|today|tonight))\b)|"
    r"moved to [A-Z]|"
    rf"(?:gave|give|given|handed) {_IT} (?:to|up|away|back|in)\b|"
    rf"(?:had to )?put (?:him|her) down\b(?! for)|let (?:him|her|it|them) go\b|"
    rf"(?:packed|jacked) {_IT} in\b|"
    rf"(?:resigned|retired|died|passed away|passed on|moved (?:out|away|on|abroad|back)|sold up|"
    rf"emigrated|graduated|got (?:fired|sacked|laid off|divorced)|let go|fired|sacked|laid off|"
    rf"split up|broke up|fell through|closed (?:down|for good)|shut down|went bust|"
    rf"ran away|"
    rf"expired|cancell?ed|called off|no longer (?:do|does|have|has|go|goes|use|uses)){_WHEN}|"
    rf"(?:left|quit){_LONG_AGO}|"
    r"(?:don['’]?t|doesn['’]?t|do not|does not|isn['’]?t|aren['’]?t|'m not|am not) "
    r"(?:(?:do|have|use|go|take|drink|eat|play|work|live) )?"
    r"(?:(?:it|there|that|them|one|any) )?(?:any ?more|any longer)\b)",
    re.I,
)
"""It is over, told with a word that points at what was spoken of, or with none for it."""
_SINCE = (
    r"(?:by now|these days|nowadays|now|from now on|for now on|as of [\w ]{2,24}|"
    r"since (?!when\b)[\w' ]{2,30})"
)
_NEW = compile_later(
    rf"{_LEAD}(?:(?:it|he|she|they|that|we|i|there)(?:['’]?(?:s|re|m)| is| are| am)? )?"
    r"(?:(?:only|just|always|actually|already|down to|up to|more like|make that|in|at|on|with|the|"
    r"an?) ){0,3}"
    rf"(?P<new>[^\s,.;!?][^,.;!?]{{0,38}}?)(?: (?:already|tho|though))? ?{_SINCE}\b",
    re.I,
)
"""Another value, and a word that says that it is so by now."""
_COUNT = compile_later(
    rf"{_LEAD}(?:(?:only|just|down to|up to|make (?:that|it)) )?"
    rf"(?P<new>{_NUMBERS})"
    r"(?=\W*$|[,.!;:]| (?:of them|left|i['’]?m afraid|sadly|actually|already)\b)",
    re.I,
)
"""Another number, alone."""
_NUMBER = compile_later(rf"\b(?:{_NUMBERS})\b|\d", re.I)
_ONLY_NUMBER = compile_later(rf"(?:{_NUMBERS})\Z", re.I)
_NEWS = compile_later(
    r"\b(?:now|left|stopped|down|afraid|born|came|since|just|died|joined|moved|gone|"
    r"more|sold|new|lost|bought|got)\b",
    re.I,
)
"""What says beside a number that it is another one by now."""
_THIS_ONCE = compile_later(
    r"\b(?:today|tonight|this (?:time|once|week)|at (?:home|the moment))\b", re.I
)
_NONE = compile_later(
    rf"{_LEAD}(?:none|zero|not one|not a single one)\b(?=\W*$|[,.!;:]| (?:since|left|any|now|at))",
    re.I,
)
_VERBS = compile_later(
    r"\b(?:\w{3,}(?:ing|ed)|went|came|took|gave|made|saw|ate|ran|swam|"
    r"drove|met|told|said|is|are|was|were|has|have|had|do|does|did|can|will|got|get)\b",
    re.I,
)
"""What tells of something that goes on, and gives no other value: "it's raining now"."""
_STILL = compile_later(
    r"\b(?:still|as (?:an?|you)|since you|with your|your|for your|the one)\b", re.I
)


def findings(turn: Speech, earlier: Sequence[Speech]) -> Iterator[Candidate]:
    """The sentences of a turn that set right what the assistant said before it, each with these
    words as its value and as its second span; `replaces` is the new value where there is one."""
    text = turn.content
    if not earlier or earlier[-1].role != "assistant" or len(text) > _LONGEST:
        return
    asked = _last_words(earlier[-1])
    words = "" if asked is None else " ".join(dict.fromkeys(spelt_out(asked.quote).split()))
    if asked is None or not words:
        return
    for start, end in list(sentences(text))[:_FIRST]:
        sentence = text[start:end]
        if end - start > _LONGEST_SENTENCE or is_question(sentence):
            continue
        counted = _NUMBER.search(asked.quote) is not None
        none = counted and _NONE.match(sentence) is not None
        new = None if none else _new_value(sentence, text, counted=counted)
        if new is None and not none and not _OVER.match(sentence):
            continue
        told = to_candidate(looked_up(text, start, end, ATTRIBUTE, words), turn.said_at)
        yield told.model_copy(
            update={
                "value": asked.quote,
                "replaces": new,
                "spans": (*told.spans, asked),
            }
        )


def _new_value(sentence: str, text: str, *, counted: bool) -> str | None:
    """The new value of a sentence of a text; a number alone only where the assistant said one."""
    count = _COUNT.match(sentence)
    if count is not None:
        if not counted:
            return None
        told = _NEWS.search(text) is not None and _THIS_ONCE.search(text) is None
        return count["new"] if told else None
    found = _NEW.match(sentence)
    if found is None or _VERBS.search(found["new"]) or _THIS_ONCE.search(sentence):
        return None
    return found["new"].strip()


def _last_words(said: Speech) -> Span | None:
    """The last sentences of what the assistant said."""
    spans = list(sentences(said.content))[-_OF_THE_ASSISTANT:]
    if not spans or spans[-1][1] - spans[0][0] > _LONGEST_ASKED:
        spans = spans[-1:]
    if not spans or spans[-1][1] - spans[0][0] > _LONGEST_ASKED:
        return None
    start, end = spans[0][0], spans[-1][1]
    return Span(start=start, end=end, quote=said.content[start:end], turn=said.turn_id)


_PARTING = compile_later(
    r"\b(?:gave|given|sold|rehomed|died|passed|put (?:him|her|it|them) down|"
    r"let (?:him|her|it|them) go|ran away|moved out|left|split|broke up|divorced|dumped|lost)\b",
    re.I,
)


def is_count(new: str) -> bool:
    """Whether a new value is a number and nothing else."""
    return _ONLY_NUMBER.match(new) is not None


def tells_a_parting(sentence: str) -> bool:
    """Whether somebody near, or an animal, is not there any more."""
    return _PARTING.search(sentence) is not None


def asks_whether_still(said: str) -> bool:
    """Whether the assistant took something for so, as it was told."""
    return _STILL.search(said) is not None
