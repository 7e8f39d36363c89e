"""Shared by several kinds of parsers: features, online learning, model files."""
