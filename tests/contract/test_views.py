"""Views in a SQLite file and in a schema of Postgres: the same rows, and the same care of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import programs
import psycopg
import pytest
from sqlalchemy import select

from beliefledger import open_memory
from beliefledger.ledger.errors import BackendUnavailable, BackendUnusable, LedgerError
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres.server import TENANT_SETTING, PostgresURL, Server
from beliefledger.opening.build import WordTagger
from beliefledger.projections import digests, postgres, projector, questions, tables, turn_questions
from beliefledger.projections.access import AccessView
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.calls import CallsView
from beliefledger.projections.churn import ChurnView
from beliefledger.projections.decisions import DecisionsView
from beliefledger.projections.entities import EntitiesView
from beliefledger.projections.jobs import JobsView
from beliefledger.projections.links import LinksView
from beliefledger.projections.postgres import PostgresHome
from beliefledger.projections.projector import Projector
from beliefledger.projections.rows import update_rows
from beliefledger.projections.tasks import TasksView
from beliefledger.projections.teams import TeamsView
from beliefledger.projections.turns import TurnsView
from beliefledger.projections.view_databases import SQLiteHome
from beliefledger.tools.bench.conversations import conversations

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def fed(tmp_path_factory):
    """A ledger with some thousand events, so that rows are written in large numbers."""
    directory = tmp_path_factory.mktemp("fed")
    turns = conversations(12, 600, seed=3)
    with open_memory(directory) as memory:
        for subject in dict.fromkeys(turn.subject for turn in turns):
            memory.consent.grant(subject, "consent")
        for start in range(0, len(turns), 200):
            memory.record_turns(turns[start : start + 200])
            if start:
                memory.process()  # what was said before the last two hundred waited for a while
        shown = [each for each in memory.beliefs() for _ in range(int(each.memory_id, 16) % 3)]
        for belief in shown[:300]:
            memory.recalls.record_shown(belief.subject, [belief])
        for job in ("decay", "expiry", "retention", "loops"):
            memory.operations.jobs.run(job)
        for belief in memory.beliefs()[:3]:
            memory.revoke(belief.memory_id, by="ben")
    return directory


@pytest.fixture
def memory(fed, tmp_path):
    shutil.copytree(fed, tmp_path / "ledger")
    with open_memory(tmp_path / "ledger") as memory:
        yield memory


def views_of(log):
    tagger = WordTagger(log)
    return [
        BeliefsView(tagger),
        DecisionsView(),
        ChurnView(),
        TurnsView(),
        EntitiesView(tagger),
        LinksView(tagger),
        AccessView(),
        JobsView(),
        CallsView(),
        TeamsView(),
        TasksView(),
    ]


@dataclass
class SQLitePlace:
    path: Path
    kind = "sqlite"

    def home(self):
        return SQLiteHome(self.path)

    @property
    def spec(self):
        return f"SQLiteHome(Path({str(self.path)!r}))"


@dataclass
class PostgresPlace:
    server: Server
    kind = "postgres"
    tenant: str = "default"

    def home(self):
        url = self.server.url
        return PostgresHome(
            self.server.connect,
            self.schema,
            schema.app_role(url.schema),
            self.tenant,
            TENANT_SETTING,
        )

    @property
    def schema(self):
        return schema.views_schema(self.server.url.schema, self.tenant)

    @property
    def spec(self):
        url = self.server.url
        return (
            f"PostgresHome(lambda: psycopg.connect({url.conninfo!r}), {self.schema!r},"
            f" {schema.app_role(url.schema)!r}, {self.tenant!r}, {TENANT_SETTING!r})"
        )

    @contextmanager
    def as_app(self, tenant=None):
        """A connection of the app's role that says for which tenant, or does not."""
        with psycopg.connect(self.server.url.conninfo, autocommit=True) as connection:
            connection.execute(f"SET ROLE {schema.app_role(self.server.url.schema)}")
            connection.execute(f"SET search_path = {self.schema}")
            if tenant is not None:
                connection.execute("SELECT set_config(%s, %s, false)", (TENANT_SETTING, tenant))
            yield connection


