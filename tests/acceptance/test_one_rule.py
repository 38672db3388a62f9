"""Types of events are named the same everywhere, errors are found in one place, and a supervisor's
request to end is no failure."""

from __future__ import annotations

import ast
import inspect
import json
import re
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from command_line import CliRunner
from programs import Program

import beliefledger
from beliefledger import InvalidQuery, InvalidTurn, LedgerError, UnknownMemory, open_memory
from beliefledger.ledger.event_names import named
from beliefledger.ledger.events import BY_NAME
from beliefledger.tools.cli import app

ROOT = Path(__file__).parents[2]
SECONDS = 60


def kinds(events):
    return {each.type.split(".")[0] for each in events}


def test_wildcards_are_taken_wherever_types_are(place):
    with open_memory(place, consent="consent") as memory:
        memory.remember("ana", "I live in Porto.")
        memory.remember("ana", "I moved to Lisbon.")
        with memory.subscribe(types=["memory.*"], follow=False) as events:
            told = [each.type for each in events]
        assert {each.rsplit(".", 1)[0] for each in told} == {"memory.admitted", "memory.superseded"}
        with memory.subscribe(types=["memory.*", "consent.granted.v1"], follow=False) as events:
            assert kinds(events) == {"memory", "consent"}
        with memory.consumer("mailer", types=["turn.*"], follow=False) as events:
            said = 0
            for each in events:
                assert each.type.startswith("turn.")
                events.ack(each)
                said += 1
            assert said == 2
        for wrong in ("remembrance.*", "memory.admited.v2", "*.v9", "memory.[ab]*"):
            with pytest.raises(InvalidQuery, match=re.escape(repr(wrong))):
                memory.subscribe(types=["memory.*", wrong], follow=False)
            with pytest.raises(InvalidQuery, match="There are: "):
                memory.consumer("other", types=[wrong], follow=False)
    run = CliRunner()
    answer = run.invoke(
        app, ["--ledger", place, "ops", "tail", "--types", "memory.*, turn.*", "--json"]
    )
    assert answer.exit_code == 0, answer.output
    lines = [json.loads(line)["type"] for line in answer.stdout.splitlines()]
    assert {line.split(".")[0] for line in lines} == {"memory", "turn"}
    answer = run.invoke(app, ["--ledger", place, "ops", "tail", "--types", "remembrance.*"])
    assert answer.exit_code == 2
    assert "'remembrance.*' is no type of event" in " ".join(answer.output.split())


def test_somebody_whom_nobody_knows_is_an_error_unless_they_may_come(place):
    with open_memory(place, consent="consent") as memory:
        memory.remember("ana", "I live in Porto.")
        with pytest.raises(UnknownMemory, match="'anna'"):
            memory.subscribe(subjects=["ana", "anna"], follow=False)
        with memory.subscribe(subjects=["anna"]):
            pass
        memory.erase("ana", by="ana")
        with memory.subscribe(subjects=["ana"], follow=False) as events:
            assert list(events) == []
    answer = CliRunner().invoke(app, ["--ledger", place, "ops", "tail", "--subject", "anna"])
    assert answer.exit_code == 3
    assert "Nothing is known about 'anna'" in " ".join(answer.output.split())


def test_a_list_of_somebody_whom_nobody_knows_is_empty_and_says_so(place):
    with open_memory(place, consent="consent") as memory:
        memory.remember("ana", "I live in Porto.")
        assert [memory.beliefs("anna"), memory.decisions("anna"), memory.events("anna")] == [[]] * 3
    run = CliRunner()
    for words in (
        ("beliefs",),
        ("decisions",),
        ("events",),
        ("search", "where?"),
        ("entities", "list"),
        ("entities", "related"),
        ("conflicts", "list"),
        ("consent", "list"),
        ("recalls", "list"),
        ("ops", "decay"),
        ("ops", "decay", "--reconfirm"),
    ):
        for name, says in (("anna", "Nothing is known about 'anna'."), ("ana", "")):
            answer = run.invoke(app, ["--ledger", place, *words, "--subject", name])
            assert answer.exit_code == 0, answer.output
            if says or words[0] != "search":
                assert answer.stderr.strip() == says, words
    answer = run.invoke(app, ["--ledger", place, "teams", "list", "--member", "anna", "--json"])
    assert (json.loads(answer.stdout), "'anna'" in answer.stderr) == ([], True)


