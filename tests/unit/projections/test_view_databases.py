"""A database of views that does not answer is told as one that can be asked again."""

import pytest
from sqlalchemy import event
from sqlalchemy.exc import DisconnectionError

from beliefledger.ledger.errors import BackendUnavailable
from beliefledger.projections.view_databases import SQLiteHome


def test_connections_that_are_ended_at_every_try_are_told_as_no_answer(tmp_path):
    home = SQLiteHome(tmp_path / "views.db")

    def ended(*_):
        raise DisconnectionError("terminating connection")

    event.listen(home.engine, "checkout", ended)
    with pytest.raises(BackendUnavailable, match="did not answer"), home.reading():
        pass
    event.remove(home.engine, "checkout", ended)
    with home.reading() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    home.engine.dispose()
