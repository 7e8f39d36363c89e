"""`arborescence parse` with files of spaCy's documents, in and out."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy", reason="needs spaCy")
pytest.importorskip("typer", reason="needs the extra 'cli'")

import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from arborescence.cli import run
from arborescence.treebank import read


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setenv("ARBORESCENCE_QUIET", "1")


@pytest.fixture
def documents(tmp_path):
    nlp = spacy.blank("en")
    docs = [nlp(text) for text in ("They sing.  It rained.", "", "\n", "Go away!")]
    docs[0].ents = [Span(docs[0], 0, 1, "SINGERS")]
    docs[0].user_data["source"] = "letter"
    docs[3].spans["all"] = [docs[3][:]]
    docs[3].cats = {"order": 1.0}
    path = tmp_path / "documents.spacy"
    DocBin(store_user_data=True, docs=docs).to_disk(path)
    return path


def parsed(path):
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def test_documents_keep_all_else(documents, tmp_path):
    output = tmp_path / "parsed.spacy"
    assert run(["parse", str(documents), "-q", "-o", str(output)]) == 0
    first, empty, blank, last = parsed(output)
    assert first.text == "They sing.  It rained."
    assert [sentence.text for sentence in first.sents] == ["They sing.  ", "It rained."]
    assert [token.dep_ for token in first] == [
        "nsubj", "ROOT", "punct", "dep", "nsubj", "ROOT", "punct"
    ]  # fmt: skip
    assert first[1].pos_ == "VERB"
    assert [entity.label_ for entity in first.ents] == ["SINGERS"]
    assert first.user_data["source"] == "letter"
    assert (len(empty), blank.text) == (0, "\n")
    assert last.spans["all"][0].root.text == "Go"
    assert last.cats == {"order": 1.0}


def test_documents_to_conllu_and_back(documents, tmp_path):
    conllu, back = tmp_path / "parsed.conllu", tmp_path / "back.spacy"
    assert run(["parse", str(documents), "-q", "-o", str(conllu)]) == 0
    sentences = list(read(conllu))
    assert [sentence.text for sentence in sentences] == ["They sing.", "It rained.", "Go away!"]
    assert [sentence.comments[0] == "# newdoc" for sentence in sentences] == [True, False, True]
    assert run(["parse", str(conllu), "-q", "-o", str(back)]) == 0
    assert [doc.text for doc in parsed(back)] == ["They sing. It rained.", "Go away!"]


def test_several_kinds_of_files(documents, tmp_path):
    words, output = tmp_path / "words.txt", tmp_path / "out.spacy"
    words.write_text("They left .\nWe stayed .\n")
    files = [str(words), str(documents), str(words), str(documents)]
    assert run(["parse", "--format", "tokens", *files, "-q", "-o", str(output)]) == 0
    texts = [doc.text for doc in parsed(output)]
    of_words = ["They left .", "We stayed ."]
    of_documents = ["They sing.  It rained.", "", "\n", "Go away!"]
    assert texts == [*of_words, *of_documents, *of_words, *of_documents]


def test_sentences_that_are_left_out(documents, tmp_path, capsys):
    output = tmp_path / "out.spacy"
    limited = ["parse", str(documents), "-q", "-o", str(output), "--max-words", "2"]
    assert run(limited) == 1
    assert f"{documents}:1: 3 words" in capsys.readouterr().err
    assert not output.exists()
    assert run([*limited, "--skip-invalid"]) == 1
    assert "no sentence is left: skipped 3 broken sentences" in capsys.readouterr().err
    assert not output.exists()
    short = tmp_path / "short.txt"
    short.write_text("Sing !\n")
    assert run([*limited, "--skip-invalid", "--format", "tokens", str(short)]) == 0
    annotated = {doc.text: doc.has_annotation("DEP") for doc in parsed(output)}
    assert annotated["Sing !"]
    assert not annotated["Go away!"]


@pytest.mark.parametrize(
    "options", [["--kbest", "2"], ["--json"], ["--confidence"], ["--root", "multi"]], ids="".join
)
def test_what_documents_cannot_hold(documents, tmp_path, capsys, options):
    output = tmp_path / "out.spacy"
    assert run(["parse", str(documents), "-o", str(output), *options]) == 2
    assert options[0] in capsys.readouterr().err
    assert not output.exists()


def test_files_that_hold_no_documents(tmp_path, capsys, documents):
    path = tmp_path / "wrong.spacy"
    data = documents.read_bytes()
    for content in (b"", b"They sing.", data[: len(data) // 2], data[:-1] + b"x"):
        path.write_bytes(content)
        assert run(["parse", str(path), "-q", "-o", str(tmp_path / "out.conllu")]) == 1
        [line] = capsys.readouterr().err.splitlines()
        assert f"{path}: cannot be read as documents of spaCy" in line
    assert run(["parse", str(tmp_path / "none.spacy")]) == 1
    assert "No such file" in capsys.readouterr().err


def test_heads_outside_of_a_document(tmp_path, capsys):
    doc = Doc(Vocab(), words=["a", "b"], heads=[0, 0], deps=["ROOT", "dep"])
    file = DocBin(docs=[doc])
    file.tokens[0][1, file.attrs.index(spacy.attrs.HEAD)] = 7
    file.to_disk(tmp_path / "wrong.spacy")
    assert run(["parse", str(tmp_path / "wrong.spacy")]) == 1
    assert "E190" in capsys.readouterr().err
