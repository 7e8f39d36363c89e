"""The recipe of training: from Python and from the command line, the same model."""

import pytest

from arborescence.errors import OptionError, TreebankError
from arborescence.parsers import recipe, train
from arborescence.treebank import read, write
from samples import bare, treebank

SMALL = {"epochs": 2, "bits": 10}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A treebank as those of Universal Dependencies are."""
    folder = tmp_path_factory.mktemp("UD_Birdish")
    write(treebank() * 2, folder / "bi_rd-ud-train.conllu")
    write(treebank()[2:], folder / "bi_rd-ud-dev.conllu.gz")
    write(treebank()[:2], folder / "bi_rd-ud-test.conllu")
    return folder


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("linear", {"columns": ("form", "upos"), "C": 0.2}, "--columns form,upos --C 0.2"),
        ("second-order", {"text": False}, "--no-text"),
        (
            "transition",
            {"projective": "pseudo", "jackknife": False},
            "--projective pseudo --no-jackknife",
        ),
    ],
)
def test_both_ways_make_the_same_file(folder, tmp_path, kind, options, words):
    pytest.importorskip("typer", reason="needs the extra 'cli'")
    from arborescence.cli import run

    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    small = [f"--{name}={value}" for name, value in SMALL.items()]
    assert run(["train", kind, str(folder), "-o", str(theirs), "-q", *small, *words.split()]) == 0
    parser = train(folder, kind=kind, **SMALL, **options)
    parser.save(ours)
    assert ours.read_bytes() == theirs.read_bytes()
    parts = [folder / f"bi_rd-ud-{part}" for part in ("train.conllu", "dev.conllu.gz")]
    sentences, dev = (list(read(part)) for part in parts)
    train(sentences, dev=dev, kind=kind, output=ours, **SMALL, **options)
    assert ours.read_bytes() == theirs.read_bytes()
    assert sorted(tmp_path.iterdir()) == [ours, theirs]


def test_three_lines_make_a_parser_of_words(folder):
    parser = train(folder, kind="linear", **SMALL)
    [tagged] = parser.parse([bare(treebank()[0])])
    assert "_" not in tagged.upos
    assert parser.text is not None
    assert parser.info["sentences"] == 4 * len(treebank())  # each twice, with other tags


def test_the_kind_is_chosen_by_size(folder, monkeypatch):
    said = []
    parser = train(folder, text=False, progress=lambda *step: said.append(step))
    assert parser.kind == "linear"
    assert ("kind: linear, the best for fewer than 500 sentences", 1, 1) in said
    assert recipe.best_kind(499)[0] == "linear"
    monkeypatch.setattr(recipe, "find_spec", lambda _: object())
    assert recipe.best_kind(500)[0] == "neural"
    monkeypatch.setattr(recipe, "find_spec", lambda _: None)
    assert recipe.best_kind(500)[0] == "second-order"
    monkeypatch.setattr(recipe, "present_kinds", lambda: ["linear"])
    assert recipe.best_kind(500)[0] == "linear"


def test_columns_with_many_values_are_said(folder, monkeypatch):
    said = []
    monkeypatch.setattr(recipe, "_MANY", 2)
    train(folder, kind="linear", text=False, progress=lambda *step: said.append(step[0]), **SMALL)
    many = {tag for sentence in read(folder / "bi_rd-ud-train.conllu") for tag in sentence.upos}
    [line] = [each for each in said if each.startswith("UPOS: ")]
    assert len(many) > 2
    assert line.startswith(f"UPOS: {len(many)} values, learned slowly")


def test_a_part_that_is_missing(folder, tmp_path):
    (tmp_path / "dev.conllu").write_bytes((folder / "bi_rd-ud-train.conllu").read_bytes())
    with pytest.raises(
        TreebankError, match=f"^{tmp_path}: the folder has no train part, a file such"
    ):
        train(tmp_path, kind="linear", **SMALL)


@pytest.mark.parametrize(("sentences", "kept"), [(199, 0), (200, 20), (2500, 192), (2001, 181)])
@pytest.mark.parametrize("folder", [True, False])
def test_without_a_dev_part_some_sentences_are_kept_to_choose_by(tmp_path, sentences, kept, folder):
    many = (treebank() * sentences)[:sentences]
    numbered = [one.replace(comments=[f"# sent_id = {i}"]) for i, one in enumerate(many)]
    write(numbered, tmp_path / "train.conllu")
    said = []
    options = {"tagger": False, "text": False, "columns": ("form",), "epochs": 1, "bits": 10}
    options["varied"] = False
    given = tmp_path if folder else tmp_path / "train.conllu"
    parser = train(given, kind="linear", progress=lambda *step: said.append(step[0]), **options)
    assert parser.info["sentences"] == sentences - kept
    [scores] = parser.info["dev"]
    assert bool(scores) == bool(kept)
    lines = [line for line in said if line.startswith("dev: ")]
    assert lines == [
        f"dev: no dev part: {kept} of these sentences are kept to choose the epoch by"
        if kept
        else f"dev: no dev part, and {sentences} sentences are too few to keep a tenth to choose "
        "the epoch by: all epochs are run"
    ]


def test_of_sentences_alone_none_are_kept():
    parser = train(treebank() * 100, kind="linear", text=False, **SMALL)
    assert parser.info["dev"] == [{}] * SMALL["epochs"]


def test_a_treebank_is_not_overwritten(tmp_path):
    path = tmp_path / "train.conllu"
    write(treebank(), path)
    (tmp_path / "link").symlink_to(path.name)
    for output, treebanks, dev in (
        (path, path, None),
        (tmp_path / "link", tmp_path, None),
        (path, treebank(), [path]),
        (path, [*treebank(), str(path)], None),
    ):
        with pytest.raises(OptionError, match="writing would destroy the input"):
            train(treebanks, dev, output=output)
    assert list(read(path)) == treebank()


def test_training_goes_on(folder, tmp_path):
    output, whole = tmp_path / "model", tmp_path / "whole"
    options = {"kind": "linear", "tagger": False, "text": False, "bits": 10}

    def stop(step, done, total):
        if step.startswith("epoch 2:"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(folder, output=output, epochs=3, progress=stop, **options)
    said = []
    train(
        folder,
        output=output,
        epochs=3,
        resume=True,
        progress=lambda *a: said.append(a[0]),
        **options,
    )
    assert not any(step.startswith("epoch 1") for step in said)
    train(folder, output=whole, epochs=3, **options)
    assert output.read_bytes() == whole.read_bytes()
    assert sorted(tmp_path.iterdir()) == [output, whole]


def test_options_of_another_kind_and_none():
    for kind, options in (
        ("linear", {"beam": 2}),
        ("neural", {"jackknife": True}),
        (None, {"joint": True}),
    ):
        [name] = options
        with pytest.raises(OptionError, match=f"^{name} is not an option of .*; the options are "):
            train(treebank(), kind=kind, **options)
    with pytest.raises(OptionError, match="kind must be 'linear', 'second-order', 'transition' or"):
        train(treebank(), kind="biaffine")
    with pytest.raises(OptionError, match="root must be 'single' or 'multi', not 'none'"):
        train(treebank(), root="none")
