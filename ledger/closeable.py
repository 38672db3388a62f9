"""Base classes for what a `with` or an `async with` statement closes."""

from __future__ import annotations

from abc import abstractmethod
from types import TracebackType
from typing import Self


class Closeable:
    """Closes itself when its `with` statement ends, however that ends."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()


class AsyncCloseable:
    """Closes itself when its `async with` statement ends, however that ends."""

    @abstractmethod
    async def close(self) -> None: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self.close()
