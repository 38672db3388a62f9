"""Commands of `tools.searching`."""
