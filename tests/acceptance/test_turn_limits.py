"""One turn stops nobody: its size and its names have limits, and reading it has a deadline."""

from __future__ import annotations

import json

import pytest
from command_line import CliRunner
from echoes import echo

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.gate import deadline
from beliefledger.gate.intake import TurnInput
from beliefledger.gate.policy import MAX_TURN_BYTES, default_policy, load
from beliefledger.ledger.errors import InvalidTurn
from beliefledger.ledger.names import LONGEST
from beliefledger.tools.cli import app

LEADERS = "I live in Porto. My chapters are:\n" + "Beginnings " + "." * 30_000 + " 7"
AT_ONCE = 1e-9
"""Seconds of CPU time: whoever asks has used more."""


class Endless:
    """An extractor that never ends where a turn says so, unless its deadline ends it."""

    name = "endless"

    def __init__(self):
        self.looked = []
        self.cured = False

    def extract(self, turn, earlier=()):
        self.looked.append(turn.content)
        while turn.content.startswith("endless") and not self.cured:
            deadline.check()
        return echo(turn.content)


class Beside(Endless):
    """Looks at several subjects' turns side by side."""

    concurrency = 2


def run(place, *words):
    return CliRunner().invoke(app, ["--ledger", str(place), *words])


def test_a_table_of_contents_with_leaders_is_read_like_any_turn(place):
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        memory.record_turn("ana", LEADERS)
        answer = memory.process()
        assert (answer.turns, answer.parked) == (1, 0)
        assert [belief.value for belief in memory.beliefs("ana")] == ["Porto"]


@pytest.mark.parametrize("kind", [Endless, Beside])
def test_a_turn_that_takes_too_long_is_parked_with_the_reason(place, kind):
    reader = kind()
    with open_memory(place, extractor=reader, extraction_seconds=0.05) as memory:
        for who in ("ana", "ben"):
            memory.consent.grant(who, "consent")
        memory.record_turn("ana", "endless")
        memory.record_turn("ana", "two")
        memory.record_turn("ben", "three")
        answer = memory.process()
        assert (answer.turns, answer.failed, answer.parked, answer.pending) == (2, 1, 1, 0)
        assert sorted(belief.value for belief in memory.beliefs()) == ["three", "two"]
        [parked] = memory.operations.extraction.parked()
        assert (parked.subject, parked.attempts, parked.reason) == ("ana", 1, "deadline")
        assert parked.error == "ExtractionTooLong"
        assert "took more than 0.05 s" in parked.detail
        assert memory.status().parked_turns == 1
        [event] = memory.subscribe(types=["turn.parked.v2"], follow=False)
        assert event.facts == {"attempts": 1, "reason": "deadline"}


def test_nobody_takes_it_up_again_until_somebody_asks(place):
    reader = Endless()
    with open_memory(place, extractor=reader, extraction_seconds=0.05) as memory:
        memory.consent.grant("ana", "consent")
        memory.record_turn("ana", "endless")
        memory.process()
        assert (memory.process().turns, memory.operations.extraction.extract().turns) == (0, 0)
    with open_memory(place, extractor=reader, extraction_seconds=0.05) as memory:
        assert (memory.process().turns, memory.status().parked_turns) == (0, 1)
        assert reader.looked == ["endless"]
        reader.cured = True
        assert memory.operations.extraction.retry(by="Olga").turns == 1
        assert memory.process().turns == 1
        assert [belief.value for belief in memory.beliefs("ana")] == ["endless"]