@pytest.fixture
def on_postgres(postgres_url):
    server = Server(PostgresURL.parse(postgres_url))
    schema.init(server)
    yield PostgresPlace(server)
    server.close()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    if request.param == "sqlite":
        return SQLitePlace(tmp_path / "views.db")
    return request.getfixturevalue("on_postgres")


@pytest.fixture
def open_views():
    """Opens projectors and closes them at the end."""
    opened = []

    def open_(memory, place):
        opened.append(Projector(memory._log, place.home(), views_of(memory._log)))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()


def digests_of(views):
    with views.reading() as connection:
        states = views.states(connection)
        return {
            name: digests.digest(connection, view.tables(states[name].generation))
            for name, view in views.views.items()
        }


def contents_of(views, log):
    with views.reading() as connection:
        states = views.states(connection)
        return {
            name: digests.content_digest(
                connection, name, view.tables(states[name].generation)[0], log
            )
            for name, view in views.views.items()
        }


def tables_there(views):
    with views.reading() as connection:
        return {
            name
            for name in views.home.table_names(connection)
            if name not in {"view_state", "decay_scores"}
        }


def tables_used(views):
    with views.reading() as connection:
        states = views.states(connection)
        return {
            table.name
            for name, view in views.views.items()
            for table in view.tables(states[name].generation)
        }


def rebuild_all(views, progress=None):
    with views.rebuilding():
        filled = views.shadows(dict.fromkeys(views.views), progress)
        for name in views.views:
            views.use(name, *filled[name])


def assert_whole(views):
    """What was folded on the way is what a rebuild makes; and nothing is left lying about."""
    followed = digests_of(views)
    rebuild_all(views)
    assert digests_of(views) == followed
    assert tables_there(views) == tables_used(views)


# Rows


