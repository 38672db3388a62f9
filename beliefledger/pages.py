"""Lists in pages: a page knows the cursor of the next, which stays right while more is recorded."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import orjson

from beliefledger.ledger.errors import InvalidQuery

T = TypeVar("T")
MOST = 10_000
"""How many answers a page may have."""


class Page(list[T]):
    """A list of answers. `next` is the cursor of the next page; None where nothing comes after, and
    where no limit was asked for.

    >>> import tempfile
    >>> from beliefledger import Page, open_memory
    >>> with open_memory(tempfile.mkdtemp(), consent="consent") as memory:
    ...     _ = memory.store("ana", "red", attribute="colour")
    ...     page = memory.beliefs("ana", limit=1)
    >>> isinstance(page, Page), len(page), page.next
    (True, 1, None)
    """

    def __init__(self, answers: Iterable[T] = (), next: str | None = None) -> None:
        super().__init__(answers)
        self.next = next


class Cut(NamedTuple):
    """Which page of a list is asked for: so many after a place. `question` names the list and what
    was asked, so that no cursor of another one is taken."""

    question: str
    limit: int | None = None
    last: str | int | None = None
    """The last answer of the page before."""
    position: int | None = None
    """The log as the first page saw it."""
    at: int | None = None
    """The time that it asked about."""

    @classmethod
    def of(cls, name: str, asked: Sequence[object], limit: object, after: object) -> Cut:
        """Raises `InvalidQuery` for a limit that cannot be, and for what is no cursor of this."""
        if limit is not None and (
            isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST
        ):
            raise InvalidQuery(f"limit is {limit!r}; a page has 1 to {MOST:,}.")
        digest = hashlib.sha256(repr(asked).encode(errors="backslashreplace")).hexdigest()[:8]
        question = f"{name} {digest}"
        if after is None:
            return cls(question, limit)
        wrong = InvalidQuery("after: this is no cursor; give the `next` of a page as it is.")
        if not isinstance(after, str):
            raise wrong
        try:
            read = orjson.loads(base64.urlsafe_b64decode(after + "=" * (-len(after) % 4)))
            of, last, position, at = read
        except (binascii.Error, ValueError, TypeError):
            raise wrong from None
        numbers = (each is None or type(each) is int for each in (position, at))
        if type(of) is not str or type(last) not in {str, int} or not all(numbers):
            raise wrong
        if of != question:
            raise InvalidQuery(
                "after: this cursor is of another question; ask the same as for its page."
            )
        return cls(question, limit, last, position, at)

    def next(self, last: str | int, position: int | None = None, at: int | None = None) -> str:
        """The cursor behind an answer."""
        read = orjson.dumps([self.question, last, position, at])
        return base64.urlsafe_b64encode(read).decode().rstrip("=")

    def of_all(
        self,
        answers: Sequence[T],
        key: Callable[[T], str | int],
        position: int | None = None,
        at: int | None = None,
    ) -> Page[T]:
        """The page of a list that is there as a whole. Raises `InvalidQuery` where the last answer
        of the page before is not in it any more."""
        start = 0
        if self.last is not None:
            keys = [key(each) for each in answers]
            if self.last not in keys:
                raise InvalidQuery("after: what came last is gone; begin again without a cursor.")
            start = keys.index(self.last) + 1
        stop = len(answers) if self.limit is None else start + self.limit
        some = answers[start:stop]
        more = stop < len(answers)
        return Page(some, self.next(key(some[-1]), position, at) if more else None)
