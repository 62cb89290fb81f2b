"""Settings of the test run that must stand before the package is imported."""

import hashlib
import os
from pathlib import Path

import hypothesis

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


os.environ.setdefault("NUMBA_CACHE_DIR", _kernel_cache())
os.environ.setdefault("MPLBACKEND", "agg")
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # lets scikit-learn run all of its checks

# The first example of a run may compile kernels, and others may use the machine: nothing is timed.
# CI tries the same examples each time, others try new ones; `--hypothesis-profile thorough` tries
# many.
untimed = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("local", **untimed)
hypothesis.settings.register_profile("ci", **untimed, derandomize=True)
hypothesis.settings.register_profile("thorough", **untimed, max_examples=1000)
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "local")
