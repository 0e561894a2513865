"""Loaded by each Python that `ridgepoint emulate` starts.

Numba then links by the driver, which takes PTX, and not by nvJitLink, which makes machine code; and its kernels say which
line of the source an instruction is from. PyTorch's operators run on the CPU, and Triton's
benchmarks once. The user's own sitecustomize is loaded as it would be without this one.
"""

import functools
import importlib.abc
import importlib.machinery
import os
import sys
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))


def with_lines(module):
    """The decorator with `lineinfo` on, unless the kernel is one for a debugger."""
    jit = module.jit

    @functools.wraps(jit)
    def decorated(*arguments, **options):
        debug = options.get("debug")
        if debug is None:
            debug = module.config.CUDA_DEBUGINFO_DEFAULT
        if not debug:
            options.setdefault("lineinfo", True)
        return jit(*arguments, **options)

    module.jit = decorated


def without_lines_where_there_are_none(module):
    """Compiles a kernel once more without lines where Numba or NVVM fails with them: they have bugs of their own."""
    make = module._Kernel.__init__

    @functools.wraps(make)
    def made(self, *arguments, **options):
        try:
            make(self, *arguments, **options)
        except Exception as error:
            if not options.get("lineinfo"):
                raise
            try:
                make(self, *arguments, **{**options, "lineinfo": False})
            except Exception:
                raise error

    module._Kernel.__init__ = made


def without_linker(module):
    """NVIDIA's search for libraries, which does not find nvJitLink."""
    load = module.load_nvidia_dynamic_lib

    @functools.wraps(load)
    def loaded(name):
        if name == "nvJitLink":
            raise module.DynamicLibNotFoundError("nvJitLink is hidden by `ridgepoint emulate`")
        return load(name)

    module.load_nvidia_dynamic_lib = loaded


def with_operators(module):
    """PyTorch with operators that need no machine code, unless it was built for CPUs alone."""
    if module.version.cuda:
        try:
            import ridgepoint_torch

            module._ridgepoint_operators = ridgepoint_torch.begin()
        except Exception as error:
            print(f"ridgepoint: the operators of PyTorch {module.__version__} cannot run on the CPU: {error!r}", file=sys.stderr)


def measured_once(module):
    """Triton's benchmarks, by which it chooses among configurations, run each once: more often they tell no more here."""

    @functools.wraps(module.do_bench)
    def do_bench(fn, *_arguments, quantiles=None, return_mode="mean", **_options):
        begun = time.perf_counter()
        fn()
        took = (time.perf_counter() - begun) * 1e3
        count = None if quantiles is None else len(quantiles)
        if count is None:
            return [took] if return_mode == "all" else took
        return took if count == 1 else [took] * count

    module.do_bench = do_bench


CHANGED = {
    "numba.cuda.decorators": with_lines,
    "torch": with_operators,
    "triton.testing": measured_once,
    "numba.cuda.dispatcher": without_lines_where_there_are_none,
    "cuda.pathfinder._dynamic_libs.load_nvidia_dynamic_lib": without_linker,
}


class Finder(importlib.abc.MetaPathFinder):
    """Changes modules as they are loaded."""

    def find_spec(self, name, path=None, target=None):
        change = CHANGED.get(name)
        spec = change and importlib.machinery.PathFinder.find_spec(name, path, target)
        if not spec or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            try:
                change(module)
            except AttributeError:
                # Another version, which is left as it is.
                pass

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder())
warnings.filterwarnings("ignore", message="cuda.bindings.nvjitlink is not available")

# The next one on the path.
for folder in sys.path:
    other = os.path.join(folder or ".", "sitecustomize.py")
    if os.path.abspath(folder or ".") != HERE and os.path.isfile(other):
        with open(other, "rb") as source:
            exec(compile(source.read(), other, "exec"), {"__name__": "sitecustomize", "__file__": other})
        break
