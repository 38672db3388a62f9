"""The index of one subject for one purpose, kept up with the log and with what may be shown."""

from __future__ import annotations

from beliefledger.gate.rulebook import Rules
from beliefledger.gate.standing_parts import NAMES, Touched
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import BackendUnavailable, BackendUnusable, NotPermitted
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.gc_pause import gc_paused
from beliefledger.ledger.log import Log
from beliefledger.ledger.times import Micros
from beliefledger.opening.core import Core
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.embedding import Embedder
from beliefledger.projections.index import SubjectIndex
from beliefledger.projections.index_queries import IndexedGenerations, Source
from beliefledger.projections.recalls import RecallsView
from beliefledger.projections.search_requests import SearchRequest
from beliefledger.projections.tables import view_state
from beliefledger.projections.turns import TurnsView
from beliefledger.projections.vectors import VectorStore, rounded
from beliefledger.projections.view_databases import Home
from beliefledger.reading.queries import Queries
from beliefledger.search.standings import Standing, audited

RECALLED = MemoriesRecalled.NAME
VIEWS = (BeliefsView.name, TurnsView.name, RecallsView.name)
_FOLDED = (BeliefsView.types | TurnsView.types | RecallsView.types | NAMES) - {RECALLED}
"""What the views or the standing would have to be asked about, once it has happened."""


@dataclass(slots=True)
class LiveIndex:
    """An index, and the standing of what is in it. Whoever has the index's lock may use it."""

    index: SubjectIndex
    standing: Standing
    generations: IndexedGenerations | None = None
    kept: int | None = None
    """How much it had when it was last kept for other processes; None until one looked for that."""
    taken_up: int = 0
    """How many texts it has of what was kept."""

    @property
    def weight(self) -> int:
        """How much memory it takes, in texts of 4 kB: one that was not taken up takes about two,
        measured with 100,000 events of 57 people."""
        return 2 * len(self.index) - self.taken_up

    def start(self) -> None:
        """Empty the index."""
        self.index.start()
        self.taken_up = 0

    def restart(self) -> None:
        """Empty the index; the erasures that it knows of stay known."""
        erasures = self.index.erasures
        self.start()
        self.index.erasures = erasures
        self.kept = 0

    def follow(
        self, log: Log, queries: Queries, upto: int, rules: Rules, now: Micros
    ) -> tuple[bool, set[str]]:
        """Let the index have what the log has up to a position at least, as far as it may be shown
        now. Returns whether the views were rebuilt since, and the tags of texts that left."""
        index, before = self.index, set[str]()
        in_step = set(index.at.values()) == {self.standing.fold.position}
        touched, latest = self.standing.follow(log, upto)
        if not self.standing.permit(rules, now):
            before |= set(index.tags)
            self.restart()
        if index.position >= upto:
            return False, before
        if index.position and in_step and not any(each.type in _FOLDED for each in latest):
            # Nothing that the views would tell of the subject: they are left to who asks them.
            index.pass_over([each for each in latest if each.type == RECALLED], upto)
            return False, before
        with queries.states(*VIEWS) as (connection, states):
            generations = IndexedGenerations(*(state.generation for state in states))
            rebuilt = self.generations not in {None, generations}
            if rebuilt:  # what an older version folded otherwise is not to stay
                self.restart()
            reached = dict(zip(index.at, (state.position for state in states), strict=True))
            meanwhile, _ = self.standing.follow(log, max(upto, *reached.values()))
            touched = _both(touched, meanwhile)
            if not self.standing.permit(rules, now):
                before |= set(index.tags)
                self.restart()
            try:
                with gc_paused():
                    source = Source(log.raw_at, self.standing, touched.turns, touched.memories)
                    if not index.follow(connection, generations, reached, source):
                        before |= set(index.tags)
                        self.restart()
                        index.follow(
                            connection, generations, reached, Source(log.raw_at, self.standing)
                        )
            except BaseException:  # whatever it was: what was taken in halfway is of no use
                index.start()
                raise
        self.generations = generations
        return rebuilt, before.difference(index.tags) if before else before


def _both(one: Touched, other: Touched) -> Touched:
    return Touched(one.turns | other.turns, one.memories | other.memories)


def index_apart(
    core: Core, queries: Queries, store: VectorStore, request: SearchRequest, model: Embedder
) -> LiveIndex:
    """An index for one search of somebody who audits: of everything, or of what could be shown at
    `standing_at`. No vector that is computed for it is kept. Raises `NotPermitted` for an erased
    subject."""
    log, ref = core.log, request.subject_ref
    keys = log.keys(ref)
    if keys is None:
        raise NotPermitted("The subject was erased.")
    rules = core.rulebook.refreshed()
    purpose = request.purpose or rules.policy.purpose
    standing = audited(ref, purpose, request.standing, request.standing_at)
    live = LiveIndex(SubjectIndex(ref, keys, model.name), standing)
    now = core.clock() if request.permitted_at is None else request.permitted_at
    live.follow(log, queries, log.head().position, rules, now)
    index, dimension = live.index, model.dimension
    kept = store.all_of(keys, model.name, dimension)
    index.embedded(
        {n: kept[index.tags[n]] for n in index.waiting if index.tags[n] in kept}, dimension
    )
    if index.waiting:
        numbers = list(index.waiting)
        vectors = rounded(model.embed([index.waiting[number] for number in numbers]))
        index.embedded(dict(zip(numbers, vectors, strict=True)), dimension)
    return live


def open_vectors(home: Home) -> VectorStore:
    """The vectors beside the views; a file that is damaged is thrown away, and they are computed
    again."""
    beside = home.beside("vectors")
    if beside is home:
        with home.writing() as connection:
            home.create(connection, view_state)  # its reads want it, and a copy has no views yet
    try:
        return VectorStore(beside)
    except (BackendUnavailable, BackendUnusable) as problem:
        if not beside.discard(problem):
            raise
    return VectorStore(home.beside("vectors"))
