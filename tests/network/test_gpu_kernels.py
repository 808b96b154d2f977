"""What can be known of a GPU without one: TensorFlow and XLA have what each operation needs there.

TensorFlow registers its GPU kernels on every machine. An operation without one runs on the
processor, and its inputs and outputs are copied there and back: only the seeds of samples do.
XLA lowers a function for GPUs on every machine, too; only its compilation needs one.
"""

import re

import keras
import pytest
import tensorflow as tf
from helpers import find, random_batches, tiny_training
from tensorflow.python.framework.kernels import get_registered_kernels_for_op

from nmt.decoding.search import sample
from nmt.decoding.search_options import Sampling

pytestmark = pytest.mark.slow

VARIANTS = [
    dict(),
    dict(
        mixed_precision=True, accumulate=2, pre_norm=True, dropout_rate=0.1, schedule="cosine",
        clip_norm=1.0, label_smoothing=0.1,
    ),
]  # fmt: skip
IDS = tf.TensorSpec((None, None), tf.int32)
ON_ANY_DEVICE = {"Placeholder", "NoOp"}  # or on none: no kernel is called
SEED_OF_SOURCE = {"AsString", "ReduceJoin", "StringToHashBucketFast"}  # see sampling.py


def operations_of(function):
    """Returns the types of the operations of a concrete function and of all that it calls."""
    definition = function.graph.as_graph_def()
    called = definition.library.function
    nodes = [*definition.node, *(node for function in called for node in function.node_def)]
    return {node.op for node in nodes} - {function.signature.name for function in called}


def without_gpu_kernel(operations):
    """Returns those of `operations` that only a processor has a kernel for."""
    missing = set()
    for operation in operations - ON_ANY_DEVICE:
        devices = {kernel.device_type for kernel in get_registered_kernels_for_op(operation).kernel}
        if not devices & {"GPU", "DEFAULT"}:
            missing.add(operation)
    return missing


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_training_and_validation_have_gpu_kernels(changes):
    training = tiny_training(**changes)
    graphs = [
        training.train_batch.get_concrete_function(IDS, IDS, ends_step=True),
        training.train_batch.get_concrete_function(IDS, IDS, ends_step=False),
        training.validator.validate_batch.get_concrete_function(IDS, IDS),
    ]
    for graph in graphs:
        operations = operations_of(graph)
        assert "MatMul" in operations or "BatchMatMulV2" in operations
        assert without_gpu_kernel(operations) == set()


@pytest.mark.parametrize("beam", [1, 4])
def test_searching_has_gpu_kernels(beam):
    transformer = tiny_training().transformer
    transformer(random_batches(1)[0])
    function = tf.function(lambda inp: find(transformer, inp, beam), input_signature=[IDS])
    assert without_gpu_kernel(operations_of(function.get_concrete_function())) == set()


def test_sampling_has_gpu_kernels():
    transformer = tiny_training().transformer
    transformer(random_batches(1)[0])
    numbers = tf.TensorSpec((None,), tf.int32)
    function = tf.function(
        lambda inp, samples: sample(transformer, inp, Sampling(), samples),
        input_signature=[IDS, numbers],
    )
    operations = operations_of(function.get_concrete_function())
    assert without_gpu_kernel(operations) == SEED_OF_SOURCE


def test_an_operation_of_text_has_none():
    function = tf.function(tf.strings.strip, input_signature=[tf.TensorSpec((None,), tf.string)])
    operations = operations_of(function.get_concrete_function())
    assert without_gpu_kernel(operations) == {"StringStrip"}


# ---- The compiled step, lowered for GPUs ----


def lowered_for_gpu(function, *inputs):
    """Returns the HLO program of a function for GPUs, as text.

    TensorFlow knows the platform by the name of its devices, GPU, not by XLA's name, CUDA.
    """
    compiled = tf.function(function, jit_compile=True, autograph=False)
    return compiled.experimental_get_compiler_ir(*inputs)(stage="hlo", platform_name="GPU")


def stateless_step(training):
    """Returns what FastStep.learn compiles as a function of all variables' values and of ids.

    Without a GPU there is no device that could hold the variables themselves.
    """
    transformer, forward = training.transformer, training.forward
    number = len(transformer.trainable_variables)
    variables = transformer.trainable_variables + transformer.non_trainable_variables

    def step(values, inp, tar):
        pairs = list(zip(variables, values, strict=True))
        with tf.GradientTape() as tape, keras.StatelessScope(state_mapping=pairs):
            tape.watch(values[:number])
            smoothing = training.options.label_smoothing
            ids = (inp, tar[:, :-1]), tar[:, 1:]
            loss = forward.token_sums(*ids, training=True, label_smoothing=smoothing).loss
        return loss, tape.gradient(loss, values[:number])

    return step, [tf.convert_to_tensor(variable.value) for variable in variables]


@pytest.mark.parametrize(
    ("changes", "products"),
    [
        (dict(), {"f32"}),
        (dict(mixed_precision=True, pre_norm=True, dropout_rate=0.1, label_smoothing=0.1),
         {"f32", "bf16"}),  # logits are of float32
    ],
    ids=["float32", "bfloat16"],
)  # fmt: skip
def test_the_compiled_step_is_lowered_for_gpus(changes, products):
    step, values = stateless_step(tiny_training(xla="on", **changes))
    ((inp, tar),) = random_batches(1)
    program = lowered_for_gpu(step, values, inp, tar)
    assert {*re.findall(r"= (\w+)\[[\d,]*\]\S* dot\(", program)} == products
    for word in ("<=", "infeed", "outfeed", "send(", "recv(", "custom-call"):
        assert word not in program  # no dynamic shape, nothing on the host, no library
