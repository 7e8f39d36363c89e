"""The best trees, of the family that a caller asks for: crossing edges allowed, or not."""
