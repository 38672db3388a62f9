"""REST under /v1: the facade for programs, the events of its log, and how the server is."""
