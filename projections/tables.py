"""The views' tables, defined once and run on SQLite and Postgres.

They hold structure and no words: references, tags (HMACs under the subject's key), types, times,
numbers, flags. `words_at` is the position of the body that has the words. Each view's tables carry
a generation in their names, so that a rebuild can fill new ones beside those in use.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)
from sqlalchemy.types import TypeEngine


def _text(length: int) -> TypeEngine[str]:
    """On Postgres of any length, as SQLite takes it anyway, and compared by its bytes."""
    return String(length).with_variant(Text(collation="C"), "postgresql")


_ID = _text(32)
_NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""A primary key that is a number. On SQLite only an INTEGER is the row's own number, which needs no
index beside the table."""
FOLD = {"needed": "by the fold"}
"""Marks an index that a view's fold looks rows up by: it is there while a rebuild fills the table.
The others are made when the table is full, which is faster."""

WHERE = "of the rows that meet"
"""Marks an index of some rows by its condition. SQLAlchemy would have it said for each kind of
database, and load all of each for that."""

FAR_END = "target"
"""The part of whom or what a relation ends at."""
AT_FAR_END = text(f"part = '{FAR_END}'")
"""Says it as the index of far ends does: without a parameter, or SQLite does not use it."""


of_generations = lru_cache(maxsize=8)
"""Keeps what is made for a generation of a view's tables, in this process. A rebuild makes another
generation and leaves the one before behind, so that not all can be kept: it took 3 MB each time."""


