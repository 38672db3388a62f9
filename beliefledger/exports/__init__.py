"""What is handed out and taken in: all about one person, all events of a ledger."""
