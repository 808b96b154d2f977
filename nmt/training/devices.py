"""The devices that a training run computes on, and how they share a batch."""

import contextlib
import functools
import shutil
import subprocess
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from nmt import UserError
from nmt.machine import cores
from nmt.messages import log, plural, quiet
from nmt.options import Options
from nmt.training import cluster

COST_OF_PLAIN = {  # by command, measured on a CPU
    "train": "about 1.1 times the time",
    "translate": "about 100 times the processor time, because each token takes a whole pass",
}
GPU_MAX_VALUES = 2**31 - 1  # of a tensor, for the kernels that TensorFlow has for GPUs
MAX_PARTS = 4  # parts of a smaller batch would cost more than they gain


class SeenGpus(NamedTuple):
    """The GPUs that TensorFlow sees."""

    gpus: list[tf.config.PhysicalDevice]
    notes: str  # what TensorFlow wrote to stderr when it first searched for them


class Devices(NamedTuple):
    """What a training run computes on."""

    strategy: tf.distribute.Strategy
    parts: int  # into which a device's share of a batch is split, to be computed in parallel


@functools.cache
def gpus() -> SeenGpus:
    """Searches for GPUs, without TensorFlow's notes on stderr, which are returned."""
    with quiet() as dropped:
        seen = tf.config.list_physical_devices("GPU")
    return SeenGpus(seen, b"".join(dropped).decode(errors="replace").rstrip())


def configure(
    whole: bool = False,
    workers: cluster.Cluster = cluster.ALONE,
    parts: int | None = None,
    mirrored: bool = True,
) -> Devices:
    """Sets TensorFlow up for the devices of this machine, and logs them. Returns the Devices.

    With several GPUs the strategy is mirrored; with several `workers` it spans them, once all of
    them have started. A CPU computes the parts of a batch in parallel, each on one core while there
    are no more cores than parts: on two cores a step of the tutorial's size then takes 0.73 of the
    time. With more cores than parts, all cores share every matrix product.

    Args:
      whole: do not split a batch on a CPU either; XLA is faster that way.
      parts: number of parts the run began with; None for one per core, at most MAX_PARTS.
    """
    if gpus().gpus:
        return _configure_gpus(workers, parts or 1, mirrored)
    return _configure_cpu(workers, parts or (1 if whole else min(cores(), MAX_PARTS)))


def _configure_gpus(workers: cluster.Cluster, parts: int, mirrored: bool) -> Devices:
    """Takes memory of GPUs as it is needed, not all of it at the start; see `configure`."""
    names = []
    for gpu in gpus().gpus:
        with contextlib.suppress(RuntimeError):  # already initialized, as in a notebook
            tf.config.experimental.set_memory_growth(gpu, True)
        details = tf.config.experimental.get_device_details(gpu)
        names.append(details.get("device_name", "GPU"))
    log.info(f"Device: {', '.join(names)}")
    if not workers.alone:
        return Devices(workers.join(), parts)
    if mirrored and len(names) > 1:
        return Devices(tf.distribute.MirroredStrategy(), parts)
    return Devices(tf.distribute.get_strategy(), parts)


def _configure_cpu(workers: cluster.Cluster, parts: int) -> Devices:
    """Sets numbers of threads, and names a GPU that TensorFlow does not see; see `configure`."""
    log.info(f"Device: CPU, {plural(cores(), 'core')}")
    if unseen := listed_by_driver():
        log.warning(
            f"This machine has a GPU that TensorFlow does not see ({unseen}); to train on it: "
            f"pip install 'tensorflow[and-cuda]=={tf.__version__}'"
        )
        log.warning(gpus().notes)  # the reason, perhaps
    with contextlib.suppress(RuntimeError):
        # The threads that share a product belong to the process, not to a part.
        tf.config.threading.set_intra_op_parallelism_threads(1 if cores() <= parts else cores())
        tf.config.threading.set_inter_op_parallelism_threads(max(cores(), 2))
    if workers.alone:
        return Devices(tf.distribute.get_strategy(), parts)
    # All workers split alike, so that all make the same batches.
    return Devices(workers.join(), int(workers.broadcast(parts)))


