"""A tiny BERT in a model file with its tokenizer, made by hand: no training, no PyTorch."""

import json

import numpy as np

from arborescence.parsers.neural.bert import weights
from arborescence.parsers.neural.bert.blocks import Bits

LAYERS, SIZE = 2, 4
FIELDS = {"format": "bert", "name": "tiny", "room": 32, "unknown": 1}
SIZES = {"pieces": 20, "positions": 32, "types": 2, "size": SIZE, "inner": 16, "depth": 2}
SIZES |= {"heads": 2, "epsilon": 1e-12, "distances": 0}
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


def arrays_of(tokenizer=BERT, bits=None, **changed):
    """The arrays of a model file with random weights; the tokenizer is JSON, or bytes."""
    rng = np.random.default_rng(0)
    shapes = weights.shapes_of(weights.BertSizes(**SIZES | changed))
    floats = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    text = tokenizer if isinstance(tokenizer, bytes) else json.dumps(tokenizer).encode()
    shares = np.full((LAYERS, (SIZES | changed)["depth"] + 1), 0.25, dtype=np.float32)
    own = {weights.MIX: shares, "tokenizer": np.frombuffer(text, np.uint8)}
    return weights.to_arrays(floats, bits and Bits(bits, bits, 16)) | own
