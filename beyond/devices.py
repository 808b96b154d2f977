"""Which devices a run computes on and how they share the work; a word where a GPU lies idle."""

import contextlib
import functools
import os
import shutil
import subprocess

import tensorflow as tf

from beyond import cluster, quiet

MOST_PARTS = 4  # parts of a smaller batch would cost more than they gain


def cores():
    """Returns the number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def memory():
    """Returns the bytes of memory that this machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@functools.cache
def gpus():
    """Returns the GPUs that TensorFlow sees, and what it said as it first looked for them."""
    with quiet.startup() as dropped:
        seen = tf.config.list_physical_devices("GPU")
    return seen, b"".join(dropped).decode(errors="replace").rstrip()


def find(say, whole=False, workers=cluster.ALONE):
    """Returns the tf.distribute strategy for this machine, and the parts of a batch on a device.

    The strategy is mirrored where there are several GPUs, and over all `workers` where those are
    several; it is there once all of them are. On a CPU the cores work side by side on
    parts of the batch, each core (or few of them) on the small products of its own part: on two
    cores a step of the tutorial's size takes 0.73 of the time that it takes when both cores join
    in every product.

    Args:
      say: called with a line that names the devices, and one where a GPU is there but not seen.
      whole: leave a batch in one part on a CPU too, as XLA does best with.
      workers: the cluster.Cluster that trains together.

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
            return workers.join(say), 1
        mirrored = len(seen) > 1
        return tf.distribute.MirroredStrategy() if mirrored else tf.distribute.get_strategy(), 1
    say(f"Device: CPU, {cores()} cores")
    if unseen := listed_by_driver():
        say(
            f"This machine has a GPU that TensorFlow does not see ({unseen}); to train on it: "
            f"pip install 'tensorflow[and-cuda]=={tf.__version__}'"
        )
        say(said)  # why, perhaps
    parts = 1 if whole else min(cores(), MOST_PARTS)
    with contextlib.suppress(RuntimeError):
        tf.config.threading.set_intra_op_parallelism_threads(cores() // parts)
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
