"""Transition-based parsers with a linear model and rich features (Zhang and Nivre 2011)."""
