"""Finds what a turn tells of people and things in the public eye: news of the world, and no memory
of the speaker. Pure.

Nobody can list them. What marks them is that nothing in the words links them with the speaker, and
that the assistant is asked what only the world knows of them, or that they did what only people in
public do. Who is called by one name alone may be the speaker's friend, so that takes more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate.rules.lexicon import public_names
from beliefledger.gate.sentences import LONGEST, sentences
from beliefledger.ledger.late_patterns import compile_later


def public_news(text: str) -> Iterator[tuple[int, int]]:
    """The sentences [start, end) of a turn that tell of somebody or something public."""
    if len(text) > LONGEST:
        return
    for start, end in sentences(text):
        named = _NAMED.match(text, start, end)
        if named is None or _is_ordinary(named["name"]):
            continue
        asks = _ASKED.search(text, named.end(), end)
        until = end if asks is None else asks.start()
        if _LINKED.search(text, start, until) is not None:
            continue
        if _is_public(named["name"], text[named.end() : until], text):
            # "explain it like I'm five" is a wish of the speaker's, and stays theirs.
            yield start, until if _LINKED.search(text, until, end) else end


def _is_public(name: str, told: str, text: str) -> bool:
    if _DID_IN_OFFICE.search(told) is not None or _ASKED_OF_ANYTHING.search(text) is not None:
        return True
    if " " not in name:
        return False
    if name.casefold().replace("’", "'").removesuffix("'s") in _PERSONS:
        return True
    return _DID.search(told) is not None or _ASKED_OF_SOMEBODY.search(text) is not None


def _is_ordinary(name: str) -> bool:
    """Whether what looks like a name is only how a sentence begins, or somebody by their title."""
    first = name.split(maxsplit=1)[0].rstrip(".")
    return first.lower() in _BEGINNINGS and not (len(first) > 1 and first.isupper())  # "MS Dhoni"


_PERSONS = public_names("persons")
_BEGINNINGS = frozenset(
    "i i'm i've im ive my our your his her its their the a an this that these those we you he she "
    "it they there here what when where who why how which if so and but or not no yes for in on at "
    "to from with by of as is are was were do does did can could would will should please thanks "
    "hi hey hello dear good happy just also then now today tomorrow yesterday mum mom dad mummy "
    "daddy nan gran granny grandma grandpa grandad granddad auntie aunt uncle mr mrs ms miss dr "
    "monday tuesday wednesday thursday friday saturday sunday".split()
)
_NAMED = compile_later(
    r"\W*(?:(?:[Ss]o|[Oo]k|[Aa]nd|[Bb]ut|[Ww]ell|[Ff]un fact|[Tt]rivia|[Ss]ettle (?:this|it|a bet)|"
    r"[Ee]xplain|[Ww]hy|[Hh]ow|[Nn]ow that|[Nn]ow|[Ss]ince)\b[\s,:–—-]{1,3}){0,3}"
    r"(?P<name>[A-ZÀ-Þ][\w’'.-]{0,20}"
    r"(?: (?:de |da |dos |van |von |der |bin |al-|el |la |Le )?[A-ZÀ-Þ][\w’'.-]{1,20}){0,3})"
    r"(?=[ ,(])"
)
_LINKED = compile_later(
    r"\b(?:[Ii]|[Ii]['’]?(?:m|ve|ll|d)|[Mm]y|[Oo]ur|[Mm]e|us|[Ww]e|[Ww]e['’]?(?:re|ve|ll|d)|"
    r"[Mm]ine|ours)\b(?!-)"
)
_ASKED = compile_later(
    r"[,;:(?!]|\s[–—-]\s|\b(?:and|so|but) (?=(?:who|what|when|where|why|how|explain|settle)\b)"
    r"|\b(?=explain\b)",
    re.I,
)
"""Where the speaker may go on to ask: what follows may be about themselves."""
_CONTEST = (
    r"(?:test|international|professional|pro|club|league|first-class|county|competitive|t20i?|odi|"
    r"world|olympic)"
)
_GAME = (
    r"(?:cricket|football|soccer|rugby|tennis|boxing|golf|athletics|hockey|basketball|baseball|"
    r"cycling|swimming|racing|rallying|formula (?:one|1)|f1|ufc|wrestling|chess|politics|acting|"
    r"hollywood|bollywood|nollywood|the stage)"
)
_DID_IN_OFFICE = compile_later(
    rf"\bretir\w{{1,4}} from {_CONTEST} {_GAME}\b|"
    r"\b(?:quit|resigned|stepped down|was sacked|was ousted|was elected|sworn in|re-?elected|"
    r"took over|returned) as (?:the )?(?:prime minister|president|chancellor|premier|pope|"
    r"taoiseach|first minister|party leader|(?:national|england|india|brazil) (?:team )?"
    r"(?:coach|captain|manager))\b|"
    r"\b(?:won|wins|lost|loses|lifted|defended) (?:the|an|a|his|her|their|two|three|four) "
    r"(?:\w+ )?(?:world cup|oscars?|grammys?|ballon d['’]or|nobel|grand slam|wimbledon|super bowl|"
    r"champions league|world title|premier league|presidency|pulitzer|booker)\b",
    re.I,
)
"""What only people in public do."""
_DID = compile_later(
    rf"\b(?:retir\w{{1,4}}|quit|banned|returns?|returned|comeback) (?:from |to )?(?:{_CONTEST} )?"
    rf"{_GAME}\b|"
    r"\b(?:quit|resigned|stepped down|was sacked|was ousted|was elected|appointed) as "
    r"(?:the )?(?:\w+ )?(?:coach|captain|leader|ceo|mayor|minister|governor|senator|mp|speaker|"
    r"ambassador|king|queen)\b|"
    r"\b(?:his|her|their) (?:party|cabinet|majority|fans|record label|world title|new (?:album|"
    r"film|movie)|entourage)\b|"
    r"\b(?:for|at|of|won|win|hosts?|hosted|judges?) the (?:booker|oscars|grammys|emmys|baftas|"
    r"nobel|super bowl|ballon d['’]or|eurovision)\b|"
    r"\b(?:fans|tabloids|paparazzi|the press|the internet|twitter|people still|people keep)\b",
    re.I,
)
"""What somebody with a full name does in public, of whom no more is told."""
_ASKED_OF_ANYTHING = compile_later(
    r"\bsettle (?:this|it|an? (?:bet|argument|debate|row)|the (?:bet|argument|debate))\b|"
    r"[,;.?!] ?(?:and )?(?:when|what year) (?:was|did|is) (?:that|this|it)(?: happen)?\W*$|"
    r"[,;.?!] ?(?:or )?(?:is|was) (?:that|this|it) (?:even |really |actually |just |only )?(?:true|"
    r"real|correct|legit|an? (?:rumou?r|myth|legend|joke|hoax))\b|"
    r"\btrue or (?:false|not)\b|\bfact[- ]check\b|\b(?:trivia|quiz|pub quiz) questions?\b|"
    r"\bexplain why\W*$",
    re.I,
)
"""Asked of what the world knows, whoever did it: "settle this"."""
_THEM = r"(?:he|she|they|his|her|their)"
_ASKED_OF_SOMEBODY = compile_later(
    rf"\bexplain (?:to \w+ |me )?(?:why|who|{_THEM}|how {_THEM}|what {_THEM}|like i|to an? )|"
    r"\b(?:and |,|\?|\.|explain) ?who (?:will|can|takes?|took|followed|follows|replace[sd]?|comes|"
    r"came|succeed(?:s|ed)|is next|has the)\b|"
    rf"\b(?:how|what|where|when|why|who|which)(?: \w+)? (?:does|do|did|is|was|are|were|has|had) "
    rf"(?:{_THEM}|it)\b(?! (?:need|have to|owe|want|get|like))|"
    r"\b(?:is|was|are|does|did|has) (?:he|she|they) (?:still|really|ever|alive|better|the best|"
    r"number one|the greatest)\b|"
    r"\b(?:timeline|fun facts?|trivia|quiz|essay|documentary|argue (?:both|for|against)|for and "
    r"against|summari[sz]e|rumou?r)\b|"
    r", right(?:\?|,|\W*$)|"
    rf"\b{_THEM} (?:best|greatest|top|biggest|most famous|finest) \w+|\b\w+ of (?:his|hers)\W*$",
    re.I,
)
"""Asked of what the world knows of somebody: what one's friends do no assistant is asked."""
