"""The production checklists, evaluated on the ledger as it is: yes or no, with the evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache

from beliefledger.audit.checks import Checks, Finding, no
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.data_files import data
from beliefledger.ledger.errors import InvalidQuery, LedgerError
from beliefledger.times import Progress


class LineAnswer(Frozen):
    """One line: `answer` is `yes`, `no` or `not applicable`, `offending` the first id or position
    that makes it no, `show` the command to look oneself."""

    list: str
    id: str
    question: str
    answer: str
    evidence: str
    offending: str | None
    show: str


class ChecklistAnswer(Frozen):
    """The lists, evaluated at a position."""

    position: int
    deep: bool
    yes: int
    no: int
    not_applicable: int
    lines: tuple[LineAnswer, ...]


@cache
def lists() -> dict[str, dict[str, dict[str, str]]]:
    """The lines by list and name, as `checklist.yaml` has them."""
    known: dict[str, dict[str, dict[str, str]]] = data("beliefledger.audit", "checklist.yaml")
    return known


class Checklist:
    """Goes through the lists."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks

    def answer(self, only: str | None, progress: Progress | None = None) -> ChecklistAnswer:
        """Raises `InvalidQuery` for a list that is not there."""
        known = lists()
        if only is not None and only not in known:
            raise InvalidQuery(f"There is no list {only!r}; there are: {', '.join(known)}.")
        wanted = [
            (name, line, about)
            for name, lines in known.items()
            if only in {None, name}
            for line, about in lines.items()
        ]
        answers = []
        for done, (name, line, about) in enumerate(wanted):
            if progress:
                progress(done, len(wanted))
            answers.append(self._line(name, line, about))
        counts = Counter(each.answer for each in answers)
        return ChecklistAnswer(
            position=self._checks.head,
            deep=self._checks.deep,
            yes=counts["yes"],
            no=counts["no"],
            not_applicable=counts["not applicable"],
            lines=tuple(answers),
        )

    def _line(self, name: str, line: str, about: dict[str, str]) -> LineAnswer:
        evaluate: Callable[[], Finding] = getattr(self._checks, line)
        try:
            found = evaluate()
        except LedgerError as problem:  # what cannot be looked at is not in order
            found = no(str(problem))
        told = {True: "yes", False: "no", None: "not applicable"}[found.answer]
        return LineAnswer(
            list=name,
            id=f"{name}.{line}",
            question=about["question"],
            answer=told,
            evidence=found.evidence,
            offending=found.offending,
            show=about["show"],
        )
