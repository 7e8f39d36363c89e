"""Experiments of the papers that Arborescence implements, and one of our own, on rules.

On the command line: ``arborescence experiment``.
"""
