"""All benchmarks, one after the other: ``python benchmarks``."""

import decoding
import growth
import parsing

decoding.main()
growth.main()
parsing.main()