def raised(ask):
    try:
        return ask()
    except LedgerError as problem:
        return problem


def test_what_cannot_be_asked_is_a_wrong_query_everywhere(place):
    with open_memory(place, consent="consent") as memory:
        memory.remember("ana", "I live in Porto.")
        questions = [
            lambda: memory.beliefs("ana", type="fcat"),
            lambda: memory.beliefs("ana", topic="wrok"),
            lambda: memory.beliefs("ana", where={"type": "fcat"}),
            lambda: memory.typed("ana", type="fcat"),
            lambda: memory.typed("ana", where={"topic": "wrok"}),
            lambda: memory.events("ana", where={"topic": "wrok"}),
            lambda: memory.history(memory.beliefs("ana")[0].memory_id, where={"type": "fcat"}),
            lambda: memory.decisions("ana", where={"type": "fcat"}),
            lambda: memory.decisions("ana", where={"topic": "wrok"}),
            lambda: memory.decisions("ana", reason="truth.nwe"),
            lambda: memory.beliefs("ana", as_of=10_000),
            lambda: memory.beliefs("ana", as_of="yesterday-ish"),
            lambda: memory.search("ana", ""),
            lambda: memory.search("ana", "where", types=["fcat"]),
            lambda: memory.search("ana", "where", k=0),
            lambda: memory.context("ana", "where", format="verse"),
            lambda: memory.decisions("ana", outcome="admitted"),
            lambda: memory.subjects(limit=0),
            lambda: memory.why_not("ana", "…"),
            lambda: memory.diff("ana", 2, 1),
            lambda: memory.audit.counts(10_000),
            lambda: memory.audit.checklist("nothing"),
            lambda: memory.subscribe(types=["fcat"], follow=False),
            lambda: memory.exports.events(by="dpo", after=10_000),
        ]
        assert [type(raised(ask)) for ask in questions] == [InvalidQuery] * len(questions)
        with pytest.raises(InvalidQuery, match="did you mean fact"):
            memory.beliefs("ana", type="fcat")
        with pytest.raises(InvalidQuery, match=r"did you mean truth\.new\?"):
            memory.decisions("ana", reason="truth.nwe")
        with pytest.raises(InvalidTurn):
            memory.record_turn("ana", "I live in Porto.", said_at="some day")
        with pytest.raises(InvalidTurn):
            memory.store("ana", "red", attribute="colour.favourite", valid_from="some day")


def numbers(told, path=""):
    """Every number of a document, with the names that lead to it."""
    if isinstance(told, dict):
        for name, each in told.items():
            yield from numbers(each, f"{path}.{name}")
    elif isinstance(told, list):
        for each in told:
            yield from numbers(each, path)
    elif isinstance(told, int | float) and not isinstance(told, bool):
        yield path, told


SCORES = {"confidence", "importance", "prior", "similarity", "c", "base", "s", "r", "e", "t"}
SCORES |= {"min_confidence", "recency_weight", "diversity"}


