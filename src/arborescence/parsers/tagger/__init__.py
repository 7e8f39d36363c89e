"""A part-of-speech tagger: a linear model, word by word."""
