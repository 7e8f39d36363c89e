"""Second-order graph-based parsers: siblings and grandparents have features, too."""
