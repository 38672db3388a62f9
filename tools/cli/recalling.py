"""Commands of `tools.recalling`."""
