"""What tests share with the examples in the sources: their number at once, and less garbage."""

import gc
import os
from importlib.util import find_spec

# Compiling makes millions of objects that live for a while: looking for garbage among them less
# often saves a fourteenth of the time.
gc.set_threshold(50_000, 20, 20)


def pytest_xdist_auto_num_workers():
    """One worker more than cores, as some wait for what others compile; each may take 2 GB."""
    return min(os.cpu_count() or 1, 8) + 1


# What cannot be imported without its package has no examples to run there either.
collect_ignore = [] if find_spec("spacy") else ["src/arborescence/integrations/spacy"]
