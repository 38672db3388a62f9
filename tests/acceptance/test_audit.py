"""Audit counts: over envelopes, the same after an erasure, and what does not add up is noticed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.audit.counts import Tally
from beliefledger.ledger.codec import New
from beliefledger.ledger.eraser import Wanted
from beliefledger.ledger.errors import InvalidQuery
from beliefledger.ledger.events.ops import ConsumerAcknowledged
from beliefledger.ledger.log import new_id
from beliefledger.ledger.streams import ops_stream
from beliefledger.projections import questions
from beliefledger.tools.cli import app

MEETINGS = ("morning", "afternoon", "morning", "afternoon", "morning")


def tell(memory):
    """Two people, with decisions of every outcome, a loop, revocations, and a search."""
    for who in ("ana", "bruno"):
        memory.consent.grant(who, "consent")
    for day, when in enumerate(MEETINGS):
        memory.remember("ana", f"I prefer {when} meetings.", said_at=f"2026-04-{day * 4 + 1:02}")
    memory.remember("ana", "I live in Lisbon.", said_at="2026-01-01", session="s1")
    memory.remember("ana", "I live in Lisbon.", said_at="2026-01-09", session="s2")
    memory.remember("ana", "I moved to Porto.", said_at="2026-02-01")
    memory.remember("ana", "No, I live in Faro, not Porto.", said_at="2026-02-02")
    memory.remember("ana", "What if I were a doctor?", said_at="2026-02-03")
    memory.remember("ana", "I'm allergic to penicillin.", said_at="2026-02-04")
    memory.remember("ana", "I'm tired today.", said_at="2026-02-05")
    memory.remember("bruno", "I use pytest.")
    memory.store("bruno", "dark", attribute="display.theme")
    memory.search("ana", "meetings")
    conflict = memory.conflicts.list("ana")[0]
    memory.conflicts.resolve(conflict.belief_id, choose=conflict.standing[0].memory_id, by="ana")
    memory.revoke(memory.beliefs("bruno")[0].memory_id, by="bruno")


@pytest.fixture
def memory(place):
    with open_memory(place) as opened:
        tell(opened)
        yield opened


def problems(answer):
    return [(each.what, each.detail) for each in answer.sums if not each.adds_up]


def counted_plainly(memory):
    """Types, decisions and revocations as a reader of whole events counts them."""
    types, decisions, causes, kinds = Counter(), Counter(), Counter(), Counter()
    for event in memory._log.read():
        types[event.type] += 1
        if event.type == "gate.decided.v2":
            decisions[event.facts["outcome"], event.facts["reason"]] += 1
        elif event.type == "memory.revoked.v1":
            causes[event.facts["cause"]] += 1
        elif event.type == "memory.superseded.v2":
            kinds[event.facts["kind"]] += 1
    return types, decisions, causes, kinds


def flat(decisions):
    return {
        (outcome, reason): number
        for outcome, reasons in decisions.items()
        for reason, number in reasons.items()
    }


# What is counted


def test_it_counts_what_a_reader_of_every_event_counts(memory):
    memory.consent.withdraw("bruno", by="system")
    answer = memory.audit.counts()
    assert problems(answer) == []
    assert answer.adds_up
    types, decisions, causes, kinds = counted_plainly(memory)
    assert answer.types == dict(types)
    assert answer.events == answer.position == sum(types.values())
    assert flat(answer.decisions) == dict(decisions)
    assert set(answer.decisions) >= {"admit", "confirm", "supersede", "quarantine", "queue"}
    assert set(answer.decisions) >= {"escalate", "reject"}
    assert answer.revocations == dict(causes) == {"actor": 1, "consent_withdrawn": 1}
    assert answer.supersessions == dict(kinds)
    assert set(kinds) == {"change", "correction"}
    assert (answer.loops.contested, answer.loops.resolved) == (1, {"choose": 1})
    assert answer.loops.escalated == sum(answer.decisions["escalate"].values()) == 1
    assert answer.turns == types["turn.recorded.v2"] == 14
    assert answer.candidates == sum(decisions.values())
    assert (answer.pending, answer.reads) == (0, 1)
    bodies = answer.bodies
    assert bodies.written == bodies.kept > answer.turns
    assert bodies.gone == 0


def test_erasures_change_nothing_but_how_many_bodies_are_gone(memory):
    before = memory.audit.counts().model_dump()
    memory_id = next(b.memory_id for b in memory.beliefs("ana") if b.value == "Faro")
    less = memory.erase("ana", memory=memory_id, by="dpo")
    between = memory.audit.counts()
    assert problems(between) == []
    assert between.bodies.gone == between.bodies.erased_content == less.bodies > 0
    person = memory.erase("ana", by="dpo")
    answer = memory.audit.counts()
    assert problems(answer) == []

    after = answer.model_dump()
    same = set(before) - {"position", "events", "types", "erasures", "bodies", "sums"}
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    written = before["bodies"]["written"]
    gone = less.bodies + person.bodies
    assert answer.bodies.model_dump() == {
        "written": written,
        "kept": written - gone,
        "gone": gone,
        "erased_subjects": gone,
        "erased_content": 0,
        "unexplained": 0,
    }
    added = Counter(after["types"]) - Counter(before["types"])
    assert set(added) <= {
        "erasure.requested.v2",
        "subject.erased.v2",
        "content.erased.v2",
        "principal.registered.v1",
    }
    assert {reach: each.requested for reach, each in answer.erasures.items()} == {
        "memory": 1,
        "subject": 1,
    }
    assert all(each.completed == each.requested for each in answer.erasures.values())


def test_after_it_is_opened_again_and_rebuilt_it_counts_the_same(memory, place):
    memory.erase("ana", by="dpo")
    first = memory.audit.counts()
    memory.operations.rebuild()
    assert memory.audit.counts() == first
    with open_memory(place) as again:
        assert again.audit.counts() == first


def test_an_erasure_that_is_under_way_is_requested_and_not_completed(memory):
    ref = memory._log.subject("ana")
    [erasure] = memory._log.eraser.request(
        lambda: [Wanted(ref, "subject")], actor="system", legal_basis="legal obligation"
    )
    memory._log.eraser.destroy(erasure)
    answer = memory.audit.counts()
    assert problems(answer) == []
    assert (answer.erasures["subject"].requested, answer.erasures["subject"].completed) == (1, 0)
    assert answer.bodies.erased_subjects > 0


def test_holds_and_acknowledgements_are_counted(memory):
    hold = memory.erasure.holds.place("ana", "claim 1", by="legal")
    memory.erasure.holds.place("ana", "claim 2", by="legal")
    memory.erasure.holds.place("bruno", "claim 1", by="legal")
    assert memory.audit.counts().holds_in_force == 3
    memory.erasure.holds.lift(hold, by="legal")
    stream = ops_stream(memory._log.tenant)
    for consumer, erasure in (("a", "1"), ("a", "2"), ("b", "1"), ("b", "1")):
        said = ConsumerAcknowledged(consumer=consumer, erasure=erasure)
        version = memory._log.version(stream)
        memory._log.append([New(said, new_id(), stream, None)], {stream: version})
    answer = memory.audit.counts()
    assert answer.holds_in_force == 2
    assert answer.acknowledged == {"a": 2, "b": 1}
    assert answer.adds_up


# As of a position


def test_as_of_a_position_it_is_what_was_counted_then(memory):
    then = memory.audit.counts()
    memory.remember("bruno", "I live in Faro.")
    memory.erase("bruno", by="dpo")
    again = memory.audit.counts(then.position).model_dump()
    gone = again["bodies"].pop("gone")
    assert gone > 0  # bodies are as they are now
    for each in (again, told := then.model_dump()):
        del each["sums"]
        del each["bodies"]
    assert again == told


def test_at_every_position_it_adds_up_and_only_grows(memory):
    memory.erase("ana", by="dpo")
    last = memory.audit.counts(0)
    assert (last.events, last.candidates, last.adds_up) == (0, 0, True)
    for position in range(1, memory._log.head().position + 1):
        answer = memory.audit.counts(position)
        assert problems(answer) == []
        assert answer.events == position
        assert not Counter(last.types) - Counter(answer.types)
        assert answer.candidates - answer.pending == sum(flat(answer.decisions).values())
        last = answer
    assert last == memory.audit.counts()


def test_a_position_that_is_not_there_is_refused(memory):
    for position in (-1, 10**9, True):
        with pytest.raises(InvalidQuery, match="as_of"):
            memory.audit.counts(position)


# What does not add up


def test_a_decision_that_the_view_lost_is_noticed(memory):
    memory.audit.counts()
    view = memory._core.projector.views["decisions"]
    with memory._queries.view("decisions") as (_, generation):
        table = view.tables(generation)[0]
    with memory._core.projector.writing() as connection:
        connection.execute(table.delete().where(table.c.outcome == "queue"))
    [(what, detail)] = problems(memory.audit.counts())
    assert "view of decisions" in what
    assert "queue permission.special_category: the view has 0, the log 1" in detail
    memory.operations.rebuild("decisions")
    assert memory.audit.counts().adds_up


def test_a_body_that_is_gone_without_an_erasure_is_noticed(memory):
    log = memory._log
    [turn] = [e for e in log.read() if e.type == "turn.recorded.v2"][:1]
    assert log.store.delete_bodies_of([turn.event_id]) == 1
    answer = memory.audit.counts()
    assert answer.bodies.unexplained == 1
    assert any(f"position {turn.position} is missing" in (d or "") for _, d in problems(answer))


def test_a_body_that_somebody_deleted_with_another_erasure_is_noticed(memory):
    """What is gone of somebody living is compared position by position with what was erased."""
    log = memory._log
    first, second, *_ = [
        e for e in log.of_subject(log.subject("ana")) if e.type == "turn.recorded.v2"
    ]
    memory.erase("ana", turn=first.stream, by="dpo")
    assert memory.audit.counts().adds_up
    log.store.delete_bodies_of([second.event_id])
    answer = memory.audit.counts()
    assert answer.bodies.unexplained == 1
    assert not answer.adds_up


def rows_of(memory):
    return list(memory._log.raw(0, memory._log.head().position))


def audited(memory, rows):
    """The audit of other rows than the log's."""
    with memory._queries.view("decisions") as (connection, generation):
        seen = questions.reasons(connection, generation, 10**9)
    tally = Tally([])
    for row in rows:
        tally.take(row)
    return tally.answer(rows[-1].position, seen, whole=True)


