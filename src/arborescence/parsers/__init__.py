"""Trainable parsers, behind one interface."""
