import subprocess
import sys

import pytest

import arborescence as arb


@pytest.mark.parametrize("name", arb.__all__)
def test_every_public_name_is_there_and_described(name):
    assert getattr(arb, name).__doc__


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="'arborescence' has no attribute 'decoder'"):
        _ = arb.decoder


def test_importing_loads_nothing_heavy():
    script = "import arborescence, sys; print({'numpy', 'numba', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


def test_without_torch_the_extra_is_named():
    script = "import sys; sys.modules['torch'] = None; import arborescence.torch"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "MissingExtraError" in done.stderr
    assert "pip install 'arborescence[torch]'" in done.stderr
