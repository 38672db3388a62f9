"""What the small networks of the gate are distilled with: a model of language that is trained on
labels and says how probably each of many further texts is what these tell, and the words that it
knows.

A text is a sentence, or two sentences that are read one after the other. To learn what a larger
model says: Hinton, Vinyals and Dean, Distilling the Knowledge in a Neural Network, 2015.
"""

from __future__ import annotations

import random
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

from beliefledger.gate.sentences import sentences
from beliefledger.networks import words as network_words
from beliefledger.networks.words import ENDINGS, NOTHING, UNKNOWN, Layer
from beliefledger.projections.embedding import Words
from beliefledger.tools.bench import distil_words, sentence_fit
from beliefledger.tools.bench.train_notes import auc

SEED = 1
PASSES, TOGETHER, RATE = 2, 48, 8e-5
COMMON, WORDS = 3, 14_000
"""In how many texts a word has to be, and how many words there are beside MiniLM's own."""
NEAR, NEARLY = 12, 0.8
"""From how many near words another is taken, and how probably it is one of them."""
AVERAGED = 0.999
"""How much of the mean of the weights stays at each step: a network is that mean."""
STEP = 1 / 64
"""What 1 is worth in what a layer hands to the next."""
TOP = 127
LOST = 0.03
"""How probably a word is read as unknown in training."""
_LONGEST = 72
"""What MiniLM reads of a text, in its tokens."""

Floats = NDArray[np.float32]
Text = str | tuple[str, str]


class Told(NamedTuple):
    """Texts, how probably each is what is asked, from 0 to 1, and how much each counts."""

    texts: Sequence[Text]
    target: Floats
    much: Floats


class Teacher:
    """MiniLM, trained on labels, and its tokenizer."""

    def __init__(self, model: Any, tokens: Any) -> None:
        self.model, self.tokens = model, tokens

    @classmethod
    def trained(cls, told: Told, kept: Path) -> Teacher:
        """That of a directory; if there is none, it is trained and kept there."""
        torch.manual_seed(SEED)
        untrained = cls.untrained()
        model, tokens = untrained.model, untrained.tokens
        if kept.exists():
            return cls(AutoModelForSequenceClassification.from_pretrained(kept), tokens)
        steps = PASSES * len(told.texts) // TOGETHER
        optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
        pace = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min(1, step / 200) * max(0, 1 - step / steps)
        )
        lengths = [length(text) for text in told.texts]
        for number in range(PASSES):
            for chosen in batches(lengths, TOGETHER, SEED + number):
                read = encoded(tokens, [told.texts[at] for at in chosen])
                loss = functional.binary_cross_entropy_with_logits(
                    model(**read).logits[:, 0],
                    torch.tensor(told.target[chosen]),
                    weight=torch.tensor(told.much[chosen]),
                )
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                pace.step()
        model.save_pretrained(kept)
        return cls(model, tokens)

    @classmethod
    def untrained(cls) -> Teacher:
        """As it comes, to have its words."""
        source = distil_words.minilm()
        model = AutoModelForSequenceClassification.from_pretrained(source, num_labels=1)
        return cls(model, AutoTokenizer.from_pretrained(source))

    def answers(self, texts: Sequence[Text]) -> Floats:
        """How probably each text is what it was trained to tell, as log odds."""
        self.model.eval()
        told = np.zeros(len(texts), np.float32)
        order = sorted(range(len(texts)), key=lambda at: length(texts[at]))
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            for start in range(0, len(order), 256):
                chosen = order[start : start + 256]
                read = encoded(self.tokens, [texts[at] for at in chosen])
                told[chosen] = self.model(**read).logits[:, 0].float().numpy()
        return told

    def vocabulary(self, sentences: Sequence[str]) -> tuple[list[str], Floats]:
        """The words that a network knows, and what the model has for each: the mean of the vectors
        of its parts."""
        counted = Counter(word for text in sentences for word in set(network_words.words(text)))
        common = [word for word, number in counted.most_common(WORDS) if number >= COMMON]
        named = [NOTHING, UNKNOWN, *(f"<{each}>" for each in ENDINGS), *common]
        there = set(named)
        named += [
            word
            for word in sorted(self.tokens.get_vocab())
            if word.isalpha() and word.isascii() and len(word) > 2 and word not in there
        ]
        of_parts = self.model.bert.embeddings.word_embeddings.weight.detach().numpy()
        parts = self.tokens(named, add_special_tokens=False)["input_ids"]
        unknown = [self.tokens.unk_token_id]
        vectors = np.stack([of_parts[each or unknown].mean(0) for each in parts])
        vectors -= vectors.mean(0)
        vectors /= np.linalg.norm(vectors, axis=1).mean()
        vectors[0] = 0
        return named, vectors.astype(np.float32)


def length(text: Text) -> int:
    """In characters."""
    return len(text) if isinstance(text, str) else sum(map(len, text))


def encoded(tokens: Any, texts: Sequence[Text]) -> Any:
    return tokens(
        list(texts), padding=True, truncation=True, max_length=_LONGEST, return_tensors="pt"
    )


def probability(odds: Sequence[float]) -> Floats:
    """Of log odds."""
    told: Floats = (1 / (1 + np.exp(-np.array(odds)))).astype(np.float32)
    return told