def test_the_deadline_is_set_by_the_environment_and_told_on_the_command_line(place, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_EXTRACTION_SECONDS", str(AT_ONCE))
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        memory.record_turn("ana", "I live in Porto.")
        assert memory.process().parked == 1
    monkeypatch.delenv("BELIEFLEDGER_EXTRACTION_SECONDS")
    assert json.loads(run(place, "process", "--json").stdout)["turns"] == 0
    assert "its deadline" in run(place, "ops", "retry").stdout
    assert json.loads(run(place, "ops", "retry", "--json").stdout)[0]["reason"] == "deadline"
    assert json.loads(run(place, "ops", "retry", "--all", "--json").stdout) == {"turns": 1}
    assert json.loads(run(place, "process", "--json").stdout)["turns"] == 1


@pytest.mark.parametrize("wrong", ["0", "-1", "soon", "nan", "inf"])
def test_a_deadline_that_is_none_is_refused(tmp_path, monkeypatch, wrong):
    monkeypatch.setenv("BELIEFLEDGER_EXTRACTION_SECONDS", wrong)
    with pytest.raises(InvalidTurn, match="no deadline"):
        open_memory(tmp_path / "ledger")


# How long a turn may be


@pytest.fixture
def memory(place):
    with open_memory(place) as opened:
        yield opened


TOO_LONG = "I am é. " * 12_000
SIZES = "108,000 bytes in UTF-8; a turn has at most 100,000"


def test_a_turn_that_is_too_long_is_refused_whichever_way_it_comes(memory):
    before = memory.status().position
    ways = [
        lambda: memory.record_turn("ana", TOO_LONG),
        lambda: memory.record_turn("ana", TOO_LONG, role="assistant"),
        lambda: memory.record_turns([TurnInput("ana", "short"), TurnInput("ana", TOO_LONG)]),
        lambda: memory.remember("ana", TOO_LONG, consent="consent"),
        lambda: memory.store("ana", "Porto", attribute="home.location", text=TOO_LONG),
        lambda: memory.store("ana", TOO_LONG, attribute="home.location", text="short"),
    ]
    for way in ways:
        with pytest.raises(InvalidTurn, match=SIZES):
            way()
    assert memory.status().position == before


def test_a_turn_as_long_as_can_be_is_recorded(memory):
    memory.record_turn("ana", "é" * (MAX_TURN_BYTES // 2))
    assert memory.status().pending_turns == 1


def test_the_policy_says_how_long(memory):
    memory.policy.adopt({"max_turn_bytes": 10}, by="olga")
    with pytest.raises(InvalidTurn, match="11 bytes in UTF-8; a turn has at most 10,"):
        memory.record_turn("ana", "x" * 11)
    memory.record_turn("ana", "x" * 10)
    memory.policy.adopt({"max_turn_bytes": 200_000}, by="olga")
    memory.record_turn("ana", TOO_LONG)


def test_a_policy_from_before_the_limit_is_the_same_policy():
    # As it was computed before policies could say how long a turn may be.
    assert default_policy().digest() == (
        "eae52021939962a3b26fb4c657a21fa345e3f96fa507b03b4ced65e0efd13882"
    )
    assert "max_turn_bytes" not in default_policy().model_dump(mode="json")
    assert load(default_policy().model_dump(mode="json")).max_turn_bytes == MAX_TURN_BYTES
    assert load({"max_turn_bytes": 5}).digest() != default_policy().digest()


def test_a_transcript_goes_on_after_a_turn_that_is_too_long(place, tmp_path):
    said = ["I live in Porto.", TOO_LONG, "I use Vim."]
    file = tmp_path / "said.jsonl"
    file.write_text("".join(json.dumps({"role": "user", "content": each}) + "\n" for each in said))
    done = run(place, "ingest", str(file), "--json")
    told = json.loads(done.stdout)
    assert (told["recorded"], told["refused"]) == (2, 1)
    assert SIZES in told["problems"][0]["reason"]
    assert told["problems"][0]["line"] == 2


def test_the_command_line_says_both_sizes(tmp_path):
    done = run(tmp_path / "ledger", "remember", TOO_LONG, "--subject", "ana")
    assert done.exit_code != 0
    assert SIZES in " ".join(done.output.split())


# How long a name may be

NAME = "n" * (LONGEST + 1)


@pytest.mark.parametrize(
    "way",
    [
        lambda memory: memory.record_turn(NAME, "hello"),
        lambda memory: memory.record_turn("ana", "hello", session=NAME),
        lambda memory: memory.record_turn("ana", "hello", agent=NAME),
        lambda memory: memory.record_turn("ana", "hello", speaker=NAME),
        lambda memory: memory.record_turn("ana", "hello", idempotency_key=NAME),
        lambda memory: memory.consent.grant(NAME, "consent"),
        lambda memory: memory.consent.grant("ana", "consent", by=NAME),
        lambda memory: memory.store("ana", "x", attribute=NAME),
        lambda memory: memory.store("ana", "x", attribute="a.b", details=Details(entity=NAME)),
        lambda memory: memory.store("ana", "x", attribute="a.b", details=Details(context=NAME)),
        lambda memory: memory.store("ana", "x", attribute="a.b", by=NAME),
    ],
)
def test_a_name_that_is_too_long_is_refused(memory, way):
    before = memory.status().position
    with pytest.raises(InvalidTurn, match="513 characters; a name has at most 512"):
        way(memory)
    assert memory.status().position == before


def test_another_name_of_an_entity_has_a_name_s_length(memory):
    memory.consent.grant("ana", "consent")
    memory.remember("ana", "Nora Lind works at Equinor.")
    entity = next(each for each in memory.entities.list("ana") if each.name == "Nora Lind")
    with pytest.raises(InvalidTurn, match="513 characters"):
        memory.entities.add_alias("ana", entity.entity_id, NAME, by="olga")


def test_names_as_long_as_can_be_are_taken(memory):
    longest = "n" * LONGEST
    receipt = memory.record_turn(
        longest, "hello", session=longest, agent=longest, idempotency_key=longest
    )
    assert receipt.already is False


def test_a_channel_that_is_none_is_refused_before_it_stands_in_clear(place):
    with open_memory(place) as memory:
        head = memory._log.head().position
        for channel in ("ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789", "x" * 1_000_000, 5, ""):
            with pytest.raises(InvalidTurn, match="conversation, store"):
                memory.record_turns([TurnInput("ana", "I live in Porto.", channel=channel)])
        assert memory._log.head().position == head
