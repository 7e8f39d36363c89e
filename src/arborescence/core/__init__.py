"""Code shared by all families: input checks, errors, head vectors, exact sums, compiling."""
