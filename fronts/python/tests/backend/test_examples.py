"""examples/python with PyTorch: the race, with all who can take part; queries of the warehouse."""

import subprocess
import sys
from pathlib import Path

from conftest import BIN, LIMIT_S

EXAMPLES = Path(__file__).parents[4] / "examples" / "python"


def printed(folder, launcher, example, arguments):
    """The lines that an example prints, started so; a failure fails the test."""
    command = [BIN / "hostwire", "run", *launcher, sys.executable, EXAMPLES / example, *arguments]
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_hostwire_gloo_and_sockets_run_a_race(tmp_path):
    said = printed(tmp_path, ["-n", 2], "race.py", ["--bytes", 8, 49152, "--rounds", 1, "--calls", 2])
    assert said[0] == "8 bytes, 2 PEs" and said[5] == "49152 bytes, 2 PEs", said
    # The program itself checks the sums.
    for rows in (said[1:5], said[6:10]):
        names = sorted(row[:18].strip() for row in rows)
        assert names == ["hostwire", "sockets", "torch, gloo", "torch, hostwire"], rows
        latencies = [float(row[18:].split()[0]) for row in rows]
        assert latencies == sorted(latencies)


def test_pytorch_answers_queries_of_the_warehouse(tmp_path):
    # Seven row groups; on a GPU if there is one.
    arguments = ["--scale", 0.05, "--turns", 1, "--check"]
    said = printed(tmp_path, ["-n", 3, "--heap", "256M"], "warehouse_gpu.py", arguments)
    assert [line.split(":")[0] for line in said if line.startswith("q")] == ["q1", "q21"], said
    verdicts = [line.split(": ")[1] for line in said if line.startswith("DuckDB")]
    assert verdicts == ["the same", "the same"], said
    assert any(line.startswith("A F ") for line in said) and any("Supplier#" in line for line in said)
