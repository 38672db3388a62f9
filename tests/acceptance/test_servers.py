"""A ledger on a server, as its operator runs it: who may do what, whose is what, what is made."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import programs
import psycopg
import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.ledger.errors import BackendUnusable, CallerMistake, NotPermitted
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres.server import PostgresURL, Server
from beliefledger.operations.copy import copy
from beliefledger.settings import Settings
from beliefledger.tools.cli import app

PROGRAM = [sys.executable, "-m", "beliefledger"]


def run(url, *words, code=0):
    result = CliRunner().invoke(app, ["--ledger", url, *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, (words, result.stdout, result.stderr)
    return result


def document(url, *words):
    return json.loads(run(url, *words, "--json").stdout)


def error(url, *words, code=3):
    result = run(url, *words, code=code)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture
def name(postgres_place):
    return PostgresURL.parse(postgres_place).schema


@pytest.fixture
def admin(postgres):
    with psycopg.connect(postgres, autocommit=True) as connection:
        yield connection


@pytest.fixture
def login(postgres_place, admin, name):
    """The URL of a login that is granted what `init` says, as it says it, and nothing else."""
    made = []

    def grant(tenant="default", who="agent"):
        place = f"{postgres_place}&tenant={tenant}"
        [statement] = document(place, "init")["grants"]
        login = f"{name}_{who}"
        if login not in made:
            admin.execute(f"CREATE ROLE {login} LOGIN PASSWORD 'hush:hush'")
            admin.execute(statement.replace("login", login))
            made.append(login)
        host = dict(each.split("=") for each in urlsplit(place).query.split("&"))["host"]
        return (
            f"postgresql://{login}:hush%3Ahush@/postgres?host={host}&schema={name}&tenant={tenant}"
        )

    return grant


# What a login of the app may do


def test_a_login_of_the_app_does_all_of_daily_work(login):
    with open_memory(login()) as memory:
        memory.consent.grant("ana", "consent")
        memory.record_turn("ana", "I live in Porto.")
        assert memory.process().turns == 1
        memory.remember("bob", "I live in Faro.", consent="consent")
        assert [each.value for each in memory.beliefs("ana")] == ["Porto"]
        assert all(each.same for each in memory.operations.rebuild(verify=True))
        assert memory.erase("ana", by="lea").bodies > 0
        assert memory.beliefs("ana") == []
        with memory.consumer("mailer", follow=False) as events:
            for event in events:
                events.ack(event)
        status = memory.status()
        assert [each.lag for each in status.consumers] == [0]
        assert memory.proofs.verify().ok
        assert memory.audit.replay_all().different == 0


def test_several_logins_of_the_app_use_the_same_views(login):
    first, second = login(), login(who="other")
    with open_memory(first) as memory, open_memory(second) as other:
        memory.remember("ana", "I live in Porto.", consent="consent")
        memory.operations.rebuild()
        assert [each.value for each in other.beliefs("ana")] == ["Porto"]
        other.operations.rebuild()
        other.remember("ana", "I play the cello.")
        assert len(memory.beliefs("ana")) == 2
        memory.erase("ana", by="lea")
        assert other.beliefs("ana") == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {schema}.history SET type = 'x'",
        "DELETE FROM {schema}.history",
        "TRUNCATE {schema}.history",
        "INSERT INTO {schema}.history SELECT * FROM {schema}.history",
        "COPY {schema}.history FROM STDIN",
        "UPDATE {schema}.bodies SET body = ''",
        "TRUNCATE {schema}.bodies",
        "INSERT INTO {schema}.bodies VALUES (9, 'default', '')",
        "UPDATE {schema}.head SET position = position + 1",
        "ALTER TABLE {schema}.history DISABLE TRIGGER ALL",
        "DROP TABLE {schema}.history",
        "CREATE TABLE {schema}.mine ()",
        "SET ROLE {schema}_owner",
        "UPDATE {schema}.tiles SET hashes = ''",
        "DELETE FROM {schema}.tiles",
    ],
)
def test_a_login_of_the_app_cannot_change_history(login, name, statement):
    url = login()
    with open_memory(url) as memory:
        memory.remember("ana", "I live in Porto.", consent="consent")
    with psycopg.connect(PostgresURL.parse(url).conninfo) as connection:
        connection.execute("SELECT set_config('beliefledger.tenant', 'default', false)")
        assert connection.execute(f"SELECT count(*) FROM {name}.history").fetchone()[0] > 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.format(schema=name))


def test_a_login_of_the_app_cannot_make_a_ledger_or_a_tenant_nor_copy_to_one(
    login, postgres_place, name, tmp_path
):
    url = login()
    for other in (
        url.replace(f"schema={name}", f"schema={name}_new"),
        url.replace("tenant=default", "tenant=new"),
    ):
        with pytest.raises(BackendUnusable, match=r"lacks a right.*as the database's owner"):
            open_memory(other)
        assert "lacks a right" in error(other, "init")
    open_memory(tmp_path / "source").close()
    with pytest.raises(NotPermitted, match=f"member of {name}_owner"):
        copy(tmp_path / "source", url)


# Tenants


def test_two_tenants_of_a_schema_see_their_own(login):
    urls = {tenant: login(tenant) for tenant in ("a", "b")}
    a, b = (open_memory(urls[tenant]) for tenant in ("a", "b"))
    with a, b:
        for day in range(3):
            for memory, place in ((a, "Porto"), (b, "Faro")):
                memory.remember("ana", f"I live in {place}.", consent="consent")
                memory.remember(f"someone {day}", "I play the cello.", consent="consent")
        at = {
            memory: [each.position for each in memory.subscribe(follow=False)] for memory in (a, b)
        }
        head = a.status().position
        assert sorted(at[a] + at[b]) == list(range(1, head + 1))
        for memory, mine, its in ((a, "Porto", "Faro"), (b, "Faro", "Porto")):
            assert [each.value for each in memory.beliefs("ana")] == [mine]
            assert its not in str(list(memory.subscribe(follow=False)))
            assert all(each.same for each in memory.operations.rebuild(verify=True))
            verified = memory.proofs.verify()
            assert (verified.ok, verified.events) == (True, len(at[memory]))
            assert memory.audit.replay_all(progress=lambda _done, _total: None).different == 0
            status = memory.status()
            assert (status.position, status.subjects) == (head, 4)
            assert {each.lag for each in status.views} == {0}
            for position in range(head + 1):
                memory.beliefs("ana", as_of=position)
            with memory.consumer("mailer", follow=False) as events:
                for event in events:
                    events.ack(event)
                assert events.position == head
        a.erase("ana", by="lea")
        assert [each.value for each in b.beliefs("ana")] == ["Faro"]
        assert [len(memory.status().consumers) for memory in (a, b)] == [1, 1]
    tail = [
        json.loads(line) for line in run(urls["a"], "ops", "tail", "--json").stdout.splitlines()
    ]
    assert [each["position"] for each in tail][: len(at[a])] == at[a]
    for url in urls.values():
        assert document(url, "proof", "verify")["ok"]
        assert all(each["same"] for each in document(url, "ops", "rebuild", "--verify"))


def test_a_tenant_s_login_gives_another_no_false_alarm(login, name):
    """Whatever it does to the tree that they share, verify and proofs stay right."""
    with open_memory(login("a")) as memory:
        for number in range(80):
            memory.record_turn("ana", f"I live in street number {number}.")
        memory.proofs.checkpoint()
        with psycopg.connect(PostgresURL.parse(login("b")).conninfo, autocommit=True) as hostile:
            for attempt in (
                f"DELETE FROM {name}.tiles",
                f"UPDATE {name}.tiles SET hashes = sha256(hashes)",
                f"INSERT INTO {name}.tiles VALUES (0, 0, 1, sha256(''))",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    hostile.execute(attempt)
            for width in range(257):
                hostile.execute(f"SELECT {name}.mend_tile(0, 0, %s)", (width,))
                hostile.execute(f"SELECT {name}.extend_tiles(%s, 80)", (width,))
        found = memory.proofs.verify()
        assert (found.ok, found.problem) == (True, None)
        assert json.loads(memory.proofs.inclusion(3).text())["position"] == 3
        assert memory.proofs.tree.mend() == 0


def test_without_a_tenant_nothing_is_shown(login, name):
    url = login("a")
    with open_memory(url) as memory:
        memory.remember("ana", "I live in Porto.", consent="consent")
    with psycopg.connect(PostgresURL.parse(url).conninfo) as connection:
        tables = [f"{name}.{table}" for table in ("history", "bodies", "consumers")]
        tables += [f"{name}_vault.{table}" for table in ("keys", "tombstones", "principals")]
        for table in tables:
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_a_position_that_nobody_has_is_not_taken_for_another_tenants(login, admin, name):
    urls = [login(tenant) for tenant in ("a", "b")]
    for url in (*urls, *urls):
        with open_memory(url) as memory:
            memory.remember("ana", "I live in Porto.", consent="consent")
    with open_memory(urls[0]) as memory:
        positions = [each.position for each in memory.subscribe(follow=False)]
    lost = positions[len(positions) // 2]
    admin.execute(f"ALTER TABLE {name}.history DISABLE TRIGGER USER")
    admin.execute(f"DELETE FROM {name}.history WHERE position = %s", (lost,))
    admin.execute(f"ALTER TABLE {name}.history ENABLE TRIGGER USER")
    for url in urls:
        answer = json.loads(run(url, "proof", "verify", "--json", code=3).stdout)
        assert (answer["position"], answer["problem"]) == (lost, "this position is missing")


# What is made


CATALOGS = [
    "SELECT relname, relkind, relowner::regrole::text, relacl::text, relrowsecurity,"
    " relforcerowsecurity, reloptions::text, obj_description(oid) FROM pg_class"
    " WHERE relnamespace = {schema}::regnamespace",
    "SELECT attrelid::regclass::text, attnum, attname, format_type(atttypid, atttypmod),"
    " attnotnull, attcollation::regcollation::text, attstattarget, attacl::text,"
    " pg_get_expr(adbin, adrelid) FROM pg_attribute"
    " LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum"
    " WHERE attnum > 0 AND attrelid IN"
    " (SELECT oid FROM pg_class WHERE relnamespace = {schema}::regnamespace)",
    "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE connamespace = {schema}::regnamespace",
    "SELECT indexdef FROM pg_indexes WHERE schemaname = {schema}",
    "SELECT proname, pg_get_functiondef(oid), proowner::regrole::text, proacl::text FROM pg_proc"
    " WHERE pronamespace = {schema}::regnamespace",
    "SELECT pg_get_triggerdef(oid), tgenabled FROM pg_trigger WHERE tgrelid IN"
    " (SELECT oid FROM pg_class WHERE relnamespace = {schema}::regnamespace)",
    "SELECT to_jsonb(p)::text FROM pg_policies p WHERE schemaname = {schema}",
    "SELECT nspowner::regrole::text, nspacl::text, obj_description(oid) FROM pg_namespace"
    " WHERE nspname = {schema}",
    "SELECT * FROM {name}.head",
]


def catalogs(admin, name):
    """All that the catalogs say of a schema, without its name."""
    return [
        sorted(
            re.sub(rf"\b{name}(?=\b|_)", "it", str(row))
            for row in admin.execute(each.format(schema=f"'{name}'", name=name)).fetchall()
        )
        for each in CATALOGS
    ]


def test_a_schema_made_at_once_is_the_one_that_migrations_lead_to(postgres_url, admin, name):
    for url in (postgres_url, f"{postgres_url}_m"):
        server = Server(PostgresURL.parse(url), size=1)
        if url == postgres_url:
            schema.init(server)
        else:
            assert schema.migrate(server, 1) == (0, 1)
            assert schema.migrate(server) == (1, schema.VERSION)
            assert schema.migrate(server) == (schema.VERSION, schema.VERSION)
        server.close()
    at_once, migrated = catalogs(admin, name), catalogs(admin, f"{name}_m")
    for one, other in zip(at_once, migrated, strict=True):
        assert one == other
    assert all(at_once)


def test_init_makes_what_is_missing_says_so_and_how_to_go_on(postgres_place, name):
    first = document(postgres_place, "init")
    assert first["made"] == [
        f"role {name}_app",
        f"role {name}_owner",
        f"schema {name}",
        f"schema {name}_vault",
        f"schema {name}_views",
    ]
    assert first["grants"] == [f"GRANT {name}_app TO login;"]
    again = document(postgres_place, "init")
    assert (again["made"], again["position"]) == ([], first["position"])
    tenant = f"{postgres_place}&tenant=a"
    assert "There is no ledger" in error(tenant, "status")
    [views] = document(tenant, "init")["made"]
    assert views.startswith(f"schema {name}_views_")
    page = run(postgres_place, "init").stdout
    assert f"GRANT {name}_app TO login;" in page


def test_init_makes_the_vault_where_the_environment_says(postgres_place, monkeypatch, name):
    vault = f"{postgres_place}_v"
    monkeypatch.setenv("BELIEFLEDGER_VAULT", vault)
    made = document(postgres_place, "init")["made"]
    assert f"schema {name}_v_vault" in made
    assert f"schema {name}_vault" not in made
    assert document(postgres_place, "init")["made"] == []


def test_a_vault_is_made_for_a_new_ledger_alone(postgres_place, monkeypatch, admin, name):
    there = "SELECT count(*) FROM pg_namespace WHERE nspname = %s"
    vault = f"{postgres_place}_v"
    monkeypatch.setenv("BELIEFLEDGER_VAULT", vault)
    run(postgres_place, "init")
    monkeypatch.setenv("BELIEFLEDGER_VAULT", f"{postgres_place}_w")
    for words in (["status"], ["init"]):
        assert "There is no vault at" in error(postgres_place, *words)
    monkeypatch.delenv("BELIEFLEDGER_VAULT")
    for words in (["status"], ["init"]):
        assert "set BELIEFLEDGER_VAULT to where it is" in error(postgres_place, *words)
    for each in (f"{name}_vault", f"{name}_w_vault"):
        assert admin.execute(there, (each,)).fetchone() == (0,)
    run(f"{postgres_place}&tenant=new", "init")  # has no events, so it may have one here
    assert admin.execute(there, (f"{name}_vault",)).fetchone() == (1,)


def test_init_run_by_several_at_once_is_done_once(postgres_place, tmp_path):
    environment = dict(os.environ)
    del environment["BELIEFLEDGER_MASTER_KEY"]
    environment["BELIEFLEDGER_MASTER_KEY_FILE"] = str(tmp_path / "key")
    running = [
        programs.Program(
            [*PROGRAM, "--ledger", postgres_place, "init", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(3)
    ]
    answers = []
    for process in running:
        stdout, stderr = process.communicate(timeout=60)
        assert process.returncode == 0, stderr
        answers.append(json.loads(stdout))
    assert {each["position"] for each in answers} == {answers[0]["position"]}
    assert {each["master_key"] for each in answers} == {answers[0]["master_key"]}


def test_a_server_without_a_place_for_the_master_key_is_left_as_it_is(
    postgres_place, monkeypatch, admin, name
):
    monkeypatch.delenv("BELIEFLEDGER_MASTER_KEY")
    assert "BELIEFLEDGER_MASTER_KEY_FILE" in error(postgres_place, "init")
    there = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE %s"
    assert admin.execute(there, (f"{name}%",)).fetchone() == (0,)


def test_upgrade_brings_an_older_schema_up_to_date(postgres_place):
    assert "There is no ledger at" in error(postgres_place, "ops", "upgrade")
    server = Server(PostgresURL.parse(postgres_place), size=1)
    schema.migrate(server, 1)
    server.close()
    assert "beliefledger ops upgrade" in error(postgres_place, "status")
    log = document(postgres_place, "ops", "upgrade")["log"]
    assert (log["before"], log["after"]) == (1, schema.VERSION)
    assert log["steps"][0] == (
        "2: Consumers that follow the log by name: how far each is, and who may move it until when"
    )
    assert len(log["steps"]) == len(schema.MIGRATIONS) - 1
    assert f"is at version {schema.VERSION}." in " ".join(
        run(postgres_place, "ops", "upgrade").stdout.split()
    )
    run(postgres_place, "init")
    run(postgres_place, "status")


def test_upgrade_of_a_ledger_of_today_changes_nothing(tmp_path):
    place = str(tmp_path / "ledger")
    run(place, "init")
    answer = document(place, "ops", "upgrade")
    for name in ("log", "vault"):
        assert answer[name]["before"] == answer[name]["after"] > 1
        assert answer[name]["steps"] == []
    assert " ".join(run(place, "ops", "upgrade").stdout.split()).count("is at version") == 2
    error(str(tmp_path / "nothing"), "ops", "upgrade")


# What goes wrong


def test_commands_want_a_ledger_and_make_none(postgres_place, admin, name):
    for words in (
        ["status"],
        ["beliefs"],
        ["proof", "verify"],
        ["ops", "tail"],
        ["ops", "project"],
        ["ops", "upgrade"],
    ):
        assert "There is no ledger at postgresql://" in (told := error(postgres_place, *words))
        assert "beliefledger init" in told
    there = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE %s"
    assert admin.execute(there, (f"{name}%",)).fetchone() == (0,)


SECRETS = [
    "postgresql://who:se-cret@localhost:1/base",
    "postgresql://who@localhost:1/base?password=se-cret",
    "postgresql://who:se-cret@@localhost:1/base",
    "postgresql://who:x/se-cret@localhost:1/base",
    "postgresql://who:1?se-cret@localhost:1/base",
    "postgresql://who:x#se-cret@localhost:1/base",
    "postgresql://who:x[se-cret@localhost:1/base",
    "postgresql://who:%zzse-cret@localhost:1/base",
    "postgresql://who:se-cret@localhost:port/base",
    "postgresql://who:se-cret@localhost:1/base?nonsense=1",
    "postgresql://who:se-cret@localhost:1/base?schema=Nonsense",
    "postgresql://who:se-cret@localhost:1/base?connect_timeout=x",
    "mysql://who:se-cret@localhost:1/base",
]


@pytest.mark.parametrize("url", SECRETS)
def test_a_password_is_never_told(url, monkeypatch, tmp_path):
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", "ab" * 32)
    local = str(tmp_path / "ledger")
    run(local, "init")
    for words in (["status"], ["init"], ["ops", "upgrade"], ["ops", "project"]):
        result = CliRunner().invoke(app, ["--ledger", url, *words])
        assert result.exit_code in {2, 3}
        assert isinstance(result.exception, SystemExit)
        assert result.stderr.count("\n") == 1
        assert "se-cret" not in result.output
    for words in (
        ["ops", "copy", url, local],
        ["ops", "copy", local, url],
        ["ops", "copy", local, local, url],
        [url],
    ):
        result = CliRunner().invoke(app, words)
        assert result.exit_code in {2, 3}
        assert "se-cret" not in result.output
    monkeypatch.setenv("BELIEFLEDGER_VAULT", url)
    result = CliRunner().invoke(app, ["--ledger", local, "status"])
    assert result.exit_code in {2, 3}
    assert "se-cret" not in result.output


def test_settings_are_shown_without_what_is_secret(monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", "5e" * 32)
    for name in ("BELIEFLEDGER_LEDGER", "BELIEFLEDGER_VAULT"):
        monkeypatch.setenv(name, "postgresql://who:se-cret@localhost/base")
    shown = repr(Settings.read())
    assert "5e5e" not in shown
    assert "se-cret" not in shown


def test_a_password_is_not_told_by_what_goes_well(login):
    url = login()
    told = [run(url, *words).output for words in (["init"], ["status"], ["ops", "upgrade"])]
    assert not any("hush" in each for each in told)
    with open_memory(url) as memory:
        assert "hush" not in f"{memory.place}{memory.status()}"


def test_what_a_server_says_is_one_line(postgres_place):
    missing = re.sub(r"/postgres\?", "/nowhere?", postgres_place)
    assert 'database "nowhere" does not exist' in error(missing, "status")
    assert "Connection refused" in error("postgresql://localhost:1/base", "status")


def test_status_warns_of_a_vault_beside_its_log_and_tells_of_consumers(
    postgres_place, monkeypatch, tmp_path
):
    run(postgres_place, "init")
    answer = document(postgres_place, "status")
    assert "BELIEFLEDGER_VAULT" in answer["warnings"][0]
    assert answer["ledger"].startswith("postgresql://")
    assert answer["consumers"] == []
    run(postgres_place, "ops", "tail", "--consumer", "mailer", "--no-follow")
    [mailer] = document(postgres_place, "status")["consumers"]
    assert (mailer["name"], mailer["lag"], mailer["holder"]) == ("mailer", 0, None)
    page = run(postgres_place, "status").stdout
    assert "mailer" in page
    assert "nobody" in page
    assert "Warning: The vault lies in the same database" in page


def test_a_process_of_its_own_follows_what_another_says(postgres_place):
    run(postgres_place, "init")
    head = document(postgres_place, "status")["position"]
    follow = programs.Program(
        [*PROGRAM, "--ledger", postgres_place, "ops", "tail", "--after", str(head), "-f", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    with follow:
        run(postgres_place, "remember", "-s", "ana", "I live in Porto.")
        assert follow.stdout is not None
        assert json.loads(follow.stdout.readline())["position"] == head + 1
        follow.terminate()


@pytest.mark.parametrize(
    "mistyped",
    [
        "postgresql:/owner:hunter2@localhost/agents",
        "postgresql//owner:hunter2@localhost/agents",
        "Postgres:owner:hunter2@localhost",
        "host=localhost password=hunter2",
    ],
)
def test_a_mistyped_url_is_no_directory_and_its_password_is_not_told(
    tmp_path, monkeypatch, mistyped
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CallerMistake, match="write postgresql://") as told:
        open_memory(mistyped)
    assert "hunter2" not in str(told.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("said", ["0", "61", "soon", "-1", "", "1e1", "0.0001"])
def test_a_lock_timeout_that_makes_no_sense_is_refused(said):
    with pytest.raises(CallerMistake, match="a number of seconds up to 60"):
        PostgresURL.parse(f"postgresql://localhost/base?lock_timeout={said}")
    for right, seconds in (("lock_timeout=0.5", 0.5), ("lock_timeout=60", 60), ("", 5)):
        assert PostgresURL.parse(f"postgresql://localhost/base?{right}").lock_timeout == seconds
