"""First-order graph-based parsers with a linear model (McDonald et al. 2005)."""
