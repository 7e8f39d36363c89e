"""Experiments of the papers that this library implements, and one of our own, on rules.

On the command line: ``arborescence experiment``.
"""
