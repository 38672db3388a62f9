"""Commands that keep a ledger safe: ops backup, restore, vault."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    By,
    Json,
    no_ledger,
    note,
    noun,
    opened,
)
from beliefledger.tools.cli.ops import ops

vault = noun(
    "vault", "The vault of keys: put it under a new master key, or restore it.", within=ops
)


@ops.command("backup")
def backup(
    ctx: typer.Context,
    destination: Annotated[
        Path, typer.Argument(metavar="DEST", help="An empty directory, or an earlier backup.")
    ],
    vault_destination: Annotated[
        Path | None,
        typer.Option("--vault", metavar="DEST2", help="Also back up the vault, to here."),
    ] = None,
    json: Json = False,
) -> None:
    """Back up history and bodies, encrypted as they are; the vault only if asked, and apart."""
    from beliefledger.backups import backup
    from beliefledger.opening.place import NoLedger

    try:
        with output.progress("backing up") as progress:
            done = backup(str(ctx.obj), destination, vault=vault_destination, progress=progress)
    except NoLedger:
        no_ledger(str(ctx.obj))

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(
            f"{destination} holds {output.count(done.position, 'event')},"
            f" {done.with_body:,} with a body; {done.already:,} were there before."
        )
        if done.removed:
            yield f"{output.count(done.removed, 'body', 'bodies')} that were erased since went."
        if not done.signed:
            yield "No checkpoint came along: nothing here was ever signed."
        if done.keys is None:
            yield "It has no key: without the vault nothing in it can be read."
        else:
            yield output.cell(
                f"{vault_destination} holds {output.count(done.keys, 'key')}, under the master"
                " key, which is in neither: keep all three apart."
            )

    told = {"destination": str(destination), **asdict(done)}
    told["vault"] = None if vault_destination is None else str(vault_destination)
    output.show(told, json, page)


@ops.command("restore")
def restore(
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="What `ops backup` made.")],
    destination: Annotated[
        str, typer.Argument(metavar="DEST", help="A directory or a URL where no log is.")
    ],
    vault_source: Annotated[
        Path | None,
        typer.Option("--vault", metavar="BACKUP2", help="Restore this backup of the vault, too."),
    ] = None,
    json: Json = False,
) -> None:
    """Put a backup in the place of a ledger. Whoever was erased since stays erased."""
    from beliefledger.backups import restore
    from beliefledger.opening.place import place_of

    with output.progress("restoring") as progress:
        done = restore(source, destination, vault=vault_source, progress=progress)
    place = str(place_of(destination))

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(
            f"{place} holds {output.count(done.position, 'event')} of {source},"
            f" {done.with_body:,} with a body."
        )
        if done.withheld:
            yield output.cell(
                f"{output.count(done.withheld, 'body', 'bodies')} did not come back: of"
                f" {output.count(done.people, 'subject')} erased as a whole, and"
                f" {output.count(done.content, 'event')} erased of the living."
            )
        if done.head > done.position:
            yield output.cell(
                f"What was erased after the backup is on record again: positions"
                f" {done.position + 1:,} to {done.head:,}."
            )
        if done.unheard:
            yield output.cell(
                f"The vault knows {output.count(done.unheard, 'subject')} of whom this log has"
                " nothing: it is newer than the backup."
            )
        yield from map(output.cell, done.warnings)

    output.show({"source": str(source), "destination": place, **asdict(done)}, json, page)


@vault.command("rotate")
def rotate(
    ctx: typer.Context,
    by: By,
    new_key_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the new key goes, if not in the old one's file."),
    ] = None,
    keep_old: Annotated[
        bool, typer.Option("--keep-old", help="Keep the old key beside its file.")
    ] = False,
    json: Json = False,
) -> None:
    """Put every key in the vault under a new master key, and let go of the old one."""
    from beliefledger.opening.place import NoLedger
    from beliefledger.operations.rotation import rotate

    try:
        done = rotate(str(ctx.obj), new_key_file=new_key_file, keep_old=keep_old, by=by)
    except NoLedger:
        no_ledger(str(ctx.obj))
    if done.to_set is not None:
        unset = f"unset {done.to_unset}, and " if done.to_unset else ""
        note(f"From now on: {unset}set {done.to_set} to {done.key_file}.")

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(
            f"{output.count(done.subjects, 'key')} went from the master key {done.previous} to"
            f" {done.key}, which is in {done.key_file}."
        )
        if done.retired is not None:
            yield output.cell(
                f"The old key is kept in {done.retired}: with it, backups of the vault from before"
                " can still be opened."
            )
        else:
            yield output.cell(
                "Backups of the vault from before open nothing any more, once no copy of the old"
                " key is left."
            )
        if done.left is not None:
            yield output.cell(done.left)

    output.show(done, json, page)


@vault.command("restore")
def restore_vault(
    ctx: typer.Context,
    source: Annotated[
        Path, typer.Argument(metavar="BACKUP2", help="What `ops backup --vault` made.")
    ],
    json: Json = False,
) -> None:
    """Take an older backup of the vault in. Whoever was erased since stays erased."""
    from beliefledger.backups import restore_vault
    from beliefledger.opening.place import NoLedger

    try:
        done = restore_vault(str(ctx.obj), source)
    except NoLedger:
        no_ledger(str(ctx.obj))

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(
            f"{output.count(done.keys, 'key')} came back; {output.count(done.erased, 'subject')}"
            f" {'is' if done.erased == 1 else 'are'} erased, and stay so."
        )
        if done.keyless:
            yield output.cell(
                f"{output.count(len(done.keyless), 'subject')} of the log have neither key nor"
                f" tombstone ({done.keyless[0]}): the backup is from before they were registered."
            )

    output.show(done, json, page)


@vault.command("restored")
def restored(ctx: typer.Context, by: By, json: Json = False) -> None:
    """Put on record that the vault was restored by other means than `ops vault restore`."""
    with opened(ctx) as memory:
        done = memory.proofs.record_vault_restored(by=by)

    def page(_answer: Any) -> Iterator[Any]:
        if done:
            yield "It is on record: the vault's register has to go on from what it is now."
        else:
            yield "The vault's register goes on from what the log was told: nothing to record."

    output.show({"restored": done}, json, page)
