#!/bin/bash
# Runs the guides in docs/guides as their readers would, with hostwire installed in an empty home folder.
#
#     scripts/guides.sh            all but those that need PyTorch or an SQL engine: scripts/python.sh runs these
#     scripts/guides.sh PAGE...    these
#
# Needs root, for hosts that are made of this machine, and what the pages need: a C compiler, Open MPI, Slurm, openssh-server.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
home=$PWD/target/guides

pages=("$@")
if ((${#pages[@]} == 0)); then
    pages=(docs/guides/{openshmem,links,mpi,four-boxes,slurm}.md)
fi
scripts/setup.sh test
make --silent install PREFIX="$home/hostwire"
"$cargo" xtask guide --home "$home" "${pages[@]}"
