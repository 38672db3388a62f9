"""Commands that prove: proof verify, checkpoint, inclusion, consistency, signing-key."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    COULD_NOT,
    By,
    Json,
    note,
    noun,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.answers import (
        SigningKeyAnswer,
    )


Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write it here, not to standard output."),
]
proof = noun(
    "proof", "Proofs that the log was not changed, which anybody can check without the ledger."
)
signing_key = noun("signing-key", "The key that checkpoints are signed with.", within=proof)


@proof.command("verify")
def verify(
    ctx: typer.Context,
    kept: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="A checkpoint, proof or certificate that you kept: the log must go on from it.",
        ),
    ] = None,
    witness_key: Annotated[
        str | None,
        typer.Option(
            metavar="VKEY", help="The witness's key: the last cosigned checkpoint must be by it."
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VKEY",
            help="A verifier key that you were given, once for each: no other key counts.",
        ),
    ] = None,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Make every decision again, too; takes longer.")
    ] = False,
    json: Json = False,
) -> None:
    """Check every event, tile and signature; name the first thing that is wrong."""
    from beliefledger.proofs.proofs import read_checkpoints

    with (
        opened(ctx, witnessed=False) as memory,
        output.progress("verifying") as progress,
    ):
        answer = memory.proofs.verify(
            progress,
            checkpoint=None if kept is None else read_checkpoints(kept),
            witness_key=witness_key,
            keys=key or [],
            decisions=decisions,
        )

    def page(_answer: Any) -> Iterator[Any]:
        if not answer.ok:
            where = "" if answer.position is None else f" at position {answer.position}"
            yield output.cell(f"Wrong{where}: {answer.problem}.", "red")
            return
        yield (
            f"{output.count(answer.events, 'event')} checked, {answer.bodies:,} with a body,"
            f" {answer.destroyed:,} with theirs destroyed: nothing is wrong."
        )
        yield (
            f"The vault's register has {output.count(answer.registered, 'entry', 'entries')}, each"
            " as it was written and with what it is about."
        )
        if answer.checkpoints:
            yield (
                f"{output.count(answer.checkpoints, 'checkpoint')} met; what is up to position"
                f" {answer.signed:,} is as it was signed."
            )
        else:
            yield "No checkpoint was signed yet, so nothing outside vouches for them."
        if decisions:
            yield f"{output.count(answer.decisions, 'decision')} made again, none different."

    output.show({"ok": answer.ok, **output.jsonable(answer)}, json, page)
    if answer.checkpoints and answer.keys == "listed":
        note(
            "The signing key is not here, so that the checkpoints were held against the keys that"
            " lie beside them: give --key with what you were given."
        )
    if not answer.ok:
        raise typer.Exit(COULD_NOT)


def _written(text: str, file: Path | None) -> None:
    """Hand out a file just as it is: its bytes count."""
    if file is None:
        sys.stdout.buffer.write(text.encode())
        return
    file.write_bytes(text.encode())
    note(f"Written to {file}.")


@proof.command("checkpoint")
def checkpoint(ctx: typer.Context, file: Output = None, json: Json = False) -> None:
    """Sign the log as it is now: how many events, and the root of the tree over them."""
    with opened(ctx) as memory:
        answer = memory.proofs.checkpoint()
    if json:
        output.write_json(answer)
    if file is not None or not json:
        _written(answer.text, file)


@proof.command("inclusion")
def inclusion(
    ctx: typer.Context,
    position: Annotated[int, typer.Argument(min=1, help="The event's position in the log.")],
    file: Output = None,
    json: Json = False,
) -> None:
    """That an event is at its position in the log that was signed."""
    with opened(ctx) as memory:
        answer = memory.proofs.inclusion(position)
    if file is not None:
        _written(answer.text(), file)
    if file is None or json:
        _written(answer.text(), None)


@proof.command("consistency")
def consistency(
    ctx: typer.Context,
    old: Annotated[int, typer.Argument(min=1, help="The size of a checkpoint that was kept.")],
    new: Annotated[
        int | None, typer.Argument(min=1, help="That of a later one; else the log as it is now.")
    ] = None,
    file: Output = None,
    json: Json = False,
) -> None:
    """That the log of a new checkpoint begins with the log of an old one, unchanged."""
    with opened(ctx) as memory:
        answer = memory.proofs.consistency(old, new)
    if file is not None:
        _written(answer.text(), file)
    if file is None or json:
        _written(answer.text(), None)


@signing_key.command("show")
def show(ctx: typer.Context, json: Json = False) -> None:
    """The verifier keys by which the checkpoints of this ledger are known."""
    with opened(ctx) as memory:
        answer = memory.proofs.signing_key()
    output.show(answer, json, _keys)


@signing_key.command("rotate")
def rotate(ctx: typer.Context, by: By, json: Json = False) -> None:
    """Sign with a new key from now on; what was signed is known by the one before."""
    with opened(ctx) as memory:
        answer = memory.proofs.rotate_signing_key(by=by)
    output.show(answer, json, _keys)


def _keys(answer: SigningKeyAnswer) -> Iterator[Any]:
    for vkey in answer.verifier_keys:
        yield "In force:" if vkey == answer.verifier_keys[-1] else "Signed before:"
        yield output.whole(vkey)
    yield output.cell(f"Its file: {answer.file}" if answer.file else "There is no place for it.")
    if not answer.here:
        yield output.cell("The key in force is not there: nothing can be signed.", "yellow")
