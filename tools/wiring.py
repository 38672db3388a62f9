"""The one place that builds things and joins the gate to the views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gate.extractor import Extractor
from gate.gate import Gate, Pending
from gate.policy import Policy
from gate.replay import Replayer
from gate.rulebook import Rulebook
from gate.rules import RuleExtractor
from gate.slots import canonical_entity, canonical_text
from gate.stewardship import Steward
from ledger.errors import BackendUnavailable, KeyMissing
from ledger.log import Log
from ledger.masterkey import MasterKey
from ledger.sqlite import SQLiteEventStore
from ledger.streams import tag
from ledger.times import Clock
from ledger.vault import Vault
from projections import questions
from projections.beliefs import BeliefsView
from projections.churn import ChurnView
from projections.decisions import DecisionsView
from projections.projector import Projector, open_projector
from projections.turns import TurnsView
from projections.view import View
from tools.settings import MASTER_KEY, MASTER_KEY_FILE, Settings

KEY_FILE = "master.key"


@dataclass(frozen=True, slots=True)
class Parts:
    """A ledger's working parts."""

    log: Log
    rulebook: Rulebook
    gate: Gate
    steward: Steward
    replayer: Replayer
    projector: Projector
    tagger: Callable[[str, str, str | None], str | None]
    master_key: MasterKey
    made_key_file: Path | None


def build(
    path: Path,
    *,
    policy: Policy | None,
    extractor: Extractor | None,
    clock: Clock,
    settings: Settings,
    create: bool = True,
) -> Parts:
    """Open the ledger in a directory, making it when it is not there.

    Raises `KeyMissing` for a wrong master key, before anything is written.
    """
    if not path.exists() and not create:
        raise BackendUnavailable(f"There is no ledger at {path}.")
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        (path / "views").mkdir(exist_ok=True, mode=0o700)
    except OSError as problem:
        raise BackendUnavailable(f"{path} cannot be a ledger: {problem}.") from problem
    master, made = master_key(path, settings)
    with ExitStack() as opened:  # what was opened is closed again when a later step fails
        vault = Vault(path / "keys.db", master)
        opened.callback(vault.close)
        store = SQLiteEventStore(path / "log.db")
        opened.callback(store.close)
        log = Log(store, vault, clock=clock)
        rulebook = Rulebook(log)
        rulebook.ensure(policy)
        tagger = tagger_for(log)
        views: list[View] = [BeliefsView(tagger), DecisionsView(), ChurnView(), TurnsView()]
        projector = open_projector(log, path / "views" / "views.db", views)
        opened.pop_all()

    def earlier(turn: Pending, limit: int) -> Sequence[int]:
        with projector.reading() as connection:
            generation = projector.states(connection)[TurnsView.name].generation
            return questions.earlier_turns(connection, generation, turn.position, limit)

    gate = Gate(log, rulebook, extractor or RuleExtractor(), clock, earlier)
    return Parts(
        log, rulebook, gate, Steward(gate), Replayer(log, rulebook), projector, tagger, master, made
    )


def master_key(path: Path, settings: Settings) -> tuple[MasterKey, Path | None]:
    """The master key: from the environment, else from the key file, which a new ledger gets.

    Returns also the key file if it was made just now. A ledger that has a vault and no key is
    refused: making a new key would lose everybody.
    """
    if settings.master_key:
        return MasterKey.from_hex(settings.master_key, f"The variable {MASTER_KEY}"), None
    file = settings.master_key_file or path / KEY_FILE
    if file.exists():
        return MasterKey.from_file(file), None
    if (path / "keys.db").exists():
        raise KeyMissing(
            f"There is no master key: set {MASTER_KEY} or {MASTER_KEY_FILE}, or put the key file"
            f" back at {file}."
        )
    try:
        return MasterKey.create_file(file), file
    except FileExistsError:
        return MasterKey.from_file(file), None
    except OSError as problem:
        raise BackendUnavailable(f"The key file {file} cannot be made: {problem}.") from problem


def tagger_for(log: Log) -> Callable[[str, str, str | None], str | None]:
    """Tags of words, under each subject's own key, so that a view can be filtered without words."""

    @lru_cache(maxsize=100_000)
    def of(key: bytes, kind: str, text: str) -> str:
        canonical = canonical_entity(text) if kind == "entity" else canonical_text(text)
        return tag(key, f"tag {kind}", canonical)

    def tagger(subject_ref: str, kind: str, text: str | None) -> str | None:
        if text is None:
            return None
        keys = log.keys(subject_ref)
        return None if keys is None else of(keys.ids, kind, text)

    return tagger
