"""Settings of the test run that must stand before the package is imported."""

import hashlib
import os
from functools import wraps
from importlib.util import find_spec
from pathlib import Path

import hypothesis

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

ROOT = Path(__file__).parent

# Those who test need not have what builds the documentation.
collect_ignore = ["docs/conf.py"]


def _kernel_cache() -> str:
    """Return a Numba cache folder of its own for each state of the kernel sources.

    The Makefile does the same; this serves those who call pytest directly.
    """
    sources = sorted((ROOT / "src/hyperboxes/_kernels").glob("*.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources))
    return str(ROOT / ".numba_cache" / digest.hexdigest()[:12])


def _compile_each_kernel_once() -> None:
    """Have a process wait for a kernel that another one compiles, and load it from the cache."""
    from numba.core.dispatcher import Dispatcher  # reads the cache folder when it is imported

    compile_or_load = Dispatcher.compile

    @wraps(compile_or_load)
    def wait_and_compile(self, signature):
        folder = self._cache.cache_path
        if folder is None:
            return compile_or_load(self, signature)
        Path(folder).mkdir(parents=True, exist_ok=True)
        with Path(folder, f"{self.py_func.__qualname__}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return compile_or_load(self, signature)

    Dispatcher.compile = wait_and_compile


os.environ.setdefault("NUMBA_CACHE_DIR", _kernel_cache())
os.environ.setdefault("MPLBACKEND", "agg")
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # lets scikit-learn run all of its checks
if fcntl is not None:
    _compile_each_kernel_once()

# Files that run only where a package or a module of newer releases is installed: `make test-oldest`
# goes without.
NEEDED_BY = {
    "dask": [
        "src/hyperboxes/dask/*",
        "tests/test_capabilities.py",
        "tests/test_dask*.py",
        "docs/dask.md",
    ],
    "river": [
        "src/hyperboxes/river.py",
        "tests/test_river.py",
        "docs/river.md",
        "docs/streams.md",
    ],
    "sklearn.callback": ["tests/test_progress.py", "docs/streams.md"],
    "sklearn.externals.array_api_compat": ["src/hyperboxes/literature/matrix.py"],
}
collect_ignore_glob = [
    pattern
    for module, patterns in NEEDED_BY.items()
    if find_spec(module) is None
    for pattern in patterns
]

# The first example of a run may compile kernels, and others may use the machine: nothing is timed.
# CI tries the same examples each time, others try new ones; `--hypothesis-profile thorough` tries
# many.
untimed = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("local", **untimed)
hypothesis.settings.register_profile("ci", **untimed, derandomize=True)
hypothesis.settings.register_profile("thorough", **untimed, max_examples=1000)
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "local")
