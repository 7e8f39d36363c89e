"""Search for patterns over trees, in the notation of Grew (Guillaume 2021)."""
