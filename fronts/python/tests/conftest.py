"""Starting jobs: each test runs a small program on 1, 2 or 4 PEs."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

# The launcher that the wheel has installed in the environment of the tests.
HOSTWIRE = Path(sys.executable).with_name("hostwire")

# No test takes this long, even on the slowest machine.
LIMIT_S = 120


@pytest.fixture
def run(tmp_path):
    """`run(pes, program)` runs the text of a program and returns what it printed, sorted by line.

    A job that fails fails the test, unless `fails` is set: then the result is the exit status and
    all that was printed.
    """

    def run(pes, program, *, fails=False, launcher=(), arguments=()):
        path = tmp_path / "program.py"
        path.write_text("import hostwire\nimport numpy as np\n" + textwrap.dedent(program))
        command = [HOSTWIRE, "run", "-n", str(pes), *launcher, sys.executable, path, *arguments]
        done = subprocess.run(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            check=False,
        )
        if fails:
            return done.returncode, done.stdout
        assert done.returncode == 0, done.stdout
        return sorted(done.stdout.splitlines())

    return run
