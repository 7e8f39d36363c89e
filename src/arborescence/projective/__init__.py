"""Projective trees: those whose edges can be drawn above the sentence without crossing."""
