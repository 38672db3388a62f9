"""Which commands a command line needs: to build all of them takes longer than most of them do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from importlib import import_module

import typer
from typer.main import get_command_name
from typer.models import CommandInfo

from beliefledger.settings import completing
from beliefledger.tools.cli.common import app

_TAKE_A_VALUE = frozenset({"--ledger", "-l", "--tenant", "--tenants"})
_HELP = frozenset({"--help", "-h"})

IN = {
    "audit": "audit",
    "beliefs": "beliefs events history explain decisions revoke",
    "certificates erasure holds": "erasure",
    "conflicts": "conflicts",
    "consent": "consent",
    "context": "context",
    "entities": "entities",
    "erasure": "erase",
    "exports": "subjects import export schema",
    "ledger": "init status demo",
    "memories": "store update correct",
    "moments": "diff why-not turn reasons",
    "backups consolidation decay extraction followers ops schedule": "ops",
    "policy": "policy",
    "proof witness": "proof",
    "recalls": "recalls",
    "relays": "relay",
    "search": "search",
    "server": "serve worker mcp config",
    "teams": "teams",
    "tenants": "tenant",
    "tokens": "token",
    "turns": "remember ingest process",
    "types": "types",
    "vectors": "vectors",
    "webhooks": "webhooks",
}
"""By modules: the first words of the commands that they have."""


def needed(arguments: Sequence[str]) -> typer.Typer:
    """The command line with the one command or noun that the arguments begin with; for its own help
    page, with commands and nouns bare. All of it where something else is asked, such as
    completion."""
    word = None if completing() else next(_words(arguments), None)
    for module in _modules_of(word):
        import_module(f"{__package__}.{module}")
    if completing():
        return app
    made = copy(app)
    if word is not None:
        made.registered_commands = [
            each
            for each in app.registered_commands
            if each.callback is not None
            and word == (each.name or get_command_name(each.callback.__name__))
        ]
        made.registered_groups = [each for each in app.registered_groups if each.name == word]
        return made if made.registered_commands or made.registered_groups else app
    if not arguments or _HELP.intersection(arguments):
        made.registered_commands = [_bare(each) for each in app.registered_commands]
        made.registered_groups = []
        for noun in app.registered_groups:
            bare = copy(noun)
            bare.typer_instance = copy(noun.typer_instance)
            assert bare.typer_instance is not None
            bare.typer_instance.registered_commands = []
            bare.typer_instance.registered_groups = []
            made.registered_groups.append(bare)
        return made
    return app


def _modules_of(word: str | None) -> list[str]:
    """Where the command or noun is; all modules where that is not known."""
    there = next((modules for modules, words in IN.items() if word in words.split()), None)
    return ["commands"] if there is None else there.split()


def _bare(command: CommandInfo) -> CommandInfo:
    """The command with what the page tells of it, its name and its help, and no parameters: to
    read those off its signature takes longer than the rest of the page."""
    told = command.callback

    def callback() -> None: ...

    if told is not None:
        callback.__name__, callback.__doc__ = told.__name__, told.__doc__
    bare = copy(command)
    bare.callback = callback
    return bare


def _words(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments that are no options of the command line itself, nor their values."""
    rest = iter(arguments)
    for each in rest:
        if each in _TAKE_A_VALUE:
            next(rest, None)
        elif not each.startswith("-"):
            yield each
