"""Without the extra a sentence names it, and nothing else needs it."""

import subprocess
import sys

import pytest

from tests.test_imports import loaded_by


@pytest.mark.parametrize("library", ["rasterio", "shapely"])
def test_missing_library_is_named_with_the_extra(library):
    code = f"import sys; sys.modules['{library}'] = None\n"
    code += "from tacit.errors import MissingExtraError\n"
    code += "try:\n    import tacit.raster\nexcept MissingExtraError as error:\n    print(error)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"tacit.raster needs the library {library}" in said.stdout
    assert "pip install 'tacit-learn[raster]'" in said.stdout


def test_command_tells_of_the_missing_extra(tmp_path):
    code = (
        "import sys; sys.modules['rasterio'] = None; sys.argv = ['tacit', 'evaluate', 'a', 'b']\n"
    )
    code += "from tacit.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: tacit.raster needs the library rasterio")


def test_vectors_wait_until_they_are_needed():
    found = loaded_by("import tacit.raster")
    assert "rasterio" in found
    assert "pyogrio" not in found
