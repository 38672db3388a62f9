"""An endpoint: a function over the facade, with its path, its rights and its answer."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

from fastapi import Header, Path, Query, params
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from beliefledger import arguments
from beliefledger.access.principal import Principal, TokenNotForThis
from beliefledger.ledger.errors import InvalidQuery, NotPermitted
from beliefledger.pages import Page
from beliefledger.tools.server.caller import Caller

T = TypeVar("T")
Function = Callable[..., Any]

LONGEST = 4_000
"""The most characters of a text in an address: with the bytes of each written out an address of
64 kB takes it. A longer one is refused before anything of ours sees it."""
LONGEST_ID = 200
Id = Annotated[str, Path(min_length=1, max_length=LONGEST_ID)]
Subject = Annotated[
    str,
    Query(
        max_length=LONGEST,
        description="Whom it is about; may be left out where the token is for one person.",
    ),
]
Text = Annotated[str | None, Query(max_length=LONGEST)]
AsOf = Annotated[
    str | None,
    Query(
        max_length=100,
        description="A time, such as 2026-03-01 or 2026-03-01T09:00:00Z, or a position.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=1_000)]
After = Annotated[
    str | None, Query(max_length=LONGEST, description="The `next` of the page before, as it is.")
]
Metadata = Annotated[
    str | None,
    Query(max_length=LONGEST, description="A JSON object: only with each of it beside it."),
]
Share = Annotated[float | None, Query(ge=0, le=1)]
KEY = "idempotency_key"
"""The argument that has the header `Idempotency-Key`."""
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="The same key of the same principal does it once, and its answer comes again."
        " With something else to be done it is refused.",
    ),
]


class Listed(BaseModel, Generic[T]):
    """A page of a list. `next` is given as `after` for the one behind it; null at the end."""

    model_config = ConfigDict(frozen=True)

    items: list[T]
    next: str | None = None

    @classmethod
    def of(cls, page: list[T], shown: list[T] | None = None) -> Listed[T]:
        """A page of the facade; `shown` is what of it may be told."""
        after = page.next if isinstance(page, Page) else None
        return cls.model_construct(items=list(page) if shown is None else shown, next=after)


@dataclass(frozen=True)
class Endpoint:
    """What is answered at one path. `verbs` are what a token has to be for: all of them."""

    method: str
    path: str
    verbs: tuple[str, ...]
    function: Function
    status: int = 200
    whole: bool = False
    """Whether it tells of all subjects, so that the token has to be for everybody."""
    tagged: bool = False
    """Whether the answer has an ETag, and `If-None-Match` is answered with 304."""
    table: bool = False
    """Whether the answer is also told as CSV."""
    once: bool = False
    """Whether it is done once for an `Idempotency-Key`, and its answer given again."""
    media: str = "application/json"
    answered: Any = None
    """What OpenAPI tells of the answer, where the function says more than that."""

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def hints(self) -> dict[str, Any]:
        return get_type_hints(self.function, include_extras=True)

    @cached_property
    def answer(self) -> Any:
        """The type of what is answered, as OpenAPI tells it."""
        return self.answered or self.hints["return"]

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.answer)

    @cached_property
    def parameters(self) -> list[inspect.Parameter]:
        """Those of the function, without the caller."""
        own = list(inspect.signature(self.function).parameters.values())[1:]
        made = [
            each.replace(annotation=self.hints[each.name], kind=inspect.Parameter.KEYWORD_ONLY)
            for each in own
        ]
        if self.once and not self.takes_key:
            keyword = inspect.Parameter.KEYWORD_ONLY
            made.append(inspect.Parameter(KEY, keyword, default=None, annotation=Key))
        return made

    @cached_property
    def queries(self) -> frozenset[str]:
        """The names that its query may have."""
        path = set(re.findall(r"{(\w+)}", self.path))
        return frozenset(
            each.name.rstrip("_")  # of one that would hide another name here
            for each in self.parameters
            if each.name not in path and _is_query(each)
        )

    @cached_property
    def many(self) -> frozenset[str]:
        """Those of them that may be there more than once."""
        return frozenset(
            each.name for each in self.parameters if "list[" in str(each.annotation)
        ).intersection(self.queries)

    @cached_property
    def takes_body(self) -> bool:
        return any(map(_is_body, self.parameters))

    @cached_property
    def takes_key(self) -> bool:
        """Whether the function itself takes the key, which is then one in the log."""
        return KEY in self.hints

    def may(self, principal: Principal) -> bool:
        """Whether a token is for it."""
        whole = not self.whole or principal.subjects is None
        return whole and all(principal.may(verb) for verb in self.verbs)

    def check(self, principal: Principal) -> None:
        """Raises `NotPermitted`."""
        for verb in self.verbs:
            principal.require(verb)
        if self.whole and principal.subjects is not None:
            raise TokenNotForThis("This tells of everybody, and the token is for some.")

    def call(self, caller: Caller, given: Mapping[str, Any]) -> Any:
        """Check rights, then do it. Raises `LedgerError`."""
        self.check(caller.principal)
        if self.once and not self.takes_key:
            given = {name: each for name, each in given.items() if name != KEY}
        return self.function(caller, **given)


def _is_body(parameter: inspect.Parameter) -> bool:
    kind = parameter.annotation
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _is_query(parameter: inspect.Parameter) -> bool:
    told = getattr(parameter.annotation, "__metadata__", ())
    return not _is_body(parameter) and not any(isinstance(each, params.Header) for each in told)


ENDPOINTS: list[Endpoint] = []


def endpoint(method: str, path: str, *verbs: str, **told: Any) -> Callable[[Function], Function]:
    """Answer a path with a function: its name, its docstring and its arguments are told."""

    def add(function: Function) -> Function:
        ENDPOINTS.append(Endpoint(method, path, verbs, function, **told))
        return function

    return add


class Body(BaseModel):
    """What is sent; nothing else may be in it."""

    model_config = ConfigDict(
        extra="forbid", hide_input_in_errors=True, str_max_length=200_000, frozen=True
    )


def numbered(key: str | None, count: int) -> list[str | None]:
    """The keys of the items of a batch, by that of the whole."""
    return [key and f"{key}\x1f{number}" for number in range(count)]


Share01 = Annotated[float, Field(ge=0, le=1)]
_POSITION = re.compile(r"[0-9]{1,12}")


def moment(given: str | None) -> str | int | None:
    """A time or a position, as the facade takes it."""
    text = (given or "").strip()
    return int(text) if _POSITION.fullmatch(text) else text or None


def asked_at(caller: Caller, given: str | int | None, name: str = "as_of") -> str | int | None:
    """The moment that a question is about; None where it names none. Raises `InvalidQuery` for an
    empty one: a question about the past would become one about now."""
    if given is None:
        return None
    if not str(given).strip():
        raise InvalidQuery(
            f"{name} is empty: write 2026-03-01, 2026-03-01T09:30:00Z or a position, or leave it"
            " out."
        )
    return caller.moment(str(given))


def filters(
    session: str | None, agent: str | None, metadata: str | None = None
) -> dict[str, object]:
    """What of a list is wanted, as the facade's `where` takes it. Raises `InvalidQuery` for
    metadata that is no JSON object."""
    given: dict[str, object] = {"session": session, "agent": agent}
    if metadata is not None:
        given["metadata"] = arguments.json_object("metadata", metadata)
    return {name: value for name, value in given.items() if value is not None}


def acting(caller: Caller, by: str | None) -> str:
    """Under whose name something is done: the token's. Raises `NotPermitted` for another."""
    if by is not None and by != caller.principal.name:
        raise NotPermitted("by: the token says who acts; leave it out.")
    return caller.principal.name


def speaking(caller: Caller, agent: str | None) -> str:
    """The agent that something was said to: the token's. Raises `NotPermitted` for another."""
    if agent is not None and agent != caller.principal.agent:
        raise NotPermitted("agent: the token says which agent calls; leave it out.")
    return caller.principal.agent