def test_following_page_by_page_is_a_rebuild(memory, place, open_views, monkeypatch):
    monkeypatch.setattr(projector, "FOLLOW_PAGE", 37)
    monkeypatch.setattr(projector, "REBUILD_PAGE", 61)
    views = open_views(memory, place)
    head = memory._log.head().position
    for upto in (head // 3, head - 50, head):
        views.catch_up(upto)
    assert_whole(views)


def test_following_in_large_pages_is_a_rebuild(memory, place, open_views):
    views = open_views(memory, place)
    head = memory._log.head().position
    views.catch_up(head // 2)
    views.catch_up()
    assert_whole(views)
    before = digests_of(views)
    memory.store("new", "Porto", attribute="home.location")
    views.catch_up()
    assert digests_of(views) != before
    assert_whole(views)


def test_both_homes_hold_the_same(memory, tmp_path, on_postgres, open_views):
    here = open_views(memory, SQLitePlace(tmp_path / "views.db"))
    there = open_views(memory, on_postgres)
    here.catch_up()
    there.catch_up()
    assert digests_of(here) == digests_of(there)
    assert contents_of(here, memory._log) == contents_of(there, memory._log)
    with here.reading() as a, there.reading() as b:
        for ask in (
            lambda c: questions.held(c, 1, None, valid_at=memory._core.clock()),
            lambda c: questions.held(c, 1, None, valid_at=memory._core.clock(), as_of=500),
            lambda c: questions.decided(c, 1, questions.DecisionFilter(waits=False, limit=20)),
            lambda c: list(questions.counts(c, 1, "reason").items()),
            lambda c: TurnsView().count(c, 1),
            lambda c: DecisionsView().count(c, 1),
            lambda c: questions.changes(c, 1),
            lambda c: turn_questions.pending(c, 1, 10),
        ):
            assert ask(a) == ask(b)


def test_a_difference_is_named(memory, place, open_views):
    views = open_views(memory, place)
    views.catch_up()
    with views.writing() as connection:
        table = tables.turns(1)
        [position] = connection.scalars(select(table.c.position).limit(1).offset(5))
        update_rows(connection, table, "position", ("role", "attempts"), [("ghost", 9, position)])
    generation, _ = views.shadow("turns")
    with views.reading() as connection:
        old, new = (views.views["turns"].tables(each) for each in (1, generation))
        named = digests.first_difference(connection, old, new)
    assert named.startswith(f"turns {position}: role was 'ghost'")
    views.drop("turns", generation)
    assert tables_there(views) == tables_used(views)


def test_numbers_of_another_state_are_counted_anew(memory, place, open_views):
    views = open_views(memory, place)
    views.catch_up()

    def numbers():
        with views.reading() as connection:
            state = views.states(connection)["turns"]
            wrong = views.counts.wrong(connection, state)
            return json.loads(state.counts), views.counts.of(connection, state), wrong

    def keep(told):
        with views.writing() as connection:
            c = tables.view_state.c
            mine = tables.view_state.update().where(c.name == "turns")
            connection.execute(mine.values(counts=json.dumps(told)))

    kept, right, _ = numbers()
    assert kept["of"] == right
    keep({"at": kept["at"], "of": right | {"parked": 7}})
    assert numbers()[2] == f"turns kept 7 parked, has {right.get('parked', 0)}"
    # As where a program moved the view on that keeps no numbers.
    keep({"at": [kept["at"][0], kept["at"][1] - 1, kept["at"][2]], "of": {"parked": 7}})
    assert numbers()[1:] == (right, None)
    memory.record_turn("new", "I live in Porto.")
    views.catch_up()
    kept, now, wrong = numbers()
    assert kept["of"] == now == right | {"pending": right.get("pending", 0) + 1}
    assert wrong is None


def test_ids_are_found_by_their_beginning(memory, place, open_views):
    views = open_views(memory, place)
    views.catch_up()
    table = tables.belief_versions(1)
    with views.reading() as connection:
        beliefs = sorted(connection.scalars(select(table.c.belief).distinct()))
        for belief in beliefs[:20]:
            assert questions.starting_with(connection, table, "belief", belief[:12]) == [belief]
        expected = [each for each in beliefs if each.startswith("a")]
        assert sorted(questions.starting_with(connection, table, "belief", "a", 10**6)) == expected


def test_an_erased_subject_leaves_the_rows(memory, place, open_views):
    views = open_views(memory, place)
    views.catch_up()
    gone = memory._log.subject(memory.beliefs()[0].subject)
    memory._log.erase(gone, actor="system", legal_basis="asked")
    views.catch_up()
    views.forget(gone)
    with views.reading() as connection:
        for table in (tables.belief_versions(1), tables.evidence(1), tables.turns(1)):
            left = set(connection.scalars(select(table.c.subject_ref)))
            assert left
            assert gone not in left
    assert_whole(views)


# Failures


def test_a_poison_event_stops_its_view_alone(memory, place, open_views):
    views = open_views(memory, place)
    churn = views.views["churn"]
    healthy, seen = churn.apply, []

    def fails(event, connection):
        seen.append(event.position)
        if len(seen) == 5:
            raise ValueError("cannot be folded")
        healthy(event, connection)

    churn.apply = fails
    views.catch_up()
    with views.reading() as connection:
        states = views.states(connection)
        assert len(questions.changes(connection, 1)) == 4
    assert (states["churn"].stopped_at, states["churn"].position) == (seen[-1], seen[-1] - 1)
    assert states["churn"].reason.endswith(": ValueError")
    head = memory._log.head().position
    assert {each.position for name, each in states.items() if name != "churn"} == {head}
    poison = seen[-1]
    seen.clear()
    with pytest.raises(LedgerError, match=f"position {poison}"):
        views.rebuild("churn")
    churn.apply = healthy
    views.rebuild("churn")
    assert_whole(views)


@pytest.mark.parametrize("failure", [KeyboardInterrupt, BackendUnavailable])
def test_an_interrupted_rebuild_leaves_nothing_behind(
    memory, place, open_views, monkeypatch, failure
):
    monkeypatch.setattr(projector, "REBUILD_PAGE", 300)
    views = open_views(memory, place)
    views.catch_up()
    before = digests_of(views)

    def interrupt(done, total):
        if done >= 600:
            raise failure

    with pytest.raises(failure):
        rebuild_all(views, interrupt)
    assert tables_there(views) > tables_used(views)
    assert digests_of(views) == before
    memory.store("new", "Porto", attribute="home.location")
    views.catch_up()
    assert_whole(views)


def test_what_a_rebuild_left_behind_goes_with_the_next_erasure(
    memory, place, open_views, monkeypatch
):
    monkeypatch.setattr(projector, "REBUILD_PAGE", 300)
    views = open_views(memory, place)

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        views.shadows({"turns": None, "churn": None}, interrupt)
    assert tables_there(views) > tables_used(views)
    views.forget("nobody")
    assert tables_there(views) == tables_used(views)


def test_a_reader_keeps_its_generation(memory, place, open_views, monkeypatch):
    monkeypatch.setattr(postgres, "_READERS_MAY_TAKE", "100ms")
    views = open_views(memory, place)
    views.catch_up()
    with views.reading() as connection:
        before = views.states(connection)
        thread = threading.Thread(target=rebuild_all, args=(views,))
        thread.start()
        thread.join()
        assert views.states(connection) == before
        generation = before["belief_versions"].generation
        assert questions.held(connection, generation, None, valid_at=memory._core.clock())
    rebuild_all(views)
    assert tables_there(views) == tables_used(views)


# Several at once


def test_several_threads_open_and_catch_up_at_once(memory, place, open_views, monkeypatch):
    monkeypatch.setattr(projector, "FOLLOW_PAGE", 100)
    monkeypatch.setattr(projector, "REBUILD_PAGE", 100)
    pages = Counter()
    one_page = Projector._one_page

    def counted(self, connection, behind, kept, upto):
        pages[min(state.position for state in behind)] += 1
        return one_page(self, connection, behind, kept, upto)

    monkeypatch.setattr(Projector, "_one_page", counted)
    start = threading.Barrier(4)

    def run(_):
        start.wait()
        views = open_views(memory, place)
        views.catch_up()
        return views

    with ThreadPoolExecutor(4) as pool:
        views, *_ = pool.map(run, range(4))
    head = memory._log.head().position
    assert pages == Counter(range(0, head, 100))
    assert_whole(views)


CATCH_UP = """
import sys, psycopg
from pathlib import Path
from beliefledger import open_memory
from beliefledger.projections import projector
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.churn import ChurnView
from beliefledger.projections.decisions import DecisionsView
from beliefledger.projections.entities import EntitiesView
from beliefledger.projections.links import LinksView
from beliefledger.projections.view_databases import SQLiteHome
from beliefledger.projections.access import AccessView
from beliefledger.projections.calls import CallsView
from beliefledger.projections.jobs import JobsView
from beliefledger.projections.postgres import PostgresHome
from beliefledger.projections.projector import Projector
from beliefledger.projections.teams import TeamsView
from beliefledger.projections.tasks import TasksView
from beliefledger.projections.turns import TurnsView
from beliefledger.opening.build import WordTagger

projector.FOLLOW_PAGE = projector.REBUILD_PAGE = 100
one_page = Projector._one_page
pages = []

def counted(self, connection, behind, kept, upto):
    pages.append(min(state.position for state in behind))
    return one_page(self, connection, behind, kept, upto)

with open_memory(sys.argv[1]) as memory:
    log = memory._log
    print("ready", flush=True)
    sys.stdin.readline()
    Projector._one_page = counted
    tagger = WordTagger(log)
    each = [BeliefsView(tagger), DecisionsView(), ChurnView(), TurnsView()]
    each += [EntitiesView(tagger), LinksView(tagger), AccessView(), JobsView(), CallsView()]
    each += [TeamsView()]
    each += [TasksView()]
    views = Projector(log, {home}, each)
    views.catch_up()
    views.close()
print(*pages)
"""


def test_two_processes_open_and_catch_up_at_once(memory, place, open_views):
    script = CATCH_UP.replace("{home}", place.spec)
    processes = [
        programs.Program(
            [sys.executable, "-c", script, str(memory.place)],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    pages = Counter()
    for process in processes:
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        pages.update(map(int, said.split()))
    head = memory._log.head().position
    assert pages == Counter(range(0, head, 100))
    assert_whole(open_views(memory, place))


def test_rebuilds_take_turns(memory, place, open_views):
    views = [open_views(memory, place) for _ in range(2)]
    views[0].catch_up()
    start = threading.Barrier(2)

    def run(each):
        start.wait()
        for _ in range(3):
            rebuild_all(each)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, views))
    assert_whole(views[0])
    with views[1].reading() as connection:
        assert {state.generation for state in views[1].states(connection).values()} == {8}


def test_another_process_goes_on_while_one_rebuilds(memory, on_postgres, open_views, monkeypatch):
    monkeypatch.setattr(projector, "REBUILD_PAGE", 300)
    one, other = (open_views(memory, on_postgres) for _ in range(2))
    one.catch_up()

    def meanwhile(done, total):
        if done <= 900:  # else there would be something new each time
            memory.store("new", f"{done}", attribute="home.location")
        other.catch_up()
        with other.reading() as connection:
            position = other.states(connection)["belief_versions"].position
        assert position == memory._log.head().position

    with one.rebuilding():
        one.use("belief_versions", *one.shadow("belief_versions", progress=meanwhile))
    other.catch_up()
    assert digests_of(one) == digests_of(other)
    assert_whole(other)


# Postgres


def test_who_sets_no_tenant_sees_nothing(memory, on_postgres, open_views, monkeypatch):
    monkeypatch.setattr(projector, "REBUILD_PAGE", 300)
    views = open_views(memory, on_postgres)
    views.catch_up()

    def look(done, total):
        there = tables_there(views) | {"view_state"}
        assert len(there) == 1 + 2 * len(tables_used(views))
        for tenant in (None, "", "another"):
            with on_postgres.as_app(tenant) as connection:
                for name in there:
                    assert connection.execute(f"SELECT count(*) FROM {name}").fetchone() == (0,)
        with on_postgres.as_app("default") as connection:
            [shown] = connection.execute("SELECT count(*) FROM turns_2").fetchone()
            assert 0 < shown <= 600

    views.shadows(dict.fromkeys(views.views), look)
    with on_postgres.as_app("default") as connection:
        connection.execute(f"SELECT set_config('{TENANT_SETTING}', 'another', false)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(
                "INSERT INTO view_state (name, generation, position, tenant)"
                " VALUES ('x', 1, 0, 'default')"
            )
    with on_postgres.as_app() as connection:
        connection.execute("RESET ROLE")
        unforced = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace"
            " AND relkind = 'r' AND NOT (relrowsecurity AND relforcerowsecurity)",
            (on_postgres.schema,),
        )
        assert unforced.fetchall() == []


def test_tenants_have_views_of_their_own(memory, on_postgres, open_views):
    url = on_postgres.server.url
    name = "o'brien\\ %s ".strip()
    said = PostgresURL(url.conninfo, url.schema, name)
    server = Server(said)
    schema.init(server)
    other = PostgresPlace(server, tenant=name)
    views = [open_views(memory, each) for each in (on_postgres, other)]
    for each in views:
        each.catch_up()
        assert_whole(each)
    assert digests_of(views[0]) == digests_of(views[1])
    with other.as_app(name) as connection:
        assert connection.execute("SELECT DISTINCT tenant FROM turns_2").fetchall() == [(name,)]
    server.close()


def test_nothing_is_kept_in_a_session(memory, on_postgres, open_views):
    views = open_views(memory, on_postgres)
    views.catch_up()
    rebuild_all(views)
    for _ in range(8):  # often enough that statements are prepared
        digests_of(views)
    raw = views.engine.raw_connection()
    try:
        connection = raw.driver_connection
        connection.rollback()
        connection.autocommit = True
        state = connection.execute(
            "SELECT current_user = session_user, current_setting('search_path'),"
            " coalesce(current_setting(%s, true), ''), current_setting('synchronous_commit'),"
            " current_setting('lock_timeout'),"
            " (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()"
            " AND locktype = 'advisory'),"
            " (SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema())",
            (TENANT_SETTING,),
        ).fetchone()
        assert state == (True, '"$user", public', "", "on", "0", 0, 0)
        connection.autocommit = False
    finally:
        raw.close()


def test_a_reader_that_waited_sees_what_it_waited_for(memory, on_postgres, open_views):
    """Its snapshot is not older than its lock: what it finds named there has not been dropped."""
    views = open_views(memory, on_postgres)
    views.catch_up()

    def generation():
        with views.reading() as connection:
            return views.states(connection)["churn"].generation

    with ThreadPoolExecutor(1) as pool:
        with views.home.clearing() as connection, on_postgres.as_app() as other:
            connection.exec_driver_sql("UPDATE view_state SET generation = 2 WHERE name = 'churn'")
            asked = pool.submit(generation)
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'relation'"
            while other.execute(waiting).fetchone() == (0,):
                assert not asked.done()
        assert asked.result() == 2


def test_ids_are_compared_by_their_bytes_and_looked_up(memory, on_postgres, open_views):
    views = open_views(memory, on_postgres)
    views.catch_up()
    with on_postgres.as_app("default") as connection:
        others = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = %s AND data_type IN ('text', 'character varying')"
            " AND collation_name IS DISTINCT FROM 'C' AND column_name NOT IN ('reason', 'counts')",
            (on_postgres.schema,),
        )
        assert others.fetchall() == []
        connection.execute("SET enable_seqscan = off")
        for condition in (
            "belief = 'a' AND closed IS NULL",
            "subject_ref = 'a' AND (closed IS NULL OR closed > 9)",
            "memory_id >= 'a' AND memory_id < 'a~'",
        ):
            plan = connection.execute(
                f"EXPLAIN SELECT * FROM belief_versions_1 WHERE {condition}"
            ).fetchall()
            assert any("Index Cond" in line for (line,) in plan), plan


