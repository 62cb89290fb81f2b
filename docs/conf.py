"""Settings of the documentation site, which `make docs` builds in docs/_build.

Pages are Markdown that can be read in the repository too; neither the build nor the site needs a
network.
"""

import os
import sys
from pathlib import Path
from typing import Any

from numpydoc.docscrape_sphinx import SphinxDocString

import hyperboxes

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]  # the latter for `tests`
os.environ.setdefault("MPLBACKEND", "agg")

project = "hyperboxes"
author = "The hyperboxes developers"
copyright = author
version = release = hyperboxes.__version__

extensions = [
    "command_help",
    "myst_parser",
    "numpydoc",
    "offline_site",
    "outside_pages",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "static_math",
    "strict_gallery",
    "trimmed_blocks",
]
exclude_patterns = ["_build", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
default_role = "code"
highlight_language = "none"  # code says what it is
smartquotes = False  # docstrings show quotes that are meant to be typed
toc_object_entries_show_parents = "hide"
nitpicky = True
nitpick_ignore = [("py:obj", "joblib.parallel_config")]  # other projects' pages are not fetched

# --- Pages

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

# --- The reference

autosummary_generate = True
autodoc_typehints = "none"  # docstrings have the types
numpydoc_show_class_members = False  # the template lists them
# What a class says of an attribute is more than the first line of the property of that name.
_process = SphinxDocString._process_param
SphinxDocString._process_param = lambda self, name, text, _: _process(self, name, text, False)


def hide_signature(_app: Any, what: str, _name: str, thing: Any, *_: Any) -> tuple[str, str] | None:
    """Leave out how to make what users do not make: its docstring has no parameters."""
    if what == "class" and "Parameters\n" not in (thing.__doc__ or ""):
        return "", ""
    return None


def find_in_package(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Resolve the names of `hyperboxes` in the docstrings of its modules."""
    if node.get("refdomain") != "py" or node["reftarget"].startswith("hyperboxes."):
        return None
    name = f"hyperboxes.{node['reftarget']}"
    return env.get_domain("py").resolve_xref(
        env, node["refdoc"], app.builder, node["reftype"], name, node, content
    )


def setup(app: Any) -> None:
    """Connect them."""
    app.connect("autodoc-process-signature", hide_signature)
    app.connect("missing-reference", find_in_package)


# --- The gallery

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("hyperboxes",),
    "reference_url": {"hyperboxes": None},
    "download_all_examples": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "show_memory": False,
    "min_reported_time": float("inf"),  # how long a script took is no news
    "show_signature": False,
    "capture_repr": ("_repr_html_",),  # what is worth seeing is printed
}

# --- The site

html_theme = "pydata_sphinx_theme"
html_title = "hyperboxes"
html_math_renderer = "mathml"  # of static_math
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "changelog": []}
