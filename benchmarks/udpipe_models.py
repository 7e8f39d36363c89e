"""Train UDPipe 1 on the files that our models learn from, for `las_and_speed`.

``python benchmarks/udpipe_models.py [--few] FOLDER`` needs ``pip install ufal.udpipe`` and the
treebanks of ``../shared/ud``. The options are those of UDPipe's own models of UD 2.0 (the folder
``training/models-ud-2.0`` of ufal/udpipe), without vectors of forms. They take hours of processor
time; with ``--few`` minutes: the speed is the same, the trees are worse. FOLDER gets
``en.udpipe`` and ``fr.udpipe``, and beside each the options, as ``.txt``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from arborescence.parsers.folders import Treebank
from inputs import TREEBANKS
from las_and_speed import OF

TAGGERS = (
    "models=2;templates_1=tagger;guesser_suffix_rules_1={0};guesser_enrich_dictionary_1={1};"
    "guesser_prefixes_max_1=0;use_lemma_1=1;provide_lemma_1=0;use_xpostag_1=1;provide_xpostag_1=1;"
    "use_feats_1=1;provide_feats_1=1;prune_features_1=0;templates_2=lemmatizer;"
    "guesser_suffix_rules_2={2};guesser_enrich_dictionary_2=6;guesser_prefixes_max_2=4;"
    "use_lemma_2=1;provide_lemma_2=1;use_xpostag_2=0;provide_xpostag_2=0;use_feats_2=0;"
    "provide_feats_2=0;prune_features_2={3}"
)
TOKENIZER = "dimension=64;epochs=100;initialization_range=0.1;learning_rate=0.005;early_stopping=1;"
PARSER = (
    "iterations=30;embedding_upostag=20;embedding_feats=20;embedding_xpostag=0;embedding_form=50;"
    "embedding_lemma=0;embedding_deprel=20;learning_rate_final=0.001;hidden_layer=200;"
    "batch_size=10;"
)
#: Tokenizer, tagger and parser, by language.
OPTIONS = {
    "en": (
        TOKENIZER + "batch_size=100;dropout=0.1",
        TAGGERS.format(12, 6, 6, 0),
        PARSER + "learning_rate=0.01;l2=0.5;transition_system=projective;"
        "transition_oracle=dynamic;structured_interval=8",
    ),
    "fr": (
        TOKENIZER + "batch_size=50;dropout=0.2",
        TAGGERS.format(8, 5, 8, 1),
        PARSER + "learning_rate=0.02;l2=0.3;transition_system=swap;"
        "transition_oracle=static_lazy;structured_interval=10",
    ),
}  # fmt: skip
#: What ``--few`` changes.
FEW = {
    "en": (
        "epochs=2", "iterations=1", "iterations=1;transition_oracle=static;structured_interval=0",
    ),
    "fr": ("epochs=4", "iterations=3", "iterations=3;structured_interval=0"),
}  # fmt: skip


def changed(options, others):
    """Return UDPipe's options, changed and extended by other options."""
    found = dict(each.split("=") for each in f"{options};{others}".strip(";").split(";"))
    return ";".join(f"{name}={value}" for name, value in found.items())


def sentences_of(part):
    """Return sentences as UDPipe has them."""
    from ufal.udpipe import InputFormat, ProcessingError, Sentence, Sentences

    reader, error, found = InputFormat.newConlluInputFormat(), ProcessingError(), Sentences()
    reader.setText("".join(map(str, part)))
    while reader.nextSentence(sentence := Sentence(), error):
        found.push_back(sentence)
    if error.occurred():
        raise SystemExit(error.message)
    return found


def main():
    from ufal.udpipe import ProcessingError, Trainer

    arguments = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--few", action="store_true", help="few iterations, static oracles")
    chosen = arguments.parse_args()
    for language, options in OPTIONS.items():
        if chosen.few:
            options = tuple(map(changed, options, FEW[language]))
        treebank = Treebank.of(TREEBANKS / OF[language])
        error = ProcessingError()
        model = Trainer.train(
            "morphodita_parsito", sentences_of(treebank.sentences("train")),
            sentences_of(treebank.sentences("dev")), *options, error,
        )  # fmt: skip
        if error.occurred():
            raise SystemExit(error.message)
        (chosen.folder / f"{language}.udpipe").write_bytes(model)
        (chosen.folder / f"{language}.txt").write_text("\n".join(options) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
