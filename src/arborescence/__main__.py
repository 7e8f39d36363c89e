"""Run the command line: `python -m arborescence` is the same as the command `arborescence`."""

from arborescence.cli import main

if __name__ == "__main__":
    main()
