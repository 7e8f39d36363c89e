"""Reranking of k-best lists by features of whole trees."""
