"""What the build finds by itself: the folders of the package. All settings are in pyproject.toml.

The build removes what an older one left in ``build/lib``: setuptools would pack it, too.
"""

import shutil

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py


class FreshBuild(build_py):
    """Copies the modules into an empty folder; this file is no module, though it lies in the folder of the package."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """Return (package, module, file) of the modules of a package."""
        return [found for found in super().find_package_modules(package, package_dir) if found[1] != "setup"]

    def run(self) -> None:
        """Remove the folder of an older build, then build."""
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


LAYERS = ("models", "instances", "backends", "heuristics", "methods", "simulation", "bench")

if __name__ == "__main__":
    folders = find_packages(include=[pattern for layer in LAYERS for pattern in (layer, f"{layer}.*")])
    setup(packages=["schedlab", *(f"schedlab.{name}" for name in folders)], cmdclass={"build_py": FreshBuild})
