"""Build the native modules of a wheel; not part of what is installed."""
