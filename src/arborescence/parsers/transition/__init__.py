"""Transition-based parsers with a linear model (Zhang and Nivre 2011)."""
