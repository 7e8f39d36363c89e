import pkgutil
import subprocess
import sys
from importlib import import_module

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


def test_packages_are_there_after_importing():
    script = (
        "import arborescence as arb; "
        "print(arb.treebank.read.__name__, arb.parsers.load.__name__, "
        "arb.drawing.draw_text.__name__, arb.undirected.encode.__name__, "
        "arb.transitions.get_system.__name__); "
        "assert {'treebank', 'torch', 'decode'} <= set(dir(arb))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "read load draw_text encode get_system\n", done.stderr


def test_no_name_is_both_a_module_and_something_else():
    for found in pkgutil.walk_packages(arb.__path__, "arborescence."):
        if found.ispkg and found.name.split(".")[1] not in ("torch", "integrations"):
            package = import_module(found.name)
            modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
            assert not modules & set(getattr(package, "__all__", ())), found.name
