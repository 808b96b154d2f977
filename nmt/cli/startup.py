"""How the program starts: environment variables, a quiet terminal, Ctrl-C.

Commands call this. Importing the project's modules changes nothing in the host program.
"""

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType

from nmt import Terminated, messages
from nmt.machine import signals_end_the_process

# Trying which kernels of a GPU are fastest takes longer than the rest of compiling.
XLA_FLAGS = {"--xla_gpu_autotune_level": "0", "--xla_gpu_enable_triton_gemm": "false"}


def set_environment(varying_shapes: bool) -> None:
    """Sets the environment variables that TensorFlow, Keras and matplotlib read when imported.

    Args:
      varying_shapes: whether the command computes with tensors of many shapes, as a search does.
    """
    os.environ["KERAS_BACKEND"] = "tensorflow"  # whatever ~/.keras/keras.json says
    os.environ.pop("TF_USE_LEGACY_KERAS", None)  # which would choose Keras 2
    os.environ["MPLBACKEND"] = "agg"  # matplotlib fails if it does not know the name
    # Errors only; with several workers not even these, for all of them report a lost one.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3" if os.environ.get("TF_CONFIG") else "2")
    # oneDNN's kernels are faster in training, above all in bfloat16. But oneDNN prepares new ones
    # for each new shape, and a growing cache has a new shape at each step: without oneDNN,
    # translating is twice as fast.
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0" if varying_shapes else "1")
    os.environ["XLA_FLAGS"] = xla_flags()


def xla_flags() -> str:
    """Returns what XLA_FLAGS holds, and those of XLA_FLAGS above that it does not name."""
    flags = os.environ.get("XLA_FLAGS", "").split()
    named = {flag.partition("=")[0] for flag in flags}
    flags += [f"{name}={value}" for name, value in XLA_FLAGS.items() if name not in named]
    return " ".join(flags)


def import_tensorflow() -> None:
    """Imports TensorFlow, and what needs it, without its messages; Ctrl-C then just ends.

    It searches for GPUs, too, which takes no time here, and would bring a message later.

    A host program has imported it already: nothing changes there.
    """
    if "tensorflow" not in sys.modules:
        with (
            signals_end_the_process(), messages.quiet(), objects_stay(),
            not_installed("matplotlib"),  # 30 MiB, which Keras would import for galleries of images
        ):  # fmt: skip
            from nmt.runs import restoring  # noqa: F401
            from nmt.training import devices

            devices.gpus()


@contextlib.contextmanager
def objects_stay() -> Iterator[None]:
    """Within the block, no garbage is collected, and the objects that it leaves are never searched.

    An import leaves a million, for as long as the process lives. To search them for garbage, again
    and again meanwhile, and as the process ends, takes a quarter of a first translation.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextlib.contextmanager
def not_installed(module: str) -> Iterator[None]:
    """Within the block, a library that imports `module` if it can does without.

    Not if something has imported it already.
    """
    if module in sys.modules:
        yield
        return
    # Python's way to say so: an import of it raises ModuleNotFoundError.
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


def terminate(number: int, _frame: FrameType | None) -> None:
    """Handles a signal to end: the first one raises Terminated, the next one ends the process."""
    signal.signal(number, signal.SIG_DFL)
    raise Terminated(number)


def catch_interrupts() -> None:
    """From here on signals to end raise exceptions, which exit_codes.exit_code reports.

    Ctrl-C raises KeyboardInterrupt, SIGTERM and SIGHUP raise Terminated; nohup's SIGHUP stays
    ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, terminate)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, terminate)
