"""Calibration: what counts as right and wrong, the figures, the map, and adopting it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.audit.calibration import NotCalibrated
from beliefledger.curation.storing import Details
from beliefledger.ledger.errors import CallerMistake
from beliefledger.tools.cli import app

RATES = {1.0: (9, 1), 0.8: (7, 3), 0.6: (4, 6), 0.3: (2, 18)}
"""What the operator's word is worth to the formula, and how much of it turned out right, wrong."""
STATED = {1.0: 0.715, 0.8: 0.625, 0.6: 0.535, 0.3: 0.4}


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def _weigh(memory, worth: float) -> None:
    sources = {source.value: score for source, score in memory.policy.current.sources.items()}
    fields = memory.policy.current.model_dump(mode="json")
    memory.policy.adopt({**fields, "sources": {**sources, "operator": worth}}, by="eva")


def _history(memory, rates=RATES, prefix="a") -> None:
    for worth, (right, wrong) in rates.items():
        _weigh(memory, worth)
        for number in range(right + wrong):
            slot = f"{prefix}{worth}.{number}".replace(".", "_")
            kept = memory.store("ana", "blue", attribute=slot).memory_id
            if number < right:
                memory.store("ana", "blue", attribute=slot)
            else:
                memory.revoke(kept, by="eva")
    _weigh(memory, 1.0)


def _counts(memory) -> dict[str, int]:
    return {name: count for name, count in memory.audit.calibrate().outcomes.items() if count}


def test_what_nobody_said_a_word_about_is_left_out_and_counted(memory):
    memory.store("ana", "blue", attribute="colour", confidence=0.9)
    answer = memory.audit.calibrate()
    assert (answer.memories, answer.unknown, answer.right, answer.wrong) == (1, 1, 0, 0)
    assert (answer.bins, answer.brier, answer.ece, answer.map) == ((), None, None, None)


def test_a_mention_that_counts_makes_it_right_and_a_revocation_wrong(memory):
    first = memory.store("ana", "blue", attribute="colour").memory_id
    memory.store("ana", "blue", attribute="colour")
    assert _counts(memory) == {"confirmed": 1}
    memory.revoke(first, by="eva")  # the last word counts
    assert _counts(memory) == {"revoked": 1}


def test_a_correction_says_it_was_wrong_and_a_change_says_nothing(memory):
    memory.remember("ana", "I live in Porto.")
    memory.remember("ana", "I moved to Faro.")
    assert _counts(memory) == {}
    memory.remember("ana", "No, I live in Lagos, not Faro.")
    answer = memory.audit.calibrate()
    assert {d.reason for d in memory.decisions("ana")} >= {"truth.change", "truth.correction"}
    assert (answer.memories, answer.wrong, answer.right) == (3, 1, 0)
    assert answer.outcomes["corrected"] == 1


def test_withdrawn_consent_says_nothing(memory):
    memory.store("ana", "blue", attribute="colour")
    memory.consent.withdraw("ana", by="system")
    assert memory.audit.calibrate().unknown == 1


def test_a_reviewer_says_right_or_wrong(memory):
    queued = [
        memory.store(
            "ana", each, attribute=f"health.{each}", details=Details(category="health")
        ).decision_id
        for each in ("asthma", "gout")
    ]
    memory.conflicts.review(queued[0], approve=True, by="eva")
    memory.conflicts.review(queued[1], approve=False, by="eva")
    assert _counts(memory) == {"approved": 1, "refused": 1}
    assert memory.audit.calibrate().scored == 2


def test_promotion_out_of_quarantine_makes_it_right_at_what_it_was_first_stated_with(memory):
    _weigh(memory, 0.5)
    first = memory.store("ana", "blue", attribute="colour")
    assert (first.outcome, first.confidence) == ("quarantine", 0.49)
    memory.store("ana", "blue", attribute="colour")
    again = memory.decisions("ana")[-1]
    assert again.reason == "truth.promoted"
    answer = memory.audit.calibrate()
    assert answer.outcomes["confirmed"] == 1
    assert answer.bins[0].stated == 0.49


def test_a_resolution_says_which_was_right_and_its_own_memory_is_no_estimate(memory, clock):
    for value in ("Porto", "Faro", "Porto", "Faro", "Lagos"):
        clock.ahead(3600)
        memory.store("ana", value, attribute="home.location")
    (conflict,) = memory.conflicts.list("ana")
    before = memory.audit.calibrate().memories
    memory.conflicts.resolve(conflict.belief_id, choose="Faro", by="eva")
    assert _counts(memory) == {"chosen": 1}
    assert memory.audit.calibrate().memories == before


