"""Results are typed: what mypy sees at a caller's."""

from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).parent / "support"


@pytest.mark.parametrize("uses", ["typed_uses.py", "typed_uses_of_torch.py"])
def test_types_of_results(uses):
    api = pytest.importorskip("mypy.api")
    if "torch" in uses and not find_spec("torch"):
        pytest.skip("torch is not installed")
    config = ["--config-file", "", "--strict", "--follow-imports", "silent"]
    out, errors, status = api.run([*config, str(TESTS / uses)])
    assert status == 0, out + errors
