"""Experiments of the papers that this library implements: a module for each that is reproduced.

On the command line: ``arborescence experiment``.
"""
