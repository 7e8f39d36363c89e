"""Encoders in model files, and their tokenizers, that a stranger has made."""

import json

import numpy as np
import pytest

from arborescence.errors import ModelError
from arborescence.parsers.neural.bert.encoder import BertEncoder
from effort import few_calls
from hand_made_bert import BERT, E5, FIELDS, LAYERS, SIZE, SIZES, TEMPLATE, UNIGRAM, WORDPIECE
from hand_made_bert import arrays_of as plain

pytest.importorskip("tokenizers", reason="encoders need tokenizers")

ROBERTA = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]}
ROBERTA |= {"trim_offsets": True, "add_prefix_space": False}


def encoder(tokenizer=BERT, arrays=None, **fields):
    arrays = plain(tokenizer) if arrays is None else arrays
    return BertEncoder(FIELDS | SIZES | fields, arrays, LAYERS, fields.get("size", SIZE))


def refused(**changes):
    """What the error says; it must come at once."""
    with few_calls(), pytest.raises(ModelError) as error:
        encoder(**changes)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("tokenizer", [BERT, E5])
def test_the_plain_one_is_read(tokenizer):
    vectors = encoder(tokenizer).features([["abc", "x", "h"], ["a"]])
    assert vectors.shape == (4, LAYERS, SIZE)
    assert np.isfinite(vectors).all()


def test_other_formats():
    assert "format is 'onnx', not 'bert'" in refused(format="onnx")
    assert "format" in refused(format={"bert": 1})


def test_much_memory_or_work():
    """A file of few bytes may say that its arrays are large; they are 0."""
    few = {"size": 64, "inner": 64, "heads": 1}
    assert "array '" in refused(**few | {"pieces": 2**24})
    assert "array '" in refused(**few | {"depth": 1000})
    assert "inner is 1048576, not a whole number" in refused(inner=2**20)
    assert "positions is 65536, not a whole number" in refused(positions=2**16)
    large = {"size": 2**12, "inner": 2**14, "depth": 1000, "heads": 1}
    assert "more than 274,877,906,944 multiplications for a window" in refused(**large)


@pytest.mark.parametrize("bits", [4, 8])
def test_bytes_that_were_changed_are_refused_or_harmless(bits):
    generator = np.random.default_rng(1)
    sizes = {"size": 16, "inner": 32}
    whole = plain(bits=bits, **sizes)
    for name in whole.keys() - {"tokenizer"}:
        array = whole[name].copy()
        raw = array.reshape(-1).view(np.uint8)
        raw[generator.integers(len(raw), size=9)] = generator.integers(256, size=9)
        try:
            made = encoder(arrays=whole | {name: array}, **sizes)
            assert np.isfinite(made.features([["abc", "x"] * 9])).all()
        except ModelError:
            continue


def with_normalizers(*normalizers):
    return E5 | {"normalizer": {"type": "Sequence", "normalizers": list(normalizers)}}


LONGER = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10}
EXPRESSION = {"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": ""}


