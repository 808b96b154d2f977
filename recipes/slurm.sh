#!/bin/bash
# Trains on several machines under Slurm, one worker per machine; see docs/clusters.md. Submit it from
# the project's folder, on a disk that all machines see, with the flags of a training run:
#
#     sbatch recipes/slurm.sh --train a.pt a.en --run runs/a
#
#SBATCH --job-name=translator
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G
#SBATCH --time=12:00:00
#SBATCH --output=%x-%j.log
# All restarts write to one log.
#SBATCH --open-mode=append
# Five minutes before the time limit, the workers receive SIGTERM: they save, and end with 143.
#SBATCH --signal=TERM@300
# After a machine has failed, Slurm itself starts the job again.
#SBATCH --requeue
set -euo pipefail

max_restarts=20 # of the job, for any reason; a worker that is lost after these ends it

port=$((20000 + SLURM_JOB_ID % 10000)) # another one for another job on the same machines
hosts=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
addresses=
for host in $hosts; do
    addresses+="${addresses:+, }\"$host:$port\""
done

# What each task does; $1 are the addresses. `exec` lets Python receive the signals.
# shellcheck disable=SC2016 # the variables are those of the task
worker='
export TF_CONFIG="{\"cluster\": {\"worker\": [$1]}, \"task\": {\"type\": \"worker\", \"index\": $SLURM_PROCID}}"
exec .venv/bin/python run_demo.py "${@:2}"'

# If a worker is lost, the others end by themselves; srun gives them a minute.
code=0
srun --kill-on-bad-exit=0 --wait=60 --label --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" \
    bash -c "$worker" worker "$addresses" "$@" || code=$?

# srun returns the highest exit code of all workers. The same command resumes the run.
restarts=${SLURM_RESTART_COUNT:-0}
if ((code == 143)); then # saved before the time limit
    scontrol requeue "$SLURM_JOB_ID"
elif ((code == 75 || code == 137)) && ((restarts < max_restarts)); then # a worker was lost, or killed
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
