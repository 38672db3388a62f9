"""Where followers of a ledger behind a pooler listen: said in the URL, and read from it."""

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
