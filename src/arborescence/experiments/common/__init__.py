"""What all experiments share: treebanks, scores, measures, statistics, reports."""
