"""`python -m arborescence` is the command `arborescence`."""

from arborescence.cli import main

if __name__ == "__main__":
    main()
