#!/bin/sh
# A sweep as a Slurm job array: each task runs its share of the points, and all keep their
# results in one folder that the nodes share.
#
#     sbatch --array=1-16 examples/slurm/sweep.sh EXPERIMENT.toml KEY=FROM..TO DIR
#
# When the array has ended, on any machine, this prints what all tasks have measured; it runs
# only what is missing:
#
#     hostwire sim EXPERIMENT.toml --sweep KEY=FROM..TO --results DIR
#
# The same array again runs only what is missing, too. Arrays must begin at 1.
#SBATCH --job-name=hostwire-sweep
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --time=01:00:00

set -eu

if [ $# -ne 3 ]; then
    echo "usage: sbatch --array=1-N $0 EXPERIMENT.toml KEY=FROM..TO DIR" >&2
    exit 2
fi
: "${SLURM_ARRAY_TASK_ID:?is not set: start this with sbatch --array=1-N}"

exec "${HOSTWIRE:-hostwire}" sim "$1" --sweep "$2" --results "$3" \
    --part "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
    --jobs "${SLURM_CPUS_PER_TASK:-1}"
