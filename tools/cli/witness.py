"""Commands of a witness, a process of its own: proof witness serve, key, add-log …"""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    COULD_NOT,
    Json,
    fail,
    note,
    noun,
)
from beliefledger.tools.cli.proof import proof

if TYPE_CHECKING:
    from beliefledger.ledger.proofs.notes import Verifier
    from beliefledger.tools.witness import Store


DEFAULT_STORE = Path("./beliefledger-witness")
At = Annotated[
    Path,
    typer.Option("--store", metavar="DIR", file_okay=False, help="Where it keeps what it knows."),
]
witness = noun(
    "witness", "A process of somebody else's that cosigns the checkpoints of ledgers.", within=proof
)


def _check_server() -> None:
    """End where the extra is not installed by which a witness is served over HTTP."""
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        fail("A witness needs an extra: pip install 'beliefledger[server]'.")


@witness.command("serve")
def witness_serve(
    store: At = DEFAULT_STORE,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where to listen; port 0 takes any.")
    ] = "127.0.0.1:8790",
    log: Annotated[
        list[str] | None,
        typer.Option(metavar="VKEY", help="A log to know, by its verifier key; again for more."),
    ] = None,
    json: Json = False,
) -> None:
    """Cosign checkpoints of the logs that are known, until it is told to end."""
    _check_server()
    from beliefledger.tools import witness as witnesses
    from beliefledger.tools import witness_server

    host, port = _address(listen)
    verifiers = list(map(_verifier, log or ()))
    opened = _made(store)
    for verifier in verifiers:
        opened.trust(verifier)
    at, cosigner = witnesses.Store.open(store)
    known = at.logs()  # a file that is spoilt is told of now, not at the first request
    listening = witness_server.listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    answer = {
        "url": f"http://{shown}:{listening.getsockname()[1]}",
        "verifier_key": cosigner.vkey,
        "logs": [each.origin for each in known],
    }
    if json:
        output.write_json(answer, lines=True)
    else:
        typer.echo(f"Listening at {answer['url']}, for {output.count(len(known), 'log')}.")
        typer.echo(f"Cosignatures are known by {cosigner.vkey}")
    witness_server.serve(witnesses.Witness(at, cosigner, tell=_tell), listening)


@witness.command("key")
def witness_key(store: At = DEFAULT_STORE, json: Json = False) -> None:
    """The verifier key that its cosignatures are known by."""
    _check_server()
    from beliefledger.tools.witness import Store

    _store, cosigner = Store.open(store)
    if json:
        output.write_json({"verifier_key": cosigner.vkey})
    else:
        typer.echo(cosigner.vkey)


@witness.command("add-log")
def witness_add_log(
    vkey: Annotated[
        str,
        typer.Argument(
            help="The log's verifier key; `beliefledger proof signing-key show` has it."
        ),
    ],
    store: At = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Know a log, or one more key of a log; a witness that is running knows it at once."""
    verifier = _verifier(vkey)
    added = _made(store).trust(verifier)
    output.show(
        {"origin": verifier.name, "verifier_key": verifier.vkey, "added": added},
        json,
        lambda told: [
            output.cell(f"{told['origin']} is known{'' if added else ' already'}, by this key.")
        ],
    )


@witness.command("remove-log")
def witness_remove_log(
    vkey: Annotated[str, typer.Argument(help="The verifier key, as in `proof witness show`.")],
    store: At = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Know a key of a log no longer, one that leaked or is not used any more; what was cosigned
    of the log stays known."""
    _check_server()
    from beliefledger.tools.witness import Store

    verifier = _verifier(vkey)
    removed = Store.open(store)[0].distrust(verifier)
    output.show(
        {"origin": verifier.name, "verifier_key": verifier.vkey, "removed": removed},
        json,
        lambda told: [
            output.cell(
                f"{told['origin']} is no longer known by this key."
                if removed
                else f"{told['origin']} was not known by this key."
            )
        ],
    )


@witness.command("show")
def witness_show(store: At = DEFAULT_STORE, json: Json = False) -> None:
    """What it knows of each log, and what it keeps as evidence against it."""
    _check_server()
    from beliefledger.tools.witness import Store

    opened, cosigner = Store.open(store)
    logs = [_told(opened, known) for known in opened.logs()]
    if json:
        output.write_json({"verifier_key": cosigner.vkey, "logs": logs})
    else:
        _show(cosigner.vkey, logs)
    if any(log["split_view"] for log in logs):
        raise typer.Exit(COULD_NOT)


def _told(store: Store, known: Any) -> dict[str, Any]:
    from beliefledger.ledger.times import iso

    evidence = store.evidence(known.origin)
    return {
        "origin": known.origin,
        "verifier_keys": [each.vkey for each in known.verifiers],
        "retired": dict(known.retired),
        "size": known.size,
        "root": known.root.hex(),
        "cosigned_at": None if known.cosigned_at is None else iso(known.cosigned_at),
        "checkpoint": None if known.checkpoint is None else known.checkpoint.text,
        "split_view": any(each.kind == "split view" for each in evidence),
        "evidence": [
            {
                "kind": each.kind,
                "size": each.size,
                "seen_at": iso(each.seen_at),
                "cosigned": each.cosigned,
                "submitted": each.submitted,
                "old": each.old,
                "proof": each.proof,
                "file": str(each.file),
            }
            for each in evidence
        ],
    }


def _show(vkey: str, logs: list[dict[str, Any]]) -> None:
    """Keys and files are lines to copy from, which are never broken."""
    out = output.console()
    out.print(output.cell(f"Cosignatures are known by {vkey}"), soft_wrap=True)
    made = output.table(
        "log", ("size", output.RIGHT), "root", ("cosigned, UTC", output.FIXED), "evidence"
    )
    for each in logs:
        against = output.count(len(each["evidence"]), "piece") if each["evidence"] else "none"
        made.add_row(
            output.cell(each["origin"]),
            f"{each['size']:,}",
            output.short(each["root"]),
            output.when(each["cosigned_at"]),
            output.cell(against, "red" if each["split_view"] else ""),
        )
    out.print(made)
    for log in logs:
        for each in log["evidence"]:
            split = each["kind"] == "split view"
            what = (
                f"{log['origin']} signed another history at {each['size']:,}"
                if split
                else f"{log['origin']} at {each['size']:,} came without a proof that it goes on"
            )
            seen = f"{output.when(each['seen_at'])}  {each['kind']}: {what}"
            out.print(output.cell(seen, "red" if split else "yellow"))
            out.print(output.cell(f"  {each['file']}"), soft_wrap=True)


def _made(store: Path) -> Store:
    _check_server()
    from beliefledger.tools.witness import KEY_FILE, Store

    if Store.make(store):
        note(
            f"A new witness is at {store}. Its key is in {store / KEY_FILE}, readable by you alone:"
            " keep the directory apart from the ledgers that it watches, and never set it back."
        )
    return Store.open(store)[0]


def _verifier(vkey: str) -> Verifier:
    from beliefledger.ledger.proofs.notes import NoteInvalid, Verifier

    try:
        return Verifier.parse(vkey)
    except NoteInvalid as problem:
        raise typer.BadParameter(str(problem)) from None


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise typer.BadParameter(f"{text!r} is no HOST:PORT.")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _tell(said: str) -> None:
    note(f"beliefledger proof witness: {said}")
