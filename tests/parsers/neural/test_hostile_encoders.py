"""Encoders in ONNX, and their tokenizers, that a stranger has made: refused before they run."""

import json

import numpy as np
import pytest

from arborescence.errors import ModelError
from arborescence.parsers.neural.onnx_encoder import OnnxEncoder
from effort import few_calls

for needed in ("onnxruntime", "tokenizers"):
    pytest.importorskip(needed, reason=f"encoders in ONNX need {needed}")
onnx = pytest.importorskip("onnx", reason="graphs are made by onnx")
helper, TensorProto = onnx.helper, onnx.TensorProto
from onnx_graphs import (  # noqa: E402
    BERT,
    E5,
    FIELDS,
    LAYERS,
    SIZE,
    TEMPLATE,
    UNIGRAM,
    WORDPIECE,
    constant,
    network,
)

ROBERTA = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]}
ROBERTA |= {"trim_offsets": True, "add_prefix_space": False}


def encoder(model=None, tokenizer=BERT, **fields):
    data = (network() if model is None else model).SerializeToString()
    text = tokenizer if isinstance(tokenizer, bytes) else json.dumps(tokenizer).encode()
    arrays = {"onnx": np.frombuffer(data, np.uint8), "tokenizer": np.frombuffer(text, np.uint8)}
    return OnnxEncoder(FIELDS | fields, arrays, LAYERS, SIZE)


def refused(*arguments, **fields):
    """What the error says; it must come at once."""
    with few_calls(), pytest.raises(ModelError) as error:
        encoder(*arguments, **fields)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("tokenizer", [BERT, E5])
def test_the_plain_one_is_read(tokenizer):
    vectors = encoder(tokenizer=tokenizer).features([["abc", "x", "h"], ["a"]])
    assert vectors.shape == (4, LAYERS, SIZE)
    assert np.isfinite(vectors).all()


def body(operator):
    """A graph within a graph."""
    outputs = [helper.make_tensor_value_info("kept", TensorProto.BOOL, [])]
    inputs = []
    if operator == "Loop":
        inputs = [
            helper.make_tensor_value_info("step", TensorProto.INT64, []),
            helper.make_tensor_value_info("kept", TensorProto.BOOL, []),
        ]
    return helper.make_graph([], "body", inputs, outputs)


@pytest.mark.parametrize(
    ("node", "constants"),
    [
        (
            helper.make_node("Loop", ["many", "", "table_of_words"], ["x"], body=body("Loop")),
            [constant("many", 2**62)],
        ),
        (
            helper.make_node("If", ["yes"], ["x"], then_branch=body("If"), else_branch=body("If")),
            [constant("yes", True, bool)],
        ),
        (
            helper.make_node("Scan", ["table"], ["x"], body=body("Scan"), num_scan_inputs=1),
            [],
        ),
        (helper.make_node("ConstantOfShape", ["large"], ["x"]), [constant("large", [40000] * 2)]),
        (helper.make_node("RandomNormal", [], ["x"], shape=[40000, 40000]), []),
        (helper.make_node("Tile", ["table", "times"], ["x"]), [constant("times", [99999, 9])]),
        (helper.make_node("Pad", ["table", "wide"], ["x"]), [constant("wide", [0, 0, 10**9, 9])]),
        (helper.make_node("RegexFullMatch", ["table"], ["x"], pattern="(a+)+$"), []),
        (helper.make_node("Gelu", ["table"], ["x"], domain="com.microsoft"), []),
        (helper.make_node("PythonOp", ["table"], ["x"], domain="ai.onnx.contrib"), []),
    ],
    ids=lambda value: getattr(value, "op_type", ""),
)
def test_operators_that_bert_lacks(node, constants):
    said = refused(network(node, constants=constants))
    if "unknown part" not in said:  # a graph or a tensor within a node
        assert node.op_type in said


EXPAND = helper.make_node("Expand", ["one", "large"], ["x"])
ONE = constant("one", [1.0], np.float32)


@pytest.mark.parametrize(
    ("nodes", "constants"),
    [
        ([EXPAND], [constant("large", [40000] * 2), ONE]),  # 6 GB of constants
        ([EXPAND], [constant("large", [2**31] * 8), ONE]),  # more than 64 bits can say
        (  # each is small, all together are not
            [helper.make_node("Expand", ["one", "large"], [f"x{n}"]) for n in range(40)],
            [constant("large", [2000, 2000]), ONE],
        ),
        (  # as many numbers as pieces, four times
            [
                helper.make_node("Shape", ["row"], ["length"]),
                helper.make_node("Concat", ["length"] * 6, ["large"], axis=0),
                EXPAND,
            ],
            [ONE],
        ),
        (  # little memory, much work
            [
                EXPAND,
                *(
                    helper.make_node("MatMul", [f"x{n}" if n else "x", "x"], [f"x{n + 1}"])
                    for n in range(400)
                ),
            ],
            [constant("large", [3000, 3000]), ONE],
        ),
        (
            [helper.make_node("Range", ["none", "many", "step"], ["x"])],
            [constant("none", 0), constant("many", 2**40), constant("step", 1)],
        ),
    ],
    ids=["constants", "overflow", "many", "pieces", "work", "range"],
)
def test_memory_and_work_are_known_before_it_runs(nodes, constants):
    assert "512 MB" in refused(network(*nodes, constants=constants))


