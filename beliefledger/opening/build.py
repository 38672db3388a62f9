"""The one place that builds things and joins the gate to the views."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from time import monotonic, thread_time
from typing import TYPE_CHECKING

from beliefledger.gate.deadline import Deadline
from beliefledger.gate.policy import Policy
from beliefledger.gate.rulebook import Rulebook
from beliefledger.gate.slots import canonical_entity, canonical_text
from beliefledger.ledger import own_secrets
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import CopyUnfinished
from beliefledger.ledger.events.ops import MasterKeyRotated
from beliefledger.ledger.log import Log
from beliefledger.ledger.streams import ops_stream, tag
from beliefledger.ledger.times import Clock, system_clock
from beliefledger.opening.backends import open_place
from beliefledger.opening.core import Core, MasterKeyInForce
from beliefledger.opening.extractors import extractor_of
from beliefledger.opening.place import Opened, Place
from beliefledger.opening.recorder import Recorder
from beliefledger.projections import graph
from beliefledger.projections.access import AccessView
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.calls import CallsView
from beliefledger.projections.churn import ChurnView
from beliefledger.projections.decisions import DecisionsView
from beliefledger.projections.embedding import Embedder
from beliefledger.projections.entities import EntitiesView
from beliefledger.projections.jobs import JobsView
from beliefledger.projections.links import LinksView
from beliefledger.projections.recalls import RecallsView
from beliefledger.projections.tasks import TasksView
from beliefledger.projections.teams import TeamsView
from beliefledger.projections.turns import TurnsView
from beliefledger.projections.view import View
from beliefledger.settings import Settings

if TYPE_CHECKING:  # who only asks need not wait for what decides, nor for the witness's client
    from beliefledger.gate.extractor import Extractor
    from beliefledger.gate.gate import Gate
    from beliefledger.opening.witness_client import Witnessed

_KEPT_TAGS = 100_000
KEEP_WORDS = tuple(
    f"beliefledger.gate.{name}"
    for name in (
        "claims", "custom_types", "dates", "rules.lexicon", "claim_words", "speech", "sentences",
        "literals", "pairs",
    )
)  # fmt: skip
"""The modules with caches of words, which are loaded by whoever reads a text."""


def build(
    place: Place,
    *,
    policy: Policy | None,
    extractor: Extractor | str | None,
    clock: Clock,
    settings: Settings,
    create: bool = True,
    witnessed: bool = True,
    embedder: Embedder | None = None,
) -> Core:
    """Open the ledger at a place, making it when it is not there.

    Raises `KeyMissing` for a wrong master key, `NotPermitted` for a basis of consent that the
    policy does not know, and `BehindWitness` and `SplitView` for a ledger
    that its witness knows otherwise, unless it is opened un-`witnessed`, before anything is
    written.
    """
    for redaction in settings.redactions:  # before anything can be written
        own_secrets.add(redaction)
    with ExitStack() as closing:  # what was opened is closed again when a later step fails
        opened = open_place(place, settings, create=create, unfinished="read")
        writable = opened.unfinished is None
        closing.callback(opened.vault.close)
        closing.callback(opened.store.close)
        witness = witness_of(settings)
        if witness is not None:
            closing.callback(witness.close)
            if witnessed and writable:
                witness.check(opened.signing.tree())
        log = Log(
            opened.store, opened.vault, clock=clock, tenant=opened.tenant, finish=False,
            writable=writable, replica=opened.replica if writable else None,
        )  # fmt: skip
        rulebook = Rulebook(log)
        if writable:
            record_rotation(log)
            rulebook.ensure(policy)
            if settings.consent is not None:
                rulebook.current().policy.check_basis(settings.consent)
        elif not log.version(rulebook.stream):
            raise CopyUnfinished(f"{opened.unfinished} There is nothing in it yet.")
        tagger = WordTagger(log)
        chosen = extractor_of(extractor, rulebook, settings)
        projector = opened.views(log, all_views(tagger))
        # Of the machine's clock alone: one that is injected may tell any time.
        clock_warnings = opened.store.clock_warnings() if clock is system_clock else []
        closing.pop_all()

    def about(subject_ref: str, entity_id: str) -> dict[str, str]:
        with projector.caught_up(*graph.VIEWS) as (connection, states):
            at = graph.GraphGenerations.of(states)
            return graph.about(connection, at, subject_ref, entity_id)

    deadline = Deadline(
        thread_time, settings.extraction_seconds, wall=monotonic,
        foreign_seconds=settings.extractor_timeout,
    )  # fmt: skip

    def make_gate() -> Gate:
        from beliefledger.gate.gate import Gate  # noqa: PLC0415
        from beliefledger.opening.pending import ViewedTurns  # noqa: PLC0415

        return Gate(
            log, rulebook, chosen, clock, ViewedTurns(projector, clock), about=about,
            deadline=deadline, first_basis=settings.consent,
        )  # fmt: skip

    def forget_words() -> None:
        tagger.forget()
        forget = getattr(core.current_extractor, "forget", None)
        if forget is not None:  # answers of a model to turns that are not done
            forget()

    core = Core(
        place=place,
        clock=clock,
        settings=settings,
        log=log,
        rulebook=rulebook,
        make_gate=make_gate,
        extractor=chosen,
        projector=projector,
        tagger=tagger,
        master_key=MasterKeyInForce(log.vault),
        made_key_file=opened.made_key_file,
        forget_words=forget_words,
        warnings=(*opened.warnings, *log.unfinished, *clock_warnings),
        writable=writable,
        signing=opened.signing,
        witness=witness,
        recorder=Recorder(log, projector.catch_up, keeps=writable),
        given_embedder=embedder,
    )
    return core


def all_views(tagger: WordTagger) -> list[View]:
    """Every view that a ledger has."""
    return [
        BeliefsView(tagger),
        DecisionsView(),
        ChurnView(),
        TurnsView(),
        AccessView(),
        JobsView(),
        CallsView(),
        TasksView(),
        EntitiesView(tagger),
        LinksView(tagger),
        RecallsView(),
        TeamsView(),
    ]


def check_witness(opened: Opened, settings: Settings) -> None:
    """Have the head cosigned before anything is written to a ledger that has a witness. Raises as
    `Witnessed.check` does."""
    witness = witness_of(settings)
    if witness is not None:
        try:
            witness.check(opened.signing.tree())
        finally:
            witness.close()


def witness_of(settings: Settings) -> Witnessed | None:
    """The witness that the environment names, if it names one."""
    if settings.witness is None:
        return None
    from beliefledger.opening.witness_client import Witnessed  # noqa: PLC0415

    return Witnessed.of(settings)


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
        for name in KEEP_WORDS:
            loaded = sys.modules.get(name)
            if loaded is not None:  # else it has read nothing yet
                loaded.forget()


def record_rotation(log: Log) -> None:
    """Tell the log of a rotation that it has not been told of, once."""
    rotation = log.vault.unrecorded_rotation()
    if rotation is None:
        return
    stream = ops_stream(log.tenant)
    happened = MasterKeyRotated(
        previous=rotation.previous, key=rotation.key, subjects=rotation.subjects
    )
    event = New(happened, rotation.note.event_id, stream, None, rotation.note.actor)

    def tell() -> None:
        if log.find(event.event_id) is None:
            log.append([event], {stream: log.version(stream)})

    log.decide_again(tell)
    log.vault.rotation_is_recorded(rotation)
