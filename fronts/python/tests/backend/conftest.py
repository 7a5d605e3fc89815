"""Starting processes of PyTorch: by torchrun, or by the launcher of hostwire."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
# Importing PyTorch alone takes many seconds on a slow machine.
LIMIT_S = 600

HEAD = """
import sys
import hostwire, hostwire.torch
import torch, torch.distributed as dist

dist.init_process_group(sys.argv[1])
rank, size = dist.get_rank(), dist.get_world_size()
"""

# Threads of gloo may still run when the process ends, which PyTorch then does by an abort ("terminate called without an
# active exception"). What the program printed counts.
TAIL = """
dist.destroy_process_group()
if sys.argv[1] == "gloo":
    import atexit, os
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(0)
"""


@pytest.fixture(params=["torchrun", "hostwire"])
def launcher(request):
    """The command that starts so many processes."""
    if request.param == "torchrun":
        return lambda ranks: [BIN / "torchrun", "--standalone", "--nproc-per-node", ranks]
    return lambda ranks: [BIN / "hostwire", "run", "-n", ranks, BIN / "python"]


@pytest.fixture
def torch_run(tmp_path, launcher):
    """`torch_run(ranks, program)` runs the text of a program, and returns what it printed.

    The program begins with a group, of `backend`. A failure fails the test.
    """

    def run(ranks, program, *, backend="hostwire"):
        path = tmp_path / "program.py"
        path.write_text(HEAD + textwrap.dedent(program) + TAIL)
        command = [str(word) for word in (*launcher(ranks), path, backend)]
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=LIMIT_S,
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"},
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return sorted(done.stdout.splitlines())

    return run
