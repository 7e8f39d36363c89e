"""What several kinds of parsers have in common: features, learning, model files."""
