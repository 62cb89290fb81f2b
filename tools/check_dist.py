"""Check a built wheel and sdist: what is in them, and that the tests pass against the wheel alone.

`make dist` builds both and runs this. Usage: `python tools/check_dist.py dist [pytest arguments]`.
The tests come from the sdist, without its `src`, so that nothing but the wheel can be imported.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
PYTEST = ["-m", "pytest", "-c", "pyproject.toml", "--numprocesses", "logical", "--dist", "loadfile"]
SUITE = ["--pyargs", "hyperboxes", "tests", "docs", "README.md"]


def check_wheel(wheel: Path) -> None:
    """Stop unless the wheel holds all files of the package, and of others only its metadata."""
    expected = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*") if is_kept(path)}
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    if different := sorted(found ^ expected):
        raise SystemExit(f"{wheel.name} and src differ in: {', '.join(different)}")
    if "hyperboxes/py.typed" not in found:
        raise SystemExit(f"{wheel.name} has no py.typed, so that type checkers ignore it")


def is_kept(path: Path) -> bool:
    """Tell the package's files from what running it leaves behind."""
    return path.is_file() and "__pycache__" not in path.parts


def unpack(sdist: Path, folder: Path) -> Path:
    """Unpack the sdist without the package: what is left must do to test the wheel."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    shutil.rmtree(root / "src")
    return root


def install(wheel: Path, folder: Path) -> Path:
    """Make an environment with the wheel and what its tests need, and return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, f"hyperboxes[test] @ {wheel.resolve().as_uri()}"], check=True)
    return python


def check_origin(python: Path, tests: Path, environment: dict[str, str]) -> None:
    """Stop unless the tests would import the installed package."""
    code = "import hyperboxes; print(hyperboxes.__file__)"
    command = [python, "-c", code]
    run = subprocess.run(
        command, cwd=tests, env=environment, check=True, capture_output=True, text=True
    )
    origin = Path(run.stdout.strip())
    if "site-packages" not in origin.parts or python.parents[1] not in origin.parents:
        raise SystemExit(f"The tests would import {origin}, not the installed wheel")
    print(f"Testing {origin.parent}", flush=True)


def main() -> int:
    """Check the one wheel and the one sdist in a folder."""
    (wheel,), (sdist,) = (list(Path(sys.argv[1]).glob(name)) for name in ("*.whl", "*.tar.gz"))
    check_wheel(wheel)
    ours = {"PYTHONPATH", "NUMBA_CACHE_DIR"}  # they may lead back to the checkout
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder).resolve()
        tests = unpack(sdist, temporary / "sdist")
        python = install(wheel, temporary / "venv")
        check_origin(python, tests, environment)
        pytest = [python, *PYTEST, *(sys.argv[2:] or SUITE)]
        return subprocess.run(pytest, cwd=tests, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
