"""Scores in, trees out: checks and errors of both, and the arithmetic that all families share."""
