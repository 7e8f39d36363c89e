"""How often parsers break the rules of Universal Dependencies, and what keeping them gives."""

from arborescence_papers.rules.reproduce import reproduce

__all__ = ["reproduce"]
