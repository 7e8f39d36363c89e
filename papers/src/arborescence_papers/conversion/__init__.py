"""Conversion of old treebanks: how many sentences it needs, and what it is worth."""
