"""What goes with what: each rule on a few events, exactly."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from beliefledger.erasure.affected import Remains
from beliefledger.erasure.rules import Closure
from beliefledger.ledger.candidate import Candidate, Resolved, Span
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.belief import (
    ConflictResolved,
    ConsolidationUndone,
    MemoriesConsolidated,
    MemoryAdmitted,
    MemoryConfirmed,
    MemoryMovedIn,
    MemoryMovedOut,
    MemoryRevoked,
)
from beliefledger.ledger.events.entity import AliasAdded, EntityRecognised, EntitySplit
from beliefledger.ledger.events.recall import MemoriesRecalled, SearchQuery
from beliefledger.ledger.events.subject import ConsentGranted, ConsentWithdrawn
from beliefledger.ledger.events.turn import (
    CandidateProposed,
    GateDecided,
    ReviewDecided,
    TurnRecorded,
)
from beliefledger.ledger.memory import Memory, Saying
from beliefledger.ledger.times import DAY
from beliefledger.reading.subject_record import Envelope, may_be_due

WORDS = {
    "s": 0, "r": 0, "e": 0, "t": 0, "c": 0, "base": 0, "mentions": 1, "importance": 0,
    "policy": "", "registry": "", "policy_version": 1, "subject_version": 1, "belief_version": 0,
    "candidate_version": 2, "trace": (), "decided_at": 0, "belief": "slot", "reason": "truth.new",
}  # fmt: skip


@dataclass
class Life:
    """One subject's events, written as they happen; `at` is the time in days."""

    recorded: list[Recorded] = field(default_factory=list)
    at: int = 0

    def add(self, event, stream, causation=None):
        position = len(self.recorded) + 1
        facts, body = event.split()
        self.recorded.append(
            Recorded(
                position=position,
                type=event.NAME,
                stream=stream,
                version=position,
                event_id=f"e{position}",
                tenant="default",
                subject_ref="ana",
                actor="system",
                recorded_at=self.at * DAY,
                causation=causation,
                correlation=None,
                facts=facts,
                event=event,
                body_digest=None if body is None else "d",
            )
        )
        return position

    def turn(self, turn, session="s1", role="user", content=None):
        return self.add(
            TurnRecorded(
                role=role,
                channel="conversation",
                secrets=0,
                session_tag=session,
                said_at_stated=False,
                content=content or f"words of {turn}",
            ),
            turn,
        )

    def decide(self, turn, memory, *, cites=None, category=None, target=None, outcome="admit"):
        """A candidate and the decision about it: their positions."""
        candidate = Candidate(
            claim=f"claim of {memory}",
            spans=(Span(start=0, end=5, quote="words", turn=cites),),
            type="fact",
            attribute="a",
            value="v",
            category=category,
            importance=0,
            confidence=0,
            resolved=Resolved(entity="self", target=target),
        )
        proposed = self.add(
            CandidateProposed(index=0, act="statement", inferred=False, candidate=candidate),
            turn,
        )
        decided = self.add(
            GateDecided(
                candidate=f"e{proposed}", outcome=outcome, type="fact", memory=memory, **WORDS
            ),
            turn,
        )
        return proposed, decided

    def admit(self, memory, turn, decision, kind=MemoryAdmitted, **more):
        memory_fields = {
            name: more.pop(name)
            for name in ("category", "resolved", "entity", "value", "spans", "participants")
            if name in more
        }
        words = {"spans": (Span(start=0, end=5, quote=""),), "entity": "User", "value": "v"}
        event = kind(
            memory_id=memory,
            decision=f"e{decision}",
            type="fact",
            confidence=0,
            base=0,
            importance=0,
            mentions=1,
            visibility_scope="subject",
            basis="consent",
            grant="g",
            memory=Memory(
                claim=f"claim of {memory}",
                attribute="a",
                said_at=0,
                said_at_stated=False,
                valid_from=0,
                turn=turn,
                **(words | memory_fields),
            ),
            **more,
        )
        return self.add(event, f"slot of {memory}")

    def learn(self, turn, memory, **more):
        """A turn, and a memory from it: positions of turn, candidate and memory."""
        said = self.turn(turn, more.pop("session", "s1"))
        category, target = more.get("category"), None
        if "resolved" in more:
            target = more["resolved"].target
        cites = more.pop("cites", None)
        if cites:
            more["spans"] = (Span(start=0, end=5, quote="", turn=cites),)
        proposed, decided = self.decide(turn, memory, cites=cites, category=category, target=target)
        return said, proposed, self.admit(memory, turn, decided, **more)

    def confirm(self, turn, memory, session="s1"):
        """A turn that says a memory again: positions of turn, candidate and confirmation."""
        said = self.turn(turn, session)
        proposed, decided = self.decide(turn, memory, outcome="confirm")
        event = MemoryConfirmed(
            memory_id=memory,
            decision=f"e{decided}",
            confidence=0,
            base=0,
            mentions=2,
            counted=True,
            turn=turn,
            said_at=0,
            spans=(Span(start=0, end=5, quote=""),),
        )
        return said, proposed, self.add(event, f"slot of {memory}")

    def merge(self, into, *originals, spans=()):
        merged = self.admit(
            into,
            "t1",
            0,
            MemoriesConsolidated,
            spans=tuple(Span(start=0, end=5, quote="", turn=turn) for turn in spans),
            originals=originals,
            beliefs=tuple(f"slot of {each}" for each in originals),
            how="words",
            merger="words-1",
            similarity=0,
            sayings=tuple(Saying(type="fact", attribute="a", value="v") for _ in originals),
            turns=(),
            last_said_at=0,
        )
        for each in originals:
            self.add(
                MemoryMovedOut(
                    memory_id=each, to="slot", cause="consolidated", into=into, decision="d"
                ),
                f"slot of {each}",
            )
        return merged

    def revoke(self, memory, cause="actor", causation=None):
        event = MemoryRevoked(memory_id=memory, cause=cause)
        return self.add(event, f"slot of {memory}", causation)

    def recall(self, session, *, ranker="fresh-1", memories=(), turns=()):
        asked = None
        if ranker != "shown":
            asked = SearchQuery(
                query="q",
                k=1,
                min_confidence=0,
                min_importance=0,
                recency_weight=0,
                diversity=0,
                include=(),
                profile="p",
            )
        event = MemoriesRecalled(
            purpose="p",
            session_tag=session,
            query_digest="",
            ranker=ranker,
            memories=memories,
            scores=(),
            ranked=(*memories, *turns),
            asked=asked,
        )
        return self.add(event, "recalls")

    def named(self, entity, canonical, decision):
        event = EntityRecognised(entity_id=entity, name=canonical.title(), canonical=canonical)
        return self.add(event, "directory", f"e{decision}")

    def spoken(self, reached):
        """The positions that are reached, but for decisions, which go with their candidates."""
        decisions = {each.position for each in self.recorded if each.type == GateDecided.NAME}
        return tuple(each for each in reached.positions if each not in decisions)

    def closure(self, erased=()):
        left = [
            replace(each, event=None) if each.position in erased else each for each in self.recorded
        ]
        return Closure("ana", left, frozenset(f"e{each}" for each in erased))


