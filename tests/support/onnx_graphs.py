"""Tiny encoders in ONNX with their tokenizers, made by hand: no training, no PyTorch."""

import numpy as np
import onnx

LAYERS, SIZE = 2, 4
FIELDS = {"format": "onnx", "name": "tiny", "room": 32, "unknown": 1}
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefgh", *(f"##{each}" for each in "abcdefgh")]
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
    "special_tokens": {
        name: {"id": name, "ids": [number], "tokens": [name]}
        for number, name in ((2, "[CLS]"), (3, "[SEP]"))
    },
}
WORDPIECE = {
    "type": "WordPiece",
    "unk_token": "[UNK]",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": {piece: number for number, piece in enumerate(PIECES)},
}
BERT = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": {"type": "BertNormalizer", "lowercase": True, "clean_text": True}
    | {"handle_chinese_chars": True, "strip_accents": None},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": TEMPLATE,
    "decoder": None,
    "model": WORDPIECE,
}
UNIGRAM = {
    "type": "Unigram",
    "unk_id": 1,
    "vocab": [[piece, -1.0] for piece in ("<s>", "<unk>", "</s>", "▁", *"abcdefgh")],
    "byte_fallback": False,
}
E5 = BERT | {
    "normalizer": {
        "type": "Sequence",
        "normalizers": [
            {"type": "NFKC"},
            {"type": "Replace", "pattern": {"String": "\t"}, "content": " "},
        ],
    },
    "pre_tokenizer": {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": "always",
        "split": True,
    },
    "model": UNIGRAM,
}


def constant(name, values, kind=np.int64):
    return onnx.numpy_helper.from_array(np.array(values, dtype=kind), name)


def network(*nodes, constants=(), functions=(), last="table_of_words"):
    """A graph that looks up vectors; before that, it computes `nodes`."""
    table = np.random.default_rng(0).normal(size=(len(PIECES), LAYERS * SIZE))
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Squeeze", ["ids", "first"], ["row"]),
            onnx.helper.make_node("Gather", ["table", "row"], ["table_of_words"], axis=0),
            *nodes,
            onnx.helper.make_node("Reshape", [last, "wanted"], ["states"]),
        ],
        "graph",
        [onnx.helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, [1, "n"])],
        [onnx.helper.make_tensor_value_info("states", onnx.TensorProto.FLOAT, ["n", LAYERS, SIZE])],
        [
            constant("first", [0]),
            constant("table", table, np.float32),
            constant("wanted", [-1, LAYERS, SIZE]),
            *constants,
        ],
    )
    operators = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid("com.microsoft", 1)]
    operators += [onnx.helper.make_opsetid("own", 1)] if functions else []
    return onnx.helper.make_model(
        graph, opset_imports=operators, functions=functions, ir_version=10
    )
