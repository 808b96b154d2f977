"""Which devices a run computes on and how they share the work; a word where a GPU lies idle."""

import contextlib
import functools
import math
import os
import shutil
import subprocess
from pathlib import Path

import tensorflow as tf

from beyond import cluster, startup

MOST_PARTS = 4  # parts of a smaller batch would cost more than they gain
CGROUPS, MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def control_groups(controller):
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
        own = root / path.lstrip("/")
        yield from (folder for folder in (own, *own.parents) if folder.is_relative_to(root))


def limit(path, word=0):
    """Returns a positive number from a control group's file; infinity where there is none."""
    try:
        number = float(path.read_text().split()[word])
    except (OSError, ValueError, IndexError):  # no such file, or "max"
        return math.inf
    return number if number > 0 else math.inf  # version 1 has -1 for none


def cores():
    """Returns the number of CPU cores that this process may use, within its container's limit."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    for group in control_groups("cpu"):  # microseconds of processor time per period
        quota = limit(group / "cpu.max") / limit(group / "cpu.max", 1)
        if math.isnan(quota):  # no such file: version 1
            quota = limit(group / "cpu.cfs_quota_us") / limit(group / "cpu.cfs_period_us")
        if quota < allowed:  # not of "max", infinity, or of nothing, NaN
            allowed = max(1, math.ceil(quota))
    return allowed


def memory():
    """Returns the bytes of memory of this machine, or of its container if that has fewer."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for group in control_groups("memory"):
        limits = limit(group / "memory.max"), limit(group / "memory.limit_in_bytes")
        total = min(total, *limits)
    return int(total)


@functools.cache
def gpus():
    """Returns the GPUs that TensorFlow sees, and what it said as it first looked for them."""
    with startup.quiet() as dropped:
        seen = tf.config.list_physical_devices("GPU")
    return seen, b"".join(dropped).decode(errors="replace").rstrip()


def find(say, whole=False, workers=cluster.ALONE, parts=None):
    """Returns the tf.distribute strategy for this machine, and the parts of a batch on a device.

    The strategy is mirrored where there are several GPUs, and over all `workers` where those are
    several; it is there once all of them are. On a CPU the parts of a batch are computed in
    parallel, each on one core while there are as many parts as cores: on two cores a step of the
    tutorial's size takes 0.73 of the time that it takes when both cores join in every product.
    Where there are more cores than parts, all cores join in every product.

    Args:
      say: called with a line that names the devices, and one where a GPU is there but not seen.
      whole: leave a batch in one part on a CPU too, as XLA does best with.
      workers: the cluster.Cluster that trains together.
      parts: those that a run began with; without it, one per core, at most MOST_PARTS.

    Raises:
      UserError: the workers cannot be joined.
    """
    seen, said = gpus()
    for gpu in seen:
        with contextlib.suppress(RuntimeError):  # TensorFlow runs already, as in a notebook
            tf.config.experimental.set_memory_growth(gpu, True)
    if seen:
        details = map(tf.config.experimental.get_device_details, seen)
        names = [detail.get("device_name", "GPU") for detail in details]
        say(f"Device: {', '.join(names)}")
        if not workers.alone:
            return workers.join(say), parts or 1
        mirrored = len(seen) > 1
        strategy = tf.distribute.MirroredStrategy() if mirrored else tf.distribute.get_strategy()
        return strategy, parts or 1
    say(f"Device: CPU, {cores()} cores")
    if unseen := listed_by_driver():
        say(
            f"This machine has a GPU that TensorFlow does not see ({unseen}); to train on it: "
            f"pip install 'tensorflow[and-cuda]=={tf.__version__}'"
        )
        say(said)  # why, perhaps
    parts = parts or (1 if whole else min(cores(), MOST_PARTS))
    with contextlib.suppress(RuntimeError):
        # The pool of threads that join in a product is the process's, not a part's.
        tf.config.threading.set_intra_op_parallelism_threads(1 if cores() <= parts else cores())
        tf.config.threading.set_inter_op_parallelism_threads(max(cores(), 2))
    if workers.alone:
        return tf.distribute.get_strategy(), parts
    return workers.join(say), int(workers.chiefs(parts))  # all are to make the same batches


def listed_by_driver():
    """Returns nvidia-smi's line on the first GPU, or None where there is none."""
    if shutil.which("nvidia-smi") is None:
        return None
    try:
        listing = subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    first = listing.stdout.partition("\n")[0]
    return first if listing.returncode == 0 and first.startswith("GPU") else None
