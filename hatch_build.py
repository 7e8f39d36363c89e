"""Build hooks: with ``ARBORESCENCE_NATIVE=1``, a wheel brings its kernels compiled.

Such a wheel needs NumPy alone, and runs on CPython 3.11 and later. Without the setting nothing is
compiled, the wheel is the same for all platforms, and it needs Numba too.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

NATIVE = os.environ.get("ARBORESCENCE_NATIVE", "0") not in ("", "0")


class NativeModules(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the native modules to a wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what building the modules needs."""
        return list(self.config["dependencies-of-native"]) if NATIVE else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the modules, if they are wanted, and say where they belong."""
        if not NATIVE or version == "editable":
            return
        sys.path.insert(0, self.root)
        from native.build import build

        for module in build(Path(self.directory) / "native", say=self.app.display_info):
            build_data["force_include"][str(module)] = f"arborescence/{module.name}"
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform}"


class Dependencies(MetadataHookInterface):
    """States what the package needs: Numba only if its kernels are not compiled."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the dependencies."""
        jit = [] if NATIVE else metadata["optional-dependencies"]["jit"]
        metadata["dependencies"] = [*self.config["dependencies"], *jit]
