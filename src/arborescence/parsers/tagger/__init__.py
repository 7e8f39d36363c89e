"""A part-of-speech tagger: greedy left-to-right tagging with log-linear models."""
