"""Score files of a small neural parser, to run the experiments on: biaffine, by head selection.

The papers' parsers are of this kind (Dozat and Manning 2017; Qi et al. 2020). This one is small
enough for a processor, and without pretrained vectors: two layers of BiLSTM over embeddings of
forms, suffixes, tags and morphology. It needs torch.

    python benchmarks/biaffine.py --treebanks ud -o neural [--only English-EWT]
    arborescence experiment root --treebanks ud -o root-neural --models neural
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from torch import nn

from arborescence.experiments.common.scores import Scores
from arborescence.experiments.common.treebanks import find

UNKNOWN, ROOT = 1, 2  # 0 is padding
WORDS = 1_500  # in a batch
ROOM = -1e9  # the score of a head that is padding, or the word itself


def columns(sentence):
    """Yield what is looked up in embeddings, for each word."""
    rows = zip(sentence.forms, sentence.upos, sentence.xpos, sentence.feats, strict=True)
    for form, upos, xpos, feats in rows:
        lower = form.lower()
        yield lower, lower[-3:], lower[-1:], upos, xpos, str(feats)


class Vocabulary:
    """Numbers of forms, suffixes and so on; what was seen once only is unknown."""

    def __init__(self, sentences):
        counts = [Counter(column) for column in zip(*words(sentences), strict=True)]
        self.tables = [
            {name: i for i, name in enumerate((n for n, k in c.items() if k > 1), ROOT + 1)}
            for c in counts
        ]

    def sizes(self):
        return [len(table) + ROOT + 1 for table in self.tables]

    def numbers(self, sentence):
        """Return (n + 1, columns) int64: the root comes first."""
        rows = [[ROOT] * len(self.tables)]
        for word in columns(sentence):
            rows.append([t.get(v, UNKNOWN) for t, v in zip(self.tables, word, strict=True)])
        return torch.tensor(rows)


def words(sentences):
    for sentence in sentences:
        yield from columns(sentence)


class Biaffine(nn.Module):
    """Scores of edges ``[head, dependent]`` for a padded batch."""

    def __init__(self, sizes, width=200, dropout=0.33):
        super().__init__()
        widths = [100, 50, 20, 30, 30, 30]
        self.embeddings = nn.ModuleList(
            nn.Embedding(size, wide, padding_idx=0)
            for size, wide in zip(sizes, widths, strict=True)
        )
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(
            sum(widths), width, 2, batch_first=True, bidirectional=True, dropout=dropout
        )
        self.head, self.dependent = (
            nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Dropout(dropout))
            for _ in range(2)
        )
        self.weight = nn.Parameter(torch.zeros(width + 1, width))

    def forward(self, numbers, lengths):
        if self.training:  # words that were not seen are a part of life
            unseen = torch.rand(numbers.shape[:2]) < 0.1
            numbers = numbers.clone()
            numbers[..., 0][unseen & (numbers[..., 0] > ROOT)] = UNKNOWN
        looked = [e(numbers[..., i]) for i, e in enumerate(self.embeddings)]
        packed = nn.utils.rnn.pack_padded_sequence(
            self.dropout(torch.cat(looked, -1)), lengths, batch_first=True, enforce_sorted=False
        )
        hidden, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        hidden = self.dropout(hidden)
        heads, dependents = self.head(hidden), self.dependent(hidden)
        biased = torch.cat([dependents, torch.ones_like(dependents[..., :1])], -1)
        scores = heads @ (biased @ self.weight).mT
        size = scores.shape[-1]
        scores = scores.masked_fill(torch.eye(size, dtype=torch.bool), ROOM)
        padding = torch.arange(size) >= lengths[:, None]
        return scores.masked_fill(padding[:, :, None], ROOM)


def batches(order, lengths):
    """Split numbers of sentences so that each batch has about so many words."""
    batch, longest = [], 0
    for i in order:
        longest = max(longest, lengths[i])
        if batch and (len(batch) + 1) * longest > WORDS:
            yield batch
            batch, longest = [], lengths[i]
        batch.append(i)
    yield batch


def padded(rows, value):
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=value)


def train(sentences, steps, seed):
    """Train by head selection for so many updates, the learning rate falling to nothing."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    vocabulary = Vocabulary(sentences)
    numbers = [vocabulary.numbers(sentence) for sentence in sentences]
    heads = [torch.from_numpy(sentence.heads) for sentence in sentences]
    lengths = [len(row) for row in numbers]
    parser = Biaffine(vocabulary.sizes())
    optimizer = torch.optim.Adam(parser.parameters(), lr=2e-3, betas=(0.9, 0.9))
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    done = 0
    while done < steps:
        jitter = np.array(lengths) + rng.normal(0, 2, len(lengths))
        shuffled = list(batches(np.argsort(jitter).tolist(), lengths))
        for b in rng.permutation(len(shuffled))[: steps - done]:
            batch = shuffled[b]
            sizes = torch.tensor([lengths[i] for i in batch])
            scores = parser(padded([numbers[i] for i in batch], 0), sizes)
            gold = padded([heads[i] for i in batch], -1)  # the root's own head is -1 too
            loss = nn.functional.cross_entropy(scores, gold, ignore_index=-1)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parser.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            done += 1
    return parser.eval(), vocabulary


def scores_of(parser, vocabulary, sentences):
    """Return the log-probabilities of heads: a matrix for each sentence."""
    numbers = [vocabulary.numbers(sentence) for sentence in sentences]
    lengths = [len(row) for row in numbers]
    matrices = [None] * len(sentences)
    with torch.no_grad():
        for batch in batches(np.argsort(lengths).tolist(), lengths):
            sizes = torch.tensor([lengths[i] for i in batch])
            scores = parser(padded([numbers[i] for i in batch], 0), sizes).log_softmax(1)
            for i, matrix in zip(batch, scores.numpy(), strict=True):
                matrices[i] = matrix[: lengths[i], : lengths[i]]
    return matrices


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--treebanks", type=Path, required=True)
    options.add_argument("-o", "--output", type=Path, required=True)
    options.add_argument("--only", action="append", default=[])
    options.add_argument("--steps", type=int, default=1_500, help="updates of the weights")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    torch.set_num_threads(1)
    given.output.mkdir(parents=True, exist_ok=True)
    for treebank in find(given.treebanks, given.only).treebanks:
        start = time.process_time()
        training, test = treebank.read()
        parser, vocabulary = train(training, given.steps, given.seed)
        scores = Scores.of(
            scores_of(parser, vocabulary, test),
            test,
            treebank=treebank.name,
            split=treebank.split,
            training_sentences=len(training),
            settings={"parser": "biaffine", "steps": given.steps, "seed": given.seed},
        )
        scores.write(given.output / f"{treebank.name}.npz")
        triples = zip(scores.single, scores.gold, scores.counted, strict=True)
        right = sum((tree == gold)[1:][counted].sum() for tree, gold, counted in triples)
        several = np.mean([(tree == 0).sum() > 1 for tree in scores.multi])
        print(
            f"{treebank.name}: UAS {right / sum(c.sum() for c in scores.counted):.2%}, malformed "
            f"{several:.2%}, {time.process_time() - start:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
