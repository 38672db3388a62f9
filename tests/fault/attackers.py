"""What the processes of the attacker's mix do, until they are killed: see `tortured`.

    say      turn POSITION TURN KEY PERSON WORDS, or decision EVENT, or refused PERSON
    erase    begun KIND WHAT PERSON, then erased KIND WHAT PERSON TIME (or gave up)
    rebuild  at POSITION, or rebuilt VIEW
    hunt     searched TIME PERSON CANARY …: the canaries in what a search found, begun at TIME

The people are a few, and each that was erased is followed by another of the next number. Every turn
has a word of its own, its canary. Times are monotonic, which all processes of a machine share.
"""

from __future__ import annotations

import re
import time
from itertools import count

from tortured import insist, states

from beliefledger.ledger.errors import NotPermitted, UnknownMemory
from beliefledger.ledger.log import new_id

PEOPLE = 5
SENTENCES = (
    "I live in {}.",
    "I moved to {}.",
    "I work as a {} at Mondego Labs.",
    "I always use {} for editing.",
    "What if I were in {}?",
    "The weather in {} is fine today.",
)
CANARY = re.compile(r"\bZq[a-z]{10}\b")
GONE = (NotPermitted, UnknownMemory)


def canary(chance):
    return "Zq" + "".join(chance.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(10))


class People:
    """Names to act on. Whoever turns out to be erased is replaced by the next of their line."""

    def __init__(self, chance):
        self._chance = chance
        self._turns = [0] * PEOPLE

    def one(self):
        line = self._chance.randrange(PEOPLE)
        return line, f"person-{line}.{self._turns[line]}"

    def gone(self, line):
        self._turns[line] += 1


def say(memory, note, chance):
    run, people, known = new_id(), People(chance), set()
    for n in count():
        line, person = people.one()
        try:
            if person not in known:
                insist(memory.consent.grant, person, "consent")
                known.add(person)
            words = chance.choice(SENTENCES).format(canary(chance))
            key = f"{run}-{n}"
            turn = insist(memory.record_turn, person, words, idempotency_key=key, session=f"s{n}")
            note("turn", turn.position, turn.turn_id, key, person, words.replace(" ", "_"))
            if chance.random() < 0.4:
                for decision in insist(memory.process, subject=person, limit=10).decisions:
                    note("decision", decision)
        except GONE:
            people.gone(line)
            note("refused", person)
        time.sleep(chance.random() * 0.03)


def rebuild(memory, note, chance):
    projector = memory._core.projector
    while True:
        insist(projector.catch_up)
        note("at", min(each.position for each in insist(states, projector)))
        view = chance.choice(sorted(projector.views))
        insist(memory.operations.rebuild, view)
        note("rebuilt", view)
        time.sleep(chance.random() * 0.1)


def erase(memory, note, chance):
    people = People(chance)
    while True:
        line, person = people.one()
        try:
            kind, what = _chosen(memory, person, chance)
            note("begun", kind, what, person)
            asked = {} if kind == "subject" else {kind: what}
            insist(memory.erase, person, by="dpo", **asked)
            note("erased", kind, what, person, time.monotonic())
            if kind == "subject":
                people.gone(line)
        except NotPermitted:
            people.gone(line)
            note("gave-up", person)
        except (UnknownMemory, IndexError):
            note("gave-up", person)
        time.sleep(chance.random() * 0.3)


def _chosen(memory, person, chance):
    """What to erase of somebody."""
    kind = chance.choice(["subject", "memory", "memory", "turn", "turn", "turn"])
    if kind == "memory":
        return kind, chance.choice(insist(memory.beliefs, person)).memory_id
    if kind == "turn":
        decisions = insist(memory.decisions, person)
        return kind, chance.choice([each for each in decisions if each.claim]).turn_id
    return kind, person


def hunt(memory, note, chance):
    """Searches and looks whether it finds what is erased. What it found is judged at the end."""
    people = People(chance)
    while True:
        line, person = people.one()
        began = time.monotonic()
        answer = insist(memory.search, person, "Where do I live and work?", 10)
        text = " ".join(each.text for each in answer.results)
        note("searched", began, person, *CANARY.findall(text))
        if not answer.results and insist(memory.erasure.was_erased, person):
            people.gone(line)
        time.sleep(chance.random() * 0.1)