def test_a_window_of_any_length_is_checked():
    """Where fewer pieces need more memory: the longest window says nothing about it."""
    nodes = [
        helper.make_node("Shape", ["row"], ["length"]),
        helper.make_node("Slice", ["long", "length", "end"], ["rest"]),
        helper.make_node("Shape", ["rest"], ["short"]),
        helper.make_node("Concat", ["short"] * 7, ["large"], axis=0),
        EXPAND,
    ]
    constants = [constant("long", np.ones(32)), constant("end", [32]), ONE]
    made = network(*nodes, constants=constants)
    assert "for 3 pieces it needs more than 512 MB" in refused(made)


def test_shapes_that_results_give():
    nodes = [
        helper.make_node("Gather", ["lengths", "row"], ["large"], axis=0),
        helper.make_node("Expand", ["one", "large"], ["x"]),
    ]
    made = network(*nodes, constants=[constant("lengths", [1] * 11 + [10**6] * 9), ONE])
    assert "depend on more than the number of pieces" in refused(made)


def test_weights_that_are_read_by_other_sizes():
    for n, k, shape in ((10**6, 8, (8, 1, 16)), (8, 10**6, (8, 1, 16)), (8, 8, (1, 1, 1))):
        node = helper.make_node(
            "MatMulNBits",
            ["table_of_words", "bits", "scales"],
            ["x"],
            domain="com.microsoft",
            N=n,
            K=k,
            bits=8,
            block_size=16,
            accuracy_level=4,
        )
        weights = constant("bits", np.zeros(shape), np.uint8)
        made = network(node, constants=[weights, constant("scales", np.zeros(8), np.float32)])
        assert "that do not fit" in refused(made)


def changed(change):
    model = network()
    change(model)
    return model


def _external(model):
    model.graph.initializer[1].external_data.add(key="location", value="/etc/passwd")
    model.graph.initializer[1].data_location = TensorProto.EXTERNAL


def _sparse(model):
    sparse = model.graph.sparse_initializer.add()
    sparse.values.CopyFrom(constant("x", [1]))
    sparse.dims.append(2**40)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_external, "field 13"),
        (_sparse, "field 15"),
        (lambda model: model.graph.initializer[1].dims.__setitem__(0, 2**40), "do not fit"),
        (lambda model: model.graph.initializer[1].dims.__setitem__(0, -1), "and the shape (-1"),
        (lambda model: model.graph.initializer[1].dims.extend([1] * 9), "a constant of the kind"),
        (lambda model: setattr(model.graph.initializer[1], "data_type", 8), "of the kind 8"),
        (lambda model: model.graph.initializer.append(constant("first", [0])), "'first' twice"),
        (lambda model: model.graph.node[1].output.__setitem__(0, "row"), "'row' twice"),
        (lambda model: model.graph.node.insert(0, model.graph.node.pop()), "written later"),
        (lambda model: model.graph.input.append(model.graph.output[0]), "cannot be read"),
        (lambda model: model.graph.output.append(model.graph.output[0]), "cannot be read"),
        (lambda model: model.graph.node[1].attribute[0].ints.append(1), "cannot be read"),
        (lambda model: model.graph.node[1].attribute.add(name="own", i=1, type=2),
            "attributes: own"),
        (lambda model: setattr(model.graph.node[1].attribute[0], "type", 5), "'axis' has"),
        (lambda model: model.graph.node[1].attribute.extend(
            [helper.make_attribute("body", body("If"))]), "field 6"),
        (lambda model: model.training_info.add(), "field 20"),
        (lambda model: model.graph.node.extend([model.graph.node[0]] * 5000), "5003 nodes"),
        (lambda model: model.graph.ClearField("node"), "it computes nothing"),
    ],
)  # fmt: skip
def test_parts_that_are_not_read(change, said):
    assert said in refused(changed(change))


def test_functions():
    function = helper.make_function(
        "own", "Twice", ["x"], ["y"], [helper.make_node("Add", ["x", "x"], ["y"])],
        [helper.make_opsetid("", 18)],
    )  # fmt: skip
    node = helper.make_node("Twice", ["table_of_words"], ["twice"], domain="own")
    assert "field 25" in refused(network(node, functions=[function], last="twice"))


def test_bytes_that_are_no_graph():
    plain = network().SerializeToString()
    for data in (
        b"",
        b"\x08\x0a\x3a\x05ORTM\x00",  # onnxruntime's own format begins so
        b"\xff" * 99,
        plain[:-1],
        plain * 2,
        b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + plain,
    ):
        arrays = {"onnx": np.frombuffer(data, np.uint8)}
        arrays["tokenizer"] = np.frombuffer(json.dumps(BERT).encode(), np.uint8)
        with pytest.raises(ModelError, match="the encoder cannot be read"):
            OnnxEncoder(FIELDS, arrays, LAYERS, SIZE)


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
    arrays = {"onnx": np.frombuffer(network().SerializeToString(), np.uint8)}
    text = json.dumps(E5 | {"model": UNIGRAM | {"vocab": pieces}}).encode()
    arrays["tokenizer"] = np.frombuffer(text, np.uint8)
    with pytest.raises(ModelError, match="its tokenizer has pieces that need too much memory"):
        OnnxEncoder(FIELDS, arrays, LAYERS, SIZE)


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


def test_lengths_are_checked_when_they_come(monkeypatch):
    made = encoder()
    asked = []
    monkeypatch.setattr(made._sizes, "check", asked.append)
    made.features([["abc"], ["a"], ["h"]])
    assert asked == [3, 5]


def test_refused_before_onnxruntime_reads_it(monkeypatch):
    import onnxruntime

    def never(*_, **__):
        raise AssertionError("it must not be read")

    monkeypatch.setattr(onnxruntime, "InferenceSession", never)
    assert "512 MB" in refused(network(EXPAND, constants=[constant("large", [40000] * 2), ONE]))
