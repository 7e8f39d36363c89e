"""Tiny pretrained encoders with random weights, made by the package transformers itself."""

from __future__ import annotations

WORDS = ["birds", "sing", "trees", "grow", "cats", "see", "songs", "began", "hear", "old", "of"]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, ".", "!", "un", "##der"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PIECES += [*LETTERS, *(f"##{letter}" for letter in LETTERS)]
#: The sizes of an encoder of two layers.
SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}


def make_bert(folder, room=32, seed=1, kind="Bert", **changed):
    """A BERT of two layers; its words are cut into pieces of WordPiece. Returns the folder.

    With another kind of encoder, and changes of its configuration: with the same tokenizer.
    """
    import torch
    import transformers

    vocabulary = folder / "vocab.txt"
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary.write_text("\n".join(PIECES))
    tokenizer = transformers.BertTokenizer(str(vocabulary), model_max_length=room)
    tokenizer.save_pretrained(folder)
    sizes = {"vocab_size": len(PIECES), "max_position_embeddings": room}
    config = getattr(transformers, f"{kind}Config")(**sizes | (changed or SMALL))
    torch.manual_seed(seed)
    getattr(transformers, f"{kind}Model")(config).save_pretrained(folder)
    return folder


def make_roberta(folder, room=32):
    """A RoBERTa; its first two places stand for padding."""
    padded = {"max_position_embeddings": room + 2, "pad_token_id": 1}
    return make_bert(folder, room, kind="Roberta", **SMALL, **padded)


def make_electra(folder, room=32):
    """An ELECTRA."""
    return make_bert(folder, room, kind="Electra", **SMALL, embedding_size=SMALL["hidden_size"])


def make_distilbert(folder, room=32):
    """A DistilBERT, whose sizes have other names."""
    return make_bert(folder, room, kind="DistilBert", dim=16, n_layers=2, n_heads=2, hidden_dim=32)


def make_mpnet(folder, room=32):
    """An MPNet with its own tokenizer, which has the special pieces of RoBERTa."""
    import torch
    import transformers

    make_bert(folder, room=room)
    renamed = {"[CLS]": "<s>", "[SEP]": "</s>", "[PAD]": "<pad>", "[MASK]": "<mask>"}
    vocabulary = {renamed.get(piece, piece): number for number, piece in enumerate(PIECES)}
    tokenizer = transformers.MPNetTokenizer(vocab=vocabulary, model_max_length=room)
    tokenizer.save_pretrained(folder)
    config = transformers.MPNetConfig(
        vocab_size=len(PIECES),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=room + 2,
        pad_token_id=1,
    )
    torch.manual_seed(1)
    model = transformers.MPNetModel(config)
    with torch.no_grad():  # larger than at the start of training, so that distances matter
        model.encoder.relative_attention_bias.weight.normal_()
    model.save_pretrained(folder)
    return folder
