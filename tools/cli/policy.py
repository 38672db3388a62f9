"""Commands about the rules: policy show, validate, adopt."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.app import (
    By,
    Json,
    noun,
    opened,
)

policy = noun("policy", "The rules by which the gate decides what may be believed, as a file.")
PolicyFile = Annotated[
    Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="A policy in YAML.")
]


@policy.command("show")
def policy_show(
    ctx: typer.Context,
    default: Annotated[
        bool, typer.Option("--default", help="The default one with its comments, to start from.")
    ] = False,
    json: Json = False,
) -> None:
    """The policy in force, in YAML."""
    if default:
        from importlib import resources

        from beliefledger.gate.policy import default_policy

        text = resources.files("beliefledger.gate").joinpath("policy.yaml").read_text("utf-8")
        chosen = default_policy()
    else:
        import yaml

        with opened(ctx) as memory:
            chosen = memory.policy.current
        fields = chosen.model_dump(mode="json")
        text = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)
    if json:
        output.write_json({"digest": chosen.digest(), "policy": chosen})
    else:
        typer.echo(text.rstrip())


@policy.command("validate")
def policy_validate(file: PolicyFile, json: Json = False) -> None:
    """Check a policy without putting it in force."""
    from beliefledger.gate.policy import load

    chosen = load(file)
    _told("is a valid policy", chosen.name, chosen.digest(), json=json)


@policy.command("adopt")
def policy_adopt(ctx: typer.Context, file: PolicyFile, by: By, json: Json = False) -> None:
    """Put a policy in force. Later decisions follow it, and name it."""
    with opened(ctx) as memory:
        digest = memory.policy.adopt(file, by=by)
        name = memory.policy.current.name
    _told("is in force", name, digest, json=json)


def _told(what: str, name: str, digest: str, *, json: bool) -> None:
    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(f"{name} {what} (digest {digest[:16]}…).")

    output.show({"name": name, "digest": digest}, json, page)
