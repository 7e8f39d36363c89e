"""Arborescence inside the tools that people already have."""