view_state = Table(
    "view_state",
    MetaData(),
    Column("name", _text(40), primary_key=True),
    Column("generation", Integer, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("last_event", _text(32)),
    Column("stopped_at", BigInteger),
    Column("reason", Text),
    Column("refolds", Integer, nullable=False, server_default="0"),
    Column("digest_position", BigInteger),
    Column("digest", _text(64)),
    Column("content_digest", _text(64)),
    Column("counts", Text),
)
"""How far each view is, which generation of its tables is in use, and why it stopped if it did.
`counts` is JSON: how many rows of each kind the view has, and in which state of it."""


@of_generations
def belief_versions(generation: int) -> Table:
    """What is believed: rectangles of recorded [opened, closed) × valid [valid_from, valid_to)."""
    name = f"belief_versions_{generation}"
    return Table(
        name,
        MetaData(),
        Column("row_id", _NUMBER, primary_key=True, autoincrement=False),
        Column("subject_ref", _ID, nullable=False),
        Column("belief", _ID, nullable=False),
        Column("memory_id", _ID, nullable=False),
        Column("words_at", BigInteger, nullable=False),
        Column("type", _text(40), nullable=False),
        Column("topic_tag", _ID, nullable=False),
        Column("entity_tag", _ID, nullable=False),
        Column("context_tag", _ID),
        Column("session_tag", _ID),
        Column("quarantined", Boolean, nullable=False),
        Column("contested", Boolean, nullable=False),
        Column("confidence", Integer, nullable=False),
        Column("importance", Integer, nullable=False),
        Column("mentions", Integer, nullable=False),
        Column("visibility_scope", _text(20), nullable=False),
        Column("basis", _text(40), nullable=False),
        Column("grant_id", _ID, nullable=False),
        Column("decision", _ID, nullable=False),
        Column("valid_from", BigInteger, nullable=False),
        Column("valid_from_stated", Boolean, nullable=False),
        Column("valid_to", BigInteger),
        Column("valid_to_stated", Boolean, nullable=False),
        Column("expires_at", BigInteger),
        Column("event_from", BigInteger),
        Column("event_to", BigInteger),
        Column("precision", _text(12), nullable=False),
        Column("said_at", BigInteger, nullable=False),
        Column("supersedes", _ID),
        Column("superseded_by", _ID),
        Column("contradicts", _ID),
        Column("ends_loosely", Boolean, nullable=False),
        Column("opened", BigInteger, nullable=False),
        Column("opened_at", BigInteger, nullable=False),
        Column("closed", BigInteger),
        Column("closed_at", BigInteger),
        Column("closed_by", _ID),
        Index(f"{name}_held", "subject_ref", "closed", "opened"),
        Index(f"{name}_belief", "belief", "closed", info=FOLD),
        Index(f"{name}_memory", "memory_id"),
        Index(f"{name}_contradicts", "subject_ref", "contradicts"),
    )


@of_generations
def evidence(generation: int) -> Table:
    """Which events gave a memory its words: the one that wrote it and those that confirmed it."""
    name = f"evidence_{generation}"
    return Table(
        name,
        MetaData(),
        Column("position", _NUMBER, primary_key=True, autoincrement=False),
        Column("subject_ref", _ID, nullable=False),
        Column("memory_id", _ID, nullable=False),
        Index(f"{name}_memory", "memory_id", "position"),
        Index(f"{name}_subject", "subject_ref"),
    )


@of_generations
def decisions(generation: int) -> Table:
    """What the gate decided about each candidate. Stays after an erasure: it holds no words."""
    name = f"decisions_{generation}"
    return Table(
        name,
        MetaData(),
        Column("position", _NUMBER, primary_key=True, autoincrement=False),
        Column("decision_id", _ID, nullable=False),
        Column("subject_ref", _ID, nullable=False),
        Column("turn_id", _ID, nullable=False),
        Column("candidate_version", Integer, nullable=False),
        Column("outcome", _text(12), nullable=False),
        Column("reason", _text(60), nullable=False),
        Column("mentions", Integer, nullable=False),
        Column("belief", _ID, nullable=False),
        Column("memory_id", _ID),
        Column("policy", _text(64), nullable=False),
        Column("recorded_at", BigInteger, nullable=False),
        Column("waits", Boolean, nullable=False),
        Column("settled", BigInteger),
        Index(f"{name}_id", "decision_id", info=FOLD),
        Index(f"{name}_subject", "subject_ref", "position"),
        Index(f"{name}_turn", "turn_id"),
        Index(f"{name}_waits", "waits", "position"),
    )


@of_generations
def turns(generation: int) -> Table:
    """Each turn and the state of its extraction. Those that are pending are the queue."""
    name = f"turns_{generation}"
    return Table(
        name,
        MetaData(),
        Column("position", _NUMBER, primary_key=True, autoincrement=False),
        Column("turn_id", _ID, nullable=False),
        Column("subject_ref", _ID, nullable=False),
        Column("session_tag", _ID, nullable=False),
        Column("role", _text(12), nullable=False),
        Column("channel", _text(20), nullable=False),
        Column("state", _text(12), nullable=False),
        Column("version", Integer, nullable=False),
        Column("candidates", Integer, nullable=False),
        Column("attempts", Integer, nullable=False),
        Index(f"{name}_id", "turn_id", info=FOLD),
        Index(f"{name}_state", "state", "position"),
        Index(f"{name}_session", "subject_ref", "session_tag", "position"),
        Index(f"{name}_subject", "subject_ref", "position"),
    )


@of_generations
def churn(generation: int) -> Table:
    """How each belief changed: supersessions, and when it was contested, escalated or resolved."""
    name = f"churn_{generation}"
    return Table(
        name,
        MetaData(),
        Column("position", _NUMBER, primary_key=True, autoincrement=False),
        Column("subject_ref", _ID, nullable=False),
        Column("belief", _ID, nullable=False),
        Column("happened", _text(12), nullable=False),
        Column("said_at", BigInteger),
        Column("said_at_stated", Boolean, nullable=False),
        Column("old_memory", _ID),
        Column("new_memory", _ID),
        Column("decision", _ID),
        Column("actor", _ID, nullable=False),
        Column("recorded_at", BigInteger, nullable=False),
        Index(f"{name}_belief", "belief", "position"),
        Index(f"{name}_subject", "subject_ref", "position"),
    )


@of_generations
def access(generation: int) -> Table:
    """How often each memory was shown, and when last."""
    name = f"access_{generation}"
    return Table(
        name,
        MetaData(),
        Column("memory_id", _ID, primary_key=True),
        Column("subject_ref", _ID, nullable=False),
        Column("count", Integer, nullable=False),
        Column("last_at", BigInteger, nullable=False),
        Index(f"{name}_subject", "subject_ref"),
    )


@of_generations
def recalls(generation: int) -> Table:
    """Each time that memories were shown, or searched for: what the envelope says of it."""
    name = f"recalls_{generation}"
    return Table(
        name,
        MetaData(),
        Column("position", _NUMBER, primary_key=True, autoincrement=False),
        Column("recall_id", _ID, nullable=False),
        Column("subject_ref", _ID, nullable=False),
        Column("purpose", _text(60), nullable=False),
        Column("ranker", _text(60), nullable=False),
        Column("embedder", _text(200)),
        Column("found", Integer, nullable=False),
        Column("asked_at", BigInteger, nullable=False),
        Column("recorded_at", BigInteger, nullable=False),
        Index(f"{name}_id", "recall_id"),
        Index(f"{name}_subject", "subject_ref", "position"),
    )


@of_generations
def recalled(generation: int) -> Table:
    """Which memories and turns each recall showed, best first; scores in millionths."""
    name = f"recalled_{generation}"
    return Table(
        name,
        MetaData(),
        Column("position", BigInteger, primary_key=True, autoincrement=False),
        Column("place", Integer, primary_key=True, autoincrement=False),
        Column("subject_ref", _ID, nullable=False),
        Column("found", _ID, nullable=False),
        Column("is_memory", Boolean, nullable=False),
        Column("score", BigInteger, nullable=False),
        Column("recorded_at", BigInteger, nullable=False),
        Index(f"{name}_found", "found", "position"),
        Index(f"{name}_subject", "subject_ref", "position"),
    )


@of_generations
def jobs(generation: int) -> Table:
    """Each run of a job, scheduled or asked for. `counts` is JSON of numbers by names of ours."""
    name = f"jobs_{generation}"
    return Table(
        name,
        MetaData(),
        Column("position", _NUMBER, primary_key=True, autoincrement=False),
        Column("job", _text(60), nullable=False),
        Column("due", BigInteger, nullable=False),
        Column("outcome", _text(12), nullable=False),
        Column("counts", _text(4_000), nullable=False),
        Column("duration_micros", BigInteger, nullable=False),
        Column("error", _text(200)),
        Column("actor", _ID, nullable=False),
        Column("recorded_at", BigInteger, nullable=False),
        Index(f"{name}_job", "job", "due"),
    )


@of_generations
def calls(generation: int) -> Table:
    """Each call of a tool of the server. Who called is a reference, what was sent is not here."""
    name = f"calls_{generation}"
    return Table(
        name,
        MetaData(),
        Column("position", _NUMBER, primary_key=True, autoincrement=False),
        Column("door", _text(60), nullable=False),
        Column("tool", _text(60), nullable=False),
        Column("token", _text(64), nullable=False),
        Column("principal", _ID, nullable=False),
        Column("outcome", _text(60), nullable=False),
        Column("duration_micros", BigInteger, nullable=False),
        Column("model_tokens", BigInteger, nullable=False),
        Column("cost_micro_usd", BigInteger),
        Column("recorded_at", BigInteger, nullable=False),
        Index(f"{name}_token", "token", "position"),
    )


@of_generations
def tasks(generation: int) -> Table:
    """Each task that an agent gave the ledger, and where it is. Who gave it is a reference."""
    name = f"tasks_{generation}"
    return Table(
        name,
        MetaData(),
        Column("position", _NUMBER, primary_key=True, autoincrement=False),
        Column("task_id", _ID, nullable=False),
        Column("subject_ref", _ID, nullable=False),
        Column("principal", _ID, nullable=False),
        Column("skill", _text(60), nullable=False),
        Column("conversation", _ID, nullable=False),
        Column("state", _text(20), nullable=False),
        Column("changed", BigInteger, nullable=False),
        Column("changed_at", BigInteger, nullable=False),
        Index(f"{name}_id", "task_id"),
        Index(f"{name}_principal", "principal", "changed"),
        Index(f"{name}_state", "state", "changed"),
        Index(f"{name}_subject", "subject_ref"),
    )


vectors = Table(
    "vectors",
    MetaData(),
    Column("tag", _ID, primary_key=True),
    Column("subject_ref", _ID, nullable=False),
    Column("model", _text(200), nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Index("vectors_subject", "subject_ref", "model"),
)
"""Vectors of texts, sealed under the subject's key; `tag` is an HMAC of model and text. Not folded
from events but computed once, and kept when views are rebuilt."""

kept_indexes = Table(
    "kept_indexes",
    MetaData(),
    Column("tag", _ID, primary_key=True),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("subject_ref", _ID, nullable=False),
    Column("model", _text(200), nullable=False),
    Column("erasures", Integer, nullable=False),
    Column("saved", _ID, nullable=False),
    Column("parts", Integer, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Index("kept_indexes_subject", "subject_ref", "model"),
)
"""Indexes of subjects as they were in memory, in parts that are sealed under the subject's key;
`tag` is an HMAC of model and purpose, `saved` is new each time that one is kept, and `erasures` is
how many of the subject's were on record before anything of it was read."""

vector_models = Table(
    "vector_models",
    MetaData(),
    Column("model", _text(200), primary_key=True),
    Column("place", _text(4096), nullable=False),
)
"""The directories in which models lie that were adopted: of this machine, so the log has their
names and digests alone. Of our own model, the file that had the right digest."""

decay_scores = Table(
    "decay_scores",
    MetaData(),
    Column("row_id", _NUMBER, primary_key=True),
    Column("score", Integer, nullable=False),
)
"""How much of each row of `belief_versions` was left when that was last computed, in millionths.
Not folded from events, since it changes with time: no view, no digest. A row's number is the same
after a rebuild; a memory that was said again has a new one, and no score until the next refresh."""


def _intervals(name: str, *columns: Column[Any]) -> Table:
    """A table of what was so of a subject from the position `opened` until `closed`."""
    return Table(
        name,
        MetaData(),
        Column("row_id", _NUMBER, primary_key=True, autoincrement=False),
        Column("subject_ref", _ID, nullable=False),
        *columns,
        Column("opened", BigInteger, nullable=False),
        Column("closed", BigInteger),
        Index(f"{name}_subject", "subject_ref", info=FOLD),
    )


@of_generations
def entity_names(generation: int) -> Table:
    """Whose each name was, from the position `opened` until `closed`."""
    return _intervals(
        f"entity_names_{generation}",
        Column("entity_id", _ID, nullable=False),
        Column("name_tag", _ID),
        Column("how", _text(12), nullable=False),
        Column("words_at", BigInteger, nullable=False),
    )


@of_generations
def entities(generation: int) -> Table:
    """What is known of each entity, from `opened` until `closed`. `words_at` has its first name."""
    return _intervals(
        f"entities_{generation}",
        Column("entity_id", _ID, nullable=False),
        Column("name_tag", _ID),
        Column("words_at", BigInteger, nullable=False),
        Column("merged_into", _ID),
    )


@of_generations
def entity_questions(generation: int) -> Table:
    """Pairs of entities of nearly one name; `settled` is the position of what a person answered."""
    return _intervals(
        f"entity_questions_{generation}",
        Column("entity_id", _ID, nullable=False),
        Column("like_id", _ID, nullable=False),
        Column("similarity", Integer, nullable=False),
    )


@of_generations
def teams(generation: int) -> Table:
    """Who was in which team, from the position `opened` until `closed`. What the team is called
    stands in the event at `opened`."""
    name = f"teams_{generation}"
    return Table(
        name,
        MetaData(),
        Column("row_id", _NUMBER, primary_key=True, autoincrement=False),
        Column("subject_ref", _ID, nullable=False),
        Column("team", _ID, nullable=False),
        Column("opened", BigInteger, nullable=False),
        Column("closed", BigInteger),
        Index(f"{name}_subject", "subject_ref", info=FOLD),
        Index(f"{name}_team", "team"),
    )


@of_generations
def links(generation: int) -> Table:
    """Which entities each memory speaks of, from `opened` until `closed`: whom it is about, the far
    end of a relation, who took part. `place` is the order of participants, `words_at` what wrote
    the memory, `name_tag` the name it uses."""
    name = f"links_{generation}"
    return Table(
        name,
        MetaData(),
        Column("row_id", _NUMBER, primary_key=True, autoincrement=False),
        Column("subject_ref", _ID, nullable=False),
        Column("memory_id", _ID, nullable=False),
        Column("part", _text(12), nullable=False),
        Column("place", Integer, nullable=False),
        Column("entity_id", _ID, nullable=False),
        Column("name_tag", _ID),
        Column("relation_tag", _ID),
        Column("negated", Boolean, nullable=False),
        Column("words_at", BigInteger, nullable=False),
        Column("opened", BigInteger, nullable=False),
        Column("closed", BigInteger),
        Index(f"{name}_entity", "entity_id", "part", info=FOLD),
        Index(f"{name}_ends", "subject_ref", "entity_id", "part", info={WHERE: AT_FAR_END}),
        Index(f"{name}_memory", "memory_id", info=FOLD),
        Index(f"{name}_subject", "subject_ref"),
    )
