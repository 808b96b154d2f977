"""Training on several machines: the workers that TF_CONFIG names, and how they stay in step.

TensorFlow's MultiWorkerMirroredStrategy does the work. All workers run the same command on the same
data and see the same run folder. The first one, the chief, writes there; the others write to
folders of their own, as TensorFlow asks, which go when they end.
"""

import atexit
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from typing import TypeVar

import tensorflow as tf

from nmt import UserError, machine
from nmt.messages import log, reason

Result = TypeVar("Result")

VARIABLE = "TF_CONFIG"
HELP = (
    'set it as in {"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", '
    '"index": 0}}, or unset it to train on this machine alone'
)
JOBS = ("chief", "worker")  # the kinds of tasks that train
MAX_PORT = 65_535
# What TensorFlow raises where a worker no longer answers.
LOST = (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError)


class Cluster:
    """The workers that train together, by their addresses, host:port, the chief's first."""

    def __init__(self, workers: Sequence[str] = ("localhost",), index: int = 0):
        self.workers, self.index = tuple(workers), index
        # Sums a value over the workers, once they are joined.
        self.summed: Callable[[tf.Tensor], tf.Tensor] | None = None

    @property
    def alone(self) -> bool:
        """Whether this is the only worker."""
        return len(self.workers) == 1

    @property
    def chief(self) -> bool:
        """Whether this process is the worker that writes."""
        return self.index == 0

    def join(self) -> tf.distribute.Strategy:
        """Returns the strategy that spans the workers, once all of them are there."""
        log.info(
            f"Worker {self.index} of {len(self.workers)}, {self.workers[self.index]}: waiting, "
            f"without a time limit, for {', '.join(self.workers)}; Ctrl-C ends that"
        )
        # Each step's messages to other workers would take their memory from the system anew: a step
        # of `tiny`'s size on one core then takes 1.7 times as long.
        machine.keep_freed_memory()
        # While TensorFlow waits, it does not come back to Python, whose handlers would do nothing.
        # It takes SIGTERM itself, without a use for it here.
        try:
            with machine.signals_end_the_process():
                strategy = tf.distribute.MultiWorkerMirroredStrategy()
        except (tf.errors.OpError, ValueError, RuntimeError) as error:
            why = reason(error)
            if "Could not start gRPC server" in why:
                why = f"another process uses {self.workers[self.index]}; a worker with this index?"
            raise UserError(f"{VARIABLE}: joining failed ({why}); {HELP}") from None
        here = strategy.num_replicas_in_sync // len(self.workers)  # replicas of one worker

        @tf.function
        def summed(value: tf.Tensor) -> tf.Tensor:
            replica_values = strategy.run(tf.identity, args=(value / here,))
            return strategy.reduce("SUM", replica_values, axis=None)

        self.summed = summed
        return strategy

    def total(self, value: float) -> float:
        """Returns the sum of all workers' `value`s, floats, once all have reached this call."""
        if self.alone:
            return value
        assert self.summed
        return float(self.summed(tf.constant(value, tf.float64)))

    def broadcast(self, value: float) -> float:
        """Returns the chief's `value`, a float, once all workers have reached this call."""
        return self.total(value if self.chief else 0.0)

    def barrier(self) -> None:
        """Waits until all workers have reached this call."""
        self.total(0.0)

    def in_turn(self, function: Callable[[], Result]) -> Result:
        """Calls `function` on the chief, then on the other workers. Returns its result."""
        if not self.chief:
            self.barrier()
        result = function()
        if self.chief:
            self.barrier()
        return result


ALONE = Cluster()


def configured() -> Cluster:
    """Returns the Cluster that the environment's TF_CONFIG names; ALONE where it names none.

    A UserError if it is not what TensorFlow takes, or this process is none of the workers.
    """
    text = os.environ.get(VARIABLE, "")
    if not text.strip():
        return ALONE
    try:
        config = json.loads(text)
        if not isinstance(config, dict) or not isinstance(config.get("task", {}), dict):
            raise TypeError
        jobs = config.get("cluster", {})
        if not all(isinstance(addresses, list) for addresses in jobs.values()):
            raise TypeError
        task = config.get("task", {})
        kind, index = task.get("type"), int(task.get("index", 0))
    except (ValueError, AttributeError, TypeError):
        raise UserError(f"{VARIABLE}: is not of the form that TensorFlow takes; {HELP}") from None
    if unused_jobs := sorted(name for name in jobs if name not in JOBS and jobs[name]):
        raise UserError(f"{VARIABLE}: training has no use for {', '.join(unused_jobs)}; {HELP}")
    chiefs, workers = jobs.get("chief", []), jobs.get("worker", [])
    if len(chiefs + workers) < 2:
        return ALONE
    if kind not in ("chief", "worker") or not 0 <= index < len(jobs.get(kind, [])):
        raise UserError(f"{VARIABLE}: task {kind!r} {index} is none of its workers; {HELP}")
    if len({*chiefs, *workers}) < len(chiefs + workers):
        raise UserError(f"{VARIABLE}: names a worker twice; {HELP}")
    for address in chiefs + workers:
        host, _, port = str(address).rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) <= MAX_PORT:
            raise UserError(f"{VARIABLE}: {address!r} is no host:port; {HELP}")
    return Cluster(chiefs + workers, index + (len(chiefs) if kind == "worker" else 0))


def temporary_folder() -> str:
    """Returns a folder for what other workers than the chief write; it goes as the process ends."""
    path = tempfile.mkdtemp(prefix="translator-worker-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path
