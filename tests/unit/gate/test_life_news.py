"""News of somebody's life is told in the slot that it is of, and only where it is so."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from beliefledger.gate.rules import RuleExtractor


class Said(NamedTuple):
    content: str
    turn_id: str = "now"
    role: str = "user"
    said_at: int = 1_700_000_000_000_000


def told(text: str, attribute: str) -> list[str]:
    found = RuleExtractor().extract(Said(text))
    sincere = [each for each in found if each.act.value in ("statement", "change")]
    return [each.value for each in sincere if each.attribute == attribute]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("started seeing a lady called Doreen", "Doreen"),
        ("im seeing a lad called kofi", "kofi"),
        ("I've been dating a guy named Luca since May", "Luca"),
        ("been dating this girl, Priya, for 3 weeks", "Priya"),
        ("I'm going out with Priya from work", "Priya"),
        ("We're seeing each other. me and Priya are dating", "Priya"),
        ("Priya and I are an item now", "Priya"),
        ("seeing someone new, his name's Theo", "Theo"),
        ("ive started seeing a bloke called Dave", "Dave"),
        ("I'm in a relationship with Sam", "Sam"),
        ("met a lovely man called Bernard, we're going steady", "Bernard"),
        ("Ive been seeing this woman, Marge, for about 2 months", "Marge"),
        ("I started dating a gentleman called Alfred", "Alfred"),
    ],
)
def test_with_whom_somebody_goes_out(said: str, name: str) -> None:
    assert told(said, "relation.partner.name") == [name]


@pytest.mark.parametrize(
    "said",
    [
        "I'm seeing Tom tomorrow",
        "im seeing a dentist called Dr Patel",
        "started seeing a therapist called Anna",
        "should I start seeing a guy named Luca?",
        "my sister is seeing a lad called Kofi",
        "if I was dating Luca",
        "I used to date a guy called Rob",
        "I'm not dating Luca",
        "met a guy called Pete at the bus stop",
        "I dreamt I was going out with Priya",
        "thinking of dating Luca",
    ],
)
def test_nobody_is_a_partner_otherwise(said: str) -> None:
    assert told(said, "relation.partner.name") == []


@pytest.mark.parametrize(
    ("said", "role"),
    [
        ("I've been made head of department", "head of department"),
        ("got promoted to senior nurse", "senior nurse"),
        ("I'm acting up as manager", "manager"),
        ("they made me team leader!!", "team leader"),
        ("ive been bumped up to senior dev", "senior dev"),
        ("made sergeant last week", "sergeant"),
        ("just got made staff engineer", "staff engineer"),
        ("im acting head chef while Luigi is off", "head chef"),
        ("my boss made me shift supervisor", "shift supervisor"),
        ("ive been made a partner at the firm", "partner"),
        ("I got the head teacher job", "head teacher"),
    ],
)
def test_a_post_of_ones_own(said: str, role: str) -> None:
    assert told(said, "work.role") == [role]


@pytest.mark.parametrize(
    "said",
    [
        "I was made redundant",
        "I've been made to wait",
        "they made me dance",
        "I hope to be promoted to manager",
        "my brother was made partner at his firm",
        "am i going to be made manager?",
        "I made captain of the hockey team",
        "I've been appointed chair of governors",
        "got an interview for the manager job",
        "I'd hate to be made manager",
        "I'm acting like a teacher",
    ],
)
def test_no_post_otherwise(said: str) -> None:
    assert told(said, "work.role") == []


@pytest.mark.parametrize(
    ("said", "attribute", "value"),
    [
        ("my wife got a new post at Royal Free", "relation.wife.work", "Royal Free"),
        ("my wife started at the Royal Free on monday", "relation.wife.work", "Royal Free"),
        ("hubby switched to Sainsburys", "relation.husband.work", "Sainsburys"),
        ("sister's moved to Aldi, better pay", "relation.sister.work", "Aldi"),
        ("my dad got promoted to supervisor", "relation.father.role", "supervisor"),
        ("my brother was made partner at his firm", "relation.brother.role", "partner"),
        ("mum of two here", "family.children", "two"),
        ("dad of 3 here, any ideas", "family.children", "3"),
        ("wife and mother of 4 here", "family.children", "4"),
        ("I'm a mum of twins", "family.children", "twins"),
        ("mum here, need dinner ideas", "is.mum", "mum"),
        ("single mum here with a question", "is.mum", "mum"),
        ("grandad here, new to all this", "is.grandad", "grandad"),
        ("mum of three dogs here", "has.dog", "three dogs"),
        ("nurse here on nights", "work.role", "nurse"),
        ("teacher here!", "work.role", "teacher"),
    ],
)
def test_who_it_is_and_a_relatives_post(said: str, attribute: str, value: str) -> None:
    assert told(said, attribute) == [value]


@pytest.mark.parametrize(
    ("said", "attribute"),
    [
        ("my wife started at the gym", "relation.wife.work"),
        ("my son started at Oakfield primary", "relation.son.work"),
        ("my sister got an interview at Aldi", "relation.sister.work"),
        ("my brother moved to Hull", "relation.brother.work"),
        ("my mum here is mad", "is.mum"),
        ("mum's here for the weekend", "is.mum"),
        ("Dan's new job is at Vodafone", "work.employer"),
        ("is the plumber here", "work.role"),
        ("the nurse here is lovely", "work.role"),
    ],
)
def test_and_what_is_none(said: str, attribute: str) -> None:
    assert told(said, attribute) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("hiya, Maureen here, 71, from Grimsby", ("Maureen", "71", "Grimsby")),
        ("Maya 22 from Cork", ("Maya", "22", "Cork")),
        ("im Dev, 24, live in Leicester w my parents", ("Dev", "24", None)),
        ("hey so im Noor 16 doing gcses", ("Noor", "16", None)),
        ("im dev, 24", (None, "24", None)),
        ("I'm British, 24, and bored", (None, None, None)),
        ("i'm 30 minutes late", (None, None, None)),
        ("Sam, 3 eggs please", (None, None, None)),
        ("Tickets from London are dear", (None, None, None)),
        ("Anna from Leeds called me", (None, None, None)),
        ("Paris, 30 degrees today", (None, None, None)),
    ],
)
def test_who_greets(said: str, expected: tuple[str | None, ...]) -> None:
    slots = ("identity.name", "identity.age", "identity.origin")
    assert tuple(next(iter(told(said, each)), None) for each in slots) == expected


@pytest.mark.parametrize(
    ("said", "attribute", "value"),
    [
        ("baby girl Isla born 2nd march", "relation.daughter.name", "Isla"),
        ("our son Theo was born this morning", "relation.son.name", "Theo"),
        ("eldest lad Scott is in the army", "relation.son.scott", "Scott"),
        ("my youngest daughter Jodie works at Boots", "relation.daughter.jodie", "Jodie"),
        ("we got the dog, Biscuit", "relation.dog.name", "Biscuit"),
        ("we got a rescue greyhound called Nigel", "relation.dog.name", "Nigel"),
        ("jacked in stobarts, im driving for Wincanton now", "work.employer", "Wincanton"),
        ("rent went up to 1580, robbery", "home.rent", "1580"),
    ],
)
def test_names_of_children_and_pets(said: str, attribute: str, value: str) -> None:
    assert told(said, attribute) == [value]