def changed(row, **facts):
    fields = json.loads(row.envelope)
    fields["facts"] |= facts
    return row._replace(envelope=json.dumps(fields, sort_keys=True).encode())


LEFT_OUT = (
    ("candidate.proposed.v2", "each candidate has one decision"),
    ("gate.decided.v2", "each candidate has one decision"),
    ("extraction.completed.v1", "candidates that extractions told of"),
    ("memory.admitted.v2", "each decision that changes a belief"),
    ("memory.confirmed.v2", "each decision that changes a belief"),
    ("memory.quarantined.v2", "each decision that changes a belief"),
    ("memory.superseded.v2", "each decision that changes a belief"),
    ("conflict.escalated.v1", "each decision that changes a belief"),
    ("consent.withdrawn.v1", "withdrawn consents revoked"),
)


def test_an_event_that_is_left_out_is_noticed(memory):
    memory.consent.withdraw("bruno", by="system")
    rows = rows_of(memory)
    assert audited(memory, rows).adds_up
    for type_, what in LEFT_OUT:
        at = next(i for i, row in enumerate(rows) if row.type == type_)
        answer = audited(memory, rows[:at] + rows[at + 1 :])
        assert any(what in each for each, _ in problems(answer)), (type_, problems(answer))


def test_a_decision_that_is_there_twice_is_noticed(memory):
    rows = rows_of(memory)
    [row] = [row for row in rows if row.type == "gate.decided.v2"][:1]
    answer = audited(memory, [*rows, row])
    told = dict(problems(answer))
    decision = json.loads(row.envelope)["event_id"]
    assert told["each candidate has one decision"] == (
        f"decision {decision} is of no candidate that waited"
    )


