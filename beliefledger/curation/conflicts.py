"""Where named people settle conflicts: they resolve contested beliefs and review what waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

from beliefledger.answers import BeliefAnswer, ConflictAnswer, LoopAnswer
from beliefledger.ledger.errors import UnknownMemory
from beliefledger.ledger.times import to_datetime
from beliefledger.opening.core import Core
from beliefledger.pages import Cut, Page
from beliefledger.reading.conflicts import ConflictQueries
from beliefledger.reading.queries import Queries
from beliefledger.times import Moment, micros


class Conflicts:
    """Beliefs that contradict each other, and candidates that wait for a person."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._queries = queries
        self._conflicts = ConflictQueries(core, queries)

    def list(
        self, subject: str | None = None, *, limit: int | None = None, after: str | None = None
    ) -> Page[ConflictAnswer]:
        """The beliefs about which a person has to choose; with `limit` a page, whose `next` is
        given as `after` for the one behind it."""
        cut = Cut.of("conflicts", (subject,), limit, after)
        return cut.of_all(self._conflicts.conflicts(subject), attrgetter("belief_id"))

    def loops(
        self,
        subject: str | None = None,
        *,
        window_days: int | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        least: int | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page[LoopAnswer]:
        """The beliefs that keep changing: contested, or superseded as often within the window as
        the policy calls a loop, or `least` times.

        Of `since` and `until`, by when things were said, all between counts as one window, unless
        `window_days` is given too: with `least=1`, every belief that changed in that time. `limit`
        and `after` are as for `list`.
        """
        asked = (subject, window_days, since, until, least)
        cut = Cut.of("loops", asked, limit, after)
        bounds = micros(since, "since"), micros(until, "until")
        found = self._conflicts.loops(subject, window_days, *bounds, least)
        return cut.of_all(found, attrgetter("belief_id"))

    def resolve(
        self,
        belief_id: str,
        *,
        by: str,
        choose: str | None = None,
        contexts: Mapping[str, str] | None = None,
        note: str | None = None,
    ) -> Sequence[BeliefAnswer]:
        """Settle a contested belief: `choose` one value, or name the value for each context.

        A value is named by its words, by a memory's id or an escalated decision's. Returns what
        holds from now on. Raises `UnknownMemory`, `NotPermitted`.
        """
        belief = self._queries.belief_id(belief_id)
        subject_ref, offered = self._conflicts.escalated(belief)
        self._core.steward.resolve(
            subject_ref,
            belief,
            choose=choose,
            contexts=contexts,
            candidates=offered,
            note=note,
            actor=self._core.actor(by),
        )
        now = self._queries.now()
        return [
            version
            for version in self._queries.history(belief)
            if version.recorded_to is None
            and not version.quarantined
            and (version.valid_to is None or version.valid_to > to_datetime(now))
        ]

    def review(
        self,
        decision_id: str,
        *,
        approve: bool,
        by: str,
        basis: str = "explicit_consent",
        note: str | None = None,
    ) -> str | None:
        """Approve or refuse a queued candidate, as a named principal; returns the memory written.

        `basis` is the lawful basis that an approved memory stands on. Raises `NotPermitted`.
        """
        recorded = self._core.log.find(self._queries.decision_id(decision_id))
        if recorded is None:
            raise UnknownMemory(f"There is no decision {decision_id}.")
        return self._core.steward.review(
            recorded, approved=approve, basis=basis, note=note, actor=self._core.actor(by)
        )
