"""What somebody living had erased is found by no search any more: in this process and in others, as
of any time, in records of searches; and what stays is found as before. On both backends."""

from __future__ import annotations

import json

import pytest
from command_line import CliRunner
from wishes import searching

from beliefledger import open_memory
from beliefledger.ledger.eraser import Wanted
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.projections.embedding import Hashed
from beliefledger.tools.cli import app

CANARY = "I always use xylographic mode."
ECHO = "Xylographic mode, noted."
STAYS = ("I live in Vilarinho.", "I love hiking in the mountains.")
PROBE = "xylographic mode"


@pytest.fixture
def memory(place, clock, master, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", master.key.hex())
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        opened.consent.grant("ben", "consent")
        say(opened, CANARY, *STAYS)
        opened.record_turn("ben", "I always use xylographic mode, too.", session="b")
        opened.process()
        yield opened


def say(memory, *words, **said):
    turns = [memory.record_turn("ana", each, **{"session": "s"} | said) for each in words]
    memory.process()
    return turns


def turn_of(memory, words, subject="ana"):
    """The id of the turn that said something."""
    ref = memory._log.subject(subject)
    for each in memory._log.of_subject(ref):
        if isinstance(each.event, TurnRecorded) and each.event.content == words:
            return each.stream
    raise AssertionError(words)


def forget(memory, words=CANARY):
    return memory.erase("ana", turn=turn_of(memory, words), by="dpo")


def erase_positions(memory, *positions):
    """Have the bodies at these positions erased, and nothing else."""
    ref, log = memory._log.subject("ana"), memory._log
    wanted = Wanted(ref, "turn", positions=positions)
    [erasure] = log.eraser.request(lambda: [wanted], actor="system", legal_basis="legal obligation")
    log.eraser.destroy(erasure)
    memory._indexes().erase_content(ref, positions)
    log.eraser.complete(erasure)


def found(memory, query=PROBE, **how):
    """Memories and turns apart, since a memory and the turn it came of are one result."""
    texts = []
    for kind in ("memories", "episodes"):
        asked = {"record": False, "include": [kind]} | how
        answer = memory.search("ana", query, k=50, **searching(**asked))
        texts += [each.text for each in answer.results]
    return texts


def names(texts):
    return any("xylographic" in each.lower() for each in texts)


def index_of(memory):
    ref = memory._log.subject("ana")
    return memory._indexes().index(ref, Hashed())


def shape(memory):
    """What the index of somebody has, in an order that does not depend on how it came there."""
    with index_of(memory) as index:
        texts = sorted(zip(index.texts["words_at"].tolist(), index.tags, strict=True))
        rows = sorted(index.rows["row_id"].tolist())
        return texts, rows, len(index.dense), len(index.words)


def test_what_is_erased_is_not_found_and_what_stays_is(memory):
    before = found(memory)
    assert names(before)
    assert len([each for each in before if "xylographic" in each.lower()]) == 2, "turn and memory"
    searched = memory.search("ana", PROBE, record=False).candidates
    of_ben = found_of_ben(memory)
    forget(memory)
    assert not names(found(memory))
    assert memory.search("ana", PROBE, record=False).candidates == searched - 2
    assert found_of_ben(memory) == of_ben
    for words in STAYS:
        assert words in found(memory, words)
    kept = shape(memory)
    memory._indexes().drop()
    assert shape(memory) == kept
    memory.operations.rebuild()
    assert shape(memory) == kept
    assert not names(found(memory))


def found_of_ben(memory):
    return [each.text for each in memory.search("ben", PROBE, record=False).results]


def test_nor_as_of_a_time_when_it_was_there(memory):
    head = memory._log.head().position
    assert names(found(memory, as_of=head))
    forget(memory)
    assert not names(found(memory, as_of=head))
    assert STAYS[0] in found(memory, STAYS[0], as_of=head)


def test_another_open_ledger_that_had_it_in_memory_finds_it_no_more(memory, place, clock):
    with open_memory(place, clock=clock) as other:
        assert names(found(other))
        ref = other._log.subject("ana")
        forget(memory)
        assert other._indexes().holds(ref, "hashed-1"), "nobody has told it yet"
        told = other._indexes().told(list(other._indexes()._answers))
        assert names([answer.text for answer, _ in told.values()]), "it remembers its answers"
        assert not names(found(other))
        assert STAYS[0] in found(other, STAYS[0])
        assert not other._indexes()._answers or not names(
            [answer.text for answer, _ in other._indexes()._answers.values()]
        )
        assert shape(other) == shape(memory)


def test_a_search_for_somebody_else_lets_go_of_it_too(memory, place, clock):
    with open_memory(place, clock=clock) as other:
        assert names(found(other))
        forget(memory)
        other.search("ben", "tea")
        assert not other._indexes().holds(other._log.subject("ana"), "hashed-1")


@pytest.mark.parametrize("warm", [True, False])
def test_a_search_in_whose_midst_it_is_erased_tells_nothing_of_it(memory, place, clock, warm):
    class Slow(Hashed):
        """Looks up a query's vector so slowly that an erasure comes in between."""

        def embed(self, texts):
            if list(texts) == [PROBE] and names(found(memory, "mode")):
                forget(memory)
            return super().embed(texts)

    with open_memory(place, clock=clock) as other:
        if warm:
            assert names(found(other))
        other._embedders._loaded["hashed-1"] = Slow()
        assert not names(found(other)), "erased before it answered"


def test_nothing_that_was_read_before_is_told_from_memory(memory, place, clock, monkeypatch):
    """The erasure comes between the ranking and the reading of words that were read before."""
    with open_memory(place, clock=clock) as other:
        assert names(found(other))
        finder = other._indexes()
        told = finder.told

        def late(rows):
            monkeypatch.undo()
            forget(memory)
            return told(rows)

        monkeypatch.setattr(finder, "told", late)
        assert not names(found(other))
        assert not names(found(other))


def test_what_is_said_twice_is_found_where_it_stays(memory):
    say(memory, CANARY, session="later")
    ref, store = memory._log.subject("ana"), memory._indexes().store
    assert len([each for each in found(memory) if each == CANARY]) == 2
    first = next(
        each.position
        for each in memory._log.of_subject(ref)
        if isinstance(each.event, TurnRecorded) and each.event.content == CANARY
    )
    kept = store.tags_of(ref)
    erase_positions(memory, first)
    assert store.tags_of(ref) == kept, "the other one says the same"
    assert len([each for each in found(memory) if each == CANARY]) == 1


def test_what_stays_is_not_embedded_again(memory, monkeypatch):
    found(memory)
    embedded = []
    embed = Hashed.embed

    def counted(self, texts):
        embedded.extend(texts)
        return embed(self, texts)

    monkeypatch.setattr(Hashed, "embed", counted)
    forget(memory)
    found(memory)
    memory.operations.rebuild()
    found(memory)
    memory.vectors.build("ana")
    assert set(embedded) == {PROBE}


def test_a_text_between_others_leaves_them_neighbours(memory):
    """The index goes over the gap that an erased turn leaves."""
    say(memory, ECHO, role="assistant", session="talk")
    say(memory, "Thanks, what about birds?", session="talk")
    say(memory, "Birds sing.", role="assistant", session="talk")
    assert names(found(memory))
    forget(memory, "Thanks, what about birds?")
    with index_of(memory) as index:
        before, after = index.texts["before"], index.texts["after"]
        assert max(before.max(), after.max()) < len(index)
        assert len(index.turn_ids) == len(index.tags) == len(index) == len(index.words)
    assert "Birds sing." in found(memory, "birds")
    assert "Thanks, what about birds?" not in found(memory, "birds")


# Records of searches


def test_a_recorded_search_says_that_its_results_are_erased(memory, place):
    answer = memory.search("ana", PROBE)
    ids = {each.id for each in answer.results if "xylographic" in each.text.lower()}
    assert memory.audit.replay_recall(answer.recall_id).verdict == "same"
    forget(memory)
    details = memory.recalls.get(answer.recall_id)
    texts = {each.id: each.text for each in details.results}
    assert {each for each, text in texts.items() if text is None} == ids
    shown = CliRunner().invoke(
        app, ["--ledger", place, "recalls", "show", answer.recall_id], catch_exceptions=False
    )
    assert shown.exit_code == 0
    assert "(withheld, or erased)" in shown.output
    assert "always use xylographic" not in shown.output.lower()


def test_a_search_made_again_says_what_was_erased_since(memory, place):
    """The words of a search that showed what is erased go with it."""
    answer = memory.search("ana", PROBE)
    forget(memory)
    replay = memory.audit.replay_recall(answer.recall_id)
    assert replay.verdict == "inputs destroyed"
    assert any("words were erased" in each for each in replay.reasons)
    every = memory.audit.replay_recalls("ana")
    assert (every.inputs_destroyed, every.different) == (1, 0)
    cli = CliRunner().invoke(
        app, ["--ledger", place, "recalls", "replay", answer.recall_id, "--json"]
    )
    assert cli.exit_code == 0
    assert "always use xylographic" not in cli.output.lower()
    assert json.loads(cli.output)["verdict"] == "inputs destroyed"
    later = memory.search("ana", "hiking")
    assert memory.audit.replay_recall(later.recall_id).verdict == "same"


def test_a_recorded_query_whose_words_are_erased_shows_as_erased(memory):
    answer = memory.search("ana", PROBE, session="asked here")
    memory._core.recorder.flush()
    erase_positions(memory, memory._log.find(answer.recall_id).position)
    [only] = memory.recalls.list("ana")
    assert (only.recall_id, only.query, only.subject) == (answer.recall_id, None, "ana")
    assert only.found == len(answer.results)
    details = memory.recalls.get(answer.recall_id)
    assert details.asked is None
    assert [each.text for each in details.results] == [each.text for each in answer.results]
    replay = memory.audit.replay_recall(answer.recall_id)
    assert (replay.verdict, replay.subject, replay.query) == ("inputs destroyed", "ana", None)
    assert replay.reasons == ("The query's words were erased.",)
    assert memory.audit.replay_recalls().inputs_destroyed == 1
    assert memory.vectors.migrate("hashed-1", by="ops", dry_run=True).queries == 0


def test_what_repeats_an_erased_memory_that_was_shown_is_decided(memory):
    """Whether it is an echo is told by ids, which stay."""
    answer = memory.search("ana", PROBE, session="s2")
    memory._core.recorder.flush()
    shown = [each.id for each in answer.results if each.kind == "memory"]
    assert shown
    forget(memory)
    say(memory, CANARY, session="s2")
    assert memory.status().pending_turns == 0
    assert names(found(memory)), "said anew"
    assert memory.proofs.verify().ok


@pytest.mark.parametrize("which", [0, 1])
def test_what_is_asked_of_entities_relations_and_events_goes_on(memory, which):
    """Whichever turn goes, the one that made a name known or one that used it."""
    said = ("My manager is Zebulon Quark.", "Zebulon Quark works at Initech.")
    say(memory, *said)
    assert len(memory.related("ana", hops=2)) > 1
    forget(memory, said[which])
    told = [
        *memory.entities.list("ana"),
        *memory.related("ana"),
        *memory.related("ana", hops=2),
        *memory.events("ana"),
    ]
    assert told
    assert ("Initech" in repr(told)) == (which == 0)
    assert said[which] not in found(memory, said[which])
    assert said[1 - which] in found(memory, said[1 - which])


def test_a_name_that_only_an_erased_turn_knew_is_told_by_nobody(memory):
    say(memory, "My manager is Zebulon Quark.")
    assert "Zebulon" in repr([*memory.entities.list("ana"), *memory.related("ana")])
    forget(memory, "My manager is Zebulon Quark.")
    told = [*memory.entities.list("ana"), *memory.related("ana"), *memory.events("ana")]
    assert "Zebulon" not in repr(told)
    assert not any("Zebulon" in each for each in found(memory, "Zebulon Quark manager"))


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ("I moved to Porto.", "I moved to Faro.", "Faro"),
        ("I moved to Porto.", "I moved to Berlin.", "Berlin"),
        ("I switched to Vodafone.", "I switched to Telekom.", "Telekom"),
    ],
)
def test_what_is_told_anew_outlives_what_it_took_the_place_of(place, before, after, value):
    with open_memory(place, consent="consent") as memory:
        memory.remember("ana", before, said_at="2026-03-05")
        [old] = memory.beliefs("ana")
        memory.remember("ana", after, said_at="2026-03-09")
        assert len(memory.decisions("ana")) == 2
        memory.erase("ana", memory=old.memory_id, by="dpo")
        assert [each.value for each in memory.beliefs("ana")] == [value]
