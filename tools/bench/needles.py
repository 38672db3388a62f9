"""Whether a memory is found by a question that shares no word with it, among five hundred."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from beliefledger.ledger.data_files import parsed
from beliefledger.opener import open_memory
from beliefledger.projections.embedding import MINILM, Words, embedder, installed
from beliefledger.projections.search_terms import terms
from beliefledger.tools.bench.measure import Measured, Run, Target
from beliefledger.tools.bench.retrieval import DENSE, Baselines
from beliefledger.tools.bench.searching import SUBJECT, K, built, model_of

PAIRS = Path(__file__).with_name("needles.yaml")


class Needle(NamedTuple):
    memory: str
    query: str


def needles(run: Run) -> Iterator[Measured]:
    """Stored one by one, searched with MiniLM, and with the fallback."""
    chosen = written(PAIRS)[: run.sizes.needles]
    place = run.place("needles")
    with model_of(Words.name), open_memory(place) as memory:
        memory.consent.grant(SUBJECT, "consent")
        for number, needle in enumerate(chosen):
            if number % 50 == 0:
                run.tell(f"storing {number} of {len(chosen)}")
            memory.store(SUBJECT, needle.memory, attribute=f"needle.{number}", text=needle.memory)
    name = "memories found by a paraphrase without a word of theirs"
    target = Target("≥", 0.85)
    if installed():
        yield _found(run, place, chosen, MINILM, name, target)
        yield _plainly(run, chosen)
    else:
        note = "not measured: the extra `embeddings` is not installed"
        yield Measured(name, "share", target=target, note=note)
    yield _found(run, place, chosen, Words.name, f"the same with {Words.name}", None)


def _found(
    run: Run, place: Path, chosen: Sequence[Needle], model: str, name: str, target: Target | None
) -> Measured:
    with model_of(model):
        memory = open_memory(place)
    with memory:
        built(memory, run)
        run.tell(f"asking {len(chosen)} paraphrases with {model}")
        found = sum(
            needle.memory
            in {each.text for each in memory.search(SUBJECT, needle.query, K, record=False).results}
            for needle in chosen
        )
    note = f"{found} of {len(chosen)} among the {K} best"
    return Measured(name, "share", [found / len(chosen)], target, note=note)


def _plainly(run: Run, chosen: Sequence[Needle]) -> Measured:
    """What cosines alone find, with nothing of search: about as much as there is to be found."""
    run.tell("comparing with cosines alone")
    plain = Baselines([needle.memory for needle in chosen], embedder(MINILM))
    found = sum(number in plain.found(needle.query)[DENSE] for number, needle in enumerate(chosen))
    return Measured("the same by plain cosines", "share", [found / len(chosen)])


def written(path: Path) -> list[Needle]:
    """All needles, those of one group far apart. Raises `ValueError` for a question that shares a
    term with its memory, and for a memory that is there twice."""
    groups = parsed(path.read_bytes())
    chosen = [
        Needle(_sentence(memory.format(said)), query.format(asked))
        for filler in range(10)
        for pair in range(5)
        for group in groups
        for said, asked in (group["fillers"][filler],)
        for memory, query in (group["pairs"][pair],)
    ]
    for needle in chosen:
        shared = set(terms(needle.memory)) & set(terms(needle.query))
        if shared:
            raise ValueError(f"{needle.memory!r} and {needle.query!r} share {sorted(shared)}.")
    if len({needle.memory for needle in chosen}) < len(chosen):
        raise ValueError("A memory is there twice.")
    return chosen


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]
