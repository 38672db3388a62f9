"""Copying a ledger between directories and servers."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path

from beliefledger.ledger import ledger_copy
from beliefledger.ledger.errors import CallerMistake, KeyMissing
from beliefledger.ledger.faults import file_fault
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
    settings = Settings.read()
    src, dst = place_of(source), place_of(destination)
    if _is_same(src, dst):
        raise CallerMistake(f"{src} cannot be copied to itself: name another place.")
    if not exists(src):
        raise NoLedger(f"There is no ledger at {src}.")
    beside = has_vault(src)
    if not beside and settings.vault is None:
        raise KeyMissing(f"{src} has no vault beside it, and the environment names none.")
    from_there = replace(settings, vault=None) if beside else settings
    with ExitStack() as opened:
        read = open_place(src, from_there, create=False)
        _close_with(opened, read)
        if read.signing.tree_if_signed() is not None:
            check_witness(read, from_there)  # what was set back must not become another place's
        key = read.master_key
        file = _key_file(dst, settings, key)
        to_there = replace(settings, master_key=key.key.hex(), vault=vault or settings.vault)
        written = open_place(dst, to_there, create=True, unfinished="complete")
        _close_with(opened, written)
        if not isinstance(dst, Path):
            refuse_stranger(written)
        mark = Unfinished(shown(src), None if vault is None else shown(place_of(vault)))

        def begin() -> None:
            written.store.note_unfinished(mark.note)
            if file is not None and not file.exists():
                _keep(key, file)

        done = ledger_copy.copy(side(read), side(written), progress, begin)
        if file is not None:
            _bring_signing_key(read, written)
        brought = _bring_vectors(read, written, progress)
        written.store.note_unfinished(None)
    own = {field.name: getattr(done, field.name) for field in fields(done)}
    return CopiedWhole(**own, vectors=brought)


def _is_same(src: Place, dst: Place) -> bool:
    if isinstance(src, Path) and isinstance(dst, Path):
        same = src.exists() and dst.exists() and src.samefile(dst)
        return same or src.resolve() == dst.resolve()
    if isinstance(src, Path) or isinstance(dst, Path):
        return False
    from beliefledger.opening import postgres  # noqa: PLC0415  only where one is meant

    return postgres.is_same(src, dst)


def _bring_vectors(read: Opened, written: Opened, progress: Progress | None) -> int:
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


def _close_with(stack: ExitStack, opened: Opened) -> None:
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
