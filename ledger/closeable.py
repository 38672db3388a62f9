"""A base class for what a `with` statement closes."""

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
