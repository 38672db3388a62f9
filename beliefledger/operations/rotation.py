"""Replacing the master key of a ledger, and telling the log of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from beliefledger.ledger import key_rotation
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import (
    BackendUnavailable,
    CallerMistake,
    KeyMissing,
    MasterKeyReplaced,
)
from beliefledger.ledger.key_rotation import Rotation, RotationNote
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.names import check_actor
from beliefledger.ledger.times import system_clock
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.backends import exists, open_place
from beliefledger.opening.build import check_witness, record_rotation
from beliefledger.opening.place import KEY_FILE, NO_DIRECTORY, NoLedger, Opened, Place, place_of
from beliefledger.settings import MASTER_KEY, MASTER_KEY_FILE, Settings


@dataclass(frozen=True, slots=True)
class Rotated:
    """The ids of the master keys, and where they are now.

    `retired` is where the old key still lies, if it does. `to_set` is the variable that has to name
    `key_file` from now on, `to_unset` one that still holds the old key. `left` tells why the old
    key's wrappings still lie in the database's files, where they do.
    """

    previous: str
    key: str
    subjects: int
    key_file: str
    retired: str | None = None
    to_set: str | None = None
    to_unset: str | None = None
    left: str | None = None


Step = Callable[[str], None]


def rotate(
    path_or_url: str | Path,
    *,
    new_key_file: Path | None = None,
    keep_old: bool = False,
    by: str | None = None,
    step: Step = lambda _: None,
) -> Rotated:
    """Put the vault under a new master key. Killed at any moment and run again, it completes.

    The new key takes the place of the old one in its file, or goes to `new_key_file`, whose key is
    taken if it is there already. The old one is removed unless it is to be kept. `step` is called
    before each step with its name: where tests let it die.

    Raises `NotPermitted` for a blank name, `CallerMistake` for a key that the environment tells and
    no new file, and `KeyMissing`.
    """
    if by is not None:
        check_actor(by)
    settings = Settings.read()
    place = place_of(path_or_url)
    if not exists(place):
        raise NoLedger(f"There is no ledger at {place}.")
    file = _key_file(place, settings)
    if file is None and new_key_file is None:
        raise CallerMistake(
            f"The master key is in {MASTER_KEY}, which cannot be changed from here: give a new key"
            f" file, unset {MASTER_KEY} afterwards, and set {MASTER_KEY_FILE} to that file."
        )
    if new_key_file is not None and file is not None and _is_same(new_key_file, file):
        raise CallerMistake(f"{file} is the key file in use: name another, or none.")
    with ExitStack() as closing:
        opened, finished = _open(place, settings, new_key_file)
        log = _log_of(opened, settings, closing)
        record_rotation(log)  # of one that was killed
        if finished is not None:
            if file is not None and not (keep_old or _is_shared(place)):
                key_rotation.remove(file)
            return _answer(finished, file, new_key_file, None, None)
        note = RotationNote(new_id(), SYSTEM if by is None else log.principal(by))
        closing.enter_context(key_rotation.alone(file or new_key_file or Path()))
        if file is not None and MasterKey.from_file(file) != opened.master_key:
            raise MasterKeyReplaced(f"Another process rotated the master key in {file} just now.")
        step("write the new key")
        new = key_rotation.prepare(file) if new_key_file is None and file else _given(new_key_file)
        if new == opened.master_key:
            raise CallerMistake(f"{new_key_file} holds the key that is in use.")
        shared = _is_shared(place)
        retired = None
        if file is not None and (keep_old or shared):
            retired = key_rotation.retire(file, opened.master_key)
        step("wrap")
        rotation = log.vault.rotate(new, note)
        step("change the file")
        if file is not None:
            if new_key_file is None:
                key_rotation.take_over(file)
            else:
                key_rotation.remove(file)
        step("record")
        record_rotation(log)
        step("scrub")
        try:
            log.vault.scrub()
        except BackendUnavailable as problem:
            return _answer(rotation, file, new_key_file, retired, problem.detail)
        return _answer(rotation, file, new_key_file, retired, None)


def _log_of(opened: Opened, settings: Settings, closing: ExitStack) -> Log:
    closing.callback(opened.vault.close)
    closing.callback(opened.store.close)
    check_witness(opened, settings)
    # Erasures that were interrupted are left for whoever has views to empty.
    return Log(opened.store, opened.vault, clock=system_clock, tenant=opened.tenant, finish=False)


def _open(
    place: Place, settings: Settings, new_key_file: Path | None
) -> tuple[Opened, Rotation | None]:
    """The ledger; and the rotation that was killed after the vault went under the key in the new
    file, which the environment does not tell."""
    try:
        return open_place(place, settings, create=False), None
    except KeyMissing:
        if new_key_file is None or not new_key_file.exists():
            raise
        with_new = replace(settings, master_key=None, master_key_file=new_key_file)
        try:
            opened = open_place(place, with_new, create=False)
        except KeyMissing:
            opened = None
        if opened is None:
            raise
        rotation = opened.vault.unrecorded_rotation()
        key = opened.master_key.id
        return opened, rotation or Rotation(RotationNote("", SYSTEM), "", key, 0)


def _key_file(place: Place, settings: Settings) -> Path | None:
    """Where the master key lies; None when the environment tells the key itself."""
    if settings.master_key is not None:
        return None
    if settings.master_key_file is not None:
        return settings.master_key_file
    if not isinstance(place, Path):
        raise KeyMissing(NO_DIRECTORY)
    return place / KEY_FILE


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() in {other.resolve(), key_rotation.beside(other).resolve()}


def _given(new_key_file: Path | None) -> MasterKey:
    assert new_key_file is not None
    return key_rotation.prepared(new_key_file)


def _is_shared(place: Place) -> bool:
    """Whether other tenants' vaults may be under the same key."""
    if isinstance(place, Path):
        return False
    from beliefledger.opening import postgres  # noqa: PLC0415  only where one is meant

    return postgres.has_other_tenants(place)


def _answer(
    rotation: Rotation,
    file: Path | None,
    new_key_file: Path | None,
    retired: Path | None,
    left: str | None,
) -> Rotated:
    return Rotated(
        previous=rotation.previous,
        key=rotation.key,
        subjects=rotation.subjects,
        key_file=str(new_key_file or file),
        retired=None if retired is None else str(retired),
        to_set=None if new_key_file is None else MASTER_KEY_FILE,
        to_unset=MASTER_KEY if file is None else None,
        left=left,
    )
