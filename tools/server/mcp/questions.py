"""Questions that only a person can answer, put to them by the client of the agent that asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from beliefledger.ledger.errors import LedgerError
from beliefledger.tools.server.causes import INVALID_PARAM
from beliefledger.tools.server.goodbye import Goodbye
from beliefledger.tools.server.mcp.tool import DECLINED, ToolProblem

ASK_SECONDS = 300
"""So long a person has to answer, where the client waits on an open call."""
KEY = "choice"


class PersonNeeded(Exception):
    """A tool cannot go on before a person has chosen one of `choices`.

    These are words to show, with the value of the tool's argument that each stands for. `otherwise`
    is what a client is told that cannot ask a person.
    """

    def __init__(
        self, message: str, argument: str, choices: Mapping[str, str], otherwise: LedgerError
    ) -> None:
        super().__init__(message)
        self.message = message
        self.argument = argument
        self.choices = choices
        self.otherwise = otherwise

    def request(self) -> ElicitRequest:
        choice = {"type": "string", "title": "Choice", "enum": list(self.choices)}
        return ElicitRequest(
            params=ElicitRequestFormParams(
                message=self.message,
                requested_schema={
                    "type": "object", "properties": {KEY: choice}, "required": [KEY],
                },
            )
        )  # fmt: skip

    def argument_of(self, answer: ElicitResult) -> dict[str, str]:
        """The argument that a person's answer stands for. Raises `ToolProblem` where they declined,
        or chose nothing that there is."""
        if answer.action != "accept":
            raise ToolProblem(DECLINED, "The person did not choose. Nothing is changed.")
        chosen = (answer.content or {}).get(KEY)
        if not isinstance(chosen, str) or chosen not in self.choices:
            raise ToolProblem(INVALID_PARAM, "The answer is none of the choices.")
        return {self.argument: self.choices[chosen]}


class InputRequired(Exception):
    """The client has to ask first, and call again with the answer (revision 2026-07-28)."""

    def __init__(self, question: PersonNeeded) -> None:
        super().__init__()
        self.result = InputRequiredResult(input_requests={KEY: question.request()})


@dataclass(frozen=True, slots=True)
class Person:
    """The person behind a client, as far as it lets us ask."""

    request: ServerRequestContext[Any, Any]
    params: CallToolRequestParams
    goodbye: Goodbye

    async def choose(self, question: PersonNeeded) -> dict[str, str]:
        """Ask; returns the argument with the answer. Raises `InputRequired`, `ToolProblem`, and
        what `question` has for clients that cannot ask."""
        if not self._can_be_asked():
            raise question.otherwise
        if self.request.protocol_version in MODERN_PROTOCOL_VERSIONS:
            answer = (self.params.input_responses or {}).get(KEY)
            if answer is None:
                raise InputRequired(question)
            if not isinstance(answer, ElicitResult):
                raise ToolProblem(INVALID_PARAM, "The answer is none to the question.")
        else:
            answer = await self._answer(question)
        return question.argument_of(answer)

    def _can_be_asked(self) -> bool:
        told = self.request.session.client_capabilities
        able = None if told is None else told.elicitation
        return able is not None and (able.form is not None or able.url is None)

    async def _answer(self, question: PersonNeeded) -> ElicitResult:
        """Raises what `question` has otherwise, where the client cannot be reached."""
        asked = question.request().params
        assert isinstance(asked, ElicitRequestFormParams), "a form is all we ask with"
        session = self.request.session
        asking = asyncio.ensure_future(
            session.elicit_form(asked.message, asked.requested_schema, self.request.request_id)
        )
        try:
            if not await self.goodbye.until(asking, ASK_SECONDS):
                why = "The server stops" if self.goodbye.said else "Nobody answered in time"
                raise ToolProblem(DECLINED, f"{why}. Nothing is changed.")
            return asking.result()
        except (MCPError, ValidationError):
            raise question.otherwise from None
        finally:
            asking.cancel()
