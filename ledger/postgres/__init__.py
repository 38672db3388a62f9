"""The ledger on Postgres: where it is, its schema, its history and bodies."""
