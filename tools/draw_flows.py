"""Draw what happens in a fit, a prediction and an export: `python tools/draw_flows.py`.

Each flow runs once on a small table. A picture lists the functions that are called from another
module of the package, in their order, each once, down to the compiled kernels.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numba.core.dispatcher import Dispatcher

import hyperboxes
from hyperboxes import BoostedHyperboxes, ImprovedOnlineGFMM, export_sql

PICTURES = Path(__file__).parents[1] / "docs"
PACKAGE = Path(hyperboxes.__file__).parent
NOT_SHOWN = ("_compiling.py", "_docstrings.py", "__init__.py", "_kernels/jit.py")
COLOURS = {
    "_readers": "#fbe3c8",
    "_files": "#fbe3c8",
    "_estimators": "#d9e8f6",
    "_learning": "#dcefdc",
    "_models": "#f4f0c9",
    "_kernels": "#e8dcf0",
}
ROW, STEP, WIDTH = 22, 22, 640  # pixels of a line, of its indentation, and of the picture


class Call(NamedTuple):
    """The first call of a function from another module."""

    depth: int
    module: str
    name: str


class Tracer:
    """Lists the calls between modules of the package."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._stack: list[tuple[Any, str, int]] = []  # frames of the package, modules and depths

    def note(self, frame: Any, event: str, _: Any) -> None:
        """Follow a call or a return (`sys.setprofile`)."""
        if event == "return" and self._stack and self._stack[-1][0] is frame:
            self._stack.pop()
        path = Path(frame.f_code.co_filename)
        if event != "call" or not path.is_relative_to(PACKAGE):
            return
        module, name = path.relative_to(PACKAGE).as_posix(), frame.f_code.co_qualname
        is_hidden = module in NOT_SHOWN or "<" in name or "__" in name or is_property(frame)
        if not is_hidden:
            self._stack.append((frame, module, self.add(module, name)))

    def add(self, module: str, name: str) -> int:
        """Add a function that another module calls, if it is not listed yet; return its depth."""
        caller, depth = self._stack[-1][1:] if self._stack else ("", -1)
        if caller == module:
            return depth
        call = Call(depth + 1, module.removesuffix(".py"), name)
        if not any(known[1:] == call[1:] for known in self.calls):
            self.calls.append(call)
        return depth + 1


def is_property(frame: Any) -> bool:
    """Whether a frame is that of a property."""
    cls = type(frame.f_locals.get("self"))
    return isinstance(getattr(cls, frame.f_code.co_name, None), property)


@contextmanager
def kernels_seen_by(tracer: Tracer) -> Iterator[None]:
    """Have calls of kernels, which Python cannot follow, added to those of a tracer."""

    def watch(kernel: Any) -> Callable[..., Any]:
        module = kernel.py_func.__module__.removeprefix("hyperboxes.").replace(".", "/") + ".py"

        def call(*args: Any) -> Any:
            tracer.add(module, kernel.py_func.__qualname__)
            return kernel(*args)

        return call

    patches = [
        patch.object(module, name, watch(value))
        for title, module in list(sys.modules.items())
        if title.startswith("hyperboxes._kernels.")
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher) and value.py_func.__module__ == title
    ]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


def trace(run: Callable[[], Any]) -> list[Call]:
    """Return the calls of a flow, which runs once before, so that nothing is imported in it."""
    run()
    tracer = Tracer()
    with kernels_seen_by(tracer):
        sys.setprofile(tracer.note)
        try:
            run()
        finally:
            sys.setprofile(None)
    return tracer.calls


def flows() -> dict[str, tuple[str, Callable[[], Any]]]:
    """Return title and function of each flow, by the name of its picture."""
    X = np.random.default_rng(0).random((60, 2))
    y = (X[:, 0] > 0.5).astype(int)
    online = ImprovedOnlineGFMM(calibrate=False, random_state=0)
    fitted = ImprovedOnlineGFMM(random_state=0).fit(X, y)
    boosted = BoostedHyperboxes(3, random_state=0).fit(X, y)
    return {
        "flow-fit": ("ImprovedOnlineGFMM.fit", lambda: online.fit(X, y)),
        "flow-predict": ("ImprovedOnlineGFMM.predict_proba", lambda: fitted.predict_proba(X)),
        "flow-sql": ("export_sql of BoostedHyperboxes", lambda: export_sql(boosted)),
    }


def draw(title: str, calls: list[Call]) -> str:
    """Return the picture of a flow: a line for each call, coloured by folder."""
    lines = []
    for number, call in enumerate(calls, 1):
        x, y = 8 + STEP * call.depth, ROW * (number + 1)
        colour = COLOURS.get(call.module.partition("/")[0], "#eeeeee")
        name, module = html.escape(call.name), html.escape(call.module)
        lines += [
            f'<rect x="{x}" y="{y - 15}" width="{WIDTH - 16 - x}" height="19" fill="{colour}"/>',
            f'<text x="{x + 6}" y="{y}">{name}</text>',
            f'<text x="{WIDTH - 16}" y="{y}" text-anchor="end" fill="#555">{module}</text>',
        ]
    height = ROW * (len(calls) + 2)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
    return "\n".join(
        [
            f'{head} width="{WIDTH}" font-family="sans-serif" font-size="13">',
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
            f'<text x="8" y="18" font-weight="bold">{html.escape(title)}</text>',
            *lines,
            "</svg>\n",
        ]
    )


def main() -> None:
    """Draw all flows."""
    for name, (title, run) in flows().items():
        (PICTURES / f"{name}.svg").write_text(draw(title, trace(run)), encoding="utf-8")


if __name__ == "__main__":
    main()
