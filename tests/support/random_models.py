"""Parsers of Stanza and SuPar, by their own classes, with random weights; and texts for them."""

from __future__ import annotations

import io
import random

RELATIONS = ("root", "nsubj", "obj", "advmod", "det", "amod", "nmod", "obl", "conj", "punct")
TAGS = ("NOUN", "VERB", "ADJ", "DET", "ADV", "PUNCT")


def treebank(lengths, seed=1, words=500):
    """Return CoNLL-U of such lengths: random words, each hanging from the one before it."""
    rng = random.Random(seed)
    lines = []
    for number, length in enumerate(lengths, 1):
        lines.append(f"# sent_id = {number}")
        for d in range(1, length + 1):
            word, relation = f"w{rng.randrange(words)}", rng.choice(RELATIONS[1:])
            relation = "root" if d == 1 else relation
            tag = rng.choice(TAGS)
            lines.append(f"{d}\t{word}\t{word}\t{tag}\t_\t_\t{d - 1}\t{relation}\t_\t_")
        lines.append("")
    return "\n".join([*lines, ""])


def stanza_document(text):
    """Return CoNLL-U as a document of Stanza."""
    from stanza.utils.conll import CoNLL

    return CoNLL.conll2doc(input_str=text)


def stanza_processor(text, seed=1, **options):
    """Return Stanza's processor of dependencies, as its pipeline calls it.

    The model has the sizes of Stanza's defaults, without pretrained vectors and characters.
    """
    import torch
    from stanza.models.depparse.data import DataLoader
    from stanza.models.depparse.model import GraphParser
    from stanza.models.depparse.trainer import Trainer
    from stanza.models.parser import parse_args
    from stanza.pipeline.depparse_processor import DepparseProcessor

    torch.manual_seed(seed)
    given = ["--no_pretrain", "--no_char", "--shorthand", "en_random", "--lang", "en"]
    settings = parse_args([*given, "--word_cutoff", "1"])
    vocab = DataLoader(stanza_document(text), 5000, settings, None).vocab
    model = randomized(GraphParser(settings, vocab))
    trainer = Trainer(settings, vocab, model=model, device="cpu", build_optimizer=False)
    config = {"trainer": trainer, "pretagged": True, "batch_size": 5000, **options}
    processor = DepparseProcessor(config, _Alone(), "cpu")
    processor._trainer = trainer
    processor._vocab = vocab
    processor._config = {**settings, **config}
    return processor


def randomized(model):
    """Draw every weight: scorers start as zeros, so that all trees would weigh the same."""
    import torch

    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.1)
    return model.eval()


class _Alone:
    """In place of a pipeline: the processor is its only one."""

    loaded_processors = ()
    foundation_cache = None


def stanza_trees(document):
    """Return the heads of each sentence, the root left out."""
    return [[word.head for word in sentence.words] for sentence in document.sentences]


def supar_parser(folder, text, seed=1, **options):
    """Return SuPar's biaffine parser, of its usual sizes unless options say else."""
    import torch
    from supar import BiaffineDependencyParser

    torch.manual_seed(seed)
    (folder / "train.conllx").write_text(as_conllx(text))
    settings = {"feat": ["tag"], "encoder": "lstm", "embed": None, "build": True, "verbose": False}
    parser = BiaffineDependencyParser.build(
        str(folder / "model"),
        train=str(folder / "train.conllx"),
        min_freq=1,
        **settings,
        **options,
    )
    randomized(parser.model)
    return parser


def as_conllx(text):
    """Return the same without comments, as SuPar reads it."""
    lines = (line for line in io.StringIO(text) if not line.startswith("#"))
    return "".join(lines)
