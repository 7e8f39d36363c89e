"""Run the tests that wait for something many times, beside busy processes: `make test-races`.

What is left to chance in them shows: a wait that is too short, a signal that comes early.
"""

import os
import subprocess
import sys
from pathlib import Path

BUSY = "import os\nwhile os.getppid() == {}: pass"
PYTEST = [sys.executable, "-m", "pytest", "-m", "races", "-q", "-p", "no:cacheprovider"]
COUNT = 4  # busy processes


def files():
    """Return the files of such tests: to import all others takes as long as a part of these."""
    found = sorted(Path(__file__).parent.rglob("test_*.py"))
    return [str(file) for file in found if "mark.races" in file.read_text(encoding="utf-8")]


def main():
    rounds, *options = sys.argv[1:]
    command = [*PYTEST, *files()]
    busy = [sys.executable, "-c", BUSY.format(os.getpid())]
    others = [subprocess.Popen(busy) for _ in range(COUNT)]
    failures = 0
    try:
        for number in range(1, int(rounds) + 1):
            done = subprocess.run([*command, *options], capture_output=True, text=True)
            if done.returncode:
                failures += 1
                print(done.stdout, done.stderr)
            last = done.stdout.strip().splitlines()[-1:]
            print(f"round {number}: {failures} failed; {' '.join(last)}", flush=True)
    finally:
        for each in others:
            each.kill()
    print(f"{failures} of {rounds} rounds failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