def test_json_tells_scores_and_times_and_not_what_the_log_counts(place):
    with open_memory(place, consent="consent", policy={"recall_floor": 0.2}) as memory:
        _, [decision] = memory.remember("ana", "I live in Porto.")
        memory.remember("ana", "I moved to Lisbon. My boss is Carla.")
        memory.remember("ana", "What if I were a doctor?")
        refused = memory.decisions("ana", outcome="quarantine")[0].decision_id
        recall = memory.search("ana", "where do I live?", by="bot").recall_id
    run = CliRunner()
    seen = set()
    for words in (
        ("beliefs",), ("decisions",), ("events", "-s", "ana"), ("subjects",), ("status",),
        ("explain", decision.memory_id), ("explain", refused), ("history", decision.memory_id),
        ("search", "-s", "ana", "home", "--why"), ("context", "-s", "ana", "home"),
        ("diff", "-s", "ana", "--start", "1"), ("why-not", "-s", "ana", "User is a doctor"),
        ("turn", decision.turn_id), ("recalls", "list"), ("recalls", "show", recall),
        ("recalls", "replay", recall), ("entities", "list", "-s", "ana"), ("ops", "decay"),
        ("policy", "list"), ("types", "list"), ("types", "show", "fact"), ("audit", "counts"),
        ("audit", "replay", decision.decision_id), ("ops", "tail"),
        ("consent", "list", "-s", "ana"), ("export", "events", "--by", "lea"),
        ("export", "person", "ana", "--by", "lea"),
    ):  # fmt: skip
        plain = words[0] == "export"
        answer = run.invoke(app, ["--ledger", place, *words, *(() if plain else ("--json",))])
        assert answer.exit_code == 0, (words, answer.output)
        try:
            documents = [json.loads(answer.stdout)]
        except json.JSONDecodeError:
            documents = [json.loads(line) for line in answer.stdout.splitlines()]
        for name, number in numbers(documents):
            last = name.rpartition(".")[2]
            seen.add(last)
            assert number <= (1 if last in SCORES else 100_000), (words, name, number)
    assert seen >= SCORES


def test_a_decision_that_is_made_otherwise_tells_both_in_the_same_units(place):
    with open_memory(place, consent="consent") as memory:
        _, [decision] = memory.remember("ana", "I live in Porto.")
        again = memory.audit.replay(decision.decision_id, policy={"sources": {"stated": 0.5}})
        assert again.verdict == "different"
        was, now = again.differs["c"]
        assert (again.recorded["c"], again.again["confidence"]) == (was, now)
        assert 0 < now < was < 1
        assert again.recorded["decided_at"].endswith("Z")
        memory.erase("ana", by="lea")
        again = memory.audit.replay(decision.decision_id)
        assert (again.verdict, "c" in again.recorded) == ("inputs destroyed", False)
        assert again.recorded["decided_at"].endswith("Z")


def test_a_pattern_means_every_type_that_it_fits():
    assert named(["*"]) == frozenset(BY_NAME)
    assert named(["*.erased.*"]) == {name for name in BY_NAME if ".erased." in name}
    assert named(["memory.admitted.v1"]) <= frozenset(BY_NAME)  # by the name of before


NOT_FOR_CALLERS = {
    "CannotListen": "`serve` ends with it where the port is taken",
    "NoKeys": "a server that is to export to a bucket tells it to whoever asks for an export",
    "NoSuchTask": "the A2A door answers with it: a caller of the library gets UnknownMemory",
    "TokenNotForThis": "the doors answer with it: a caller of the library gets NotPermitted",
    "PoisonedTool": "a server that offers such a tool does not start",
    "ToolProblem": "the MCP door tells it to a model, as the result of its call",
    "Unreadable": "the commands that read transcripts tell it",
}
"""The errors that no call of the library raises, and who meets each."""


def kinds_of_error():
    """Every class below `LedgerError`, wherever in the packages it is written."""
    bases = {}
    for layer in ("ledger", "gate", "projections", "beliefledger", "tools"):
        for file in (ROOT / layer).rglob("*.py"):
            for each in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(each, ast.ClassDef):
                    bases[each.name] = {ast.unparse(base).rpartition(".")[2] for base in each.bases}
    found = {"LedgerError"}
    while more := {name for name, of in bases.items() if of & found} - found:
        found |= more
    return found


def test_every_error_that_a_caller_can_meet_is_found_in_one_place():
    found = kinds_of_error()
    assert found >= {"LedgerError", "NoLedger", "OlderProgram", "Unreadable"}
    public = {
        name
        for name in beliefledger.__all__
        if inspect.isclass(each := getattr(beliefledger, name))
        and issubclass(each, beliefledger.LedgerError)
    }
    assert public == found - set(NOT_FOR_CALLERS), "make it public, or say who meets it"
    assert set(NOT_FOR_CALLERS) <= found
    assert all(getattr(beliefledger, name).__doc__ for name in public)


