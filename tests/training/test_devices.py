"""What must hold of devices: a container's limits are kept, and every core works."""

import dataclasses
import math
import os
import platform
import sys

import pytest
from helpers import ROOT, ROUNDING, run_process

from nmt import UserError, machine
from nmt.options import Options
from nmt.training import devices

VERSION_2 = {
    "cgroup": "0::/outer/inner\n",
    "fs/outer/inner/cpu.max": "max 100000\n",
    "fs/outer/cpu.max": "150000 100000\n",  # one and a half: two threads
    "fs/outer/inner/memory.max": "max\n",
    "fs/outer/memory.max": f"{2**30}\n",
}
VERSION_1 = {  # as a container sees it: its group's name is the host's, its files at the root
    "cgroup": "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n0::/\n",
    "fs/cpu/cpu.cfs_quota_us": "200000\n",
    "fs/cpu/cpu.cfs_period_us": "100000\n",
    "fs/memory/memory.limit_in_bytes": f"{2**30}\n",
}
NO_LIMIT = {
    "cgroup": "4:cpu:/\n3:memory:/\n",
    "fs/cpu/cpu.cfs_quota_us": "-1\n",
    "fs/cpu/cpu.cfs_period_us": "100000\n",
    "fs/memory/memory.limit_in_bytes": "9223372036854771712\n",
}


@pytest.mark.parametrize(
    ("files", "cores", "memory"),
    [(VERSION_2, 2, 2**30), (VERSION_1, 2, 2**30), (NO_LIMIT, 8, math.inf), ({}, 8, math.inf)],
    ids=["version 2", "version 1", "no limit", "none"],
)
def test_a_containers_limits_are_kept(tmp_path, monkeypatch, files, cores, memory):
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    monkeypatch.setattr(machine, "MEMBERSHIP", tmp_path / "cgroup")
    monkeypatch.setattr(machine, "CGROUPS", tmp_path / "fs")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert machine.cores() == cores
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert machine.memory() == min(physical, memory)


BUSY = f"""
import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
import os
from pathlib import Path
from nmt.training import devices
cores = 64
devices.cores = lambda: cores
strategy, parts = devices.configure()
from helpers import Training, random_batches
from nmt.options import Options
options = Options(num_layers=1, d_model=256, dff=1024, vocab_size=20)
training = Training(options, 20, strategy, parts)
(batch,) = random_batches(1, rows=64, length=64)

def seconds():
    return {{
        task.name: sum(map(int, (task / "stat").read_text().rpartition(")")[2].split()[11:13]))
        for task in Path("/proc/self/task").iterdir()
    }}

training.train_batch(*batch)
before = seconds()
for _ in range(5):
    training.train_batch(*batch).numpy()
spent = {{name: now - before.get(name, 0) for name, now in seconds().items()}}
print(sum(ticks > 0.1 * sum(spent.values()) / cores for ticks in spent.values()))
"""


@pytest.mark.slow
def test_every_core_works():
    """Threads that did a tenth of a fair share or more, counted; the cores are emulated."""
    done = run_process([sys.executable, "-c", BUSY], ROUNDING, check=True)
    assert int(done.stdout) >= 64


FAULTS = """
import resource, sys, threading
sys.path.insert(0, {root!r})
from nmt import machine

def take_and_free():
    for _ in range(10):
        blocks = [bytearray(b"x") * 2**20 for _ in range(150)]  # more than a heap of 64 MiB
        del blocks

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    thread = threading.Thread(target=take_and_free)
    thread.start()
    thread.join()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

usual = faults()
machine.keep_freed_memory()
print(usual, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has mallopt")
def test_freed_memory_is_kept():
    done = run_process([sys.executable, "-c", FAULTS.format(root=str(ROOT))])
    usual, kept = map(int, done.stdout.split())
    assert kept < usual / 4  # a half of them if heaps are given back


def test_logits_that_a_gpu_cannot_count_are_refused(monkeypatch):
    options = Options(xla="off")
    devices.check_logits(options, 65_536, 37_000)  # no GPU here
    monkeypatch.setattr(devices, "gpus", lambda: devices.SeenGpus(["a GPU"], ""))
    devices.check_logits(dataclasses.replace(options, xla="on"), 65_536, 37_000)
    devices.check_logits(options, 58_040, 37_000)
    with pytest.raises(UserError, match=r"65,536 tokens on each GPU.* at most 58,040: lower"):
        devices.check_logits(options, 65_536, 37_000)
    with pytest.raises(UserError, match=r"65,536 tokens on each GPU.* at most 65,535: lower"):
        devices.check_logits(options, 65_536, 32_768)