def depends(reached):
    return {(each.kind, each.id) for each in reached.depends}


def remains(reached):
    return {each.what: each.count for each in reached.stays}


# A turn


def test_a_turn_takes_its_stream_and_the_memories_whose_words_are_from_it():
    life = Life()
    one = life.learn("t1", "m1")
    life.learn("t2", "m2")
    reached = life.closure().turn("t1")
    said, proposed, written = one
    assert reached.positions == (said, proposed, proposed + 1, written), "the decision has scores"
    assert reached.counts == {
        "candidate.proposed.v2": 1,
        "gate.decided.v2": 1,
        "memory.admitted.v2": 1,
        "turn.recorded.v2": 1,
    }
    assert (reached.turns, reached.memories) == (1, ("m1",))
    assert depends(reached) == {("memory_goes", "m1")}
    assert reached.texts == {"m1": "claim of m1"}
    assert remains(reached) == {"envelopes": 4}


def test_a_memory_that_goes_takes_its_confirmations_but_not_the_turns_that_say_it_again():
    life = Life()
    one = life.learn("t1", "m1")
    again = life.confirm("t2", "m1")
    reached = life.closure().turn("t1")
    assert life.spoken(reached) == tuple(sorted([*one, again[2]]))
    assert remains(reached)["turns"] == 1