@pytest.mark.parametrize(
    "words",
    [
        ("ops", "tail", "--follow", "--json"),
        ("ops", "tail", "--consumer", "mailer", "--json"),
        ("ops", "project", "--json"),
        ("ops", "schedule", "--json"),
    ],
    ids=lambda words: "-".join(each.strip("-") for each in words[1:-1]),
)
def test_a_supervisor_ends_it_with_0(place, words):
    with ExitStack() as stack, open_memory(place) as memory:
        memory.record_turn("ana", "I live in Porto.")
        process = stack.enter_context(
            Program(
                [sys.executable, "-m", "beliefledger", "--ledger", place, *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
        )
        stack.callback(process.kill)
        written = [json.loads(process.stdout.readline())]
        process.send_signal(signal.SIGTERM)
        # `communicate` would pass over what `readline` has read ahead.
        written += map(json.loads, process.stdout)
        assert (process.wait(SECONDS), process.stderr.read()) == (0, "")
        consumers = memory.status(digests=False).consumers
        assert all(each.holder is None for each in consumers)
        if "mailer" in words:  # what was written out was acknowledged, and nothing else
            [mailer] = [each.position for each in consumers if each.name == "mailer"]
            assert mailer == written[-1]["position"]


def test_a_role_that_does_not_exist_is_told_as_that(postgres_place):
    nobody = re.sub(r"//[^:@/]*:?[^@/]*@", "//nobody-of-that-name:@", postgres_place)
    answer = CliRunner().invoke(app, ["--ledger", nobody, "status"])
    told = " ".join(answer.output.split())
    assert 'role "nobody-of-that-name" does not exist' in told
    assert "name a role that exists" in told
    assert "did not answer" not in told


def test_a_database_that_does_not_exist_is_told_as_that(postgres_place):
    nowhere = re.sub(r"(?<=/)[^/?]*(?=\?)", "no-database-of-that-name", postgres_place, count=1)
    answer = CliRunner().invoke(app, ["--ledger", nowhere, "status"])
    told = " ".join(answer.output.split())
    assert answer.exit_code == 3
    assert 'database "no-database-of-that-name" does not exist' in told
    assert "create it with CREATE DATABASE" in told
    assert "did not answer" not in told


def test_an_empty_answer_says_why(place):
    with open_memory(place, consent="consent") as memory:
        memory.remember("ana", "I live in Porto.", said_at="2026-03-05", session="monday")
    before = "Nothing was recorded about ana before "
    asked = {
        ("beliefs", "--valid-at", "2020-01-01"): "Without --valid-at there is 1.",
        ("beliefs", "--session", "nosuch"): "Without --session there is 1.",
        ("beliefs", "--type", "event", "--topic", "food"): "Without --topic, --type there is 1.",
        ("beliefs", "--as-of", "2020-01-01"): before,
        ("decisions", "--outcome", "reject"): "Without --outcome there is 1.",
        ("decisions", "--as-of", "2020-01-01"): before,
        ("events", "--as-of", "2020-01-01"): before,
        ("diff", "--start", "2019-03-01", "--end", "2020-01-01"): before,
        ("search", "home", "--as-of", "2020-01-01"): before,
        ("context", "home", "--as-of", "2020-01-01"): before,
        ("context", "home", "--as-of", "0"): before,
    }
    for words, says in asked.items():
        answer = CliRunner().invoke(app, ["--ledger", place, *words, "-s", "ana"])
        assert answer.exit_code == 0, answer.output
        assert says in answer.stderr, words
        if words[0] == "diff":
            said = " ".join(answer.stdout.split())
            assert said.endswith("and 2020-01-01 00:00 UTC, when nothing was recorded.")
    for words in (("beliefs",), ("decisions",), ("diff", "--start", "0"), ("search", "home")):
        answer = CliRunner().invoke(app, ["--ledger", place, *words, "-s", "ana"])
        assert "Without" not in answer.stderr
        assert before not in answer.stderr
