"""Generated conversations: many people, sentences of many kinds, the same for the same seed.

Six in ten turns state something that the rule extractor notices; the rest is thanks, questions and
requests, as in real conversations. People repeat themselves, change their minds
and correct themselves, so that beliefs are confirmed and superseded.
"""

from __future__ import annotations

from random import Random

from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.times import DAY, SECOND, Micros, parse

BEGIN: Micros = parse("2025-01-06T09:00:00Z")

PLACES = "Porto Lisbon Berlin Vienna Oslo Dublin Madrid Warsaw Prague Athens".split()
_FIRMS = "Acme Initech Globex Hooli Umbra Vandelay Stark Wayne Tyrell Cyberdyne".split()
_ROLES = "backend engineer|nurse|teacher|data scientist|designer|product manager".split("|")
_TOOLS = "PostgreSQL|SQLite|pytest|Vim|Emacs|Docker|Django|Rust|Python|Kafka".split("|")
_LIKES = "jazz|black coffee|hiking|science fiction|board games|spicy food|old films".split("|")
_NAMES = "Anna Bruno Clara David Elena Felix Greta Hugo Irene Jonas".split()
_PETS = "dog cat parrot hamster".split()

_STATEMENTS = (
    "I live in {place}",
    "I moved to {place} last month",
    "I work at {firm}",
    "I'm a {role}",
    "I really like {like}",
    "I don't like {like}",
    "I prefer {tool} for backend work",
    "I switched from {tool} to {tool2}",
    "I use {tool} for most of my projects",
    "No, I use {tool}, not {tool2}",
    "I always use dark mode in my editor",
    "My {pet} is called {name}",
    "My sister is called {name}",
    "I chose {tool} for this project",
    "I can't do meetings before ten",
    "I usually go for a run in the morning",
)
_HOMES = (
    "I live in {place}",
    "I moved to {place}",
    "What if I lived in {place}",
    "I don't live in {place}",
)
_ASIDES = (
    "Could you look at the second half of it again and tell me what you would change there?",
    "The rest of what you wrote reads well to me, so please leave it exactly as it is now.",
    "Please keep the answer short this time, with one example that shows the difference.",
    "It would help to see it as a table, with one row for each of the options we discussed.",
)
_TALK = (
    "Thanks, that's helpful! Can you also explain why the first of the two was the slower?",
    "What would be a good way to compare those two options without spending a whole week on it?",
    "Oh great, another meeting. Anyway, how would you word the summary of it for the others?",
    "Write me a short note that says the release is late and that we are sorry about it, please.",
    "Why does the second query take so much longer than the first when the table is this small?",
)


def conversations(people: int, turns: int, seed: int, first: int = 0) -> list[TurnInput]:
    """`turns` turns of `people` people in the order they were said, in sessions of ten turns each.

    `first` is how many turns each of them has said before.
    """
    random = Random(seed)
    said = []
    for number in range(turns):
        ordinal = first + number // people
        said.append(
            TurnInput(
                subject=f"person {number % people}",
                content=_sentence(random),
                session=f"session {ordinal // 10}",
                said_at=BEGIN + (ordinal // 10) * DAY + (ordinal % 10) * 60 * SECOND,
                ordinal=ordinal,
            )
        )
    return said


def statements(count: int, seed: int) -> list[str]:
    """Sentences that all state something, of about a hundred characters."""
    random = Random(seed)
    return [_statement(random) for _ in range(count)]


def homes(count: int, seed: int) -> list[str]:
    """Statements about where somebody lives: sincere ones, changes, corrections, hypotheticals."""
    random = Random(seed)
    return [
        f"{random.choice(_HOMES).format(place=random.choice(PLACES))}. {random.choice(_ASIDES)}"
        f" That was question {number}."
        for number in range(count)
    ]


def _sentence(random: Random) -> str:
    return random.choice(_TALK) if random.random() < 0.4 else _statement(random)


def _statement(random: Random) -> str:
    tool, tool2 = random.sample(_TOOLS, 2)
    statement = random.choice(_STATEMENTS).format(
        place=random.choice(PLACES),
        firm=random.choice(_FIRMS),
        role=random.choice(_ROLES),
        like=random.choice(_LIKES),
        pet=random.choice(_PETS),
        name=random.choice(_NAMES),
        tool=tool,
        tool2=tool2,
    )
    return f"{statement}. {random.choice(_ASIDES)}"
