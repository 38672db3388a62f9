"""Extraction by an OpenAI-compatible server: the real client against one on loopback."""

from __future__ import annotations

import json
import sys

import programs
import pytest
from chat_api import MODEL, chat_api, completion, error, form, says
from command_line import CliRunner
from model_server import PORTO, Answer, statement

from beliefledger import TurnInput, open_memory
from beliefledger.ledger.errors import InvalidTurn, NotPermitted
from beliefledger.ledger.events.belief import MemoriesConsolidated
from beliefledger.settings import Settings
from beliefledger.tools.cli import app


@pytest.fixture
def api(monkeypatch):
    """The server, to which every ledger that is opened with "openai" now turns for extraction."""
    with chat_api() as served:
        monkeypatch.setenv("BELIEFLEDGER_MODEL", MODEL)
        monkeypatch.setenv("BELIEFLEDGER_MODEL_URL", f"{served.url}/v1")
        for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "BELIEFLEDGER_MODEL_KEY"):
            monkeypatch.delenv(name, raising=False)
        yield served


@pytest.fixture
def memory(tmp_path, api):
    with open_memory(tmp_path / "ledger", extractor="openai") as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def objects(schema):
    """The objects that a JSON schema describes, at any depth."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for each in schema.values():
            yield from objects(each)


def now(body):
    """The words of the turn that a request asks about."""
    return json.loads(body["messages"][1]["content"])["now"]["content"]


def by_city(body):
    city = now(body).split()[-1].rstrip(".")
    return says({"statements": [statement(f"I live in {city}", city)]})


def facts_of(memory, name="extraction.completed.v1"):
    return [event.facts for event in memory.subscribe(types=[name], follow=False)]


def said(memory, words="I live in Porto."):
    _receipt, decisions = memory.remember("ana", words)
    return decisions


# What is asked, and what comes of the answer


def test_what_the_model_notices_is_believed_and_its_tokens_are_on_record(place, api):
    api.answers = [says(PORTO)]
    with open_memory(place, extractor="openai") as memory:
        _receipt, [decision] = memory.remember("ana", "Well: I live in Porto.", consent="consent")
        assert (decision.outcome, decision.claim) == ("admit", "User lives in Porto")
        [facts] = facts_of(memory)
        assert facts["extractor"] == f"openai/2 {MODEL}"
        assert (facts["input_tokens"], facts["output_tokens"]) == (5_000, 50)
        assert facts["cost_micro_usd"] is None
        [belief] = memory.beliefs("ana")
        [evidence] = memory.explain(belief.memory_id).memory.evidence
        assert (evidence.start, evidence.end) == (6, 21)
        assert memory.status().extractor == facts["extractor"]
        assert memory.audit.replay(decision.decision_id).verdict == "same"


def test_the_request_is_one_that_such_servers_take(memory, api):
    api.always = by_city
    said(memory)
    [asked] = api.asked
    assert asked["model"] == MODEL
    assert asked["max_tokens"] == 8_000
    assert [each["role"] for each in asked["messages"]] == ["system", "user"]
    assert now(asked) == "I live in Porto."
    schema = asked["response_format"]["json_schema"]["schema"]
    assert asked["response_format"]["json_schema"]["strict"] is True
    assert json.dumps(schema) in asked["messages"][0]["content"]
    found = list(objects(schema))
    assert len(found) >= 5
    for each in found:
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
    assert "maxLength" not in json.dumps(schema)
    assert "fact" in schema["$defs"]["Statement"]["properties"]["type"]["enum"]


def test_turns_with_nothing_to_keep_are_not_sent(memory, api):
    memory.record_turn("ana", "Thanks!")
    memory.record_turn("ana", "You are welcome.", role="assistant")
    assert memory.process().turns == 2
    assert [each["skipped"] for each in facts_of(memory)] == ["prefilter:thanks", "role:assistant"]
    assert api.asked == []


def test_a_quote_that_is_not_in_the_turn_is_refused_on_record(memory, api):
    api.answers = [says({"statements": [statement("I live in Lisbon", "Lisbon")]})]
    [decision] = said(memory)
    assert (decision.outcome, decision.reason) == ("reject", "truth.span_not_found")


@pytest.mark.parametrize(
    "wrapped",
    ["```json\n{}\n```", "<think>\nPorto {is} a city.\n</think>\n\n{}", "so it is.</think>{}"],
    ids=["fence", "thoughts", "thoughts that the template began"],
)
def test_json_is_found_behind_what_local_models_put_around_it(memory, api, wrapped):
    api.answers = [says(wrapped.replace("{}", json.dumps(PORTO)))]
    [decision] = said(memory)
    assert decision.outcome == "admit"
    assert len(api.asked) == 1


def test_words_about_thinking_in_an_answer_stay(memory, api):
    words = "I live in Porto </think> now"
    api.answers = [says({"statements": [statement(words, "Porto", claim="User lives in Porto")]})]
    [decision] = said(memory, f"{words}.")
    assert decision.outcome == "admit"


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": "many", "completion_tokens": -3}], ids=repr
)
def test_a_server_that_does_not_count_tokens_is_no_failure(memory, api, usage):
    api.answers = [Answer(completion(PORTO) | {"usage": usage})]
    [decision] = said(memory)
    assert decision.outcome == "admit"
    [facts] = facts_of(memory)
    assert (facts["input_tokens"], facts["output_tokens"]) == (0, 0)


# Servers differ in structured output


@pytest.mark.parametrize(
    ("takes", "asked"),
    [
        ({"json_schema"}, ["json_schema", "json_schema"]),
        ({"json_object", None}, ["json_schema", "json_object", "json_object"]),
        ({None}, ["json_schema", "json_object", None, None]),
    ],
    ids=["schema", "object", "neither"],
)
@pytest.mark.parametrize("status", [400, 422])
def test_what_a_server_does_not_take_is_not_asked_for_again(memory, api, takes, asked, status):
    api.takes = takes
    api.refusal = error(status, "'response_format.type' must be something else")
    api.always = by_city
    for words in ("I live in Porto.", "I live in Faro."):
        said(memory, words)
    assert [form(body) for body in api.asked] == asked
    assert [belief.value for belief in memory.beliefs("ana")] == ["Faro"]
    assert facts_of(memory, "extraction.failed.v1") == []


def test_a_schema_that_is_taken_and_not_kept_to_is_mended(memory, api):
    api.answers = [says("You live in Porto!"), says(PORTO)]
    [decision] = said(memory)
    assert decision.outcome == "admit"
    first, told = api.asked[1]["messages"][2:]
    assert (first["role"], first["content"]) == ("assistant", "You live in Porto!")
    assert "could not be used" in told["content"]
    [facts] = facts_of(memory)
    assert facts["input_tokens"] == 2 * 5_000


def test_a_refusal_of_every_format_is_the_servers_own_reason(memory, api):
    api.takes = set()
    api.refusal = error(400, "This model's maximum context length is 4096 tokens")
    memory.record_turn("ana", "I live in Porto.")
    answer = memory.process()
    assert (answer.failed, answer.pending) == (1, 1)
    assert "400: This model's maximum context length is 4096 tokens" in answer.problem
    assert len(api.asked) == 3
    api.takes, api.always = {"json_schema"}, by_city  # it is asked for its best again
    assert memory.process().turns == 1


def test_a_prompt_that_was_cut_off_in_silence_is_never_nothing_to_keep(memory, api):
    """Ollama does so where the prompt is longer than the context that it was started with."""
    api.always = lambda _body: says({"statements": []}, prompt_tokens=2_050)
    memory.record_turn("ana", "I live in Porto.")
    with pytest.raises(NotPermitted, match="OLLAMA_CONTEXT_LENGTH"):
        memory.process()
    assert memory.status().pending_turns == 1
    assert facts_of(memory) == []


# What goes wrong


@pytest.mark.parametrize(
    "trouble",
    [
        error(429, "slow down"),
        error(500),
        error(503, "loading model"),
        Answer(completion(PORTO), cut=True),
    ],
    ids=["429", "500", "503", "cut"],
)
def test_what_passes_is_tried_again_within_the_call(memory, api, trouble):
    api.answers = [trouble, trouble, says(PORTO)]
    [decision] = said(memory)
    assert decision.outcome == "admit"
    assert facts_of(memory, "extraction.failed.v1") == []
    assert len(api.asked) == 3


def test_a_slow_answer_is_given_up_and_asked_for_again(memory, api):
    api.answers = [Answer(completion(PORTO), wait=30), says(PORTO)]
    client = memory._gate.reader.extractor.client
    client._made = client._made.with_options(timeout=3)
    [decision] = said(memory)
    assert decision.outcome == "admit"
    assert len(api.asked) == 2


def not_in_time(memory, api):
    client = memory._gate.reader.extractor.client
    client._made = client._made.with_options(timeout=0.1, max_retries=0)
    api.always = lambda _body: Answer(completion(PORTO), wait=0.5)


def gone(memory, _api):
    client = memory._gate.reader.extractor.client
    client._made = client._made.with_options(base_url="http://127.0.0.1:9/v1", max_retries=0)


def always(answer):
    def arrange(_memory, api):
        api.always = lambda _body: answer

    return arrange


@pytest.mark.parametrize(
    ("arrange", "told"),
    [
        (always(error(429, "slow down")), "answered 429: slow down"),
        (always(error(500, "out of memory")), "answered 500: out of memory"),
        (always(Answer({"detail": "no"}, 400)), "answered 400"),
        (not_in_time, "did not answer in time"),
        (gone, "could not be reached"),
        (always(Answer('{"choices": [')), "could not be read"),
        (always(Answer("<html>hello</html>", headers={"content-type": "text/html"})), "message"),
        (always(Answer({"choices": []})), "did not answer with a message"),
        (always(Answer({"error": "no"})), "did not answer with a message"),
        (always(says(["a list"])), "did not answer with a message"),
        (always(says("How nice!")), "did not validate"),
        (always(says('{"statements": [{"claim"')), "did not validate"),
        (always(says(None)), "did not validate"),
        (always(says('{"statements": []', "length")), "cut off"),
    ],
    ids=[
        "429", "500", "400", "timeout", "gone", "malformed", "html", "no choices", "error in 200",
        "list", "prose", "half", "null", "length",
    ],
)  # fmt: skip
def test_no_answer_is_a_failure_that_is_tried_again_and_never_nothing(memory, api, arrange, told):
    turn = memory.record_turn("ana", "I live in Porto.").turn_id
    made = memory._gate.reader.extractor.client._made
    arrange(memory, api)
    answer = memory.process()
    assert (answer.turns, answer.failed, answer.pending) == (0, 1, 1)
    assert told in answer.problem
    assert facts_of(memory) == []
    assert [each["attempt"] for each in facts_of(memory, "extraction.failed.v1")] == [1]
    assert memory.beliefs("ana", min_confidence=0, quarantined=True) == []

    memory._gate.reader.extractor.client._made, api.always = made, by_city
    assert memory.process().turns == 1
    assert [belief.value for belief in memory.beliefs("ana")] == ["Porto"]
    assert memory.operations.extraction.parked() == []
    assert turn


@pytest.mark.parametrize("filtered", [False, True])
def test_a_refusal_is_an_outcome_that_says_so(memory, api, filtered):
    refused = completion(None, "content_filter" if filtered else "stop")
    if not filtered:
        refused["choices"][0]["message"]["refusal"] = "I cannot help with that."
    api.always = lambda _body: Answer(refused)
    memory.record_turn("ana", "I live in Porto.")
    memory.record_turn("ana", "I have a dog.")
    answer = memory.process()
    assert (answer.turns, answer.failed, answer.pending) == (2, 0, 0)
    assert [each["skipped"] for each in facts_of(memory)] == ["declined", "declined"]
    assert len(api.asked) == 2


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (error(401, "Incorrect API key provided"), "Set OPENAI_API_KEY"),
        (error(403), "Set OPENAI_API_KEY"),
        (error(402, "Insufficient Balance"), "asks to be paid first"),
        (error(429, "You exceeded your quota", "insufficient_quota"), "asks to be paid first"),
        (error(404, "model 'x' not found"), "BELIEFLEDGER_MODEL, and a URL"),
    ],
    ids=["401", "403", "402", "quota", "404"],
)
def test_what_no_retry_can_mend_is_told_and_the_turn_stays_queued(memory, api, trouble, told):
    api.always = lambda _body: trouble
    memory.record_turn("ana", "I live in Porto.")
    with pytest.raises(NotPermitted, match=told):
        memory.process()
    assert facts_of(memory, "extraction.failed.v1") == []
    assert memory.status().pending_turns == 1


def test_a_server_that_asks_for_an_hour_is_not_waited_for(memory, api):
    trouble = Answer(error(429).body, 429, {"retry-after": "3600"})
    api.always = lambda _body: trouble
    memory.record_turn("ana", "I live in Porto.")
    assert memory.process().failed == 1
    assert len(api.asked) == 1


# Keys and names


def test_a_server_of_ones_own_needs_no_key_and_gets_nobody_elses(memory, api, monkeypatch):
    api.always = by_city
    said(memory)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-another-vendor")
    memory.operations.extraction.use_model()
    said(memory, "I live in Faro.")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    memory.operations.extraction.use_model()
    said(memory, "I live in Lisbon.")
    monkeypatch.setenv("BELIEFLEDGER_MODEL_KEY", "this-one")
    memory.operations.extraction.use_model()
    said(memory, "I live in Braga.")
    assert [each["authorization"] for each in api.headers] == [
        "Bearer none",
        "Bearer none",
        "Bearer a-key",
        "Bearer this-one",
    ]
    assert {body["model"] for body in api.asked} == {MODEL}


def test_the_key_is_shown_nowhere(memory, api, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    assert "a-key" not in repr(Settings.read())
    memory.operations.extraction.use_model()
    api.always = lambda _body: error(401)
    memory.record_turn("ana", "I live in Porto.")
    with pytest.raises(NotPermitted) as refused:
        memory.process()
    assert "a-key" not in str(refused.value)


def test_whoever_asks_no_model_needs_neither_key_nor_model(tmp_path, monkeypatch):
    for name in ("MODEL", "MODEL_URL", "MODEL_KEY"):
        monkeypatch.delenv(f"BELIEFLEDGER_{name}", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with open_memory(tmp_path, extractor="openai") as memory:
        memory.record_turn("ana", "Thanks!")
        assert memory.process().turns == 1
        memory.record_turn("ana", "I live in Porto.")
        with pytest.raises(NotPermitted, match="set BELIEFLEDGER_MODEL"):
            memory.process()
        memory.operations.extraction.use_model("gpt-4.1-mini")
        with pytest.raises(NotPermitted, match="set OPENAI_API_KEY"):
            memory.process()
        assert memory.status().pending_turns == 1


def test_it_takes_no_batches(memory):
    with pytest.raises(InvalidTurn, match="takes no batches: choose claude"):
        memory.operations.extraction.extract(batch=True)


def test_subjects_are_read_side_by_side(memory, api):
    def slowly(body):
        api.busy_with(2)
        return by_city(body)

    api.always = slowly
    people = [f"person {number}" for number in range(6)]
    for person in people:
        memory.consent.grant(person, "consent")
    memory.record_turns(TurnInput(person, "I live in Porto.") for person in people)
    assert memory.process().turns == 6
    assert 2 <= api.busiest <= 4


def test_it_words_merged_memories_too(tmp_path, api):
    api.answers = [says({"text": "User lives in Berlin"})]
    with open_memory(tmp_path, extractor="openai") as memory:
        memory.consent.grant("ana", "consent")
        for attribute, text in (
            ("home.location", "User lives in Berlin"),
            ("home.residence", "User resides in Berlin"),
        ):
            memory.store("ana", "Berlin", attribute=attribute, type="fact", text=text)
        answer = memory.operations.consolidation.consolidate("ana", how="model", apply=True)
        assert [each.after for each in answer.clusters] == ["User lives in Berlin"]
        [recorded] = memory.subscribe(types=[MemoriesConsolidated.NAME], follow=False)
        assert recorded.event.merger == f"openai-merge/1 {MODEL}"
    [asked] = api.asked
    assert form(asked) == "json_schema"


# The command line


def run(ledger, *args):
    return CliRunner().invoke(app, ["--ledger", str(ledger), *args])


def recorded(place, *turns):
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        for words in turns:
            memory.record_turn("ana", words)


def test_the_command_line_extracts_with_a_named_extractor(place, api, monkeypatch):
    monkeypatch.delenv("BELIEFLEDGER_MODEL_URL")
    recorded(place, "I live in Porto.")
    api.always = by_city
    url = f"{api.url}/v1"
    done = run(
        place,
        "ops",
        "extract",
        "--extractor",
        "openai",
        "--base-url",
        url,
        "--model",
        "m",
        "--json",
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["turns"] == 1
    assert api.asked[-1]["model"] == "m"
    [belief] = json.loads(run(place, "beliefs", "--json").stdout)
    assert belief["value"] == "Porto"


def test_the_command_line_processes_with_the_extractor_of_the_environment(place, api, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_EXTRACTOR", "openai")
    recorded(place, "I live in Porto.", "I live in Faro.")
    api.answers = [says(PORTO)]
    api.always = lambda _body: error(400, "no more")
    done = run(place, "process")
    assert done.exit_code == 1, done.output
    assert "no more" in " ".join(done.stdout.split())
    api.always = by_city
    done = run(place, "ops", "extract", "--model", "another")
    assert "1 turn extracted, 1 decision" in done.stdout
    assert api.asked[-1]["model"] == "another"
    assert f"openai/2 {MODEL}" in run(place, "status", "--no-digests", "--json").stdout


def test_from_another_process(tmp_path, api, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_EXTRACTOR", "openai")
    recorded(tmp_path, "I live in Porto.")
    api.always = by_city
    command = [
        sys.executable,
        "-m",
        "beliefledger",
        "--ledger",
        str(tmp_path),
        "ops",
        "extract",
        "--json",
    ]
    done = programs.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["turns"] == 1
