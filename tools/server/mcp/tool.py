"""A tool: a function over the front door, with what the protocol tells of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_type_hints

from mcp.shared.inbound import X_MCP_HEADER_KEY
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from beliefledger.access.principal import Principal
from beliefledger.ledger.errors import CallerMistake, LedgerError
from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.causes import INVALID_PARAM, NOT_PERMITTED, told

Answer = dict[str, Any]
Function = Callable[..., Answer]
CONFIRM_REQUIRED, NOT_CONFIGURED = "CONFIRM_REQUIRED", "EXPORT_NOT_CONFIGURED"
DECLINED = "DECLINED"
_LONGEST = 200_000
"""Characters of any text that is given."""


class ToolProblem(CallerMistake):
    """A tool cannot do what it was asked; `code` says which of the documented causes it is."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class Unfinished(Exception):
    """What was asked about goes on; `data` says how far it is. The caller wants to wait up to
    `wait` seconds from the beginning of the call: the tool is asked again meanwhile."""

    def __init__(self, data: Answer, wait: float, message: str) -> None:
        super().__init__(message)
        self.data = data
        self.wait = wait
        self.message = message


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `verbs` are what its token has to be for: all of them."""

    name: str
    description: str
    function: Function
    verbs: tuple[str, ...]
    arguments: type[BaseModel]
    result: Mapping[str, Any]
    """JSON Schema of `data`."""
    reads: bool
    destroys: bool
    repeats: bool
    """Whether doing it again changes nothing more."""
    of_everybody: bool
    """Whether it tells of all subjects, so that the token has to be for everybody."""

    def may(self, principal: Principal) -> bool:
        """Whether a token is for it."""
        whole = not self.of_everybody or principal.subjects is None
        return whole and all(principal.may(verb) for verb in self.verbs)

    def input_schema(self) -> dict[str, Any]:
        return _schema_of(self.arguments)

    @property
    def has_headers(self) -> bool:
        """Whether an argument of it is to be repeated in a header."""
        return _has_headers(self.arguments)

    def output_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {
                "status": {"type": "string", "enum": ["ok", "error"]},
                "data": {"anyOf": [dict(self.result), {"type": "null"}]},
                "error": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "code": {"type": "string"},
            },
            "required": ["status", "data", "error"],
        }

    def call(self, caller: Caller, given: Mapping[str, Any]) -> Answer:
        """Check rights and arguments, then do it. Raises `LedgerError`."""
        for verb in self.verbs:
            caller.principal.require(verb)
        if not self.may(caller.principal):
            raise ToolProblem(NOT_PERMITTED, "This tells of everybody, and the token is for some.")
        try:
            arguments = self.arguments.model_validate(given)
        except ValidationError as problem:
            raise ToolProblem(INVALID_PARAM, _said(problem, self.arguments)) from None
        return self.function(caller, **dict(arguments))


@cache
def _schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """Asked for by the protocol's package at every call; making it takes longer than many tools."""
    schema = arguments.model_json_schema()
    schema.pop("title", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)
    return schema


@cache
def _has_headers(arguments: type[BaseModel]) -> bool:
    return X_MCP_HEADER_KEY in str(_schema_of(arguments))


TOOLS: dict[str, Tool] = {}


def made(
    function: Function,
    *verbs: str,
    result: Mapping[str, Any],
    name: str = "",
    reads: bool = False,
    destroys: bool = False,
    repeats: bool = False,
    of_everybody: bool = False,
) -> Tool:
    """The tool that a function is: its name, its docstring and its arguments are the tool's."""
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for argument, parameter in list(inspect.signature(function).parameters.items())[1:]:
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[argument] = (hints[argument], default)
    name = name or function.__name__
    return Tool(
        name=name,
        description=" ".join((function.__doc__ or "").split()),
        function=function,
        verbs=verbs,
        arguments=create_model(
            f"{name} arguments",
            __config__=ConfigDict(
                extra="forbid", hide_input_in_errors=True, str_max_length=_LONGEST
            ),
            **fields,
        ),
        result=result,
        reads=reads,
        destroys=destroys,
        repeats=repeats or reads,
        of_everybody=of_everybody,
    )


def tool(*verbs: str, **about: Any) -> Callable[[Function], Function]:
    """Make a tool of a function, as `made` does, and list it."""

    def add(function: Function) -> Function:
        of = made(function, *verbs, **about)
        TOOLS[of.name] = of
        return function

    return add


def done(data: Answer) -> Answer:
    """The envelope of what was done."""
    return {"status": "ok", "data": data, "error": None}


def failed(code: str, error: str) -> Answer:
    """The envelope of what was not done."""
    return {"status": "error", "data": None, "error": error, "code": code}


def refusal(problem: LedgerError, given: Mapping[str, Any]) -> Answer:
    """The envelope of an error of ours: its code, and its sentence without what was sent."""
    if isinstance(problem, ToolProblem):  # written here, of nothing that was sent
        return failed(problem.code, problem.detail)
    return failed(*told(problem, given))


def _said(problem: ValidationError, model: type[BaseModel]) -> str:
    """Which arguments are wrong, and how, without what was sent."""
    wrong = []
    for each in problem.errors(include_url=False, include_context=False, include_input=False):
        name = str(each["loc"][0]) if each["loc"] else ""
        if name in model.model_fields:
            wrong.append(f"{name}: {each['msg']}")
        else:
            wrong.append("There is an argument that this tool does not have")
    known = ", ".join(model.model_fields) or "none"
    return f"{'. '.join(dict.fromkeys(wrong))}. Its arguments: {known}."


def schema(*names: str, **typed: Any) -> dict[str, Any]:
    """JSON Schema of an object that has at least these fields."""
    plain: dict[str, Any] = {name: {} for name in names}
    fields = plain | {name: _typed(kind) for name, kind in typed.items()}
    return {"type": "object", "properties": fields, "required": list(fields)}


def _typed(kind: Any) -> dict[str, Any]:
    names = {
        int: "integer",
        float: "number",
        str: "string",
        bool: "boolean",
        list: "array",
        dict: "object",
    }
    return kind if isinstance(kind, dict) else {"type": names[kind]}


Share = Field(ge=0, le=1)
