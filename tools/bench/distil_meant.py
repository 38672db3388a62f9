"""`python -m beliefledger.tools.bench.distil_meant HAYSTACKS --work DIRECTORY [--write]`: distil
the network of what is meant, gate/meant-1.bin, from a model of language.

1. MiniLM is trained on the lines that `train_earnest` is trained on: it knows words that no line
   has. This takes a quarter of an hour.
2. It says how probably each of many further sentences is meant: of HAYSTACKS, a file of
   LongMemEval's sessions (MIT License), those that users said and nobody labelled; and of variants
   of the lines, with some words in the place of which others with a near meaning stand, or with
   parts of two lines.
3. A small network (`gate/sentence_network.py`) is trained to say the same of all of them, and what
   the labels say of the lines. A word's vector begins as what MiniLM has for it.
4. Its weights are rounded to whole numbers.

Without `--write` a dozen batches of lines are left out of everything, and what the network says of
them is printed, and what the network and the regression (gate/earnest_runs.txt) weigh in the sum
that fits their labels best: "of both" in gate/earnest.yaml. What is in DIRECTORY already, the
trained model and its answers, is not made again.

To learn what a larger model says: Hinton, Vinyals and Dean, Distilling the Knowledge in a Neural
Network, 2015. With variants of few labelled sentences: Tang et al., Distilling Task-Specific
Knowledge from BERT into Simple Neural Networks, 2019.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from beliefledger.gate import sentence_network as network
from beliefledger.gate.sentence_network import Layer, Network
from beliefledger.gate.sentences import sentences
from beliefledger.projections.embedding import Words
from beliefledger.tools.bench import distil_words, sentence_fit, train_earnest
from beliefledger.tools.bench.sparse_fit import Rows, fitted
from beliefledger.tools.bench.train_earnest import Row
from beliefledger.tools.bench.train_notes import auc
from beliefledger.tools.bench.turns import CHATS

LEFT_OUT = frozenset(
    f"{name}-"
    for name in (
        "near", "jokes", "guesses", "mixed_false", "mixed_talk", "friends_d", "terse_chat",
        "abroad", "moments", "others", "assistant", "chat",
    )
)  # fmt: skip
"""The batches that the figures are of, which are told without `--write`."""
VECTOR, OUTPUTS = 48, 96
"""How many numbers a word and a layer have."""
VARIANTS = 110_000
NEAR, LIKELY = 12, 0.22
"""From how many near words another is taken, and how probably."""
SHORTEST, LONGEST = 8, 240
"""Of a further sentence, in characters."""
LONGEST_TURN = 3_000
"""What is longer is no talk."""
COMMON, WORDS = 3, 14_000
"""In how many sentences a word has to be, and how many words there are beside MiniLM's own."""
LABEL = 0.5
"""How much a line's label counts beside what MiniLM says of it."""
AVERAGED = 0.999
"""How much of the mean of the weights stays at each step: the network is that mean."""
SURE, OF_SURE = frozenset(("phrases", "plain", "notes.txt", "no_notes.txt")), 2.5
"""The batches whose labels count alone, since the tests ask for them, and how much more they do."""
PASSES, TOGETHER, RATE = 7, 128, 2e-3
TEACHER_PASSES, TEACHER_TOGETHER, TEACHER_RATE = 2, 48, 8e-5
ANSWERS = "answers.json"
_LONGEST = 64
"""What MiniLM reads of a sentence, in its tokens."""
_TOP = 127
_STEPS = 20
_SEED = 1

Floats = NDArray[np.float32]


class Texts(NamedTuple):
    """Sentences, how probably each is meant, and how much each counts."""

    texts: list[str]
    target: Floats
    much: Floats


