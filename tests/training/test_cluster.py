"""What must hold of a training on several machines; here of two workers on this one."""

import json
import os
import re
import signal
import socket
import time
from pathlib import Path
from subprocess import PIPE

import numpy as np
import pytest
import tensorflow as tf
from helpers import TINY, UNSCORED_PROGRAM, sentences, start_process, write_tsv

from nmt import UserError
from nmt.training import cluster

TWO = {"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": 1}}


@pytest.mark.parametrize("text", ["", " ", '{"cluster": {"worker": ["localhost:1"]}}'])
def test_no_cluster_is_a_machine_alone(monkeypatch, text):
    monkeypatch.setenv("TF_CONFIG", text)
    machine = cluster.configured()
    assert machine.alone
    assert machine.chief
    assert (machine.broadcast(3.0), machine.total(2.0)) == (3, 2)


@pytest.mark.parametrize(
    ("config", "workers", "index"),
    [
        (TWO, ("a:1", "b:2"), 1),
        (
            {
                "cluster": {"chief": ["c:1"], "worker": ["a:1", "b:2"]},
                "task": {"type": "worker", "index": 1},
            },
            ("c:1", "a:1", "b:2"),
            2,
        ),
        (
            {"cluster": {"chief": ["c:1"], "worker": ["a:1"]}, "task": {"type": "chief"}},
            ("c:1", "a:1"),
            0,
        ),
    ],
)
def test_the_chief_comes_first(monkeypatch, config, workers, index):
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    machines = cluster.configured()
    assert (machines.workers, machines.index, machines.chief) == (workers, index, index == 0)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        json.dumps({**TWO, "cluster": {"worker": "a:1,b:2"}}),
        json.dumps({**TWO, "task": None}),
        json.dumps({**TWO, "task": {"type": "worker", "index": 2}}),
        json.dumps({**TWO, "task": {"type": "worker", "index": "first"}}),
        json.dumps({**TWO, "task": {"type": "ps", "index": 0}}),
        json.dumps({**TWO, "cluster": {"worker": ["a", "b:2"]}}),
        json.dumps({**TWO, "cluster": {"worker": ["a:1", "a:1"]}}),
        json.dumps({**TWO, "cluster": {"worker": ["a:1", "b:65536"]}}),
        json.dumps({**TWO, "cluster": {"worker": ["a:1", "b:0"]}}),
        json.dumps({**TWO, "cluster": {"worker": ["a:1"], "ps": ["b:1"]}}),
    ],
)
def test_a_tf_config_that_names_no_cluster_is_one_line(monkeypatch, text):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(UserError, match=r"TF_CONFIG: .*unset it") as error:
        cluster.configured()
    assert "\n" not in str(error.value)


# ---- Two workers ----

TRAINING = [
    *TINY, "--batch-size", "90", "--dropout-rate", "0", "--warmup-steps", "100",
    "--checkpoint-minutes", "0", "--no-plots", "--epochs",
]  # fmt: skip


def free_ports(number):
    """Returns ports on which nothing listens."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def start(tsv, run, epochs, index=None, ports=(), flags=()):
    """Starts a training: on this machine alone with two cores, or as one worker with one core."""
    variables = {}
    if ports:
        workers = [f"127.0.0.1:{port}" for port in ports]
        config = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
        variables["TF_CONFIG"] = json.dumps(config)
    cores = sorted(os.sched_getaffinity(0))[:2]
    if ports:
        cores = [cores[index % len(cores)]]
    return start_process(
        [*UNSCORED_PROGRAM, "--dataset", tsv, *TRAINING, epochs, "--run", run, *flags], variables,
        stdout=PIPE, stderr=PIPE, bufsize=0, preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )  # fmt: skip


def start_two(tsv, run, epochs, flags=()):
    """Starts two workers."""
    ports = free_ports(2)
    return [start(tsv, run, epochs, index, ports, flags) for index in (0, 1)]


def ended(processes):
    """Waits for the processes. Returns their exit codes and what they said."""
    said = [process.communicate(timeout=900)[1].decode() for process in processes]
    return [process.returncode for process in processes], said


def tensors(checkpoint):
    """Returns all that a checkpoint holds, by name."""
    reader = tf.train.load_checkpoint(str(checkpoint))
    names = [name for name in reader.get_variable_to_shape_map() if "_OBJECT" not in name]
    return {name: reader.get_tensor(name) for name in names}


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A corpus."""
    return write_tsv(tmp_path_factory.mktemp("data") / "numbers.tsv", sentences(3000))


@pytest.fixture(scope="module")
def two(numbers, tmp_path_factory):
    """The run folder of two workers that were never stopped."""
    run = tmp_path_factory.mktemp("two") / "run"
    codes, said = ended(start_two(numbers, run, 3))
    assert codes == [0, 0], said
    return run


