"""How sphinx-gallery shows and runs the examples: in a set order, and as strictly as tests are run.

A warning, a figure that cannot be read or a file left behind ends the build.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx_gallery.scrapers import matplotlib_scraper

from tests.figures import assert_legible

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
ORDER = [
    "first_model",
    "first_hour",
    "rules",
    "explaining",
    "probabilities",
    "learners",
    "family",
    "contentious",
    "boosted",
    "lens",
    "ensembles",
    "tuning",
    "drift",
    "categories",
    "missing_values",
    "few_labels",
    "clustering",
    "intervals",
    "merging",
    "pruning",
    "large_data",
    "dask",
]


def place(filename: str) -> int:
    """Return the place of an example in the gallery."""
    name = Path(filename).stem.removeprefix("plot_")
    if name not in ORDER:
        raise ExtensionError(f"{name!r} has no place in the ORDER of docs/_ext/strict_gallery.py")
    return ORDER.index(name)


class Strictness:
    """Turn warnings into errors while an example runs, and look for what it leaves behind."""

    def __call__(self, _conf: dict[str, Any], script: str | None, when: str) -> None:
        """Begin before a script, end after it; folders come here too."""
        if not str(script).endswith(".py"):
            return
        if when == "before":
            self.files = set(GALLERY.iterdir())
            self.filters = warnings.catch_warnings()
            self.filters.__enter__()
            warnings.simplefilter("error")
            warnings.simplefilter("default", DeprecationWarning)  # of other packages' making
            warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        else:
            self.filters.__exit__(None, None, None)
            left = set(GALLERY.iterdir()) - self.files
            del self.filters, self.files  # Sphinx pickles its settings
            if left:
                raise ExtensionError(f"{script} leaves {', '.join(map(str, left))} behind")


def _get_sg_image_scraper() -> Callable[..., str]:
    """Return what sphinx-gallery calls after each block of code."""

    def scrape(block: Any, block_vars: dict[str, Any], conf: dict[str, Any]) -> str:
        for number in plt.get_fignums():
            assert_legible(plt.figure(number))
        return matplotlib_scraper(block, block_vars, conf)

    return scrape


def configure(_app: Sphinx, config: Any) -> None:
    """Tell sphinx-gallery."""
    config.sphinx_gallery_conf |= {
        "within_subsection_order": "strict_gallery.place",
        "image_scrapers": "strict_gallery",
        "reset_modules": ("matplotlib", Strictness()),
        "reset_modules_order": "both",
        "run_stale_examples": True,  # scripts do not change when the package does
    }


def setup(app: Sphinx) -> dict[str, Any]:
    """Register it to be called before sphinx-gallery reads its settings."""
    app.connect("config-inited", configure, priority=1)
    return {"parallel_read_safe": True}
