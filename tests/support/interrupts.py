"""The command, so that it can be interrupted."""

import signal
import sys

#: By these, a command is asked to stop, and cleans up.
STOPS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

# A shell that runs the tests in the background has interruptions ignored.
DEFAULTS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
"""
_CODE = f"{DEFAULTS}\nimport runpy; runpy.run_module('arborescence', run_name='__main__')"
INTERRUPTIBLE = [sys.executable, "-c", _CODE]