@pytest.mark.slow
def test_two_workers_learn_what_one_process_learns(two, numbers, tmp_path):
    codes, said = ended([start(numbers, tmp_path / "one", 3)])
    assert codes == [0], said
    history, other = (
        json.loads((run / "history.json").read_text()) for run in (tmp_path / "one", two)
    )
    for name in ("loss", "accuracy", "val_loss", "val_accuracy"):
        assert other[0][name] == pytest.approx(history[0][name], rel=1e-5, abs=1e-5), name
    # Epoch 1, about 30 steps; later the last digits, in which sums differ, have grown. Weight by
    # weight nothing can be said: Adam divides a gradient by its own size, a rounding error too.
    one, its = (tensors(run / "checkpoints" / "ckpt-1") for run in (tmp_path / "one", two))
    assert one.keys() == its.keys()
    compared = 0
    for name in one:
        # Biases of keys are added to all keys alike, so their true gradient is zero: Adam makes
        # steps of its rounding.
        if name.startswith("model/") and "/wk/bias" not in name:
            compared += 1
            apart = np.linalg.norm(its[name] - one[name]) / np.linalg.norm(one[name])
            assert apart < 1e-3, name
    assert compared > 20


@pytest.mark.slow
def test_two_workers_accumulate_what_one_process_accumulates(numbers, tmp_path):
    flags = ["--accumulate", "3"]
    codes, said = ended(
        [
            start(numbers, tmp_path / "one", 1, flags=flags),
            *start_two(numbers, tmp_path / "two", 1, flags),
        ]
    )
    assert codes == [0, 0, 0], said
    one, two = (
        json.loads((tmp_path / name / "history.json").read_text())[0] for name in ("one", "two")
    )
    for name in ("loss", "accuracy", "val_loss", "val_accuracy"):
        assert two[name] == pytest.approx(one[name], rel=1e-5, abs=1e-5), name


def signalled(process, number, message):
    """Sends a signal to a process once its stderr has matched `message`."""
    said = b""
    while not re.search(message, said):
        piece = process.stderr.read(4096)
        assert piece, said.decode()
        said += piece
    process.send_signal(number)


@pytest.mark.slow
def test_a_lost_worker_is_reported_in_one_line_and_both_resume_when_restarted(
    two, numbers, tmp_path
):
    for lost, epoch in ((0, 2), (1, 3)):
        processes = start_two(numbers, tmp_path / "run", 3)
        signalled(processes[lost], signal.SIGKILL, rb"Epoch %d/.* [1-9]\d*/" % epoch)
        codes, said = ended(processes)
        assert (codes[lost], codes[1 - lost]) == (-9, 75), said
        last = re.split(r"[\r\n]", said[1 - lost].strip())[-1]
        assert "run_demo.py: a worker of TF_CONFIG was lost" in last
        assert "Traceback" not in said[1 - lost]
    codes, said = ended(start_two(numbers, tmp_path / "run", 3))
    assert codes == [0, 0], said
    assert "Resuming from" in said[0]
    whole, again = (tensors(run / "checkpoints" / "ckpt-3") for run in (two, tmp_path / "run"))
    for name, value in whole.items():
        np.testing.assert_array_equal(again[name], value, err_msg=name)


@pytest.mark.slow
def test_a_signal_to_one_worker_ends_both_and_saves(numbers, tmp_path):
    processes = start_two(numbers, tmp_path / "run", 30)
    # With these figures it begins to save, too late to agree with the other on more than that.
    signalled(processes[1], signal.SIGTERM, rb"Epoch 2/.*tokens/s")
    codes, said = ended(processes)
    assert codes == [143, 143], said
    assert list((tmp_path / "run" / "checkpoints").rglob("ckpt-*.index"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "run", "message"),
    [(5, "run", "other data or other flags than the chief"), (0, "own", "that all workers see")],
)
def test_a_worker_with_other_data_or_another_run_folder_is_reported(
    numbers, tmp_path, seed, run, message
):
    other, ports = write_tsv(tmp_path / "other.tsv", sentences(3000, seed)), free_ports(2)
    processes = [start(numbers, tmp_path / "run", 1, 0, ports)]
    processes.append(start(other, tmp_path / run, 1, 1, ports))
    codes, said = ended(processes)
    assert codes == [75, 2], said
    assert message in said[1].strip().splitlines()[-1]


def is_caught(process, number):
    """Returns whether a process has a handler for a signal."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return bool(int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> (number - 1) & 1)


@pytest.mark.slow
def test_ctrl_c_ends_a_worker_that_waits_for_others(numbers, tmp_path):
    process, said = start(numbers, tmp_path / "run", 1, 0, free_ports(2)), b""
    while b"Ctrl-C ends that" not in said:
        piece = process.stderr.read(4096)
        assert piece, said.decode()
        said += piece
    while is_caught(process, signal.SIGINT):
        time.sleep(0.02)
    time.sleep(0.5)  # until TensorFlow waits
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT


@pytest.mark.slow
def test_a_port_in_use_is_one_line(numbers, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = [taken.getsockname()[1], *free_ports(1)]
        codes, said = ended([start(numbers, tmp_path / "run", 1, 0, ports)])
    assert codes == [2], said
    last = said[0].strip().splitlines()[-1]
    assert f"TF_CONFIG: joining failed (another process uses 127.0.0.1:{ports[0]}; a worker" in last
    assert "Traceback" not in said[0]
