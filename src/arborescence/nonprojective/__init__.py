"""Directed spanning trees: decoding over all trees, crossing edges allowed."""
