"""Tiny pretrained encoders with random weights, made by the package transformers itself."""

from __future__ import annotations

WORDS = ["birds", "sing", "trees", "grow", "cats", "see", "songs", "began", "hear", "old", "of"]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, ".", "!", "un", "##der"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PIECES += [*LETTERS, *(f"##{letter}" for letter in LETTERS)]


def make_bert(folder, room=32, seed=1):
    """A BERT of two layers; its words are cut into pieces of WordPiece. Returns the folder."""
    import torch
    import transformers

    vocabulary = folder / "vocab.txt"
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary.write_text("\n".join(PIECES))
    tokenizer = transformers.BertTokenizer(str(vocabulary), model_max_length=room)
    tokenizer.save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(PIECES),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=room,
    )
    torch.manual_seed(seed)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def make_roberta(folder, room=32):
    """A RoBERTa with the tokenizer of `make_bert`; its first two places stand for padding."""
    import torch
    import transformers

    make_bert(folder, room=room)
    config = transformers.RobertaConfig(
        vocab_size=len(PIECES),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=room + 2,
        pad_token_id=1,
    )
    torch.manual_seed(1)
    transformers.RobertaModel(config).save_pretrained(folder)
    return folder


def make_electra(folder, room=32):
    """An ELECTRA with the tokenizer of `make_bert`."""
    import torch
    import transformers

    make_bert(folder, room=room)
    config = transformers.ElectraConfig(
        vocab_size=len(PIECES),
        embedding_size=16,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=room,
    )
    torch.manual_seed(1)
    transformers.ElectraModel(config).save_pretrained(folder)
    return folder


def make_distilbert(folder, room=32):
    """A DistilBERT with the tokenizer of `make_bert`."""
    import torch
    import transformers

    make_bert(folder, room=room)
    config = transformers.DistilBertConfig(
        vocab_size=len(PIECES),
        dim=16,
        n_layers=2,
        n_heads=2,
        hidden_dim=32,
        max_position_embeddings=room,
    )
    torch.manual_seed(1)
    transformers.DistilBertModel(config).save_pretrained(folder)
    return folder


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
