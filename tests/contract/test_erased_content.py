"""Bodies of somebody living are erased, on both backends: what the views, the queue and the gate
make of what is left."""

from __future__ import annotations

import pytest

from beliefledger import Candidate, Span, open_memory
from beliefledger.gate.intake import TurnInput
from beliefledger.gate.replay import Verdict
from beliefledger.gate.turns import Pending
from beliefledger.ledger.eraser import Wanted
from beliefledger.ledger.errors import BackendUnavailable
from beliefledger.ledger.times import SECOND, parse
from beliefledger.projections import probes, projector

START = parse("2026-03-01T09:00:00Z")
VIEWS_OF_BODIES = {"belief_versions", "churn", "turns", "entities", "links"}


class Clock:
    now = START

    def __call__(self):
        self.now += SECOND
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def wanted(memory, *, about):
    """The positions of all that came of the turns with these words."""
    log = memory._log
    ref = log.subject("ana")
    turns = {e.stream for e in log.of_subject(ref) if about in getattr(e.event, "content", "")}
    return [
        each.position
        for each in log.of_subject(ref)
        if each.stream in turns or each.correlation in turns
    ]


def request(memory, positions):
    log = memory._log
    asked = Wanted(log.subject("ana"), "turn", positions=tuple(positions))
    [erasure] = log.eraser.request(
        lambda: [asked], actor=log.principal("ina"), legal_basis="request"
    )
    return erasure


def erase(memory, positions):
    erasure = request(memory, positions)
    memory._log.eraser.destroy(erasure)
    removed = memory._core.projector.refold(memory._log.subject("ana"))
    memory._log.eraser.complete(erasure)
    return removed


def say(memory, attribute, value):
    return memory.store("ana", value, attribute=attribute, text=f"{attribute} is {value}")


def left(memory, positions):
    projector = memory._core.projector
    projector.catch_up()
    with projector.reading() as connection:
        return {
            name: probes.left(
                connection,
                projector.views[name].tables(state.generation),
                memory._log.subject("ana"),
                positions,
            )[1]
            for name, state in projector.states(connection).items()
        }


def different(memory):
    return [each for each in memory.operations.rebuild(verify=True) if not each.same]


def test_an_erased_change_ends_what_it_changed_and_a_new_statement_holds(memory):
    say(memory, "home.city", "Porto")
    changed = say(memory, "home.city", "Faro")
    gone = wanted(memory, about="Faro")
    before = memory.beliefs("ana")[0]
    memory._core.projector.catch_up()  # a question brings only its own views up to date
    removed = erase(memory, gone)
    assert set(left(memory, gone).values()) == {0}
    assert removed["turns"] == 1
    assert removed["decisions"] == removed["recalls"] == removed["jobs"] == 0
    assert memory.beliefs("ana") == []
    [porto] = [each for each in memory.history(before.belief_id) if each.recorded_to is None]
    recorded = memory._log.find(changed.decision_id).recorded_at
    assert (porto.value, porto.superseded_by) == ("Porto", before.memory_id)
    assert porto.valid_to.timestamp() * SECOND == recorded
    again = say(memory, "home.city", "Braga")
    assert (again.outcome, again.reason) == ("admit", "truth.new")
    assert [each.value for each in memory.beliefs("ana")] == ["Braga"]
    assert different(memory) == []


def test_what_was_said_before_the_erased_change_was_recorded_still_holds_from_then_on(memory):
    """As where an old transcript is told after a turn of it was erased."""
    memory.store("ana", "Porto", attribute="home.city", said_at=parse("2024-01-01"))
    memory.store("ana", "Faro", attribute="home.city", said_at=parse("2024-06-01"))
    faro = memory.beliefs("ana")[0]
    log = memory._log
    erase(
        memory,
        [e.position for e in log.of_subject(log.subject("ana")) if "Faro" in str(e.event)],
    )
    told = memory.store("ana", "Braga", attribute="home.city", said_at=parse("2025-01-01"))
    assert told.outcome == "admit"
    assert [each.value for each in memory.beliefs("ana")] == ["Braga"]
    [porto] = memory.beliefs("ana", valid_at="2024-12-31")
    assert (porto.value, porto.belief_id) == ("Porto", faro.belief_id)
    assert porto.valid_to == memory.beliefs("ana")[0].valid_from
    assert different(memory) == []


def test_telling_an_erased_turn_again_does_not_bring_it_back(memory):
    told = {"subject": "ana", "content": "I live in Porto.", "idempotency_key": "k"}
    first = memory.record_turn(**told)
    memory.process()
    erase(memory, wanted(memory, about="Porto"))
    assert memory.process().turns == 0
    assert memory.beliefs("ana") == []
    again = memory.record_turn(**told)
    assert (again.already, again.turn_id == first.turn_id) == (False, False), "nobody is told"
    assert memory.process().turns == 1
    assert memory.beliefs("ana") == []
    batch = [TurnInput(**told), TurnInput(**told | {"idempotency_key": "l"})]
    assert [each.already for each in memory.record_turns(batch)] == [True, False]
    assert memory.process().turns == 1
    assert [each.value for each in memory.beliefs("ana")] == ["Porto"], "it was said once more"
    assert different(memory) == []


