"""A compiler pipeline that compiles a kernel together with all functions that it calls.

Numba optimises every function and turns it into machine code by itself, and again within each of
its callers. Functions that only kernels call need neither: here they are only lowered, and each
kernel links all of them, however deep, and optimises them once. The result is the same code in half
the time.

`njit(pipeline_class=...)` is Numba's way to customise the compiler; the last pass and the libraries
of code that it fills are replaced here. Functions for kernels can be called by kernels only,
not by other functions that Numba compiles.

This builds on the inside of Numba, so it is used with the releases from `FIRST_RELEASE` to
`LAST_RELEASE` in `jit.py`; with others Numba's own pipeline compiles the same kernels in twice the
time. For a new release, run the tests with `LAST_RELEASE` raised to it. Delete this module and its
use in `jit.py` when Numba compiles a function and its callees in one go.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite.binding import Linkage
from numba import _dynfunc, types  # type: ignore[attr-defined]
from numba.core.base import BaseContext
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering

# Passes that change nothing in kernels: they rewrite array expressions, closures, `with`, generated
# branches, overloads to be inlined and exceptions with arguments, none of which kernels have.
_UNUSED_PASSES = {
    "DumpParforDiagnostics",
    "InlineClosureLikes",
    "InlineOverloads",
    "LiteralPropagationSubPipelinePass",
    "LiteralUnroll",
    "FindLiterallyCalls",
    "MakeFunctionToJitFunction",
    "NoPythonSupportedFeatureValidation",
    "NopythonRewrites",
    "RewriteDynamicRaises",
    "WithLifting",
}

# Of arguments of these types, Numba finds the same type of a result each time.
_PLAIN_TYPES = types.Number, types.Boolean, types.Array, types.BaseTuple


class _Library(JITCodeLibrary):
    """Code that is not optimised before all of it is there."""

    def add_llvm_module(self, ll_module: Any) -> None:
        """Add code as it is."""
        ll_module.data_layout = self._codegen._data_layout
        self._final_module.link_in(ll_module)


class _PartLibrary(_Library):
    """The code of one function without that of its callees, for kernels to link."""

    def finalize(self) -> None:
        """Let kernels link the code; a copy that none of them calls any more is dropped."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = Linkage.linkonce_odr
        self._shared_module = self._final_module
        self._finalize_dynamic_globals()
        self._finalized = True


class _KernelLibrary(_Library):
    """The code of a kernel and of everything that it calls."""

    def add_linking_library(self, library: Any) -> None:
        """Link a callee and its callees."""
        if library not in self._linking_libraries:
            super().add_linking_library(library)
            if isinstance(library, _PartLibrary):
                for callee in library._linking_libraries:
                    self.add_linking_library(callee)

    def _optimize_final_module(self) -> None:
        # Numba's first, cheap round is there for counts of references, which kernels have few of.
        passes, builder = self._codegen._module_pass_manager()
        with self._recorded_timings.record("Module passes", builder):
            passes.run(self._final_module, builder)

    def set_environments(self) -> None:
        """Hand over what the linked functions use of Python, which Numba does for its own."""
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                self.codegen.set_env(variable.name, environment)


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    """Lower a function, and declare to Numba that it can be called, by kernels alone."""

    _name = "lower_part"

    def run_pass(self, state: Any) -> bool:
        library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library, state.flags.no_compile = library, True
        super().run_pass(state)
        lowered = state["cr"]
        about = lowered.fndesc
        # Numba identifies functions by what Python would call: it exists, but has no machine code.
        entry = _dynfunc.make_function(
            about.lookup_module(), about.qualname, "for kernels", 0, lowered.env, (library,)
        )
        state.targetctx.insert_user_function(entry, about, [library])
        state.reload_init.extend(library._reload_init)
        state["cr"] = lowered._replace(cfunc=entry)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerKernel(NativeLowering):
    """Lower a kernel and compile it with all that it calls."""

    _name = "lower_kernel"

    def run_pass(self, state: Any) -> bool:
        library = _KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        library.enable_object_caching()
        state.library = library
        super().run_pass(state)
        library.set_environments()
        return True


class _Flags(Flags):
    """Numba's options of a function, which it compares for each operation: here without ado."""

    __slots__ = ("_hash",)

    def __hash__(self) -> int:
        if not hasattr(self, "_hash"):
            self._hash = super().__hash__()
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Flags):
            return self is other or self._values == other._values
        return super().__eq__(other)


@contextmanager
def _remembering() -> Iterator[None]:
    """Remember the types of results of operators, and sizes of LLVM types, for one kernel.

    Numba finds out both thousands of times, and looks for new definitions each time it makes an
    array or reads a tuple. It compiles under a lock, so no other code is compiled meanwhile. All is
    dropped at the end, when users may register other operators.
    """
    kind: Any = types.Function
    context: Any = BaseContext
    find_type = kind.get_call_type
    find_size, find_function = context.get_abi_sizeof, context.get_function
    found: dict[Any, Any] = {}
    sizes: dict[int, tuple[Any, int]] = {}  # with the types, so that no other gets the same id

    def get_call_type(function: Any, typing: Any, args: Any, kws: Any) -> Any:
        if kws or not all(isinstance(kind, _PLAIN_TYPES) for kind in args):
            return find_type(function, typing, args, kws)
        key = function, tuple(args)
        if key not in found:
            found[key] = find_type(function, typing, args, kws)
        return found[key]

    def get_abi_sizeof(self: Any, llvm_type: Any) -> int:
        if id(llvm_type) not in sizes:
            sizes[id(llvm_type)] = llvm_type, find_size(self, llvm_type)
        return sizes[id(llvm_type)][1]

    def get_function(self: Any, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        # What has a string for a name, such as "static_getitem", was there from the start.
        return find_function(self, fn, sig, _firstcall and not isinstance(fn, str))

    kind.get_call_type = get_call_type
    context.get_abi_sizeof, context.get_function = get_abi_sizeof, get_function
    try:
        yield
    finally:
        kind.get_call_type = find_type
        context.get_abi_sizeof, context.get_function = find_size, find_function


class _Compiler(CompilerBase):
    """Runs Numba's passes with another lowering, and without those that kernels do not need."""

    lowering: type[NativeLowering]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags = _Flags(self.state.flags)

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (self.lowering, about) if kind is NativeLowering else (kind, about)
            for kind, about in passes.passes
            if kind.__name__ not in _UNUSED_PASSES
        ]
        kind: Any = type(self)
        if "_analysis" not in vars(kind):
            kind._analysis = passes.dependency_analysis()
        passes.dependency_analysis = lambda: kind._analysis
        passes.finalize()
        return [passes]


class PartCompiler(_Compiler):
    """Compiles functions that only kernels call."""

    lowering = _LowerPart


class KernelCompiler(_Compiler):
    """Compiles functions that Python calls."""

    lowering = _LowerKernel

    def compile_extra(self, func: Any) -> Any:
        """Compile a kernel and all that it calls."""
        with _remembering():
            return super().compile_extra(func)