def kill(place, pid):
    with psycopg.connect(place.server.url.conninfo, autocommit=True) as connection:
        assert connection.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,)).fetchone()[0]


def ending(place, view, number):
    """The view's fold, during which its server process is ended at one event."""
    healthy, seen = view.apply, []

    def apply(event, connection):
        seen.append(event.position)
        if len(seen) == number:
            kill(place, connection.connection.driver_connection.info.backend_pid)
        healthy(event, connection)

    return apply


@pytest.mark.parametrize("number", [1, 60, 150])
def test_a_killed_backend_is_survived(memory, on_postgres, open_views, monkeypatch, number):
    monkeypatch.setattr(projector, "FOLLOW_PAGE", 200)
    monkeypatch.setattr(projector, "REBUILD_PAGE", 200)
    views = open_views(memory, on_postgres)
    beliefs = views.views["belief_versions"]
    healthy, beliefs.apply = beliefs.apply, ending(on_postgres, beliefs, number)
    with pytest.raises(BackendUnavailable):
        views.catch_up()
    beliefs.apply = healthy
    views.catch_up()
    followed = digests_of(views)

    beliefs.apply = ending(on_postgres, beliefs, number)
    with pytest.raises(BackendUnavailable):
        rebuild_all(views)
    beliefs.apply = healthy
    assert digests_of(views) == followed
    assert_whole(views)