def test_what_is_said_of_a_merged_memory_was_said_of_each_that_went_into_it(memory):
    for attribute, text in (
        ("editor.theme", "User prefers dark mode"),
        ("ui.appearance", "User likes dark mode"),
    ):
        memory.store("ana", "dark mode", attribute=attribute, type="preference", text=text)
    assert len(memory.operations.consolidation.consolidate("ana", apply=True).clusters) == 1
    before = memory.audit.calibrate()
    assert (before.memories, before.unknown) == (2, 2)
    (merged,) = memory.beliefs("ana")
    memory.revoke(merged.memory_id, by="eva")
    assert _counts(memory) == {"revoked": 2}


def test_the_figures_are_those_of_their_formulas(memory):
    for number, (confidence, right) in enumerate([(0.9, True), (0.9, False), (0.62, True)]):
        kept = memory.store(
            "ana", "blue", attribute=f"slot{number}", confidence=confidence
        ).memory_id
        if right:
            memory.store("ana", "blue", attribute=f"slot{number}")
        else:
            memory.revoke(kept, by="eva")
    answer = memory.audit.calibrate()
    assert [(each.low, each.count, each.observed) for each in answer.bins] == [
        (0.6, 1, 1.0),
        (0.9, 2, 0.5),
    ]
    assert answer.brier == round((0.1**2 + 0.9**2 + 0.38**2) / 3, 4)
    assert answer.ece == round((2 * 0.4 + 1 * 0.38) / 3, 4)
    assert (answer.bins[1].at_least, answer.bins[1].at_most) == (0.0945, 0.9055)
    assert answer.scored == 0  # a confidence that a caller chose is not the formula's


def test_too_few_give_no_map(memory):
    _history(memory, {1.0: (14, 15)})
    answer = memory.audit.calibrate()
    assert answer.map is None
    assert "29 memories" in answer.why
    assert "noise" in answer.why
    with pytest.raises(NotCalibrated, match="noise"):
        memory.audit.calibrated_policy(answer)


@pytest.mark.parametrize(
    ("rates", "says"),
    [
        ({1.0: (21, 9), 0.3: (9, 10)}, "30 turned out right and 19 wrong"),
        ({1.0: (15, 9), 0.3: (4, 20)}, "19 turned out right and 29 wrong"),
    ],
)
def test_too_few_of_one_outcome_give_no_map(memory, rates, says):
    _history(memory, rates)
    answer = memory.audit.calibrate()
    assert answer.map is None
    assert says in answer.why
    assert "fewer than 20 of either" in answer.why
    with pytest.raises(NotCalibrated, match="fewer than 20"):
        memory.audit.calibrated_policy(answer)


def test_twenty_of_each_outcome_give_a_map(memory):
    _history(memory, {1.0: (15, 5), 0.3: (5, 15)})
    assert memory.audit.calibrate().map is not None


def test_the_map_rises_and_is_adopted_and_the_next_is_made_from_the_formula_again(memory):
    _history(memory)
    first = memory.audit.calibrate()
    assert (first.right, first.wrong) == (22, 28)
    assert [stated for stated, _ in first.map] == sorted(STATED.values())
    assert [observed for _, observed in first.map] == [0.1, 0.4, 0.7, 0.9]
    assert first.score_brier == first.brier
    assert first.map_brier < first.score_brier
    memory.policy.adopt(memory.audit.calibrated_policy(first), by="eva")
    assert memory.policy.current.calibration == first.map

    _weigh(memory, 0.8)
    told = memory.store("ana", "red", attribute="mapped")
    assert told.confidence == 0.7
    assert memory.store("ana", "red", attribute="chosen", confidence=0.6).confidence == 0.6
    assert memory.audit.calibrate().map == first.map  # nothing known is new

    _history(memory, prefix="b")
    second = memory.audit.calibrate()
    assert second.scored == 100
    # The same rates once more: the formula says what it said, the map of it is the same, while what
    # was stated is now what turned out.
    assert second.map == first.map
    assert second.ece < first.ece
    assert second.score_ece == first.score_ece


