"""Reranking of k-best lists by features of whole trees (Charniak and Johnson 2005)."""