@pytest.mark.parametrize("slow", [False, True])
def test_a_turn_under_extraction_that_is_being_erased_leaves_nothing(memory, slow):
    memory.record_turn("ana", "I live in Porto.")
    receipt = memory.record_turn("ana", "I like jazz.")
    erasures, log = [], memory._log

    class Interrupted:
        name = "interrupted"
        concurrency = 2 if slow else 1

        def extract(self, turn, earlier=()):
            if "jazz" in turn.content and not erasures:
                erasures.append(request(memory, [receipt.position]))
            return [
                Candidate(
                    claim=turn.content,
                    spans=(Span(start=0, end=len(turn.content), quote=turn.content),),
                    type="preference",
                    attribute="said",
                    value=turn.content,
                    importance=500_000,
                    confidence=900_000,
                )
            ]

    memory._gate.reader.extractor = Interrupted()
    memory.process()
    [erasure] = erasures
    assert [each.type for each in log.read_stream(receipt.turn_id)] == ["turn.recorded.v2"]
    assert [each.value for each in memory.beliefs("ana")] == ["I live in Porto."]
    log.eraser.destroy(erasure)
    assert memory.process().turns == 0
    memory._core.projector.refold(log.subject("ana"))
    log.eraser.complete(erasure)
    assert memory.process().turns == 0
    assert memory.status().pending_turns == 0
    assert different(memory) == []


def test_a_decision_about_what_is_erased_cannot_be_run_again_and_a_later_one_can(memory):
    first = say(memory, "home.city", "Porto")
    second = say(memory, "home.city", "Faro")
    say(memory, "drink.tea", "green")
    assert memory.audit.replay_all().same == 3
    erase(memory, wanted(memory, about="Porto"))
    third = say(memory, "home.city", "Braga")
    log, replayer = memory._log, memory._core.replayer
    verdicts = [
        replayer.replay(log.find(each.decision_id)).verdict for each in (third, second, first)
    ]
    assert verdicts == [Verdict.SAME, Verdict.INPUTS_DESTROYED, Verdict.INPUTS_DESTROYED]
    summary = memory.audit.replay_all()
    assert (summary.same, summary.different, summary.inputs_destroyed) == (2, 0, 2)


def test_an_erasure_during_a_rebuild_leaves_nothing_in_what_was_filled(memory, monkeypatch):
    for number in range(6):
        say(memory, f"thing.{number}", "red")
    projector, gone = memory._core.projector, wanted(memory, about="thing.1")
    fill, folded_anew = type(projector)._fill, []

    def between_pages(self, filling, after, upto):
        middle = max(gone) + 1
        if after >= middle or upto <= middle:
            return fill(self, filling, after, upto)
        reached = fill(self, filling, after, middle)
        erasure = request(memory, gone)
        memory._log.eraser.destroy(erasure)
        memory._log.eraser.complete(erasure)
        return reached

    views = dict.fromkeys(VIEWS_OF_BODIES)
    with projector.rebuilding():
        with monkeypatch.context() as patched:
            patched.setattr(type(projector), "_fill", between_pages)
            filled = projector.shadows(views)
        for name, (generation, position) in filled.items():
            assert position == memory._log.head().position
            projector.use(name, generation, position)
    assert set(left(memory, gone).values()) == {0}
    assert different(memory) == []

    # One that was complete before asks for nothing: no body that it took was read.
    of_subject = memory._log.of_subject
    monkeypatch.setattr(
        memory._log, "of_subject", lambda *args: folded_anew.append(args) or of_subject(*args)
    )
    with projector.rebuilding():
        for name, (generation, position) in projector.shadows(views).items():
            projector.use(name, generation, position)
    assert folded_anew == []
    assert set(left(memory, gone).values()) == {0}


def test_another_process_keeps_nothing_of_what_was_folded_anew(memory, place, clock):
    say(memory, "home.city", "Porto")
    with open_memory(place, clock=clock) as other:
        say(other, "home.city", "Faro")
        assert [each.value for each in other.beliefs("ana")] == ["Faro"]
        memory.beliefs("ana")
        gone = wanted(memory, about="Porto")
        erasure = request(memory, gone)
        memory._log.eraser.destroy(erasure)
        memory._core.projector.refold(memory._log.subject("ana"))
        say(other, "home.city", "Braga")
        assert [each.value for each in other.beliefs("ana")] == ["Braga"]
        assert set(left(other, gone).values()) == {0}
        memory._log.eraser.complete(erasure)
        assert different(other) == []
        assert [each.value for each in memory.beliefs("ana")] == ["Braga"]