def test_a_writer_that_does_not_let_go_is_told(memory, on_postgres, open_views, monkeypatch):
    monkeypatch.setattr(postgres, "_WRITERS_MAY_TAKE", "200ms")
    first, second = (open_views(memory, on_postgres) for _ in range(2))
    with (
        first.writing(),
        pytest.raises(BackendUnavailable, match="Another process holds the views"),
    ):
        second.catch_up()
    second.catch_up()
    assert_whole(first)


def test_a_writer_that_stands_still_is_ended_and_others_go_on(
    memory, on_postgres, open_views, monkeypatch
):
    monkeypatch.setattr(postgres, "_WRITERS_MAY_IDLE", "3s")
    first, second = (open_views(memory, on_postgres) for _ in range(2))

    def stand_still():
        with first.writing() as connection:
            second.catch_up()
            connection.exec_driver_sql("SELECT 1")

    with pytest.raises(BackendUnavailable, match="stood still"):
        stand_still()
    first.catch_up()
    assert_whole(first)


def test_who_rebuilds_may_stand_still(memory, on_postgres, open_views, monkeypatch):
    monkeypatch.setattr(postgres, "_WRITERS_MAY_IDLE", "3s")
    views = open_views(memory, on_postgres)
    views.catch_up()
    with views.rebuilding(), views.home.filling([]) as connection, on_postgres.as_app() as other:
        other.execute("SELECT pg_sleep(3.5)")
        connection.exec_driver_sql("SELECT 1")
        views._alone.check()
    assert_whole(views)


