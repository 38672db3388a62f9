"""The way in which clients of Recall give a task, look at it and answer it: plain JSON by HTTP."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from a2a.utils.errors import A2AError
from starlette.responses import JSONResponse

from beliefledger.access.tasks import Task
from beliefledger.ledger.errors import LedgerError, UnknownMemory
from beliefledger.tools.server.a2a import told
from beliefledger.tools.server.a2a.refusal import refusal
from beliefledger.tools.server.a2a.runner import Runner
from beliefledger.tools.server.a2a.skills import (
    CONSOLIDATE,
    GENERAL,
    Asked,
    Reply,
    accept,
    checked,
    require,
)
from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.causes import (
    FAILED,
    INVALID_PARAM,
    NOT_FOUND,
    NOT_PERMITTED,
    TIMEOUT,
    UNAVAILABLE,
    WENT_WRONG,
    cause,
)
from beliefledger.tools.server.desk import Desk, Noted

logger = logging.getLogger("beliefledger.server")
_NOT_FOUND = "There is no such task."
_LONGEST_ID = 200
_STATUS = {NOT_FOUND: 404, NOT_PERMITTED: 403, UNAVAILABLE: 503, INVALID_PARAM: 400, FAILED: 500}
Answers = Callable[[Caller, Task, Reply, str], Task]


class Refused(Exception):
    """An answer with a status of HTTP."""

    def __init__(self, status: int, says: str) -> None:
        super().__init__(says)
        self.status = status


class RecallDialect:
    """Three calls over the tasks of the ledger."""

    def __init__(self, desk: Desk, runner: Runner, reply: Answers) -> None:
        self._desk = desk
        self._memory = desk.memory
        self._runner = runner
        self._reply = reply

    async def create(self, noted: Noted, body: dict[str, Any]) -> JSONResponse:
        """`{"skill": "consolidate_memories", "input": {"text", "topic"}, "id"}` → 202."""
        return await self._answer(noted, 202, self._created, noted.caller, body)

    def _created(self, caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
        if body.get("skill") != CONSOLIDATE:
            raise Refused(400, f"skill: there is only {CONSOLIDATE} here.")
        given = body.get("input")
        if not isinstance(given, dict) or not str(given.get("text") or "").strip():
            raise Refused(400, "input.text is required and must not be empty.")
        own = body.get("id")
        if own is not None and not (isinstance(own, str) and 0 < len(own) <= _LONGEST_ID):
            raise Refused(400, f"id: a text of at most {_LONGEST_ID} characters.")
        told_of = {each: given[each] for each in ("text", "topic", "subject") if each in given}
        name = own or uuid4().hex
        asked = Asked(CONSOLIDATE, {"topic": GENERAL} | told_of, name, name, own_id=own)
        task = accept(caller, asked)
        self._runner.start_soon(task.task_id)
        return {"id": own or task.task_id, "status": _status(task)}

    async def look(self, noted: Noted, task_id: str, _text: bytes) -> JSONResponse:
        """`{"id", "status", "output", "message"}`."""
        return await self._answer(noted, 200, self._looked, noted.caller, task_id)

    def _looked(self, caller: Caller, task_id: str) -> dict[str, Any]:
        task = self._own(caller, task_id)
        return {
            "id": task_id,
            "status": _status(task),
            "output": self._output(task),
            "message": self._message(task),
        }

    async def resume(self, noted: Noted, task_id: str, text: bytes) -> JSONResponse:
        """`{"resolution": "keep_existing" | "keep_new" | "keep_both"}` → working."""
        return await self._answer(noted, 200, self._resumed, noted.caller, task_id, text)

    def _resumed(self, caller: Caller, task_id: str, text: bytes) -> dict[str, Any]:
        task = self._own(caller, task_id)
        if task.state != "input_required":
            raise Refused(409, f"The task is {_status(task)}, and waits for no answer.")
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            raise Refused(400, "This is no JSON.") from None
        if not isinstance(body, dict):
            raise Refused(400, "Send an object with a resolution.")
        reply = checked(Reply, body)
        task = self._reply(caller, task, reply, uuid4().hex)
        self._runner.start_soon(task.task_id)
        return {"id": task_id, "status": "working"}

    def _own(self, caller: Caller, task_id: str) -> Task:
        try:
            task = self._memory.tasks.get(task_id, caller.principal)
        except UnknownMemory:
            raise Refused(404, _NOT_FOUND) from None
        require(caller.principal, task.skill)
        caller.subject_ref = task.subject_ref
        return task

    def _output(self, task: Task) -> dict[str, Any] | None:
        if task.state != "completed":
            return None
        made = {"memories_stored": len(task.memories), "contradictions": []}
        if task.answers:
            made["resolution_applied"] = task.answers[-1].answer
        return made

    def _message(self, task: Task) -> dict[str, Any] | None:
        if task.state == "failed":
            return {"type": "failed", "text": told.status(self._memory, task).message.parts[0].text}
        if task.state != "input_required":
            return None
        asked = told.question(self._memory, task)
        names = ("existing_id", "existing_text", "new_text")
        return {
            "type": asked["type"],
            "text": "This contradicts what is believed. Answer with resolution: keep_existing,"
            " keep_new or keep_both.",
            "contradictions": [
                {name: each[name] for name in names} for each in asked["contradictions"]
            ],
        }

    async def _answer(
        self, noted: Noted, status: int, work: Callable[..., dict[str, Any]], *given: Any
    ) -> JSONResponse:
        try:
            return JSONResponse(await self._desk.done(work, *given), status_code=status)
        except Refused as refused:
            return JSONResponse({"error": str(refused)}, status_code=refused.status)
        except TimeoutError:
            noted.outcome = TIMEOUT
            return JSONResponse({"error": "It took too long."}, status_code=504)
        except (LedgerError, A2AError) as problem:
            error, noted.outcome = refusal(problem, noted.sent)
            code = 409 if isinstance(problem, A2AError) else _STATUS[cause(problem)]
            return JSONResponse({"error": str(error)}, status_code=code)
        except Exception:  # a defect of ours is answered too, and told to whoever runs this
            logger.exception("%s failed", noted.tool)
            noted.outcome = FAILED
            return JSONResponse({"error": WENT_WRONG}, status_code=500)


def _status(task: Task) -> str:
    return task.state.replace("_", "-")
