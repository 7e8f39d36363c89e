import json
import zipfile

import numpy as np
import pytest

import arborescence as arb
from altered_models import altered
from arborescence.errors import ModelError
from arborescence.parsers import LinearParser, model_file
from samples import treebank


@pytest.fixture(scope="module")
def parser():
    return LinearParser.train(treebank(), epochs=2, bits=10)


def test_round_trip(parser, saved):
    loaded = arb.load(saved)
    assert loaded.labels == parser.labels
    assert loaded.columns == parser.columns
    assert loaded.info == json.loads(json.dumps(parser.info))
    for sentence in treebank():
        assert (loaded.scores(sentence) == parser.scores(sentence)).all()
        assert [s.raw for s in loaded.parse([sentence])] == [
            s.raw for s in parser.parse([sentence])
        ]


def test_nothing_is_written_where_saving_fails(parser, tmp_path):
    with pytest.raises(FileNotFoundError):
        parser.save(tmp_path / "nowhere" / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off(saved, share):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ModelError, match=r"some\.model: "):
        arb.load(saved)


def test_a_flipped_bit_is_noticed_or_harmless(parser, saved):
    data = saved.read_bytes()
    noticed = 0
    for place in range(0, len(data), len(data) // 97):
        broken = bytearray(data)
        broken[place] ^= 16
        saved.write_bytes(broken)
        try:
            loaded = arb.load(saved)
        except ModelError:
            noticed += 1
        else:  # the date of a file in the archive, say
            sentence = treebank()[0]
            assert (loaded.scores(sentence) == parser.scores(sentence)).all()
    assert noticed > 80


@pytest.mark.parametrize("content", [b"", b"hello", b"1\tGrow\n", b"\x93NUMPY", b"PK\x03\x04"])
def test_files_that_are_no_models(tmp_path, content):
    path = tmp_path / "some.model"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"some\.model: "):
        arb.load(path)


def test_arrays_of_something_else(tmp_path):
    path = tmp_path / "scores.npz"
    np.savez(path, scores=np.ones((3, 3)))
    with pytest.raises(ModelError, match=r"scores\.npz: "):
        arb.load(path)
    path = tmp_path / "scores.npy"
    np.save(path, np.ones((3, 3)))
    with pytest.raises(ModelError, match=r"scores\.npy: not a model"):
        arb.load(path)
    path = tmp_path / "header.npz"
    np.savez(path, header=np.frombuffer(b'{"format": "other"}', dtype=np.uint8))
    with pytest.raises(ModelError, match=r"header\.npz: not a model"):
        arb.load(path)


def test_pickles_are_not_opened(tmp_path):
    path = tmp_path / "evil.npz"
    np.savez(path, header=np.array([{"format": "arborescence model"}], dtype=object))
    with pytest.raises(ModelError, match=r"evil\.npz: "):
        arb.load(path)


def test_other_files_in_a_zip(tmp_path):
    path = tmp_path / "some.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header", "hello")
    with pytest.raises(ModelError, match=r"some\.zip: "):
        arb.load(path)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"format": "arborescence model", "version": 1, "info": ' + "[" * 100_000,
        '{"a": ' * 100_000,
        '{"format": "arborescence model", "version": ' + "9" * 10_000 + "}",
        '{"format": "arborescence model", "version": true}',
        '{"format": "arborescence model", "version": 0}',
        '{"format": "arborescence model", "version": ' + "9" * 4000 + "}",
        "[]",
        "\x00",
        "",
    ],
)
def test_headers_that_are_none(text, tmp_path):
    path = tmp_path / "some.model"
    with path.open("wb") as file:
        np.savez(file, header=np.frombuffer(text.encode(), dtype=np.uint8))
    with pytest.raises(ModelError, match=r"some\.model: ") as caught:
        arb.load(path)
    assert len(str(caught.value)) < 500


def test_a_header_that_is_no_text(tmp_path):
    path = tmp_path / "some.npz"
    for header in (np.arange(3), np.zeros((), dtype=np.complex64), np.array(["{}"])):
        np.savez(path, header=header)
        with pytest.raises(ModelError, match=r"some\.npz: "):
            arb.load(path)


def test_a_newer_version(saved):
    with pytest.raises(ModelError, match="newer"):
        arb.load(altered(saved, version=model_file.VERSION + 1))


def test_no_such_file_and_no_such_kind(saved, tmp_path):
    with pytest.raises(ModelError, match="klingon: No such file"):
        arb.load(tmp_path / "klingon")
    with pytest.raises(ModelError, match="'quantum'"):
        arb.load(altered(saved, kind="quantum"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("columns", ["misc"]),
        ("columns", []),
        ("labels", None),
        ("labels", [1]),
        ("layout", [3, 4, 5]),
        ("layout", [128, 1024]),
        ("layout", [128, 1024, 500]),
        ("units", [0.0, 1.0, 1.0]),
        ("units", ["1"]),
        ("edges", None),
        ("edges", np.zeros(7, dtype=np.int8)),
        ("edges", np.zeros((7, 7), dtype=np.int8)),
        ("tags", np.zeros(3, dtype=np.int64)),
        ("allowed", np.zeros((2, 2), dtype=np.bool_)),
        ("relations", np.zeros((32, 14), dtype=np.float64)),
    ],
)
def test_parts_that_do_not_fit(saved, name, value):
    with pytest.raises(ModelError, match=rf"some\.model: .*{name}"):
        arb.load(altered(saved, **{name: value}))


def test_a_header_that_does_not_fit_the_arrays(saved):
    with pytest.raises(ModelError, match="array 'tags'"):
        arb.load(altered(saved, layout=[128, 1024, 7]))
    with pytest.raises(ModelError, match="array 'edges'"):
        arb.load(altered(saved, layout=[128, 2048, 11]))
    with pytest.raises(ModelError, match="array 'allowed'"):
        arb.load(altered(saved, labels=["root"]))


def test_a_kind_of_parser_loads_its_own_kind(saved):
    class Other(LinearParser):
        kind = "other"

    assert isinstance(LinearParser.load(saved), LinearParser)
    with pytest.raises(ModelError, match="of the kind 'linear'"):
        Other.load(saved)
