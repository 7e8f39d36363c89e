"""`arborescence train`: a command for each kind of parser, with the options of that kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from arborescence.parsers.recipe import all_options
from arborescence.parsers.shared.options import TRAINABLE
from arborescence.treebank import Sentence, read, write
from lessons import BIRDS, CATS, TREES, write_lessons
from tiny_encoders import make_bert

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from arborescence.parsers.shared.options import Trainable
    from lessons import Command


@pytest.fixture(scope="module")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lessons(tmp_path_factory.mktemp("train"), BIRDS, TREES, CATS)


@pytest.mark.parametrize("kind", TRAINABLE)
def test_help_has_each_option_of_a_kind(command: Command, kind: Trainable) -> None:
    shown = command("train", kind, "--help").out
    for name, option in all_options(kind).items():
        assert (f"--{(option.written or name).replace('_', '-')} " in shown) == option.command
    assert f"arborescence train {kind}" in shown.partition("Examples")[2]


@pytest.mark.parametrize("kind", [None, *TRAINABLE])
def test_a_sentence_that_is_no_tree_is_found_first(
    command: Command,
    lessons: Path,
    tmp_path: Path,
    kind: Trainable | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from arborescence.parsers import Tagger
    from arborescence.parsers.text import Text

    if kind == "neural":
        pytest.importorskip("torch", reason="needs the extra 'torch'")
    trained: list[object] = []
    for learner in (Tagger, Text):
        monkeypatch.setattr(learner, "train", lambda *_, **__: trained.append("a tagger"))
    broken = tmp_path / "broken.conllu"
    cycle = Sentence.from_words(["Birds", "sing"], heads=[-1, 2, 1])
    two_roots = Sentence.from_words(["Birds", "sing"], heads=[-1, 0, 0])
    train = ("train", *([kind] if kind else []), "-o", tmp_path / "model")
    for fault, said in ((cycle, "the heads are not a tree"), (two_roots, "several words have the")):
        write([*read(lessons), fault], broken)
        where = f"{broken}:{1 + len(lessons.read_bytes().splitlines())}"
        for files in ((lessons, broken, "--dev", lessons), (lessons, "--dev", broken)):
            assert f"error: {where}: {said}" in command(*train, *files).complaint()
    assert trained == []
    assert [*tmp_path.iterdir()] == [broken]


def test_sentences_that_are_no_trees_can_be_left_out(
    command: Command, lessons: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.conllu"
    write([Sentence.from_words(["Birds", "sing"], heads=[-1, 2, 1]), *read(lessons)], broken)
    train = ("train", "linear", broken, "--dev", broken, "-o", tmp_path / "model", "--bits", 10)
    done = command(*train, "--epochs", 1, "--no-tagger", "--no-text", "--skip-invalid")
    assert done.status == 0, done
    assert "reading: 15 sentences to learn from, 15 to choose the epoch by" in done.err
    assert (
        f"skipped 2 broken sentences (4 words, 4 lines); the first: {broken}:1: the heads"
        in done.err
    )


def test_train_a_neural_parser(command: Command, lessons: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra 'torch'")
    model = tmp_path / "model"
    train = ("train", "neural", lessons, "--dev", lessons, "-o", model)
    device = command(*train, "--device", "tpu").complaint(2)
    assert "--device tpu is not available: PyTorch has cpu, and cuda with a GPU" in device
    settings = "--hidden 8 --epochs 3 --loss tree --scorer mlp --batch 9 --precision int8"
    done = command(*train, *settings.split(), "--no-text", "--rate", "0.01")
    assert done.status == 0, done
    assert "15 sentences are few for a neural parser: compare it with a linear parser" in done.err
    assert re.search(r"epoch 3: UAS .*, LAS .*, LAS of words .*, UPOS .*, [\d,]+ words/s", done.err)
    assert re.search(r"best on dev: epoch \d of 3, UAS", done.err)
    assert not model.with_name("model.checkpoint").exists()
    plain = command("parse", lessons, "-m", model)
    by_torch = command("parse", lessons, "-m", model, "--device", "cpu")
    assert plain.status == by_torch.status == 0
    assert plain.out == by_torch.out


def test_train_with_word_vectors(command: Command, lessons: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra 'torch'")
    vectors, model = tmp_path / "vectors.txt", tmp_path / "model"
    vectors.write_text("the 1 2\nbirds 3 4\ncoelacanth 5 6\ncoelenterate 7 8\n")
    train = ("train", "neural", lessons, "--dev", lessons, "-o", model, "--no-text")
    settings = ["--hidden", "8", "--epochs", "2", "--no-tagger", "--most-vectors", "3"]
    done = command(*train, *settings, "--vectors", vectors)
    assert done.status == 0, done
    assert command("parse", lessons, "-m", model).status == 0
    vectors.write_text("the 1 2\nbirds 3\n")
    done = command(*train, *settings, "--vectors", vectors)
    assert done.status == 1
    assert "vectors.txt:2: 1 numbers, but the first line says 2" in done.err


def test_train_with_an_encoder(command: Command, lessons: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra 'torch'")
    pytest.importorskip("transformers", reason="needs the extra 'transformers'")
    encoder, model = make_bert(tmp_path / "bert"), tmp_path / "model"
    train = ("train", "neural", lessons, "--dev", lessons, "-o", model, "--no-text")
    settings = ["--hidden", "8", "--epochs", "2", "--no-tagger", "--encoder-layers", "2"]
    cache = tmp_path / "cache"
    for options in ([], ["--encoder-cache", cache], ["--fine-tune", "--encoder-rate", "0.001"]):
        done = command(*train, *settings, "--encoder", encoder, *options)
        assert done.status == 0, done
        found = command("parse", lessons, "-m", model)
        assert (found.status, "give its folder or its name" in found.err) == (1, True)
        assert command("parse", lessons, "-m", model, "--encoder", encoder).status == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bert", "cache", "model"]
    assert len(list(cache.iterdir())) == 1
    done = command(*train, *settings, "--encoder", tmp_path / "no")
    assert done.status == 1
    assert "no: the encoder cannot be loaded" in done.err


@pytest.fixture(scope="module")
def transition(lessons: Path) -> tuple[object, ...]:
    """The command that trains a transition-based parser, but for its output."""
    options = "--system arc-eager --oracle static --beam 2 --seed 3"
    others = "--patience 9 --bits 12 --no-tagger"
    return ("train", "transition", lessons, "--dev", lessons, *options.split(), *others.split())


def test_train_a_transition_parser(
    command: Command, lessons: Path, transition: tuple[object, ...], tmp_path: Path
) -> None:
    from arborescence.parsers import load

    model = tmp_path / "model"
    assert command(*transition, "-o", model, "--epochs", 4, "--projective", "pseudo").status == 0
    parser = load(model)
    assert (parser.kind, parser.system, parser.oracle) == ("transition", "arc-eager", "static")
    assert (parser.beam, parser.projective, parser.tagger) == (2, "pseudo", None)
    assert (parser.info["seed"], parser.info["bits"], len(parser.info["dev"])) == (3, 12, 4)
    assert command("parse", "-m", model, lessons).out == lessons.read_text()


def test_resume_the_training_of_a_transition_parser(
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    transition: tuple[object, ...],
    tmp_path: Path,
) -> None:
    from arborescence.parsers import TransitionParser

    whole, halves = tmp_path / "whole.model", tmp_path / "halves.model"
    assert command(*transition, "-o", whole, "--epochs", 4).status == 0

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TransitionParser, "save", interrupted)
        assert command(*transition, "-o", halves, "--epochs", 2).status == 130
    going_on = (*transition, "-o", halves, "--epochs", 4, "--resume")
    assert "settings" in command(*going_on, "--beam", 3).complaint()  # read, for it is refused
    assert command(*going_on).status == 0
    assert halves.read_bytes() == whole.read_bytes()
    assert sorted(tmp_path.iterdir()) == [halves, whole]


CROSSING = Sentence.from_words(
    ["What", "did", "cats", "say", "today"],
    upos=["PRON", "AUX", "NOUN", "VERB", "NOUN"],
    heads=[-1, 4, 4, 1, 0, 4],
    deprels=["obj", "aux", "nmod", "root", "obl"],
)


@pytest.mark.parametrize(
    ("options", "projective"),
    [
        ((), "pseudo"),
        (("--projective", "yes"), True),
        (("--projective", "no"), False),
        (("--projective", "pseudo"), "pseudo"),
        (("--projective", "auto"), "pseudo"),
    ],
    ids=str,
)
def test_which_trees_are_looked_for(
    command: Command, lessons: Path, tmp_path: Path, options: tuple[str, ...], projective: object
) -> None:
    from arborescence.parsers import load

    model, crossing = tmp_path / "model", tmp_path / "crossing.conllu"
    write([CROSSING] * 2, crossing)
    train = (
        "train",
        "linear",
        lessons,
        crossing,
        "--dev",
        crossing,
        "-o",
        model,
        "--bits",
        12,
        "--no-tagger",
    )
    assert command(*train, *options).status == 0
    assert load(model).projective == projective
    parsed = command("parse", "-m", model, crossing).out
    assert (parsed == crossing.read_text()) == (projective is not True)


def test_a_second_order_parser(command: Command, lessons: Path, tmp_path: Path) -> None:
    from arborescence.parsers import SecondOrderParser, load

    model = tmp_path / "model"
    options = ("--bits", 12, "--epochs", 4, "--no-tagger", "--no-text")
    train = ("train", "second-order", lessons, "--dev", lessons, "-o", model)
    assert command(*train, *options).status == 0
    assert isinstance(load(model), SecondOrderParser)
    assert command("parse", "-m", model, lessons).out == lessons.read_text()
    complaint = command("parse", "-m", model, "--confidence", lessons).complaint(1)
    assert "a second-order parser has no confidence" in complaint


@pytest.mark.parametrize("parser", ["linear", "transition"])
def test_each_sentence_comes_again_with_tags_of_a_tagger_that_has_not_seen_it(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, parser: str
) -> None:
    from arborescence.parsers import LinearParser, TransitionParser

    treebank = [
        Sentence.from_words(
            [f"word{i}", "."],
            upos=[f"TAG{i}", "PUNCT"],
            heads=[-1, 0, 1],
            deprels=["root", "punct"],
        )
        for i in range(8)
    ]
    lessons, seen = tmp_path / "lessons.conllu", []
    write(treebank, lessons)

    def spy(sentences: list[Sentence], *, dev: list[Sentence], **_: object) -> None:
        seen.append((list(sentences), list(dev)))
        raise KeyboardInterrupt

    monkeypatch.setattr(
        {"linear": LinearParser, "transition": TransitionParser}[parser], "train", spy
    )

    def one_by_one(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
        for number, sentence in enumerate(sentences):
            assert number < 100  # no list is read while it grows
            yield [sentence]

    monkeypatch.setattr("arborescence.parsers.tagger.tagger.batches", one_by_one)
    train = ("train", parser, lessons, "--dev", lessons, "-o", tmp_path / "model")
    for options in (("--jackknife",), ("--no-jackknife",), ("--jackknife", "--no-tagger")):
        assert command(*train, *options).status == 130
    (learned, dev), *others = seen
    assert learned[:8] == treebank
    for new, old in zip(learned[8:], treebank, strict=True):
        assert new.upos != old.upos  # it is of other sentences
        assert new.replace(upos=old.upos) == old
    assert dev[:8] == treebank
    assert [s.forms for s in dev[8:]] == [s.forms for s in treebank]
    assert others == [(treebank, treebank)] * 2


def test_the_folder_of_a_treebank(command: Command, tmp_path: Path) -> None:
    treebank, model = tmp_path / "linear", tmp_path / "model"  # its name is that of a kind
    treebank.mkdir()
    for part in ("train", "dev", "test"):
        write_lessons(treebank, BIRDS, CATS).rename(treebank / f"xx_yy-ud-{part}.conllu")
    done = command("train", tmp_path / "linear", "-o", model, "--no-text", "--no-tagger")
    assert done.status == 0, done
    assert "kind: linear, the best for fewer than 500 sentences" in done.err
    assert done.err.endswith(f"to test the model: {treebank / 'xx_yy-ud-test.conllu'}\n")
    (treebank / "xx_yy-ud-dev.conllu").unlink()
    alone = command("train", treebank, "-o", model, "--no-text", "--no-tagger")
    assert alone.status == 0, alone  # a tenth would be too few: all epochs are run
    assert ", 0 to choose the epoch by" in alone.err
    words = ("--no-text", "--no-tagger")
    few = command("train", treebank / "xx_yy-ud-train.conllu", "-o", model, *words)
    assert few.status == 0, few
    assert (
        "dev: no dev part, and 10 sentences are too few to keep a tenth to choose the epoch by"
        in few.err
    )


def test_a_tenth_of_a_file_is_kept_to_choose_by(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "many.conllu"
    path.write_bytes(write_lessons(tmp_path, BIRDS, CATS).read_bytes() * 20)
    words = ("--no-text", "--no-tagger", "--epochs", 1, "--bits", 10)
    done = command("train", "linear", path, "-o", tmp_path / "model", *words)
    assert done.status == 0, done
    assert "dev: no dev part: 20 of these sentences are kept to choose the epoch by" in done.err
    assert re.search(r"best on dev: epoch 1 of 1, UAS [\d.]+", done.err)
