"""Commands about the rules: policy show, list, diff, validate, adopt."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    USAGE,
    After,
    By,
    Json,
    Limit,
    fail,
    named,
    noun,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.curation.policy import AdoptedPolicy, PolicyDifference

policy = noun("policy", "The rules by which the gate decides what may be believed, as a file.")
PolicyFile = Annotated[
    Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="A policy in YAML.")
]


@policy.command("show")
def policy_show(
    ctx: typer.Context,
    digest: Annotated[
        str | None,
        typer.Argument(
            metavar="[DIGEST]",
            callback=named,
            help="One that was in force, by how its digest begins; else the one that is.",
        ),
    ] = None,
    default: Annotated[
        bool, typer.Option("--default", help="The default one with its comments, to start from.")
    ] = False,
    json: Json = False,
) -> None:
    """The policy in force, or one that was, in YAML."""
    if default and digest is not None:
        fail("policy show: leave out --default, or the digest.", USAGE)
    if default:
        from importlib import resources

        from beliefledger.gate.policy import default_policy

        text = resources.files("beliefledger.gate").joinpath("policy.yaml").read_text("utf-8")
        chosen = default_policy()
    else:
        import yaml

        with opened(ctx) as memory:
            chosen = memory.policy.get(digest or "current")
        fields = chosen.model_dump(mode="json")
        text = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)
    if json:
        output.write_json({"digest": chosen.digest(), "policy": chosen})
    else:
        typer.echo(text.rstrip())


@policy.command("list")
def policy_list(
    ctx: typer.Context,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """Every policy that came into force, oldest first: when, and by whom."""
    from beliefledger.pages import Page

    with opened(ctx) as memory:
        answer = memory.policy.list(limit=limit, after=after)
    if json:  # the policy itself is what `policy show` is for
        told = (each.model_dump(mode="json", exclude={"policy"}) for each in answer)
        output.show_page(Page(told, answer.next), json, _policies, limit=limit, after=after)
    else:
        output.show_page(answer, json, _policies, limit=limit, after=after)


def _policies(answer: list[AdoptedPolicy]) -> Iterator[Any]:
    made = output.table(
        "digest",
        "name",
        ("adopted", output.FIXED),
        "by",
        ("position", output.RIGHT),
        ("in force", output.FIXED),
    )
    for each in answer:
        made.add_row(
            output.short(each.digest),
            output.cell(each.name),
            output.when(each.adopted_at),
            output.cell(each.by),
            f"{each.position:,}",
            "yes" if each.in_force else "",
        )
    yield made


@policy.command("diff")
def policy_diff(
    ctx: typer.Context,
    before: Annotated[
        str,
        typer.Argument(metavar="A", callback=named, help="How its digest begins, or default."),
    ],
    after: Annotated[
        str,
        typer.Argument(metavar="[B]", callback=named, help="Another one; else the one in force."),
    ] = "current",
    json: Json = False,
) -> None:
    """What policy B says otherwise than A, field by field."""
    with opened(ctx) as memory:
        answer = memory.policy.diff(before, after)
    output.show(answer, json, _differences)


def _differences(answer: tuple[PolicyDifference, ...]) -> Iterator[Any]:
    if not answer:
        yield "They say the same."
        return
    made = output.table("field", "A", "B")
    for each in answer:
        values = ("–" if value is None else str(value) for value in (each.before, each.after))
        made.add_row(output.cell(each.field), *map(output.cell, values))
    yield made


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
