"""Commands of `tools.vectoring`."""
