"""Answers the methods of the protocol. Each task is read from the log, none is kept here."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any, NoReturn, TypeVar
from uuid import uuid4

from a2a.helpers.proto_helpers import get_data_parts
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
)
from a2a.types.a2a_pb2 import Task as ToldTask
from a2a.utils.errors import (
    A2AError,
    ContentTypeNotSupportedError,
    InternalError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from a2a.utils.proto_utils import validate_proto_required_fields

from beliefledger.access.tasks import ANSWERS, CANCELED, Task, TaskMoved
from beliefledger.ledger.errors import InvalidTurn, LedgerError, UnknownMemory
from beliefledger.tools.server.a2a import told
from beliefledger.tools.server.a2a.card import MODES, card
from beliefledger.tools.server.a2a.refusal import NoSuchTask, refusal
from beliefledger.tools.server.a2a.runner import Runner
from beliefledger.tools.server.a2a.skills import (
    CONSOLIDATE,
    RESOLVE,
    TOLD,
    VERBS,
    Asked,
    Reply,
    accept,
    checked,
    may,
    require,
)
from beliefledger.tools.server.a2a.work import advance, check_reply
from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.causes import FAILED, STOPPED, TIMEOUT, WENT_WRONG
from beliefledger.tools.server.desk import Desk, Noted

logger = logging.getLogger("beliefledger.server")
T = TypeVar("T")
NOTED, BASE = "beliefledger.call", "beliefledger.base"
"""Where the context of a call has its record, and the server's address."""
LOOK_SECONDS = 0.25
_SLOW = "It takes longer than a call may. The task goes on: look with GetTask or SubscribeToTask."
_STOPS = "The server stops. The task goes on: look with GetTask or SubscribeToTask."
_MOST = 100
_WAITS = ("input_required", "completed", "failed", "canceled")