def test_a_turn_that_confirmed_a_memory_takes_that_confirmation_and_leaves_the_memory():
    life = Life()
    life.learn("t1", "m1")
    again = life.confirm("t2", "m1")
    reached = life.closure().turn("t2")
    assert life.spoken(reached) == again
    assert reached.memories == ()
    assert depends(reached) == {("loses_evidence", "m1")}


def test_what_cites_a_turn_goes_with_it_and_the_answer_to_it_stays():
    life = Life()
    question = life.turn("t1")
    answer = life.learn("t2", "m1", cites="t1")
    reached = life.closure().turn("t1")
    assert life.spoken(reached) == (question, *answer[1:])


def test_what_only_cites_a_turn_in_a_refused_candidate_goes_too_with_its_review():
    life = Life()
    question, said = life.turn("t1"), life.turn("t2")
    proposed, decided = life.decide("t2", None, cites="t1", outcome="queue")
    refused = life.add(ReviewDecided(decision=f"e{decided}", approved=False, note="n"), "t2")
    reached = life.closure().turn("t1")
    assert life.spoken(reached) == (question, proposed, refused)
    assert said not in reached.positions


def test_what_was_erased_before_is_not_reached_again():
    life = Life()
    one = life.learn("t1", "m1")
    reached = life.closure(erased=[one[0]]).turn("t1")
    assert life.spoken(reached) == one[1:]
    assert reached.turns == 0
    assert life.spoken(life.closure(erased=one).turn("t1")) == ()


# A memory


def test_a_memory_takes_the_turns_that_are_its_evidence_and_what_these_carry():
    life = Life()
    one = life.learn("t1", "m1")
    beside = life.admit("m2", "t1", life.decide("t1", "m2")[1])
    again = life.confirm("t2", "m1")
    more = life.confirm("t3", "m2")
    reached = life.closure().memory("m1")
    assert set(life.spoken(reached)) == {*one, beside, beside - 2, *again, more[2]}
    assert depends(reached) == {("memory_goes", "m2")}
    assert remains(reached)["turns"] == 1, "t3 says m2 again, and nobody asked for that"


def test_what_an_agent_repeated_of_a_memory_goes_with_it():
    life = Life()
    before = life.turn("t0", role="assistant", content="Is Lisbon nice?")
    one = life.learn("t1", "m1", value="Lisbon")
    repeated = life.turn("t2", role="assistant", content="Noted. So you live in lisbon!")
    other = life.turn("t3", role="assistant", content="Porto is nice.")
    theirs = life.turn("t4", content="Lisbon again.")
    for reached in (life.closure().memory("m1"), life.closure().turn("t1")):
        assert set(life.spoken(reached)) == {*one, repeated}
        assert reached.turns == 2
        assert {before, other, theirs}.isdisjoint(reached.positions)


def test_what_an_agent_repeated_of_a_revoked_memory_goes_when_that_does():
    life = Life()
    one = life.learn("t1", "m1", value="Lisbon")
    repeated = life.turn("t2", role="assistant", content="So you live in Lisbon!")
    revoked = life.revoke("m1")
    reached = life.closure().revoked(30 * DAY, 40 * DAY, at_once=False)
    assert set(life.spoken(reached)) == {*one, repeated, revoked}


def test_what_an_agent_repeated_stays_where_another_memory_says_the_same():
    life = Life()
    one = life.learn("t1", "m1", value="Lisbon")
    life.learn("t2", "m2", value="Lisbon")
    life.turn("t3", role="assistant", content="So you live in Lisbon!")
    assert set(life.spoken(life.closure().memory("m1"))) == set(one)