def test_connections_that_died_meanwhile_are_replaced(memory, on_postgres, open_views):
    views = open_views(memory, on_postgres)
    with views.reading() as connection:
        pid = connection.connection.driver_connection.info.backend_pid
    kill(on_postgres, pid)
    views.catch_up()
    assert_whole(views)


def test_who_lost_the_lock_stops_rebuilding(memory, on_postgres, open_views, monkeypatch):
    monkeypatch.setattr(projector, "REBUILD_PAGE", 300)
    views = open_views(memory, on_postgres)
    views.catch_up()

    def unlock(done, total):
        with psycopg.connect(on_postgres.server.url.conninfo) as connection:
            [[holder]] = connection.execute(
                "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
            ).fetchall()
        kill(on_postgres, holder)

    with pytest.raises(BackendUnavailable):
        rebuild_all(views, unlock)
    assert_whole(views)


def test_a_server_that_is_away_is_told(memory, on_postgres):
    def connect():
        raise BackendUnavailable("The server is away.")

    home = PostgresHome(connect, on_postgres.schema, None, "default", TENANT_SETTING)
    with pytest.raises(BackendUnavailable, match="away"):
        Projector(memory._log, home, views_of(memory._log))


def test_a_schema_that_is_not_there_is_told(memory, on_postgres):
    server = on_postgres.server
    home = PostgresHome(server.connect, "nowhere", None, "default", TENANT_SETTING)
    with pytest.raises(BackendUnusable, match="beliefledger init"):
        Projector(memory._log, home, views_of(memory._log))


