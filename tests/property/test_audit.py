"""Random histories and erasures: what is counted over envelopes adds up, whatever was forgotten."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beliefledger import open_memory
from tests.property.test_views import Scripted, histories, live

erasing = st.lists(st.sampled_from(["memory", "turn", "subject"]), max_size=3)


def decided(memory):
    """Decisions as the view has them, one by one."""
    return Counter((each.outcome, each.reason) for each in memory.decisions())


def flat(answer):
    return Counter(
        {
            (outcome, reason): number
            for outcome, reasons in answer.decisions.items()
            for reason, number in reasons.items()
        }
    )


def forget(memory, what, random):
    """Erase something that is there, if it is; returns how many bodies went."""
    if memory.erasure.was_erased("ana"):
        return 0
    if what == "subject":
        return memory.erase("ana", by="dpo").bodies
    if what == "memory":
        beliefs = memory.beliefs("ana", min_confidence=0, quarantined=True)
        if not beliefs:
            return 0
        chosen = random.choice(sorted(belief.memory_id for belief in beliefs))
        return memory.erase("ana", memory=chosen, by="dpo").bodies
    turns = [
        each.stream
        for each in memory._log.of_subject(memory._log.subject("ana"))
        if each.type == "turn.recorded.v2" and each.event is not None
    ]
    if not turns:
        return 0
    return memory.erase("ana", turn=random.choice(turns), by="dpo").bodies


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories, erasing, st.randoms(use_true_random=False))
def test_counts_add_up_whatever_was_forgotten(history, wanted, random):
    with tempfile.TemporaryDirectory() as directory:
        with open_memory(Path(directory), extractor=Scripted()) as memory:
            live(memory, history)
            before = memory.audit.counts()
            assert before.adds_up, before.sums
            assert flat(before) == decided(memory)
            gone = 0
            for what in wanted:
                gone += forget(memory, what, random)
                answer = memory.audit.counts()
                assert answer.adds_up, answer.sums
                assert answer.decisions == before.decisions
                assert answer.supersessions == before.supersessions
                assert answer.loops == before.loops
                assert answer.revocations == before.revocations
                assert answer.bodies.gone == gone
                assert answer.bodies.written == before.bodies.written
            at = random.randint(0, memory._log.head().position)
            then = memory.audit.counts(at)
            assert then.adds_up, then.sums
            if at >= before.position:
                assert flat(then) == flat(before)
