"""The front door for asyncio: the same verbs, awaitable."""
