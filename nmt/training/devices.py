"""The devices that a training run computes on, and how they share a batch."""

import contextlib
import functools
import shutil
import subprocess

import tensorflow as tf

from nmt import UserError
from nmt.machine import cores
from nmt.messages import log, plural, quiet
from nmt.training import cluster

PLAIN = "The code of transformer_model.py computes alone (--plain), without the faster engine."
MAX_PARTS = 4  # parts of a smaller batch would cost more than they gain


@functools.cache
def gpus():
    """Returns the GPUs that TensorFlow sees, and its notes from when it first searched for them."""
    with quiet() as dropped:
        seen = tf.config.list_physical_devices("GPU")
    return seen, b"".join(dropped).decode(errors="replace").rstrip()


def find(whole=False, workers=cluster.ALONE, parts=None, mirrored=True):
    """Returns the tf.distribute strategy for this machine, and the parts of a batch on a device.

    With several GPUs the strategy is mirrored; with several `workers` it spans them, once all of
    them have started. A CPU computes the parts of a batch in parallel, each on one core while there
    are no more cores than parts: on two cores a step of the tutorial's size then takes 0.73 of the
    time. With more cores than parts, all cores share every matrix product.

    Args:
      whole: do not split a batch on a CPU either; XLA is faster that way.
      workers: the cluster.Cluster that trains together.
      parts: number of parts the run began with; None for one per core, at most MAX_PARTS.
      mirrored: use all GPUs, not only the first one.

    Raises:
      UserError: the workers cannot be joined.
    """
    seen, notes = gpus()
    for gpu in seen:
        with contextlib.suppress(RuntimeError):  # already initialized, as in a notebook
            tf.config.experimental.set_memory_growth(gpu, True)
    if seen:
        details = map(tf.config.experimental.get_device_details, seen)
        names = [detail.get("device_name", "GPU") for detail in details]
        log.info(f"Device: {', '.join(names)}")
        if not workers.alone:
            return workers.join(), parts or 1
        mirrored = mirrored and len(seen) > 1
        strategy = tf.distribute.MirroredStrategy() if mirrored else tf.distribute.get_strategy()
        return strategy, parts or 1
    log.info(f"Device: CPU, {plural(cores(), 'core')}")
    if unseen := listed_by_driver():
        log.warning(
            f"This machine has a GPU that TensorFlow does not see ({unseen}); to train on it: "
            f"pip install 'tensorflow[and-cuda]=={tf.__version__}'"
        )
        log.warning(notes)  # the reason, perhaps
    parts = parts or (1 if whole else min(cores(), MAX_PARTS))
    with contextlib.suppress(RuntimeError):
        # The threads that share a product belong to the process, not to a part.
        tf.config.threading.set_intra_op_parallelism_threads(1 if cores() <= parts else cores())
        tf.config.threading.set_inter_op_parallelism_threads(max(cores(), 2))
    if workers.alone:
        return tf.distribute.get_strategy(), parts
    return workers.join(), int(workers.broadcast(parts))  # so that all make the same batches


def run_plainly(args):
    """Says what --plain costs, and switches tf.function off for --eager.

    Args:
      args: the parsed command line.

    Raises:
      UserError: --eager is given without --plain.
    """
    if args.eager and not args.plain:
        raise UserError("--eager goes with --plain; add that, or leave it out")
    if args.plain:
        log.info(PLAIN)
    if args.eager:
        tf.config.run_functions_eagerly(True)


def listed_by_driver():
    """Returns nvidia-smi's line for the first GPU, or None if there is none."""
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


def run_and_sum(strategy, function, *args):
    """Returns the sums over all replicas of what `function` returns for their shares of `args`.

    Args:
      function: returns a tuple of n scalars.

    Returns:
      (n,).
    """
    replica_sums = strategy.run(lambda *shares: tf.stack(function(*shares)), args=args)
    return strategy.reduce(tf.distribute.ReduceOp.SUM, replica_sums, axis=None)


def distribute(strategy, batches):
    """Splits global `batches` of (B, S), (B, T) between replicas: (B / replicas, S), ..."""

    def shares(context):
        replicas = context.num_replicas_in_sync
        here = replicas // context.num_input_pipelines
        first = here * context.input_pipeline_id

        def split(*batch):
            parts = (tf.reshape(ids, (replicas, -1, tf.shape(ids)[1])) for ids in batch)
            return tuple(ids[first : first + here] for ids in parts)

        return batches.map(split).unbatch()

    return strategy.distribute_datasets_from_function(shares)
