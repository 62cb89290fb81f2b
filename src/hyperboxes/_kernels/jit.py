"""Decorators that compile kernels, without the GIL and fast-math, and pointers to named tuples.

The first fit waits for compiling, so each function is compiled once if possible: for one type of
each argument (constants are not types of their own here), for calls from Python only if Python
calls it, and optimised only within the kernels that use it (`numba_pipeline.py`). Passing arrays is
slow to compile as well: a call passes each array as some seven numbers, and each tuple as all of
its arrays. So kernels take named tuples from Python (`structs.py`) and pass them on by pointer; the
fields have the same names, `boxes.index.roots`.
"""

import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit, types, version_info
from numba.core import cgutils, config
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr_generic, models, register_model
from numba.extending import intrinsic as numba_intrinsic

from hyperboxes._compiling import watch_compiling

# The first call of a kernel may compile for a while; there is a notice then.
watch_compiling()

# With HYPERBOXES_CHECK_BOUNDS=1 (`make test-bounds`), an index that is out of range raises
# IndexError. Numba's cache does not distinguish such kernels from others, so they have their own.
CHECK_BOUNDS = os.environ.get("HYPERBOXES_CHECK_BOUNDS") == "1"
if CHECK_BOUNDS:
    folder = vars(config)["CACHE_DIR"] or tempfile.gettempdir()
    vars(config)["CACHE_DIR"] = str(Path(folder) / "check-bounds")

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": CHECK_BOUNDS,
}
_NOT_FROM_PYTHON: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

# The releases of Numba that `numba_pipeline.py` is tested with. Others compile in twice the time.
FIRST_RELEASE, LAST_RELEASE = (0, 62), (0, 68)
_KERNELS: dict[str, Any] = {}
_PARTS: dict[str, Any] = {}
if version_info.short > LAST_RELEASE:
    warnings.warn(
        "Numba {}.{} is newer than this release of hyperboxes: kernels compile in twice the time "
        "(once on this machine), and compute the same".format(*version_info.short),
        RuntimeWarning,
        stacklevel=2,
    )
elif version_info.short >= FIRST_RELEASE:
    from hyperboxes._kernels.numba_pipeline import KernelCompiler, PartCompiler

    # Kernels allocate no arrays, so Numba need not count references.
    _OPTIONS["_nrt"] = False
    _KERNELS["pipeline_class"] = KernelCompiler
    _PARTS["pipeline_class"] = PartCompiler


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, at the first call, and keep the code on disk.

    Where no folder can be written, as in a sealed container or on a full disk, Numba raises an
    error instead of not caching; the function is then compiled in each process.
    """
    options = {**_OPTIONS, **_KERNELS, "no_cfunc_wrapper": True}
    try:
        dispatcher = njit(function, cache=True, **options)
        dispatcher._cache.save_overload = _save_if_possible(dispatcher._cache.save_overload)
    except RuntimeError:
        dispatcher = njit(function, **options)
    return _for_plain_types(dispatcher)


def _save_if_possible(save: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    def save_or_warn(signature: Any, code: Any) -> None:
        try:
            save(signature, code)
        except OSError as error:
            warnings.warn(
                f"Compiled code cannot be saved ({error}), so each process compiles it. Set "
                "NUMBA_CACHE_DIR to a folder with free space.",
                RuntimeWarning,
                stacklevel=2,
            )

    return save_or_warn


def internal(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a function that only kernels call."""
    options |= {**_OPTIONS, **_PARTS, **_NOT_FROM_PYTHON}
    return _for_plain_types(njit(function, **options))


def forceinline(function: Callable[..., Any]) -> Any:
    """Compile a formula of few lines into each kernel that uses it.

    Left to itself, LLVM calls the larger ones, which costs more than they compute.
    """
    return internal(function, forceinline=True)


def inlined(function: Callable[..., Any]) -> Any:
    """Inline a function into its only caller before anything is compiled.

    It can be left out with what it calls where its caller is compiled for arguments that are None.
    """
    return njit(function, inline="always", **_OPTIONS, **_NOT_FROM_PYTHON)


def intrinsic(function: Callable[..., Any]) -> Any:
    """Let kernels call a function that is written in LLVM's language (`numba.extending`)."""
    return numba_intrinsic(function)


def _for_plain_types(dispatcher: Any) -> Any:
    """Let calls with a constant use the code for a variable instead of compiling their own."""
    find_template = dispatcher.get_call_template

    def find_plain_template(args: Any, kws: Any) -> Any:
        plain = {name: types.unliteral(kind) for name, kind in kws.items()}
        return find_template(tuple(types.unliteral(kind) for kind in args), plain)

    dispatcher.get_call_template = find_plain_template
    return dispatcher


@forceinline
def check_index(index, size):
    """Raise an error if an index that data or files choose is out of range, with CHECK_BOUNDS.

    It is for indices that Numba cannot check (`simd.py`) or takes for counted from the end.
    """
    if CHECK_BOUNDS and (index < 0 or index >= size):
        raise IndexError("an index is out of range")


class Reference(types.Type):
    """The type of a pointer to a named tuple that a kernel was given."""

    def __init__(self, record: Any) -> None:
        self.record = record
        super().__init__(f"Reference({record})")

    @property
    def key(self) -> Any:
        """What distinguishes this type from others."""
        return self.record

    def position_of(self, field: str) -> int:
        """Return the number of a field."""
        return self.record.fields.index(field)


@register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager: Any, reference: Reference) -> None:
        pointer = manager.lookup(reference.record).get_value_type().as_pointer()
        super().__init__(manager, reference, pointer)


@infer_getattr
class _ReferenceFields(AttributeTemplate):
    """Fields have the types that they have in the tuple; records in records are references."""

    key = Reference

    def generic_resolve(self, reference: Any, field: str) -> Any:  # type: ignore[override]
        if field not in reference.record.fields:
            return None
        kind = reference.record.types[reference.position_of(field)]
        return Reference(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@lower_getattr_generic(Reference)
def _read_field(context: Any, builder: Any, reference: Reference, pointer: Any, field: str) -> Any:
    position = reference.position_of(field)
    kind = reference.record.types[position]
    address = cgutils.gep_inbounds(builder, pointer, 0, position)
    if isinstance(kind, types.BaseNamedTuple):
        return address
    value = builder.load(address)
    if not isinstance(kind, types.Array):
        return impl_ret_borrowed(context, builder, kind, value)
    # Python keeps the array as long as the kernel runs: without an owner nobody counts references.
    array = context.make_array(kind)(context, builder, value)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    return array._getvalue()


@intrinsic
def pass_by_pointer(typing, record):
    """Return a reference to a named tuple that Python has handed to the kernel.

    It is valid as long as the kernel runs, because Python keeps the arrays. A tuple that is made
    within a kernel must not be passed on like this: its arrays are freed after its last use.
    """
    if not isinstance(record, types.BaseNamedTuple):
        return None

    def generate(context, builder, signature, args):
        return cgutils.alloca_once_value(builder, args[0])

    return Reference(record)(record), generate
