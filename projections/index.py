"""The index of one subject: what is searched, kept in memory and kept up with the views.

It has every row of every memory and every turn, past ones too, so a search as of any time works
like one of now. Of words it keeps terms, vectors and what a network reads of each text.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import orjson
from sqlalchemy import Connection

from beliefledger.ledger.candidate import MILLION
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.encryption import SubjectKeys
from beliefledger.ledger.restored import Restored
from beliefledger.ledger.streams import session_tag
from beliefledger.ledger.times import Micros
from beliefledger.projections import novelty
from beliefledger.projections.answer_kinds import kinds_in
from beliefledger.projections.columns import Codes, Columns
from beliefledger.projections.dense import Dense
from beliefledger.projections.index_accesses import Accesses, Showings
from beliefledger.projections.index_filters import Beside, Filters, FoundTexts
from beliefledger.projections.index_queries import (
    Erasures,
    IndexedGenerations,
    Read,
    Source,
    rows_since,
    shown_since,
    turns_since,
)
from beliefledger.projections.index_state import State, under, within
from beliefledger.projections.index_texts import heading, of_memory
from beliefledger.projections.lexical import Lexical
from beliefledger.projections.open_sentences import is_new, stated, unreal
from beliefledger.projections.readings import Readings
from beliefledger.projections.recalls import shown_in
from beliefledger.projections.search_requests import TaggedWhere
from beliefledger.projections.search_terms import indexed, terms
from beliefledger.projections.set_members import told_of
from beliefledger.projections.showing import ShownTurn, bare, shown_again
from beliefledger.projections.text_lines import TextLines
from beliefledger.projections.turn_context import AGENTS, prior
from beliefledger.projections.vectors import text_tag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from beliefledger.projections.embedding import Vectors

NEVER = (1 << 63) - 1
"""Later than any position or time."""
_NUMBERS = (
    "text", "memory", "type", "topic", "scope", "quarantined", "confidence", "importance",
    "valid_from", "valid_to", "expires_at", "said_at", "opened", "closed", "row_id", "against",
    "supersedes",
)  # fmt: skip
_COLUMNS = ("rows", "texts", "shown")
_CODES = ("memories", "types", "topics", "scopes", "sessions")
_PARTS = ("words", "heads", "lines", "readings", "beside")
"""The parts of an index, by what they are kept as."""
_AFTER = 7
"""The place of `after` among the columns of texts."""
SESSION = "session"
"""The narrowest scope."""


class SubjectIndex:
    """Texts of one subject, numbered from 0. Take its `lock` for as long as you use it."""

    def __init__(self, subject_ref: str, keys: SubjectKeys, model: str) -> None:
        self.subject_ref = subject_ref
        self.keys = keys
        self.model = model
        self.lock = threading.RLock()
        self.start()

    def start(self) -> None:
        """Empty the index."""
        self.erasures: Erasures | None = None
        """The erasures that were known before anything was read; None until the caller says so."""
        self.words, self.heads = Lexical(), Lexical(b=0)
        """Indexes of what was said, and of when and by whom."""
        self.lines = TextLines()
        self.readings = Readings()
        self.dense: Dense | None = None
        self.rows = Columns(_NUMBERS)
        self.texts = Columns(
            (
                "words_at", "is_memory", "said_at", "session", "prior", "agent", "before", "after",
                "own", "decided", "kinds", "novelty", "aside",
            )
        )  # fmt: skip
        """`prior`: how much a turn counts, in millionths; all of it for memories. `agent`: 1 for
        what an agent said. `before` and
        `after`: the numbers of the turns next to it in its session, where somebody else spoke.
        `own`: the session of a memory, as it was written. Else −1. `decided`: the position from
        which a text may be shown. `kinds`: of the answers that it has, as bits. `novelty`: how
        probably a turn tells something new, in thousandths. `aside`: see `novelty.aside`."""
        self.shown = Showings()
        self.memories, self.types, self.topics = Codes(), Codes(), Codes()
        self.scopes, self.sessions = Codes(), Codes()
        self.turn_ids: list[str] = []
        """Each text's turn id; empty for a memory."""
        self._tags: list[str] = []
        self._kept_tags = b""
        """The same as they were kept, until somebody asks for them."""
        self.beside = Beside()
        """Each text's agent, and what was kept beside it."""
        self.waiting: dict[int, str] = {}
        """The words of the texts that have no vector yet."""
        self.at = {"beliefs": 0, "turns": 0, "recalls": 0}
        """The position up to which each view was read."""
        self._found: tuple[Filters, Micros, FoundTexts] | None = None
        """The last result of the filters, and until when it holds."""
        self._settled = 0
        """The position that what is here was read up to: no row or text is of a later one."""
        self._row_at: dict[int, int] = {}
        self._text_at: dict[int, int] = {}
        self._last_turn: dict[int, tuple[int, str]] = {}
        """By session: the number of its last turn, and who spoke."""
        self.turns: MutableMapping[str, ShownTurn] = {}
        """By id: what is shown of a turn."""
        self._undecided: dict[int, tuple[str, str]] = {}
        """Id and session of turns, by position, of which nothing is shown before they are decided …
        """
        self._hidden: dict[str, int] = {}
        """… and by id those of which nothing is shown, though they are."""
        self._last_at = 0
        """The position of the last turn that was added."""
        self._without: set[str] = set()
        """The memories whose words were left out."""

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def has_turns(self) -> bool:
        return bool(self._last_turn)

    @property
    def position(self) -> int:
        """The position that the index has completely; of later events it may have some."""
        return min(self.at.values())

    @property
    def tags(self) -> list[str]:
        """Each text's vector tag."""
        if self._kept_tags:
            self._tags, self._kept_tags = orjson.loads(self._kept_tags), b""
        return self._tags

    # Keeping up

    def follow(
        self,
        connection: Connection,
        generations: IndexedGenerations,
        reached: Mapping[str, int],
        source: Source,
    ) -> bool:
        """Read what is new in the views; `reached` is each view's position. False where words that
        are in the index may no longer be shown, or others in between may: it is to be begun anew.
        """
        self._found, self._settled = None, max(self._settled, *reached.values())
        if not self._still_so(source):
            return False
        # Each is told at once: when the next cannot be read, nothing is taken in twice.
        if reached["beliefs"] > self.at["beliefs"]:
            self._rows_since(connection, generations.beliefs, source)
            self.at["beliefs"] = reached["beliefs"]
        if reached["turns"] > self.at["turns"]:
            if not self._turns_since(connection, generations.turns, source):
                return False
            self.at["turns"] = reached["turns"]
        if reached["recalls"] > self.at["recalls"]:
            self._shown_since(connection, generations.recalls)
            self.at["recalls"] = reached["recalls"]
        return True

    def pass_over(self, recalls: Sequence[Recorded], upto: int) -> None:
        """Take in the subject's events up to a position, where only these recalls say anything of
        what is searched: the views need not be asked."""
        for each in recalls:
            shown = [self.memories(memory_id) for memory_id in shown_in(each.facts)]
            self.shown.add([(number, each.position, each.recorded_at) for number in shown])
        self.at = dict.fromkeys(self.at, upto)

    def _still_so(self, source: Source) -> bool:
        """Take in what became of texts that are here. False where other words are to be shown."""
        showing = source.showing
        worded = self._worded(source.memories)
        for memory_id in source.memories:
            left_out = memory_id in self._without
            if (left_out or memory_id in worded) and left_out == showing.memory(memory_id):
                return False
        numbers = self.lines.turns
        touched = [each for each in source.turns if each in numbers]
        hidden = [each for each in source.turns if each in self._hidden]
        at = [int(self.texts["words_at"][numbers[each]]) for each in touched]
        at += [self._hidden[each] for each in hidden]
        for turn_id, raw in zip([*touched, *hidden], source.read(at), strict=True):
            content = "" if raw.body is None else raw.body["content"]
            shown = showing.turn(turn_id, content) if content else None
            number = numbers.get(turn_id)
            if (number is None) != (shown is None):
                return False
            if number is not None and shown is not None:
                if shown.withheld != self.turns[turn_id].withheld:
                    return False
                self.turns[turn_id] = shown
        return True

    def _worded(self, memory_ids: Collection[str]) -> set[str]:
        """Those of some memories whose words are here."""
        if not memory_ids:
            return set()
        known = [each for each in memory_ids if self.memories.known([each])]
        worded = self.rows["memory"][self.rows["text"] >= 0]
        here = np.isin(self.memories.known(known), worded)
        return {each for each, is_here in zip(known, here.tolist(), strict=True) if is_here}

    def _rows_since(self, connection: Connection, generation: int, source: Source) -> None:
        since = self.at["beliefs"]
        query = rows_since(generation, everything=not since)
        given = {"subject": self.subject_ref, "since": since}
        new, found = [], connection.execute(query, given).all()
        if found and len(self._row_at) < len(self.rows):
            self._know_places()
        for row in found:
            known = self._row_at.get(row[0])
            if known is not None:
                self.rows["closed"][known] = NEVER if row[14] is None else row[14]
            else:
                new.append(row)
        if not new:
            return
        # What is in quarantine is not searched; its rows tell what it contradicts.
        shown = {row[2]: source.showing.memory(row[2]) for row in new if not row[6]}
        self._without.update(each for each, may_be in shown.items() if not may_be)
        worded = [row for row in new if not row[6] and shown[row[2]]]
        self._read_memories([row[1] for row in worded if row[1] not in self._text_at], source.read)
        there = {row[0] for row in worded if row[1] in self._text_at}  # without what is erased
        new = [row for row in new if row[0] in there or row[6]]
        start = len(self.rows)
        self._row_at |= {row[0]: start + place for place, row in enumerate(new)}
        self.rows.add(
            [
                (
                    self._text_at.get(row[1], -1) if row[0] in there else -1,
                    self.memories(row[2]),
                    self.types(row[3]),
                    self.topics(row[4]),
                    self.scopes(row[5]),
                    row[6],
                    row[7],
                    row[8],
                    row[9],
                    NEVER if row[10] is None else row[10],
                    NEVER if row[11] is None else row[11],
                    row[12],
                    row[13],
                    NEVER if row[14] is None else row[14],
                    row[0],
                    -1 if row[15] is None else self.memories(row[15]),
                    -1 if row[16] is None else self.memories(row[16]),
                )
                for row in new
            ]
        )

    def _know_places(self) -> None:
        """Look where rows and words are; an index that was restored has to before it goes on."""
        self._row_at = {row: place for place, row in enumerate(self.rows["row_id"].tolist())}
        memory = self.texts["is_memory"] == 1
        at = self.texts["words_at"][memory].tolist()
        self._text_at = dict(zip(at, np.flatnonzero(memory).tolist(), strict=True))

    def _read_memories(self, positions: Sequence[int], read: Read) -> None:
        rows = []
        for raw in read(sorted(set(positions))):
            if raw.body is not None:
                memory = raw.body["memory"]
                said = of_memory(memory["claim"], memory["attribute"])
                number = self._add(said, "", "", memory["claim"])
                self._text_at[raw.position] = number
                self.lines.is_memory(number, memory)
                self.beside.add(memory.get("agent"), memory.get("metadata"))
                own = self.sessions(session_tag(self.keys.ids, memory["session"]))
                shown = (MILLION, 0, -1, -1, own, 0, kinds_in(memory["claim"]), 0, 0)
                rows.append((raw.position, 1, memory["said_at"], -1, *shown))
        self.texts.add(rows)

    def _turns_since(self, connection: Connection, generation: int, source: Source) -> bool:
        """Add the turns that were decided since; False where one of them belongs before others."""
        given = {"subject": self.subject_ref, "since": self.at["turns"]}
        rows_of = connection.execute(turns_since(generation), given)
        self._undecided |= {row[0]: (row[1], row[2]) for row in rows_of}
        decided = {
            at: turn for at, turn in self._undecided.items() if source.showing.is_decided(turn[0])
        }
        for at in decided:
            del self._undecided[at]
        first = len(self)
        rows: list[list[int]] = []
        for raw in source.read(sorted(decided)):
            turn_id, tag = decided[raw.position]
            content = "" if raw.body is None else raw.body["content"]
            if raw.body is None or not content:
                continue  # erased, or withheld
            shown = source.showing.turn(turn_id, content)
            if shown is None:
                self._hidden[turn_id] = raw.position
                continue
            content = bare(content, shown.withheld)
            if raw.position < self._last_at:
                return False
            self._last_at = raw.position
            said_at = raw.body["said_at"]
            said_at = raw.recorded_at if said_at is None else said_at
            speaker = raw.body["speaker"] or raw.facts["role"]
            # Turns without a session are no conversation: nobody says that they follow each other.
            session = -1 if raw.body["session"] is None else self.sessions(tag)
            number = self._add(content, heading(speaker, said_at), turn_id)
            self.lines.is_turn(number, turn_id, raw.facts["role"], unreal(content))
            self.beside.add(raw.body.get("agent"), raw.body.get("metadata"))
            last, spoke = (-1, "") if session < 0 else self._last_turn.get(session, (-1, ""))
            before = last if spoke != speaker else -1
            counts = round(prior(raw.facts["role"], stated(content)) * MILLION)
            agent = int(raw.facts["role"] in AGENTS)
            rows.append(
                [
                    raw.position, 0, said_at, session, counts, agent, before, -1, -1,
                    shown.decided, kinds_in(content), *novelty.columns(content),
                ]
            )  # fmt: skip
            self.turns[turn_id] = shown
            if before >= first:
                rows[before - first][_AFTER] = number
            elif before >= 0:
                self.texts["after"][before] = number
            self._last_turn[session] = number, speaker
        self.texts.add(rows)
        return True

    def _shown_since(self, connection: Connection, generation: int) -> None:
        given = {"subject": self.subject_ref, "since": self.at["recalls"]}
        rows = connection.execute(shown_since(generation), given)
        self.shown.add([(self.memories(row[1]), row[0], row[2]) for row in rows])

    def _add(self, words: str, head: str, turn_id: str, said: str | None = None) -> int:
        """Add a text, of which only `said` was said where that is given; returns its number. The
        caller adds its row."""
        found = indexed(words)
        number = self.words.add(found)
        own = words if said is None else said
        told = told_of(own)
        self.readings.add(own)
        self.lines.add(found if said is None else indexed(said), told, new=is_new(words))
        self.heads.add(terms(head) if head else ())
        self.turn_ids.append(turn_id)
        self.tags.append(text_tag(self.keys, self.model, words))
        self.waiting[number] = words
        return number

    def embedded(self, vectors: Mapping[int, Vectors], dimension: int) -> None:
        """Add the vectors of texts that waited for theirs."""
        if self.dense is None:
            self.dense = Dense(dimension)
        if vectors:
            self.dense.add(list(vectors), np.stack(list(vectors.values())))
            for number in vectors:
                del self.waiting[number]

    # Asking

    def found(self, filters: Filters) -> FoundTexts:
        """The texts that pass the filters, before anything is ranked. Not to be changed."""
        if self._found is not None:
            asked, until, found = self._found
            at, position = asked.position, filters.position
            if at == position or min(at, position) >= self._settled:
                same = replace(asked, valid_at=filters.valid_at, position=position) == filters
                if same and asked.valid_at <= filters.valid_at < until:
                    return found
        found, until = self._find(filters)
        self._found = filters, until, found
        return found

    def _find(self, filters: Filters) -> tuple[FoundTexts, Micros]:
        """As `found`, and until when the result holds."""
        count, until, where = len(self), NEVER, filters.where
        mask = np.zeros(count, np.bool_)
        row_of = np.full(count, -1, np.int64)
        if filters.memories and count and len(self.rows):
            rows = self.rows
            there = (
                (rows["text"] >= 0)
                & (rows["opened"] <= filters.position)
                & (rows["closed"] > filters.position)
                & (rows["quarantined"] == 0)
                & (rows["confidence"] >= filters.min_confidence)
                & (rows["importance"] >= filters.min_importance)
            )
            for column, codes, wanted in (
                ("type", self.types, filters.types or None),
                ("topic", self.topics, filters.topic_tags or None),
                ("scope", self.scopes, filters.scopes),
                ("type", self.types, None if where is None else where.types),
                ("topic", self.topics, None if where is None else where.topic_tags),
            ):
                if wanted is not None and not set(codes.names) <= set(wanted):
                    there &= np.isin(rows[column], codes.known(wanted))
            for own in self.scopes.known([SESSION]):
                of = self.sessions.known([filters.session_tag])
                theirs = np.isin(self.texts["own"][rows["text"]], of)
                there &= (rows["scope"] != own) | theirs
            if where is not None:
                there &= self._of(where)[rows["text"]]
            for column in ("valid_from", "valid_to", "expires_at"):
                later = rows[column] > filters.valid_at
                until = min(until, int(rows[column][there & later].min(initial=NEVER)))
                if column != "valid_to" or not filters.past:
                    there &= ~later if column == "valid_from" else later
            at = np.flatnonzero(there)
            mask[rows["text"][at]] = True
            row_of[rows["text"][at]] = at  # of several rows the last one opened
        if filters.episodes and not (where is not None and where.of_memories):
            turns = (self.texts["is_memory"] == 0) & (self.texts["decided"] <= filters.position)
            mask |= turns if where is None else turns & self._of(where)
        return FoundTexts(mask, row_of), until

    def _of(self, where: TaggedWhere) -> NDArray[np.bool_]:
        """Which texts are of a session and an agent, with this beside them."""
        found = self.beside.of(where)
        if where.session_tag is not None:
            of = self.sessions.known([where.session_tag])
            texts = self.texts
            said_in = np.where(texts["is_memory"] == 1, texts["own"], texts["session"])
            found &= np.isin(said_in, of)
        return found

    def accesses(self, position: int) -> Accesses:
        """By memory number: how often it was shown up to a position, and when last (0: never)."""
        return self.shown.upto(position, len(self.memories.names))

    # Keeping

    def state(self) -> State:
        """All that it has of texts that have their vectors, to be restored in another process."""
        if self.waiting or self.dense is None or not self.dense.exact:
            raise ValueError("An index is kept once all of it has vectors.")
        state: State = {name: getattr(self, name).state() for name in _COLUMNS}
        state |= {name: getattr(self, name).names for name in _CODES}
        for name in _PARTS:
            state |= under(name, getattr(self, name).state())
        state |= under("dense", self.dense.state())
        return state | {
            "erasures": list(self.erasures or ()),
            "turn_ids": self.turn_ids,
            "tags": np.frombuffer(orjson.dumps(self.tags), np.uint8),
            "at": self.at,
            "last_turn": list(self._last_turn.items()),
            "turns": dict(self.turns),
            "undecided": list(self._undecided.items()),
            "hidden": self._hidden,
            "last_at": self._last_at,
            "without": sorted(self._without),
        }

    def restore(self, state: State, dimension: int) -> None:
        """Have what another index of the same subject and model had."""
        self.start()
        for name in _COLUMNS:
            getattr(self, name).restore(state[name])
        for name in _CODES:
            setattr(self, name, Codes(state[name]))
        self.dense = Dense(dimension)
        self.dense.restore(within("dense", state))
        for name in _PARTS:
            getattr(self, name).restore(within(name, state))
        self.erasures = Erasures(*state["erasures"])
        self.turn_ids, self._kept_tags = state["turn_ids"], state["tags"].tobytes()
        self.at, self._hidden = dict(state["at"]), dict(state["hidden"])
        self._last_turn = {session: (number, by) for session, (number, by) in state["last_turn"]}
        self.turns = Restored(state["turns"], shown_again)
        self._undecided = {at: (turn, tag) for at, (turn, tag) in state["undecided"]}
        self._last_at, self._settled = state["last_at"], max(self.at.values())
        self._without = set(state["without"])
