"""Treebanks in another annotation scheme: a conversion that is learned from sentences with both."""