def test_an_agents_words_go_although_the_memory_was_written_after_them():
    life = Life()
    said = life.turn("t1")
    repeated = life.turn("t2", role="assistant", content="So you live in Lisbon!")
    proposed, decided = life.decide("t1", "m1")
    admitted = life.admit("m1", "t1", decided, value="Lisbon")
    reached = life.closure().memory("m1")
    assert set(life.spoken(reached)) == {said, repeated, proposed, admitted}


def test_a_memory_that_moved_is_one_wherever_it_was():
    life = Life()
    one = life.learn("t1", "m1")
    moved = life.admit(
        "m1", "t1", 3, MemoryMovedIn, moved_from="slot", cause="merged", moved_by="e9",
        turns=("t1",), last_said_at=0,
    )  # fmt: skip
    assert life.spoken(life.closure().memory("m1")) == (*one, moved)


# Merged memories


def test_an_original_goes_with_what_it_was_merged_into_and_the_other_originals():
    life = Life()
    one, two = life.learn("t1", "m1"), life.learn("t2", "m2")
    merged = life.merge("k", "m1", "m2", spans=("t1", "t2"))
    reached = life.closure().turn("t2")
    assert life.spoken(reached) == tuple(sorted([one[2], *two, merged]))
    assert depends(reached) == {
        ("memory_goes", "m2"),
        ("consolidated", "k"),
        ("consolidated", "m1"),
    }
    assert life.spoken(life.closure().memory("k")) == tuple(sorted([*one, *two, merged]))


def test_what_was_merged_stays_when_a_turn_goes_that_only_confirmed_an_original():
    life = Life()
    life.learn("t1", "m1")
    again = life.confirm("t2", "m1")
    life.learn("t3", "m2")
    life.merge("k", "m1", "m2", spans=("t1", "t2", "t3"))
    reached = life.closure().turn("t2")
    assert life.spoken(reached) == again
    assert depends(reached) == {("loses_evidence", "m1"), ("loses_evidence", "k")}


def test_after_a_merge_was_undone_the_other_original_stays():
    life = Life()
    one = life.learn("t1", "m1")
    two = life.learn("t2", "m2")
    merged = life.merge("k", "m1", "m2", spans=("t1", "t2"))
    undone = life.add(
        ConsolidationUndone(memory_id="k", originals=("m1", "m2"), note="n"), "slot of k"
    )
    reached = life.closure().turn("t1")
    assert life.spoken(reached) == tuple(sorted([*one, merged, undone]))
    assert not set(two) & set(reached.positions)


def test_the_note_of_a_resolution_goes_with_a_memory_that_it_settled():
    life = Life()
    one = life.learn("t1", "m1")
    resolved = life.add(
        ConflictResolved(
            kind="choose", settles=(), memories=("m9",), closes=("m1",), resolved_at=0, note="n"
        ),
        "slot",
    )
    assert life.spoken(life.closure().turn("t1")) == (*one, resolved)


# Names


def about(entity, /, **more):
    return {"resolved": Resolved(entity=entity), "entity": entity.title()} | more


def test_a_name_goes_with_the_turn_that_made_it_known():
    life = Life()
    said, proposed, written = life.learn("t1", "m1", **about("sarah"))
    known = life.named("sarah", "sarah", proposed + 1)
    self_known = life.named("self", "user", proposed + 1)
    alias = life.add(
        AliasAdded(
            entity_id="sarah",
            how="nickname",
            decision=f"e{proposed + 1}",
            alias="Sally",
            canonical="sally",
        ),
        "directory",
    )
    reached = life.closure().turn("t1")
    assert life.spoken(reached) == (said, proposed, written, known, alias)
    assert self_known not in reached.positions, "`User` names nobody"


def test_a_name_that_a_memory_which_stays_is_about_stays():
    life = Life()
    _, proposed, _ = life.learn("t1", "m1", **about("sarah"))
    known = life.named("sarah", "sarah", proposed + 1)
    life.learn("t2", "m2", **about("sarah"))
    assert known not in life.closure().turn("t1").positions


