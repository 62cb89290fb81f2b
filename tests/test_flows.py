"""The pictures of CONTRIBUTING: what they name exists, and they can be drawn again."""

import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

from tools.draw_flows import draw, flows, trace

ROOT = Path(__file__).parent.parent
LINE = re.compile(r'<text x="\d+" y="\d+">(.*)</text>\n<text .*>(.*)</text>')


@pytest.mark.parametrize("name", flows())
def test_pictures_name_functions_of_the_package(name):
    picture = (ROOT / "docs" / f"{name}.svg").read_text(encoding="utf-8")
    lines = LINE.findall(picture)
    assert len(lines) > 10
    for function, module in lines:
        assert attrgetter(function)(import_module(f"hyperboxes.{module.replace('/', '.')}"))


def test_a_fit_reaches_its_kernel():
    title, run = flows()["flow-fit"]
    calls = trace(run)
    assert ("_kernels/online", "learn") in {call[1:] for call in calls}
    assert len(LINE.findall(draw(title, calls))) == len(calls)