class Handler(RequestHandler):
    """The methods, over one ledger."""

    def __init__(self, desk: Desk, runner: Runner) -> None:
        self._desk = desk
        self._memory = desk.memory
        self._runner = runner

    # Sending

    async def on_message_send(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> ToldTask | Message:
        noted = _noted(context)
        wanted = params.configuration
        _checked(params, context)
        task = await self._do(noted, lambda: self._sent(noted.caller, params))
        self._go(task)
        if not wanted.return_immediately:
            ends = time.monotonic() + self._desk.seconds
            while (
                task.state not in _WAITS and time.monotonic() < ends and not self._desk.goodbye.said
            ):
                await self._runner.changed(LOOK_SECONDS)
                task = await self._look(noted, task)
        length = wanted.history_length if wanted.HasField("history_length") else None
        return await self._do(noted, told.told, noted.caller, task, length)

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Any]:
        noted = _noted(context)

        async def begun() -> Task:
            _checked(params, context)
            task = await self._do(noted, lambda: self._sent(noted.caller, params))
            self._go(task)
            return task

        async for each in self._streamed(noted, begun):
            yield each

    def _sent(self, caller: Caller, params: SendMessageRequest) -> Task:
        """What a message leads to: a new task, or an answer to one. In a thread."""
        message = params.message
        if message.task_id:
            return self._answered(caller, params)
        skill, given = _asked(params)
        session = message.context_id or None
        asked = Asked(skill, given, session or uuid4().hex, message.message_id, session)
        if skill == RESOLVE and "resolution" in given:
            return self._resolved(caller, asked)
        return accept(caller, asked)

    def _answered(self, caller: Caller, params: SendMessageRequest) -> Task:
        message = params.message
        task = self._own(caller, message.task_id)
        if message.context_id and message.context_id != (task.context or task.task_id):
            raise InvalidParamsError("contextId: the task is of another conversation.")
        if task.ended:
            raise UnsupportedOperationError("The task is over. Give a new one.")
        if task.state != "input_required":
            raise UnsupportedOperationError("The task waits for no answer yet.")
        given = _parts(params)
        text = str(given.pop("text", "")).strip()
        given.pop("skill", None)
        reply = checked(Reply, ({"resolution": text} if text else {}) | given)
        return self.reply(caller, task, reply, message.message_id)

    def _resolved(self, caller: Caller, asked: Asked) -> Task:
        """A conflict that is settled by the message that names it: asked, and answered at once."""
        given = dict(asked.given)
        reply = checked(
            Reply, {each: given.pop(each) for each in ("resolution", "contexts") if each in given}
        )
        task = accept(caller, Asked(RESOLVE, given, asked.context, asked.message, asked.session))
        advance(self._memory, task.task_id)
        task = self._memory.tasks.find(task.task_id)
        if task.state != "input_required":
            return task
        return self.reply(caller, task, reply, asked.message)

    def reply(self, caller: Caller, task: Task, reply: Reply, message: str) -> Task:
        """Record an answer. Raises `UnsupportedOperationError` where another came first."""
        check_reply(self._memory, task, reply.resolution, reply.contexts)
        try:
            return self._memory.tasks.answer(
                task,
                reply.resolution,
                by=caller.principal,
                message=message,
                contexts=reply.contexts,
            )
        except TaskMoved:
            raise UnsupportedOperationError("The task was answered already.") from None

    # Looking

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> ToldTask:
        noted = _noted(context)
        _checked(params, context)
        length = params.history_length if params.HasField("history_length") else None
        _history(length)
        task = await self._do(noted, self._own, noted.caller, params.id)
        return await self._do(noted, told.told, noted.caller, task, length)

    async def on_list_tasks(
        self, params: ListTasksRequest, context: ServerCallContext
    ) -> ListTasksResponse:
        noted = _noted(context)
        _checked(params, context)
        size = params.page_size if params.HasField("page_size") else 50
        if not 1 <= size <= _MOST:
            raise InvalidParamsError(f"pageSize: from 1 to {_MOST}.")
        if params.page_token and not (
            params.page_token.isdecimal() and len(params.page_token) < 16
        ):
            raise InvalidParamsError("pageToken: this is none that was given out.")
        length = params.history_length if params.HasField("history_length") else None
        _history(length)
        return await self._do(noted, self._listed, noted.caller, params, size, length)

    def _listed(
        self, caller: Caller, params: ListTasksRequest, size: int, length: int | None
    ) -> ListTasksResponse:
        principal = caller.principal
        since = params.status_timestamp_after
        state = told.NAMES.get(params.status) if params.status else None
        if params.status and state is None:
            return ListTasksResponse(page_size=size)  # there is never one
        page = self._memory.tasks.list(
            principal,
            skills=[each for each in VERBS if may(principal, each)],
            context=params.context_id or None,
            state=state,
            changed_since=since.ToMicroseconds()
            if params.HasField("status_timestamp_after")
            else None,
            limit=size,
            before=int(params.page_token) if params.page_token else None,
        )
        tasks = [told.told(caller, each, length) for each in page.tasks]
        if not params.include_artifacts:
            for each in tasks:
                del each.artifacts[:]
        return ListTasksResponse(
            tasks=tasks,
            next_page_token="" if page.next is None else str(page.next),
            page_size=size,
            total_size=page.total,
        )

    async def on_cancel_task(
        self, params: CancelTaskRequest, context: ServerCallContext
    ) -> ToldTask:
        noted = _noted(context)
        _checked(params, context)
        task = await self._do(noted, self._canceled, noted.caller, params.id)
        self._runner.tell()
        return await self._do(noted, told.told, noted.caller, task)

    def _canceled(self, caller: Caller, task_id: str) -> Task:
        while True:
            task = self._own(caller, task_id)
            if task.ended:
                raise TaskNotCancelableError("The task is over.")
            try:
                return self._memory.tasks.end(task, CANCELED, "canceled", by=caller.principal)
            except TaskMoved:
                continue  # it went a step meanwhile, and is looked at again

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Any]:
        noted = _noted(context)

        async def begun() -> Task:
            _checked(params, context)
            task = await self._do(noted, self._own, noted.caller, params.id)
            if task.ended:
                raise UnsupportedOperationError("The task is over. Look at it with GetTask.")
            return task

        async for each in self._streamed(noted, begun, past_questions=True):
            yield each

    async def _streamed(
        self, noted: Noted, begun: Callable[[], Any], *, past_questions: bool = False
    ) -> AsyncGenerator[Any]:
        """A task as it is, then what becomes of it: until it is over, or waits for an answer (a
        subscription stays for that), the time is up, or the server stops. It goes on record as it
        ended."""
        noted.streams = True
        outcome = "gone"
        ends = time.monotonic() + self._desk.seconds
        try:
            task = await begun()
            yield await self._do(noted, told.told, noted.caller, task)
            while not (task.ended or (task.state == "input_required" and not past_questions)):
                if time.monotonic() > ends:
                    noted.outcome = TIMEOUT
                    raise InternalError(_SLOW)
                if self._desk.goodbye.said:
                    noted.outcome = STOPPED
                    raise InternalError(_STOPS)
                await self._runner.changed(LOOK_SECONDS)
                if (await self._look(noted, task)).version > task.version:
                    for step in await self._do(noted, self._memory.tasks.steps, task):
                        task = step  # each step is told, so that all who follow are told the same
                        for each in await self._do(noted, told.updates, noted.caller, step):
                            yield each
            outcome = "ok"
        except A2AError as problem:
            outcome = noted.outcome or type(problem).__name__
            raise
        finally:
            await noted.record(outcome)

    # Other methods

    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        """The card with the skills that the token is for."""
        noted = _noted(context)
        _checked(params, context)
        return card(
            context.state[BASE],
            [each for each in VERBS if may(noted.caller.principal, each)],
        )

    async def _no_push(self, params: Any, context: ServerCallContext) -> NoReturn:
        raise PushNotificationNotSupportedError("Ask with GetTask or SubscribeToTask instead.")

    on_create_task_push_notification_config = _no_push
    on_get_task_push_notification_config = _no_push
    on_list_task_push_notification_configs = _no_push
    on_delete_task_push_notification_config = _no_push

    # Inside

    def _go(self, task: Task) -> None:
        if task.state in {"submitted", "working"}:
            self._runner.start(task.task_id)
        else:
            self._runner.tell()

    def _own(self, caller: Caller, task_id: str) -> Task:
        """A task of the caller. Raises `NoSuchTask`, `NotPermitted`."""
        try:
            task = self._memory.tasks.get(task_id, caller.principal)
        except UnknownMemory:
            raise NoSuchTask("There is no such task.") from None
        require(caller.principal, task.skill)
        caller.subject_ref = task.subject_ref
        return task

    async def _look(self, noted: Noted, task: Task) -> Task:
        return await self._do(noted, self._own, noted.caller, task.task_id)

    async def _do(self, noted: Noted, work: Callable[..., T], *given: Any) -> T:
        """Do something in a thread; what goes wrong becomes an error of the protocol."""
        try:
            return await self._desk.done(work, *given)
        except TimeoutError:
            noted.outcome = TIMEOUT
            raise InternalError(
                f"It took more than {self._desk.seconds:g} seconds. What was begun may still be"
                " done."
            ) from None
        except A2AError:
            raise
        except LedgerError as problem:
            error, noted.outcome = refusal(problem, noted.sent)
            raise error from None
        except Exception:  # a defect of ours is answered too, and told to whoever runs this
            logger.exception("%s failed", noted.tool)
            noted.outcome = FAILED
            raise InternalError(WENT_WRONG) from None


