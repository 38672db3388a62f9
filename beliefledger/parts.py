"""What an open ledger consists of: each part is made, and imported, when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beliefledger.ledger.closeable import Closeable
from beliefledger.ledger.made_once import made_once
from beliefledger.opening.core import Core
from beliefledger.proofs.notary import Notary
from beliefledger.reading.queries import Queries

# ruff: noqa: PLC0415  see the first line
if TYPE_CHECKING:
    from beliefledger.access.tasks import Tasks
    from beliefledger.access.tokens import Tokens
    from beliefledger.access.webhooks import Webhooks
    from beliefledger.audit.audit import Audit
    from beliefledger.audit.replay import DecisionReplays
    from beliefledger.curation.conflicts import Conflicts
    from beliefledger.curation.consent import Consent
    from beliefledger.curation.consolidation import Consolidation
    from beliefledger.curation.edits import Edits
    from beliefledger.curation.entities import Entities
    from beliefledger.curation.extraction import Extractions
    from beliefledger.curation.policy import PolicyInForce
    from beliefledger.curation.storing import StoredMemories
    from beliefledger.curation.teams import Teams
    from beliefledger.curation.types import Types
    from beliefledger.erasure.erasure import Erasures
    from beliefledger.exports.exports import Exports
    from beliefledger.gate.gate import Gate
    from beliefledger.operations.ageing import Ageing
    from beliefledger.operations.jobs import Counts, Work
    from beliefledger.operations.operations import Operations
    from beliefledger.proofs.proofs import Proofs
    from beliefledger.reading.lists import Lists
    from beliefledger.reading.readers import Readers
    from beliefledger.reading.relations import RelationQueries
    from beliefledger.reading.views import Views
    from beliefledger.search.contexts import Contexts
    from beliefledger.search.models import Embedders
    from beliefledger.search.on_demand import IndexesOnDemand
    from beliefledger.search.recalls import Recalls
    from beliefledger.search.search import Search
    from beliefledger.search.vectors import Vectors


class Parts(Closeable):
    """The parts of a ledger that is open. Close it.

    To make all of them takes longer than to open a ledger and to ask it what it believes.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._log = core.log
        self.place = core.place
        """The directory, or the URL (without its password when printed)."""
        self.made_key_file = core.made_key_file
        """The master key's file, if it was made just now. Keep it apart from backups."""
        self._queries = Queries(core)
        self._notary = Notary(core.log, core.signing, core.witness)
        if core.log.interrupted:
            self.erasure.finish()

    @property
    def _gate(self) -> Gate:
        return self._core.gate

    @made_once
    def _views(self) -> Views:
        from beliefledger.reading.views import Views

        return Views(self._core)

    @made_once
    def _embedders(self) -> Embedders:
        from beliefledger.search.models import Embedders

        return Embedders(self._core.log, self._core.settings, self._core.given_embedder)

    @made_once
    def _indexes(self) -> IndexesOnDemand:
        from beliefledger.search.on_demand import IndexesOnDemand

        return IndexesOnDemand(self._core, self._queries, self._embedders)

    @made_once
    def _search(self) -> Search:
        from beliefledger.search.search import Search

        return Search(self._core, self._queries, self._indexes, self._readers)

    @made_once
    def _contexts(self) -> Contexts:
        from beliefledger.search.contexts import Contexts

        return Contexts(self._core, self._queries, self._indexes, self._search)

    @made_once
    def _relations(self) -> RelationQueries:
        from beliefledger.reading.relations import RelationQueries

        return RelationQueries(self._core, self._queries)

    @made_once
    def _readers(self) -> Readers:
        from beliefledger.reading.readers import Readers

        return Readers(self._core, self._queries)

    @made_once
    def _extraction(self) -> Extractions:
        from beliefledger.curation.extraction import Extractions

        return Extractions(self._core, self._queries)

    @made_once
    def _lists(self) -> Lists:
        from beliefledger.reading.lists import Lists

        return Lists(self._core, self._queries)

    @made_once
    def _stored(self) -> StoredMemories:
        from beliefledger.curation.storing import StoredMemories

        return StoredMemories(self._core, self._queries)

    @made_once
    def _edits(self) -> Edits:
        from beliefledger.curation.edits import Edits

        return Edits(self._core, self._queries, self._stored)

    @made_once
    def _decisions(self) -> DecisionReplays:
        from beliefledger.audit.replay import DecisionReplays

        return DecisionReplays(self._core, self._queries)

    @made_once
    def erasure(self) -> Erasures:
        """What would be erased, legal holds, certificates, and who was erased."""
        from beliefledger.erasure.erasure import Erasures

        return Erasures(self._core, self._queries, self._views, self._indexes, self._notary)

    @made_once
    def consent(self) -> Consent:
        """The lawful bases that memories stand on."""
        from beliefledger.curation.consent import Consent

        return Consent(
            self._core,
            self._queries,
            # Erasures are loaded when a basis is withdrawn, not when one is granted.
            lambda *given, **named: self.erasure.erase_withdrawn(*given, **named),  # noqa: PLW0108
        )

    @made_once
    def conflicts(self) -> Conflicts:
        """What contradicts itself or waits for a person, and settling it."""
        from beliefledger.curation.conflicts import Conflicts

        return Conflicts(self._core, self._queries)

    @made_once
    def entities(self) -> Entities:
        """Whom and what a subject speaks of."""
        from beliefledger.curation.entities import Entities

        return Entities(self._core, self._queries)

    @made_once
    def teams(self) -> Teams:
        """Who is in which team, and so may see what is visible to it."""
        from beliefledger.curation.teams import Teams

        return Teams(self._core, self._queries)

    @made_once
    def types(self) -> Types:
        """The types of memory."""
        from beliefledger.curation.types import Types

        return Types(self._core, self._queries)

    @made_once
    def policy(self) -> PolicyInForce:
        """What is decided by."""
        from beliefledger.curation.policy import PolicyInForce

        return PolicyInForce(self._core)

    @made_once
    def recalls(self) -> Recalls:
        """What was searched for and shown."""
        from beliefledger.search.recalls import Recalls

        return Recalls(self._core, self._queries)

    @made_once
    def vectors(self) -> Vectors:
        """What search compares meanings with."""
        from beliefledger.search.vectors import Vectors

        return Vectors(self._core, self._queries, self._indexes, self._embedders)

    @made_once
    def exports(self) -> Exports:
        """What is handed out of the ledger, on record, and taken in from another one."""
        from beliefledger.exports.exports import Exports

        return Exports(self._core, self._queries)

    @made_once
    def proofs(self) -> Proofs:
        """Checkpoints, proofs and verification of the log."""
        from beliefledger.proofs.proofs import Proofs

        return Proofs(self._core, self._decisions.all)

    @made_once
    def audit(self) -> Audit:
        """What an auditor asks: replay, counts, calibration, checklists."""
        from beliefledger.audit.audit import Audit
        from beliefledger.search.recall_replay import RecallReplays

        replays = RecallReplays(
            self._core, self._queries, self._indexes, self._embedders, self.recalls
        )
        return Audit(self._core, self._queries, self._views, self._decisions, replays)

    @made_once
    def operations(self) -> Operations:
        """What an operator does: rebuild, jobs, ageing, consolidation, extraction."""
        from beliefledger.curation.consolidation import Consolidation
        from beliefledger.operations.ageing import Ageing
        from beliefledger.operations.operations import Jobs, Operations

        core, queries = self._core, self._queries
        ageing, consolidation = Ageing(core, queries), Consolidation(core, queries)
        return Operations(
            core,
            queries,
            self._views,
            self._indexes,
            ageing=ageing,
            consolidation=consolidation,
            extraction=self._extraction,
            jobs=Jobs(core, queries, self._work(ageing, consolidation)),
        )

    @made_once
    def tokens(self) -> Tokens:
        """Who may use the server's doors, and what they called."""
        from beliefledger.access.tokens import Tokens

        return Tokens(self._core, self._queries)

    @made_once
    def webhooks(self) -> Webhooks:
        """Who is told of events at an address of theirs, and what did not arrive."""
        from beliefledger.access.webhooks import Webhooks

        return Webhooks(self._core)

    @made_once
    def tasks(self) -> Tasks:
        """What agents asked the ledger to do."""
        from beliefledger.access.tasks import Tasks

        return Tasks(self._core, self._queries)

    def _work(self, ageing: Ageing, consolidation: Consolidation) -> Work:
        """What the jobs of the schedule do."""

        def count_loops() -> Counts:
            found = self.conflicts.loops()
            return {"loops": len(found), "contested": sum(each.contested for each in found)}

        return {
            "decay": lambda: {"memories": ageing.refresh()},
            "expiry": lambda: {"expired": len(ageing.expire())},
            "retention": lambda: {"revoked": len(ageing.revoke_outdated())},
            "forgetting": self.erasure.erase_due,
            "checkpoints": lambda: self.operations.tidy(),  # noqa: PLW0108  it is made after this
            "loops": count_loops,
            "consolidation": consolidation.everyone,
            "vectors": self.vectors.complete,
        }

    def close(self) -> None:
        """Let go of files and connections."""
        self._core.let_go_of_model()
        try:
            self._core.recorder.close()
        finally:
            self._notary.close()
            self._let_go()

    def _let_go(self) -> None:
        if "_indexes" in vars(self):
            self._indexes.close()
        if self._core.witness is not None:
            self._core.witness.close()
        self._core.projector.close()
        self._log.close()
