"""The functions that read text from outside, whole: a loop may be quadratic where no pattern is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from child import Case
from growth import Run
from runs import CHARACTERS, MIXED

from beliefledger.gate import (
    claim_words,
    claims,
    custom_types,
    dates,
    literals,
    orders,
    rephrasings,
    sentences,
    slots,
    speech,
)
from beliefledger.gate.custom_types import Custom, Noticing
from beliefledger.gate.model.prefilter import nothing_to_keep
from beliefledger.gate.model.reading import locate
from beliefledger.gate.pasted_text import pasted
from beliefledger.gate.registry import Registry, default_types, load_type
from beliefledger.gate.rephrasings import Original
from beliefledger.gate.rules import RuleExtractor
from beliefledger.ledger import own_secrets
from beliefledger.ledger.candidate import Candidate, Span
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.redact import redact
from beliefledger.opener import open_memory
from beliefledger.projections import answer_kinds, novelty, open_sentences, search_terms
from beliefledger.projections.routing import route
from beliefledger.tools.cli.common import without_passwords
from beliefledger.tools.server import causes
from beliefledger.tools.server.api import http
from beliefledger.tools.server.api.shortcuts import Shortcuts

SAID_AT = 1_772_355_600_000_000
MEDICATION = load_type(
    {
        "name": "medication",
        "prior": 0.15,
        "half_life_days": 180,
        "slot": "attribute",
        "attribute": "medication.{name}",
        "fields": {
            "name": {"description": "what", "required": True},
            "dose": {"description": "how much"},
        },
        "patterns": ["take {dose} of {name}", "take {name}"],
    }
)
REGISTRY = Registry(types={kind.name: kind for kind in (*default_types(), MEDICATION)})
ORDINARY = (
    "I take 50 mg of sertraline every morning. Nora works at Equinor, not Shell. I use pytest, not"
    " unittest. My manager is Dana Levy (aka Dan). It happened two weeks ago, on 3 May 2024. I"
    " decided to move. She said “I live here”. Last week I was in Porto. My password is hunter2."
    " Oslo is where I live, I think. Actually it's Lisbon, not Porto. I might not use Vim."
)


TALK = """\
our stack is Django + React on Heroku
we're migrating off heroku to AWS
our setup is Flask on Heroku
we switched from heroku to fly
I use github actions with node 18.
we upgraded to node 22
sometimes I sleep on the sofa.
Jess's sofa I mean
I live in Leipzig.
swapped Leipzig for Dresden
I drive a blue 2011 Corsa.
swapped the Corsa for a Polo
I use Ubuntu 20.04.
I use Python 3.11.
bumped to 3.12
I have 8 koi.
three died, so 5 koi left
Our weekly meeting is at 9:40.
the meeting is at 14:15 now
My sister comes on Friday with the kids.
Saturday, not Friday
My boss is Katrin.
actually my boss is Kathrin
Our cat Miso is 17.
had to let miso go this morning
I prefer dark mode.
light mode is better on my eyes
I live alone.
my mum lives with me now
My gran lives in Hove.
my gran passed away
I work remotely.
back in the office full time
I owe my dad 500.
paid my dad back
I owe my sister 50.
settled up with my sister
I sing in a choir.
left the choir
I play bass in a band.
left the band
I play football for a team.
quit the team
I have two kids.
baby number three arrived yesterday
I have 3 fish.
one died
I'm saving for a car.
bought the car
I commute by train.
i cycle in now
I use android.
got an iphone now
I have an iphone and use ios.
switched to android
I have a cat called Luna.
luna went to live with my mum
I have an offer from Google.
turned google down
My boss is Anna.
anna's been replaced by bob
I am on the night shift.
finally off nights
Our wedding is on 12 June.
we eloped
I am single.
we moved in together
I live with my sister.
my sister got her own flat
I am on sabbatical.
back at work since monday
My favourite song is Creep.
new fave song is Houdini
My budget is 50 a week.
its more like 70 now
My cat is called Simba.
simba lives with my sister now
I play bass in a band called Lowtide.
lowtide split up
I play guitar, bass and drums.
quit drums last month
Standup is at 9.
with the new team its 10 now
I live in Lisbon.
forget where i live please
I have asthma.
please forget where I live
I am training for a marathon on Sundays.
the trains don't run anymore
I like rose wine.
my aunt Rose died last week
when I turned 30 I quit smoking
I'm a baker at Greggs.
got sacked from greggs
first day at greggs after the holidays
first day at hogan, they got me in a truck
hogan switched me to the night route
my daughter Mia does ballet on tuesdays
mia joined the choir, practice fridays
i found a studio in Delft for my pottery
my physio is Karin
karin is back
mondays are dead
I see my mum on wednesdays.
their mum does mondays again
"""


@dataclass
class Turn:
    content: str
    turn_id: str = "t"
    role: str = "user"
    said_at: int = SAID_AT


def _acts(text: str) -> None:
    for start in (0, len(text) // 2, max(0, len(text) - 40)):
        speech.speech_act(text, start, min(len(text), start + 20))


def _extract(text: str) -> None:
    RuleExtractor(Noticing(lambda: REGISTRY)).extract(Turn(text))


def _confirm(text: str) -> None:
    RuleExtractor().extract(Turn("Yes, that's right."), [Turn(text, role="assistant")])


def _answer(text: str) -> None:
    RuleExtractor().extract(Turn(f"Yes, {text}"), [Turn("Do you have a dog?", role="assistant")])
    RuleExtractor().extract(Turn("Yes, two"), [Turn(f"Do you have {text}?", role="assistant")])


def _correct(text: str) -> None:
    RuleExtractor().extract(Turn("Actually it's Lisbon, not Porto."), [Turn(text)])


def _within(text: str) -> None:
    claims.claim_within(
        Candidate(
            claim=f"User perhaps uses {text}", spans=(Span(start=0, end=len(text), quote=text),),
            type="fact", entity="user", attribute="tool", value="pytest", replaces="unittest",
            topic="general", importance=500_000, confidence=900_000,
        )
    )  # fmt: skip


def _beyond(text: str) -> None:
    claims.beyond(
        Candidate(
            claim="User prefers tea to coffee since May and no longer owns 2 cats",
            spans=(Span(start=0, end=len(text), quote=text),), type="fact", attribute="tool",
            value="tea", replaces="coffee", importance=500_000, confidence=900_000,
        )
    )  # fmt: skip


def _merge(text: str) -> None:
    one, other = (
        Original(
            memory_id=name, belief=name, type="fact", confidence=1, base=1, importance=1,
            visibility_scope="subject", basis="consent", grant="g",
            memory=Memory(
                attribute=f"part.{name}", said_at=1, said_at_stated=False, valid_from=1, turn="t",
                spans=(), claim=f"User {text}", value=name,
            ),
        )
        for name in ("a", "b")
    )  # fmt: skip
    rephrasings.refusal(one, other, REGISTRY.types["fact"])


def _forget() -> None:
    for module in (
        claims,
        custom_types,
        dates,
        claim_words,
        speech,
        sentences,
        literals,
        search_terms,
    ):
        module.forget()


READERS: dict[str, Callable[[str], object]] = {
    "sentences": sentences.sentences,
    "speech.speech_act": _acts,
    "orders.instruction_like": orders.instruction_like,
    "pasted": pasted,
    "dates.find_when": lambda text: dates.find_when(text, SAID_AT),
    "redact": redact,
    "rules: a turn": _extract,
    "rules: what was confirmed": _confirm,
    "rules: what was answered": _answer,
    "rules: what was corrected": _correct,
    "rules: types of one's own": lambda text: Custom(MEDICATION).in_claim(text),
    "claude: prefilter": lambda text: nothing_to_keep(Turn(text)),
    "claude: a quote in a text": lambda text: locate(text, text[: len(text) // 2] + " b"),
    "claude: a quote spaced otherwise": lambda text: locate(text, f"a\n\n{text[: len(text) // 2]}"),
    "claims.claim_within": _within,
    "claims.beyond": _beyond,
    "slots.canonical_text": slots.canonical_text,
    "rephrasings.refusal": _merge,
    "search: terms": search_terms.asked,
    "search: what is stated": open_sentences.stated,
    "search: kinds of answers in a text": answer_kinds.kinds_in,
    "search: kinds of answers asked for": answer_kinds.kinds_asked,
    "search: routing": route,
    "search: whether a turn is news": novelty.columns,
    "cli: a sentence without passwords": without_passwords,
}


def cases(part: int, of: int) -> Iterator[Case]:
    """Each reader on each run, all sizes: this share of them."""
    runs = [Run(piece) for piece in (*CHARACTERS, *MIXED)]
    for number, (name, reader) in enumerate(READERS.items()):
        if number % of == part:

            def read(text: str, reader: Callable[[str], object] = reader) -> None:
                _forget()
                reader(text)

            yield Case(name, read, runs, thorough=True)


def exercise() -> None:
    """Use everything once on ordinary words, so that every pattern has been made."""
    for reader in READERS.values():
        reader(ORDINARY)
    _extract("The boiler in the cellar broke again on the twelfth of May.")
    said = Turn("I have a meeting with Anna on Monday", "s")
    RuleExtractor().extract(Turn("make that Tuesday"), [said])
    guessed = Turn("You live in Aarhus, right?", "g", "assistant")
    RuleExtractor().extract(Turn("no, Aalborg"), [guessed])
    _answer("a cat")
    with TemporaryDirectory() as place, open_memory(place, consent="consent") as memory:
        for turn in TALK.splitlines():
            memory.remember("ana", turn, session="talk")
        memory.remember("ana", "I never lived in Rome.", session="talk")
        memory.remember("ana", "Ana isn't my sister any more.", session="talk")
        held = memory.beliefs("ana")[0]
        memory.update(held.memory_id, value="something else", by="ana")
    for sent in ("foo", "Foo-1"):
        causes.without(f"there is no --type {sent}", {"type": sent}, names=False)
    Shortcuts(http.ENDPOINTS).find("GET", "/memories/abc", b"")
    own_secrets.add(Badge())
    own_secrets.remove(Badge.kind)


class Badge:
    """A kind of secret of somebody's own; whether its pattern is linear is theirs to know."""

    kind, hint, pattern = "badge", "badge", "badge-[0-9]{6}"
