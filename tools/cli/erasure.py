"""Commands that forget: erase, erasure preview, list, register."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.ledger.errors import LedgerError, NotPermitted, UnknownMemory
from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    TAKE,
    USAGE,
    After,
    By,
    Json,
    Limit,
    Subject,
    app,
    fail,
    named,
    note,
    noun,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.answers import (
        ErasureAnswer,
    )
    from beliefledger.erasure.affected import Dependent, Reached
    from beliefledger.erasure.erasure import ErasureRecord
    from beliefledger.memory import MemoryLedger


SHOWN = 20
"""So many memories of each sort are shown; `--json` has all."""
erasure = noun(
    "erasure",
    "What was erased, with its certificate; what may not be erased yet; who may come back.",
)


OneMemory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="ID",
        callback=named,
        help="Only this memory, and the turns it rests on.",
    ),
]
OneTurn = Annotated[
    str | None,
    typer.Option(
        "--turn", metavar="ID", callback=named, help="Only this turn, and what came of it."
    ),
]
OneSession = Annotated[
    str | None,
    typer.Option(
        "--session", metavar="NAME", help='Only this session; "" for what was said in none.'
    ),
]
Retention = Annotated[
    bool, typer.Option("--retention", help="Only what the policy's retention_days are over of.")
]
Revoked = Annotated[
    bool, typer.Option("--revoked", help="Only what was revoked before the policy's grace.")
]
KnownAs = Annotated[
    list[str] | None,
    typer.Option("--known-as", metavar="NAME", help="What others call them; for each name, again."),
]


@app.command(rich_help_panel=TAKE)
def erase(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(help="Who is to be forgotten, or of whom something.")],
    by: By,
    memory: OneMemory = None,
    turn: OneTurn = None,
    session: OneSession = None,
    retention: Retention = False,
    revoked: Revoked = False,
    known_as: KnownAs = None,
    legal_basis: Annotated[
        str | None,
        typer.Option(help="One of the policy's erasure_bases; the first of them unless told."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", dir_okay=False, help="Write the erasure's certificate there."),
    ] = None,
    json: Json = False,
) -> None:
    """Forget somebody, or something of them: key, words, memories. It cannot be undone."""
    chosen = _chosen("erase", memory, turn, session, retention, revoked, known_as)
    if not by.strip():
        fail("erase: --by is empty: name who erases.", USAGE)
    if certificate is not None and not os.access(certificate.parent, os.W_OK):
        fail(f"erase: {certificate} cannot be written there: name another file.", USAGE)
    with opened(ctx) as ledger:
        basis = _basis(ledger, legal_basis)
        # What is not there may be tried again after somebody finished it: `erase` finds that out.
        with suppress(NotPermitted, UnknownMemory):
            reached = ledger.erasure.preview(subject, **chosen)
            asks = not yes and _something(reached)
            if asks and not sys.stdin.isatty():
                fail(
                    "erase: nobody is there to be asked; say --yes, or look first:"
                    " beliefledger erasure preview.",
                    USAGE,
                )
            if not json:
                output.show(reached, json, lambda _: _preview(ledger, subject, reached))
            if asks:
                _ask(subject, whole=reached.reach == "subject")
        if certificate is not None:
            ledger.proofs.checkpoint()  # a key that cannot sign is told while nothing is gone
        answer = ledger.erase(subject, **chosen, by=by, legal_basis=basis)
        told = None if certificate is None else _certify(ledger, answer, certificate)
    written = certificate if told is None else None
    output.show(answer, json, lambda _: _erased(subject, answer, written))
    if told is not None:
        fail(told)


@erasure.command("preview")
def erasure_preview(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(help="Who would be forgotten, or of whom something.")],
    memory: OneMemory = None,
    turn: OneTurn = None,
    session: OneSession = None,
    retention: Retention = False,
    revoked: Revoked = False,
    known_as: KnownAs = None,
    json: Json = False,
) -> None:
    """What `erase` with the same options would destroy, and what depends on it."""
    chosen = _chosen("erasure preview", memory, turn, session, retention, revoked, known_as)
    with opened(ctx) as ledger:
        looked = ledger.erasure.preview(subject, **chosen)
        output.show(looked, json, lambda _: _preview(ledger, subject, looked))


def _chosen(
    command: str,
    memory: str | None,
    turn: str | None,
    session: str | None,
    retention: bool,
    revoked: bool,
    known_as: list[str] | None,
) -> dict[str, Any]:
    """What of the person is meant: at most one of the options, or the names of a whole one."""
    less = {"memory": memory, "turn": turn, "session": session}
    chosen: dict[str, Any] = {name: given for name, given in less.items() if given is not None}
    chosen |= {
        name: True for name, given in {"retention": retention, "revoked": revoked}.items() if given
    }
    if len(chosen) > 1:
        fail(f"{command}: say one of {', '.join(f'--{name}' for name in chosen)}.", USAGE)
    if chosen and known_as:
        fail(f"{command}: --known-as is for a whole subject, whom others speak of.", USAGE)
    return chosen | ({"known_as": known_as} if known_as else {})


def _basis(ledger: MemoryLedger, given: str | None) -> str:
    try:
        return ledger.erasure.basis(given)
    except NotPermitted as problem:
        raise typer.BadParameter(str(problem), param_hint="--legal-basis") from None


def _ask(subject: str, *, whole: bool) -> None:
    if whole:
        answered = typer.prompt(
            f"Every word of {subject!r} will be destroyed. Type the subject to go on", err=True
        )
        sure = answered == subject
    else:
        sure = typer.confirm("These words will be destroyed for good. Go on?", err=True)
    if not sure:
        fail("Nothing was erased.")


def _something(reached: Reached) -> bool:
    return bool(reached.positions or reached.others) or reached.reach == "subject"


def _certify(ledger: MemoryLedger, answer: ErasureAnswer, file: Path) -> str | None:
    """Write the certificate. What is erased is on record all the same: if it cannot be written,
    that is told."""
    from beliefledger.erasure.certificate import text_of

    if answer.erasure is None:
        note(f"Nothing was erased: there is no certificate, and {file} was not written.")
        return None
    try:
        file.write_text(text_of(ledger.erasure.certificates.issue(answer.erasure)), "utf-8")
    except (OSError, LedgerError) as problem:
        return (
            f"It is erased, and the certificate is not written: {problem} Later:"
            f" beliefledger erasure certificate {answer.erasure[: output.SHORT_ID]} -o FILE."
        )
    return None


def _erased(subject: str, answer: ErasureAnswer, certificate: Path | None) -> Iterator[Any]:
    if answer.erasure is None:
        yield output.cell("Nothing was erased.")
        return
    if answer.already:
        yield output.cell("It was done already, by an earlier try or another process.")
    if answer.reach == "subject":
        yield output.cell(
            f"{subject} is forgotten: the key and {output.count(answer.bodies, 'text')} are"
            f" destroyed. What remains names nobody (reference {answer.subject_ref})."
        )
    else:
        yield output.cell(f"{output.count(answer.bodies, 'text')} of {subject} are destroyed.")
    for other in answer.also:
        yield output.cell(f"With it went what is in erasure {other}.")
    if certificate is not None:
        yield output.cell(f"The certificate of erasure {answer.erasure} is in {certificate}.")
    else:
        from rich.text import Text

        way = f"  beliefledger erasure certificate {answer.erasure}"
        yield output.cell("To certify it:")
        yield Text(way, no_wrap=True, overflow="ignore")


def _preview(ledger: MemoryLedger, subject: str, reached: Reached) -> Iterator[Any]:
    if not _something(reached) and not reached.stays:
        yield output.cell(f"Nothing of {subject} is reached: no words are left, or their time")
        yield output.cell("is not over.")
        return
    if reached.reach == "relation":
        yield output.cell(f"{subject} was erased; what others' records have of them:")
    else:
        for held in (each.why for each in reached.stays if each.what == "everything"):
            yield output.cell(f"Nothing of {subject} goes now: {held}. Once it is lifted:", "bold")
        yield output.cell(f"{_what(subject, reached)}: {_much(reached)} go.")
        yield output.cell(f"By type: {output.tally(reached.counts)}.")
    why = {each.id: each.why for each in reached.depends if each.kind != "loses_evidence"}
    yield from _memories(
        "Memories that go", [(i, said, why.get(i, "")) for i, said in reached.texts.items()]
    )
    yield from _memories(
        "Memories that stay and lose evidence", _lines(reached.depends, {"loses_evidence"})
    )
    for other in reached.others:
        name = ledger.name_of(other.subject_ref)
        yield from _memories(
            f"In what is remembered of {name}: {_much(other)} go",
            _lines(other.depends, {"relation", "consolidated"}),
        )
    stays = [(subject, each) for each in reached.stays] + [
        (str(ledger.name_of(other.subject_ref)), each)
        for other in reached.others
        for each in other.stays
    ]
    made = output.table("of", "what stays", ("", output.RIGHT), "why")
    for whose, each in stays:
        made.add_row(output.cell(whose), each.what, f"{each.count:,}", each.why)
    yield made


def _what(subject: str, reached: Reached) -> str:
    of = "" if reached.of is None else f" {reached.of[: output.SHORT_ID]}"
    return subject if reached.reach == "subject" else f"{subject}, {reached.reach}{of}"


def _much(reached: Reached) -> str:
    return (
        f"{output.count(len(reached.positions), 'text')} of"
        f" {output.count(reached.turns, 'turn')} and"
        f" {output.count(len(reached.memories), 'memory', 'memories')}"
    )


def _lines(depends: Sequence[Dependent], kinds: set[str]) -> list[tuple[str, str, str]]:
    return [(each.id, each.text, each.why) for each in depends if each.kind in kinds]


def _memories(title: str, lines: Sequence[tuple[str, str, str]]) -> Iterator[Any]:
    if not lines:
        return
    made = output.table(("memory", output.FIXED), "says", "because", title=output.words(title))
    for memory_id, says, why in lines[:SHOWN]:
        made.add_row(output.short(memory_id), output.cell(says), output.cell(why))
    yield made
    if len(lines) > SHOWN:
        yield output.cell(f"… and {len(lines) - SHOWN:,} more (erasure preview --json has all).")


@erasure.command("list")
def erasure_list(
    ctx: typer.Context,
    subject: Subject = None,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """What was asked to be erased, of whom, by whom and why, and when it was done."""
    with opened(ctx) as ledger:
        answer = ledger.erasure.list(subject, limit=limit, after=after)
    output.show_page(answer, json, _erasures, limit=limit, after=after)


def _erasures(answer: Sequence[ErasureRecord]) -> Iterator[Any]:
    if not answer:
        yield "Nothing was erased."
        return
    made = output.table(
        ("erasure", output.FIXED),
        "of",
        "reach",
        "basis",
        "by",
        ("requested", output.FIXED),
        ("done", output.FIXED),
        ("texts", output.RIGHT),
    )
    for each in answer:
        made.add_row(
            output.short(each.erasure),
            output.cell(each.subject) if each.subject else output.short(each.subject_ref),
            each.reach,
            output.cell(each.legal_basis),
            output.cell(each.by),
            output.when(each.requested_at),
            output.when(each.completed_at),
            "–" if each.bodies is None else f"{each.bodies:,}",
        )
    yield made


@erasure.command("register")
def erasure_register(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(help="Somebody who was erased.")],
    by: By,
    json: Json = False,
) -> None:
    """Let somebody who was erased be recorded again, as somebody new."""
    with opened(ctx) as memory:
        memory.erasure.register_anew(subject, by=by)

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(f"{subject} can be recorded again.")

    output.show({"subject": subject, "registered": True}, json, page)
