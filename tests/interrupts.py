"""The command, so that it can be interrupted."""

import sys

# A shell that runs the tests in the background has interruptions ignored.
_CODE = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('arborescence', run_name='__main__')"
)
INTERRUPTIBLE = [sys.executable, "-c", _CODE]
