"""What must hold of the job files in recipes/, as far as it shows without a scheduler."""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers import ROOT, run_process

from nmt.training import cluster

SLURM, KUBERNETES = ROOT / "recipes" / "slurm.sh", ROOT / "recipes" / "kubernetes.yaml"
FLAGS = ["--train", "a b.pt", "a b.en", "--run", "runs/a"]

# Stand-ins for the commands that a job calls. A worker ends with its number of $CODES.
PYTHON = """#!/bin/bash
codes=($CODES)
printf '%s\\0' "$TF_CONFIG" "$@" > "worker-${SLURM_PROCID:-$JOB_COMPLETION_INDEX}"
exit "${codes[${SLURM_PROCID:-0}]}"
"""
SCONTROL = """#!/bin/bash
case "$*" in
"show hostnames node[3-4]") printf 'node3\\nnode4\\n' ;;
"requeue 7") touch requeued ;;
*) exit 1 ;;
esac
"""
SRUN = """#!/bin/bash
while [[ $1 == --* ]]; do shift; done
highest=0
for SLURM_PROCID in 0 1; do
    export SLURM_PROCID
    "$@"
    code=$?
    if ((code > highest)); then highest=$code; fi
done
exit "$highest"
"""


class Worker(NamedTuple):
    """What a worker was started with."""

    config: str  # TF_CONFIG
    arguments: list[str]


@pytest.fixture
def machine(tmp_path):
    """A folder with the stand-ins in bin/, and Python in .venv/bin/ too."""
    for path, script in [
        ("bin/scontrol", SCONTROL),
        ("bin/srun", SRUN),
        ("bin/python", PYTHON),
        (".venv/bin/python", PYTHON),
    ]:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(script)
        file.chmod(0o755)
    return tmp_path


def run_job(machine, command, **variables):
    """Runs a job's command on a `machine`. Returns the finished process."""
    variables["PATH"] = f"{machine / 'bin'}:/usr/bin:/bin"
    return run_process(command, variables, cwd=machine)


def worker_started(machine, number):
    """Returns the Worker of a number."""
    config, *arguments = (machine / f"worker-{number}").read_text().split("\0")[:-1]
    return Worker(config, arguments)


def check_worker(monkeypatch, worker, addresses, number, flags):
    """Checks that the program finds the cluster, and is started with the flags."""
    monkeypatch.setenv("TF_CONFIG", worker.config)
    configured = cluster.configured()
    assert (configured.workers, configured.index) == (addresses, number)
    assert worker.arguments == ["run_demo.py", *flags]


# ---- Slurm ----


def submit(machine, codes, restarts=None):
    """Runs the job, whose two workers end with `codes`. Returns its exit code."""
    variables = dict(SLURM_JOB_ID="7", SLURM_JOB_NODELIST="node[3-4]", SLURM_CPUS_PER_TASK="8")
    if restarts is not None:
        variables["SLURM_RESTART_COUNT"] = str(restarts)
    done = run_job(machine, ["bash", SLURM, *FLAGS], CODES=codes, **variables)
    assert done.stderr == ""
    return done.returncode


def test_slurm_starts_one_worker_per_machine(machine, monkeypatch):
    assert submit(machine, "0 0") == 0
    for number in (0, 1):
        worker = worker_started(machine, number)
        check_worker(monkeypatch, worker, ("node3:20007", "node4:20007"), number, FLAGS)
    assert not (machine / "requeued").exists()


@pytest.mark.parametrize(
    ("codes", "restarts", "requeued"),
    [
        ("143 143", 20, True),
        ("75 137", None, True),
        ("0 75", 19, True),
        ("0 75", 20, False),
        ("2 2", None, False),
    ],
)
def test_slurm_starts_a_job_again_that_can_resume(machine, codes, restarts, requeued):
    assert submit(machine, codes, restarts) == max(map(int, codes.split()))
    assert (machine / "requeued").exists() == requeued


