"""An attribute that is made when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    made_once = cached_property
else:

    class made_once(cached_property):  # noqa: N801  (it is used as a decorator)
        """As `cached_property`, but made only once where several threads ask for it first."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            with _MAKING:
                return super().__get__(instance, owner)


_MAKING = RLock()