def test_two_logins_of_the_app_share_the_views(memory, on_postgres, open_views):
    url = on_postgres.server.url
    app = schema.app_role(url.schema)
    places = []
    with psycopg.connect(url.conninfo, autocommit=True) as connection:
        for name in (f"{app}_one", f"{app}_two"):
            connection.execute(f"CREATE ROLE {name} LOGIN IN ROLE {app}")
            conninfo = psycopg.conninfo.make_conninfo(url.conninfo, user=name)
            places.append(PostgresPlace(Server(PostgresURL(conninfo, url.schema))))
    for each in places:
        views = open_views(memory, each)
        views.catch_up()
        rebuild_all(views)
        each.server.close()
    assert_whole(views)


def test_views_that_an_older_version_made_are_folded_anew(memory, place, open_views):
    """Their tables lack a column or have one too many, or a table is not there; the others stay as
    they are. What was made before is dropped."""
    views = open_views(memory, place)
    views.catch_up()
    before = digests_of(views)
    with views.writing() as connection:
        for index in tables.churn(1).indexes:
            index.drop(connection)
        connection.exec_driver_sql("ALTER TABLE churn_1 DROP COLUMN actor")
        connection.exec_driver_sql("DROP TABLE evidence_1")
        more = "ALTER TABLE decisions_1 ADD COLUMN kind TEXT NOT NULL DEFAULT 'health'"
        connection.exec_driver_sql(more)
    again = open_views(memory, place)
    with again.reading() as connection:
        states = again.states(connection)
    assert {name: (each.generation, each.position == 0) for name, each in states.items()} == {
        name: (2, True) if name in {"churn", "belief_versions", "decisions"} else (1, False)
        for name in states
    }
    with again.reading() as connection:
        there = set(again.home.table_names(connection))
    assert not {"churn_1", "belief_versions_1", "decisions_1"} & there
    assert {"churn_2", "belief_versions_2", "decisions_2", "turns_1"} <= there
    again.catch_up()
    assert digests_of(again) == before
