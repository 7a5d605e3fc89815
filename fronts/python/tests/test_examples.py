"""The examples of examples/python do what they say."""

import hashlib
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from conftest import HOSTWIRE, LIMIT_S

EXAMPLES = Path(__file__).parents[3] / "examples/python"


def example(pes, name, *arguments, folder):
    command = [HOSTWIRE, "run", "-n", pes, sys.executable, EXAMPLES / name, *arguments]
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=LIMIT_S,
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def plate(width, height, steps):
    """What heat2d computes, by one process."""
    cells = np.zeros((height + 2, width))
    cells[0, width // 4 : width - width // 4] = 1.0
    for _ in range(steps):
        old = cells.copy()
        cells[1:-1, 1:-1] = 0.25 * (
            old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
        )
    return cells[1:-1]


@pytest.mark.parametrize("pes", [1, 3])
def test_heat2d_computes_what_one_process_does(pes, tmp_path):
    arguments = ("--size", "40x31", "--steps", "120", "--picture", "none")
    said = example(pes, "heat2d.py", *arguments, folder=tmp_path)
    expected = plate(40, 31, 120)
    digest = hashlib.sha256(expected.tobytes()).hexdigest()[:16]
    mean = f"mean temperature {expected.mean():.9f}"
    assert said == f"40x31, 120 steps, {pes} PEs: {mean}, checksum {digest}\n"


def pixels(path):
    """Those of a picture that heat2d has written."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    at = data.index(b"IDAT")
    (length,) = struct.unpack(">I", data[at - 4 : at])
    lines = zlib.decompress(data[at + 4 : at + 4 + length])
    rows = np.frombuffer(lines, "uint8").reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


def test_heat2d_writes_pictures(tmp_path):
    arguments = ("--size", "24x10", "--steps", "40", "--every", "20", "--picture", "png")
    example(2, "heat2d.py", *arguments, "--frames", "frames", folder=tmp_path)
    names = sorted(path.name for path in (tmp_path / "frames").iterdir())
    assert names == ["0000020.png", "0000040.png"]
    picture = pixels(tmp_path / "frames" / names[-1]).astype(int)
    assert picture.shape == (10, 24, 3)
    # Below the warm spot it is warm, in the corners it is cold.
    assert tuple(picture[-1, 0]) == (8, 10, 40)
    assert picture[0, 12].sum() > picture[4, 12].sum() > picture[9, 12].sum()


def test_heat2d_draws_in_the_terminal(tmp_path):
    arguments = ("--size", "12x8", "--steps", "2", "--every", "1")
    assert "\x1b" not in example(2, "heat2d.py", *arguments, folder=tmp_path)
    said = example(2, "heat2d.py", *arguments, "--picture", "terminal", folder=tmp_path)
    assert said.startswith("\x1b[2J\x1b[Hstep 1 of 2, 2 PEs")
    # Two rows of cells in a line, twice.
    assert said.count("\u2580") == 2 * 12 * 4


def test_heat2d_refuses_more_pes_than_rows(tmp_path):
    command = [HOSTWIRE, "run", "-n", "3", sys.executable, EXAMPLES / "heat2d.py", "--size", "9x2"]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode != 0 and "2 rows are too few for 3 PEs" in done.stderr


def test_the_race_runs_with_what_is_there(tmp_path):
    arguments = ("--bytes", "8", "4096", "--rounds", "1", "--calls", "2")
    said = example(2, "race.py", *arguments, folder=tmp_path).splitlines()
    assert said[0] == "PyTorch is not installed: gloo does not take part."
    assert said[1] == "8 bytes, 2 PEs" and said[4] == "4096 bytes, 2 PEs"
    for rows in (said[2:4], said[5:7]):
        assert sorted(row.split()[0] for row in rows) == ["hostwire", "sockets"]
        latencies = [float(row.split()[1]) for row in rows]
        assert latencies == sorted(latencies)
        # The slowest has the longest bar.
        assert rows[1].count("\u2588") == 48 >= rows[0].count("\u2588")
