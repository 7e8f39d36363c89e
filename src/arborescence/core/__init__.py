"""The ground that all families stand on: input, errors, head vectors, exact sums, compiling."""
