"""Whom the ledger knows: how much there is of each person, and when something last happened."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.errors import InvalidQuery
from beliefledger.ledger.events.subject import LegalHoldPlaced
from beliefledger.ledger.times import to_datetime
from beliefledger.opening.core import Core
from beliefledger.projections import subject_questions
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.decisions import DecisionsView
from beliefledger.projections.turns import TurnsView
from beliefledger.reading.queries import Queries

LIMIT = 100
MOST = 1_000
"""How many people a page has, unless somebody says otherwise, and at most."""


class SubjectAnswer(Frozen):
    """A person whom the ledger knows, and how much there is of them."""

    subject: str
    subject_ref: str
    turns: int
    pending: int
    """Turns that wait for their extraction."""
    memories: int
    """Those that hold now, however sure."""
    quarantined: int
    decisions: int
    waiting: int
    """Decisions that wait for a person."""
    events: int
    registered_at: datetime
    last_activity: datetime
    """When the last event about them was recorded."""
    held: bool
    """Whether a legal hold forbids to erase them."""


class SubjectsPage(Frozen):
    """People in the order of their references, which is the same each time and says nothing."""

    subjects: tuple[SubjectAnswer, ...]
    next: str | None
    """The cursor of the next page; None where this is the last."""


class SubjectQueries:
    """Lists people."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries

    def page(self, limit: int | None = None, after: str | None = None) -> SubjectsPage:
        """A page of the people who are known and not erased. Raises `InvalidQuery`."""
        limit = LIMIT if limit is None else limit
        if type(limit) is not int or not 1 <= limit <= MOST:
            raise InvalidQuery(f"limit is {limit!r}; a page has 1 to {MOST:,} people.")
        if after is not None and not _is_reference(after):
            raise InvalidQuery(
                f"after: {after!r} is no cursor; give the `next` of a page as it is."
            )
        self._core.recorder.flush()
        vault, tenant = self._log.vault, self._log.tenant
        refs = vault.subjects(tenant, after or "", limit + 1)
        answers = self._answers(refs[:limit])
        return SubjectsPage(
            subjects=tuple(answers), next=refs[limit - 1] if len(refs) > limit else None
        )

    def _answers(self, refs: list[str]) -> list[SubjectAnswer]:
        activity = self._log.activity(refs)
        now = self._queries.now()
        names = TurnsView.name, DecisionsView.name, BeliefsView.name
        with self._queries.views(*names) as (connection, (turns, decisions, beliefs)):
            said = subject_questions.turns(connection, turns, refs)
            decided = subject_questions.decisions(connection, decisions, refs)
            held = subject_questions.memories(connection, beliefs, refs, now)
        ends = [at for each in activity.values() for at in (each.first, each.last)]
        recorded = self._log.read_at(sorted(set(ends)))
        turned = Counter[str]()
        for (ref, _state), number in said.items():
            turned[ref] += number
        once_held = {each.subject_ref for each in self._log.of_types((LegalHoldPlaced.NAME,))}
        answers = []
        for ref in refs:
            found = activity.get(ref)
            if found is None:
                continue  # their key was made a moment ago, and nothing is recorded yet
            subject = self._log.vault.real_id(ref)
            if subject is None:
                continue  # erased since the page was begun
            waiting = decided.get((ref, True), 0)
            answers.append(
                SubjectAnswer(
                    subject=subject,
                    subject_ref=ref,
                    turns=turned[ref],
                    pending=said.get((ref, "pending"), 0),
                    memories=held.get((ref, False), 0),
                    quarantined=held.get((ref, True), 0),
                    decisions=decided.get((ref, False), 0) + waiting,
                    waiting=waiting,
                    events=found.events,
                    registered_at=to_datetime(recorded[found.first].recorded_at),
                    last_activity=to_datetime(recorded[found.last].recorded_at),
                    held=ref in once_held and bool(self._log.eraser.holds(ref)),
                )
            )
        return answers


def _is_reference(text: str) -> bool:
    return len(text) == 32 and all(each in "0123456789abcdef" for each in text)
