"""Build hooks: with ``ARBORESCENCE_NATIVE=1``, a wheel brings its kernels compiled.

Such a wheel needs NumPy alone, and runs on CPython 3.11 and later. ``ARBORESCENCE_NATIVE=aarch64``
compiles them for Linux on ARM, on any machine. Without the setting nothing is compiled, and the
wheel is the same for all platforms: installers take it only where no native one fits, so it needs
Numba too. A native wheel says the same by a marker, since tools that fix versions for several
platforms read what one wheel needs.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

NATIVE = os.environ.get("ARBORESCENCE_NATIVE", "").strip("0")
MACHINE = NATIVE.strip("1")  # another one than this, if any


class NativeModules(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the native modules to a wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what building the modules needs."""
        needed = list(self.config["dependencies-of-native"]) if NATIVE else []
        return needed + list(self.config["dependencies-of-cross"]) if MACHINE else needed

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the modules, if they are wanted, and say where they belong."""
        if not NATIVE or version == "editable":
            return
        sys.path.insert(0, self.root)
        from native.build import GLIBC, build

        say = self.app.display_info
        for module in build(Path(self.directory) / "native", machine=MACHINE, say=say):
            build_data["force_include"][str(module)] = f"arborescence/{module.name}"
        platform = f"manylinux-{GLIBC}-{MACHINE}" if MACHINE else sysconfig.get_platform()
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{re.sub('[-.]', '_', platform)}"


class Dependencies(MetadataHookInterface):
    """States what the package needs: Numba only where its kernels are not compiled."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the dependencies."""
        where = f"; {self.config['without-native']}" if NATIVE else ""
        jit = [f"{each}{where}" for each in metadata["optional-dependencies"]["jit"]]
        metadata["dependencies"] = [*self.config["dependencies"], *jit]
