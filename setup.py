"""Builds the Python module by CMake, and packs what it makes (pyproject.toml)."""

import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r"project\(sotto VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())


class CMakeBuild(build_ext):
    """Takes the package that the target sotto_python_package makes."""

    def run(self) -> None:
        build = pathlib.Path(self.build_temp).resolve()
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.run(
            ["cmake", "-S", ROOT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DSOTTO_TESTS=OFF",
             "-DSOTTO_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}"],
            check=True,
        )  # fmt: skip
        subprocess.run(
            ["cmake", "--build", build, "--target", "sotto_python_package", "--parallel"], check=True
        )
        into = ROOT if self.inplace else pathlib.Path(self.build_lib).resolve()
        shutil.copytree(
            build / "python" / "sotto", into / "sotto", dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("__pycache__", "*.stamp"),
        )  # fmt: skip


assert VERSION is not None
setup(version=VERSION.group(1), ext_modules=[Extension("sotto._core", [])], cmdclass={"build_ext": CMakeBuild})
