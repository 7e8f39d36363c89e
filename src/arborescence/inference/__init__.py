"""The best tree, the k best trees and constrained search, non-projective or projective."""
