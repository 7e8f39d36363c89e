"""Files, locks and processes, and what is loaded or computed at its first use."""
