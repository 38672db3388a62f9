"""Every table of the command line is readable at 80 columns: ids and words whole, nothing over."""

from __future__ import annotations

import json
import re

import pytest
from command_line import CliRunner

from beliefledger.tools.cli import app

WIDE = "200"
NARROW = 80
SAID = {
    "ana": [
        (
            "2026-01-05",
            "I live in Lisbon. I use unittest for all of the tests that I write at work.",
        ),
        ("2026-01-06", "My manager is Sarah Chen. I report to Sarah Chen."),
        ("2026-01-07", "I'm tired today."),
        (
            "2026-01-08",
            "Yesterday I attended a workshop on effective communication in the workplace.",
        ),
        ("2026-02-01", "I have diabetes."),
        ("2026-03-01", "I moved to Porto."),
        ("2026-03-02", "What if I were a doctor?"),
        *(
            (f"2026-04-{3 * day:02}", f"I prefer {part} meetings.")
            for day, part in enumerate(["morning", "afternoon"] * 3, 1)
        ),
    ],
    "gpt4_2655b836-of-the-north": [
        ("2026-01-05", "I live in Kristiansand. I am allergic to penicillin and to strawberries."),
        ("2026-01-09", "I have a golden retriever called Maximilian Alexander the Second."),
    ],
    "zoe": [("2026-01-05", "I live in Faro.")],
}
TABLES = [
    "status",
    "beliefs",
    "beliefs --subject ana --quarantined --min-confidence 0",
    "history BELIEF",
    "explain BELIEF",
    "events --subject ana",
    "decisions",
    "decisions --subject ana",
    "search --subject ana meetings --why --no-record",
    "decisions --subject ana --waiting",
    "why-not --subject ana diabetes",
    "why-not --subject ana Lisbon",
    "turn TURN",
    "diff --subject ana --start 0",
    "reasons truth",
    "conflicts list",
    "conflicts loops",
    "conflicts review",
    "entities list --subject ana",
    "entities related --subject ana",
    "types list",
    "types show preference",
    "consent list --subject ana",
    "recalls list",
    "recalls show RECALL",
    "erasure preview ana",
    "erasure list",
    "erasure hold list",
    "erasure certificate ERASURE",
    "audit counts",
    "audit replay --all",
    "audit checklist",
    "audit calibrate",
    "vectors status",
    "ops rebuild --verify",
    "ops schedule --list",
    "ops retry",
    "ops decay",
    "ops decay --reconfirm --at 2028-01-01",
    "ops consolidate --threshold 0.1",
    "ops tail",
]
LINES = {"ops tail"}
"""One event a line, however long, for other programs to read."""


def run(place, *words, columns=WIDE, code=(0, 1)):
    answer = CliRunner(env={"COLUMNS": str(columns)}).invoke(app, ["--ledger", str(place), *words])
    assert answer.exit_code in code, answer.output
    return answer.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A ledger that has something for every table."""
    place = tmp_path_factory.mktemp("tables") / "ledger"
    for subject, said in SAID.items():
        run(place, "consent", "grant", "--subject", subject, "--by", "lea")
        for at, text in said:
            run(place, "remember", "--subject", subject, text, "--at", at, "--session", "first")
    run(place, "search", "--subject", "ana", "where does Ana live?", "--by", "the support desk")
    run(place, "erasure", "hold", "place", "ana", "--reason", "a case at court", "--by", "lea")
    run(place, "erase", "zoe", "--yes", "--by", "the data protection officer")
    run(place, "ops", "schedule", "--once", "expiry")
    run(place, "vectors", "build")
    return place


@pytest.fixture(scope="module")
def ids(place):
    """How tables print an id of each kind, to be asked for by it."""
    beliefs = json.loads(run(place, "beliefs", "--subject", "ana", "--json"))
    recalls = json.loads(run(place, "recalls", "list", "--json"))
    erasures = json.loads(run(place, "erasure", "list", "--json"))
    decisions = json.loads(run(place, "decisions", "--subject", "ana", "--json"))
    return {
        "TURN": decisions[0]["turn_id"][:10],
        "BELIEF": beliefs[0]["memory_id"][:10],
        "RECALL": recalls[0]["recall_id"][:10],
        "ERASURE": erasures[0]["erasure"][:10],
    }


def _tokens(text: str) -> set[str]:
    return {word.strip(":·,.()\\\"'“”─") for word in text.split()} - {""}


@pytest.mark.parametrize("table", TABLES)
def test_nothing_is_cut_at_eighty_columns(place, ids, table):
    words = [ids.get(word, word) for word in table.split()]
    before = run(place, *words)
    narrow, wide = run(place, *words, columns=NARROW), run(place, *words)
    assert narrow.strip()
    if table not in LINES:
        assert [line for line in narrow.splitlines() if len(line) > NARROW] == []
    assert "…" not in re.sub(r"“[^”]*”|policy.*", "", narrow)
    # A minute may begin between two of these.
    whole = (
        _tokens(before) | _tokens(wide) | _tokens(run(place, *words, "--json").replace(",", " "))
    )
    assert {word for word in _tokens(narrow) if word not in whole} == set()


@pytest.mark.parametrize(
    ("table", "key", "taken"),
    [
        ("beliefs", "memory_id", ["explain", "history"]),
        ("decisions --subject ana", "decision_id", ["explain", "audit replay"]),
        ("recalls list", "recall_id", ["recalls show", "recalls replay"]),
        ("erasure list", "erasure", ["erasure certificate"]),
        ("entities list --subject ana", "entity_id", ["entities show --subject ana"]),
        ("ops decay", "memory_id", ["explain"]),
        ("conflicts list", "belief_id", ["history"]),
    ],
)
def test_an_id_as_printed_is_taken_by_the_other_commands(place, table, key, taken):
    known = [each[key] for each in json.loads(run(place, *table.split(), "--json"))]
    assert known
    shown = run(place, *table.split(), columns=NARROW)
    for whole in known:
        assert whole[:10] in shown
        assert [each for each in set(known) if each.startswith(whole[:10])] == [whole]
    for command in taken:
        run(place, *command.split(), known[0][:10])