def test_decisions_from_before_and_after_replay_the_same(memory):
    _history(memory)
    memory.policy.adopt(memory.audit.calibrated_policy(memory.audit.calibrate()), by="eva")
    memory.remember("ana", "I prefer tea to coffee.")
    memory.remember("ana", "Maybe I would move to Faro if it were cheaper.")
    summary = memory.audit.replay_all()
    assert (summary.different, summary.inputs_destroyed) == (0, 0)


def test_after_an_erasure_it_is_that_of_what_is_left(memory):
    """Scores would tell the type of what is erased, so they go with the words."""
    memory.consent.grant("ben", "consent")
    _history(memory)
    for number in range(3):
        memory.store("ben", "blue", attribute=f"slot{number}")
        memory.store("ben", "blue", attribute=f"slot{number}")
    everybody = memory.audit.calibrate()
    memory.erase("ana", by="system")
    left = memory.audit.calibrate()
    assert (everybody.memories, left.memories) == (53, 3)
    assert {name: count for name, count in left.outcomes.items() if count} == {"confirmed": 3}


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_plot_is_a_picture(memory, tmp_path, kind):
    _history(memory)
    file = tmp_path / f"plot.{kind}"
    memory.audit.plot_calibration(memory.audit.calibrate(), file)
    begins = file.read_bytes()[:200]
    assert (b"\x89PNG" in begins) if kind == "png" else (b"<?xml" in begins)


def test_a_plot_of_nothing_or_of_another_kind_is_refused(memory, tmp_path):
    with pytest.raises(NotCalibrated, match="nothing to draw"):
        memory.audit.plot_calibration(memory.audit.calibrate(), tmp_path / "plot.png")
    with pytest.raises(CallerMistake, match=r"\.svg"):
        memory.audit.plot_calibration(memory.audit.calibrate(), tmp_path / "plot.pdf")


def _cli(place: str, *words: str, code: int = 0):
    result = CliRunner().invoke(app, ["--ledger", place, *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, (result.stdout, result.stderr)
    return result


def test_the_command(new_place, tmp_path: Path):
    place = new_place()
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        memory.store("ana", "blue", attribute="colour")
    page = _cli(place, "audit", "calibrate").stdout
    assert "nobody said a word about 1" in page
    assert "No map" in page
    refused = _cli(place, "audit", "calibrate", "--adopt", "--by", "eva", code=3)
    assert "noise" in refused.stderr
    assert "--by" in _cli(place, "audit", "calibrate", "--adopt", code=2).stderr

    with open_memory(place) as memory:
        _history(memory)
    page = _cli(place, "audit", "calibrate").stdout
    for said in ("Brier score", "0.7–0.8", "│", "was right", "--adopt --by NAME"):
        assert said in page
    answer = json.loads(_cli(place, "audit", "calibrate", "--json").stdout)
    file = tmp_path / "policy.yaml"
    _cli(place, "audit", "calibrate", "--policy", str(file), "--plot", str(tmp_path / "plot.svg"))
    assert yaml.safe_load(file.read_text())["calibration"] == answer["map"]
    assert "<svg" in (tmp_path / "plot.svg").read_text()
    _cli(place, "policy", "validate", str(file))
    adopted = json.loads(
        _cli(place, "audit", "calibrate", "--adopt", "--by", "eva", "--json").stdout
    )
    assert adopted["adopted"] == answer["map"]
    with open_memory(place) as memory:
        assert [list(pair) for pair in memory.policy.current.calibration] == answer["map"]


def test_without_the_extra_it_says_what_to_install(tmp_path: Path):
    place = tmp_path / "ledger"
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        _history(memory)
    run = (
        "import sys; sys.modules['sklearn.isotonic'] = None; sys.modules['matplotlib.figure'] ="
        " None; from tools.cli import main; main()"
    )

    def without(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", run, "--ledger", str(place), "audit", "calibrate", *words],
            capture_output=True,
            text=True,
            check=False,
        )

    table = without()
    assert table.returncode == 0
    assert "Brier score" in table.stdout
    assert "beliefledger[calibration]" in " ".join(table.stdout.split())
    for words in (("--adopt", "--by", "eva"), ("--plot", str(tmp_path / "plot.png"))):
        refused = without(*words)
        assert refused.returncode == 3
        assert "beliefledger[calibration]" in refused.stderr
        assert "Traceback" not in refused.stderr