def test_a_name_whose_turn_went_before_goes_with_the_last_memory_about_it():
    life = Life()
    one = life.learn("t1", "m1", **about("sarah"))
    known = life.named("sarah", "sarah", one[1] + 1)
    two = life.learn("t2", "m2", **about("sarah"))
    assert life.spoken(life.closure(erased=one).turn("t2")) == (known, *two)


def test_an_alias_goes_that_nothing_uses_and_its_entity_stays_under_the_other_name():
    life = Life()
    _, first, _ = life.learn("t1", "m1", **about("sarah"))
    known = life.named("sarah", "sarah", first + 1)
    _, second, _ = life.learn("t2", "m2", **about("sarah", entity="Sally"))
    alias = life.add(
        AliasAdded(
            entity_id="sarah",
            how="nickname",
            decision=f"e{second + 1}",
            alias="Sally",
            canonical="sally",
        ),
        "directory",
    )
    split = life.add(
        EntitySplit(entity_id="sarah", other_id="x", name="Sally", canonicals=("sally",)),
        "directory",
    )
    reached = life.closure().turn("t2")
    assert {alias, split} <= set(reached.positions)
    assert known not in reached.positions


# A session


def test_a_session_takes_its_turns_and_what_was_asked_in_it():
    life = Life()
    one = life.learn("t1", "m1", session="s1")
    two = life.learn("t2", "m2", session="s2")
    asked = life.recall("s2", memories=("m1",))
    elsewhere = life.recall("s1", memories=("m1",))
    closure = life.closure()
    reached = closure.session("s2")
    assert life.spoken(reached) == (*two, asked)
    assert closure.sessions() == {"s1", "s2"}
    assert remains(reached)["searches"] == 1
    assert not {*one, elsewhere} & set(reached.positions)
    assert life.closure(erased=(*two, asked)).sessions() == {"s1"}


def test_a_search_that_found_what_goes_goes_with_it():
    life = Life()
    one = life.learn("t1", "m1", session="s1")
    life.learn("t2", "m2", session="s2")
    memory, turn = life.recall("s2", memories=("m1",)), life.recall("s2", turns=("t1",))
    other = life.recall("s1", memories=("m2",))
    reached = life.closure().turn("t1")
    assert life.spoken(reached) == (*one, memory, turn)
    assert remains(reached)["searches"] == 1
    assert other not in reached.positions


# For its time


def test_retention_is_by_category_and_by_when_it_was_last_said():
    life = Life()
    ill = life.learn("t1", "m1", category="health")
    plain = life.learn("t2", "m2")
    again = life.confirm("t3", "m2")
    life.at = 20
    life.confirm("t4", "m2")
    ages = {"health": 30 * DAY, "ordinary": 40 * DAY}
    assert life.spoken(life.closure().retention(ages, 30 * DAY)) == ()
    reached = life.closure().retention(ages, 31 * DAY)
    assert (life.spoken(reached), reached.of) == (ill, "special"), "which one is not on record"
    assert life.spoken(life.closure().retention(ages, 60 * DAY)) == ill, "said again at 20"
    reached = life.closure().retention(ages, 61 * DAY)
    assert set(reached.positions) > {*ill, *plain, *again}
    assert reached.of == "ordinary,special"
    assert reached.turns == 4
    assert life.spoken(life.closure().retention({}, 10_000 * DAY)) == ()


def test_a_turn_goes_with_the_first_of_its_memories_and_the_other_keeps_its_words():
    life = Life()
    ill = life.learn("t1", "m1", category="health")
    proposed, decided = life.decide("t1", "m2")
    kept = life.admit("m2", "t1", decided)
    reached = life.closure().retention({"health": 30 * DAY}, 31 * DAY)
    assert life.spoken(reached) == tuple(sorted((*ill, proposed)))
    assert kept not in reached.positions
    assert depends(reached) == {("loses_evidence", "m2")}
    assert "its own words stay" in reached.depends[0].why


