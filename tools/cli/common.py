"""The Typer app: what all commands share. Exit codes, errors, how a ledger is opened."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import gc
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from beliefledger.ledger.errors import (
    CallerMistake,
    InvalidQuery,
    InvalidTurn,
    LedgerError,
    NotPermitted,
    UnknownMemory,
)
from beliefledger.settings import DEFAULT_LEDGER, LEDGER, TENANT, TENANTS, Settings

if TYPE_CHECKING:
    from beliefledger.memory import MemoryLedger
    from beliefledger.reading.queries import Snapshot
    from beliefledger.tenants import TenantRoute, TenantTable

_TENANTS, _ROUTE = "beliefledger.tenants", "beliefledger.route"
"""What the context carries beside the ledger's place."""
REFUSED_INPUT = 1
USAGE = 2
COULD_NOT = 3
INTERRUPTED = 130

PUT = "Put in"
ASK = "Ask"
TAKE = "Take back"
KEEP = "The ledger"
MORE = "More, each with a help page of its own (beliefledger COMMAND --help)"

ORDER = {
    "beliefledger": (
        "init remember store ingest process import search context beliefs events history explain"
        " decisions why-not turn diff subjects reasons update correct revoke erase status serve"
        " worker mcp demo conflicts entities teams types policy consent recalls erasure export"
        " schema"
        " audit proof vectors token webhooks relay config tenant ops"
    ),
    "conflicts": "list loops resolve review",
    "entities": "list show related alias apart merge split",
    "tenant": "list show move",
    "teams": "add remove list members",
    "types": "list show add backfill split retire",
    "policy": "show list diff validate adopt",
    "consent": "grant list withdraw",
    "recalls": "list show replay",
    "erasure": "preview list certificate acknowledge write-off register hold",
    "hold": "place list lift",
    "export": "person events schema",
    "schema": "events",
    "audit": "counts replay checklist calibrate",
    "proof": "verify checkpoint inclusion consistency signing-key witness",
    "signing-key": "show rotate",
    "witness": "serve key add-log remove-log show",
    "config": "check",
    "token": "create list revoke",
    "webhooks": "register list rotate remove dead-letters redeliver replay",
    "relay": "webhooks nats",
    "vectors": "status build migrate rollback drop",
    "ops": (
        "schedule project backup restore copy upgrade rebuild extract retry decay consolidate"
        " tail vault"
    ),
    "vault": "rotate restore restored",
}
"""In which order each help page lists its commands: as a newcomer meets them."""

Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")
]


def _named(subject: str | None) -> str | None:
    """A subject as given; an empty one is a variable that was not set."""
    if subject is not None and not subject.strip():
        raise typer.BadParameter("it is empty: name whom it is about, as in --subject ana.")
    return subject


_SUBJECT = typer.Option("--subject", "-s", help="Whom it is about.", callback=_named)
Subject = Annotated[str | None, _SUBJECT]
TheSubject = Annotated[str, _SUBJECT]
By = Annotated[str, typer.Option("--by", help="Who decides this; the name goes on record.")]
AuditReason = Annotated[str | None, typer.Option(help="Why an auditor looks; goes on record.")]
AsOf = Annotated[
    str | None,
    typer.Option(
        metavar="POSITION|TIME",
        help="As was known then. Only digits are a position; a date is its first moment.",
    ),
]
MinConfidence = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="At least this sure; else the policy's recall_floor."),
]
Metadata = Annotated[
    str | None,
    typer.Option("--metadata", metavar="JSON", help='Kept beside it: an object, as {"ticket": 7}.'),
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="At most so many, and where the rest begins.")
]
After = Annotated[
    str | None,
    typer.Option("--after", metavar="CURSOR", help="Go on behind the page that ended with this."),
]
InSession = Annotated[str | None, typer.Option("--session", help="Only what was said in it.")]
ToAgent = Annotated[str | None, typer.Option("--agent", help="Only what this agent was told.")]
OfType = Annotated[str | None, typer.Option("--type", help="Only this type, e.g. preference.")]
OnTopic = Annotated[str | None, typer.Option("--topic", help="Only this topic of the policy.")]
Beside = Annotated[
    str | None,
    typer.Option("--metadata", metavar="JSON", help='Only with this beside it: {"ticket": 7}.'),
]
Reader = Annotated[
    str | None,
    typer.Option(
        "--reader",
        metavar="NAME",
        help="The person who asks and sees what they may; else the subject.",
    ),
]
SaidIn = Annotated[str | None, typer.Option(help="Only what was said in this session.")]
MaybeBy = Annotated[str | None, typer.Option("--by", help="Who does this; goes on record.")]
Note = Annotated[str | None, typer.Option("--note", help="A remark for the record.")]


def fail(message: str, code: int = COULD_NOT) -> NoReturn:
    """End with one line on standard error."""
    typer.echo(f"beliefledger: {without_passwords(message)}", err=True)
    raise typer.Exit(code)


def moment(as_of: str | None) -> int | str | None:
    """What `--as-of` says: a position where it is only digits, else a time."""
    return int(as_of) if as_of is not None and as_of.isdecimal() else as_of


