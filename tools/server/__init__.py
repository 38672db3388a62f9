"""The server: the doors through which agents use a ledger."""
