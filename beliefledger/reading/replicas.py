"""Which questions a replica may answer, where the ledger's URL names one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from beliefledger.ledger.log import Log

P = ParamSpec("P")
R = TypeVar("R")


class _Asked(Protocol):
    _log: Log


S = TypeVar("S", bound=_Asked)


def replicated(verb: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A verb that only reads views and words: the replica may answer it. It is asked again of the
    primary where the replica lacks something."""

    @wraps(verb)
    def asked(self: S, /, *args: P.args, **named: P.kwargs) -> R:
        replica = self._log.replica
        if replica is None:
            return verb(self, *args, **named)
        return replica.ask(lambda: verb(self, *args, **named))

    return asked


def asked_of_primary(log: Log) -> AbstractContextManager[None]:
    """What is asked inside goes to the primary."""
    return nullcontext() if log.replica is None else log.replica.aside()


def ask_about(log: Log, position: int) -> None:
    """The question that is being asked is about the ledger at this position."""
    if log.replica is not None:
        log.replica.need(position)
