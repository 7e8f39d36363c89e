"""Experiments of the papers that this library implements, one package for each paper.

On the command line: ``arborescence experiment``.
"""
