"""Where followers behind a pooler listen, and which replica may be asked: said in the URL."""

import pytest
from psycopg.conninfo import conninfo_to_dict

from beliefledger.ledger.errors import CallerMistake
from beliefledger.ledger.postgres.server import PostgresURL

URL = "postgresql://eva:secret@pooler:6432/app?schema=s"


@pytest.mark.parametrize(
    ("listen", "host", "port", "database"),
    [
        ("db:5432", "db", "5432", "app"),
        ("db.example.org", "db.example.org", "6432", "app"),
        ("10.0.0.7:5433/other", "10.0.0.7", "5433", "other"),
        ("[fd00::7]:5433", "fd00::7", "5433", "app"),
        ("/run/postgresql:5433", "/run/postgresql", "5433", "app"),
    ],
)
def test_the_server_itself_is_reached_as_the_same_user(listen, host, port, database):
    url = PostgresURL.parse(f"{URL}&listen={listen}")
    reached = conninfo_to_dict(url.direct)
    assert (reached["host"], reached["port"], reached["dbname"]) == (host, port, database)
    assert (reached["user"], reached["password"]) == ("eva", "secret")
    assert conninfo_to_dict(url.conninfo)["host"] == "pooler"


def test_without_one_it_is_where_everything_else_is():
    url = PostgresURL.parse(URL)
    assert url.direct == url.conninfo


@pytest.mark.parametrize(
    "listen", ["", "postgresql://db/app", "eva:secret@db", "db:port", "db:5432/a b", "db, other"]
)
def test_what_is_no_address_is_refused_without_being_told_again(listen):
    with pytest.raises(CallerMistake, match="listen is host:port") as told:
        PostgresURL.parse(f"{URL}&listen={listen}")
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    ("said", "prepare"), [("", None), ("&prepare=yes", True), ("&prepare=no", False)]
)
def test_what_is_said_of_a_pooler_is_said_again(said, prepare):
    url = PostgresURL.parse(f"{URL}{said}&listen=db:5432")
    again = PostgresURL.parse(url.without_passwords)
    assert (again.prepare, again.listen) == (prepare, "db:5432")
    assert PostgresURL.parse(PostgresURL.parse(URL + said).without_passwords).listen is None


def test_a_replica_is_reached_as_the_same_user_and_given_up_soon():
    url = PostgresURL.parse(f"{URL}&read=[fd00::8]:5434/other&read_lag=0.5&listen=db")
    assert (url.read_lag, PostgresURL.parse(f"{URL}&read=db").read_lag) == (0.5, 5)
    replica = url.of_replica()
    reached = conninfo_to_dict(replica.conninfo)
    assert (reached["host"], reached["port"], reached["dbname"]) == ("fd00::8", "5434", "other")
    assert (reached["user"], reached["password"]) == ("eva", "secret")
    assert reached["connect_timeout"] == "2"
    assert (replica.schema, replica.read) == ("s", None)
    given = PostgresURL.parse(f"{URL}&read=db&connect_timeout=7").of_replica()
    assert conninfo_to_dict(given.conninfo)["connect_timeout"] == "7"
    assert "connect_timeout" not in conninfo_to_dict(url.conninfo)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("read=postgresql://db/app", "read is host:port"),
        ("read=", "read is host:port"),
        ("read=db&read_lag=soon", "read_lag is a number of seconds up to 3600, not 'soon'"),
        ("read=db&read_lag=-1", "read_lag is a number of seconds"),
        ("read=db&read_lag=3601", "read_lag is a number of seconds"),
        ("read_lag=5", "say with read=host:port which"),
    ],
)
def test_what_cannot_be_a_replica_is_refused(said, told):
    with pytest.raises(CallerMistake, match=told) as problem:
        PostgresURL.parse(f"{URL}&{said}")
    assert "secret" not in str(problem.value)


def test_what_is_said_of_a_replica_is_said_again():
    for said in ("read=db:5432", "read=db&read_lag=0", "read=db:5433/app&read_lag=0.25"):
        url = PostgresURL.parse(f"{URL}&{said}")
        again = PostgresURL.parse(url.without_passwords)
        assert (again.read, again.read_lag) == (url.read, url.read_lag)