@pytest.mark.parametrize(
    ("tokenizer", "said"),
    [
        (with_normalizers(*[LONGER] * 9), "content: 'aaaaaaaaaa'"),  # 10⁹ letters for one
        (with_normalizers(EXPRESSION), "pattern: dict"),
        (BERT | {"normalizer": EXPRESSION}, "pattern: dict"),
        (with_normalizers({"type": "Replace", "pattern": {"String": ""}, "content": "a"}),
         "pattern: dict"),
        (with_normalizers({"type": "Prepend", "prepend": "a" * 9}), "'Prepend'"),
        (with_normalizers({"type": "Precompiled", "precompiled_charsmap": "AAAA"}), "Precompiled"),
        (with_normalizers(with_normalizers()["normalizer"]), "'Sequence'"),
        (BERT | {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a+)+$"},
                                   "behavior": "Isolated", "invert": False}}, "'Split'"),
        (BERT | {"model": {"type": "BPE", "vocab": {}, "merges": []}}, "'BPE'"),
        (BERT | {"model": WORDPIECE | {"max_input_chars_per_word": 10**9}}, "1000000000"),
        (BERT | {"model": WORDPIECE | {"vocab": {"a" * 10**6: 0}}}, "too long"),
        (BERT | {"model": WORDPIECE | {"vocab": {"a": -1}}}, "vocab: dict"),
        (BERT | {"model": WORDPIECE | {"vocab": {"a": 10**30}}}, "vocab: dict"),
        (E5 | {"model": UNIGRAM | {"vocab": [["a", float("nan")]]}}, "vocab: list"),
        (E5 | {"model": UNIGRAM | {"vocab": [["a"]]}}, "vocab: list"),
        (E5 | {"model": UNIGRAM | {"unk_id": -1}}, "unk_id: -1"),
        (BERT | {"post_processor": TEMPLATE | {"single": TEMPLATE["single"] * 9}}, "single: list"),
        (BERT | {"post_processor": TEMPLATE | {"single": [{}]}}, "single: list"),
        (BERT | {"post_processor": TEMPLATE | {"special_tokens": {"x": {"ids": [1] * 2000}}}},
         "ids: list"),
        (BERT | {"post_processor": TEMPLATE | {"special_tokens": {}}}, "single: '[CLS]'"),
        *(
            (BERT | {"post_processor": ROBERTA | {"sep": piece}}, "post_processor: ")
            for piece in (["</s>"], ["</s>", "2"], [2, "</s>"], "</s>", None, ["</s>", -1])
        ),
        (BERT | {"post_processor": {"type": "RobertaProcessing"}}, "the encoder cannot be read"),
        (BERT | {"added_tokens": [{"id": 1, "content": "a" * 99}]}, "content: 'aaa"),
        (BERT | {"added_tokens": [{}] * 2000}, "added_tokens: list"),
        (BERT | {"own": 1}, "tokenizer: dict"),
        (BERT | {"model": "WordPiece"}, "model: 'WordPiece'"),
        ([], "tokenizer: list"),
        (b"[" * 10**5, "the encoder cannot be read"),
        (b"9" * 5000, "the encoder cannot be read"),
        (b"\xff", "the encoder cannot be read"),
        (b" " * (2**24 + 1), "more than 16777216 bytes"),
        (json.dumps(BERT | {"version": "\ud800"}).encode(), "the encoder cannot be read"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_tokenizers(tokenizer, said):
    assert said in refused(tokenizer=tokenizer)


def test_pieces_that_need_much_memory():
    letters = np.random.default_rng(0).choice(list("abcdefgh"), size=(2**15, 60))
    pieces = [["".join(row), -1.0] for row in letters]
    text = json.dumps(E5 | {"model": UNIGRAM | {"vocab": pieces}}).encode()
    with pytest.raises(ModelError, match="its tokenizer has pieces that need too much memory"):
        encoder(text)


def test_what_does_not_cut_words_is_left_out():
    """A decoder's expression, for example, never reaches the package tokenizers."""
    decoder = {"type": "Replace", "pattern": {"Regex": "("}, "content": ""}
    other = {"decoder": decoder, "truncation": {"max_length": 1}, "padding": 7}
    np.testing.assert_array_equal(
        encoder(tokenizer=BERT | other).features([["abc", "d"]]),
        encoder().features([["abc", "d"]]),
    )


class Panic(BaseException):
    """As Rust's errors: no Exception."""


def test_errors_of_rust(monkeypatch):
    made = encoder()

    def panic(_):
        raise Panic("thread panicked\nhere")

    monkeypatch.setattr(made, "_splitter", panic)
    with pytest.raises(ModelError, match=r"the encoder cannot be read: thread panicked$"):
        made.features([["a"]])

    def stopped(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(made, "_splitter", stopped)
    with pytest.raises(KeyboardInterrupt):
        made.features([["a"]])
