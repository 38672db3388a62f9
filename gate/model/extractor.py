"""The extractor that asks a model; the model only proposes, and what it says is checked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from beliefledger.gate.extractor import Extraction, Known
from beliefledger.gate.model import prompt
from beliefledger.gate.model.client import BatchClient, Client, Question, Reply, Tokens
from beliefledger.gate.model.noticed import Statement, Unreadable, read_answer, schema
from beliefledger.gate.model.prefilter import nothing_to_keep
from beliefledger.gate.model.reading import Sight, candidates
from beliefledger.gate.model.relevance import relevant
from beliefledger.gate.policy import Policy
from beliefledger.gate.registry import Registry
from beliefledger.gate.special_categories import categorised
from beliefledger.ledger.candidate import Candidate, Speech
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import ExtractionUnavailable

VERSION = 2
"""Of the prompt and of how answers are read."""
DECLINED = "declined"
"""Stands as the reason in an outcome without candidates, where the model declined to look."""
MOST_ROUNDS = 6
"""How often a model is asked to go on with an answer that was cut off."""
MOST_PAID = 256
"""How many replies are kept until their turn is done."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """The questions about one turn, one for each window of it, and what they show."""

    turn: Speech
    shown: prompt.Shown
    windows: tuple[tuple[int, int], ...]
    questions: tuple[Question, ...]


@dataclass
class _Spent:
    """What was asked and paid for one turn."""

    tokens: Tokens = field(default_factory=Tokens)
    cost: int | None = 0

    def add(self, tokens: Tokens, cost: int | None) -> None:
        self.tokens = self.tokens.plus(tokens)
        self.cost = None if cost is None or self.cost is None else self.cost + cost


class ModelExtractor:
    """Notices statements by asking a model, `concurrency` subjects at a time.

    `types` and `policy` give the rules in force. A statement that does not validate falls alone. An
    answer of which nothing can be used is asked for once more, with the error; then, and when the
    model cannot be reached, `ExtractionUnavailable` is raised, and `NotPermitted` for what only a
    person can mend, such as a refused key. Replies that were paid for are kept until their turn is
    done, so that they are not bought again because a later window failed.
    """

    wants_known = True

    def __init__(
        self,
        client: Client,
        types: Callable[[], Registry],
        policy: Callable[[], Policy],
        concurrency: int = 4,
    ) -> None:
        self.client = client
        self.concurrency = concurrency
        self._types = types
        self._policy = policy
        self._made: tuple[Registry, Policy, str, Any] | None = None
        self._paid: dict[str, Reply] = {}

    @property
    def name(self) -> str:
        return f"{self.client.provider}/{VERSION} {self.client.model}"

    @property
    def batches(self) -> BatchClient | None:
        """The client, if many turns can be handed to it at once."""
        return self.client if isinstance(self.client, BatchClient) else None

    def close(self) -> None:
        self.client.close()
        self._paid.clear()

    def forget(self) -> None:
        """Drop what was kept of turns that are not done: it may be of an erased subject."""
        self._paid.clear()

    def extract(
        self, turn: Speech, earlier: Sequence[Speech] = (), known: Sequence[Known] = ()
    ) -> Extraction:
        skipped = self.skips(turn, earlier)
        if skipped is not None:
            return Extraction(skipped=skipped)
        return self.read(self.inquiry(turn, earlier, known))

    def skips(self, turn: Speech, earlier: Sequence[Speech]) -> str | None:
        """Why nobody has to look at a turn, or None."""
        return nothing_to_keep(turn, earlier) if turn.role == "user" else f"role:{turn.role}"

    def inquiry(
        self, turn: Speech, earlier: Sequence[Speech], known: Sequence[Known] = ()
    ) -> Inquiry:
        """The questions that ask about a turn."""
        system, form = self._told()
        shown = prompt.Shown.of(earlier, relevant(known, turn, earlier))
        windows = tuple(prompt.windows(turn.content))
        questions = []
        for number, window in enumerate(windows, 1):
            part = f"{number} of {len(windows)}" if len(windows) > 1 else None
            said = prompt.message(turn, shown, window, part)
            questions.append(Question(system, form, ({"role": "user", "content": said},)))
        return Inquiry(turn, shown, windows, tuple(questions))

    def read(
        self,
        inquiry: Inquiry,
        replies: Sequence[Reply | None] = (),
        *,
        batch: bool = False,
        resumed: bool = False,
    ) -> Extraction:
        """What the model says to an inquiry. `replies` came from a batch, one for each question; a
        question without one is asked now. Of a `resumed` batch, what it showed is only known as far
        as the answers name it."""
        spent = _Spent()
        found: list[Candidate] = []
        fallen = declined = 0
        asked: list[str] = []
        named: set[str] = set()
        for number, (question, window) in enumerate(
            zip(inquiry.questions, inquiry.windows, strict=True)
        ):
            given = replies[number] if number < len(replies) else None
            if given is not None:
                spent.add(given.tokens, self.client.cost(given.tokens, batch=batch))
            taken = self._taken(question, given, spent, asked)
            if taken is None:
                declined += 1
                continue
            statements, without = taken
            fallen += without
            named.update(each.known for each in statements)
            sight = Sight(
                inquiry.turn, inquiry.shown.earlier, inquiry.shown.known, window, self._categorised
            )
            found += candidates(statements, sight)
        for key in asked:
            self._paid.pop(key, None)
        return Extraction(
            found,
            skipped=DECLINED if declined == len(inquiry.questions) else None,
            input_tokens=spent.tokens.input,
            output_tokens=spent.tokens.output,
            cost_micro_usd=spent.cost,
            fallen=fallen,
            shown=tuple(
                each.memory_id
                for label, each in inquiry.shown.known.items()
                if not resumed or label in named
            ),
        )

    def _taken(
        self, question: Question, reply: Reply | None, spent: _Spent, asked: list[str]
    ) -> tuple[list[Statement], int] | None:
        """The statements of the answer to one question, and how many fell; None if it declined."""
        statements: list[Statement] = []
        fallen, mended = 0, False
        for _round in range(MOST_ROUNDS):
            if reply is None:
                reply = self._bought(question, spent, asked)
            if reply.refused:
                return (statements, fallen) if statements else None
            try:
                answer = read_answer(reply.text)
            except Unreadable as problem:
                if statements:  # what it went on with adds nothing; what came before stands
                    return statements, fallen + 1
                if mended:
                    raise ExtractionUnavailable(
                        f"Twice the model's answer did not validate: {_why(problem, reply)}"
                    ) from problem
                mended = True
                question = question.after(
                    reply.text.strip() or "(nothing)", prompt.mend(_why(problem, reply))
                )
            else:
                statements += [each for each in answer.statements if each not in statements]
                if reply.cut_off and answer.whole and not answer.statements:
                    raise ExtractionUnavailable("The model's answer was cut off before it began.")
                if answer.whole or not reply.cut_off:
                    return statements, fallen + len(answer.fallen)
                question = question.after(reply.text.strip(), prompt.go_on())
            reply = None
        return statements, fallen + 1

    def _bought(self, question: Question, spent: _Spent, asked: list[str]) -> Reply:
        """The reply to a question; the one that was paid for before, if its turn failed then."""
        told = repr((question.system, question.messages)).encode()
        key = hashlib.sha256(told).hexdigest()
        asked.append(key)
        reply = self._paid.get(key)
        if reply is None:
            reply = self.client.ask(question)
            if len(self._paid) >= MOST_PAID:
                self._paid.pop(next(iter(self._paid)), None)
            if not reply.refused and _usable(reply):
                self._paid[key] = reply
        spent.add(reply.tokens, self.client.cost(reply.tokens))
        return reply

    def _categorised(self, found: Candidate) -> Candidate:
        return categorised(found, self._types(), self._policy())

    def _told(self) -> tuple[str, Any]:
        """The system prompt and the schema, made anew when types or policy are others."""
        registry, policy = self._types(), self._policy()
        made = self._made
        if made is None or made[0] is not registry or made[1] is not policy:
            categories = tuple(policy.special_categories)
            form = schema(registry, policy.topics, categories)
            made = self._made = (registry, policy, prompt.system(registry, policy), form)
        return made[2], made[3]


def _usable(reply: Reply) -> bool:
    """Whether a reply holds anything that need not be asked for again."""
    try:
        answer = read_answer(reply.text)
    except Unreadable:
        return False
    return bool(answer.statements) or not reply.cut_off


def _why(problem: Unreadable, reply: Reply) -> str:
    if reply.cut_off:
        return "The answer was cut off because it was too long: fewer, shorter statements."
    return str(problem)
