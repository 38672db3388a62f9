"""The parts of the front door, awaitable."""

from __future__ import annotations

from beliefledger.access.tasks import Tasks
from beliefledger.access.tokens import Tokens
from beliefledger.access.webhooks import Webhooks
from beliefledger.audit.audit import Audit
from beliefledger.awaitable.calls import Calls, Part, awaited
from beliefledger.curation.backfill import Backfill
from beliefledger.curation.conflicts import Conflicts
from beliefledger.curation.consent import Consent
from beliefledger.curation.consolidation import Consolidation
from beliefledger.curation.entities import Entities
from beliefledger.curation.extraction import Extractions
from beliefledger.curation.policy import PolicyInForce
from beliefledger.curation.teams import Teams
from beliefledger.curation.types import Types
from beliefledger.erasure.certificate import Certificates
from beliefledger.erasure.erasure import Erasures
from beliefledger.erasure.holds import LegalHolds
from beliefledger.gate.policy import Policy
from beliefledger.operations.ageing import Ageing
from beliefledger.operations.operations import Jobs, Operations
from beliefledger.proofs.proofs import Proofs
from beliefledger.search.recalls import Recalls
from beliefledger.search.vectors import Vectors


class AsyncConsent(Part[Consent]):
    """As `Consent`, awaitable."""

    grant = awaited(Consent.grant)
    grant_first = awaited(Consent.grant_first)
    reconsider = awaited(Consent.reconsider)
    preview_reconsider = awaited(Consent.preview_reconsider)
    list = awaited(Consent.list)
    withdraw = awaited(Consent.withdraw)


class AsyncConflicts(Part[Conflicts]):
    """As `Conflicts`, awaitable."""

    list = awaited(Conflicts.list)
    loops = awaited(Conflicts.loops)
    resolve = awaited(Conflicts.resolve)
    review = awaited(Conflicts.review)


class AsyncEntities(Part[Entities]):
    """As `Entities`, awaitable."""

    list = awaited(Entities.list)
    get = awaited(Entities.get)
    add_alias = awaited(Entities.add_alias)
    merge = awaited(Entities.merge)
    split = awaited(Entities.split)
    keep_apart = awaited(Entities.keep_apart)


class AsyncTeams(Part[Teams]):
    """As `Teams`, awaitable."""

    add = awaited(Teams.add)
    remove = awaited(Teams.remove)
    list = awaited(Teams.list)
    members = awaited(Teams.members)


class AsyncBackfill(Part[Backfill]):
    """As `Backfill`, awaitable."""

    __call__ = awaited(Backfill.__call__)


class AsyncTypes(Part[Types]):
    """As `Types`, awaitable."""

    list = awaited(Types.list)
    get = awaited(Types.get)
    add = awaited(Types.add)
    retire = awaited(Types.retire)

    def __init__(self, part: Types, calls: Calls) -> None:
        super().__init__(part, calls)
        self.backfill = AsyncBackfill(part.backfill, calls)


class AsyncPolicyInForce(Part[PolicyInForce]):
    """As `PolicyInForce`, awaitable."""

    adopt = awaited(PolicyInForce.adopt)
    list = awaited(PolicyInForce.list)
    get = awaited(PolicyInForce.get)
    diff = awaited(PolicyInForce.diff)

    async def current(self) -> Policy:
        """The policy in force."""
        return await self._calls.run(lambda: self._part.current)


class AsyncRecalls(Part[Recalls]):
    """As `Recalls`, awaitable."""

    list = awaited(Recalls.list)
    get = awaited(Recalls.get)
    record_shown = awaited(Recalls.record_shown)
    recorded = awaited(Recalls.recorded)
    words = awaited(Recalls.words)
    showable = awaited(Recalls.showable)


class AsyncVectors(Part[Vectors]):
    """As `Vectors`, awaitable."""

    status = awaited(Vectors.status)
    build = awaited(Vectors.build)
    migrate = awaited(Vectors.migrate)
    rollback = awaited(Vectors.rollback)
    drop = awaited(Vectors.drop)
    repair = awaited(Vectors.repair)
    complete = awaited(Vectors.complete)


class AsyncLegalHolds(Part[LegalHolds]):
    """As `LegalHolds`, awaitable."""

    place = awaited(LegalHolds.place)
    lift = awaited(LegalHolds.lift)
    list = awaited(LegalHolds.list)


class AsyncCertificates(Part[Certificates]):
    """As `Certificates`, awaitable."""

    issue = awaited(Certificates.issue)
    acknowledge = awaited(Certificates.acknowledge)
    write_off = awaited(Certificates.write_off)


class AsyncErasures(Part[Erasures]):
    """As `Erasures`, awaitable."""

    preview = awaited(Erasures.preview)
    erase = awaited(Erasures.erase)
    basis = awaited(Erasures.basis)
    finish = awaited(Erasures.finish)
    unfinished = awaited(Erasures.unfinished)
    erase_withdrawn = awaited(Erasures.erase_withdrawn)
    erase_due = awaited(Erasures.erase_due)
    was_erased = awaited(Erasures.was_erased)
    register_anew = awaited(Erasures.register_anew)
    list = awaited(Erasures.list)

    def __init__(self, part: Erasures, calls: Calls) -> None:
        super().__init__(part, calls)
        self.holds = AsyncLegalHolds(part.holds, calls)
        self.certificates = AsyncCertificates(part.certificates, calls)


