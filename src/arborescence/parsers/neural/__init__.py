"""Neural parsers: trained with PyTorch, run without it (Dozat and Manning 2017)."""
