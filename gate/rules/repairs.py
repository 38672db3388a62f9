"""Repairs: words that put right or take back what the speaker said just before.

"Make that Tuesday" and "no wait, the blue one" name neither slot nor old value. What they mend is
the last statement, of this turn or of an earlier one of the session, that has a value of the same
kind. "Ignore what I said about vim" takes back whatever is remembered of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from beliefledger.gate.dates import find_when
from beliefledger.gate.rules import inline_repairs
from beliefledger.gate.rules.figures import under_slot
from beliefledger.gate.rules.findings import RuleFinding, to_candidate, topic_of
from beliefledger.gate.rules.lexicon import BASES, ONE, PETS, Form, verb_form
from beliefledger.gate.rules.phrases import slug
from beliefledger.gate.rules.replacements import (
    IS_WRONG,
    WRONG,
    Mend,
    is_name,
    is_order,
    named_wrong,
    replaced,
    swap,
)
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import SELF, Candidate, Ends, Span, Speech, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

Read = Callable[[str, int], Iterator[RuleFinding]]
"""Reads the findings of a text that was said at a time."""

_SORRY = (
    r"(?:(?:oh|ah|er|um|uh|hm+|no|nope|nah|oops|whoops|ups|sorry|sry|srry|soz|wait|actually|"
    r"well|correction|my bad|my mistake|"
    r"hang on|hold on|scratch that|strike that|scrap that|i mean|typo|edit|ok|okay|rather|damn|"
    r"argh|ugh|gah|doh|dang|no wait|and|(?:you(?:['’]?ve| have)? )?got (?:that|it) wrong|"
    r"that['’]?s (?:wrong|not right))\b[,.:;!—– -]*+)"
)
_VALUE = r"(?P<right>[$€£]?[\w'’&+#:/.@-]{1,40}(?: [$€£]?[\w'’&+#:/.@-]{1,40}){0,4}?)"
_STOP = (
    r"(?=\s*(?:[.,;!()…]|$)|\s+(?:lol|haha+|btw|by the way|tho|instead|sorry|sry|not|though|"
    r"actually|please|of course|with an?|incl|including|i mean|my bad|typo|auto-?correct|if|"
    r"counting|cause|because)\b|\s*[^\w\s'’.,:&$€£/+#@-])"
)
_AFTER_SORRY = (
    rf"^\W*+(?P<lead>{_SORRY}{{1,5}})(?P<is>(?:it|that|this|he|she)(?:['’]?s| is| was| should be|"
    rf" should say)|its|should be|make it)? ?{_VALUE}{_STOP}"
)
_STRONG = compile_later(
    r"\b(?:sorry|sry|srry|soz|oops|whoops|ups|correction|my (?:bad|mistake)|(?:scratch|strike|"
    r"scrap) that|i mean|typo|edit|no,? wait|wait,? no|got (?:that|it) wrong|"
    r"that['’]?s (?:wrong|not right))\b",
    re.I,
)
"""Says that what was said is to be put right."""
_NOTICED = compile_later(
    r"\b(?:oh|ah|er|um|uh|hm+|damn|argh|ugh|gah|doh|dang|hang on|hold on)\b", re.I
)
"""Said by who has just noticed something."""
_RATHER = compile_later(r"\b(?:no|nope|nah|wait|actually|rather)\b", re.I)
"""May say so."""
_MENDS = tuple(
    compile_later(pattern, re.I)
    for pattern in (
        rf"^\W*+{_SORRY}{{0,4}}(?:please )?(?:make|change|switch|move) (?:that|it)(?: to| "
        rf"into)? (?:be )?{_VALUE}{_STOP}",
        rf"^\W*+{_SORRY}{{0,4}}(?:i )?(?:meant?|mean) (?:to say |to write |to type "
        rf")?{_VALUE}{_STOP}",
        _AFTER_SORRY,
        rf"^\*+ ?{_VALUE}{_STOP}",
        rf"^\W*+{_SORRY}{{2,5}}[^,.;!?]{{3,50}}, ?(?:so |and )?(?:it['’]?s|make it) (?:actually |"
        rf"really )?{_VALUE}(?: here)?{_STOP}",
        rf"^\W*+{_VALUE} ?\*+(?: ?(?:lol|sorry|sry|oops|haha+|ffs|ugh|typo|my bad))?\W*$",
        rf"^\W*+{_VALUE}[!.,]* ?(?:(?:damn|bloody|stupid|lol|haha|ugh|thanks|thank you|cheers|"
        rf"silly) ){{0,2}}(?:auto-?correct|spell-?check(?:er)?)\b",
        rf"^\W*+{_VALUE}[!?.,… ]+(?:lol |haha )?why (?:did|do|would) i (?:just )?(?:write|say|type|"
        rf"put)\b",
        rf"^\W*+{_VALUE} even(?=\W*$|[,;.!])",
        rf"^\W*+{_VALUE} with (?:one|an?|two|double|no|a single) [a-z]{{1,2}}(?=\W*$|[,;.!]|"
        rf" at the )",
        r"^\W*+(?P<right>(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan(?:uary)?|feb(?:ruary)?|"
        r"march|april|may|june|july|august|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
        r"dec(?:ember)?|(?:19|20)\d\d|\d{1,2}:\d\d))!+(?=\W|$)",
        r"^\W*+(?P<right>(?:the )?\d{1,2}(?:st|nd|rd|th))(?:,? (?:btw|by the way|actually|in fact)"
        r"(?:, i (?:always|keep) [^.!?;]{1,40})?|, i (?:always|keep) [^.!?;]{1,40})\W*$",
        rf"^\W*+{_VALUE},? (?:sorry|sry|typo|i mean|i meant|my bad|my mistake|not\b|"
        rf"rather\b(?=\s*(?:[.,;!?]|$)))",
        rf"^\W*+(?:it|that)(?:['’]?s| is| was| should be) (?:actually |really )?{_VALUE},? "
        rf"(?:please,? )?(?:actually|sorry|not\b|my bad|i meant|rather)",
        rf"^\W*+{_SORRY}{{0,3}}i (?:said|wrote|typed|put|told you)\b[^,.;]{{1,60}}?(?:, ?| )(?:but "
        rf"|and )?(?:(?:it|that)(?:['’]?s| is| was| should be)|i meant?|should(?:['’]?ve| have)? "
        rf"(?:be|been|said)) (?:actually |really )?{_VALUE}{_STOP}",
        rf"^\W*+{_SORRY}{{0,3}}(?:(?:it|that|he|she)(?:['’]?s| is)? |(?:his|her|the|my) name is "
        rf")?(?:spelled|spelt|written) {_VALUE}{_STOP}",
        rf"^\W*+{_SORRY}{{0,3}}with (?:one|an?|two|double|no|a single) [a-z]{{1,2}}, "
        rf"{_VALUE}{_STOP}",
    )
)
_TAKEN_BACK = compile_later(
    rf"^\W*+{_SORRY}{{0,3}}(?:please )?(?:scratch that|strike that|forget (?:that|it|i said "
    rf"(?:that|anything))|"
    r"ignore (?:that|it|my last (?:message|sentence|statement))|disregard that|never ?mind "
    r"that|(?:i )?take (?:that|it) back|that(?:['’]?s| is| was) (?:not true|wrong|not right|a "
    r"lie|a joke)|i didn['’]?t mean that)\W*$",
    re.I,
)
_TAKEN_BACK_FOR = compile_later(
    rf"^\W*+{_SORRY}{{0,3}}(?:please )?(?:forget|ignore|disregard|scratch|strike|delete) "
    r"(?:that|it|i said (?:that|anything)|my last (?:message|sentence|statement))"
    r"(?:[,;.!(–—-]+| (?:please|because|lol|it was))",
    re.I,
)
"""With a reason after it; what names another value is no taking back."""
_RESTATED = compile_later(
    rf"^\W*+(?:{_SORRY}|(?:he|she)['’]s not\W+){{1,4}}(?:she|he|it|they|we|i|(?:my|our) [\w'’-]+)"
    rf"(?P<verb>['’]s|['’]m|['’]re| [\w'’]+)(?P<prep> (?:in|at|to|on|for|with|from|as))?"
    rf"(?: (?P<kind>an?)| the)? {_VALUE}{_STOP}",
    re.I,
)
"""The same statement with another value: "actually she lives in Bruges"."""
_ABOUT = compile_later(
    r"\b(?:ignore|forget|disregard|scratch|strike|drop|delete|never ?mind) (?:what|everything|"
    r"anything|all|the thing|the stuff|the bit|the part)"
    r"(?: that)?(?: (?:i|we))?(?:['’]ve| have)?(?: just)?(?: (?:said|told you|mentioned|wrote|"
    r"typed))?(?: (?:before|earlier|just now|yesterday))?"
    r" about (?:my |the |our |that |having |being )?(?P<topic>[\w'’&+-]+(?: "
    r"[\w'’&+-]+){0,3}?)(?=\s*(?:[.,;!?)]|$)| (?:please|thing|stuff|lol|for now|it)\b)",
    re.I,
)
_CALLED = compile_later(r"\b(?:called|named)\b", re.I)
"""Who says twice how it is called puts right what they said first."""
_ASIDE = compile_later(
    r"\W*(?:lol |haha )?why (?:did|do|would) i (?:just )?(?:write|say|type|put)\b", re.I
)
_NO_VALUE = frozenset(
    "i i'm i've im fine good great cool right sure nice you he she it we they that this there what "
    "who how why when if can could do does did is are was will would thanks thank please yes no "
    "longer nothing never tell show help let me my know think forget ignore scratch scrap go have "
    "has had "
    "don't dont not just so but because should i'd i'll id you'd he's she's we're were staying "
    "sticking keeping still same both isnt arent wasnt werent didnt doesnt wont cant "
    "they're we'd they'd ive weve theyve youve hes shes theyre".split()
)
_DONE = compile_later(
    r"(?:[a-z]+ed|got|went|left|bought|sold|quit|began|made|took|had|gave|lost|found|came|ran|met|"
    r"saw|ate|drove|flew|kept|swapped|getting|going|moving|having|being)"
    r" (?:to|in|into|on|up|out|off|over|from|with|at|for|by|back|away|a|an|the|my|our|his|her|"
    r"their|some|it|them|two|three)\b",
    re.I,
)
"""What was done is a statement of its own, as in "actually switched to day shifts"."""


def mended(turn: Speech, earlier: Sequence[Speech], read: Read, most: int) -> Iterator[Candidate]:
    """What a turn puts right or takes back of the statements before it."""
    text = turn.content
    bounds = list(sentences(text))
    for number, (start, stop) in enumerate(bounds[:4]):
        if stop - start > 240:
            continue
        aside = bounds[number + 1] if number + 1 < len(bounds) else (stop, stop)
        # "deloitte!! why did i write accenture"
        end = aside[1] if _ASIDE.match(text, aside[0]) else stop
        sentence = text[start:end]
        within = inline_repairs.inline(sentence)
        if within is not None:
            fixed = list(_within(turn, start, within, read))
            yield from fixed
            if fixed:
                continue
        topic = _ABOUT.search(sentence) or inline_repairs.topic(sentence)
        if topic is not None:
            yield _ignored(turn, start + topic.start(), start + topic.end(), topic["topic"])
            continue
        back = _TAKEN_BACK.search(sentence)
        again = _RESTATED.search(sentence) if back is None else None
        mend = None if back is not None else _mend(sentence, start)
        anew = inline_repairs.named_anew(sentence)
        if anew is not None:
            right = (start + anew.start("right"), start + anew.end("right"))
            mend = Mend(text[slice(*right)], *right, anew["wrong"])
        if mend is None and back is None:
            back = _TAKEN_BACK_FOR.search(sentence)
        if back is None and mend is None and again is None:
            continue
        before: list[tuple[str | None, str, int]] = []
        if number:
            before.append((None, text[: bounds[number - 1][1]], turn.said_at))
        named = _CALLED.search(sentence) and _CALLED.search(text, 0, start)
        before += [
            (said.turn_id, said.content, said.said_at)
            for said in reversed(earlier[-most:])
            if said.role == turn.role and not named
        ]
        following = text[end : end + 240] if back is not None else ""
        if following.strip() and _mend(following.lstrip(), 0) is not None:
            continue  # "Scratch that. Make it March 4": the next sentence says what is right
        for turn_id, content, said_at in before:
            old = [
                to_candidate(under_slot(each), said_at)
                for each in read(content, said_at)
                if each.entity == SELF
            ]
            if back is not None:
                if old:
                    yield _withdrawn(turn, start, end, turn_id, old)
                    break
                continue
            fixed = list(_said_anew(turn, again, start, turn_id, old)) if again else []
            if not fixed and mend is not None:
                fixed = list(_put_right(turn, mend, turn_id, old))
            if not fixed and mend is not None and not old:
                fixed = list(_noted_anew(turn, mend, turn_id, content))
            if fixed:
                yield from fixed
                break


def set_right(
    turn: Speech, begin: int, turn_id: str, old: Sequence[Candidate]
) -> Iterator[Candidate]:
    """What the assistant took for true, with the value that the user says instead of it."""
    start, end = next((each for each in sentences(turn.content) if each[1] > begin), (0, 0))
    mend = _mend(turn.content[start:end], start)
    for said in old if mend is not None else ():
        swapped = swap(said, mend.right, mend.sure) if mend is not None else None
        if mend is None or swapped is None or swapped[0] not in said.claim:
            continue
        if swapped[0] != said.value or said.value[:1].isupper():  # a figure, a day, or a name
            answer = Span(start=mend.start, end=mend.end, quote=mend.right)
            there = said.spans[0].model_copy(update={"turn": turn_id})
            yield from inline_repairs.set_right(said, answer, there, *swapped)
            return


def _within(
    turn: Speech, start: int, repair: inline_repairs.Inline, read: Read
) -> Iterator[Candidate]:
    """What a sentence says with the value that it puts right itself."""
    before = turn.content[: start + repair.until]
    mend = Mend(
        turn.content[start + repair.start : start + repair.end],
        start + repair.start,
        start + repair.end,
    )
    old = [
        candidate
        for each in read(before, turn.said_at)
        if (candidate := to_candidate(under_slot(each), turn.said_at)).spans[0].start >= start
    ]
    fixed = list(_put_right(turn, mend, None, old))
    if not fixed and not old:
        fixed = list(_noted_anew(turn, mend, None, before, most=1))
    for each in fixed:
        wrong = each.replaces or ""
        if repair.sure or inline_repairs.is_like(wrong, each.value):
            yield each


def _mend(sentence: str, offset: int) -> Mend | None:
    for pattern in _MENDS:
        found = pattern.search(sentence)
        if found is None:
            continue
        right = _LOOSE.sub("", found["right"].strip(" .,:;-'’"))
        words = right.lower().split()
        if not words or _NO_VALUE.intersection(words) or _DONE.match(right):
            continue
        if is_order(words) or _CHATTER.issuperset(words) or words[0] in _NO_BEGINNING:
            continue  # "ok, stop the music" puts nothing right
        if len(words) > 1 and verb_form(words[-1])[1] is Form.PAST:
            continue  # "sorry, phone died"
        if any(each in BASES or each in _ARE for each in words[1:]):
            continue  # "no wait, Rosa lives in Genoa" is a sentence of its own
        sure = _how_sure(found, sentence)
        if sure is None or (sure < 2 and not _CHATTER.isdisjoint(words)):
            continue
        if "@" in right and len(words) > 1:
            continue  # "use info@… from now on" tells its slot itself
        if inline_repairs.denies(sentence[: found.start("right")], right, sentence):
            continue
        if len(sentence) > found.end() + 60:
            continue
        start = offset + sentence.index(right, found.start("right"))
        wrong = WRONG.match(sentence, found.end("right"))
        wrong = wrong or IS_WRONG.match(sentence, found.end("right"))
        named = None if wrong is None else wrong["wrong"]
        return Mend(right, start, start + len(right), named, sure)
    return None


def _how_sure(found: re.Match[str], sentence: str) -> int | None:
    """How sure it is that words put something right (`Mend.sure`); None where they do not: "ok",
    "oh" and "well" begin any sentence."""
    if "lead" not in found.re.groupindex:
        return 2
    if _STRONG.search(found["lead"]) is not None:
        words = found["right"].lower().split()
        low = sentence == sentence.lower() and len(words) == 1 and _CHATTER.isdisjoint(words)
        return 2 if low else 1
    if _RATHER.search(found["lead"]) is not None:
        return 1 if found["right"].count(" ") < _LONG else 0
    right = found["right"].strip(" .!")
    named = right[:1].isupper() or right[:1].isdigit()
    noticed = named and " " not in right and _NOTICED.search(found["lead"]) is not None
    # "oh, Thursday", "argh, Kathrin"
    return 0 if found["is"] or noticed or _WHEN.fullmatch(right) else None


_ARE = frozenset("is are was were has have had does did".split())
_WHEN = compile_later(
    r"(?:on |at |the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|jan(?:uary)?|feb(?:ruary)?|"
    r"march|april|june|july|august|sept(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|"
    r"\d{1,2}(?:st|nd|rd|th)|\d{1,2}[:.]\d\d|\d{1,2} ?[ap]m|[a-z]+ \d{1,2}(?:st|nd|rd|th)?)",
    re.I,
)
_LONG = 2
"""Blanks of what is too long for a value, where "no" alone leads to it."""
_NO_BEGINNING = frozenset("for about with of from back different".split())
_CHATTER = frozenset(
    "oh ah er um hm hmm well yeah yes nope nah sorry sry topic wow perfect great nice interesting "
    "done typo problem problems question questions idea ideas story morning night evening boss "
    "mate man dude bro time luck way clue worries need rush biggie less matter stress offence "
    "doubt kidding joke jokes really seriously honestly huh cool lovely awesome brilliant amazing "
    "excellent ok okay alright hello hi hey bye cheers ta lol haha wrong bad weird funny sad "
    "happy tired busy late early next last first second third other thing things stuff nevermind "
    "ages autocorrect spelling mistake message file chat window tab again later soon today "
    "tomorrow tonight yesterday raining snowing complicated fun".split()
)
"""What is said in passing, and is no value."""


_LOOSE = compile_later(
    r"^(?:more of an?|more like|rather|still|always|actually|called|named) ", re.I
)
_OF_SELF = compile_later(r"(?:^|\W)(?:i|we)\b(?! mean\b)", re.I)
_REPAIRS = compile_later(
    r"\b(?:no|nope|nah|oops|whoops|sorry|wait|correction|my bad|my mistake|scratch that|"
    r"strike that|i mean|typo|edit)\b",
    re.I,
)


def _said_anew(
    turn: Speech, again: re.Match[str], offset: int, turn_id: str | None, old: Sequence[Candidate]
) -> Iterator[Candidate]:
    """The last statement with the same verb, with the value that it is said again with."""
    verb = {"'s": "is", "'m": "is", "'re": "is", "am": "is", "are": "is"}.get(
        again["verb"].strip().lower().replace("’", "'"), again["verb"].strip().lower()
    )
    phrase = re.compile(
        rf"\b{re.escape(verb)}(?:s|es)?{re.escape((again['prep'] or '').lower())}\b", re.I
    )
    right = again["right"].strip(" .,:;-'’")
    if _OF_SELF.search(again[0]) and not _REPAIRS.search(again[0]):
        return  # "Actually, I prefer text messages" may be new since
    if not right or _NO_VALUE.intersection(right.lower().split()):
        return
    begin = offset + again.start("right")
    mend = Mend(right, begin, begin + len(right))
    for each in reversed(old):
        found = phrase.search(each.claim)
        if found is None or each.value.lower() == right.lower():
            continue
        if again["kind"] and right.islower() and is_name(each):  # "no, it's a cat": still Rex
            noun = each.attribute.split(".")[1]
            if noun in each.claim and any({noun, right} <= some for some in (PETS, ONE)):
                yield _repaired(turn, mend, turn_id, each, noun, right)
            return
        lead, value, _ = each.claim[found.end() :].partition(each.value)
        if value and len(each.value.split()) <= 4:
            again_led = f"{lead.strip().lower()} "
            if lead.strip() and right.lower().startswith(again_led):  # "no, he's called Max"
                cut = len(again_led)
                right = right[cut:]
                mend = Mend(right, begin + cut, begin + len(right) + cut)
            if right and right.lower() != each.value.lower():
                yield _repaired(turn, mend, turn_id, each, each.value, right)
            return


def _noted_anew(
    turn: Speech, mend: Mend, turn_id: str | None, content: str, most: int = 3
) -> Iterator[Candidate]:
    """The last sentence that has a value of the kind, as a note with the one that is right."""
    for start, end in list(sentences(content))[: -most - 1 : -1]:
        sentence = content[start:end].rstrip(" .!")
        if not 12 <= len(sentence) <= 240 or sentence.endswith("?"):
            continue
        span = Span(start=start, end=start + len(sentence), quote=sentence)
        said = Candidate(
            claim=sentence, spans=(span,), type="note", attribute="note.said", value=sentence,
            topic=topic_of(sentence), importance=300_000, confidence=500_000,
        )  # fmt: skip
        swapped = named_wrong(said, mend) or swap(said, mend.right, mend.sure)
        if swapped is None or (mend.wrong is None and not _SPEAKER.search(sentence)):
            continue
        if category_of(sentence) is None and category_of(mend.right) is None:
            yield _repaired(turn, mend, turn_id, said, *swapped)
        return


_SPEAKER = compile_later(
    r"\b(?:i|i['’]?m|my|our|we|me|us|[a-z]+ (?:is|are|comes?|starts?))\b", re.I
)


def _put_right(
    turn: Speech, mend: Mend, turn_id: str | None, old: Sequence[Candidate]
) -> Iterator[Candidate]:
    """The last statements with the value that is right in place of the one of its kind."""
    best: tuple[float, Candidate, str, str] | None = None
    for said in old:
        swapped = named_wrong(said, mend) or (
            swap(said, mend.right, mend.sure) if mend.wrong is None else None
        )
        if swapped is None:
            continue
        wrong, right = swapped
        score = SequenceMatcher(None, wrong.lower(), right.lower()).ratio()
        if best is None or score >= best[0]:
            best = (score, said, wrong, right)
    if best is None:
        return
    _, said, wrong, right = best
    for each in old:
        fits = named_wrong(each, mend) or swap(each, mend.right, mend.sure)
        if each.spans[0].start == said.spans[0].start and fits == (wrong, right):
            yield _repaired(turn, mend, turn_id, each, wrong, right)


def _repaired(
    turn: Speech, mend: Mend, turn_id: str | None, old: Candidate, wrong: str, right: str
) -> Candidate:
    """The earlier statement with what is right; both places are its evidence."""
    here = Span(start=mend.start, end=mend.end, quote=turn.content[mend.start : mend.end])
    there = old.spans[0].model_copy(update={"turn": turn_id})
    value = replaced(old.value, wrong, right)
    when = old.when
    dated = find_when(right, turn.said_at, future=True)
    if dated is not None and old.type != "note":  # a note holds from when it is said
        when = dated.when
    ends = Ends(attribute=old.attribute, value=old.value, denials=old.negated, never=True)
    return old.model_copy(
        update={
            "claim": replaced(old.claim, wrong, right),
            "spans": (here, there),
            "value": value,
            "replaces": old.value if value != old.value else None,
            "act": SpeechAct.CORRECTION,
            "attribute": _reslugged(old.attribute, wrong, right),
            "when": when,
            "ends": (*old.ends, ends),
            "participants": tuple(right if name == wrong else name for name in old.participants),
        }
    )


def _reslugged(attribute: str, wrong: str, right: str) -> str:
    """A slot in whose name these words give way: whole ones, and not the "i" of `note.said`."""
    whole = rf"(?<![a-z\d]){re.escape(slug(wrong))}(?![a-z\d])"
    return re.sub(whole, lambda _: slug(right), attribute)


def _withdrawn(
    turn: Speech, start: int, end: int, turn_id: str | None, old: Sequence[Candidate]
) -> Candidate:
    """Takes back what was said in one go."""
    ends = tuple(
        Ends(attribute=each.attribute, value=each.value, denials=each.negated, never=True)
        for each in old
    )
    there = [each.spans[0].model_copy(update={"turn": turn_id}) for each in old[:1]]
    return _retraction(turn, start, end, ends, there)


def _ignored(turn: Speech, start: int, end: int, topic: str) -> Candidate:
    """Takes back what was said about something, whenever that was."""
    ends = tuple(
        Ends(attribute="*", value=topic, denials=denied, never=True) for denied in (False, True)
    )
    return _retraction(turn, start, end, ends, [])


def _retraction(
    turn: Speech, start: int, end: int, ends: tuple[Ends, ...], there: list[Span]
) -> Candidate:
    quote = turn.content[start:end].rstrip(" .!,;")
    here = Span(start=start, end=start + len(quote), quote=quote)
    return Candidate(
        claim=f"{SELF}: {quote}", spans=(here, *there), type="event", attribute="event.retraction",
        value=quote, act=SpeechAct.CORRECTION, importance=300_000, confidence=900_000, ends=ends,
        retracts=True,
    )  # fmt: skip
