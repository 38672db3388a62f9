"""Search over memories: indexes, models, vectors, and the record of what was recalled."""
