"""Erasures that somebody gets in the way of: other writers, crashes, holds, restored logs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from beliefledger import open_memory
from beliefledger.gate.consolidation import Consolidator
from beliefledger.ledger.eraser import Eraser
from beliefledger.ledger.errors import BackendUnavailable, NotPermitted
from beliefledger.ledger.events.subject import ErasureRequested
from beliefledger.ledger.times import DAY
from beliefledger.reading.views import Views
from beliefledger.search.indexes import Indexes


@pytest.fixture
def open_(place, clock):
    opened = []

    def open_again(**chosen):
        memory = open_memory(place, clock=clock, **chosen)
        opened.append(memory)
        return memory

    yield open_again
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_):
    memory = open_()
    for person in ("ana", "bob"):
        memory.consent.grant(person, "consent")
    return memory


def say(memory, text, session=None, subject="ana"):
    receipt = memory.record_turn(subject, text, session=session)
    memory.process()
    return receipt.turn_id


def texts(memory, subject="ana"):
    return sorted(each.text for each in memory.beliefs(subject))


def words(memory):
    return " ".join(repr(each.event) for each in memory._log.read() if each.event is not None)


def between_reach_and_request(memory, monkeypatch, work):
    """Let somebody else do this after it was looked up what goes, before that is requested."""
    append, done = memory._log.append, []

    def appending(events, expect):
        if not done and any(isinstance(each.event, ErasureRequested) for each in events):
            done.append(True)
            work()
        return append(events, expect)

    monkeypatch.setattr(memory._log, "append", appending)


def failing_once(monkeypatch, name):
    """Let a step of the next erasure fail, once it is done."""
    step, failed = getattr(Eraser, name), []

    def failing(self, *given, **named):
        done = step(self, *given, **named)
        if not failed:
            failed.append(True)
            raise BackendUnavailable("somebody reads there")
        return done

    monkeypatch.setattr(Eraser, name, failing)


def test_what_is_extracted_from_a_turn_meanwhile_goes_too(memory, open_, monkeypatch):
    turn = memory.record_turn("ana", "I live in Porto and my sister is Zenobia.").turn_id
    between_reach_and_request(memory, monkeypatch, open_().process)
    memory.erase("ana", turn=turn, by="lea")
    assert texts(memory) == []
    assert not {"Porto", "Zenobia"} & set(words(memory).replace("'", " ").split())
    assert all(view.same for view in memory.operations.rebuild(verify=True))


def test_what_is_said_in_a_session_meanwhile_goes_too(memory, open_, monkeypatch):
    say(memory, "I live in Porto.", "s1")
    other = open_()
    between_reach_and_request(
        memory, monkeypatch, lambda: say(other, "My sister is Zenobia.", "s1")
    )
    memory.erase("ana", session="s1", by="lea")
    assert texts(memory) == []
    assert "Zenobia" not in words(memory)
    say(memory, "I like jazz.", "s1")
    assert texts(memory) == ["User likes jazz"]


def test_a_memory_that_is_merged_meanwhile_goes_too(memory, open_, monkeypatch):
    ids = [
        memory.store(
            "ana", "dark mode", attribute=attribute, type="preference", text=f"User {verb} it"
        ).memory_id
        for attribute, verb in (("editor.theme", "likes"), ("ui.appearance", "loves"))
    ]
    other = open_()
    pair = {each.memory_id: each.belief_id for each in other.beliefs("ana")}
    ref = memory._log.subject("ana")
    between_reach_and_request(
        memory,
        monkeypatch,
        lambda: Consolidator(other._gate).consolidate(ref, pair, similarity=900_000),
    )
    memory.erase("ana", memory=ids[0], by="lea")
    assert "likes it" not in words(memory)
    assert memory.proofs.verify().ok


def test_a_relation_that_is_said_meanwhile_loses_its_words_too(memory, open_, monkeypatch):
    say(memory, "I live in Porto.")
    other = open_()
    between_reach_and_request(
        memory, monkeypatch, lambda: say(other, "I work with Ben Carter.", subject="bob")
    )
    answer = memory.erase("ana", by="lea", known_as=["Ben Carter"])
    assert len(answer.also) == 1
    assert texts(memory, "bob") == []


def test_what_is_said_again_meanwhile_is_not_over(open_, clock, monkeypatch):
    memory = open_(policy={"retention_days": {"ordinary": 30}})
    memory.consent.grant("ana", "consent")
    say(memory, "I live in Porto.", "old")
    say(memory, "I like jazz.", "old")
    clock.now += 31 * DAY
    other = open_()
    between_reach_and_request(memory, monkeypatch, lambda: say(other, "I live in Porto.", "new"))
    memory.erasure.erase("ana", retention=True, by="lea")
    assert texts(memory) == ["User lives in Porto"]


def test_a_broken_off_erasure_is_told_and_gone_on_with(memory, monkeypatch):
    turn = say(memory, "I live in Porto.")
    failing_once(monkeypatch, "destroy")
    with pytest.raises(BackendUnavailable):
        memory.erase("ana", turn=turn, by="lea")
    assert any("not finished" in each for each in memory.status().warnings)
    say(memory, "I like jazz.")
    memory.erasure.erase_due()
    [record] = memory.erasure.list()
    assert record.completed_at is not None
    assert not any("not finished" in each for each in memory.status().warnings)
    assert texts(memory) == ["User likes jazz"]


def test_erasing_again_finishes_what_goes_with_it(memory, monkeypatch):
    say(memory, "I live in Porto.")
    say(memory, "I work with Ben Carter.", subject="bob")
    failing_once(monkeypatch, "destroy")
    with pytest.raises(BackendUnavailable):
        memory.erase("ana", by="lea", known_as=["Ben Carter"])
    answer = memory.erase("ana", by="lea", known_as=["Ben Carter"])
    assert answer.reach == "subject"
    assert len(answer.also) == 1
    assert all(each.completed_at for each in memory.erasure.list())
    assert texts(memory, "bob") == []


def test_who_was_registered_anew_meanwhile_is_erased_as_asked(memory, monkeypatch):
    say(memory, "I live in Porto.")
    failing_once(monkeypatch, "destroy")
    with pytest.raises(BackendUnavailable):
        memory.erase("ana", by="lea")
    memory.erasure.register_anew("ana", by="lea")
    memory.consent.grant("ana", "consent")
    turn = say(memory, "I live in Lisbon.")
    say(memory, "I like jazz.")
    assert memory.erase("ana", turn=turn, by="lea").reach == "turn"
    assert texts(memory) == ["User likes jazz"]
    memory.erase("ana", by="lea")
    assert "jazz" not in words(memory)
    assert all(each.completed_at for each in memory.erasure.list())


def test_a_relation_under_a_hold_is_erased_once_that_is_lifted(memory):
    say(memory, "I work with Ben Carter.", subject="bob")
    memory.erasure.holds.place("bob", "a trial", by="lea", hold="case-7")
    memory.consent.grant("ana", "consent")
    kept = memory.erasure.preview("ana", known_as=["Ben Carter"]).stays
    assert any("legal hold" in each.why for each in kept)
    memory.erase("ana", by="lea", known_as=["Ben Carter"])
    assert texts(memory, "bob") == ["User works with Ben Carter"]
    with pytest.raises(NotPermitted, match="nothing of them is left"):
        memory.erase("ana", by="eva", known_as=["Ben Carter"])
    memory.erasure.holds.lift("case-7", by="lea")
    answer = memory.erase("ana", by="lea", known_as=["Ben Carter"])
    assert answer.reach == "relation"
    assert texts(memory, "bob") == []
    with pytest.raises(NotPermitted):
        memory.erase("ana", by="eva", known_as=["Ben Carter"])


def test_a_hold_is_lifted_of_whom_it_is_meant(memory):
    for person in ("ana", "bob"):
        memory.erasure.holds.place(person, "a trial", by="lea", hold="case-1")
    with pytest.raises(NotPermitted, match="say whose"):
        memory.erasure.holds.lift("case-1", by="lea")
    memory.erasure.holds.lift("case-1", by="lea", subject="bob")
    assert [each.subject for each in memory.erasure.holds.list()] == ["ana"]
    with pytest.raises(NotPermitted, match="case-1"):
        memory.erase("ana", by="lea")


def test_no_basis_gets_around_a_hold(open_):
    basis = "erased before this log was restored from a backup"
    memory = open_(policy={"erasure_bases": [basis]})
    memory.consent.grant("ana", "consent")
    memory.erasure.holds.place("ana", "a trial", by="lea")
    with pytest.raises(NotPermitted, match="a trial"):
        memory.erase("ana", by="lea", legal_basis=basis)


def test_the_same_erasure_begun_twice_is_one(memory, open_, monkeypatch):
    turn = say(memory, "I live in Porto.")
    failing_once(monkeypatch, "destroy")
    with pytest.raises(BackendUnavailable):
        memory.erase("ana", turn=turn, by="lea")
    positions = memory._log.eraser.open()[0].positions
    again = open_()  # finishes it
    [record] = again.erasure.list()
    assert record.completed_at is not None
    assert record.bodies == sum(last - first + 1 for first, last in positions)


def test_however_often_a_log_is_restored_an_erasure_is_done_again_once(tmp_path, clock):
    home = tmp_path / "ledger"
    with open_memory(home, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        turns = [say(memory, "I live in Porto."), say(memory, "I use vim.")]
        memory.consent.grant("bob", "consent")
        say(memory, "I like jazz.", subject="bob")
    shutil.copy(home / "log.db", tmp_path / "old.db")
    with open_memory(home, clock=clock) as memory:
        for turn in turns:
            memory.erase("ana", turn=turn, by="lea")
        memory.erase("bob", by="lea")
    for _ in range(3):
        for path in home.glob("log.db*"):
            path.unlink()
        shutil.rmtree(home / "proofs")
        for path in (*home.glob("signing.key*"), *home.glob("views/*")):
            path.unlink()
        shutil.copy(tmp_path / "old.db", home / "log.db")
        for _ in range(2):
            with open_memory(home, clock=clock) as memory:
                records = memory.erasure.list()
                assert sorted(each.reach for each in records) == ["restored", "restored", "subject"]
                assert all(each.completed_at and each.bodies for each in records)
                assert texts(memory) == []
                assert memory.audit.counts().adds_up
                assert len(memory._log.vault.register_of_erased()) == 2
                assert all(view.same for view in memory.operations.rebuild(verify=True))


def test_what_log_and_vault_agreed_on_is_not_looked_at_again(tmp_path, clock, monkeypatch):
    home: Path = tmp_path / "ledger"
    with open_memory(home, clock=clock) as memory:
        for person in ("ana", "bob", "cy"):
            memory.consent.grant(person, "consent")
            say(memory, "I live in Porto.", subject=person)
        memory.erase("ana", by="lea")
    shutil.copy(home / "keys.db", tmp_path / "older.db")
    with open_memory(home, clock=clock) as memory:
        assert memory._log.vault.notes.agreed() is not None
        memory.erase("bob", by="lea")
    asked = []
    whole = Eraser.told

    def telling(self, *, after=0):
        asked.append(after)
        return whole(self, after=after)

    monkeypatch.setattr(Eraser, "told", telling)
    with open_memory(home, clock=clock) as memory:
        assert memory.erasure.was_erased("bob")
    assert len(asked) == 1
    assert asked[0] > 0
    shutil.copy(tmp_path / "older.db", home / "keys.db")
    with open_memory(home, clock=clock) as memory:
        assert memory.erasure.was_erased("bob"), "the vault was set back"
        assert memory.erasure.was_erased("ana")
        assert texts(memory, "cy") == ["User lives in Porto"]
    assert 0 in asked


class Crash(BaseException):
    pass


STEPS = [
    (Eraser, "request"),
    (Eraser, "seal_off"),
    (Eraser, "destroy"),
    (Indexes, "erase"),
    (Indexes, "erase_content"),
    (Views, "forget"),
    (Eraser, "destroyed"),
    (Eraser, "complete"),
]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("where", "step"), STEPS, ids=lambda each: getattr(each, "__name__", each))
def test_killed_after_any_step_it_is_completed_by_whoever_opens_next(
    memory, open_, monkeypatch, where, step, whole
):
    turn = say(memory, "I live in Porto.", "s1")
    say(memory, "I work with Ana Quintela.", subject="bob")
    say(memory, "I like jazz.", subject="bob")
    taken = getattr(where, step)

    def dying(self, *given, **named):
        taken(self, *given, **named)
        raise Crash

    monkeypatch.setattr(where, step, dying)
    what = {"known_as": ["Ana Quintela"]} if whole else {"turn": turn}
    crashed = True
    try:
        memory.erase("ana", by="lea", **what)
    except Crash:
        pass
    else:
        crashed = False  # a step that this kind of erasure does not have
    monkeypatch.setattr(where, step, taken)
    assert crashed or (where is Indexes and (step == "erase") is not whole)
    with open_() as again:
        records = again.erasure.list()
        assert [each.reach for each in records] == (["subject", "relation"] if whole else ["turn"])
        assert all(each.completed_at is not None for each in records)
        assert [each.bodies for each in records] == ([6, 4] if whole else [4])
        left = words(again)
        assert "Porto" not in left
        assert texts(again, "bob") == (
            ["User likes jazz"] if whole else ["User likes jazz", "User works with Ana Quintela"]
        )
        assert all(view.same for view in again.operations.rebuild(verify=True))
        assert again.audit.counts().adds_up
        assert again.proofs.verify().ok
