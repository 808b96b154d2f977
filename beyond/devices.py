"""Which devices a training runs on, and a word where a GPU lies idle."""

import contextlib
import os
import shutil
import subprocess

import tensorflow as tf


def find(say):
    """Returns the tf.distribute strategy for this machine: mirrored where it has several GPUs.

    Args:
      say: called with a line that names the devices, and one where a GPU is there but not seen.
    """
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        with contextlib.suppress(RuntimeError):  # TensorFlow runs already, as in a notebook
            tf.config.experimental.set_memory_growth(gpu, True)
    if gpus:
        details = map(tf.config.experimental.get_device_details, gpus)
        names = [detail.get("device_name", "GPU") for detail in details]
        say(f"Device: {', '.join(names)}")
    else:
        say(f"Device: CPU, {os.cpu_count()} cores")
        if unseen := listed_by_driver():
            say(
                f"This machine has a GPU that TensorFlow does not see ({unseen}); to train on it: "
                f"pip install 'tensorflow[and-cuda]=={tf.__version__}'"
            )
    return tf.distribute.MirroredStrategy() if len(gpus) > 1 else tf.distribute.get_strategy()


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
