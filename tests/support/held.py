"""`parse --shards`, whose processes wait where a file is written and not yet in its place."""

import os
import signal
import sys
import threading
from pathlib import Path

from arborescence.cli import main, shards
from arborescence.system import workers


class Unchanged:
    """A parser that is loaded at once, and leaves the trees as they are."""

    projective = False

    def parse(self, sentences, **_options):
        """Yield the sentences."""
        return iter(sentences)


class Held(shards.FileParser):
    """Parses a file, says ``held`` and the number of its process, and waits for ever.

    `HELD` says how: ``waiting``; ``deaf``, so that it does not notice when it has to stop; or
    ``once FILE``, unless that file, which gets the number, is there.
    """

    def __init__(self, options, rules):
        if not os.environ["HELD"].startswith("once"):
            shards.loaded = lambda _options: Unchanged()
        super().__init__(options, rules)

    def _counted(self, found):
        yield from super()._counted(found)
        how, _, file = os.environ["HELD"].partition(" ")
        if file and Path(file).exists():
            return
        if file:
            Path(file).write_text(f"{os.getpid()}\n")
        sys.stderr.write(f"held {os.getpid()}\n")
        if how == "deaf":
            os.kill(os.getpid(), signal.SIGSTOP)
        threading.Event().wait()


def run():
    """Run the command with such processes."""
    shards.FileParser = Held
    if os.environ["HELD"] == "deaf":
        workers._PATIENCE = 0.1
    main()
