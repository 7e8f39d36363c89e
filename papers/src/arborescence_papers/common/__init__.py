"""Shared parts of the experiments: treebanks, training, score files, statistics, reports, plots."""
