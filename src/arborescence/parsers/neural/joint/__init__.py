"""One network for treebanks of many languages: a fine-tuned encoder, and small layers above it."""