def test_a_turn_that_supports_no_memory_is_ordinary_or_what_was_noticed_in_it():
    life = Life()
    silent = life.turn("t1")
    refused = life.turn("t2")
    proposed, _ = life.decide("t2", None, category="health", outcome="queue")
    asked = life.recall("s1")
    life.recall("s1", ranker="shown")
    health = life.closure().retention({"health": 30 * DAY}, 31 * DAY)
    assert life.spoken(health) == (refused, proposed)
    ordinary = life.closure().retention({"ordinary": 30 * DAY}, 31 * DAY)
    assert life.spoken(ordinary) == (silent, refused, proposed, asked)


def test_rephrasings_that_were_merged_are_as_old_as_the_youngest():
    life = Life()
    one = life.learn("t1", "m1")
    life.at = 20
    two = life.learn("t2", "m2")
    merged = life.merge("k", "m1", "m2", spans=("t1", "t2"))
    ages = {"ordinary": 30 * DAY}
    assert life.spoken(life.closure().retention(ages, 50 * DAY)) == ()
    everything = tuple(sorted([*one, *two, merged]))
    assert life.spoken(life.closure().retention(ages, 51 * DAY)) == everything


def test_what_was_revoked_goes_after_the_grace_with_its_turn():
    life = Life()
    one = life.learn("t1", "m1")
    proposed, decided = life.decide("t1", "m2")
    life.admit("m2", "t1", decided)
    gone = life.revoke("m1")
    closure = life.closure()
    assert closure.revoked(None, 10_000 * DAY, at_once=True).positions == ()
    assert closure.revoked(10 * DAY, 10 * DAY, at_once=False).positions == ()
    reached = closure.revoked(10 * DAY, 11 * DAY, at_once=False)
    assert life.spoken(reached) == (one[0], one[1], one[2], proposed, gone)
    assert depends(reached) == {("loses_evidence", "m2")}


def test_what_was_written_again_after_it_was_revoked_is_not_revoked():
    life = Life()
    _, proposed, _ = life.learn("t1", "m1")
    life.revoke("m1")
    life.admit("m1", "t1", proposed + 1)
    assert life.spoken(life.closure().revoked(DAY, 100 * DAY, at_once=True)) == ()


def test_a_withdrawal_of_consent_reaches_what_it_revoked():
    life = Life()
    one = life.learn("t1", "m1")
    life.learn("t2", "m2")
    withdrawn = life.add(ConsentWithdrawn(grants=("g",), revoked=1), "ana")
    gone = life.revoke("m1", "consent_withdrawn", f"e{withdrawn}")
    life.revoke("m2")
    closure = life.closure()
    assert closure.withdrawals() == [f"e{withdrawn}"]
    assert life.spoken(closure.withdrawn([f"e{withdrawn}"])) == (*one, gone)
    assert life.spoken(closure.revoked(None, 0, at_once=True)) == (*one, gone)
    assert life.spoken(life.closure(erased=(*one, gone)).withdrawn([f"e{withdrawn}"])) == ()


# Somebody who is erased, in another's record


def test_a_relation_to_somebody_goes_as_memory_candidate_and_name():
    life = Life()
    _said, proposed, written = life.learn(
        "t1", "m1", resolved=Resolved(entity="carl", target="ana"), entity="Carl", value="Ana"
    )
    again = life.confirm("t2", "m1")
    carl = life.named("carl", "carl", proposed + 1)
    known = life.named("ana", "ana", proposed + 1)
    title = life.add(
        AliasAdded(entity_id="ana", how="role", decision=None, alias="boss", canonical="manager"),
        "directory",
    )
    life.learn("t3", "m2", **about("ana"))
    life.learn("t4", "m3")
    reached = life.closure().relation({"ana"})
    assert life.spoken(reached) == (proposed, written, *again[1:], known, title)
    assert carl not in reached.positions
    assert (reached.reach, reached.of, reached.turns) == ("relation", "ana", 0)
    assert depends(reached) == {("relation", "m1")}
    assert remains(reached) == {"envelopes": 8, "turns": 2, "memories": 1}
    assert life.spoken(life.closure().relation({"bob"})) == ()


# All of somebody


