"""Teams: who is a member of which, as named people record it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import InvalidTurn, UnknownMemory
from beliefledger.ledger.events.kind import Event
from beliefledger.ledger.events.subject import TeamJoined, TeamLeft
from beliefledger.ledger.log import new_id
from beliefledger.ledger.names import check_text
from beliefledger.ledger.secret_filter import refuse
from beliefledger.ledger.streams import teams_stream
from beliefledger.ledger.times import to_datetime
from beliefledger.opening.core import Core
from beliefledger.pages import Cut, Page
from beliefledger.projections import teams
from beliefledger.projections.intervals import TeamRow
from beliefledger.projections.teams import TeamsView
from beliefledger.reading.queries import Queries, Snapshot
from beliefledger.times import Moment

LONGEST_NAME = 100
"""Characters."""


class MemberAnswer(Frozen):
    """Somebody who is, or was, in a team."""

    team: str
    member: str
    since: datetime
    since_position: int
    by: str
    """Who put them into it."""


class TeamAnswer(Frozen):
    """A team, with how many are in it."""

    team: str
    team_id: str
    """Its members have the same one; it names nobody."""
    members: int


class Teams:
    """Adds and removes members of teams, and lists them.

    A memory whose visibility is `team` is shown to whoever shares a team with its subject, for as
    long as they do: see `reader` of `search`.
    """

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._stream = teams_stream(core.log.tenant)

    def add(self, team: str, member: str, *, by: str) -> MemberAnswer:
        """Make a person a member of a team, which there is from its first member on. Again it does
        nothing. Somebody nobody knows yet becomes known by it. Raises `InvalidTurn` for what is no
        name, `SecretGiven`, and `NotPermitted` without a name in `by` and for an erased person."""
        actor = self._core.actor(by)
        name = _name(team)
        if not isinstance(member, str) or not member.strip():
            raise InvalidTurn("member: name a person.")
        ref = self._log.register([member])[member]

        def attempt() -> None:
            version = self._log.version(self._stream)
            team, called = self._team(name) or (new_id(), name)
            if not self._rows(team=team, member=ref):
                self._append(TeamJoined(team=team, name=called), ref, version, actor)

        self._core.gate.again(attempt)
        [answer] = [each for each in self.members(name) if each.member == member]
        return answer

    def remove(self, team: str, member: str, *, by: str) -> MemberAnswer:
        """End somebody's membership, at once; returns what it was. Raises `UnknownMemory` for who
        is not in it."""
        actor = self._core.actor(by)
        ref = self._core.known_subject(member)

        def attempt() -> TeamRow:
            version = self._log.version(self._stream)
            known = self._team(team)
            there = [] if known is None else self._rows(team=known[0], member=ref)
            if known is None or not there:
                raise UnknownMemory(
                    f"{member!r} is in no team {team!r}. See who is in which: beliefledger teams"
                    " list."
                )
            self._append(TeamLeft(team=known[0]), ref, version, actor)
            return there[0]

        return self._answers([self._core.gate.again(attempt)])[0]

    def list(
        self,
        member: str | None = None,
        *,
        as_of: Moment | Snapshot | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page[TeamAnswer]:
        """The teams that have members (those of one person), by name; with `as_of` those of then.
        `limit` and `after` are as for `beliefs`. Whoever is erased was never in one."""
        cut = Cut.of("teams", (member, as_of), limit, after)
        then = self._position(as_of)
        rows = self._rows(as_of=then)
        names = self._names(rows)
        if member is not None:
            ref = self._queries.known_or_none(member)
            theirs = {row.team for row in rows if row.subject_ref == ref}
            rows = [row for row in rows if row.team in theirs]
        counts: dict[str, int] = {}
        for row in rows:
            counts[row.team] = counts.get(row.team, 0) + 1
        found = [
            TeamAnswer(team=names[each], team_id=each, members=count)
            for each, count in counts.items()
            if each in names
        ]
        found.sort(key=lambda each: (each.team, each.team_id))
        return cut.of_all(found, lambda each: each.team_id)

    def members(
        self,
        team: str,
        *,
        as_of: Moment | Snapshot | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page[MemberAnswer]:
        """Who is in a team, in the order in which they came; with `as_of` who was then. `limit` and
        `after` are as for `beliefs`. Raises `UnknownMemory` for a team that there never was."""
        cut = Cut.of("members", (team, as_of), limit, after)
        known = self._team(team)
        if known is None:
            raise UnknownMemory(f"There is no team {team!r}. List them: beliefledger teams list.")
        rows = self._rows(team=known[0], as_of=self._position(as_of))
        return cut.of_all(self._answers(rows), lambda each: each.since_position)

    def _append(self, event: Event, ref: str, version: int, actor: str) -> None:
        draft = self._core.gate.draft()
        draft.consent(ref)  # which refuses whoever is being erased
        draft.reads(self._stream, version)
        draft.write(New(event, new_id(), self._stream, ref, actor))
        self._core.gate.commit(draft)

    def _position(self, as_of: Moment | Snapshot | None) -> int | None:
        snapshot = self._queries.snapshot(as_of)
        return None if snapshot is None else snapshot.position

    def _rows(
        self, *, team: str | None = None, member: str | None = None, as_of: int | None = None
    ) -> Sequence[TeamRow]:
        with self._queries.view(TeamsView.name) as (connection, generation):
            return teams.memberships(connection, generation, as_of=as_of, member=member, team=team)

    def _team(self, name: str) -> tuple[str, str] | None:
        """The id of the team of a name, and how that is written; also of one that everybody has
        left."""
        with self._queries.view(TeamsView.name) as (connection, generation):
            rows = teams.joined(connection, generation)
        wanted = _alike(name)
        return next((each for each in self._names(rows).items() if _alike(each[1]) == wanted), None)

    def _names(self, rows: Iterable[TeamRow]) -> dict[str, str]:
        """What teams are called, by their ids: as their first member has it who is not erased."""
        rows = list(rows)
        recorded = self._log.read_at([row.opened for row in rows])
        names: dict[str, str] = {}
        for row in rows:
            event = recorded[row.opened].event
            if isinstance(event, TeamJoined):
                names.setdefault(row.team, event.name)
        return names

    def _answers(self, rows: Iterable[TeamRow]) -> Sequence[MemberAnswer]:
        rows = list(rows)
        recorded = self._log.read_at([row.opened for row in rows])
        answers = []
        for row in rows:
            joined = recorded[row.opened]
            who = self._log.vault.real_id(row.subject_ref)
            if who is not None and isinstance(joined.event, TeamJoined):  # else erased just now
                answers.append(
                    MemberAnswer(
                        team=joined.event.name,
                        member=who,
                        since=to_datetime(joined.recorded_at),
                        since_position=joined.position,
                        by=self._log.vault.principal_name(joined.actor),
                    )
                )
        return answers


def _name(team: object) -> str:
    """A team's name. Raises `InvalidTurn` for what is none."""
    if not isinstance(team, str) or not team.strip():
        raise InvalidTurn("team: give it a name.")
    if len(team) > LONGEST_NAME or not team.isprintable():
        raise InvalidTurn(f"team: a name is one line of at most {LONGEST_NAME} characters.")
    refuse(team, "team")
    return " ".join(team.split())


def _alike(name: str) -> str:
    """Names that differ in capitals or spaces are one."""
    return " ".join(check_text("team", name).split()).casefold()
