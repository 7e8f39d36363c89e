"""The tables and charts of docs/performance.md and README."""
