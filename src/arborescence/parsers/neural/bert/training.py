"""The BERT of a model file in PyTorch, for further training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arborescence.errors import MissingExtraError, ModelError
from arborescence.parsers.neural.bert.encoder import TOKENIZER
from arborescence.parsers.neural.bert.weights import MIX, PREFIX
from arborescence.parsers.neural.encoder import Encoder

if TYPE_CHECKING:
    from arborescence.parsers.neural.bert.encoder import BertEncoder


def in_pytorch(encoder: BertEncoder) -> Encoder:
    """Return an encoder to be fine-tuned; ModelError if it is an MPNet.

    MissingExtraError if a package is missing.
    """
    import torch

    if encoder.sizes.distances:
        raise ModelError("the encoder is an MPNet, not a BERT: it cannot be trained further")
    try:
        import tokenizers
        import transformers
    except ImportError as error:
        raise MissingExtraError(
            "training that continues from this model needs the package transformers: install it "
            "with `pip install 'arborescence[transformers]'`"
        ) from error
    sizes = encoder.sizes
    model = transformers.BertModel(
        transformers.BertConfig(
            vocab_size=sizes.pieces,
            hidden_size=sizes.size,
            num_hidden_layers=sizes.depth,
            num_attention_heads=sizes.heads,
            intermediate_size=sizes.inner,
            max_position_embeddings=sizes.positions,
            type_vocab_size=sizes.types,
            layer_norm_eps=sizes.epsilon,
        ),
        add_pooling_layer=False,
    )
    weights = {
        name.removeprefix(PREFIX): torch.from_numpy(array)
        for name, array in encoder.weights().items()
        if name != MIX
    }
    model.load_state_dict(weights, strict=True)
    fields = encoder.to_file()
    cutter: Any = tokenizers.Tokenizer.from_str(encoder.arrays[TOKENIZER].tobytes().decode())
    special = {"unk_token": fields["unknown"]}
    special = {name: cutter.id_to_token(number) for name, number in special.items() if number}
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=cutter, model_max_length=fields["room"], **special
    )
    return Encoder(encoder.name, model, tokenizer, layers=1, fine_tune=True)