def seen_at(memory: MemoryLedger, as_of: str | None) -> Snapshot | None:
    """The ledger as it was when `--as-of` says; None for now."""
    then = moment(as_of)
    return None if then is None else memory.as_of(then)


def json_object(text: str | None) -> dict[str, Any]:
    """What `--metadata` says. Raises `typer.BadParameter` for what is no JSON object."""
    from beliefledger import arguments
    from beliefledger.ledger.errors import InvalidQuery

    try:
        return {} if text is None else arguments.json_object("metadata", text)
    except InvalidQuery as problem:
        raise typer.BadParameter(str(problem)) from problem


def named(identifier: str | None) -> str | None:
    """An id as typed. Raises `typer.BadParameter` for an empty one, as every id begins with it."""
    if identifier is not None and not identifier.strip():
        raise typer.BadParameter("an id is not empty; its first characters do.")
    return identifier


def note(message: str) -> None:
    """Tell a person something, beside the answer."""
    typer.echo(without_passwords(message), err=True)


def note_nobody(memory: MemoryLedger, subject: str | None, answer: Sequence[object]) -> bool:
    """Say so where a list is empty because nobody is known by that name: it may be mistyped.
    Whether it was said."""
    nobody = subject is not None and not answer and memory.audit.began(subject) is None
    if nobody:
        note(f"Nothing is known about {subject!r}.")
    return nobody


def note_empty(
    memory: MemoryLedger,
    subject: str | None,
    answer: Sequence[object],
    then: Snapshot | None,
    done: str,
) -> bool:
    """Say so where an answer is empty because nothing was recorded by then, or nobody is known by
    that name. `done` is what nothing was. Whether it was said."""
    if answer:
        return False
    if then is None:
        return note_nobody(memory, subject, answer)
    began, whom = memory.audit.began(subject), f" about {subject}" if subject else ""
    if began is None:
        note(f"Nothing was ever recorded{whom}.")
    elif then.recorded_at < began.isoformat():
        first = f"{began:%Y-%m-%d %H:%M}"
        note(f"Nothing was recorded{whom} before {first} UTC, so nothing was {done} then.")
    else:
        return False
    return True


def note_without(
    given: Mapping[str, object], answer: Sequence[object], ask: Callable[[], Sequence[object]]
) -> None:
    """Say how much there is without the options that were `given`, where nothing is with them."""
    named = [f"--{name}" for name, value in given.items() if value]
    if named and not answer:
        left = len(ask())
        if left:
            there = "there is 1" if left == 1 else f"there are {left:,}"
            note(f"Without {', '.join(named)} {there}.")


def without_passwords(text: str) -> str:
    """Text in which URLs may be quoted as somebody typed them."""
    text = re.sub(r"\S+", _without_password, text)
    return re.sub(r"(password=)[^&\s]+", r"\1…", text)


def _without_password(word: re.Match[str]) -> str:
    before, at, host = word[0].rpartition("@")
    user = re.search(r"\w://[^\s:/?#@]*:", before) if at else None
    return word[0] if user is None else f"{before[: user.end()]}…@{host}"


WHO = "Who does this goes on record: say --by NAME."

_UsageError: Any = typer.BadParameter.__base__
"""Click's, or that of the click which newer versions of Typer bring along."""


class Noun(TyperGroup):
    """A group of commands. Its help lists them in `ORDER`."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        order = ORDER[self.name or ""].split()
        return sorted(super().list_commands(ctx), key=order.index)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands under the headings of their panels, each with what it does."""
        listed: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                heading = getattr(command, "rich_help_panel", None)
                does = (command.short_help or command.help or "").strip().split("\n\n")[0]
                listed.setdefault(heading if isinstance(heading, str) else "Commands", []).append(
                    (name, " ".join(does.split()))
                )
        for heading, rows in listed.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


class Commands(Noun):
    """Runs a command and turns what went wrong into a sentence and an exit code."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Takes `--ledger` after the command too."""
        end = args.index("--") if "--" in args else len(args)
        first: list[str] = []
        others: list[str] = []
        rest = iter(args[:end])
        for word in rest:
            if word == "--ledger":
                first += [word, *([value] if (value := next(rest, None)) is not None else [])]
            else:
                (first if word.startswith("--ledger=") else others).append(word)
        args = [*first, *others, *args[end:]]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Raises `typer.Exit` for every error that is ours."""
        try:
            answer = super().invoke(ctx)
            sys.stdout.flush()
        except LedgerError as problem:
            fail(sentence(problem), USAGE if _malformed(problem) else COULD_NOT)
        except _UsageError as problem:
            if (
                getattr(getattr(problem, "param", None), "name", None) == "by"
                and not problem.message
            ):
                raise _UsageError(WHO, problem.ctx) from None
            said = without_passwords(problem.message)  # it quotes what was typed
            if said == problem.message:
                raise
            raise _UsageError(said, problem.ctx) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _leave_the_pipe()
            raise typer.Exit(INTERRUPTED) from None
        except OSError as problem:
            _leave_the_pipe()
            fail(f"Could not read or write: {problem}.")
        return answer


def sentence(problem: LedgerError) -> str:
    """What happened and what to do, on one line."""
    text = str(problem)
    if isinstance(problem, CallerMistake) and problem.detail:
        text = problem.detail
        if isinstance(problem, UnknownMemory) and "beliefledger " not in text:
            text += " List what there is: beliefledger beliefs, decisions."
    return " ".join(text.split())


def _malformed(problem: LedgerError) -> bool:
    """Whether an argument itself makes no sense here, whatever the ledger holds."""
    unknown = isinstance(problem, NotPermitted) and " is not a " in problem.detail
    return (
        unknown or isinstance(problem, InvalidTurn | InvalidQuery) or type(problem) is CallerMistake
    )


def _leave_the_pipe() -> None:
    """The reader went away: what is still buffered must not be written at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


