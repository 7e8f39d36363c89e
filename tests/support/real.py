"""Where real treebanks are, on machines that have them; tests are skipped on others."""

from pathlib import Path

TREEBANKS = Path(__file__).parents[3] / "shared" / "ud"
