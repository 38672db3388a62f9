"""The command line of a program that is newer than this one by a migration.

Its migration changes the function that appends, so that servers from before it record nothing more.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres.appender import PostgresAppender
from beliefledger.tools.cli import main

NUMBER = schema.VERSION + 1
MIGRATION = """-- The function that appends takes one argument more.
DO $do$ DECLARE made text; old regprocedure; BEGIN
    SELECT oid INTO STRICT old FROM pg_proc
        WHERE proname = 'append' AND pronamespace = '@schema@'::regnamespace;
    made := pg_get_functiondef(old);
    EXECUTE 'DROP FUNCTION ' || old;
    EXECUTE regexp_replace(made, 'OUT status', 'p_newer integer, OUT status');
END $do$;
"""


def become_newer() -> None:
    here = Path(tempfile.mkdtemp(prefix="newer-"))
    shutil.copytree(Path(str(schema._HERE)) / "migrations", here / "migrations")
    (here / "migrations" / f"{NUMBER:04}_changed.sql").write_text(MIGRATION, "utf-8")
    schema._HERE = here
    schema.MIGRATIONS = sorted(each.name for each in (here / "migrations").iterdir())
    schema.VERSION = NUMBER
    schema.migrate.__defaults__ = (NUMBER,)
    schema._migrate.__defaults__ = (NUMBER,)
    begin = PostgresAppender.__init__

    def begun(self, *given, **named):
        begin(self, *given, **named)
        self.statement = self.statement.removesuffix(")") + f", {NUMBER})"

    PostgresAppender.__init__ = begun


if __name__ == "__main__":
    become_newer()
    main()