def test_a_reason_that_was_changed_is_noticed(memory):
    rows = rows_of(memory)
    at = next(i for i, row in enumerate(rows) if row.type == "gate.decided.v2")
    rows[at] = changed(rows[at], reason="truth.something_else")
    told = dict(problems(audited(memory, rows)))
    assert "the view has" in told["the view of decisions has those of the log"]


def test_receipts_that_say_another_number_are_noticed(memory):
    """An erasure counts what it deletes by itself; here its record is given another."""
    memory.erase("ana", by="dpo")
    rows = rows_of(memory)
    done = next(i for i, row in enumerate(rows) if row.type == "subject.erased.v2")
    counts = json.loads(rows[done].envelope)["facts"]["counts"]
    [told] = memory._log.eraser.told()
    assert told.done.facts["counts"] == counts
    wrong = {**told.done.facts, "counts": counts | {"turn.recorded.v2": 1}}
    tally = Tally([replace(told, done=replace(told.done, facts=wrong))])
    for row in rows:
        tally.take(row)
    [(_, detail)] = [
        each
        for each in problems(tally.answer(rows[-1].position, {}, whole=True))
        if each[0].startswith("erasures account")
    ]
    assert detail == f"turn.recorded.v2: erasures say 1, and {counts['turn.recorded.v2']} are gone"


# The command line


def test_the_command_shows_it_and_fails_when_it_does_not_add_up(place, memory):
    memory.erase("ana", by="dpo")

    def run(*words, code=0):
        result = CliRunner().invoke(app, ["--ledger", place, "audit", "counts", *words])
        assert result.exit_code == code, (result.stdout, result.stderr)
        return result.stdout

    shown = " ".join(run().split())
    for words in ("durability.transient", "change 4", "contested 1", "subject 1 1", "of erased"):
        assert words in shown, words
    told = json.loads(run("--json"))
    assert told == json.loads(memory.audit.counts().model_dump_json())
    assert json.loads(run("--as-of", "5", "--json"))["events"] == 5
    run("--as-of", "100000", code=2)

    turn = next(e for e in memory._log.read() if e.type == "turn.recorded.v2" and e.event)
    memory._log.store.delete_bodies_of([turn.event_id])
    assert f"the body of position {turn.position} is missing" in " ".join(run(code=3).split())
