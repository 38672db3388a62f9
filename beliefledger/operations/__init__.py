"""What an operator runs: projector, jobs, backups, copies, rotation of keys."""