class AsyncProofs(Part[Proofs]):
    """As `Proofs`, awaitable; the tree is read through the proofs."""

    checkpoint = awaited(Proofs.checkpoint)
    signing_key = awaited(Proofs.signing_key)
    rotate_signing_key = awaited(Proofs.rotate_signing_key)
    record_vault_restored = awaited(Proofs.record_vault_restored)
    inclusion = awaited(Proofs.inclusion)
    consistency = awaited(Proofs.consistency)
    verify = awaited(Proofs.verify)


class AsyncAudit(Part[Audit]):
    """As `Audit`, awaitable."""

    replay = awaited(Audit.replay)
    refusal = awaited(Audit.refusal)
    began = awaited(Audit.began)
    replay_all = awaited(Audit.replay_all)
    replay_recall = awaited(Audit.replay_recall)
    replay_recalls = awaited(Audit.replay_recalls)
    counts = awaited(Audit.counts)
    calibrate = awaited(Audit.calibrate)
    calibrated_policy = awaited(Audit.calibrated_policy)
    plot_calibration = awaited(Audit.plot_calibration)
    checklist = awaited(Audit.checklist)


class AsyncAgeing(Part[Ageing]):
    """As `Ageing`, awaitable."""

    decay = awaited(Ageing.decay)
    left = awaited(Ageing.left)
    reconfirm = awaited(Ageing.reconfirm)
    refresh = awaited(Ageing.refresh)
    expire = awaited(Ageing.expire)
    revoke_outdated = awaited(Ageing.revoke_outdated)


class AsyncConsolidation(Part[Consolidation]):
    """As `Consolidation`, awaitable."""

    everyone = awaited(Consolidation.everyone)
    consolidate = awaited(Consolidation.consolidate)
    undo = awaited(Consolidation.undo)


class AsyncExtractions(Part[Extractions]):
    """As `Extractions`, awaitable."""

    process = awaited(Extractions.process)
    use_model = awaited(Extractions.use_model)
    extract = awaited(Extractions.extract)
    parked = awaited(Extractions.parked)
    retry = awaited(Extractions.retry)


class AsyncJobs(Part[Jobs]):
    """As `Jobs`, awaitable; `schedule` keeps a process busy, and is not here."""

    list = awaited(Jobs.list)
    run = awaited(Jobs.run)
    scheduled = awaited(Jobs.scheduled)


class AsyncOperations(Part[Operations]):
    """As `Operations`, awaitable; `keep_views` keeps a process busy, and is not here."""

    rebuild = awaited(Operations.rebuild)
    tidy = awaited(Operations.tidy)
    record_backup = awaited(Operations.record_backup)

    def __init__(self, part: Operations, calls: Calls) -> None:
        super().__init__(part, calls)
        self.ageing = AsyncAgeing(part.ageing, calls)
        self.consolidation = AsyncConsolidation(part.consolidation, calls)
        self.extraction = AsyncExtractions(part.extraction, calls)
        self.jobs = AsyncJobs(part.jobs, calls)


class AsyncTasks(Part[Tasks]):
    """As `Tasks`, awaitable."""

    submit = awaited(Tasks.submit)
    get = awaited(Tasks.get)
    find = awaited(Tasks.find)
    list = awaited(Tasks.list)
    steps = awaited(Tasks.steps)
    under_way = awaited(Tasks.under_way)
    pause = awaited(Tasks.pause)
    answer = awaited(Tasks.answer)
    end = awaited(Tasks.end)


class AsyncTokens(Part[Tokens]):
    """As `Tokens`, awaitable."""

    create = awaited(Tokens.create)
    list = awaited(Tokens.list)
    revoke = awaited(Tokens.revoke)
    principal = awaited(Tokens.principal)
    ready = awaited(Tokens.ready)
    subject = awaited(Tokens.subject)
    at_hand = awaited(Tokens.at_hand)
    in_force = awaited(Tokens.in_force)
    vouched = awaited(Tokens.vouched)
    record_call = awaited(Tokens.record_call)
    record_refusals = awaited(Tokens.record_refusals)
    begin_request = awaited(Tokens.begin_request)
    end_request = awaited(Tokens.end_request)
    calls = awaited(Tokens.calls)


class AsyncWebhooks(Part[Webhooks]):
    """As `Webhooks`, awaitable."""

    register = awaited(Webhooks.register)
    rotate_secret = awaited(Webhooks.rotate_secret)
    remove = awaited(Webhooks.remove)
    list = awaited(Webhooks.list)
    dead_letters = awaited(Webhooks.dead_letters)
    replay = awaited(Webhooks.replay)
    redeliver = awaited(Webhooks.redeliver)
    endpoints = awaited(Webhooks.endpoints)
    event = awaited(Webhooks.event)
    version = awaited(Webhooks.version)
    endpoint = awaited(Webhooks.endpoint)
    secrets = awaited(Webhooks.secrets)
    settle = awaited(Webhooks.settle)
    failing = awaited(Webhooks.failing)
    with_problems = awaited(Webhooks.with_problems)
    gone = awaited(Webhooks.gone)
