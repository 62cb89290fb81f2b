"""Mathematics becomes MathML, which browsers draw by themselves, without script or network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

# Browsers leave a wide gap between a function's name and the bracket after it.
_NAME_BEFORE_BRACKET = re.compile(r"<mo>(\w+)</mo>(?=\s*<mo [^>]*>\()")


def draw_inline(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(_to_mathml(node, as_block=False))
    raise nodes.SkipNode


def draw_block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    formula = _to_mathml(node, as_block=True)
    writer.body.append(f"{writer.starttag(node, 'div', CLASS='formula')}{formula}</div>\n")
    raise nodes.SkipNode


def _to_mathml(node: nodes.Element, *, as_block: bool) -> str:
    """Translate a formula; a warning, which ends the build, if docutils cannot."""
    try:
        formula = tex2mathml(node.astext(), as_block=as_block)
        return _NAME_BEFORE_BRACKET.sub(r'<mo lspace="0.17em" rspace="0">\1</mo>', formula)
    except MathError as error:
        logger.warning("no MathML for %r: %s", node.astext(), error, location=node)
        return ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer that conf.py names."""
    app.add_html_math_renderer("mathml", (draw_inline, None), (draw_block, None))
    return {"parallel_read_safe": True}
