"""Table as of p = fold of the log to p = rebuild to p, for random histories."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import astuple
from itertools import pairwise
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beliefledger import open_memory
from beliefledger.gate.belief import folded
from beliefledger.ledger.candidate import Candidate, Span, SpeechAct, When
from beliefledger.ledger.times import DAY, parse
from beliefledger.projections import digests, questions
from beliefledger.projections.beliefs import Fold, Version

START = parse("2026-01-01T00:00:00Z")
END = parse("2200-01-01")


class Scripted:
    """An extractor for turns that say outright what they state: the gate and the log are real."""

    name = "scripted"

    def extract(self, turn, earlier=()):
        said = json.loads(turn.content)
        since = said.get("since")
        return [
            Candidate(
                claim=f"User has {said['attribute']} {said['value']}",
                spans=(Span(start=0, end=len(turn.content), quote=turn.content),),
                type="constraint" if said["attribute"] == "rule" else "fact",
                attribute=said["attribute"],
                value=said["value"],
                negated=said["negated"],
                context=said["context"],
                act=SpeechAct(said["act"]),
                inferred=said["inferred"],
                importance=500_000,
                confidence=900_000,
                when=When(start=START + since * DAY) if since is not None else When(),
            )
        ]


statements = st.fixed_dictionaries(
    {
        "attribute": st.sampled_from(["home", "home", "home", "editor", "rule"]),
        "value": st.sampled_from(["alpha", "beta", "gamma"]),
        "negated": st.sampled_from([False, False, False, True]),
        "context": st.sampled_from([None] * 6 + ["work"]),
        "inferred": st.sampled_from([False] * 4 + [True]),
        "act": st.sampled_from(
            ["statement"] * 3 + ["change"] * 2 + ["correction"] * 2 + ["removal", "hypothetical"]
        ),
        "since": st.one_of(st.none(), st.none(), st.integers(-100, 100)),
        "back": st.sampled_from([0, 0, 0, 0, 25]),
    }
)
steps = st.tuples(
    st.sampled_from(["say"] * 10 + ["resolve"] * 2 + ["revoke", "withdraw"]), statements
)
histories = st.lists(steps, min_size=5, max_size=18)


def live(memory, history):
    """Play a history through the front door."""
    memory.consent.grant("ana", "consent")
    for day, (step, said) in enumerate(history):
        if step == "say":
            words = json.dumps(said)
            memory.record_turn("ana", words, said_at=START + (day - said["back"]) * DAY)
            memory.process()
        elif step == "revoke" and (beliefs := memory.beliefs("ana")):
            memory.revoke(beliefs[0].memory_id, by="ben")
        elif step == "resolve":
            for conflict in memory.conflicts.list("ana"):
                if conflict.standing:
                    choice = conflict.standing[0].memory_id
                    memory.conflicts.resolve(conflict.belief_id, choose=choice, by="ben")
        elif step == "withdraw" and memory.consent.list("ana"):
            memory.consent.withdraw("ana", by="system")
            memory.consent.grant("ana", "consent")


def open_rows(rows, position):
    """The rows that are open as of a position, as that position knew them."""
    found = []
    for row in rows:
        if row.opened <= position and (row.closed is None or row.closed > position):
            found.append(tuple(astuple(row)[: -len(("closed", "closed_at", "closed_by"))]))
    return sorted(found)


def table_rows(memory, generation=None):
    with memory._queries.view("belief_versions") as (connection, current):
        table = memory._core.projector.views["belief_versions"].tables(generation or current)[0]
        return [Version(*row) for row in connection.execute(table.select())]


def fold_rows(memory, upto):
    """Every row that a fold of the log makes, without any table."""
    folds, rows = {}, []
    for event in memory._log.read(upto=upto):
        if event.type.startswith(("memory.", "belief.", "conflict.")):
            fold = folds.setdefault(event.stream, Fold([], memory._core.tagger))
            fold.opened, fold.closed = [], []
            fold.apply(event)
            rows += fold.opened
    return rows


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories, st.randoms(use_true_random=False))
def test_table_as_of_any_position_is_the_fold_is_the_rebuild(history, random):
    with tempfile.TemporaryDirectory() as directory:
        with open_memory(Path(directory), extractor=Scripted()) as memory:
            live(memory, history)
            head = memory._log.head().position
            position = random.randint(1, head)
            table = table_rows(memory)
            folded_rows = fold_rows(memory, position)

            projector = memory._core.projector
            generation, reached = projector.shadow("belief_versions", position)
            assert reached == position
            rebuilt = table_rows(memory, generation)
            projector.drop("belief_versions", generation)

            assert open_rows(table, position) == open_rows(folded_rows, position)
            assert open_rows(table, position) == open_rows(rebuilt, position)

            assert all(answer.same for answer in memory.operations.rebuild(verify=True))
            assert memory.audit.replay_all().different == 0
            assert memory.proofs.verify().ok


def assert_no_two_values_at_once(rows):
    """In one context of one slot, valid times never overlap."""
    for context in {row.context_tag for row in rows}:
        spans = sorted(
            (row.valid_from, row.valid_to or END, row.memory_id)
            for row in rows
            if row.context_tag == context and row.valid_from != row.valid_to
        )
        for (_, end, one), (begin, _, other) in pairwise(spans):
            assert end <= begin, (one, other)


@settings(max_examples=60, deadline=None)
@given(histories)
def test_the_view_and_the_gate_agree_on_what_is_believed(history):
    """Two folds of one stream, written apart, for two purposes."""
    with tempfile.TemporaryDirectory() as directory:
        with open_memory(Path(directory), extractor=Scripted()) as memory:
            live(memory, history)
            rules = memory._core.rulebook.current()
            rows = table_rows(memory)
            for stream in {row.belief for row in rows}:
                belief = folded(memory._log.read_stream(stream), rules.registry)
                held = [
                    row
                    for row in rows
                    if row.belief == stream and row.closed is None and not row.quarantined
                ]
                assert {
                    (row.memory_id, row.confidence, row.mentions, row.valid_from, row.valid_to)
                    for row in held
                } == {
                    (each.memory_id, each.confidence, each.mentions, each.valid_from, each.valid_to)
                    for each in (*belief.current, *belief.past)
                }
                now = {each.memory_id for each in belief.current}
                assert {row.contested for row in held if row.memory_id in now} <= {belief.contested}
                assert not any(row.contested for row in held if row.memory_id not in now)
                assert_no_two_values_at_once(held)
                assert {row.memory_id for row in rows if row.quarantined and not row.closed} >= {
                    held.memory_id for held in belief.quarantined
                }


@settings(max_examples=25, deadline=None)
@given(st.lists(statements, min_size=1, max_size=10), st.integers(1, 9))
def test_two_ledgers_fed_the_same_say_the_same(said, cut):
    """However the turns are batched and processed, and whatever the clock showed."""
    contents = []
    for batched in (True, False):
        with tempfile.TemporaryDirectory() as directory:
            clock = iter(range(parse("2026-06-01"), parse("2026-07-01"), 1000 + batched))
            with open_memory(
                Path(directory), extractor=Scripted(), clock=lambda ticks=clock: next(ticks)
            ) as memory:
                memory.consent.grant("ana", "consent")
                for index, each in enumerate(said):
                    memory.record_turn(
                        "ana",
                        json.dumps(each),
                        said_at=START + (index - each["back"]) * DAY,
                        ordinal=index,
                    )
                    if not batched and index % cut == 0:
                        memory.process()
                memory.process()
                contents.append(
                    {view.name: view.content_digest for view in memory.status(digests=True).views}
                )
    assert contents[0] == contents[1]


def test_a_poison_event_stops_its_view_alone_and_says_where(tmp_path):
    with open_memory(tmp_path, extractor=Scripted()) as memory:
        live(memory, [])
        memory.store("ana", "Lisbon", attribute="home.location")
        assert memory.status(digests=True).views
        projector = memory._core.projector
        churn = projector.views["churn"]

        def fails(event, connection):
            raise ValueError("cannot be folded")

        healthy, churn.apply = churn.apply, fails
        memory.store("ana", "Porto", attribute="home.location")
        states = {view.name: view for view in memory.status(digests=True).views}
        [poison] = memory.subscribe(types=["memory.superseded.v2"], follow=False)
        assert states["churn"].stopped_at == poison.position
        assert states["churn"].reason.endswith(": ValueError")
        assert states["belief_versions"].lag == 0
        assert [belief.value for belief in memory.beliefs("ana")] == ["Porto"]

        churn.apply = healthy
        memory.operations.rebuild("churn")
        states = {view.name: view for view in memory.status(digests=True).views}
        assert (states["churn"].stopped_at, states["churn"].lag) == (None, 0)


def test_a_damaged_row_is_named_by_rebuild_and_mended(tmp_path):
    with open_memory(tmp_path) as memory:
        memory.consent.grant("ana", "consent")
        memory.store("ana", "Porto", attribute="home.location")
        assert memory.beliefs("ana")
        projector = memory._core.projector
        with projector.writing() as connection:
            connection.exec_driver_sql("UPDATE belief_versions_1 SET confidence = 1")
        answers = {answer.name: answer for answer in memory.operations.rebuild(verify=True)}
        assert answers["belief_versions"].same is False
        assert "confidence was 1" in answers["belief_versions"].first_difference
        assert answers["decisions"].same
        assert memory.operations.rebuild("belief_versions", verify=True)[0].same


def test_digests_tell_rows_and_contents_apart(tmp_path):
    with open_memory(tmp_path) as memory:
        memory.consent.grant("ana", "consent")
        memory.store("ana", "Porto", attribute="home.location", said_at=START)
        with memory._queries.view("belief_versions") as (connection, generation):
            its = memory._core.projector.views["belief_versions"].tables(generation)
            before = digests.digest(connection, its)
            [row] = questions.standing(connection, generation, memory._log.subject("ana"))
            [said] = digests.contents(connection, "belief_versions", its[0], memory._log)
        assert row.memory_id not in map(str, said)
        assert "Porto" in said
        assert START in said
        memory.store("ana", "Lisbon", attribute="home.location", said_at=START + DAY)
        with memory._queries.view("belief_versions") as (connection, generation):
            assert digests.digest(connection, its) != before


def test_a_reopened_ledger_that_is_caught_up_goes_on(tmp_path):
    with open_memory(tmp_path) as memory:
        memory.consent.grant("ana", "consent")
        memory.store("ana", "Porto", attribute="home.location")
        assert memory.beliefs("ana")
    with open_memory(tmp_path) as memory:
        assert [belief.value for belief in memory.beliefs("ana")] == ["Porto"]
        memory.store("ana", "Faro", attribute="home.location")
        assert [belief.value for belief in memory.beliefs("ana")] == ["Faro"]
        assert all(answer.same for answer in memory.operations.rebuild(verify=True))
        memory.store("ana", "Braga", attribute="home.location")
        assert [belief.value for belief in memory.beliefs("ana")] == ["Braga"]


def test_views_of_another_history_are_rebuilt(tmp_path):
    ledger, backup = tmp_path / "ledger", tmp_path / "backup"
    with open_memory(ledger) as memory:
        memory.consent.grant("ana", "consent")
        memory.store("ana", "Porto", attribute="home.location")
    shutil.copytree(ledger, backup)
    with open_memory(ledger) as memory:
        memory.store("ana", "Faro", attribute="home.location")
        assert [belief.value for belief in memory.beliefs("ana")] == ["Faro"]
    for file in ("log.db", "keys.db"):
        shutil.copy(backup / file, ledger / file)
    with open_memory(ledger) as memory:
        assert [belief.value for belief in memory.beliefs("ana")] == ["Porto"]
        memory.store("ana", "Braga", attribute="home.location")
        assert [belief.value for belief in memory.beliefs("ana")] == ["Braga"]
        assert all(answer.same for answer in memory.operations.rebuild(verify=True))


def test_damaged_or_deleted_views_are_folded_anew(tmp_path):
    with open_memory(tmp_path) as memory:
        memory.consent.grant("ana", "consent")
        memory.store("ana", "Porto", attribute="home.location")
        assert memory.beliefs("ana")
    views = tmp_path / "views" / "views.db"
    views.write_bytes(b"this is not a database" * 100)
    with open_memory(tmp_path) as memory:
        assert [belief.value for belief in memory.beliefs("ana")] == ["Porto"]
    shutil.rmtree(tmp_path / "views")
    with open_memory(tmp_path) as memory:
        assert [belief.value for belief in memory.beliefs("ana")] == ["Porto"]
