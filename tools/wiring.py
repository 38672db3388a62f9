"""The one place that builds things and joins the gate to the views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from gate import speech
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
_KEPT_TAGS = 100_000


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
    forget_words: Callable[[], None]
    """Empties the caches that hold words or keys of ids."""


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
        tagger = WordTagger(log)
        views: list[View] = [BeliefsView(tagger), DecisionsView(), ChurnView(), TurnsView()]
        projector = open_projector(log, path / "views" / "views.db", views)
        opened.pop_all()

    def earlier(turn: Pending, limit: int) -> Sequence[int]:
        with projector.reading() as connection:
            generation = projector.states(connection)[TurnsView.name].generation
            return questions.earlier_turns(connection, generation, turn.position, limit)

    gate = Gate(log, rulebook, extractor or RuleExtractor(), clock, earlier)
    return Parts(
        log,
        rulebook,
        gate,
        Steward(gate),
        Replayer(log, rulebook),
        projector,
        tagger,
        master,
        made,
        tagger.forget,
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


class WordTagger:
    """Tags of words under each subject's own key, so that a view can be filtered without words."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._known: dict[tuple[bytes, str, str], str] = {}

    def __call__(self, subject_ref: str, kind: str, text: str | None) -> str | None:
        keys = None if text is None else self._log.keys(subject_ref)
        if text is None or keys is None:
            return None
        known = self._known.get((keys.ids, kind, text))
        if known is None:
            if len(self._known) >= _KEPT_TAGS:
                self._known.clear()
            canonical = canonical_entity(text) if kind == "entity" else canonical_text(text)
            known = tag(keys.ids, f"tag {kind}", canonical)
            self._known[keys.ids, kind, text] = known
        return known

    def forget(self) -> None:
        """Keep no words of somebody who was erased."""
        self._known.clear()
        speech.forget()