app = typer.Typer(
    name="beliefledger",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # to load Rich takes longer than all else that help needs
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Memory for AI agents as belief under audit: what was said, what is believed, and why.

    Start here, in this order:

      beliefledger demo

      beliefledger remember --subject ana --consent consent "I live in Lisbon."

      beliefledger beliefs --subject ana
    """,
    epilog="Exit codes: 0 done, 1 done with refused input, 2 usage, 3 could not, 130 interrupted.",
)


def noun(name: str, what: str, *, within: typer.Typer | None = None) -> typer.Typer:
    """A group of commands under a noun, at the top or within another. `what` says what for."""
    made = typer.Typer(cls=Noun, no_args_is_help=True, help=what)
    if within is None:
        app.add_typer(made, name=name, rich_help_panel=MORE)
    else:
        within.add_typer(made, name=name)
    return made


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"beliefledger {version('beliefledger')}")
        raise typer.Exit


@app.callback()
def common(
    ctx: typer.Context,
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger",
            "-l",
            metavar="DIR|URL",
            help="The ledger's directory, or postgresql://user@host/database."
            f" Else ${LEDGER}, else {DEFAULT_LEDGER}.",
            show_default=False,
        ),
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant",
            metavar="NAME",
            help=f"Whose ledger, by the table of tenants, instead of --ledger. Else ${TENANT}.",
            show_default=False,
        ),
    ] = None,
    tenants: Annotated[
        Path | None,
        typer.Option(
            "--tenants",
            metavar="FILE",
            help=f"The table of tenants. Else ${TENANTS}.",
            show_default=False,
        ),
    ] = None,
    version: Annotated[  # noqa: ARG001 (its callback did it)
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    settings = Settings.read()
    ctx.meta[_TENANTS] = tenants or settings.tenants
    if ledger and tenant:
        fail("--ledger and --tenant each say which ledger is meant: give one of them.", USAGE)
    name = None if ledger else tenant or settings.tenant
    ctx.obj = ledger or settings.ledger
    if name is not None:
        from beliefledger.tenants import TenantRoute

        route = ctx.meta[_ROUTE] = TenantRoute(table_of(ctx), name)
        ctx.obj = route.ledger


def table_of(ctx: typer.Context) -> TenantTable:
    """The table of tenants that the command line names."""
    from beliefledger.tenants import TenantTable

    file = ctx.meta[_TENANTS]
    if file is None:
        fail(f"Name the table of tenants with --tenants FILE or {TENANTS}.", USAGE)
    return TenantTable(file)


def route_of(ctx: typer.Context) -> TenantRoute | None:
    """The way to the ledger of the tenant that the command line names, if it names one."""
    route: TenantRoute | None = ctx.meta.get(_ROUTE)
    return route


@contextmanager
def opened(
    ctx: typer.Context,
    *,
    create: bool = False,
    witnessed: bool = True,
    consent: str | None = None,
) -> Iterator[MemoryLedger]:
    """The ledger that the command line names. Only with `create` is one made, and only without
    `witnessed` one opened that its witness refuses. `consent` is the basis that is granted at each
    subject's first turn.

    A key file that was made with it is told of, once, on standard error.
    """
    first = "beliefledger.opener" not in sys.modules
    from beliefledger.opener import open_memory
    from beliefledger.opening.place import NoLedger, is_server, place_of

    if first:
        gc.freeze()  # what was loaded stays, and to look through it once takes a tenth of a command
    place = str(ctx.obj)
    with ExitStack() as closing:
        try:
            memory = closing.enter_context(
                open_memory(place, create=create, witnessed=witnessed, consent=consent)
            )
        except NoLedger:
            no_ledger(place)
        if memory.made_key_file is not None:
            where = "database" if is_server(place_of(place)) else "directory"
            note(
                f"A new master key is in {memory.made_key_file}. Without it nothing here can be"
                f" read: keep a copy, apart from the backups of this {where}."
            )
        yield memory


def no_ledger(place: str) -> NoReturn:
    """End, saying how to make a ledger where there is none."""
    from beliefledger.opening.place import is_server, place_of

    told = place_of(place)
    if is_server(told):
        fail(
            f"There is no ledger at {told}: run `beliefledger init` with its URL, as the database's"
            " owner."
        )
    fail(
        f"There is no ledger at {place}. Make one: beliefledger --ledger {shlex.quote(place)} init"
    )
