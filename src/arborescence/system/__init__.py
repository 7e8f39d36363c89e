"""Files, locks, processes, and values that are loaded or computed at their first use."""
