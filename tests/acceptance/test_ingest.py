"""Ingesting files: every form, every kind of bad line, again, and after a crash."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import programs
import psycopg
import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.ledger.postgres.server import PostgresURL, is_postgres
from beliefledger.tools import ingest
from beliefledger.tools.cli import app
from beliefledger.tools.ingest import Ingest, Ingested
from beliefledger.tools.transcripts import NotATurn, Refused, Said, Transcript, moment

HERE = Path(__file__).resolve().parents[2]
LONGMEMEVAL = HERE.parent / "shared" / "data" / "longmemeval"


def run(ledger: object, *words: object, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["--ledger", str(ledger), *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, (words, result.stdout, result.stderr)
    return result


def ask(ledger: object, *words: object, code: int = 0) -> Any:
    return json.loads(run(ledger, *words, "--json", code=code).stdout)


def digests(ledger: object) -> dict[str, str]:
    return {
        view["name"]: view["content_digest"] for view in ask(ledger, "status", "--digests")["views"]
    }


def events(ledger: object, type_: str) -> list[dict[str, Any]]:
    lines = run(ledger, "ops", "tail", "--types", type_, "--json").stdout.splitlines()
    return [json.loads(line) for line in lines]


def said(ledger: object) -> list[dict[str, Any]]:
    """The recorded turns, with their subject beside their words."""
    return [
        {"subject": event["subject"], "role": event["facts"]["role"], **event["body"]}
        for event in events(ledger, "turn.recorded.v2")
    ]


def lines(path: Path, *each: object) -> Path:
    text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in each)
    path.write_text(text + "\n")
    return path


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger"


# Generated conversations

STATEMENTS = [
    "I live in {city}.",
    "I moved to {city}.",
    "I use {tool} at work.",
    "No, I use {tool}, not vim.",
    "I like {thing}.",
    "I prefer {part} meetings.",
    "Thanks, that's helpful!",
    "Could you tell me more about {thing}?",
    "My sister lives in {city} and likes {thing}.",
    "I'm tired today.",
]
WORDS = {
    "city": ["Porto", "Lisbon", "Faro", "Rome", "Oslo", "Ghent"],
    "tool": ["vim", "emacs", "pytest", "make", "git"],
    "thing": ["jazz", "green tea", "hiking", "chess", "old films"],
    "part": ["morning", "afternoon"],
}


def conversations(seed: int, turns: int, people: int = 8) -> list[dict[str, Any]]:
    """Turns of several people, who alternate with an assistant; the same for the same seed."""
    chance = random.Random(seed)
    made = []
    for number in range(turns):
        person = f"person{number // 2 % people}"
        words = {name: chance.choice(each) for name, each in WORDS.items()}
        text = chance.choice(STATEMENTS).format(**words)
        made.append(
            {
                "subject": person,
                "session": f"{person}-{number // 200}",
                "role": "assistant" if number % 2 else "user",
                "content": f"I see: {text}" if number % 2 else text,
                "timestamp": 1_735_689_600 + number * 3_600,
            }
        )
    return made


# The forms


def test_json_lines_of_several_people(place, tmp_path):
    file = lines(
        tmp_path / "turns.jsonl",
        {"subject": "ana", "session": "s1", "role": "user", "content": "I live in Porto."},
        {"speaker": "Bo", "content": "I like jazz.", "timestamp": "2026-01-02T10:00:00Z"},
        {"speaker": "user", "content": "I use vim.", "timestamp": 1_767_434_400},
        {"role": "user", "content": "I like tea.", "timestamp": 1_767_434_400_000},
        {"subject": "ana", "speaker": "Bo", "content": "She likes tea."},
        {"subject": "ana", "role": "assistant", "content": "Noted.", "said_at": "1767434400"},
        "",
        {"subject": 7, "role": "human", "content": [{"type": "text", "text": "I play chess."}]},
    )
    result = run(place, "ingest", file, "--consent", "consent", "--json")
    answer = json.loads(result.stdout)
    assert answer["recorded"] == answer["turns"] == answer["processed"] == 7
    assert answer["refused"] == answer["pending"] == 0
    assert "2 turns name no subject and went to 'user'" in result.stderr
    turns = said(place)
    assert [(each["subject"], each["role"]) for each in turns] == [
        ("ana", "user"),
        ("Bo", "user"),
        ("user", "user"),
        ("user", "user"),
        ("ana", "other"),
        ("ana", "assistant"),
        ("7", "user"),
    ]
    assert turns[1]["said_at"] == "2026-01-02T10:00:00Z"
    assert {turns[at]["said_at"] for at in (2, 3, 5)} == {"2026-01-03T10:00:00Z"}
    assert turns[0]["session"] == "s1"
    assert answer["decisions"]["admit"] == 5


def test_a_list_of_chat_messages(ledger, tmp_path):
    file = tmp_path / "chat.json"
    messages = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": [{"type": "text", "text": "I live in Porto."}]},
        {"role": "assistant", "content": "Lovely!"},
        {"role": "user", "content": "I like jazz."},
    ]
    file.write_text(json.dumps(messages, indent=2))
    result = run(ledger, "ingest", file, "--subject", "ana", "--consent", "consent", "--json")
    assert "name no subject" not in result.stderr
    assert {each["value"] for each in ask(ledger, "beliefs", "--subject", "ana")} == {
        "Porto",
        "jazz",
    }
    wrapped = tmp_path / "wrapped.json"
    wrapped.write_text(json.dumps({"messages": messages}))
    answer = ask(ledger, "ingest", wrapped, "--subject", "ana")
    assert (answer["recorded"], answer["already"]) == (0, 4)


def _question(name: str, *sessions: tuple[str, str, list[str]]) -> dict[str, Any]:
    return {
        "question_id": name,
        "question": "?",
        "haystack_session_ids": [session for session, _, _ in sessions],
        "haystack_dates": [date for _, date, _ in sessions],
        "haystack_sessions": [
            [{"role": "user", "content": text, "has_answer": True} for text in texts]
            for _, _, texts in sessions
        ],
    }


QUESTIONS = [
    _question(
        "q1",
        ("later", "2023/04/10 (Mon) 17:50", ["I moved to Porto.", "I like jazz."]),
        ("earlier", "2023/03/01 (Wed) 08:00", ["I live in Lisbon."]),
    ),
    _question("q2", ("only", "2023/05/01 (Mon) 09:00", ["I use vim."])),
]


@pytest.mark.parametrize("form", ["plain", "gz", "lines", "shared sessions"])
def test_a_longmemeval_file_is_one_person_for_each_question(ledger, tmp_path, form):
    file = tmp_path / "questions"
    text = json.dumps(QUESTIONS)
    if form == "lines":
        text = "\n".join(json.dumps(each) for each in QUESTIONS)
    if form == "shared sessions":
        shared, questions = {}, []
        for each in QUESTIONS:
            keys = [f"{name}#1" for name in each["haystack_session_ids"]]
            shared |= dict(zip(keys, each["haystack_sessions"], strict=True))
            questions.append(each | {"haystack_session_keys": keys})
            del questions[-1]["haystack_sessions"]
        text = json.dumps({"sessions": shared, "questions": questions})
    file.write_bytes(gzip.compress(text.encode()) if form == "gz" else text.encode())
    answer = ask(ledger, "ingest", file, "--consent", "consent")
    assert (answer["recorded"], answer["subjects"]) == (4, 2)
    turns = [(each["subject"], each["session"], each["content"]) for each in said(ledger)]
    assert turns == [
        ("q1", "earlier", "I live in Lisbon."),
        ("q1", "later", "I moved to Porto."),
        ("q1", "later", "I like jazz."),
        ("q2", "only", "I use vim."),
    ]
    first, second = (datetime.fromisoformat(each["said_at"]) for each in said(ledger)[1:3])
    assert first == datetime(2023, 4, 10, 17, 50, tzinfo=UTC) < second
    home = ask(ledger, "beliefs", "--subject", "q1", "--valid-at", "2023-03-15")
    assert [each["value"] for each in home] == ["Lisbon"]


def test_several_files_and_standard_input(ledger, tmp_path):
    one = lines(
        tmp_path / "one.jsonl", {"subject": "ana", "role": "user", "content": "I like tea."}
    )
    two = lines(tmp_path / "two.jsonl", {"subject": "bo", "role": "user", "content": "I like tea."})
    assert ask(ledger, "ingest", one, two)["subjects"] == 2
    done = programs.run(
        [sys.executable, "-m", "beliefledger", "-l", str(ledger), "ingest", "-", "--json"],
        input=gzip.compress(one.read_bytes()),
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["already"] == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-01-01", 1_767_225_600_000_000),
        ("2026-01-01T01:00:00+01:00", 1_767_225_600_000_000),
        ("2026/01/01 (Thu) 00:00", 1_767_225_600_000_000),
        (1_767_225_600, 1_767_225_600_000_000),
        (1_767_225_600.25, 1_767_225_600_250_000),
        (1_767_225_600_000, 1_767_225_600_000_000),
        ("1767225600", 1_767_225_600_000_000),
        (0, 0),
    ],
)
def test_times(given, expected):
    assert moment(given) == expected


@pytest.mark.parametrize("given", ["soon", "", True, {}, 1e18, "2026-13-01", float("inf")])
def test_what_is_no_time(given):
    with pytest.raises(NotATurn, match="timestamp"):
        moment(given)


# Bad lines

GOOD = {"subject": "ana", "role": "user", "content": "I live in Porto."}
BAD = [
    ("{broken", "not JSON"),
    ([1, 2], "not an object"),
    ({"subject": "ana", "role": "user"}, "content is missing"),
    ({"subject": "ana", "role": "user", "content": "  "}, "content is empty"),
    ({"subject": "ana", "role": "user", "content": 5}, "content must be text"),
    ({"subject": "ana", "role": "wizard", "content": "Abracadabra."}, "role is 'wizard'"),
    ({"subject": "ana", "content": "Who says so?"}, "neither role nor speaker"),
    ({**GOOD, "timestamp": "soon"}, "'soon' is not a time"),
    ({**GOOD, "timestamp": 1e20}, "timestamp 1e+20"),
    ({**GOOD, "subject": ["ana"]}, "subject must be text"),
    ({**GOOD, "subject": "   "}, "subject is empty"),
    ('{"subject": "ana", "role": "user", "content": "\\ud800"}', "not JSON"),
]


def test_each_bad_line_is_named_with_its_reason_and_the_rest_goes_in(ledger, tmp_path):
    file = lines(tmp_path / "turns.jsonl", GOOD, *(bad for bad, _ in BAD), {**GOOD, "session": "2"})
    result = run(ledger, "ingest", file, "--consent", "consent", "--json", code=1)
    answer = json.loads(result.stdout)
    assert (answer["recorded"], answer["refused"]) == (2, len(BAD))
    for number, (problem, (_, reason)) in enumerate(zip(answer["problems"], BAD, strict=True), 2):
        assert problem["line"] == number
        assert problem["file"] == str(file)
        assert reason in problem["reason"]
        assert f"{file}, line {number}: " in result.stderr
    assert "Traceback" not in result.stderr


def test_a_bad_line_can_also_be_the_first(ledger, tmp_path):
    for number, bad in enumerate(("nonsense", "{broken", '{"a": 1}')):
        file = lines(tmp_path / "turns.jsonl", bad, {**GOOD, "session": str(number)})
        answer = ask(ledger, "ingest", file, code=1)
        assert [each["line"] for each in answer["problems"]] == [1]
        assert answer["recorded"] == 1


@pytest.mark.parametrize(
    "table", ['id,note\n1,x\n{"a": 1},y\n', 'id,note\n1,"over two\n{lines}"\n', "{x},y\n1,2\n"]
)
def test_a_table_that_looks_like_json_here_and_there_is_refused_line_by_line(
    ledger, tmp_path, table
):
    file = tmp_path / "table.csv"
    file.write_text(table)
    answer = ask(ledger, "ingest", file, code=1)
    assert answer["turns"] == 0
    assert answer["refused"] == table.count("\n")


def test_many_bad_lines_are_counted_and_the_first_are_told(ledger, tmp_path):
    file = lines(tmp_path / "turns.jsonl", GOOD, *["{"] * 50)
    result = run(ledger, "ingest", file, code=1)
    assert "and 30 more refused lines" in result.stderr
    assert len(result.stderr.splitlines()) < 30


def test_correcting_a_bad_line_adds_just_that_line(ledger, tmp_path):
    turns = [{**GOOD, "content": f"I like tea number {number}."} for number in range(5)]
    file = lines(tmp_path / "turns.jsonl", turns[0], "{broken", *turns[2:])
    assert ask(ledger, "ingest", file, code=1)["recorded"] == 4
    lines(file, *turns)
    answer = ask(ledger, "ingest", file)
    assert (answer["recorded"], answer["already"]) == (1, 4)


def test_bad_messages_and_sessions_are_named(ledger, tmp_path):
    chat = tmp_path / "chat.json"
    chat.write_text(json.dumps([GOOD, {"role": "user"}, "words"]))
    problems = ask(ledger, "ingest", chat, code=1)["problems"]
    assert [each["place"] for each in problems] == ["message 2", "message 3"]
    broken = json.loads(json.dumps(QUESTIONS))
    broken[0]["haystack_dates"][0] = "some day"
    broken[1]["haystack_sessions"][0].append({"role": "user"})
    broken.append({"question_id": "q3", "haystack_sessions": [[]], "haystack_dates": ["a", "b"]})
    broken.append({"question": "?"})
    questions = tmp_path / "questions.json"
    questions.write_text(json.dumps(broken))
    answer = ask(ledger, "ingest", questions, code=1)
    assert answer["recorded"] == 2
    assert [each["place"] for each in answer["problems"]] == [
        "question q1, session later",
        "question q2, session only, turn 2",
        "question q3",
        "question 4",
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\n \r\n\n", "only blank lines"),
        (b"\n" * 5000, "only blank lines"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not text"),
        ("[]".encode("utf-16"), "not text"),
        (b"name,age\nana,7\n", "neither JSON lines"),
        (b'"id","note"\r\n"1","a, b"\r\n', "Of a table (CSV), write each row"),
        (b'id;note\n1;"she said\n[sic]"\n', "Of a table (CSV), write each row"),
        (b"role,content\n", "neither JSON lines"),
        (b'{"questions": []}', "no turn in it"),
        (b'[{"question_id": "q", "haystack_sessions": [[]]}]', "no turn in it"),
        (b"[{]", "not JSON"),
        (b"[]", "empty list"),
        (b"\x1f\x8b\x08\x00broken", "damaged"),
    ],
)
def test_a_file_that_is_no_conversation_is_told_of_and_does_not_stop_others(
    ledger, tmp_path, content, reason
):
    file = tmp_path / "file"
    file.write_bytes(content)
    good = lines(tmp_path / "turns.jsonl", GOOD)
    result = run(ledger, "ingest", file, good, "--json", code=3)
    assert reason in result.stderr
    assert str(file) in result.stderr
    answer = json.loads(result.stdout)
    assert answer["recorded"] == 1
    assert len(answer["unreadable"]) == 1


def test_what_comes_before_the_end_of_a_truncated_gz_goes_in(ledger, tmp_path):
    file = tmp_path / "turns.jsonl.gz"
    whole = gzip.compress("\n".join(map(json.dumps, conversations(1, 600))).encode())
    file.write_bytes(whole[: len(whole) // 2])
    result = run(ledger, "ingest", file, "--json", code=3)
    assert "cut short" in result.stderr
    assert 0 < json.loads(result.stdout)["recorded"] < 600
    file.write_bytes(whole)
    answer = ask(ledger, "ingest", file)
    assert answer["turns"] == 600
    assert answer["already"] > 0


def test_a_missing_file_is_usage_and_makes_no_ledger(ledger, tmp_path):
    run(ledger, "ingest", tmp_path / "nowhere.jsonl", code=2)
    run(ledger, "ingest", tmp_path, code=2)
    assert not ledger.exists()


def test_an_unknown_basis_is_refused_before_a_turn_is_recorded(ledger, tmp_path):
    file = lines(tmp_path / "turns.jsonl", GOOD)
    assert "lawful basis" in run(ledger, "ingest", file, "--consent", "whim", code=2).stderr
    assert ask(ledger, "status")["turns"] == {}


def test_lines_of_an_erased_subject_are_refused_and_the_others_go_in(place, tmp_path):
    file = lines(tmp_path / "turns.jsonl", GOOD, {**GOOD, "subject": "bo"})
    run(place, "ingest", file, "--consent", "consent")
    run(place, "erase", "ana", "--by", "lea", "--yes")
    lines(file, {**GOOD, "content": "I am back."}, {**GOOD, "subject": "bo", "content": "I run."})
    answer = ask(place, "ingest", file, "--consent", "consent", code=1)
    assert answer["recorded"] == 1
    (problem,) = answer["problems"]
    assert problem["line"] == 1
    assert "erased" in problem["reason"]


def test_byte_order_mark_and_windows_line_ends(ledger, tmp_path):
    file = tmp_path / "turns.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([json.dumps(GOOD).encode()] * 2))
    assert ask(ledger, "ingest", file)["recorded"] == 2


@pytest.mark.parametrize("end", [b"\r", b"\r\n", b"\n"])
def test_any_line_ends_and_blank_lines_first(ledger, tmp_path, end):
    file = tmp_path / "turns.jsonl"
    each = [json.dumps({**GOOD, "session": str(number)}).encode() for number in range(3)]
    file.write_bytes(end * 5000 + end.join(each))
    assert ask(ledger, "ingest", file)["recorded"] == 3
    file.write_bytes(end + end.join(each))
    assert ask(ledger, "ingest", file)["already"] == 3


def test_each_line_may_be_a_conversation_of_its_own(ledger, tmp_path):
    chat = {"messages": [{"role": "user", "content": "I like tea."}]}
    file = lines(
        tmp_path / "chats.jsonl",
        chat,
        chat,
        {**chat, "id": "third", "subject": "ana"},
        {"messages": [{"role": "user"}]},
        {"messages": []},
        "{broken",
        GOOD,
    )
    answer = ask(ledger, "ingest", file, code=1)
    assert (answer["recorded"], [each["line"] for each in answer["problems"]]) == (4, [4, 5, 6])
    assert [(each["subject"], each["session"]) for each in said(ledger)] == [
        ("user", "chats.jsonl:1"),
        ("user", "chats.jsonl:2"),
        ("ana", "third"),
        ("ana", None),
    ]
    lines(file, chat, chat)
    assert ask(ledger, "ingest", file)["already"] == 2
    file.write_text(json.dumps([chat, chat, chat]))
    assert ask(ledger, "ingest", file)["turns"] == 3


def test_questions_without_session_ids_or_dates_go_in(ledger, tmp_path):
    bare = json.loads(json.dumps(QUESTIONS))
    del bare[0]["haystack_session_ids"]
    bare[0]["haystack_dates"][0] = None
    del bare[1]["haystack_dates"]
    file = tmp_path / "questions.json"
    file.write_text(json.dumps(bare))
    assert ask(ledger, "ingest", file)["recorded"] == 4
    turns = [(each["session"], each["said_at"] is not None) for each in said(ledger)]
    assert turns == [("2", True), ("1", False), ("1", False), ("only", False)]
    bare[0]["haystack_dates"].append("2023-01-01")
    file.write_text(json.dumps(bare))
    (problem,) = ask(ledger, "ingest", file, code=1)["problems"]
    assert problem["reason"] == "it has 2 haystack_sessions, but 3 haystack_dates"


def test_a_bad_time_is_told_as_it_was_written():
    with pytest.raises(NotATurn, match=r"'2026/13/01 \(Mon\)'"):
        moment("2026/13/01 (Mon)")


# Again


def test_again_adds_nothing_and_identical_lines_stay_separate_turns(place, tmp_path):
    turns = conversations(3, 300)
    file = lines(tmp_path / "turns.jsonl", GOOD, GOOD, GOOD, *turns)
    first = ask(place, "ingest", file, "--consent", "consent")
    assert (first["recorded"], first["already"]) == (303, 0)
    position, before = ask(place, "status", "--no-digests")["position"], digests(place)
    again = ask(place, "ingest", file, "--consent", "consent")
    assert (again["recorded"], again["already"], again["decisions"]) == (0, 303, {})
    packed = tmp_path / "other-name"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert ask(place, "ingest", packed)["already"] == 303
    assert ask(place, "status", "--no-digests")["position"] == position
    assert digests(place) == before
    home = next(each for each in ask(place, "beliefs", "-s", "ana") if each["value"] == "Porto")
    assert home["mentions"] == 3


def test_a_longer_file_adds_what_is_new(ledger, tmp_path):
    turns = conversations(4, 40)
    file = lines(tmp_path / "turns.jsonl", *turns[:30])
    ask(ledger, "ingest", file)
    lines(file, *turns)
    answer = ask(ledger, "ingest", file)
    assert (answer["recorded"], answer["already"]) == (10, 30)


def test_a_given_key_makes_two_lines_one_turn_if_they_say_the_same(ledger, tmp_path):
    file = lines(
        tmp_path / "turns.jsonl",
        {**GOOD, "idempotency_key": "k1"},
        {**GOOD, "idempotency_key": "k1", "content": "said otherwise"},
        {**GOOD, "idempotency_key": "k1"},
        {**GOOD, "idempotency_key": "k2"},
    )
    for recorded, already in ((2, 1), (0, 3)):
        answer = ask(ledger, "ingest", file, code=1)
        assert (answer["recorded"], answer["already"]) == (recorded, already)
        [problem] = answer["problems"]
        assert (problem["line"], "other words" in problem["reason"]) == (2, True)


def test_the_same_words_in_another_order_of_files_are_the_same_turns(tmp_path):
    one = lines(tmp_path / "one.jsonl", *conversations(5, 20))
    keys = [
        [each.turn.idempotency_key for each in Transcript(one, subject="user")] for _ in range(2)
    ]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 20


def test_recording_only_leaves_the_turns_to_process(ledger, tmp_path):
    file = lines(tmp_path / "turns.jsonl", *conversations(6, 30))
    answer = ask(ledger, "ingest", file, "--no-process")
    assert (answer["pending"], answer["processed"]) == (30, 0)
    assert ask(ledger, "process")["turns"] == 30


# Crashes


def _ingesting(ledger: object, file: Path) -> subprocess.Popen[bytes]:
    return programs.Program(
        [
            *(sys.executable, "-m", "beliefledger", "--ledger", str(ledger)),
            *("ingest", str(file), "--consent", "consent"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _size(ledger: str) -> int:
    """How long the log is by now: bytes of its files, or events on a Postgres."""
    if not is_postgres(ledger):
        files = [Path(ledger) / "log.db", Path(ledger) / "log.db-wal"]
        return sum(file.stat().st_size for file in files if file.exists())
    url = PostgresURL.parse(ledger)
    with psycopg.connect(url.conninfo, autocommit=True) as connection:
        there = connection.execute("SELECT to_regclass(%s)", (f"{url.schema}.head",)).fetchone()
        if there == (None,):
            return 0
        return connection.execute(f"SELECT position FROM {url.schema}.head").fetchone()[0]


def _killed_in_the_middle(ledger: str, file: Path, least: int) -> bool:
    """Kill the ingest once the log has grown past `least`; False when it was done before."""
    process = _ingesting(ledger, file)
    while process.poll() is None and _size(ledger) <= least:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def _sample(tmp_path: Path) -> Path:
    """Real conversations where they are at hand, else generated ones."""
    oracle = LONGMEMEVAL / "oracle_dev.json.gz"
    if not oracle.exists():
        return lines(tmp_path / "more.jsonl", *conversations(8, 1_200))
    file = tmp_path / "oracle.json"
    file.write_text(json.dumps(json.loads(gzip.decompress(oracle.read_bytes()))[:30]))
    return file


@pytest.mark.parametrize(
    ("source", "kept_on"),
    [("generated", "sqlite"), ("real", "sqlite"), ("real", "postgres")],
    indirect=["kept_on"],
)
def test_killed_in_the_middle_and_run_again_it_ends_as_if_undisturbed(
    tmp_path, source, new_place, monkeypatch
):
    """On a Postgres, too, it ends with what an undisturbed ledger in a directory has."""
    monkeypatch.delenv("BELIEFLEDGER_SIGNING_KEY_FILE", raising=False)  # one is for one ledger
    file = tmp_path / "turns.jsonl"
    if source == "generated":
        lines(file, *conversations(7, 1_200))
    else:
        file = _sample(tmp_path)
    undisturbed, killed = tmp_path / "undisturbed", new_place()
    whole = ask(undisturbed, "ingest", file, "--consent", "consent")
    size = _size(str(undisturbed))
    if is_postgres(killed):
        size = ask(undisturbed, "status", "--no-digests")["position"]
    kills = sum(_killed_in_the_middle(killed, file, least) for least in (1, size // 6, size // 2))
    assert kills >= 2
    answer = ask(killed, "ingest", file, "--consent", "consent")
    assert answer["turns"] == whole["turns"]
    assert answer["pending"] == 0
    assert digests(killed) == digests(undisturbed)
    there, here = (ask(each, "decisions") for each in (killed, undisturbed))
    assert len(there) > 100
    told = ("subject", "claim", "type", "outcome", "reason", "confidence", "mentions", "policy")
    assert [[each[name] for name in told] for each in there] == [
        [each[name] for name in told] for each in here
    ]
    assert ask(killed, "proof", "verify")["ok"]


def test_turns_and_places_of_a_transcript(tmp_path):
    file = lines(tmp_path / "turns.jsonl", GOOD, "{")
    first, second = Transcript(file, subject="user")
    assert isinstance(first, Said)
    assert (first.line, first.subject_stated, first.turn.subject) == (1, True, "ana")
    assert isinstance(second, Refused)


def test_an_assistant_that_only_calls_a_tool_has_said_the_call(tmp_path):
    messages = [
        {"role": "user", "content": "I live in Porto."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "function": {"name": "weather", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "sunny"},
    ]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(messages))
    summary = ask(tmp_path / "ledger", "ingest", path)
    assert (summary["recorded"], summary["refused"]) == (3, 0)


# Two at once


def test_of_two_at_once_each_tells_what_it_decided_itself(place, tmp_path, monkeypatch):
    monkeypatch.setattr(ingest, "BATCH", 4)
    mine, theirs = (conversations(seed, 40) for seed in (1, 2))
    files = [
        lines(tmp_path / name, *[each | {"subject": who + each["subject"]} for each in said])
        for name, who, said in (("a", "a", mine), ("b", "b", theirs))
    ]
    with open_memory(place, consent="consent") as one, open_memory(place, consent="consent") as two:
        others = iter([lambda: Ingest(two).files(files[1:])])
        done: list[Ingested] = []

        def in_between(_done: int, _total: int) -> None:
            done.extend(begin() for begin in others)

        first = Ingest(one, progress=in_between).files(files[:1])
        [second] = done
        assert min(sum(first.decisions.values()), sum(second.decisions.values())) > 0
        for each, who in ((first, "a"), (second, "b")):
            own = [row.outcome for row in one.decisions() if row.subject.startswith(who)]
            assert each.decisions == Counter(own)
            assert each.document()["decisions"] == dict(Counter(own))
        with ThreadPoolExecutor(2) as pool:  # and really at once
            again = [lines(tmp_path / f"{n}", *conversations(n, 40)) for n in (3, 4)]
            ran = list(
                pool.map(
                    lambda on: Ingest(on[0]).files([on[1]]), zip((one, two), again, strict=True)
                )
            )
        told = first.decisions + second.decisions + ran[0].decisions + ran[1].decisions
        assert told == Counter(row.outcome for row in one.decisions())