def main() -> None:
    parser = argparse.ArgumentParser(description="Distil the network of what is meant.")
    parser.add_argument("haystacks", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="where what takes long is kept")
    parser.add_argument("--data", type=Path, default=CHATS, help=f"else {CHATS}")
    parser.add_argument("--write", action="store_true", help=f"write {network.FILE}")
    parser.add_argument("--passes", type=int, default=PASSES)
    given = parser.parse_args()
    # What was answered with every line is no measure of some of them.
    work = given.work / ("all" if given.write else "held_out")
    work.mkdir(parents=True, exist_ok=True)
    rows = train_earnest.all_rows(given.data)
    seen = [row for row in rows if given.write or row.batch not in LEFT_OUT]
    held = [] if given.write else [row for row in rows if row.batch in LEFT_OUT]
    model, tokens = teacher(seen, work / "teacher")
    if not (work / ANSWERS).exists():
        further = further_of(seen, rows, given.haystacks)
        keep(work / ANSWERS, model, tokens, [row.text for row in seen], further)
    texts = learned(seen, work / ANSWERS)
    student = Student(*vocabulary(texts.texts, model, tokens))
    train(student, texts, held, given.passes)
    made = rounded(student)
    if given.write:
        Path(network.__file__).with_name(network.FILE).write_bytes(network.packed(made))
    else:
        report("rounded", np.array([made.log_odds(row.text) for row in held]), held)
        shares, odds = together(made, seen, held)
        report("with the regression", odds, held)
        print("of both: regression, network, bias:", *shares.round(3))


def further_of(seen: Sequence[Row], rows: Sequence[Row], haystacks: Path) -> list[str]:
    """The sentences that MiniLM is asked about besides the lines."""
    known = {row.text for row in rows}
    said = [text for text in sorted(of_users(haystacks)) if text not in known]
    return [*said, *variants([row.text for row in seen], VARIANTS)]


def keep(file: Path, model: Any, tokens: Any, lines: list[str], further: list[str]) -> None:
    """Ask MiniLM about lines and further sentences, and write its log odds to a file."""
    odds = answers(model, tokens, [*lines, *further]).tolist()
    answered = {
        "lines": dict(zip(lines, odds[: len(lines)], strict=True)),
        "further": dict(zip(further, odds[len(lines) :], strict=True)),
    }
    file.write_text(json.dumps(answered))


def learned(seen: Sequence[Row], answered: Path) -> Texts:
    """What the network is trained on: the lines, and what was asked about besides."""
    read = json.loads(answered.read_text())
    texts = [*(row.text for row in seen), *read["further"]]
    target = np.zeros(len(texts), np.float32)
    target[len(seen) :] = probability(list(read["further"].values()))
    for place, row in enumerate(seen):
        odds = read["lines"].get(row.text)  # None of a line that was written since
        told = row.kept if odds is None or row.batch in SURE else probability([odds])[0]
        target[place] = LABEL * row.kept + (1 - LABEL) * told
    much = np.ones(len(texts), np.float32)
    much[: len(seen)] = [row.much * (OF_SURE if row.batch in SURE else 1) for row in seen]
    return Texts(texts, target, much)


def probability(odds: Sequence[float]) -> Floats:
    """Of log odds."""
    told: Floats = (1 / (1 + np.exp(-np.array(odds)))).astype(np.float32)
    return told


def of_users(haystacks: Path) -> set[str]:
    """The sentences that users say in the sessions of a file, without those sessions that any of
    its questions is answered by: turns of these are labelled, for training and for tests."""
    said = (
        turn["content"] for turn in sentence_fit.turns_of_none(haystacks) if turn["role"] == "user"
    )
    return {
        text[start:end]
        for text in said
        if len(text) <= LONGEST_TURN
        for start, end in sentences(text)
        if SHORTEST <= end - start <= LONGEST
    }


