"""Finds what a turn only sets as a task: word problems and riddles told as "I", a part to play, a
text to work on, a test of the line, a game, a line of a song, news of the world. Nothing of it is
told of who types it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from beliefledger.gate.handed_texts import handed
from beliefledger.gate.known_lines import known_lines
from beliefledger.gate.played_turns import played
from beliefledger.gate.public_figures import public_news
from beliefledger.gate.sentences import sentences
from beliefledger.gate.unsettled import left_open
from beliefledger.gate.world_news import world_news
from beliefledger.ledger.candidate import SpeechAct
from beliefledger.ledger.late_patterns import compile_later


class Task(NamedTuple):
    """The offsets of what is set as a task, and what is done with the words."""

    start: int
    end: int
    act: SpeechAct


def tasks(text: str) -> Iterator[Task]:
    """What a turn sets as a task, in no order; they may overlap."""
    if len(text) > _LONGEST:
        return
    low = text.lower().replace("’", "'")
    yield from _problem(text, low)
    for find in (public_news, world_news, handed, known_lines):
        for start, end in find(text):
            yield Task(start, end, SpeechAct.QUOTED)
    for start, end in left_open(text):
        yield Task(start, end, SpeechAct.HYPOTHETICAL)
    pretended = played(text)
    if pretended is not None:
        yield Task(*pretended, SpeechAct.ROLE_PLAY)
    for pattern, act in _WHOLE:
        if pattern.search(low) is not None:
            yield Task(0, len(text), act)
    for pattern, act in _FROM:
        found = pattern.search(low)
        if found is not None:
            paragraph = low.find("\n\n", found.end())
            yield Task(found.start(), len(text) if paragraph < 0 else paragraph, act)
    if _TITLE.match(low) is not None:
        # A text and what is to be done with it: "Scones: I use … — convert to cups".
        begin = max(0, len(low) - _TAIL)
        worked = _WORKED_ON.search(low.rstrip(), begin)
        if worked is not None:
            yield Task(0, worked.start(), SpeechAct.QUOTED)


_LONGEST = 3_000
"""Turns of more characters are documents, and are read as such."""


def _problem(text: str, low: str) -> Iterator[Task]:
    """A word problem: figures, told as one's own, and what is to be worked out from them."""
    asked = _ASKED.search(low)
    if asked is None:
        return
    end = next((end for start, end in sentences(text) if start <= asked.start() < end), len(text))
    told = low[: asked.start()]
    figures = len(_FIGURE.findall(low[:end]))
    if _THOUGHT_OF.search(told) or (_TIMES_AS.search(told) and figures > 1):
        yield Task(0, end, SpeechAct.HYPOTHETICAL)
    elif _SCHOOL.search(low) and figures:
        yield Task(0, len(text), SpeechAct.HYPOTHETICAL)
    elif figures > 1 and _WORKED_OUT.search(asked[0]):
        yield Task(0, end, SpeechAct.HYPOTHETICAL)