def batches(lengths: Sequence[int], together: int, seed: int) -> Iterator[list[int]]:
    """The places of all texts, in chance order, those of a batch of nearly the same length."""
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    made: list[list[int]] = []
    for start in range(0, len(order), 40 * together):
        some = sorted(order[start : start + 40 * together], key=lambda at: lengths[at])
        made += [some[at : at + together] for at in range(0, len(some), together)]
    rng.shuffle(made)
    yield from made


class OtherWords:
    """Words to put in the place of others: mostly one of a near meaning, else a common one."""

    def __init__(self, sentences: Sequence[str]) -> None:
        counted = Counter(word for text in sentences for word in set(network_words.words(text)))
        words = [word for word, _ in counted.most_common(8000) if word.isalpha()]
        vectors = Words().embed(words)
        self._near = {
            word: [words[at] for at in np.argsort(-(vectors @ vectors[place]))[:NEAR]]
            for place, word in enumerate(words)
        }
        self._common = words[:2000]

    def chosen(self, word: str, rng: random.Random) -> str:
        """Another word for one in lower case."""
        near = self._near.get(word)
        chosen: str = rng.choice(near if near and rng.random() < NEARLY else self._common)
        return chosen

    @staticmethod
    def written(word: str, like: str) -> str:
        """A word with a capital where the one in whose place it is has one."""
        return word.capitalize() if like[0].isupper() and like != "I" else word


def of_users(haystacks: Path, longest_turn: int, lengths: range) -> set[str]:
    """The sentences of such lengths, in characters, that users say in turns of at most so many in
    the sessions of a file, without those sessions that any of its questions is answered by: turns
    of these are labelled, for training and for tests."""
    said = (
        turn["content"] for turn in sentence_fit.turns_of_none(haystacks) if turn["role"] == "user"
    )
    return {
        text[start:end]
        for text in said
        if len(text) <= longest_turn
        for start, end in sentences(text)
        if end - start in lengths
    }


def padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    places = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for number, row in enumerate(rows):
        places[number, : len(row)] = row
    return torch.tensor(places)


class Course:
    """The steps of training a network: its optimizer, its pace and the mean of its weights."""

    def __init__(self, network: nn.Module, steps: int, rate: float) -> None:
        torch.manual_seed(SEED)
        others = [each for name, each in network.named_parameters() if name != "own"]
        own = dict(network.named_parameters())["own"]
        self.optimizer = torch.optim.AdamW(
            [{"params": [own], "weight_decay": 0.05}, {"params": others, "weight_decay": 0.01}],
            lr=rate,
        )
        self.pace = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min(1, step / 300) * max(0.02, 1 - step / steps)
        )
        self.network = network
        average: Any = torch.optim.swa_utils.get_ema_multi_avg_fn(AVERAGED)  # type: ignore[no-untyped-call]
        self.mean = torch.optim.swa_utils.AveragedModel(network, multi_avg_fn=average)
        self.chance = np.random.default_rng(SEED)

    def with_lost(self, places: torch.Tensor, unknown: int) -> torch.Tensor:
        """Places of words, some of which are not known."""
        lost = torch.tensor(self.chance.random(places.shape) < LOST) & (places > 0)
        return places.masked_fill(lost, unknown)

    def step(self, odds: torch.Tensor, told: Told, chosen: Sequence[int]) -> None:
        """One step towards what is told of some texts."""
        loss = functional.binary_cross_entropy_with_logits(
            odds, torch.tensor(told.target[chosen]), weight=torch.tensor(told.much[chosen])
        )
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.pace.step()
        self.mean.update_parameters(self.network)


def rounded(vectors: NDArray[np.float64]) -> tuple[NDArray[np.int8], float]:
    """Vectors of words in whole numbers, that of no word with zeros, and what one is worth."""
    vectors[0] = 0
    unit = float(np.quantile(np.abs(vectors), 0.9995) / TOP)
    return np.clip(np.rint(vectors / unit), -TOP, TOP).astype(np.int8), unit


def whole(weights: NDArray[np.float64], bias: NDArray[np.float64], given: float) -> Layer:
    """A layer in whole numbers: of its weights (inputs, outputs), what is added, and what 1 is
    worth in what it is given."""
    unit = np.maximum(np.abs(weights).max(axis=0), 1e-9) / TOP
    return Layer(np.rint(weights / unit), np.rint(bias / (unit * given)), unit * given / STEP)


def convolution(told: dict[str, NDArray[np.float64]], name: str, given: float) -> Layer:
    """A convolution in whole numbers, of its weights (outputs, inputs, 3)."""
    weights = told[f"{name}.weight"]
    flat = weights.transpose(2, 1, 0).reshape(-1, weights.shape[0])
    return whole(flat, told[f"{name}.bias"], given)


def report(name: str, odds: NDArray[Any], label: NDArray[np.float64]) -> None:
    """Prints how well scores tell what has the label 1."""
    of_it, others = np.sort(odds[label == 1]), odds[label == 0]
    told = [f"{name}: AUC {auc(odds, label):.4f}; others taken for it where of what is"]
    for kept in (0.95, 0.9, 0.8, 0.7, 0.5, 0.3):
        least = of_it[int((1 - kept) * len(of_it))]
        told.append(f"{kept} is: {np.mean(others >= least):.4f}")
    print(*told, flush=True)