def variants(lines: Sequence[str], number: int) -> list[str]:
    """So many variants of lines."""
    rng = random.Random(_SEED)
    near = near_words(lines)
    common = list(near)[:2000]
    known = set(lines)
    made: list[str] = []

    def other(found: re.Match[str]) -> str:
        word = found[0]
        if rng.random() >= LIKELY:
            return word
        among = near.get(word.lower())
        chosen = rng.choice(among if among and rng.random() < 0.8 else common)
        return chosen.capitalize() if word[0].isupper() and word != "I" else chosen

    while len(made) < number:
        text = rng.choice(lines)
        if rng.random() < 0.7:
            text = re.sub(r"[A-Za-z']+", other, text)
        else:
            text = joined(text, rng.choice(lines), rng)
        if len(text) <= LONGEST and text not in known:
            known.add(text)
            made.append(text)
    return made


def joined(one: str, other: str, rng: random.Random) -> str:
    """The beginning of a line and the end of another, or both after each other."""
    ends = [found.start() for found in _JOINT.finditer(one)]
    begins = [found.start() for found in _JOINT.finditer(other)]
    if ends and begins:
        return one[: rng.choice(ends)] + other[rng.choice(begins) :]
    return one.rstrip(".!") + rng.choice((", ", " but ", " and ", " so ", ". ")) + other


_JOINT = re.compile(r", | and | but | so | because ")


def near_words(lines: Sequence[str]) -> dict[str, list[str]]:
    """The common words of lines, the most frequent first, each with those of a near meaning."""
    counted = Counter(word for line in lines for word in set(network.words(line)))
    common = [word for word, _ in counted.most_common(8000) if word.isalpha()]
    vectors = Words().embed(common)
    return {
        word: [common[at] for at in np.argsort(-(vectors @ vectors[place]))[:NEAR]]
        for place, word in enumerate(common)
    }


