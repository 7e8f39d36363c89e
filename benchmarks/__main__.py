"""All benchmarks, one after the other: ``python benchmarks``."""

import decoding
import growth
import kbest
import parsing

decoding.main()
growth.main()
kbest.main()
parsing.main()