_FIGURE = compile_later(
    r"\d[\d.,]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|half|"
    r"twice|double|a third|a quarter)\b"
)
_ASKED = compile_later(
    r"\b(?:how (?:many|much|far|long|old|fast|high|tall|deep|wide|heavy)\b[^.!?\n]{0,60}|"
    r"what(?:'s| is| are| will be| was)? (?:it\b|my number|my age|my (?:average )?speed|"
    r"the (?:\w+ ){0,2}(?:area|volume|"
    r"perimeter|circumference|probability|chances?|odds|number|speed|distance|total|sum|ratio|"
    r"velocity|height|price|cost|value|profit|interest|mean|median|product|difference|answer|age|"
    r"acceleration|force|mass|length|width|radius|angle|percentage)\b)[^.!?\n]{0,60}|"
    r"when (?:does|do|will|did) (?:it|they|we|i|the \w+) (?:hit|meet|pass|arrive|reach|overtake|"
    r"catch|land|fill|run out)\b[^.!?\n]{0,60}|at what (?:time|speed|height)\b[^.!?\n]{0,60}|"
    r"(?:find|solve for|calculate|work out) (?:x\b|the |my |how )[^.!?\n]{0,60}|"
    r"(?:who|what) am i(?=\s*\?))"
)
_WORKED_OUT = compile_later(
    r"\b(?:left|altogether|all together|in total|in all|remain\w*|each get|does each|"
    r"do i have(?: now| left)?$|old am i|am i going|hits? the (?:ground|floor|water)|overtake|"
    r"meet(?: each other)?$|pass my|reach the|is it$|is my (?:average )?speed|is the (?:area|"
    r"volume|perimeter|circumference|"
    r"probability|ratio|radius|angle)|probability|am i$)"
)
_SCHOOL = compile_later(
    r"\b(?:worksheet|exercise \d|question \d|problem \d|word problems?|maths? problem|q\d{1,2}\b|"
    r"show (?:your |the |all |me the |my )?(?:work|working|workings|steps)\b|"
    r"to the nearest \w+|solve for|compound interest)\b"
)
_THOUGHT_OF = compile_later(r"\b(?:thinking|thought) of a number\b")
_TIMES_AS = compile_later(
    r"\b(?:twice|half|three times|four times|five times|\d times|double) (?:as old as|the age of|"
    r"my age|his age|her age)\b"
)
_WHOLE = (
    # A line that only tries whether anything comes through.
    (
        compile_later(
            r"^\W*(?:test(?:ing)?\W+){2,}|^\W*test(?:ing)?\W+(?:\d\W+){1,4}|"
            r"^\W*(?:(?:ok|hi|hello),? )?(?:this is )?(?:just |only )?a test (?:message|input|"
            r"run)\b"
        ),
        SpeechAct.QUOTED,
    ),
    # What somebody offers a job with.
    (
        compile_later(
            r"\([mwfdx](?:/[mwfdx]){1,2}\)|\b(?:we are|we're) (?:looking for|hiring|seeking|"
            r"recruiting) (?:an?|experienced)\b(?s:.{0,600})\b(?:you (?:have|bring|speak|will|are|"
            r"offer)|your (?:profile|tasks|role)|apply (?:now|by|with)|equal opportunit|what we "
            r"offer|requirements?:)"
        ),
        SpeechAct.QUOTED,
    ),
    # A riddle that is answered at once.
    (
        compile_later(
            r"^\W*why (?:(?:did|do|does|was|am|can't|don't|couldn't) (?:the|an?) \w+|did (?:i|my "
            r"\w+) (?:get fired|quit|break up|cross|bring|throw|put|stop dating|invite|"
            r"take))\b[^?\n]{0,70}\?\s+(?:because |cos |cuz )?(?:i|it|they|he|she|"
            r"we)\b[^.!?,\n]{3,60}[.!]*\s*(?:\W*|ba ?dum ?tss.*|haha.*)$"
        ),
        SpeechAct.SARCASTIC,
    ),
    (
        compile_later(
            r"\*(?:draws|unsheathes|raises|casts|bows|kneels|swings|enters|steps|slams|adjusts|"
            r"straightens|strokes|leans|tips|growls|whispers|cackles|twirls|glares|smirks|winks|"
            r"emerges|appears|strides|saunters)\b[^*\n]{0,60}\*"
        ),
        SpeechAct.ROLE_PLAY,
    ),
)
_FICTION = (
    r"(?:monologue|soliloquy|scene|skit|sketch|short story|story|diary entry|dialogue|fan "
    r"?-?fic\w*|role-?play|rap|limerick|ballad|screenplay|novel|campfire tale|sea shanty)"
)
_GAMES = (
    r"(?:(?:the )?sims(?: \d)?|gta(?: \w{1,6})?|skyrim|oblivion|morrowind|minecraft|fortnite|"
    r"roblox|stardew(?: valley)?|animal crossing|zelda|pok[eé]mon|football manager|fm ?\d\d|fifa|"
    r"ea fc|pes|madden|nba 2k|crusader kings|ck[23]|civ(?:ilization)?|europa universalis|eu4|"
    r"hearts of iron|victoria 3|age of empires|total war|rimworld|dwarf fortress|elden ring|"
    r"dark souls|baldur'?s gate|bg3|fallout|witcher|cyberpunk|red dead|rdr2|mass effect|"
    r"dragon age|starfield|no man'?s sky|eve online|warcraft|runescape|terraria|valheim|factorio|"
    r"cities(?: ?: ?| )skylines|planet zoo|zoo tycoon|farming simulator|d&d|dnd|pathfinder|"
    r"warhammer|bitlife|final fantasy|assassin'?s creed|kerbal|subnautica|"
    r"(?:f1|championship) manager)"
)
_VERSION = r"(?: (?:\d{1,4}|i{1,3}|iv|v|vi|xiv|online|pocket|remake|remastered))?"
_SAVE = (
    r"(?:save(?: ?(?:game|file|slot))?|play-?through|career mode|dynasty mode|franchise mode|"
    r"manager mode|road to glory|ironman|hardcore run|modded run|nuzlocke)"
)
_PLACES_IN_A_TEAM = (
    r"(?:goalie|(?:goal)?keeper|striker|winger|midfielder|defender|forward|sweeper|full-?back|"
    r"centre|center|(?:left|right)[ -](?:back|wing\w*|half)|libero|setter|hooker|prop|fly-?half|"
    r"guard|pitcher|catcher|point|opener|bowler|substitute|sub|guest|duo|trio|band|team|pair|"
    r"soloist|pianist|organist|drummer|guitarist|bassist|dj|pro|professional|amateur|hobby|kid|"
    r"child|teen\w*|family|group|beginner)"
)
_FROM = (
    (
        # "in my sims save i quit my job", "football manager 26: I manage Wrexham".
        compile_later(
            rf"(?:^|[.!?\n] *)(?:(?:ok|so|hi|hey|lol|currently|right now),? )?(?:(?:in|on) "
            rf"(?:(?:my|our|this|the|a|another) )?(?:[\w'-]+ ){{0,3}}?(?:{_SAVE}(?: (?:of|in|on) "
            rf"{_GAMES}{_VERSION})?|{_GAMES}{_VERSION}(?: {_SAVE})?)"
            rf"|{_GAMES}{_VERSION}(?: {_SAVE})?[:,–—-])[\s,:–—-]+"
            r"(?=(?:i|i'm|im|i've|ive|my|we|our)\b)"
        ),
        SpeechAct.ROLE_PLAY,
    ),
    (
        # "im playing as the astronaut who …": and not as a striker.
        compile_later(
            rf"(?:^|[.!?\n,] *)(?:(?:ok|so|hi|hey),? )?(?:i'm |im |i am |we're |we are )?"
            rf"(?:(?:role)?playing (?:{_GAMES}{_VERSION} )?as|in the role of) (?:an?|the|my) "
            rf"(?!(?:[\w'-]+ ){{0,3}}{_PLACES_IN_A_TEAM}\b)(?![^.!?\n]{{0,60}}\b(?:theat(?:re|er)|"
            rf"stage|choir|orchestra|church|premiere|rehears\w+|opening night|season)\b)"
        ),
        SpeechAct.ROLE_PLAY,
    ),
    (
        # "my Skyrim guy is a vegan".
        compile_later(
            rf"\b(?:my|our) (?:[\w'-]+ )?{_GAMES}{_VERSION} (?:guy|girl|dude|lady|lad|toon|char|"
            rf"character|avatar|wife|husband|island|farm(?:er)?|villager|kingdom|colony|captain|"
            rf"hero|build|companion|manager|club|team|king|queen|duke) (?:is|was|has|had|lives|"
            rf"owns|never|hates|loves|works|just|got|left|quit|died)\b"
        ),
        SpeechAct.ROLE_PLAY,
    ),
    (
        # "I'm level 40 and I sold my horse".
        compile_later(
            r"(?:^|[.!?\n,] *)(?:(?:ok|so|lol),? )?(?:i'm|im|i am) (?:at |on |now )?(?:level|lvl) ?"
            r"[1-9]\d{1,2}(?= (?:and|but|now|with|in (?:the|this) game|lol)\b|[,.!]|$)"
        ),
        SpeechAct.ROLE_PLAY,
    ),
    (
        # "our detective, Inspector Obi, keeps parrots. Suggest a flaw".
        compile_later(
            r"(?:^|[.!?\n] *)(?:(?:my|our|the) (?:[\w-]+ )?(?:detective|sleuth|hero|heroine|"
            r"villain|narrator|protagonist|antagonist|main character|mc|love interest|"
            r"sidekick)|protagonist|antagonist|villain|narrator|heroine|main character)\b"
            r"(?=[^\n]{0,300}\b(?:flaws?|secrets?|rivals?|weakness(?:es)?|back ?-?stor(?:y|ies)|"
            r"motives?|nemesis|plot|twist|arcs?|quirks?|catch ?phrases?|sidekick|love interest|"
            r"(?:next|first|opening|last|write|another) (?:a |the )?(?:scene|line|chapter|"
            r"paragraph|page)|(?:scene|chapter) \w+|dialogue|surname|alibi|enem(?:y|ies))\b)"
        ),
        SpeechAct.ROLE_PLAY,
    ),
    (
        compile_later(
            rf"(?:^|[.!?\n] *)(?:please |pls |can you |could you |now )?(?:write|compose|draft|"
            rf"make up|give|make|tell|create|do|continue) (?:me |us )?(?:an?|the|another|some|my|"
            rf"this) (?:[\w-]+ ){{0,3}}{_FICTION}\b[^.!?:\n]{{0,60}}[.!?:]\s+(?=(?:i|i'm|my|"
            rf"we)\b(?! (?:want|need|would|like|love|wrote|think|already|don't|am writing)\b))"
        ),
        SpeechAct.ROLE_PLAY,
    ),
    (
        compile_later(
            rf"\b(?:here's|here is|this is) (?:my|the|our|a) (?:\w+ ){{0,2}}?(?:{_FICTION}|poem|"
            rf"song|lyrics|chapter|script)(?: (?:opening|intro|so far|draft|idea|beginning|"
            rf"text))*: *"
        ),
        SpeechAct.ROLE_PLAY,
    ),
    (
        compile_later(
            r"(?:^|[.!?\n] *)for (?:(?:the|my|an?|this|our) )?(?:[\w-]+ )?(?:practice|exercise|"
            r"mock interview|improv|role-?play|scenario|simulation|drill|game)[^.!?\n]{0,20}?,? "
            r"(?=(?:i'll be|i will be|i am|i'm|i play)\b)"
        ),
        SpeechAct.ROLE_PLAY,
    ),
)
_TITLE = compile_later(r"[^.:\n]{3,50}:\s")
_WORKED_ON = compile_later(
    r"(?:[—–-]|\n) ?(?:please |pls |can you |now )?(?:convert|translate|rewrite|shorten|"
    r"summari[sz]e|proofread|fix|rephrase|reword|turn|make it|put)\b[^.!?\n]{0,60}[.!?]?$"
)
_TAIL = 120
"""In so many characters at the end a turn says what is to be done with the text before."""