def _noted(context: ServerCallContext) -> Noted:
    noted: Noted = context.state[NOTED]
    return noted


def _checked(params: Any, context: ServerCallContext) -> None:
    """Raises `InvalidParamsError` naming the fields that are missing or may not be there."""
    validate_proto_required_fields(params)
    tenant = _noted(context).caller.principal.tenant
    if getattr(params, "tenant", "") not in ("", tenant):
        raise InvalidParamsError("tenant: it comes from the token; leave it out.")
    if isinstance(params, SendMessageRequest):
        _check_configuration(params.configuration)
    if getattr(params, "id", "x") == "":
        raise TaskNotFoundError


def _check_configuration(wanted: SendMessageConfiguration) -> None:
    if wanted.HasField("task_push_notification_config"):
        raise PushNotificationNotSupportedError("Ask with GetTask or SubscribeToTask instead.")
    modes = wanted.accepted_output_modes
    if modes and not set(modes) & {*MODES, "*/*", "text/*", "application/*", "text"}:
        raise ContentTypeNotSupportedError(f"The answers are {' and '.join(MODES)}.")
    _history(wanted.history_length if wanted.HasField("history_length") else None)


def _history(length: int | None) -> None:
    if length is not None and length < 0:
        raise InvalidParamsError("historyLength: it cannot be negative.")


def _asked(params: SendMessageRequest) -> tuple[str, dict[str, Any]]:
    """Which skill a message asks for, and with what. A text alone is to be consolidated."""
    given = _parts(params)
    named = given.pop("skill", None)
    for metadata in (params.message.metadata, params.metadata):
        if named is None and "skill" in metadata:
            named = metadata["skill"]
    skill = named if isinstance(named, str) else CONSOLIDATE if named is None else ""
    if skill not in TOLD:
        raise InvalidTurn(f"skill: there is none like that; there are: {', '.join(TOLD)}.")
    text = given.pop("text", None)
    if text is not None:
        name = TOLD[skill][1]
        if skill == RESOLVE and str(text).strip() in ANSWERS:
            name, text = "resolution", str(text).strip()
        given.setdefault(name, text)
    return skill, given


def _parts(params: SendMessageRequest) -> dict[str, Any]:
    """What the parts of a message say: the fields of its data, and its texts as `text`."""
    given: dict[str, Any] = {}
    texts: list[str] = []
    for part in params.message.parts:
        if part.media_type and part.media_type.partition(";")[0].strip() not in MODES:
            raise ContentTypeNotSupportedError(f"Parts are {' or '.join(MODES)}.")
        kind = part.WhichOneof("content")
        if kind == "text":
            texts.append(part.text)
        elif kind == "data":
            [data] = get_data_parts([part])
            if not isinstance(data, dict):
                raise InvalidParamsError("parts: data has to be an object.")
            given |= {name: _whole(value) for name, value in data.items()}
        else:
            raise ContentTypeNotSupportedError("Parts are text or data, no files.")
    if texts:
        more = given.get("text")
        given["text"] = "\n".join([*texts, *([more] if isinstance(more, str) else [])])
    return given


def _whole(value: Any) -> Any:
    """A number of the protocol as an integer, where it is one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
