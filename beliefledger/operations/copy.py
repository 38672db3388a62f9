"""Copying a ledger between directories and servers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path

from beliefledger.ledger import ledger_copy
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import CallerMistake, KeyMissing, NotPermitted
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.fence import Fence
from beliefledger.ledger.ledger_copy import Copied, Side
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.proofs import keyfile
from beliefledger.ledger.unfinished import Unfinished
from beliefledger.opening.backends import exists, has_vault, open_place
from beliefledger.opening.build import check_witness
from beliefledger.opening.place import (
    KEY_FILE,
    NO_DIRECTORY,
    NoLedger,
    Opened,
    Place,
    place_of,
    shown,
)
from beliefledger.settings import Settings
from beliefledger.times import Progress


@dataclass(frozen=True, slots=True)
class CopiedWhole(Copied):
    """What the copy holds, and how many `vectors` were brought to it, as they are: the people and
    their keys are the same, so none is computed again."""

    vectors: int = 0


@dataclass(frozen=True, slots=True)
class Moving:
    """What a move does beyond a copy. `near` makes the steps that are done once each while the copy
    is near its source; `finish` is called when all is there and the same, with the copy still
    marked as unfinished."""

    tenant: str
    move: str
    near: Callable[[Opened, Opened, Settings], Sequence[Callable[[], None]]]
    finish: Callable[[Opened, Opened, CopiedWhole], None]


def copy(
    source: str | Path,
    destination: str | Path,
    *,
    vault: str | None = None,
    progress: Progress | None = None,
) -> CopiedWhole:
    """Copy a ledger, from and to a directory or a URL; begun again, it goes on where it was.

    The source's vault is the one beside it, else where the environment says; the destination's is
    at `vault`, else where the environment says, else beside it. Both have one master key: a
    directory that has none yet gets the source's.

    Raises `CallerMistake` where one cannot be a copy of the other, `KeyMissing`, and as
    `check_witness` does for the source.
    """
    return copy_over(place_of(source), place_of(destination), vault=vault, progress=progress)


def copy_over(
    src: Place,
    dst: Place,
    *,
    vault: str | None = None,
    progress: Progress | None = None,
    moving: Moving | None = None,
) -> CopiedWhole:
    """As `copy` does, of one that is moved too, where that is meant."""
    settings = Settings.read()
    if is_same(src, dst):
        raise CallerMistake(f"{src} cannot be copied to itself: name another place.")
    if not exists(src):
        raise NoLedger(f"There is no ledger at {src}.")
    from_there = settings_beside(src, settings)
    with ExitStack() as opened:
        read = open_place(src, from_there, create=False)
        close_with(opened, read)
        fence = Fence.read(read.store.unfinished())
        if fence is not None and (moving is None or moving.move != fence.move):
            raise NotPermitted(f"{src}: {fence.told} Copy it from there.")
        if read.signing.tree_if_signed() is not None:
            check_witness(read, from_there)  # what was set back must not become another place's
        key = read.master_key
        file = _key_file(dst, settings, key)
        to_there = replace(settings, master_key=key.key.hex(), vault=vault or settings.vault)
        written = open_place(dst, to_there, create=True, unfinished="complete")
        close_with(opened, written)
        if not isinstance(dst, Path):
            refuse_stranger(written)
        _refuse_other_mark(written, moving)
        mark = Unfinished(
            shown(src),
            None if vault is None else shown(place_of(vault)),
            None if moving is None else moving.tenant,
            None if moving is None else moving.move,
        )

        def begin() -> None:
            written.store.note_unfinished(mark.note)
            if file is not None and not file.exists():
                _keep(key, file)

        near = () if moving is None else moving.near(read, written, to_there)
        done = ledger_copy.copy(side(read), side(written), progress, begin, near)
        if file is not None:
            _bring_signing_key(read, written)
        brought = 0 if moving is not None else bring_vectors(read, written, progress)
        own = {field.name: getattr(done, field.name) for field in fields(done)}
        whole = CopiedWhole(**own, vectors=brought)
        if moving is not None:
            moving.finish(read, written, whole)
        written.store.note_unfinished(None)
    return whole


def settings_beside(place: Place, settings: Settings) -> Settings:
    """The settings by which a ledger finds its own vault. Raises `KeyMissing` where it has none."""
    if has_vault(place):
        return replace(settings, vault=None)
    if settings.vault is None:
        raise KeyMissing(f"{place} has no vault beside it, and the environment names none.")
    return settings


def _refuse_other_mark(written: Opened, moving: Moving | None) -> None:
    """Let nobody complete by a copy what is being moved: it would be written to in two places.

    Raises `NotPermitted`.
    """
    note = written.store.unfinished()
    fence = Fence.read(note)
    if fence is not None:
        raise NotPermitted(f"{written.place}: {fence.told} Name a place where there is no ledger.")
    mark = None if note is None else Unfinished.read(note)
    if mark is not None and mark.move is not None and (moving is None or mark.move != moving.move):
        raise NotPermitted(
            f"{mark.told(shown(written.place))} Or give the move up, and name a place where there"
            " is no ledger."
        )


def is_same(src: Place, dst: Place) -> bool:
    """Whether both are one ledger, however they are written."""
    if isinstance(src, Path) and isinstance(dst, Path):
        same = src.exists() and dst.exists() and src.samefile(dst)
        return same or src.resolve() == dst.resolve()
    if isinstance(src, Path) or isinstance(dst, Path):
        return False
    from beliefledger.opening import postgres  # noqa: PLC0415  only where one is meant

    return postgres.is_same(src, dst)


def bring_vectors(read: Opened, written: Opened, progress: Progress | None) -> int:
    """Bring the vectors that the copy lacks, of everybody who is in it; returns how many."""
    from beliefledger.search.live_index import open_vectors  # noqa: PLC0415  it takes long to load

    if isinstance(read.place, Path) and not (read.place / "views" / "vectors.db").exists():
        return 0  # nobody ever searched
    brought = 0
    with ExitStack() as opened:
        source, copy_ = stores = [open_vectors(side.home()) for side in (read, written)]
        for each in stores:
            opened.callback(each.close)
        subjects = written.vault.subjects(written.tenant)
        for done, subject_ref in enumerate(subjects, 1):
            there = copy_.tags_of(subject_ref)
            for page in source.pages([subject_ref]):
                new = [row for row in page if row[0] not in there]
                copy_.bring(new)
                brought += len(new)
            if progress:
                progress(done, len(subjects))
        copy_.sweep(lambda: written.vault.subjects(written.tenant))
    return brought


def side(opened: Opened) -> Side:
    """What a copy reads from, or writes to."""
    return Side(str(opened.place), opened.store, opened.vault, opened.tenant, opened.signing.tiles)


def _bring_signing_key(read: Opened, written: Opened) -> None:
    """The copy of a directory signs with the same key, which is beside its master key."""
    tree = read.signing.tree_if_signed()
    if tree is None or tree.signer is None or written.signing.tree_if_signed() is None:
        return
    file = written.signing.key_path()
    if not file.exists():
        keyfile.prepare(file, tree.signer)
        keyfile.adopt(file)


def close_with(stack: ExitStack, opened: Opened) -> None:
    """Close it when the stack is left."""
    stack.callback(opened.vault.close)
    stack.callback(opened.store.close)


def _key_file(dst: Place, settings: Settings, key: MasterKey) -> Path | None:
    """Where the master key is kept beside the copy; None when the environment tells it.

    Raises `KeyMissing` when another one is there, or none can be.
    """
    if settings.master_key is not None or settings.master_key_file is not None:
        return None
    if not isinstance(dst, Path):
        raise KeyMissing(f"{NO_DIRECTORY} A copy needs the key of what it is copied from.")
    file = dst / KEY_FILE
    if file.exists() and MasterKey.from_file(file) != key:
        raise KeyMissing(f"{file} is not the master key of what is to be copied there.")
    return file


def _keep(key: MasterKey, file: Path) -> None:
    try:
        key.write(file)
    except OSError as problem:
        raise file_fault(f"The key file {file} cannot be made", problem) from problem


def refuse_stranger(opened: Opened) -> None:
    """Refuse a login that may not write history just as another log has it."""
    from beliefledger.ledger.postgres.store import PostgresEventStore  # noqa: PLC0415  only where one is meant
    from beliefledger.opening import postgres  # noqa: PLC0415

    if isinstance(opened.store, PostgresEventStore):
        postgres.refuse_stranger(opened.store)
