"""Transition systems and their oracles."""
