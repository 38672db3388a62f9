"""Who may do what through a door: tokens, roles, and the record of calls."""