def test_a_whole_subject_is_everything_with_a_body():
    life = Life()
    granted = life.add(
        ConsentGranted(
            basis="consent", special=False, categories=("ordinary",), purpose="p", scope="subject"
        ),
        "ana",
    )
    one = life.learn("t1", "m1")
    shown = life.recall("s1", ranker="shown")
    reached = life.closure().whole()
    assert life.spoken(reached) == (granted, *one[:2], one[2], shown)
    assert reached.counts["consent.granted.v2"] == 1
    assert reached.stays[0].what == "envelopes"
    assert reached.stays[0].count == len(life.recorded)
    assert isinstance(reached.stays[0], Remains)


def test_a_recall_of_the_first_version_had_no_body():
    life = Life()
    life.recall("s1", ranker="shown")
    life.recorded[0] = replace(life.recorded[0], body_digest=None)
    assert life.spoken(life.closure().whole()) == ()


# What is written while an erasure is on its way


def test_what_was_merged_from_what_went_is_derived_from_it():
    life = Life()
    gone = life.learn("t1", "m1")
    life.learn("t2", "m2")
    after = len(life.recorded)
    merged = life.merge("m3", "m1", "m2")
    assert life.closure(erased=gone).derived(gone, after) == [merged]


def test_what_was_merged_with_the_words_of_a_turn_that_went_is_derived_from_it():
    life = Life()
    life.learn("t1", "m1")
    life.learn("t2", "m2")
    gone = life.confirm("t3", "m1")
    after = len(life.recorded)
    merged = life.merge("m3", "m1", "m2", spans=("t1", "t2", "t3"))
    other = life.learn("t4", "m4")
    assert life.closure(erased=gone).derived(gone, after) == [merged]
    assert other[0] > merged


def test_new_evidence_of_what_went_and_who_asked_for_it_are_derived_from_it():
    life = Life()
    gone = life.learn("t1", "m1")
    life.learn("t2", "m2")
    after = len(life.recorded)
    confirmed = life.confirm("t3", "m1")[-1]
    life.confirm("t4", "m2")
    searched = life.recall("s1", memories=("m1",))
    life.recall("s1", memories=("m2",))
    life.recall("s1", memories=("m1",), ranker="shown")
    assert life.closure(erased=gone).derived(gone, after) == [confirmed, searched]


# Whether anything can be due, from envelopes alone


def envelopes(life, erased=()):
    return [
        Envelope(e.type, e.recorded_at, e.facts, e.position not in erased) for e in life.recorded
    ]


def test_nothing_is_due_of_what_is_young_or_gone():
    life = Life()
    one = life.learn("t1", "m1")
    gone = (*one, one[1] + 1)
    life.at = 10
    life.learn("t2", "m2")
    for erased, aged, due in ((), 0, False), ((), 1, True), (gone, 10, False), (gone, 11, True):
        told = may_be_due(envelopes(life, erased), aged=aged * DAY, revoked=None, withdrawn=False)
        assert told is due, (erased, aged)


def test_the_consent_itself_is_kept_however_old_it_is():
    life = Life()
    life.add(
        ConsentGranted(
            basis="consent", special=False, categories=(), purpose="p", scope="subject", note="n"
        ),
        "ana",
    )
    assert not may_be_due(envelopes(life), aged=DAY, revoked=DAY, withdrawn=True)


def test_what_was_revoked_is_due_while_its_words_are_there():
    life = Life()
    gone = life.learn("t1", "m1")
    life.learn("t2", "m2")
    life.at = 5
    life.revoke("m1")
    told = envelopes(life)
    assert may_be_due(told, aged=None, revoked=6 * DAY, withdrawn=False)
    assert not may_be_due(told, aged=None, revoked=5 * DAY, withdrawn=True)
    assert not may_be_due(envelopes(life, gone), aged=None, revoked=6 * DAY, withdrawn=True)
    life.revoke("m2", cause="consent_withdrawn")
    assert may_be_due(envelopes(life), aged=None, revoked=None, withdrawn=True)
    assert not may_be_due(envelopes(life), aged=None, revoked=None, withdrawn=False)
