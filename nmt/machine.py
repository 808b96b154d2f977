"""What this process may use in its container, the signals that end it, and library versions."""

import contextlib
import ctypes
import math
import os
import platform
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CGROUPS, MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3  # parameters of glibc's mallopt
END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # SIGHUP may be ignored (nohup)
DRIVERS = Path("/proc/driver/nvidia"), Path("/dev/nvidiactl"), Path("/dev/dxg")  # of GPUs


def control_groups(controller: str) -> Iterator[Path]:
    """Yields the folders of the control groups that limit this process, its own first.

    Both versions of Linux's control groups; no folder on another system. In a container, which
    does not see its own group under its name, the root of what it sees is its group.
    """
    try:
        lines = MEMBERSHIP.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        root = CGROUPS / controller if controllers else CGROUPS  # version 1, version 2
        group = root / path.lstrip("/")
        yield from (folder for folder in (group, *group.parents) if folder.is_relative_to(root))


def read_limit(path: Path, word: int = 0) -> float:
    """Returns a positive number from a control group's file; infinity where there is none."""
    try:
        number = float(path.read_text().split()[word])
    except (OSError, ValueError, IndexError):  # no such file, or "max"
        return math.inf
    return number if number > 0 else math.inf  # version 1 has -1 for none


def cores() -> int:
    """Returns the number of CPU cores that this process may use, within its container's limit."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    for group in control_groups("cpu"):  # microseconds of processor time per period
        quota = read_limit(group / "cpu.max") / read_limit(group / "cpu.max", 1)
        if math.isnan(quota):  # no such file: version 1
            quota = read_limit(group / "cpu.cfs_quota_us") / read_limit(group / "cpu.cfs_period_us")
        if quota < allowed:  # false for no limit (infinity) and no file (NaN)
            allowed = max(1, math.ceil(quota))
    return allowed


def may_have_gpu() -> bool:
    """Returns whether the driver of a GPU is there: else TensorFlow need not be asked for one."""
    return any(path.exists() for path in DRIVERS)


@contextlib.contextmanager
def signals_end_the_process() -> Iterator[None]:
    """Within the block, END_SIGNALS that are not ignored end the process, without a traceback.

    Beside the main thread, which alone handles signals, nothing changes.
    """
    handlers: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in END_SIGNALS}
    for number, handler in handlers.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def memory() -> int:
    """Returns the bytes of memory of this machine, or of its container if that has fewer."""
    total = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for group in control_groups("memory"):
        limits = read_limit(group / "memory.max"), read_limit(group / "memory.limit_in_bytes")
        total = min(total, *limits)
    return int(total)


def keep_freed_memory() -> None:
    """From here on this process keeps what it frees, for the next time that it needs as much.

    By default, glibc returns a thread's heap to the system once all blocks of it are free, and the
    system clears each page before it hands it out again. Blocks of more than 32 MiB are returned
    all the same. Other C libraries have no such parameters, so nothing changes there.
    """
    with contextlib.suppress(AttributeError):  # no mallopt
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_TRIM_THRESHOLD, 2**31 - 1)  # bytes
        mallopt(M_TOP_PAD, 64 * 2**20)  # the greatest heap of a thread: none is given back
        mallopt(M_MMAP_THRESHOLD, 32 * 2**20)  # larger ones are mapped one by one, in no heap


def versions() -> dict[str, str]:
    """Returns the versions of Python and of the libraries that scores depend on, by name."""
    names = ("tensorflow", "keras", "tensorflow-text", "sentencepiece", "sacrebleu")
    from importlib import metadata  # which imports a parser of e-mail

    libraries = {name: metadata.version(name) for name in names}
    return {"python": platform.python_version(), **libraries}
