"""Opens a ledger: its place, keys, stores and the core that all else is built on."""
