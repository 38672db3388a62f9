"""The extractor that asks a model; the model only proposes, and what it says is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from beliefledger.gate.extractor import Extraction
from beliefledger.gate.model import prompt
from beliefledger.gate.model.client import BatchClient, Client, Question, Reply, Tokens
from beliefledger.gate.model.noticed import Noticed, schema
from beliefledger.gate.model.prefilter import nothing_to_keep
from beliefledger.gate.model.reading import candidates
from beliefledger.gate.policy import Policy
from beliefledger.gate.registry import Registry
from beliefledger.ledger.candidate import Speech
from beliefledger.ledger.errors import ExtractionUnavailable

VERSION = 1
"""Of the prompt and of how answers are read."""


class ModelExtractor:
    """Notices statements by asking a model, `concurrency` subjects at a time.

    `types` and `policy` give the rules in force. An answer that does not validate is asked for once
    more, with the error; then, and when the model cannot be reached, `ExtractionUnavailable` is
    raised, and `NotPermitted` for what only a person can mend, such as a refused key.
    """

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

    @property
    def name(self) -> str:
        return f"{self.client.provider}/{VERSION} {self.client.model}"

    @property
    def batches(self) -> BatchClient | None:
        """The client, if many turns can be handed to it at once."""
        return self.client if isinstance(self.client, BatchClient) else None

    def close(self) -> None:
        self.client.close()

    def extract(self, turn: Speech, earlier: Sequence[Speech] = ()) -> Extraction:
        skipped = self.skips(turn, earlier)
        if skipped is not None:
            return Extraction(skipped=skipped)
        request = self.request(turn, earlier)
        return self.read(request, self.client.ask(request), turn, earlier)

    def skips(self, turn: Speech, earlier: Sequence[Speech]) -> str | None:
        """Why nobody has to look at a turn, or None."""
        return nothing_to_keep(turn, earlier) if turn.role == "user" else f"role:{turn.role}"

    def request(self, turn: Speech, earlier: Sequence[Speech]) -> Question:
        """The question that asks about a turn."""
        system, form = self._told()
        said, _labelled = prompt.message(turn, earlier)
        return Question(system, form, ({"role": "user", "content": said},))

    def read(
        self,
        request: Question,
        reply: Reply,
        turn: Speech,
        earlier: Sequence[Speech],
        *,
        batch: bool = False,
    ) -> Extraction:
        """What a reply to the request says; asks once more where it says nothing that validates."""
        spent = self.client.cost(reply.tokens, batch=batch)
        tokens = reply.tokens
        try:
            noticed = _parsed(reply)
        except (ValidationError, CutOff) as problem:
            mend = prompt.mend(_problem(problem))
            again = self.client.ask(request.after(reply.text.strip() or "(nothing)", mend))
            spent += self.client.cost(again.tokens)
            tokens = tokens.plus(again.tokens)
            noticed = _parsed_at_last(again)
        _said, labelled = prompt.message(turn, earlier)
        return _extraction(candidates(noticed, turn, labelled), tokens, spent)

    def _told(self) -> tuple[str, Any]:
        """The system prompt and the schema, made anew when types or policy are others."""
        registry, policy = self._types(), self._policy()
        made = self._made
        if made is None or made[0] is not registry or made[1] is not policy:
            categories = tuple(policy.special_categories)
            form = schema(registry, policy.topics, categories)
            made = self._made = (registry, policy, prompt.system(registry, policy), form)
        return made[2], made[3]


class CutOff(Exception):
    """The answer ended before it was complete."""


def _parsed(reply: Reply) -> Noticed:
    if reply.refused:
        raise ExtractionUnavailable("The model declined to look at this turn.")
    if reply.cut_off:
        raise CutOff("The answer was cut off because it was too long: fewer, shorter statements.")
    return Noticed.model_validate_json(_unfenced(reply.text))


def _parsed_at_last(reply: Reply) -> Noticed:
    try:
        return _parsed(reply)
    except (ValidationError, CutOff) as problem:
        raise ExtractionUnavailable(
            f"Twice the model's answer did not validate: {_problem(problem)}."
        ) from problem


def _unfenced(text: str) -> str:
    """JSON without the fence that a model without structured output likes to put around it."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json")
    return text


def _problem(problem: ValidationError | CutOff) -> str:
    if isinstance(problem, CutOff):
        return str(problem)
    return "; ".join(
        f"{'.'.join(str(part) for part in error['loc']) or 'answer'}: {error['msg']}"
        for error in problem.errors(include_url=False, include_input=False)[:10]
    )


def _extraction(found: list[Any], tokens: Tokens, spent: int) -> Extraction:
    return Extraction(
        found, input_tokens=tokens.input, output_tokens=tokens.output, cost_micro_usd=spent
    )