def test_a_whole_subject_leaves_rows_for_the_audit_alone(memory):
    say(memory, "home.city", "Porto")
    memory.record_turn("ana", "I like jazz.")
    memory.recalls.record_shown("ana", memory.beliefs("ana"))
    memory.status()
    ref = memory._log.subject("ana")
    removed = memory._core.projector.forget(ref)
    assert set(removed) == set(memory._core.projector.views)
    assert removed["decisions"] == removed["jobs"] == 0
    assert removed["turns"] == 2
    assert all(removed[name] for name in ("belief_versions", "access", "recalls", "links"))
    projector = memory._core.projector
    with projector.reading() as connection:
        for name, state in projector.states(connection).items():
            its = projector.views[name].tables(state.generation)
            assert bool(probes.rows_of(connection, its, ref)) == (name == "decisions")


def test_a_statement_without_words_waits_for_nobody(memory):
    for value in ("red", "green", "blue", "red", "green"):
        last = say(memory, "wall.colour", value)
    assert last.outcome == "escalate"
    [conflict] = memory.conflicts.list("ana")
    erase(memory, wanted(memory, about="green"))
    assert memory.conflicts.list("ana") == []
    erase(memory, wanted(memory, about="wall"))
    assert [each.values for each in memory.conflicts.loops("ana")] == [()]
    assert different(memory) == []
    assert say(memory, "wall.colour", "white").outcome == "admit"
    assert conflict.belief_id == memory.beliefs("ana")[0].belief_id


def test_pending_of_an_erased_turn_is_passed_over(memory):
    receipt = memory.record_turn("ana", "I live in Porto.")
    ref = memory._log.subject("ana")
    erase(memory, [receipt.position])
    stale = Pending(receipt.turn_id, receipt.position, 1, ref)
    assert memory._gate.queue.process_pending([stale], set()).turns == 0
    assert memory._gate.queue.retry([receipt.turn_id]) == 0
    assert memory._gate.reader.turn_of(stale) is None


@pytest.fixture
def read(memory, monkeypatch):
    """Whose history was read, each time that it was."""
    times, of_subject = [], memory._log.of_subject

    def counting(subject_ref, upto=None):
        times.append(subject_ref)
        return of_subject(subject_ref, upto)

    monkeypatch.setattr(memory._log, "of_subject", counting)
    return times


def test_all_views_read_a_subject_once_and_not_again_once_it_is_recorded(memory, read):
    say(memory, "home.city", "Porto")
    say(memory, "home.street", "Rua Nova")
    gone = wanted(memory, about="Porto")
    erasure = request(memory, gone)
    memory._log.eraser.destroy(erasure)
    read.clear()
    memory._core.projector.refold(memory._log.subject("ana"))
    memory._log.eraser.complete(erasure)
    assert [each.value for each in memory.beliefs("ana")] == ["Rua Nova"]
    assert set(left(memory, gone).values()) == {0}
    assert read == [memory._log.subject("ana")]
    assert different(memory) == []


def test_what_went_after_the_subject_was_folded_anew_is_not_taken_for_gone(memory):
    say(memory, "home.city", "Porto")
    say(memory, "home.street", "Rua Nova")
    first, second = wanted(memory, about="Porto"), wanted(memory, about="Rua Nova")
    one, two = request(memory, first), request(memory, second)
    memory._log.eraser.destroy(one)
    memory._core.projector.refold(memory._log.subject("ana"))
    memory._log.eraser.destroy(two)
    memory._log.eraser.complete(one)
    memory._log.eraser.complete(two)
    assert memory.beliefs("ana") == []
    assert set(left(memory, {*first, *second}).values()) == {0}
    assert different(memory) == []


def test_whoever_only_follows_reads_the_subject_once_for_all_views(memory, place, clock, read):
    say(memory, "home.city", "Porto")
    memory.beliefs("ana")
    with open_memory(place, clock=clock) as other:
        gone = wanted(other, about="Porto")
        erase(other, gone)
    read.clear()
    assert memory.beliefs("ana") == []
    assert read == [memory._log.subject("ana")]
    assert different(memory) == []


def test_an_erasure_does_not_wait_for_ever_until_a_rebuild_ends(memory, place, clock, monkeypatch):
    monkeypatch.setattr(projector, "REBUILDS_MAY_TAKE", 0.2)
    say(memory, "home.city", "Porto")
    with open_memory(place, clock=clock) as other:
        with (
            other._core.projector.rebuilding(),
            pytest.raises(BackendUnavailable, match="rebuild"),
        ):
            memory.erase("ana", session="", by="ina")
        [record] = memory.erasure.list()
        assert record.completed_at is None
    memory.erasure.finish()
    [record] = memory.erasure.list()
    assert record.completed_at is not None
    assert memory.beliefs("ana") == []
    assert different(memory) == []