def teacher(rows: Sequence[Row], kept: Path) -> tuple[Any, Any]:
    """MiniLM, trained to tell what is meant, and its tokenizer."""
    source = distil_words.minilm()
    tokens = AutoTokenizer.from_pretrained(source)
    if kept.exists():
        return AutoModelForSequenceClassification.from_pretrained(kept), tokens
    torch.manual_seed(_SEED)
    model: Any = AutoModelForSequenceClassification.from_pretrained(source, num_labels=1)
    steps = TEACHER_PASSES * len(rows) // TEACHER_TOGETHER
    optimizer = torch.optim.AdamW(model.parameters(), lr=TEACHER_RATE)
    pace = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, step / 200) * max(0, 1 - step / steps)
    )
    texts = [row.text for row in rows]
    for _ in range(TEACHER_PASSES):
        for chosen in batches([len(text) for text in texts], TEACHER_TOGETHER):
            read = encoded(tokens, [texts[at] for at in chosen])
            kept_ = torch.tensor([float(rows[at].kept) for at in chosen])
            much = torch.tensor([rows[at].much for at in chosen])
            loss = functional.binary_cross_entropy_with_logits(
                model(**read).logits[:, 0], kept_, weight=much
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            pace.step()
    model.save_pretrained(kept)
    return model, tokens


def answers(model: Any, tokens: Any, texts: Sequence[str]) -> Floats:
    """How probably each text is meant, as log odds."""
    model.eval()
    told = np.zeros(len(texts), np.float32)
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        for start in range(0, len(order), 256):
            chosen = order[start : start + 256]
            read = encoded(tokens, [texts[at] for at in chosen])
            told[chosen] = model(**read).logits[:, 0].float().numpy()
    return told


def encoded(tokens: Any, texts: Sequence[str]) -> Any:
    return tokens(
        list(texts), padding=True, truncation=True, max_length=_LONGEST, return_tensors="pt"
    )


def batches(lengths: Sequence[int], together: int) -> Iterator[list[int]]:
    """The places of all texts, in chance order, those of a batch of nearly the same length."""
    rng = random.Random(_SEED + len(lengths))
    order = list(range(len(lengths)))
    rng.shuffle(order)
    made: list[list[int]] = []
    for start in range(0, len(order), 40 * together):
        some = sorted(order[start : start + 40 * together], key=lambda at: lengths[at])
        made += [some[at : at + together] for at in range(0, len(some), together)]
    rng.shuffle(made)
    yield from made


def vocabulary(texts: Sequence[str], model: Any, tokens: Any) -> tuple[list[str], Floats]:
    """The words that the network knows, and what the trained MiniLM has for each: the mean of the
    vectors of its parts."""
    counted = Counter(word for text in texts for word in set(network.words(text)))
    common = [word for word, number in counted.most_common(WORDS) if number >= COMMON]
    named = [network.NOTHING, network.UNKNOWN, *(f"<{each}>" for each in network.ENDINGS), *common]
    there = set(named)
    named += [
        word
        for word in sorted(tokens.get_vocab())
        if word.isalpha() and word.isascii() and len(word) > 2 and word not in there
    ]
    of_parts = model.bert.embeddings.word_embeddings.weight.detach().numpy()
    parts = tokens(named, add_special_tokens=False)["input_ids"]
    vectors = np.stack([of_parts[each or [tokens.unk_token_id]].mean(0) for each in parts])
    vectors -= vectors.mean(0)
    vectors /= np.linalg.norm(vectors, axis=1).mean()
    vectors[0] = 0
    return named, vectors.astype(np.float32)


class Student(nn.Module):
    """The network while it is trained: see `gate.sentence_network`."""

    def __init__(self, words: Sequence[str], base: Floats) -> None:
        super().__init__()
        self.places = {word: place for place, word in enumerate(words)}
        self.base = torch.tensor(base)
        main = np.linalg.svd(base[: WORDS // 2], full_matrices=False)[2][:VECTOR].T
        self.turned = nn.Parameter(3 * torch.tensor(main.copy()))
        self.own = nn.Parameter(torch.zeros(len(words), VECTOR))
        """What a word has beside the part of its base that is used."""
        self.layers = nn.ModuleList(
            nn.Conv1d(OUTPUTS if number else VECTOR, OUTPUTS, 3, padding=far, dilation=far)
            for number, far in enumerate(network.DILATIONS)
        )
        self.out = nn.Linear(2 * OUTPUTS, 1)
        self.dropped = nn.Dropout(0.1)

    def places_of(self, text: str) -> list[int]:
        said = network.words(text)
        found = [self.places.get(word, self.places[network.unknown(word)]) for word in said]
        return found or [self.places[network.UNKNOWN]]

    def forward(self, places: torch.Tensor) -> torch.Tensor:
        there = (places > 0)[:, None, :].float()
        found = (self.base[places] @ self.turned + self.own[places]).transpose(1, 2)
        found = self.dropped(found) * there
        for number, layer in enumerate(self.layers):
            told = functional.relu(layer(self.dropped(found) if number else found)) * there
            found = found + told if number else told
        pooled = torch.cat([found.sum(2) / there.sum(2), found.max(2)[0]], 1)
        logits: torch.Tensor = self.out(self.dropped(pooled))[:, 0]
        return logits


def train(student: Student, told: Texts, held: Sequence[Row], passes: int) -> None:
    """Train the network, and print after each pass what it says of what was held out."""
    torch.manual_seed(_SEED)
    read = [student.places_of(text) for text in told.texts]
    lengths = [len(each) for each in read]
    others = [each for name, each in student.named_parameters() if name != "own"]
    optimizer = torch.optim.AdamW(
        [
            {"params": [student.own], "weight_decay": 0.05},
            {"params": others, "weight_decay": 0.01},
        ],
        lr=RATE,
    )
    steps = passes * len(read) // TOGETHER
    pace = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, step / 300) * max(0.02, 1 - step / steps)
    )
    chance = np.random.default_rng(_SEED)
    average: Any = torch.optim.swa_utils.get_ema_multi_avg_fn(AVERAGED)  # type: ignore[no-untyped-call]
    mean = torch.optim.swa_utils.AveragedModel(student, multi_avg_fn=average)
    for number in range(passes):
        for chosen in batches(lengths, TOGETHER):
            places = padded([read[at] for at in chosen])
            lost = torch.tensor(chance.random(places.shape) < 0.03) & (places > 0)
            places = places.masked_fill(lost, student.places[network.UNKNOWN])
            loss = functional.binary_cross_entropy_with_logits(
                student(places),
                torch.tensor(told.target[chosen]),
                weight=torch.tensor(told.much[chosen]),
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            pace.step()
            mean.update_parameters(student)
        if held:
            mean.eval()
            with torch.no_grad():
                odds = [mean(padded([student.places_of(row.text)])).item() for row in held]
            report(f"pass {number + 1}", np.array(odds), held)
            mean.train()
    student.load_state_dict(mean.module.state_dict())


def padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    places = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for number, row in enumerate(rows):
        places[number, : len(row)] = row
    return torch.tensor(places)


def rounded(student: Student) -> Network:
    """The network in whole numbers."""
    student.eval()
    told = {name: each.numpy().astype(np.float64) for name, each in student.state_dict().items()}
    with torch.no_grad():
        vectors = (student.base @ student.turned + student.own).numpy().astype(np.float64)
        vectors[0] = 0
        of_vector = np.quantile(np.abs(vectors), 0.9995) / _TOP
        step = 1 / 64
        """What 1 is worth in what layers hand on."""
        layers = []
        given = of_vector
        for number in range(len(network.DILATIONS)):
            weights = told[f"layers.{number}.weight"]  # (outputs, inputs, 3)
            flat = weights.transpose(2, 1, 0).reshape(-1, weights.shape[0])
            unit = np.maximum(np.abs(flat).max(axis=0), 1e-9) / _TOP
            bias = np.rint(told[f"layers.{number}.bias"] / (unit * given))
            layers.append(Layer(np.rint(flat / unit), bias, unit * given / step))
            given = step
        out = told["out.weight"][0]
        of_mean, of_most = out[:OUTPUTS], out[OUTPUTS:]
        units = [float(np.abs(each).max() / _TOP) for each in (of_mean, of_most)]
        return Network(
            student.places,
            np.clip(np.rint(vectors / of_vector), -_TOP, _TOP).astype(np.int8),
            tuple(layers),
            np.rint(of_mean / units[0]),
            np.rint(of_most / units[1]),
            (units[0] * step, units[1] * step),
            float(student.out.bias.item()),
        )


def together(
    made: Network, seen: Sequence[Row], held: Sequence[Row]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the log odds of a regression that did not see what was held out, and those of the
    network, weigh in the sum that fits best, with the bias; and that sum for each row."""
    runs = train_earnest.common(seen)
    x = train_earnest.vectors([*seen, *held], runs)
    count = train_earnest.features(runs)
    kept = np.array([row.kept for row in seen], np.float64)
    much = np.array([row.much for row in seen])
    weights = fitted(Rows(x[: len(seen)], count), kept, much, train_earnest.RIDGE)
    odds = Rows(x[len(seen) :], count).times(weights)
    own = [made.log_odds(row.text) for row in held]
    parts = np.column_stack([odds, own, np.ones(len(held))])
    label = np.array([row.kept for row in held], np.float64)
    found = np.zeros(parts.shape[1])
    for _ in range(_STEPS):  # Newton's method
        likely = 1 / (1 + np.exp(-parts @ found))
        slope = parts.T @ (label - likely)
        bent = (parts * (likely * (1 - likely))[:, None]).T @ parts
        found += np.linalg.solve(bent, slope)
    return found, parts @ found


def report(name: str, odds: NDArray[Any], held: Sequence[Row]) -> None:
    """Prints how well scores tell what is meant."""
    label = np.array([row.kept for row in held], np.float64)
    meant, others = np.sort(odds[label == 1]), odds[label == 0]
    told = [f"{name}: AUC {auc(odds, label):.4f}; taken for meant where of what is"]
    for kept in (0.95, 0.9, 0.8, 0.7):
        least = meant[int((1 - kept) * len(meant))]
        told.append(f"{kept} is: {np.mean(others >= least):.4f}")
    print(*told, flush=True)


if __name__ == "__main__":
    main()