def check_logits(options: Options, tokens: float, vocab_size: int) -> None:
    """Raises a UserError if the logits of a batch may be too many for the kernels of a GPU.

    Some of TensorFlow's own kernels count the values of a tensor in 32 bits: 65,536 tokens of
    37,000 entries ended in an illegal address on an H200, after a few steps. What XLA compiles is
    not checked.
    """
    if not gpus().gpus or options.xla == "on":
        return
    most = GPU_MAX_VALUES // vocab_size
    if tokens > most:
        raise UserError(
            f"a batch has up to {tokens:,.0f} tokens on each GPU; with --xla off, TensorFlow can "
            f"count the logits of at most {most:,}: lower --batch-tokens or --batch-size (and make "
            "up for it with --accumulate), or use --xla on"
        )


def run_plainly(command: str, plain: bool, eager: bool) -> None:
    """Says what --plain costs, and switches tf.function off for --eager, which goes with it."""
    if eager and not plain:
        raise UserError("--eager goes with --plain; add that, or leave it out")
    if plain:
        cost = COST_OF_PLAIN[command]
        log.info(f"The code of the story computes alone (--plain): {cost}.")
    if eager:
        tf.config.run_functions_eagerly(True)


def listed_by_driver() -> str | None:
    """Returns nvidia-smi's line for the first GPU."""
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


def compiler(xla: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator: XLA compiles a function, for each shape; or nothing is changed."""
    if xla:
        return functools.partial(tf.function, jit_compile=True)
    return lambda function: function


def spread(
    strategy: tf.distribute.Strategy, step: Callable[..., tuple[tf.Tensor, ...]]
) -> tf.types.experimental.GenericFunction:
    """Returns `step` as a graph that takes a global batch: each device computes its share of it.

    `step` returns n scalars for a share (inp, tar) and flags by keyword; the graph their sums over
    all devices, (n,). It is traced once for each value of a flag.
    """

    @tf.function
    def on_all_devices(inp: tf.Tensor, tar: tf.Tensor, **flags: bool) -> tf.Tensor:
        def share(*ids: tf.Tensor) -> tf.Tensor:
            return tf.stack(step(*ids, **flags))

        shares = strategy.run(share, args=(inp, tar))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, shares, axis=None)

    return on_all_devices


def distribute_shares(
    strategy: tf.distribute.Strategy, read_shares: Callable[[range], tf.data.Dataset]
) -> tf.distribute.DistributedDataset:
    """Returns the replicas' shares of global batches.

    `read_shares` returns, from the numbers of the replicas of this worker, a dataset of their
    shares of each batch, one after the other.
    """

    def shares_of_worker(context: tf.distribute.InputContext) -> tf.data.Dataset:
        here = context.num_replicas_in_sync // context.num_input_pipelines
        first = here * context.input_pipeline_id
        return read_shares(range(first, first + here))

    return strategy.distribute_datasets_from_function(shares_of_worker)


def distribute(
    strategy: tf.distribute.Strategy, batches: tf.data.Dataset
) -> tf.distribute.DistributedDataset:
    """Splits global `batches` of (B, S), (B, T) between replicas: (B / replicas, S), ..."""
    replicas = strategy.num_replicas_in_sync

    def read_shares(numbers: range) -> tf.data.Dataset:
        def split(*batch: tf.Tensor) -> tuple[tf.Tensor, ...]:
            parts = (tf.reshape(ids, (replicas, -1, tf.shape(ids)[1])) for ids in batch)
            return tuple(ids[numbers.start : numbers.stop] for ids in parts)

        return batches.map(split).unbatch()

    return distribute_shares(strategy, read_shares)