def test_slurm_starts_no_worker_that_would_not_know_the_others(machine):
    done = run_job(machine, ["bash", SLURM], SLURM_JOB_ID="7", SLURM_JOB_NODELIST="unknown")
    assert done.returncode == 1
    assert not list(machine.glob("worker-*"))


def test_slurm_reads_its_options():
    """Those below the first command would be ignored."""
    head = SLURM.read_text().partition("\nset ")[0]
    options = dict(re.findall(r"^#SBATCH --([\w-]+)=?(.*)$", head, re.M))
    assert SLURM.read_text().count("#SBATCH") == len(options)
    assert options["ntasks-per-node"] == "1"
    assert options["signal"] == "TERM@300"  # to the workers, not to the script
    assert "requeue" in options


def test_shellcheck_reports_nothing():
    shellcheck = Path(sys.executable).with_name("shellcheck")
    checked = run_process([shellcheck, SLURM])
    assert (checked.returncode, checked.stdout) == (0, "")


# ---- Kubernetes ----


@pytest.fixture(scope="module")
def manifests():
    """The Service and the Job."""
    yaml = pytest.importorskip("yaml")
    return {part["kind"]: part for part in yaml.safe_load_all(KUBERNETES.read_text("utf-8"))}


@pytest.fixture(scope="module")
def pod(manifests):
    """What the Job says of its pods."""
    return manifests["Job"]["spec"]["template"]["spec"]


@pytest.fixture(scope="module")
def container(pod):
    """What the Job says of the container of a pod."""
    (container,) = pod["containers"]
    return container


def test_kubernetes_starts_one_worker_per_pod(machine, monkeypatch, manifests, container):
    name, count = manifests["Job"]["metadata"]["name"], manifests["Job"]["spec"]["completions"]
    service = manifests["Service"]["metadata"]["name"]
    addresses = tuple(f"{name}-{number}.{service}:2222" for number in range(count))
    variables = {variable["name"]: variable["value"] for variable in container["env"]}
    command = [*container["command"], *container["args"]]
    assert not re.search(r"\$\(|\$\$", " ".join(command))  # Kubernetes would replace them
    for number in range(count):
        index = str(number)
        done = run_job(machine, command, CODES="75", JOB_COMPLETION_INDEX=index, **variables)
        assert (done.returncode, done.stderr) == (75, "")
        worker = worker_started(machine, number)
        check_worker(monkeypatch, worker, addresses, number, container["args"])


def test_pods_find_one_another_by_name(manifests, pod, container):
    service, job = manifests["Service"], manifests["Job"]["spec"]
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["selector"] == job["template"]["metadata"]["labels"]
    assert pod["subdomain"] == service["metadata"]["name"]
    assert job["completionMode"] == "Indexed"
    assert job["completions"] == job["parallelism"]
    assert container["ports"] == [{"containerPort": 2222}]


def test_kubernetes_replaces_a_pod_that_can_resume(manifests, pod):
    """The first rule that matches an exit code decides; a code without a rule counts."""
    rules = manifests["Job"]["spec"]["podFailurePolicy"]["rules"]
    actions = {}
    for rule in reversed(rules):
        for code in rule.get("onExitCodes", {}).get("values", []):
            actions[code] = rule["action"]
    assert actions == {75: "Ignore", 143: "Ignore", 1: "FailJob", 2: "FailJob"}
    assert pod["restartPolicy"] == "Never"  # else the rules do nothing


def test_pods_run_as_the_user_of_the_image_and_mount_what_they_use(pod, container):
    dockerfile = (ROOT / "recipes" / "Dockerfile").read_text("utf-8")
    user = int(re.search(r"useradd .*--uid (\d+)", dockerfile)[1])
    assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["fsGroup"] == user
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts.keys() == {volume["name"] for volume in pod["volumes"]}
    paths = [value for value in container["args"] if value.startswith("/")]
    assert all(path.startswith(f"{mounts['shared']}/") for path in paths)
