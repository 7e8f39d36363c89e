"""The encoder BERT (Devlin et al. 2019) without PyTorch and ONNX: products of bytes."""
