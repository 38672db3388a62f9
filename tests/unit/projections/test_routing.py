"""Which type of memory a question is about."""

from __future__ import annotations

import pytest

from beliefledger.gate.registry import default_types
from beliefledger.projections import routing
from beliefledger.projections.routing import asks_agent, route

EXAMPLES = {
    "when something happened": [
        "When did Ana move?",
        "WHAT YEAR was it?",
        "how long ago was that",
        "the weddings",
        "What happened in May?",
    ],
    "what somebody prefers": [
        "her favourite tea",
        "favorite colour",
        "Does she prefer tea?",
        "which editor does she use",
        "what does Ana enjoy?",
        "what music does she like",
        "the food she likes",
    ],
    "how people and things are related": [
        "Who is Bob?",
        "who does she report to",
        "Where does Ana work?",
        "Ana's manager",
    ],
    "where somebody lives": ["Where do I live?", "where is the office based"],
    "what was decided": ["What did we decide about Postgres?", "the decisions so far"],
    "how something is done": ["How do I deploy?", "the release checklist"],
    "what binds": ["Is she allowed nuts?", "allergies", "what must not be logged"],
    "what was promised": ["What did she promise?", "the deadline", "open to-do list"],
}
NEAR_MISSES = [
    "",
    "?",
    "whenever it rained",
    "a sound like thunder",
    "a whole bunch of flowers",
    "unlikely weather in Porto",
    "the undecidedness of it",
    "footsteps in snow",
    "overdue books",
    "somewhere over the sea",
    "Tell me about the cat",
    "which one \n\n\n is blue",
]


@pytest.mark.parametrize(
    ("rule", "question"), [(rule, each) for rule, some in EXAMPLES.items() for each in some]
)
def test_each_rule_finds_its_questions(rule, question):
    found = route(question)
    assert found is not None
    assert found.rule == rule
    assert found.words
    assert found.words in question


@pytest.mark.parametrize("question", NEAR_MISSES)
def test_near_misses_go_nowhere(question):
    assert route(question) is None


def test_every_rule_has_examples_and_names_known_types():
    rules = routing._rules()
    assert [name for name, _, _ in rules] == list(EXAMPLES)
    for _, types, _ in rules:
        assert set(types) <= {each.name for each in default_types()}


def test_the_first_rule_wins():
    found = route("When did they decide?")
    assert found is not None
    assert found.types == ("event",)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("part", ["which ", "where does ", "a", "what ", "how ", "to do", " ", "é"])
def test_long_questions_take_no_long_time(part):
    question = part * (20_000 // len(part))
    for _, _, pattern in routing._rules():
        pattern.search(question)
        pattern.search(question.replace("which", "Which x"))


@pytest.mark.parametrize(
    "question",
    [
        "Which worktop did you recommend?",
        "What was the name of the library you suggested?",
        "How much per day did you say it costs?",
        "In our last conversation we talked about a play; which one was it?",
        "What was in your list?",
        "Can you remind me which exercises there were?",
    ],
)
def test_questions_about_what_the_agent_said(question: str) -> None:
    assert asks_agent(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "Can you recommend a restaurant?",
        "What did Ana say about her trip?",
        "Do you have any suggestions for the weekend?",
    ],
)
def test_questions_about_something_else(question: str) -> None:
    assert not asks_agent(question)
